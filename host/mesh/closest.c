/* SPDX-License-Identifier: MIT */
/* Closest points on a mesh: argument checks, and the CPU's way through a batch, block by block. */
#include "closest.h"

#include <math.h>
#include <string.h>

#include "cpu/exact.h"
#include "block.h"
#include "query.h"

enum { BLOCK = CAROMI_BLOCK };

/* Everything a thread needs for one block of queries. */
typedef struct closest_block {
    uint64_t row[BLOCK]; /* of the batch */
    float in[CAROMI_CLOSEST_IN][BLOCK];
    int32_t mask[BLOCK]; /* with MESH_QUERY_MASKS */
    float corners[9][BLOCK];
    float point[3][BLOCK], distance[BLOCK], depth[BLOCK];
    int32_t triangle[BLOCK];
    uint8_t feature[BLOCK];
} closest_block;

typedef struct closest_job {
    const carom_context *context;
    const caromi_closest_batch *batch;
} closest_job;

/* ---------------------------------------------------------------- points */

/* Point and feature of every query of the block; those without a triangle run along with triangle 0 and are cleared. */
static void find_points(const closest_job *job, closest_block *b, size_t count)
{
    const float *in[COLUMNS_MAX];
    void *out[COLUMNS_MAX];
    const size_t padded = caromi_gather_pairs(job->batch->mesh, job->context->isa->lanes, b->triangle, count, IN_NP0X,
                                              b->in, b->corners, in);
    for (int k = 0; k < 3; k++)
        out[OUT_CLOSEST_X + k] = b->point[k];
    out[OUT_CLOSEST_FEATURE] = b->feature;
    job->context->isa->pairs[job->batch->exact ? CAROMI_PAIR_closest_exact : CAROMI_PAIR_closest](in, out, padded, 0);
    for (size_t i = 0; i < count; i++)
        if (b->triangle[i] < 0) {
            b->point[0][i] = b->point[1][i] = b->point[2][i] = 0;
            b->feature[i] = CAROM_FEATURE_NONE;
        }
}

/* A query and its triangle. The kernel is asked first, even if the search was settled in integers: who gives a point
 * its last bit must not depend on the tree. */
static void point_of(const float *in, caromi_exact_closest *a)
{
    void *out[COLUMNS_MAX];
    uint8_t feature;
    for (int k = 0; k < 3; k++)
        out[OUT_CLOSEST_X + k] = &a->point[k];
    out[OUT_CLOSEST_FEATURE] = &feature;
    caromi_ask_alone(CAROMI_PAIR_closest_exact, in, IN_CLOSEST, out);
    a->feature = feature;
    if (isnan(a->point[0]))
        caromi_exact_closest_of(in, a);
}

static void settle_point(const caromi_closest_batch *batch, const float *query, int32_t triangle, uint64_t row)
{
    const carom_mesh_closest_result *out = batch->out;
    float *const bases[3] = {out->point.x, out->point.y, out->point.z};
    caromi_exact_closest a;
    float in[IN_CLOSEST];
    memset(&a, 0, sizeof a);
    if (triangle >= 0) {
        memcpy(in, query, 3 * sizeof *in);
        for (int k = 0; k < 9; k++)
            in[IN_NP0X + k] = caromi_corner(batch->mesh, (uint32_t)triangle, k / 3)[k % 3];
        point_of(in, &a);
    }
    for (int k = 0; k < 3; k++) {
        const caromi_out_column column = {bases[k], out->point.stride};
        caromi_scatter(&column, row, &a.point[k], 1, sizeof(float));
    }
    if (out->feature)
        out->feature[row] = (uint8_t)a.feature;
}

uint64_t caromi_settle_closest_batch(const caromi_closest_batch *batch, const void *const *marks, const uint64_t *rows,
                                     uint64_t first, size_t count)
{
    const int32_t *triangles = marks[0];
    const float *distances = marks[1], *points = marks[2];
    uint64_t settled = 0;
    for (size_t i = 0; i < count; i++) {
        const int open = isnan(distances[i]);
        if (!open && !(batch->wants_point && isnan(points[i])))
            continue;
        const uint64_t row = rows != NULL ? rows[i] : first + i;
        float distance, depth;
        int32_t triangle = triangles[i];
        const caromi_mesh_query query =
            caromi_gather_query(batch->in, CAROMI_CLOSEST_IN, &batch->mask, batch->options, row);
        if (open) {
            caromi_settle_closest(&batch->mesh->view, &query, &triangle, &distance, &depth);
            if (batch->out->triangle)
                batch->out->triangle[row] = triangle;
            if (batch->out->distance)
                batch->out->distance[row] = distance;
            if (batch->out->depth)
                batch->out->depth[row] = depth;
        }
        if (batch->wants_point)
            settle_point(batch, query.in, triangle, row);
        settled++;
    }
    return settled;
}

/* ---------------------------------------------------------------- a batch */

static void store_block(const carom_mesh_closest_result *out, const closest_block *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t row = b->row[i];
        if (out->triangle)
            out->triangle[row] = b->triangle[i];
        if (out->distance)
            out->distance[row] = b->distance[i];
        if (out->depth)
            out->depth[row] = b->depth[i];
        if (out->feature)
            out->feature[row] = b->feature[i];
    }
    caromi_store_points(&out->point, b->row, b->point, count);
}

static uint64_t run_block(const void *user, void *own, const caromi_ordered *queries, uint32_t from, uint32_t count)
{
    const closest_job *job = user;
    const caromi_closest_batch *batch = job->batch;
    const caromi_isa_table *isa = job->context->isa;
    closest_block *b = own;
    caromi_mesh_queries q = {
        .triangle = b->triangle, .t = b->distance, .depth = b->depth, .count = count, .options = batch->options};
    caromi_ordered_take(queries, from, count, b->row, b->in);
    for (int c = 0; c < CAROMI_CLOSEST_IN; c++)
        q.in[c] = b->in[c];
    if (batch->mask.base != NULL) {
        caromi_gather_masks(&batch->mask, b->row, count, b->mask);
        q.mask = b->mask;
    }
    isa->mesh[CAROMI_MESH_CLOSEST][batch->exact](&batch->mesh->view, &q);
    if (batch->wants_point)
        find_points(job, b, count);
    store_block(batch->out, b, count);
    const void *const marks[] = {b->triangle, b->distance, b->point[0]};
    return batch->exact ? caromi_settle_closest_batch(batch, marks, b->row, 0, count) : 0;
}

carom_status caromi_cpu_closest(const carom_context *c, const void *closest_batch, uint64_t first, uint64_t end,
                                carom_stats *stats, carom_error *err)
{
    const closest_job job = {c, closest_batch};
    return caromi_run_blocks(c, job.batch->mesh, job.batch->in, CAROMI_CLOSEST_IN, first, end, sizeof(closest_block),
                             run_block, &job, stats, err);
}

/* A mesh without triangles has no hierarchy: no query, valid or not, has an answer. */
static carom_status answer_empty(const carom_context *c, const void *closest_batch, uint64_t done, uint64_t end,
                                 carom_stats *stats, carom_error *err)
{
    const caromi_closest_batch *batch = closest_batch;
    closest_block b;
    (void)c, (void)stats, (void)err;
    memset(&b, 0, sizeof b);
    for (size_t i = 0; i < BLOCK; i++) {
        b.triangle[i] = -1;
        b.distance[i] = INFINITY;
        b.depth[i] = -INFINITY;
    }
    for (uint64_t first = done; first < end; first += BLOCK) {
        const size_t count = end - first < BLOCK ? (size_t)(end - first) : BLOCK;
        for (size_t i = 0; i < count; i++)
            b.row[i] = first + i;
        store_block(batch->out, &b, count);
    }
    return CAROM_OK;
}

/* ---------------------------------------------------------------- the call */

CAROMI_LIST list_closest(caromi_arrays *a, const carom_mesh_overlap_desc *d, const carom_mesh_closest_result *out,
                         const carom_stats *stats)
{
    caromi_list_overlap(a, d);
    caromi_reads(a, "out", out, 1, 0, sizeof *out);
    caromi_writes(a, "stats", stats, 1, sizeof *stats);
    caromi_writes(a, "triangle", out->triangle, d->count, sizeof *out->triangle);
    caromi_writes(a, "distance", out->distance, d->count, sizeof *out->distance);
    caromi_writes_points(a, "point", &out->point, d->count);
    caromi_writes(a, "feature", out->feature, d->count, sizeof *out->feature);
    caromi_writes(a, "depth", out->depth, d->count, sizeof *out->depth);
}

static carom_status overlap_closest(carom_mesh *mesh, const carom_mesh_overlap_desc *d,
                                    const carom_mesh_closest_result *out, carom_stats *stats, carom_error *err)
{
    CHECK(caromi_check_mesh_overlap(d, err));
    CHECK(caromi_check_points_out(&out->point, "point", err));
    CAROMI_CHECK_ARRAYS(err, list_closest, d, out, stats);
    const size_t p = d->center.stride;
    const caromi_closest_batch batch = {
        .mesh = mesh,
        .count = d->count,
        .in = {{d->center.x, p, NULL},
               {d->center.y, p, NULL},
               {d->center.z, p, NULL},
               {d->radius.data, d->radius.stride, NULL}},
        .mask = {d->mask, d->mask_stride, NULL},
        .options = (d->mask != NULL ? MESH_QUERY_MASKS : 0) | (mesh->masks != NULL ? MESH_TRIANGLE_MASKS : 0),
        .wants_point = out->point.x || out->feature,
        .exact = d->accuracy == CAROM_ACCURACY_EXACT,
        .out = out,
    };
    const int empty = mesh->info.triangle_count == 0;
    const caromi_batch run = {.batch = &batch,
                              .count = d->count,
                              .on_device = empty ? NULL : caromi_device_closest,
                              .on_cpu = empty ? answer_empty : caromi_cpu_closest,
                              .piece = CAROMI_MESH_PIECE,
                              .progress = d->progress,
                              .exact = batch.exact,
                              .name = batch.exact ? "the closest point of this mesh, exact,"
                                                  : "the closest point of this mesh",
                              .pace = &mesh->paces[CAROMI_MESH_CLOSEST][batch.exact]};
    return caromi_run(mesh->context, &run, stats, err);
}

carom_status carom_mesh_overlap_closest(carom_mesh *mesh, const carom_mesh_overlap_desc *desc,
                                        const carom_mesh_closest_result *out, carom_stats *stats, carom_error *err)
{
    CHECK_NOT_NULL(mesh, "mesh", err);
    CHECK_NOT_NULL(desc, "desc", err);
    CHECK_NOT_NULL(out, "out", err);
    CHECK(caromi_check_stats(stats, err));
    IN_FLOAT_MODE(overlap_closest(mesh, desc, out, stats, err));
}
