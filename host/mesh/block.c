/* SPDX-License-Identifier: MIT */
#include "block.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "host/bvh/triangle.h"
#include "cpu/exact/exact.h"

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
                                                    [CAROMI_ANSWER_FEATURE] = PLACE(feature),
                                                    [CAROMI_ANSWER_GRADIENT] = PLACE(normal[0]),
                                                    [CAROMI_ANSWER_GRADIENT + 1] = PLACE(normal[1]),
                                                    [CAROMI_ANSWER_GRADIENT + 2] = PLACE(normal[2])};
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
    caromi_mesh_query query = {.isa = batch->mesh->context->isa, .mask = -1, .options = batch->options};
    for (int c = 0; c < batch->kind->in; c++)
        caromi_gather(&query.in[c], &batch->in[c], row, 1);
    if (batch->mask.base != NULL)
        gather_masks(&batch->mask, &row, 1, &query.mask);
    return query;
}

/* Searches the triangle of each query in the block. */
void caromi_block_search(const caromi_mesh_batch *batch, caromi_mesh_block *block, size_t count)
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
    caromi_searches_of(batch->mesh)->search[batch->kind->search][batch->exact](&batch->mesh->view, &queries);
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

/* The velocities of the instances that have the queries' triangles. */
static void gather_velocities(const caromi_mesh_batch *batch, size_t padded, size_t count, caromi_mesh_block *block)
{
    for (size_t i = 0; i < padded; i++) {
        float velocity[3];
        caromi_scene_velocity(batch->mesh->scene,
                              i < count && block->triangle[i] >= 0 ? (uint32_t)block->triangle[i] : 0, velocity);
        for (int k = 0; k < 3; k++)
            block->carried[k][i] = velocity[k];
    }
}

/* Input columns of the point kernel: the queries' columns, then the corners of each query's triangle, then the velocity
 * of its instance. A query without a triangle gets triangle 0, and its result is discarded. Pads to whole vectors with
 * the last query; returns the number of rows to run. */
static size_t gather_pairs(const caromi_mesh_batch *batch, size_t lanes, caromi_mesh_block *block, size_t count,
                           const float **in)
{
    const size_t padded = (count + lanes - 1) / lanes * lanes;
    const int columns = batch->kind->point_in;
    for (size_t i = 0; i < padded; i++) {
        float corners[9];
        caromi_triangle_corners(batch->mesh, i < count && block->triangle[i] >= 0 ? (uint32_t)block->triangle[i] : 0,
                                corners);
        for (int k = 0; k < 9; k++)
            block->corners[k][i] = corners[k];
    }
    for (int c = 0; c < columns; c++) {
        for (size_t i = count; i < padded; i++)
            block->in[c][i] = block->in[c][count - 1];
        in[c] = block->in[c];
    }
    for (int k = 0; k < 9; k++)
        in[columns + k] = block->corners[k];
    if ((batch->options & MESH_CARRIED) != 0)
        gather_velocities(batch, padded, count, block);
    for (int k = 0; k < 3; k++)
        in[columns + 9 + k] = block->carried[k];
    return padded;
}

/* Runs the kernel of contacts at rest for its normals, the gradients. Point and feature are those of another kernel, so
 * its own are discarded. */
static void run_gradients(const carom_context *context, const caromi_mesh_batch *batch, const float *const *in,
                          size_t padded, caromi_mesh_block *block)
{
    float point[3][CAROMI_BLOCK];
    uint8_t feature[CAROMI_BLOCK];
    void *out[] = {point[0], point[1], point[2], block->normal[0], block->normal[1], block->normal[2], feature};
    context->isa->pairs[batch->exact ? CAROMI_PAIR_touch_exact : CAROMI_PAIR_touch](in, out, padded, 0);
    if (batch->exact)
        for (size_t i = 0; i < padded; i++)
            block->normal[0][i] = isnan(point[0][i]) ? point[0][i] : block->normal[0][i];
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
    if (caromi_wants_points(batch))
        context->isa->pairs[caromi_point_kernel(batch, batch->exact)](in, out, padded, 0);
    if (caromi_wants_gradient(batch))
        run_gradients(context, batch, in, padded, block);
    for (size_t i = 0; i < count; i++)
        if (block->triangle[i] < 0) {
            for (int k = 0; k < 3; k++)
                block->point[k][i] = block->normal[k][i] = 0;
            block->feature[i] = CAROM_FEATURE_NONE;
        }
}

/* The point kernel for one query and its triangle. It runs first, even if integers decided the search: the last bit of
 * a point depends on the code that computes it, and must not depend on the hierarchy. Returns whether integers decided
 * the point. */
static int point_of(const caromi_mesh_batch *batch, const float *in, caromi_mesh_answer *answer)
{
    const caromi_mesh_kind *kind = batch->kind;
    int chosen;
    const caromi_isa_table *scalar = caromi_isa_select(CAROM_ISA_SCALAR, &chosen);
    const float *column[COLUMNS_MAX];
    void *out[COLUMNS_MAX];
    for (int c = 0; c < caromi_point_columns(batch); c++)
        column[c] = in + c;
    for (uint32_t k = kind->search_out; k < kind->out; k++)
        out[k - kind->search_out] = (char *)answer + places[kind->answer[k]].in_answer;
    scalar->pairs[caromi_point_kernel(batch, CAROMI_EXACT)](column, out, 1, 0);
    const int is_undecided = isnan(answer->point[0]);
    if (is_undecided)
        kind->resolve_point(in, batch->options, answer);
    return is_undecided;
}

/* Computes and stores points, normals and feature of one query. */
int caromi_resolve_points(const caromi_mesh_batch *batch, const float *query, int32_t triangle, uint64_t row)
{
    const caromi_mesh_kind *kind = batch->kind;
    caromi_mesh_answer answer = {.feature = CAROM_FEATURE_NONE};
    float in[COLUMNS_MAX];
    int by_integers = 0;
    if (triangle >= 0) {
        memcpy(in, query, (size_t)kind->point_in * sizeof *in);
        caromi_triangle_corners(batch->mesh, (uint32_t)triangle, in + kind->point_in);
        if ((batch->options & MESH_CARRIED) != 0)
            caromi_scene_velocity(batch->mesh->scene, (uint32_t)triangle, in + kind->point_in + 9);
        by_integers = point_of(batch, in, &answer);
    }
    caromi_store_answer(batch, kind->search_out, kind->out, &answer, row);
    return by_integers;
}

int caromi_resolve_gradient(const caromi_mesh_batch *batch, const float *query, caromi_mesh_answer *answer)
{
    caromi_exact_pair pair = {.in = {0}};
    const float *column[COLUMNS_MAX];
    void *out[COLUMNS_MAX];
    int chosen;
    memset(answer->normal, 0, sizeof answer->normal);
    if (answer->triangle < 0)
        return 0;
    memcpy(pair.in, query, IN_NP0X * sizeof *query);
    caromi_triangle_corners(batch->mesh, (uint32_t)answer->triangle, pair.in + IN_NP0X);
    for (int c = 0; c < IN_CLOSEST; c++)
        column[c] = &pair.in[c];
    for (int k = 0; k < OUT_CONTACT; k++)
        out[k] = k == OUT_FEATURE ? (void *)&pair.byte[k] : (void *)&pair.real[k];
    /* The kernel first, as point_of() does. */
    caromi_isa_select(CAROM_ISA_SCALAR, &chosen)->pairs[CAROMI_PAIR_touch_exact](column, out, 1, 0);
    const int is_undecided = isnan(pair.real[OUT_POINT_X]);
    if (is_undecided)
        caromi_resolve_touch_exact(&pair);
    for (int k = 0; k < 3; k++)
        answer->normal[k] = answer->key < 0 ? 0 - pair.real[OUT_NORMAL_X + k] : pair.real[OUT_NORMAL_X + k];
    return is_undecided;
}

void caromi_store_gradient(const caromi_mesh_batch *batch, const caromi_mesh_answer *answer, uint64_t row)
{
    for (uint32_t k = 0; k < 3; k++)
        caromi_scatter(&batch->out[CAROMI_ANSWER_GRADIENT + k], row, &answer->normal[k], 1, sizeof *answer->normal);
}

/* ---- store ------------------------------------------------------------------------------------------------------- */

/* Stores a triangle by its number in its mesh; of a scene also the instance. */
static void store_triangle(const caromi_mesh_batch *batch, int32_t triangle, uint64_t row)
{
    const int32_t instance = batch->mesh->scene != NULL ? caromi_scene_split(batch->mesh->scene, &triangle) : -1;
    caromi_scatter(&batch->out[CAROMI_ANSWER_TRIANGLE], row, &triangle, 1, sizeof triangle);
    caromi_scatter(&batch->out[CAROMI_ANSWER_INSTANCE], row, &instance, 1, sizeof instance);
}

/* Stores the kind's output columns [from, end) of one query. */
void caromi_store_answer(const caromi_mesh_batch *batch, uint32_t from, uint32_t end, const caromi_mesh_answer *answer,
                         uint64_t row)
{
    for (uint32_t k = from; k < end; k++) {
        const uint32_t column = batch->kind->answer[k];
        if (column == CAROMI_ANSWER_TRIANGLE)
            store_triangle(batch, answer->triangle, row);
        else
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

/* Stores the triangles and instances of a block of a scene. */
static void store_split(const caromi_mesh_batch *batch, const caromi_mesh_block *block, size_t count)
{
    for (size_t i = 0; i < count; i++)
        store_triangle(batch, block->triangle[i], block->row[i]);
}

/* Scatters the block's answers to the caller's columns. */
void caromi_block_store(const caromi_mesh_batch *batch, const caromi_mesh_block *block, size_t count)
{
    const uint32_t columns = caromi_wants_points(batch) ? batch->kind->out : batch->kind->search_out;
    for (uint32_t k = 0; k < columns; k++) {
        const uint32_t answer = batch->kind->answer[k];
        if (answer == CAROMI_ANSWER_TRIANGLE && batch->mesh->scene != NULL)
            store_split(batch, block, count);
        else if (batch->out[answer].base != NULL)
            store_column(&batch->out[answer], block->row, (const char *)block + places[answer].in_block, count,
                         caromi_answer_size(answer));
    }
    for (uint32_t k = 0; caromi_wants_gradient(batch) && k < 3; k++)
        store_column(&batch->out[CAROMI_ANSWER_GRADIENT + k], block->row, (const char *)block->normal[k], count,
                     sizeof(float));
}
