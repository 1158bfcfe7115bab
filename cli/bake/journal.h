/* SPDX-License-Identifier: MIT */
/* Which slabs of a partial file are finished, with their checksums. The journal begins with the fingerprint of the bake
 * and grows by a record for each slab. Each record has a checksum of its own, so that one that was cut off or damaged
 * counts as not written. */
#ifndef CAROM_CLI_BAKE_JOURNAL_H
#define CAROM_CLI_BAKE_JOURNAL_H

#include "bake.h"

/* The slab number of the record that comes before the rename: all answers are there and flushed. Its checksum is that
 * of the output (bake_growing_finish). */
#define BAKE_JOURNAL_COMPLETE UINT64_MAX

typedef struct bake_journal {
    int fd;
    int is_valid;         /* its beginning is whole */
    char text[BAKE_TEXT]; /* the fingerprint */
    bake_plan plan;       /* what the fingerprint says, if is_readable */
    int is_readable;      /* 0: of another version of carom */
    uint64_t seed;        /* of the records */
    uint64_t start;       /* bytes of the beginning */
    uint64_t end;         /* bytes of whole records and what precedes them */
    uint64_t size;        /* bytes of the file */
} bake_journal;

/* Did carom make this file? */
int bake_journal_is_caroms(int fd);
/* Read the beginning of an open file. */
void bake_journal_read(bake_journal *j, int fd);
/* Fill done[slabs of the part] and, unless NULL, sums. Returns the number of slabs that have a valid record. Records
 * that are damaged are left out. */
uint64_t bake_journal_records(const bake_journal *j, uint8_t *done, uint64_t *sums);
/* Is the last valid record that of a complete output? Then `*sum` is its checksum. */
int bake_journal_complete(const bake_journal *j, uint64_t *sum);
/* Records, damaged ones too. */
uint64_t bake_journal_record_count(const bake_journal *j);
/* Record i as it was added. Returns 0 if there is none, or it is damaged. */
int bake_journal_record(const bake_journal *j, uint64_t i, uint64_t record[2]);
/* Keep the first records alone. Returns 0 or an errno. */
int bake_journal_cut(bake_journal *j, uint64_t records);
/* Write the beginning of a new file. Returns 0 or an errno. */
int bake_journal_begin(bake_journal *j, const char *text);
/* Returns 0 or an errno. */
int bake_journal_add(bake_journal *j, uint64_t slab, uint64_t sum);

#endif
