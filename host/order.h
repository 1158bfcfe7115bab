/* SPDX-License-Identifier: MIT */
#ifndef CAROM_ORDER_H
#define CAROM_ORDER_H

#include "internal.h"

/* With nodes three megabytes: what is fetched ahead of a smaller one comes in time. */
enum { CAROMI_ORDER_LEAVES = 1 << 13 };

/* An order for queries [first, first + count) with these centres in which a search through the mesh meets the same
 * nodes again soon: place i is query first + (uint32_t)order[i]. NULL: as they come is as good. scratch: [2 * count] */
const uint64_t *caromi_order(const carom_mesh_info *mesh, const caromi_in_column *center, uint64_t first,
                             uint32_t count, uint64_t *scratch);
enum { CAROMI_BLOCK = 256 }; /* queries that a thread searches for, and keeps, at a time */

/* Queries of these rows, by a thread with memory of its own. Returns how many it has settled in integers. */
typedef uint64_t caromi_block_fn(const void *user, void *own, const uint64_t *rows, size_t count);
/* All threads go through queries [first, end) in slices, each in such an order, block by block; `own`: bytes for each
 * thread. */
carom_status caromi_run_blocks(const carom_context *c, const carom_mesh *mesh, const caromi_in_column *center,
                               uint64_t first, uint64_t end, size_t own, caromi_block_fn *run, const void *user,
                               carom_stats *stats, carom_error *err);
#endif
