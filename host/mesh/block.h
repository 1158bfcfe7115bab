/* SPDX-License-Identifier: MIT */
/* A block of queries against a mesh, in columns, and the steps of batch.h on it. */
#ifndef CAROM_HOST_MESH_BLOCK_H
#define CAROM_HOST_MESH_BLOCK_H
#include "batch.h"
#include "query_sort.h"

/* A block of queries on the CPU: inputs and answers, as columns. */
typedef struct caromi_mesh_block {
    uint64_t row[CAROMI_BLOCK]; /* row of each query in the batch */
    float in[CAROMI_MESH_IN][CAROMI_BLOCK];
    int32_t mask[CAROMI_BLOCK]; /* set with MESH_QUERY_MASKS */
    float corners[9][CAROMI_BLOCK];
    float carried[3][CAROMI_BLOCK]; /* with MESH_CARRIED */
    float point[3][CAROMI_BLOCK], normal[3][CAROMI_BLOCK], key[CAROMI_BLOCK], depth[CAROMI_BLOCK];
    int32_t triangle[CAROMI_BLOCK];
    uint8_t state[CAROMI_BLOCK], feature[CAROMI_BLOCK];
} caromi_mesh_block;

/* Gathers the rows, columns and masks of `count` queries, from position `from` of the sorted order on. */
void caromi_block_gather(const caromi_mesh_batch *batch, caromi_mesh_block *b, const caromi_sorted_queries *queries,
                         uint32_t from, uint32_t count);
void caromi_block_search(const caromi_mesh_batch *batch, caromi_mesh_block *b, size_t count);
/* Computes what the caller wants of points, normals and features on the block's triangles, or gradients in place of
 * normals; zeros for a query without one. In exact mode an undecided point or gradient has x NaN. */
void caromi_block_points(const carom_context *context, const caromi_mesh_batch *batch, caromi_mesh_block *b,
                         size_t count);
/* Sets the answers of queries without a hit. */
void caromi_block_miss(caromi_mesh_block *b, size_t count);
void caromi_block_store(const caromi_mesh_batch *batch, const caromi_mesh_block *b, size_t count);

/* One query of a batch; without masks its mask has all bits. */
caromi_mesh_query caromi_mesh_query_of(const caromi_mesh_batch *batch, uint64_t row);
/* Stores the kind's output columns [from, end) of one query. */
void caromi_store_answer(const caromi_mesh_batch *batch, uint32_t from, uint32_t end, const caromi_mesh_answer *answer,
                         uint64_t row);
/* Stores the points of one query (its columns) with a triangle (-1: none). Returns whether the kernel leaves them
 * undecided, so that integers decide them. */
int caromi_resolve_points(const caromi_mesh_batch *batch, const float *query, int32_t triangle, uint64_t row);
/* Computes the gradient of one query by its triangle, exactly: that of a distance with the sign of the key. Returns
 * whether integers decide it. */
int caromi_resolve_gradient(const caromi_mesh_batch *batch, const float *query, caromi_mesh_answer *answer);
void caromi_store_gradient(const caromi_mesh_batch *batch, const caromi_mesh_answer *answer, uint64_t row);
#endif
