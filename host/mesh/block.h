/* SPDX-License-Identifier: MIT */
/* A block of queries against a mesh, in columns: the steps of batch.h. */
#ifndef CAROM_HOST_MESH_BLOCK_H
#define CAROM_HOST_MESH_BLOCK_H
#include "batch.h"
#include "query_sort.h"

typedef struct caromi_mesh_block {
    uint64_t row[CAROMI_BLOCK]; /* where the answers go */
    float in[CAROMI_MESH_IN][CAROMI_BLOCK];
    int32_t mask[CAROMI_BLOCK]; /* with MESH_QUERY_MASKS */
    float corners[9][CAROMI_BLOCK];
    float point[3][CAROMI_BLOCK], normal[3][CAROMI_BLOCK], key[CAROMI_BLOCK], depth[CAROMI_BLOCK];
    int32_t triangle[CAROMI_BLOCK];
    uint8_t state[CAROMI_BLOCK], feature[CAROMI_BLOCK];
} caromi_mesh_block;

/* Queries from place `from` on: their rows, columns and masks. */
void caromi_block_gather(const caromi_mesh_batch *batch, caromi_mesh_block *b, const caromi_sorted_queries *queries,
                         uint32_t from, uint32_t count);
void caromi_block_search(const carom_context *context, const caromi_mesh_batch *batch, caromi_mesh_block *b,
                         size_t count);
/* Points, normals and features of the block's triangles, zeros without one; exact mode leaves NaN for a point's x where
 * it is undecided. */
void caromi_block_points(const carom_context *context, const caromi_mesh_batch *batch, caromi_mesh_block *b,
                         size_t count);
/* The answers of queries that meet nothing. */
void caromi_block_miss(caromi_mesh_block *b, size_t count);
void caromi_block_store(const caromi_mesh_batch *batch, const caromi_mesh_block *b, size_t count);

/* One query of a batch; without masks it has all bits. */
caromi_mesh_query caromi_mesh_query_of(const caromi_mesh_batch *batch, uint64_t row);
/* Answers [from, end) of the kind's columns, of one query. */
void caromi_store_answer(const caromi_mesh_batch *batch, uint32_t from, uint32_t end, const caromi_mesh_answer *answer,
                         uint64_t row);
/* Store the points of one query (its columns) with a triangle (-1: none), settled in integers where the kernel leaves
 * them undecided. */
void caromi_settle_points(const caromi_mesh_batch *batch, const float *query, int32_t triangle, uint64_t row);
#endif
