/* SPDX-License-Identifier: MIT */
#ifndef CAROM_HOST_MESH_QUERY_SORT_H
#define CAROM_HOST_MESH_QUERY_SORT_H

#include "host/mesh_data.h"

#define LANES 1 /* kernel text as it is for one query */
#include "kernels/cells.h"

/* Over the box of a mesh. */
cell_grid caromi_grid_of(const carom_mesh_info *mesh);

enum { CAROMI_BLOCK = 256 }; /* queries that a thread searches for, and keeps, at a time */

/* Queries [first, first + count) of a batch: `open` of them that need a search, in an order in which it meets the same nodes
 * again soon or as they come, and behind them those that surely meet nothing. */
typedef struct caromi_ordered {
    const caromi_in_column *in; /* of the batch; three for the centre, and the others */
    int columns;                /* no more than CAROMI_MESH_IN */
    uint64_t first;
    uint32_t count, open;
    const float *rows;      /* [open][width] in order; or */
    const uint32_t *number; /* [open] in a list; or neither, if all are open and as they come */
    const uint32_t *clear;  /* [count - open] */
    int width;              /* the columns that are not one number for all, and which query it is */
} caromi_ordered;

/* scratch: so many bytes for each query, NULL if there is none. All are open and as they come without it, or if that is as
 * good. */
size_t caromi_order_bytes(const carom_mesh *mesh, int columns);
caromi_ordered caromi_order(const carom_mesh *mesh, const caromi_in_column *in, int columns, uint64_t first,
                            uint32_t count, void *scratch);
/* From place `from` on no more than `most`, open or clear all of them. */
uint32_t caromi_ordered_block(const caromi_ordered *o, uint32_t from, uint32_t most);
/* Their rows in the batch, and, if they are open, their columns. */
void caromi_ordered_take(const caromi_ordered *o, uint32_t from, uint32_t count, uint64_t *row,
                         float (*to)[CAROMI_BLOCK]);

/* Columns of the queries in these rows of the batch. */
void caromi_gather_rows(const caromi_in_column *in, int columns, const uint64_t *rows, size_t count,
                        float (*to)[CAROMI_BLOCK]);

/* A block of queries, open or clear all of them, by a thread with memory of its own. Returns how many it has settled in integers. */
typedef uint64_t caromi_block_fn(const void *user, void *own, const caromi_ordered *queries, uint32_t from,
                                 uint32_t count);
/* All threads go through queries [first, end) in slices, each in such an order, block by block; `own`: bytes for each
 * thread. */
carom_status caromi_run_blocks(const carom_context *c, carom_mesh *mesh, const caromi_in_column *in, int columns,
                               uint64_t first, uint64_t end, size_t own, caromi_block_fn *run, const void *user,
                               carom_stats *stats, carom_error *err);
#endif
