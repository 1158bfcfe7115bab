/* SPDX-License-Identifier: MIT */
#include "batch.h"

#include <math.h>
#include <string.h>

#include "block.h"
#include "first_hits.h"
#include "mesh.h"
#include "query.h"
#include "side.h"

void caromi_hits_to_columns(const carom_mesh_hit_result *out, caromi_out_column *columns)
{
    caromi_set_outputs((caromi_members)CAROMI_MEMBERS(caromi_hit_out), out, columns);
}

/* Bits of rows, by the rung that decided the search. */
static const uint8_t search_bit[] = {0, CAROMI_SEARCH_BY_FILTER, CAROMI_SEARCH_BY_INTEGERS};

/* Answers of the kernels, as columns. */
typedef struct searched_columns {
    const int32_t *triangles;
    const float *keys, *points, *gradients; /* NULL: they are not wanted */
} searched_columns;

/* Completes one query, whose search is decided. rung: what decided it; the first filter: it was not undecided. Returns
 * the last that anything of it needed. */
static caromi_rung complete_query(const caromi_mesh_batch *batch, uint64_t row, caromi_rung rung,
                                  caromi_mesh_answer *answer)
{
    const caromi_mesh_query query = caromi_mesh_query_of(batch, row);
    const int undecided = rung != CAROMI_FIRST_FILTER;
    const int has_open_gradient = caromi_wants_gradient(batch) && caromi_resolve_gradient(batch, query.in, answer);
    if (undecided && batch->sign != CAROM_SIGN_NONE)
        caromi_sign_answer(batch, &query, answer);
    if (undecided)
        caromi_store_answer(batch, 0, batch->kind->search_out, answer, row);
    if (caromi_wants_gradient(batch))
        caromi_store_gradient(batch, answer, row);
    const int has_open_point =
        (caromi_wants_points(batch) && caromi_resolve_points(batch, query.in, answer->triangle, row)) ||
        has_open_gradient;
    if (batch->rungs != NULL)
        batch->rungs[row] = (uint8_t)(search_bit[rung] | (has_open_point ? CAROMI_POINT_BY_INTEGERS : 0));
    return has_open_point ? CAROMI_INTEGERS : rung;
}

/* Decides undecided searches. */
static void decide_searches(const caromi_mesh_batch *batch, const uint64_t *rows, uint32_t count,
                            caromi_mesh_answer *answers, caromi_rung *rungs)
{
    if (count > 0 && batch->kind == &caromi_first_hit) {
        caromi_resolve_first_hits(batch, rows, count, answers, rungs);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        const caromi_mesh_query query = caromi_mesh_query_of(batch, rows[i]);
        rungs[i] = batch->kind->resolve(&batch->mesh->view, &query, &answers[i]);
    }
}

/* Completes the answers of the first `count` rows, of at most CAROMI_FIRST_HITS. */
static void complete_run(const caromi_mesh_batch *batch, const searched_columns *searched, const uint64_t *rows,
                         uint32_t count, caromi_rungs *rungs)
{
    uint64_t row[CAROMI_FIRST_HITS];
    caromi_mesh_answer decided[CAROMI_FIRST_HITS];
    caromi_rung rung[CAROMI_FIRST_HITS];
    uint32_t undecided = 0, next = 0;
    for (uint32_t i = 0; i < count; i++)
        if (isnan(searched->keys[i]))
            row[undecided++] = rows[i];
    decide_searches(batch, row, undecided, decided, rung);
    for (uint32_t i = 0; i < count; i++) {
        caromi_mesh_answer answer = {.triangle = searched->triangles[i], .key = searched->keys[i]};
        if (isnan(searched->keys[i])) {
            caromi_rungs_count(rungs, complete_query(batch, rows[i], rung[next], &decided[next]));
            next++;
        } else if ((searched->points != NULL && isnan(searched->points[i])) ||
                   (searched->gradients != NULL && isnan(searched->gradients[i]))) {
            caromi_rungs_count(rungs, complete_query(batch, rows[i], CAROMI_FIRST_FILTER, &answer));
        }
    }
}

caromi_rungs caromi_resolve_mesh_batch(const void *mesh_batch, const void *const *marks, const uint64_t *rows,
                                       uint64_t first, size_t count)
{
    const caromi_mesh_batch *batch = mesh_batch;
    const searched_columns all = {marks[0], marks[1], caromi_wants_points(batch) ? marks[2] : NULL,
                                  caromi_wants_gradient(batch) ? marks[3] : NULL};
    caromi_rungs rungs = {0, 0};
    for (size_t from = 0, n; from < count; from += n) {
        uint64_t run[CAROMI_FIRST_HITS];
        n = count - from < CAROMI_FIRST_HITS ? count - from : CAROMI_FIRST_HITS;
        for (size_t i = 0; i < n; i++)
            run[i] = rows != NULL ? rows[from + i] : first + from + i;
        const searched_columns own = {all.triangles + from, all.keys + from,
                                      all.points != NULL ? all.points + from : NULL,
                                      all.gradients != NULL ? all.gradients + from : NULL};
        complete_run(batch, &own, run, (uint32_t)n, &rungs);
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
