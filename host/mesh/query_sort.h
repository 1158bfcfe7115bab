/* SPDX-License-Identifier: MIT */
#ifndef CAROM_HOST_MESH_QUERY_SORT_H
#define CAROM_HOST_MESH_QUERY_SORT_H

#include "host/bvh/mesh_data.h"

#define LANES 1 /* the kernel text for one query at a time */
#include "kernels/cells.h"

/* The grid over the box of a mesh by which queries are sorted. */
cell_grid caromi_grid_of(const carom_mesh_info *mesh);

enum { CAROMI_BLOCK = 256 }; /* queries that a thread searches for at a time */

/* Queries [first, first + count) of a batch in the order of their search. The `active` ones come first, sorted along
 * the mesh for coherent traversal, or in the order of the batch. The clear ones, which certainly hit nothing, come
 * behind. */
typedef struct caromi_sorted_queries {
    const caromi_in_column *in; /* the batch's columns; the first three are the centre */
    int columns;                /* at most CAROMI_MESH_IN */
    int options;                /* MESH_ENDS and so on */
    uint64_t first;
    uint32_t count, active;
    const float *rows; /* [active][width] sorted rows; or NULL */
    const uint32_t
        *number; /* [active] list of the active queries; if rows is NULL too, all are active, in the batch's order */
    const uint32_t *clear; /* [count - active] list of the clear queries */
    int width;             /* numbers of a row: the columns that differ between queries, and the query's number */
} caromi_sorted_queries;

/* Culls and sorts queries. scratch: caromi_sort_bytes bytes for each query. If it is NULL, or sorting does not pay, all
 * queries are active, in the order of the batch. */
size_t caromi_sort_bytes(const carom_mesh *mesh, int columns);
caromi_sorted_queries caromi_sort_queries(const carom_mesh *mesh, const caromi_in_column *in, int columns, int options,
                                          uint64_t first, uint32_t count, void *scratch);
/* The size of the block from position `from` on: at most `most`, all active or all clear. */
uint32_t caromi_sorted_block_size(const caromi_sorted_queries *o, uint32_t from, uint32_t most);
/* The rows of a block's queries in the batch and, if they are active, their columns. */
void caromi_sorted_gather(const caromi_sorted_queries *o, uint32_t from, uint32_t count, uint64_t *row,
                          float (*to)[CAROMI_BLOCK]);

/* Gathers the columns of the queries in these rows of the batch. */
void caromi_gather_rows(const caromi_in_column *in, int columns, const uint64_t *rows, size_t count,
                        float (*to)[CAROMI_BLOCK]);

/* The callback that answers a block of queries, all active or all clear. own: the thread's memory. Returns the
 * numbers of queries that later rungs decided. */
typedef caromi_rungs caromi_block_fn(const void *user, void *own, const caromi_sorted_queries *queries, uint32_t from,
                                     uint32_t count);
/* Answers queries [first, end) on all threads: each task sorts a slice and passes it to `run` block by block. own:
 * bytes of memory for each thread. grain: slices are multiples of it, CAROMI_BLOCK unless single queries are worth a
 * task. */
carom_status caromi_run_blocks(const carom_context *c, carom_mesh *mesh, const caromi_in_column *in, int columns,
                               int options, uint64_t first, uint64_t end, size_t own, uint32_t grain,
                               caromi_block_fn *run, const void *user, carom_stats *stats, carom_error *err);
#endif
