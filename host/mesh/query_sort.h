/* SPDX-License-Identifier: MIT */
#ifndef CAROM_HOST_MESH_QUERY_SORT_H
#define CAROM_HOST_MESH_QUERY_SORT_H

#include "host/bvh/mesh_data.h"

#define LANES 1 /* kernel text as it is for one query */
#include "kernels/cells.h"

/* Over the box of a mesh. */
cell_grid caromi_grid_of(const carom_mesh_info *mesh);

enum { CAROMI_BLOCK = 256 }; /* queries that a thread searches for, and keeps, at a time */

/* Queries [first, first + count) of a batch. First the `active` ones, which need a search: sorted along the mesh for
 * coherent traversal, or in the order of the batch. Behind them the clear ones, which surely hit nothing. */
typedef struct caromi_sorted_queries {
    const caromi_in_column *in; /* of the batch; three for the centre, and the others */
    int columns;                /* no more than CAROMI_MESH_IN */
    int options;                /* MESH_ENDS and so on */
    uint64_t first;
    uint32_t count, active;
    const float *rows;      /* [active][width] in order; or */
    const uint32_t *number; /* [active] in a list; or neither: all are active, in the order of the batch */
    const uint32_t *clear;  /* [count - active] */
    int width;              /* the columns that are not one number for all, and which query it is */
} caromi_sorted_queries;

/* scratch: so many bytes for each query. If it is NULL, or sorting would not pay, all queries are active, in the order
 * of the batch. */
size_t caromi_sort_bytes(const carom_mesh *mesh, int columns);
caromi_sorted_queries caromi_sort_queries(const carom_mesh *mesh, const caromi_in_column *in, int columns, int options,
                                          uint64_t first, uint32_t count, void *scratch);
/* Size of the block at place `from`: at most `most`, all active or all clear. */
uint32_t caromi_sorted_block_size(const caromi_sorted_queries *o, uint32_t from, uint32_t most);
/* Rows of such a block in the batch, and, if it is active, its columns. */
void caromi_sorted_gather(const caromi_sorted_queries *o, uint32_t from, uint32_t count, uint64_t *row,
                          float (*to)[CAROMI_BLOCK]);

/* Columns of the queries in these rows of the batch. */
void caromi_gather_rows(const caromi_in_column *in, int columns, const uint64_t *rows, size_t count,
                        float (*to)[CAROMI_BLOCK]);

/* Answers a block of queries, all active or all clear. own: the thread's memory. Returns how many it has settled in
 * integers. */
typedef uint64_t caromi_block_fn(const void *user, void *own, const caromi_sorted_queries *queries, uint32_t from,
                                 uint32_t count);
/* All threads go through queries [first, end) in slices, each in such an order, block by block; `own`: bytes for each
 * thread. */
carom_status caromi_run_blocks(const carom_context *c, carom_mesh *mesh, const caromi_in_column *in, int columns,
                               int options, uint64_t first, uint64_t end, size_t own, caromi_block_fn *run,
                               const void *user, carom_stats *stats, carom_error *err);
#endif
