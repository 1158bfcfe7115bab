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

void caromi_block_gather(const caromi_mesh_batch *batch, caromi_mesh_block *b, const caromi_sorted_queries *queries,
                         uint32_t from, uint32_t count)
{
    caromi_sorted_gather(queries, from, count, b->row, b->in);
    if (batch->mask.base != NULL)
        gather_masks(&batch->mask, b->row, count, b->mask);
}

caromi_mesh_query caromi_mesh_query_of(const caromi_mesh_batch *batch, uint64_t row)
{
    caromi_mesh_query q = {.mask = -1, .options = batch->options};
    for (int c = 0; c < batch->kind->in; c++)
        caromi_gather(&q.in[c], &batch->in[c], row, 1);
    if (batch->mask.base != NULL)
        gather_masks(&batch->mask, &row, 1, &q.mask);
    return q;
}

void caromi_block_search(const carom_context *context, const caromi_mesh_batch *batch, caromi_mesh_block *b,
                         size_t count)
{
    caromi_mesh_queries q = {.triangle = b->triangle,
                             .state = b->state,
                             .t = b->key,
                             .depth = b->depth,
                             .count = count,
                             .options = batch->options,
                             .mask = batch->mask.base != NULL ? b->mask : NULL};
    for (int c = 0; c < batch->kind->in; c++)
        q.in[c] = b->in[c];
    context->isa->mesh[batch->kind->search][batch->exact](&batch->mesh->view, &q);
}

void caromi_block_miss(caromi_mesh_block *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        b->triangle[i] = -1;
        b->key[i] = INFINITY;
        b->depth[i] = -INFINITY;
    }
    memset(b->state, CAROM_MISS, count);
    memset(b->feature, CAROM_FEATURE_NONE, count);
    for (int k = 0; k < 3; k++) {
        memset(b->point[k], 0, count * sizeof **b->point);
        memset(b->normal[k], 0, count * sizeof **b->normal);
    }
}

/* ---- points ------------------------------------------------------------------------------------------------------ */

/* Input columns of the point kernel: the queries' columns, then the corners of each query's triangle. A query without a
 * triangle gets triangle 0, and its result is discarded. Pads to whole vectors with the last query; returns the number
 * of rows to run. */
static size_t gather_pairs(const caromi_mesh_batch *batch, size_t lanes, caromi_mesh_block *b, size_t count,
                           const float **in)
{
    const size_t padded = (count + lanes - 1) / lanes * lanes;
    const int columns = batch->kind->point_in;
    for (size_t i = 0; i < padded; i++)
        for (int k = 0; k < 9; k++)
            b->corners[k][i] = caromi_corner(
                batch->mesh, i < count && b->triangle[i] >= 0 ? (uint32_t)b->triangle[i] : 0, k / 3)[k % 3];
    for (int c = 0; c < columns; c++) {
        for (size_t i = count; i < padded; i++)
            b->in[c][i] = b->in[c][count - 1];
        in[c] = b->in[c];
    }
    for (int k = 0; k < 9; k++)
        in[columns + k] = b->corners[k];
    return padded;
}

void caromi_block_points(const carom_context *context, const caromi_mesh_batch *batch, caromi_mesh_block *b,
                         size_t count)
{
    const caromi_mesh_kind *kind = batch->kind;
    const float *in[COLUMNS_MAX];
    void *out[COLUMNS_MAX];
    const size_t padded = gather_pairs(batch, context->isa->lanes, b, count, in);
    for (uint32_t k = kind->search_out; k < kind->out; k++)
        out[k - kind->search_out] = (char *)b + places[kind->answer[k]].in_block;
    context->isa->pairs[caromi_point_kernel(batch, batch->exact)](in, out, padded, 0);
    for (size_t i = 0; i < count; i++)
        if (b->triangle[i] < 0) {
            for (int k = 0; k < 3; k++)
                b->point[k][i] = b->normal[k][i] = 0;
            b->feature[i] = CAROM_FEATURE_NONE;
        }
}

/* The point kernel for one query and its triangle. It runs first, even if integers decided the search: the last bit of
 * a point depends on the code that computes it, and must not depend on the hierarchy. */
static void point_of(const caromi_mesh_batch *batch, const float *in, caromi_mesh_answer *a)
{
    const caromi_mesh_kind *kind = batch->kind;
    int chosen;
    const caromi_isa_table *scalar = caromi_isa_select(CAROM_ISA_SCALAR, &chosen);
    const float *column[COLUMNS_MAX];
    void *out[COLUMNS_MAX];
    for (int c = 0; c < kind->point_in + 9; c++)
        column[c] = in + c;
    for (uint32_t k = kind->search_out; k < kind->out; k++)
        out[k - kind->search_out] = (char *)a + places[kind->answer[k]].in_answer;
    scalar->pairs[caromi_point_kernel(batch, 1)](column, out, 1, 0);
    if (isnan(a->point[0]))
        kind->resolve_point(in, batch->options, a);
}

void caromi_resolve_points(const caromi_mesh_batch *batch, const float *query, int32_t triangle, uint64_t row)
{
    const caromi_mesh_kind *kind = batch->kind;
    caromi_mesh_answer a = {.feature = CAROM_FEATURE_NONE};
    float in[COLUMNS_MAX];
    if (triangle >= 0) {
        memcpy(in, query, (size_t)kind->point_in * sizeof *in);
        for (int k = 0; k < 9; k++)
            in[kind->point_in + k] = caromi_corner(batch->mesh, (uint32_t)triangle, k / 3)[k % 3];
        point_of(batch, in, &a);
    }
    caromi_store_answer(batch, kind->search_out, kind->out, &a, row);
}

/* ---- store ------------------------------------------------------------------------------------------------------- */

void caromi_store_answer(const caromi_mesh_batch *batch, uint32_t from, uint32_t end, const caromi_mesh_answer *answer,
                         uint64_t row)
{
    for (uint32_t k = from; k < end; k++) {
        const uint32_t a = batch->kind->answer[k];
        caromi_scatter(&batch->out[a], row, (const char *)answer + places[a].in_answer, 1, caromi_answer_size(a));
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

void caromi_block_store(const caromi_mesh_batch *batch, const caromi_mesh_block *b, size_t count)
{
    const uint32_t columns = caromi_wants_points(batch) ? batch->kind->out : batch->kind->search_out;
    for (uint32_t k = 0; k < columns; k++) {
        const uint32_t a = batch->kind->answer[k];
        if (batch->out[a].base != NULL)
            store_column(&batch->out[a], b->row, (const char *)b + places[a].in_block, count, caromi_answer_size(a));
    }
}
