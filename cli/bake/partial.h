/* SPDX-License-Identifier: MIT */
/* OUT.partial, in which an output grows, and OUT.journal beside it. Whoever holds the lock of OUT.partial owns both. */
#ifndef CAROM_CLI_BAKE_PARTIAL_H
#define CAROM_CLI_BAKE_PARTIAL_H

#include "bake.h"
#include "cli/output_place.h"
#include "journal.h"

#include <limits.h>

typedef struct bake_partial {
    const bake_plan *plan;
    bake_layout layout;
    output_place place; /* of OUT */
    char name[NAME_MAX + 16], journal_name[NAME_MAX + 16], shown[512];
    char text[BAKE_TEXT]; /* the fingerprint */
    int fd;
    int is_mine;     /* the file holds no work of an earlier run */
    int is_finished; /* an earlier run did all and was cut off after the rename */
    bake_journal journal;
    uint8_t *done; /* [slabs of the part] */
    uint64_t *sums;
    uint64_t done_count;
    double synced, sync_cost; /* seconds: when data last went to disk, how long that took */
} bake_partial;

/* Create OUT.partial or, with --resume, go on with it: then slabs whose checksums do not match are to be computed
 * again. Returns an exit status with the message printed; bake_partial_close in any case. */
int bake_partial_open(bake_partial *p, const cli_options *options, const bake_plan *plan);
/* Write a slab and its record. */
int bake_partial_put(bake_partial *p, uint64_t slab, const bake_slab *from);
/* All slabs are done: flush and rename. */
int bake_partial_finish(bake_partial *p);
/* Report how far the bake has come and that it can go on; returns `status`. */
int bake_partial_stopped(const bake_partial *p, int status);
/* What holds no finished slab is removed. */
void bake_partial_close(bake_partial *p);

/* Names of the two files of OUT. */
void bake_partial_names(const char *out, char *partial, char *journal, size_t size);

#endif
