/* SPDX-License-Identifier: MIT */
/* The rows of carom bake path, in a file that grows beside a journal. Their bytes are not known before, so the journal
 * has two records for each chunk: points and bytes so far; whether the path that goes on is hit, and the checksum of
 * the chunk's bytes. */
#ifndef CAROM_CLI_BAKE_PATH_FILE_H
#define CAROM_CLI_BAKE_PATH_FILE_H

#include "growing.h"
#include "cli/base/output.h"

typedef struct path_done {
    uint64_t chunks, points, bytes;
    int is_hit; /* the path that goes on behind these points */
} path_done;

/* A checksum that grows with a file: that of its whole pieces so far, and where they end. */
typedef struct path_sum {
    uint64_t at, sum;
} path_sum;

typedef struct path_file {
    bake_growing file;
    output out; /* the rows go here */
    path_done done;
    path_sum sum;
    const char *output; /* as the command names it */
    int is_part;        /* ends with a checksum of all before */
    int is_columns;     /* grows as a part, whose rows become columns at the end */
} path_file;

/* Each of these returns an exit status with the message printed. path_file_close in any case. */

/* Begin OUT.partial or, with --resume, go on with it. text: the fingerprint. */
int path_file_open(path_file *p, const bake_request *options, const char *text);
/* The rows of one more chunk are written, and `points` are done. */
int path_file_put(path_file *p, uint64_t points, int is_hit);
void path_file_close(path_file *p);

/* Do rows go there as those of a part, in place of text? */
int path_file_is_packed(const path_file *p);

/* The checksum of the first bytes of a file, as a part ends with it. Returns 0 or an errno. */
int path_file_sum(int fd, uint64_t bytes, uint64_t *sum);

/* The line of carom bake status, for a fingerprint and what is done, or for a journal and the rows. A slab counts 256
 * points here. Returns -1 if they are of another kind. */
int path_status(const char *text, const path_done *done);
int path_file_status(const bake_journal *journal, int fd);

#endif
