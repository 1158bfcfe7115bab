/* SPDX-License-Identifier: MIT */
/* A volume that grows in its place, slab by slab. */
#ifndef CAROM_CLI_BAKE_PARTIAL_H
#define CAROM_CLI_BAKE_PARTIAL_H

#include "cli/base/progress.h"
#include "growing.h"

typedef struct bake_partial {
    const bake_plan *plan;
    bake_layout layout;
    bake_growing file;
    uint8_t *done; /* [slabs of the part] */
    uint64_t *sums;
    uint64_t done_count;
    uint64_t unreserved; /* bytes that the file lacks where the file system cannot reserve them */
} bake_partial;

/* Create OUT.partial or go on with it, as `resume` says (BAKE_BEGINS, ...): then slabs whose checksums do not match are
 * to be computed again. Returns an exit status with the message printed; bake_partial_close in any case. */
int bake_partial_open(bake_partial *p, const char *path, int resume, const bake_plan *plan);
/* Refuse outputs that do not find space together where a file system cannot reserve it. */
int bake_partial_check_space(const bake_partial *at, int count);
/* Write a slab and its record; or its record alone: the slab is written, and has that checksum. */
int bake_partial_put(bake_partial *p, uint64_t slab, const bake_slab *from);
int bake_partial_record(bake_partial *p, uint64_t slab, uint64_t sum);
/* Begin to show progress. Sets the number of nodes that are done. */
void bake_partial_progress(const bake_partial *p, progress *shown, uint64_t *done);
/* What holds no finished slab is removed. */
void bake_partial_close(bake_partial *p);

#endif
