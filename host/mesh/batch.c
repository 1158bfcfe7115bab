/* SPDX-License-Identifier: MIT */
#include "batch.h"

#include <math.h>
#include <string.h>

#include "block.h"
#include "mesh.h"
#include "query.h"
#include "side.h"

void caromi_hits_to_columns(const carom_mesh_hit_result *out, caromi_out_column *columns)
{
    caromi_set_outputs((caromi_members)CAROMI_MEMBERS(caromi_hit_out), out, columns);
}

/* Bits of rows, by the rung that decided the search. */
static const uint8_t search_bit[] = {0, CAROMI_SEARCH_BY_FILTER, CAROMI_SEARCH_BY_INTEGERS};

caromi_rungs caromi_resolve_mesh_batch(const void *mesh_batch, const void *const *marks, const uint64_t *rows,
                                       uint64_t first, size_t count)
{
    const caromi_mesh_batch *batch = mesh_batch;
    const caromi_mesh_kind *kind = batch->kind;
    const int wants_points = caromi_wants_points(batch);
    const int wants_gradient = caromi_wants_gradient(batch);
    const int32_t *triangles = marks[0];
    const float *keys = marks[1], *points = marks[2], *gradients = wants_gradient ? marks[3] : NULL;
    caromi_rungs rungs = {0, 0};
    for (size_t i = 0; i < count; i++) {
        const int undecided = isnan(keys[i]);
        if (!undecided && !(wants_points && isnan(points[i])) && !(wants_gradient && isnan(gradients[i])))
            continue;
        const uint64_t row = rows != NULL ? rows[i] : first + i;
        const caromi_mesh_query query = caromi_mesh_query_of(batch, row);
        caromi_mesh_answer answer = {.triangle = triangles[i], .key = keys[i]};
        caromi_rung rung = CAROMI_FIRST_FILTER;
        if (undecided)
            rung = kind->resolve(&batch->mesh->view, &query, &answer);
        const int has_open_gradient = wants_gradient && caromi_resolve_gradient(batch, query.in, &answer);
        if (undecided && batch->sign != CAROM_SIGN_NONE)
            caromi_sign_answer(batch, &query, &answer);
        if (undecided)
            caromi_store_answer(batch, 0, kind->search_out, &answer, row);
        if (wants_gradient)
            caromi_store_gradient(batch, &answer, row);
        const int has_open_point =
            (wants_points && caromi_resolve_points(batch, query.in, answer.triangle, row)) || has_open_gradient;
        if (batch->rungs != NULL)
            batch->rungs[row] = (uint8_t)(search_bit[rung] | (has_open_point ? CAROMI_POINT_BY_INTEGERS : 0));
        caromi_rungs_count(&rungs, has_open_point ? CAROMI_INTEGERS : rung);
    }
    return rungs;
}

uint32_t caromi_undecided_mesh_batch(const void *mesh_batch, const void *const *marks, uint32_t count,
                                     uint32_t *queries)
{
    const float *keys = marks[1], *points = caromi_wants_points(mesh_batch) ? marks[2] : keys,
                *gradients = caromi_wants_gradient(mesh_batch) ? marks[3] : keys;
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++)
        if (isnan(keys[i]) || isnan(points[i]) || isnan(gradients[i]))
            queries[found++] = i;
    return found;
}

/* Arguments of a batch's tasks on the CPU. */
typedef struct mesh_job {
    const carom_context *context;
    const caromi_mesh_batch *batch;
} mesh_job;

/* Points and signs of a block that was searched. */
static void complete_block(const carom_context *context, const caromi_mesh_batch *batch, caromi_mesh_block *block,
                           uint32_t count)
{
    if (caromi_wants_points(batch) || caromi_wants_gradient(batch))
        caromi_block_points(context, batch, block, count);
    if (batch->sign != CAROM_SIGN_NONE)
        caromi_sign_block(batch, block, count);
}

/* Stores a block, and decides what its kernels have left undecided. */
static caromi_rungs deliver_block(const caromi_mesh_batch *batch, const caromi_mesh_block *block, uint32_t count)
{
    caromi_block_store(batch, block, count);
    const void *const marks[] = {block->triangle, block->key, block->point[0], block->normal[0]};
    return batch->exact ? caromi_resolve_mesh_batch(batch, marks, block->row, 0, count) : (caromi_rungs){0, 0};
}

static caromi_rungs run_block(const void *user, void *own, const caromi_sorted_queries *queries, uint32_t from,
                              uint32_t count)
{
    const mesh_job *job = user;
    const caromi_mesh_batch *batch = job->batch;
    caromi_mesh_block *block = own;
    caromi_block_gather(batch, block, queries, from, count);
    if (from < queries->active) {
        caromi_block_search(batch, block, count);
        complete_block(job->context, batch, block, count);
    } else {
        caromi_block_miss(block, count);
    }
    return deliver_block(batch, block, count);
}

caromi_rungs caromi_complete_searched(const void *searched, const void *const *found, const uint64_t *rows,
                                      uint64_t first, size_t count)
{
    const caromi_searched *of = searched;
    const caromi_mesh_batch *batch = of->batch;
    const int is_first = batch->kind == &caromi_first_hit;
    caromi_rungs rungs = {0, 0};
    caromi_mesh_block block;
    (void)rows;
    for (size_t from = 0, n; from < count; from += n) {
        n = count - from < CAROMI_BLOCK ? count - from : CAROMI_BLOCK;
        for (size_t i = 0; i < n; i++)
            block.row[i] = first + from + i;
        for (int c = 0; c < batch->kind->in; c++)
            caromi_gather(block.in[c], &batch->in[c], first + from, n);
        memcpy(block.triangle, (const int32_t *)found[0] + from, n * sizeof *block.triangle);
        memcpy(block.key, (const float *)found[1] + from, n * sizeof *block.key);
        if (is_first)
            memcpy(block.state, (const uint8_t *)found[2] + from, n);
        else
            memcpy(block.depth, (const float *)found[2] + from, n * sizeof *block.depth);
        complete_block(of->context, batch, &block, (uint32_t)n);
        const caromi_rungs own = deliver_block(batch, &block, (uint32_t)n);
        rungs.second_filter += own.second_filter;
        rungs.integers += own.integers;
    }
    return rungs;
}

carom_status caromi_cpu_mesh(const carom_context *context, const void *mesh_batch, uint64_t first, uint64_t end,
                             carom_stats *stats, carom_error *err)
{
    const caromi_mesh_batch *batch = mesh_batch;
    const mesh_job job = {context, batch};
    CHECK(caromi_mesh_bring(batch->mesh, err));
    return caromi_run_blocks(context, batch->mesh, batch->in, batch->kind->in, batch->options, first, end,
                             sizeof(caromi_mesh_block), caromi_side_grain(batch), run_block, &job, stats, err);
}
