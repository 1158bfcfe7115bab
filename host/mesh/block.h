/* SPDX-License-Identifier: MIT */
/* A block of queries against a mesh, in columns. */
#ifndef CAROM_HOST_MESH_BLOCK_H
#define CAROM_HOST_MESH_BLOCK_H
#include "query_sort.h"

typedef struct caromi_mesh_block {
    uint64_t row[CAROMI_BLOCK]; /* where the answers go */
    float in[CAROMI_MESH_IN][CAROMI_BLOCK];
    int32_t mask[CAROMI_BLOCK]; /* with MESH_QUERY_MASKS */
    float corners[9][CAROMI_BLOCK];
    float point[3][CAROMI_BLOCK], normal[3][CAROMI_BLOCK], t[CAROMI_BLOCK];
    int32_t triangle[CAROMI_BLOCK];
    uint8_t state[CAROMI_BLOCK], feature[CAROMI_BLOCK];
} caromi_mesh_block;

/* Masks of the queries in these rows. */
void caromi_gather_masks(const caromi_in_column *mask, const uint64_t *rows, size_t count, int32_t *to);
/* A query in these columns; without a mask (base NULL) it has all bits. */
caromi_mesh_query caromi_gather_query(const caromi_in_column *in, int columns, const caromi_in_column *mask,
                                      int options, uint64_t row);
/* Columns for a pair kernel: those of `count` queries, then the nine numbers of the triangle of each; a query without one
 * (-1) runs along with triangle 0. Whole vectors of `lanes` are filled up; returns the rows to run. */
size_t caromi_gather_pairs(const carom_mesh *mesh, size_t lanes, const int32_t *triangle, size_t count, int columns,
                           float (*queries)[CAROMI_BLOCK], float (*corners)[CAROMI_BLOCK], const float **in);
void caromi_store_points(const carom_points_out *to, const uint64_t *rows, const float (*from)[CAROMI_BLOCK],
                         size_t count);
/* A scalar pair kernel for one row, `columns` numbers. */
void caromi_ask_alone(enum caromi_pair_kernel kernel, const float *in, int columns, void *const *out);
/* Queries from place `from` on: their rows, columns and masks. */
void caromi_block_take(const caromi_mesh_batch *batch, caromi_mesh_block *b, const caromi_ordered *queries,
                       uint32_t from, uint32_t count);
/* The answers of queries that meet nothing. */
void caromi_block_miss(caromi_mesh_block *b, size_t count);
caromi_mesh_query caromi_mesh_query_of(const caromi_mesh_batch *batch, uint64_t row);
/* What the hits report, zeros without one; exact mode leaves NaN for a point's x where it is open. */
void caromi_block_contacts(const carom_context *context, const caromi_mesh_batch *batch, caromi_mesh_block *b,
                           size_t count);
void caromi_block_store(const carom_mesh_hit_result *out, const caromi_mesh_block *b, size_t count);
/* The contact of a query (CAROMI_MESH_IN numbers) with a triangle (-1: none) into the batch's arrays, settled in integers
 * where the kernel leaves it open. */
void caromi_settle_contact(const caromi_mesh_batch *batch, const float *query, int32_t triangle, uint64_t row);
#endif
