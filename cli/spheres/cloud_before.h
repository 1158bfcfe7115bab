/* SPDX-License-Identifier: MIT */
/* The pairs of an earlier list, read piece by piece along with the new one: memory holds those of a few spheres. */
#ifndef CAROM_CLI_SPHERES_CLOUD_BEFORE_H
#define CAROM_CLI_SPHERES_CLOUD_BEFORE_H

#include "cli/command/command.h"
#include "cli/table/table.h"

enum { BEFORE_A, BEFORE_B, BEFORE_SHIFT, BEFORE_COLUMNS = BEFORE_SHIFT + 3 };

typedef struct cloud_before {
    const char *path;
    table_reader file;
    table_column columns[BEFORE_COLUMNS];
    uint64_t first, count, room; /* rows first .. first + count of the file are in memory */
    int32_t *a, *b;
    int8_t *shift; /* x y z */
    int is_at_end; /* of the file */
} cloud_before;

/* Each of these returns an exit status with the message printed. */

/* cloud_before_close in any case. */
int cloud_before_open(cloud_before *before, const cli_options *options, const char *path);
/* Forget the pairs of spheres a before `begin`, and read those of [begin, *end). Where these are more than about
 * `most`, *end becomes less, but there is one sphere at least. */
int cloud_before_read(cloud_before *before, uint64_t begin, uint64_t *end, uint64_t most);
/* Read what is left, because a malformed row is refused wherever it stands. */
int cloud_before_finish(cloud_before *before);
void cloud_before_close(cloud_before *before);

/* The pairs in memory. */
carom_cloud_pairs_before cloud_before_pairs(const cloud_before *before);

#endif
