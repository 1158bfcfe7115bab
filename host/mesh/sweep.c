/* SPDX-License-Identifier: MIT */
/* First hits on a mesh: argument checks, and the CPU's way through a batch, block by block. */
#include <math.h>
#include <string.h>

#include "host/opencl/opencl.h"
#include "block.h"
#include "query.h"
#include "query_sort.h"

enum { BLOCK = CAROMI_BLOCK };

/* What the CPU answers a batch with. */
typedef struct mesh_job {
    const carom_context *context;
    const caromi_mesh_batch *batch;
} mesh_job;

uint64_t caromi_settle_mesh_batch(const caromi_mesh_batch *batch, const void *const *marks, const uint64_t *rows,
                                  uint64_t first, size_t count)
{
    const int32_t *triangles = marks[0];
    const float *times = marks[1], *points = marks[2];
    uint64_t settled = 0;
    for (size_t i = 0; i < count; i++) {
        const int open = isnan(times[i]);
        if (!open && !(batch->wants_contact && isnan(points[i])))
            continue;
        const uint64_t row = rows != NULL ? rows[i] : first + i;
        const caromi_mesh_query query = caromi_mesh_query_of(batch, row);
        int32_t triangle = triangles[i], state;
        float t;
        if (open) {
            caromi_settle_mesh(&batch->mesh->view, &query, &triangle, &state, &t);
            if (batch->out->triangle)
                batch->out->triangle[row] = triangle;
            if (batch->out->state)
                batch->out->state[row] = (uint8_t)state;
            if (batch->out->t)
                batch->out->t[row] = t;
        }
        if (batch->wants_contact)
            caromi_settle_contact(batch, query.in, triangle, row);
        settled++;
    }
    return settled;
}

static void search(const mesh_job *job, caromi_mesh_block *b, uint32_t count)
{
    const caromi_mesh_batch *batch = job->batch;
    caromi_mesh_queries q = {
        .triangle = b->triangle, .state = b->state, .t = b->t, .count = count, .options = batch->options};
    for (int c = 0; c < CAROMI_MESH_IN; c++)
        q.in[c] = b->in[c];
    q.mask = batch->mask.base != NULL ? b->mask : NULL;
    job->context->isa->mesh[CAROMI_MESH_FIRST][batch->exact](&batch->mesh->view, &q);
    if (batch->wants_contact)
        caromi_block_contacts(job->context, batch, b, count);
}

static uint64_t run_block(const void *user, void *own, const caromi_ordered *queries, uint32_t from, uint32_t count)
{
    const mesh_job *job = user;
    const caromi_mesh_batch *batch = job->batch;
    caromi_mesh_block *b = own;
    caromi_block_take(batch, b, queries, from, count);
    if (from < queries->open)
        search(job, b, count);
    else
        caromi_block_miss(b, count);
    caromi_block_store(batch->out, b, count);
    const void *const marks[] = {b->triangle, b->t, b->point[0]};
    return batch->exact ? caromi_settle_mesh_batch(batch, marks, b->row, 0, count) : 0;
}

carom_status caromi_cpu_mesh(const carom_context *c, const void *mesh_batch, uint64_t first, uint64_t end,
                             carom_stats *stats, carom_error *err)
{
    const mesh_job job = {c, mesh_batch};
    return caromi_run_blocks(c, job.batch->mesh, job.batch->in, CAROMI_MESH_IN, first, end, sizeof(caromi_mesh_block),
                             run_block, &job, stats, err);
}

/* A mesh without triangles has no hierarchy: every valid query misses. */
static carom_status answer_empty(const carom_context *c, const void *mesh_batch, uint64_t done, uint64_t end,
                                 carom_stats *stats, carom_error *err)
{
    const caromi_mesh_batch *batch = mesh_batch;
    caromi_mesh_block b;
    (void)c, (void)stats, (void)err;
    caromi_block_miss(&b, BLOCK);
    for (uint64_t first = done; first < end; first += BLOCK) {
        const size_t count = end - first < BLOCK ? (size_t)(end - first) : BLOCK;
        for (size_t i = 0; i < count; i++) {
            b.row[i] = first + i;
            b.state[i] = caromi_mesh_query_valid(batch->in, first + i) ? CAROM_MISS : CAROM_INVALID;
        }
        caromi_block_store(batch->out, &b, count);
    }
    return CAROM_OK;
}

carom_status caromi_sweep_first(carom_mesh *mesh, const carom_mesh_sweep_desc *d, const carom_mesh_hit_result *out,
                                int hits_only, carom_stats *stats, carom_error *err)
{
    caromi_mesh_batch batch;
    caromi_mesh_sweep_batch(d, mesh, &batch);
    batch.wants_contact = out->point.x || out->normal.x || out->feature;
    batch.hits_only = hits_only;
    batch.out = out;
    const int empty = mesh->info.triangle_count == 0;
    const caromi_batch run = {.batch = &batch,
                              .count = d->count,
                              .on_device = empty ? NULL : caromi_device_mesh,
                              .on_cpu = empty ? answer_empty : caromi_cpu_mesh,
                              .piece = CAROMI_MESH_PIECE,
                              .progress = d->progress,
                              .exact = batch.exact,
                              .name = batch.exact ? "the first hit on this mesh, exact," : "the first hit on this mesh",
                              .pace = &mesh->paces[CAROMI_MESH_FIRST][batch.exact]};
    return caromi_run(mesh->context, &run, stats, err);
}

CAROMI_LIST list_first(caromi_arrays *a, const carom_mesh_sweep_desc *d, const carom_mesh_hit_result *out,
                       const carom_stats *stats)
{
    caromi_list_sweep(a, d);
    caromi_reads(a, "out", out, 1, 0, sizeof *out);
    caromi_writes(a, "stats", stats, 1, sizeof *stats);
    caromi_writes(a, "triangle", out->triangle, d->count, sizeof *out->triangle);
    caromi_writes(a, "state", out->state, d->count, sizeof *out->state);
    caromi_writes(a, "t", out->t, d->count, sizeof *out->t);
    caromi_writes_points(a, "point", &out->point, d->count);
    caromi_writes_points(a, "normal", &out->normal, d->count);
    caromi_writes(a, "feature", out->feature, d->count, sizeof *out->feature);
}

static carom_status sweep_first(carom_mesh *mesh, const carom_mesh_sweep_desc *d, const carom_mesh_hit_result *out,
                                carom_stats *stats, carom_error *err)
{
    CHECK(caromi_check_mesh_sweep(d, err));
    CHECK(caromi_check_points_out(&out->point, "point", err));
    CHECK(caromi_check_points_out(&out->normal, "normal", err));
    CAROMI_CHECK_ARRAYS(err, list_first, d, out, stats);
    CHECK(caromi_check_t_max(d, err));
    return caromi_sweep_first(mesh, d, out, 0, stats, err);
}

carom_status carom_mesh_sweep_first(carom_mesh *mesh, const carom_mesh_sweep_desc *desc,
                                    const carom_mesh_hit_result *out, carom_stats *stats, carom_error *err)
{
    CHECK_NOT_NULL(mesh, "mesh", err);
    CHECK_NOT_NULL(desc, "desc", err);
    CHECK_NOT_NULL(out, "out", err);
    CHECK(caromi_check_stats(stats, err));
    IN_FLOAT_MODE(sweep_first(mesh, desc, out, stats, err));
}
