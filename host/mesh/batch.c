/* SPDX-License-Identifier: MIT */
#include "batch.h"

#include <math.h>
#include <string.h>

#include "host/opencl/opencl.h"
#include "block.h"
#include "query.h"

void caromi_hits_to_columns(const carom_mesh_hit_result *out,
                            caromi_out_column *columns){CAROMI_HIT_OUTPUTS(CAROMI_SET_OUTPUT)}

uint64_t caromi_settle_mesh_batch(const void *mesh_batch, const void *const *marks, const uint64_t *rows,
                                  uint64_t first, size_t count)
{
    const caromi_mesh_batch *batch = mesh_batch;
    const caromi_mesh_kind *kind = batch->kind;
    const int wants_points = caromi_wants_points(batch);
    const int32_t *triangles = marks[0];
    const float *keys = marks[1], *points = marks[2];
    uint64_t settled = 0;
    for (size_t i = 0; i < count; i++) {
        const int undecided = isnan(keys[i]);
        if (!undecided && !(wants_points && isnan(points[i])))
            continue;
        const uint64_t row = rows != NULL ? rows[i] : first + i;
        const caromi_mesh_query query = caromi_mesh_query_of(batch, row);
        caromi_mesh_answer a = {.triangle = triangles[i]};
        if (undecided) {
            kind->settle(&batch->mesh->view, &query, &a);
            caromi_store_answer(batch, 0, kind->search_out, &a, row);
        }
        if (wants_points)
            caromi_settle_points(batch, query.in, a.triangle, row);
        settled++;
    }
    return settled;
}

/* What the CPU answers a batch with. */
typedef struct mesh_job {
    const carom_context *context;
    const caromi_mesh_batch *batch;
} mesh_job;

static uint64_t run_block(const void *user, void *own, const caromi_ordered *queries, uint32_t from, uint32_t count)
{
    const mesh_job *job = user;
    const caromi_mesh_batch *batch = job->batch;
    caromi_mesh_block *b = own;
    caromi_block_gather(batch, b, queries, from, count);
    if (from < queries->open) {
        caromi_block_search(job->context, batch, b, count);
        if (caromi_wants_points(batch))
            caromi_block_points(job->context, batch, b, count);
    } else {
        caromi_block_miss(b, count);
    }
    caromi_block_store(batch, b, count);
    const void *const marks[] = {b->triangle, b->key, b->point[0]};
    return batch->exact ? caromi_settle_mesh_batch(batch, marks, b->row, 0, count) : 0;
}

carom_status caromi_cpu_mesh(const carom_context *c, const void *mesh_batch, uint64_t first, uint64_t end,
                             carom_stats *stats, carom_error *err)
{
    const caromi_mesh_batch *batch = mesh_batch;
    const mesh_job job = {c, batch};
    return caromi_run_blocks(c, batch->mesh, batch->in, batch->kind->in, first, end, sizeof(caromi_mesh_block),
                             run_block, &job, stats, err);
}

/* A mesh without triangles has no hierarchy. No query has a triangle; if states are wanted, an invalid query is told from
 * a miss. */
static carom_status answer_empty(const carom_context *c, const void *mesh_batch, uint64_t done, uint64_t end,
                                 carom_stats *stats, carom_error *err)
{
    const caromi_mesh_batch *batch = mesh_batch;
    const int wants_state = batch->out[CAROMI_ANSWER_STATE].base != NULL;
    caromi_mesh_block b;
    (void)c, (void)stats, (void)err;
    caromi_block_miss(&b, CAROMI_BLOCK);
    for (uint64_t first = done; first < end; first += CAROMI_BLOCK) {
        const size_t count = end - first < CAROMI_BLOCK ? (size_t)(end - first) : CAROMI_BLOCK;
        for (size_t i = 0; i < count; i++) {
            b.row[i] = first + i;
            b.state[i] = !wants_state || caromi_mesh_query_valid(batch->in, first + i) ? CAROM_MISS : CAROM_INVALID;
        }
        caromi_block_store(batch, &b, count);
    }
    return CAROM_OK;
}

carom_status caromi_run_mesh(const caromi_mesh_batch *batch, const carom_progress *progress, carom_stats *stats,
                             carom_error *err)
{
    carom_mesh *mesh = batch->mesh;
    const int empty = mesh->info.triangle_count == 0;
    const caromi_batch run = {.batch = batch,
                              .count = batch->count,
                              .on_device = empty ? NULL : caromi_device_mesh,
                              .on_cpu = empty ? answer_empty : caromi_cpu_mesh,
                              .piece = CAROMI_MESH_PIECE,
                              .progress = *progress,
                              .exact = batch->exact,
                              .name = batch->kind->name[batch->exact],
                              .pace = &mesh->paces[batch->kind->search][batch->exact]};
    return caromi_run(mesh->context, &run, stats, err);
}
