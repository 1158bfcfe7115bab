/* SPDX-License-Identifier: MIT */
/* First hits on a mesh: argument checks, and the CPU's way through a batch: a slice per task, its queries along a curve
 * through the mesh, block by block. */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "../cpu/exact.h"
#include "cl.h"
#include "order.h"

enum {
    BLOCK = 256,
    SLICE = 1 << 16,      /* queries that a task puts in order: the more, the more often they meet again */
    LEAST_LEAVES = 1 << 9 /* a smaller mesh stays in cache whatever the order */
};

/* Everything a thread needs for one block of queries. */
typedef struct mesh_block {
    uint64_t row[BLOCK]; /* of the batch */
    float in[CAROMI_MESH_IN][BLOCK];
    float corners[9][BLOCK];
    float point[3][BLOCK], normal[3][BLOCK], t[BLOCK];
    int32_t triangle[BLOCK], state[BLOCK];
    uint8_t feature[BLOCK];
} mesh_block;

typedef struct mesh_job {
    const carom_context *context;
    const caromi_mesh_batch *batch;
    mesh_block *blocks; /* one per thread */
    uint64_t *keys;     /* [2 * slice] per thread; NULL: queries are taken as they come */
    uint64_t first, slice;
    atomic_uint_fast64_t settled; /* queries, in integers */
} mesh_job;

/* Contact of every query of the block; those without a hit run along with triangle 0 and are cleared after. */
static void find_contacts(const mesh_job *job, mesh_block *b, size_t count)
{
    const carom_mesh *mesh = job->batch->mesh;
    const size_t lanes = job->context->isa->lanes, padded = (count + lanes - 1) / lanes * lanes;
    const float *in[COLUMNS_MAX];
    void *out[COLUMNS_MAX];
    for (size_t i = 0; i < padded; i++)
        for (int k = 0; k < 9; k++)
            b->corners[k][i] =
                caromi_corner(mesh, i < count && b->triangle[i] >= 0 ? (uint32_t)b->triangle[i] : 0, k / 3)[k % 3];
    for (int c = 0; c < IN_P0X; c++) {
        for (size_t i = count; i < padded; i++)
            b->in[c][i] = b->in[c][count - 1];
        in[c] = b->in[c];
    }
    for (int k = 0; k < 9; k++)
        in[IN_P0X + k] = b->corners[k];
    for (int k = 0; k < 3; k++) {
        out[OUT_POINT_X + k] = b->point[k];
        out[OUT_NORMAL_X + k] = b->normal[k];
    }
    out[OUT_FEATURE] = b->feature;
    job->context->isa->pairs[job->batch->exact ? CAROMI_PAIR_contact_exact : CAROMI_PAIR_contact](in, out, padded, 0);
    for (size_t i = 0; i < count; i++)
        if (b->triangle[i] < 0) {
            for (int k = 0; k < 3; k++)
                b->point[k][i] = b->normal[k][i] = 0;
            b->feature[i] = CAROM_FEATURE_NONE;
        }
}

static void store_points(const carom_points_out *to, const mesh_block *b, const float (*from)[BLOCK], size_t count)
{
    float *const bases[3] = {to->x, to->y, to->z};
    for (int k = 0; k < 3 && bases[k] != NULL; k++)
        for (size_t i = 0; i < count; i++)
            memcpy((char *)bases[k] + b->row[i] * to->stride, &from[k][i], sizeof(float));
}

static void store_block(const carom_mesh_hit_result *out, const mesh_block *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t row = b->row[i];
        if (out->triangle)
            out->triangle[row] = b->triangle[i];
        if (out->state)
            out->state[row] = (uint8_t)b->state[i];
        if (out->t)
            out->t[row] = b->t[i];
        if (out->feature)
            out->feature[row] = b->feature[i];
    }
    store_points(&out->point, b, b->point, count);
    store_points(&out->normal, b, b->normal, count);
}

/* Contact of a query with its triangle. The kernel is asked first, even if the search was settled in integers: who gives
 * a point its last bit must not depend on the tree. */
static void contact_of(const float *in, caromi_exact_contact *a)
{
    int chosen;
    const caromi_isa_table *one = caromi_isa_select(CAROM_ISA_SCALAR, &chosen);
    const float *columns[COLUMNS_MAX];
    void *out[COLUMNS_MAX];
    uint8_t feature;
    for (int c = 0; c < IN_SWEEP_RESTING; c++)
        columns[c] = in + c;
    for (int k = 0; k < 3; k++) {
        out[OUT_POINT_X + k] = &a->point[k];
        out[OUT_NORMAL_X + k] = &a->normal[k];
    }
    out[OUT_FEATURE] = &feature;
    one->pairs[CAROMI_PAIR_contact_exact](columns, out, 1, 0);
    a->feature = feature;
    if (isnan(a->point[0]))
        caromi_exact_contact_of(in, a);
}

static void settle_contact(const caromi_mesh_batch *batch, const float *query, int32_t triangle, uint64_t row)
{
    caromi_exact_contact a;
    float in[IN_SWEEP_RESTING];
    memset(&a, 0, sizeof a);
    if (triangle >= 0) {
        memcpy(in, query, IN_P0X * sizeof *in);
        for (int k = 0; k < 9; k++)
            in[IN_P0X + k] = caromi_corner(batch->mesh, (uint32_t)triangle, k / 3)[k % 3];
        contact_of(in, &a);
    }
    const carom_points_out *const to[2] = {&batch->out->point, &batch->out->normal};
    const float *const from[2] = {a.point, a.normal};
    for (int k = 0; k < 6; k++) {
        float *const bases[3] = {to[k / 3]->x, to[k / 3]->y, to[k / 3]->z};
        const caromi_out_column column = {bases[k % 3], to[k / 3]->stride};
        caromi_scatter(&column, row, &from[k / 3][k % 3], 1, sizeof(float));
    }
    if (batch->out->feature)
        batch->out->feature[row] = (uint8_t)a.feature;
}

uint64_t caromi_settle_mesh_batch(const caromi_mesh_batch *batch, const void *const *marks, const uint64_t *rows,
                                  uint64_t first, size_t count)
{
    const float *times = marks[0], *points = marks[2];
    const int32_t *triangles = marks[1];
    uint64_t settled = 0;
    for (size_t i = 0; i < count; i++) {
        const int open = isnan(times[i]);
        if (!open && !(batch->wants_contact && isnan(points[i])))
            continue;
        const uint64_t row = rows != NULL ? rows[i] : first + i;
        float query[CAROMI_MESH_IN], t;
        int32_t triangle = triangles[i], state;
        for (int c = 0; c < CAROMI_MESH_IN; c++)
            caromi_gather(&query[c], &batch->in[c], row, 1);
        if (open) {
            caromi_settle_mesh(&batch->mesh->view, query, &triangle, &state, &t);
            if (batch->out->triangle)
                batch->out->triangle[row] = triangle;
            if (batch->out->state)
                batch->out->state[row] = (uint8_t)state;
            if (batch->out->t)
                batch->out->t[row] = t;
        }
        if (batch->wants_contact)
            settle_contact(batch, query, triangle, row);
        settled++;
    }
    return settled;
}

/* The queries of b->row. */
static void run_block(mesh_job *job, mesh_block *b, size_t count)
{
    const caromi_mesh_batch *batch = job->batch;
    caromi_mesh_queries q = {{0}, b->triangle, b->state, b->t, count};
    for (int c = 0; c < CAROMI_MESH_IN; c++) {
        const caromi_in_column *from = &batch->in[c];
        for (size_t i = 0; i < count; i++)
            memcpy(&b->in[c][i], (const char *)from->base + b->row[i] * from->stride, sizeof(float));
        q.in[c] = b->in[c];
    }
    const caromi_isa_table *isa = job->context->isa;
    (batch->exact ? isa->mesh_first_exact : isa->mesh_first)(&batch->mesh->view, &q);
    if (batch->wants_contact)
        find_contacts(job, b, count);
    store_block(batch->out, b, count);
    if (batch->exact) {
        const void *const marks[] = {b->t, b->triangle, b->point[0]};
        atomic_fetch_add(&job->settled, caromi_settle_mesh_batch(batch, marks, b->row, 0, count));
    }
}

static void run_slice(void *user, uint64_t task, uint32_t thread)
{
    mesh_job *job = user;
    const uint64_t first = job->first + task * job->slice, left = job->batch->count - first;
    const uint32_t count = (uint32_t)(left < job->slice ? left : job->slice);
    const uint64_t *order = NULL;
    mesh_block *b = &job->blocks[thread];
    if (job->keys != NULL)
        order = caromi_order(&job->batch->mesh->info, job->batch->in, first, count,
                             job->keys + (uint64_t)thread * 2 * job->slice);
    for (uint32_t from = 0; from < count; from += BLOCK) {
        const size_t n = count - from < BLOCK ? count - from : BLOCK;
        for (uint32_t i = 0; i < n; i++)
            b->row[i] = first + (order != NULL ? (uint32_t)order[from + i] : from + i);
        run_block(job, b, n);
    }
}

carom_status caromi_cpu_mesh(const carom_context *c, const void *mesh_batch, uint64_t first, carom_stats *stats,
                             carom_error *err)
{
    const caromi_mesh_batch *batch = mesh_batch;
    const uint32_t threads = caromi_pool_threads(c->pool);
    const uint64_t count = batch->count - first, share = (count / threads / 4 + BLOCK - 1) / BLOCK * BLOCK;
    mesh_job job = {.context = c, .batch = batch, .first = first};
    job.slice = share < BLOCK ? BLOCK : share < SLICE ? share : SLICE;
    job.blocks = caromi_alloc(c, threads, sizeof(mesh_block));
    if (job.blocks == NULL)
        return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory to stage a batch (%u threads x %zu bytes)",
                           threads, sizeof(mesh_block));
    /* Without memory for it there is no order, and no other answer. */
    if (job.slice > BLOCK && batch->mesh->leaf_count >= LEAST_LEAVES)
        job.keys = caromi_alloc(c, threads * job.slice, 2 * sizeof *job.keys);
    caromi_parallel(c->pool, (count + job.slice - 1) / job.slice, run_slice, &job);
    stats->by_integers += job.settled;
    caromi_free(c, job.keys);
    caromi_free(c, job.blocks);
    return CAROM_OK;
}

static carom_status check_t_max(const carom_mesh_sweep_desc *d, carom_error *err)
{
    for (uint64_t i = 0; d->t_max.data != NULL && i < (d->t_max.stride == 0 && d->count > 0 ? 1 : d->count); i++) {
        float t;
        memcpy(&t, (const char *)d->t_max.data + i * d->t_max.stride, sizeof t);
        if (!(t >= 0))
            return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "query %llu: t_max is %g; it must be >= 0",
                               (unsigned long long)i, (double)t);
    }
    return CAROM_OK;
}

static carom_status check_mesh_sweep(const carom_mesh_sweep_desc *d, const carom_mesh_hit_result *out, carom_error *err)
{
    CHECK(caromi_check_desc(d->size, sizeof *d, "carom_mesh_sweep_desc", err));
    CHECK(caromi_check_accuracy(d->accuracy, err));
    CHECK(caromi_check_points_out(&out->point, "point", err));
    CHECK(caromi_check_points_out(&out->normal, "normal", err));
    if (d->count == 0)
        return CAROM_OK;
    CHECK(caromi_check_points(&d->center, "center", err));
    CHECK(caromi_check_scalars(&d->radius, "radius", err));
    CHECK(caromi_check_points(&d->velocity, "velocity", err));
    return check_t_max(d, err);
}

/* A mesh without triangles has no hierarchy: every valid query misses. */
static carom_status answer_empty(const carom_context *c, const void *mesh_batch, uint64_t done, carom_stats *stats,
                                 carom_error *err)
{
    const caromi_mesh_batch *batch = mesh_batch;
    mesh_block b;
    (void)c, (void)stats, (void)err;
    memset(&b, 0, sizeof b);
    for (uint64_t first = done; first < batch->count; first += BLOCK) {
        const size_t count = batch->count - first < BLOCK ? (size_t)(batch->count - first) : BLOCK;
        for (int k = 0; k < CAROMI_MESH_IN; k++)
            caromi_gather(b.in[k], &batch->in[k], first, count);
        for (size_t i = 0; i < count; i++) {
            int valid = b.in[IN_R][i] >= 0;
            for (int k = 0; k < CAROMI_MESH_IN - 1; k++)
                valid = valid && isfinite(b.in[k][i]);
            b.triangle[i] = -1;
            b.state[i] = valid ? CAROM_MISS : CAROM_INVALID;
            b.t[i] = INFINITY;
        }
        for (size_t i = 0; i < count; i++)
            b.row[i] = first + i;
        store_block(batch->out, &b, count);
    }
    return CAROM_OK;
}

static carom_status sweep_first(carom_mesh *mesh, const carom_mesh_sweep_desc *d, const carom_mesh_hit_result *out,
                                carom_stats *stats, carom_error *err)
{
    static const float forever = INFINITY;
    CHECK(check_mesh_sweep(d, out, err));
    const size_t s = d->velocity.stride, p = d->center.stride;
    const caromi_mesh_batch batch = {
        .mesh = mesh,
        .count = d->count,
        .in = {{d->center.x, p, NULL},
               {d->center.y, p, NULL},
               {d->center.z, p, NULL},
               {d->radius.data, d->radius.stride, NULL},
               {d->velocity.x, s, NULL},
               {d->velocity.y, s, NULL},
               {d->velocity.z, s, NULL},
               {d->t_max.data ? d->t_max.data : &forever, d->t_max.data ? d->t_max.stride : 0, NULL}},
        .wants_contact = out->point.x || out->normal.x || out->feature,
        .exact = d->accuracy == CAROM_ACCURACY_EXACT,
        .out = out,
    };
    const int empty = mesh->info.triangle_count == 0;
    const caromi_batch run = {.batch = &batch,
                              .count = d->count,
                              .on_device = empty ? NULL : caromi_device_mesh,
                              .on_cpu = empty ? answer_empty : caromi_cpu_mesh,
                              .exact = batch.exact,
                              .name = batch.exact ? "the first hit on this mesh, exact," : "the first hit on this mesh",
                              .pace = &mesh->paces[batch.exact]};
    return caromi_run(mesh->context, &run, stats, err);
}

carom_status carom_mesh_sweep_first(carom_mesh *mesh, const carom_mesh_sweep_desc *desc,
                                    const carom_mesh_hit_result *out, carom_stats *stats, carom_error *err)
{
    CHECK_NOT_NULL(mesh, "mesh", err);
    CHECK_NOT_NULL(desc, "desc", err);
    CHECK_NOT_NULL(out, "out", err);
    CHECK(caromi_check_stats(stats, err));
    const uint64_t mode = caromi_float_mode_set(); /* comparisons of denormals depend on it */
    const carom_status status = sweep_first(mesh, desc, out, stats, err);
    caromi_float_mode_restore(mode);
    return status;
}
