/* SPDX-License-Identifier: MIT */
#include "block.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* The offset of an output column in a block, and of its field in the answer of one query. */
typedef struct answer_place {
    size_t in_block, in_answer; /* offsets of a field */
} answer_place;
#define PLACE(member)                                                             \
    {                                                                             \
        offsetof(caromi_mesh_block, member), offsetof(caromi_mesh_answer, member) \
    }
static const answer_place places[CAROMI_ANSWERS] = {[CAROMI_ANSWER_TRIANGLE] = PLACE(triangle),
                                                    [CAROMI_ANSWER_STATE] = PLACE(state),
                                                    [CAROMI_ANSWER_KEY] = PLACE(key),
                                                    [CAROMI_ANSWER_DEPTH] = PLACE(depth),
                                                    [CAROMI_ANSWER_POINT] = PLACE(point[0]),
                                                    [CAROMI_ANSWER_POINT + 1] = PLACE(point[1]),
                                                    [CAROMI_ANSWER_POINT + 2] = PLACE(point[2]),
                                                    [CAROMI_ANSWER_NORMAL] = PLACE(normal[0]),
                                                    [CAROMI_ANSWER_NORMAL + 1] = PLACE(normal[1]),
                                                    [CAROMI_ANSWER_NORMAL + 2] = PLACE(normal[2]),
                                                    [CAROMI_ANSWER_FEATURE] = PLACE(feature)};
#undef PLACE

static void gather_masks(const caromi_in_column *mask, const uint64_t *rows, size_t count, int32_t *to)
{
    for (size_t i = 0; i < count; i++)
        memcpy(&to[i], caromi_element(mask, rows[i]), sizeof *to);
}

/* Gathers the rows, columns and masks of `count` queries, from position `from` of the sorted order on. */
void caromi_block_gather(const caromi_mesh_batch *batch, caromi_mesh_block *block, const caromi_sorted_queries *queries,
                         uint32_t from, uint32_t count)
{
    caromi_sorted_gather(queries, from, count, block->row, block->in);
    if (batch->mask.base != NULL)
        gather_masks(&batch->mask, block->row, count, block->mask);
}

caromi_mesh_query caromi_mesh_query_of(const caromi_mesh_batch *batch, uint64_t row)
{
    caromi_mesh_query query = {.mask = -1, .options = batch->options};
    for (int c = 0; c < batch->kind->in; c++)
        caromi_gather(&query.in[c], &batch->in[c], row, 1);
    if (batch->mask.base != NULL)
        gather_masks(&batch->mask, &row, 1, &query.mask);
    return query;
}

/* Searches the triangle of each query in the block. */
void caromi_block_search(const carom_context *context, const caromi_mesh_batch *batch, caromi_mesh_block *block,
                         size_t count)
{
    caromi_mesh_queries queries = {.triangle = block->triangle,
                                   .state = block->state,
                                   .t = block->key,
                                   .depth = block->depth,
                                   .count = count,
                                   .options = batch->options,
                                   .mask = batch->mask.base != NULL ? block->mask : NULL};
    for (int c = 0; c < batch->kind->in; c++)
        queries.in[c] = block->in[c];
    context->isa->mesh[batch->kind->search][batch->exact](&batch->mesh->view, &queries);
}

/* The answers of queries that certainly hit nothing. */
void caromi_block_miss(caromi_mesh_block *block, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        block->triangle[i] = -1;
        block->key[i] = INFINITY;
        block->depth[i] = -INFINITY;
    }
    memset(block->state, CAROM_MISS, count);
    memset(block->feature, CAROM_FEATURE_NONE, count);
    for (int k = 0; k < 3; k++) {
        memset(block->point[k], 0, count * sizeof **block->point);
        memset(block->normal[k], 0, count * sizeof **block->normal);
    }
}

/* ---- points ------------------------------------------------------------------------------------------------------ */

/* Input columns of the point kernel: the queries' columns, then the corners of each query's triangle. A query without a
 * triangle gets triangle 0, and its result is discarded. Pads to whole vectors with the last query; returns the number
 * of rows to run. */
static size_t gather_pairs(const caromi_mesh_batch *batch, size_t lanes, caromi_mesh_block *block, size_t count,
                           const float **in)
{
    const size_t padded = (count + lanes - 1) / lanes * lanes;
    const int columns = batch->kind->point_in;
    for (size_t i = 0; i < padded; i++)
        for (int k = 0; k < 9; k++)
            block->corners[k][i] = caromi_corner(
                batch->mesh, i < count && block->triangle[i] >= 0 ? (uint32_t)block->triangle[i] : 0, k / 3)[k % 3];
    for (int c = 0; c < columns; c++) {
        for (size_t i = count; i < padded; i++)
            block->in[c][i] = block->in[c][count - 1];
        in[c] = block->in[c];
    }
    for (int k = 0; k < 9; k++)
        in[columns + k] = block->corners[k];
    return padded;
}

/* Runs the point kernel for all queries of the block. */
void caromi_block_points(const carom_context *context, const caromi_mesh_batch *batch, caromi_mesh_block *block,
                         size_t count)
{
    const caromi_mesh_kind *kind = batch->kind;
    const float *in[COLUMNS_MAX];
    void *out[COLUMNS_MAX];
    const size_t padded = gather_pairs(batch, context->isa->lanes, block, count, in);
    for (uint32_t k = kind->search_out; k < kind->out; k++)
        out[k - kind->search_out] = (char *)block + places[kind->answer[k]].in_block;
    context->isa->pairs[caromi_point_kernel(batch, batch->exact)](in, out, padded, 0);
    for (size_t i = 0; i < count; i++)
        if (block->triangle[i] < 0) {
            for (int k = 0; k < 3; k++)
                block->point[k][i] = block->normal[k][i] = 0;
            block->feature[i] = CAROM_FEATURE_NONE;
        }
}

/* The point kernel for one query and its triangle. It runs first, even if integers decided the search: the last bit of
 * a point depends on the code that computes it, and must not depend on the hierarchy. */
static void point_of(const caromi_mesh_batch *batch, const float *in, caromi_mesh_answer *answer)
{
    const caromi_mesh_kind *kind = batch->kind;
    int chosen;
    const caromi_isa_table *scalar = caromi_isa_select(CAROM_ISA_SCALAR, &chosen);
    const float *column[COLUMNS_MAX];
    void *out[COLUMNS_MAX];
    for (int c = 0; c < kind->point_in + 9; c++)
        column[c] = in + c;
    for (uint32_t k = kind->search_out; k < kind->out; k++)
        out[k - kind->search_out] = (char *)answer + places[kind->answer[k]].in_answer;
    scalar->pairs[caromi_point_kernel(batch, CAROMI_EXACT)](column, out, 1, 0);
    if (isnan(answer->point[0]))
        kind->resolve_point(in, batch->options, answer);
}

/* Computes and stores points, normals and feature of one query by integers. */
void caromi_resolve_points(const caromi_mesh_batch *batch, const float *query, int32_t triangle, uint64_t row)
{
    const caromi_mesh_kind *kind = batch->kind;
    caromi_mesh_answer answer = {.feature = CAROM_FEATURE_NONE};
    float in[COLUMNS_MAX];
    if (triangle >= 0) {
        memcpy(in, query, (size_t)kind->point_in * sizeof *in);
        for (int k = 0; k < 9; k++)
            in[kind->point_in + k] = caromi_corner(batch->mesh, (uint32_t)triangle, k / 3)[k % 3];
        point_of(batch, in, &answer);
    }
    caromi_store_answer(batch, kind->search_out, kind->out, &answer, row);
}

/* ---- store ------------------------------------------------------------------------------------------------------- */

/* Stores the kind's output columns [from, end) of one query. */
void caromi_store_answer(const caromi_mesh_batch *batch, uint32_t from, uint32_t end, const caromi_mesh_answer *answer,
                         uint64_t row)
{
    for (uint32_t k = from; k < end; k++) {
        const uint32_t column = batch->kind->answer[k];
        caromi_scatter(&batch->out[column], row, (const char *)answer + places[column].in_answer, 1,
                       caromi_answer_size(column));
    }
}

static void store_column(const caromi_out_column *to, const uint64_t *rows, const char *from, size_t count, size_t size)
{
    char *base = to->base;
    const size_t stride = to->stride;
    for (size_t i = 0; size == 1 && i < count; i++)
        base[rows[i] * stride] = from[i];
    for (size_t i = 0; size != 1 && i < count; i++)
        memcpy(base + rows[i] * stride, from + i * sizeof(float), sizeof(float));
}

/* Scatters the block's answers to the caller's columns. */
void caromi_block_store(const caromi_mesh_batch *batch, const caromi_mesh_block *block, size_t count)
{
    const uint32_t columns = caromi_wants_points(batch) ? batch->kind->out : batch->kind->search_out;
    for (uint32_t k = 0; k < columns; k++) {
        const uint32_t answer = batch->kind->answer[k];
        if (batch->out[answer].base != NULL)
            store_column(&batch->out[answer], block->row, (const char *)block + places[answer].in_block, count,
                         caromi_answer_size(answer));
    }
}
