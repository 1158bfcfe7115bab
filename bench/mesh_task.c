/* SPDX-License-Identifier: MIT */
#include "common.h"
#include "mesh_task.h"

#include <string.h>

hits hits_alloc(size_t count, size_t capacity)
{
    return (hits){.triangle = columns_alloc(1, capacity, sizeof(int32_t)),
                  .time = columns_alloc(1, capacity, sizeof(float)),
                  .state = columns_alloc(1, capacity, 1),
                  .offsets = columns_alloc(1, count + 1, sizeof(uint64_t)),
                  .count = count,
                  .capacity = capacity};
}

void hits_free(hits *h)
{
    columns_free(&h->triangle);
    columns_free(&h->time);
    columns_free(&h->state);
    columns_free(&h->offsets);
}

static carom_points vertices_of(const mesh_scene *shape)
{
    return (carom_points){shape->vertices, shape->vertices + 1, shape->vertices + 2, 3 * sizeof(float)};
}

carom_mesh *mesh_call_create(const mesh_call *a)
{
    const mesh_scene *shape = a->shape;
    const carom_mesh_desc desc = {
        .size = sizeof desc,
        .vertices = vertices_of(shape),
        .vertex_count = shape->vertex_count,
        .indices = shape->indices,
        .triangle_count = shape->triangle_count,
    };
    carom_mesh *mesh = NULL;
    carom_error err = {0};
    const carom_status status = carom_mesh_create(a->subject->context, &desc, &mesh, &err);
    if (status != CAROM_OK)
        bench_die("mesh on %s: %s: %s", a->subject->what, carom_status_name(status), err.message);
    return mesh;
}

static carom_status swept_alone(mesh_call *a, carom_mesh_sweep_desc desc, carom_mesh_hit_result result,
                                carom_error *err)
{
    const size_t f = sizeof(float);
    carom_status status = CAROM_OK;
    desc.count = 1;
    for (size_t i = 0; status == CAROM_OK && i < a->out->count; i++) {
        status = carom_mesh_sweep_first(a->mesh, &desc, &result, &a->stats, err);
        desc.center = (carom_points){desc.center.x + 1, desc.center.y + 1, desc.center.z + 1, f};
        desc.velocity = (carom_points){desc.velocity.x + 1, desc.velocity.y + 1, desc.velocity.z + 1, f};
        desc.radius.data++;
        result.triangle++;
        result.t++;
        result.state++;
    }
    return status;
}

static carom_status swept(mesh_call *a, carom_error *err)
{
    static const float t_max = 1.0f;
    float *const *in = (float *const *)(const void *)a->spheres->column;
    const size_t f = sizeof(float);
    hits *h = a->out;
    const carom_mesh_sweep_desc desc = {
        .size = sizeof desc,
        .count = h->count,
        .accuracy = a->accuracy,
        .center = {in[0], in[1], in[2], f},
        .velocity = {in[3], in[4], in[5], f},
        .radius = {in[6], f},
        .t_max = {&t_max, 0},
    };
    const carom_mesh_hit_result result = {
        .triangle = h->triangle.column[0], .t = h->time.column[0], .state = h->state.column[0]};
    carom_mesh_hit_list list = {.size = sizeof list,
                                .capacity = h->capacity,
                                .offsets = h->offsets.column[0],
                                .triangle = h->triangle.column[0],
                                .t = h->time.column[0],
                                .state = h->state.column[0]};
    if (a->task == MESH_FIRST)
        return carom_mesh_sweep_first(a->mesh, &desc, &result, &a->stats, err);
    if (a->task == MESH_ALONE)
        return swept_alone(a, desc, result, err);
    if (a->task == MESH_ANY)
        return carom_mesh_sweep_any(a->mesh, &desc, h->state.column[0], &a->stats, err);
    return carom_mesh_sweep_list(a->mesh, &desc, CAROM_HITS_ALL, &list, &a->stats, err);
}

static carom_status at_rest(mesh_call *a, carom_error *err)
{
    float *const *in = (float *const *)(const void *)a->spheres->column;
    const size_t f = sizeof(float);
    hits *h = a->out;
    const carom_mesh_overlap_desc desc = {.size = sizeof desc,
                                          .count = h->count,
                                          .accuracy = a->accuracy,
                                          .center = {in[0], in[1], in[2], f},
                                          .radius = {in[6], f}};
    const carom_mesh_closest_result result = {.triangle = h->triangle.column[0], .distance = h->time.column[0]};
    carom_mesh_hit_list list = {.size = sizeof list,
                                .capacity = h->capacity,
                                .offsets = h->offsets.column[0],
                                .triangle = h->triangle.column[0]};
    if (a->task == MESH_CLOSEST)
        return carom_mesh_overlap_closest(a->mesh, &desc, &result, &a->stats, err);
    return carom_mesh_overlap_list(a->mesh, &desc, &list, &a->stats, err);
}

static carom_status query(mesh_call *a, carom_error *err)
{
    a->stats.size = sizeof a->stats;
    const int rests = a->task == MESH_OVERLAPS || a->task == MESH_CLOSEST;
    const carom_status status = rests ? at_rest(a, err) : swept(a, err);
    if (status == CAROM_OK && (a->fastest.size == 0 || a->stats.total < a->fastest.total))
        a->fastest = a->stats;
    return status;
}

carom_status mesh_call_try(mesh_call *a, carom_error *err)
{
    if (a->task != MESH_REFIT && a->task != MESH_BUILD)
        return query(a, err);
    if (a->task == MESH_REFIT) {
        const carom_points vertices = vertices_of(a->shape);
        return carom_mesh_update(a->mesh, &vertices, CAROM_MESH_REFIT, err);
    }
    carom_mesh_destroy(mesh_call_create(a));
    return CAROM_OK;
}

void mesh_call_run(void *user)
{
    mesh_call *a = user;
    carom_error err = {0};
    const carom_status status = mesh_call_try(a, &err);

    if (status != CAROM_OK)
        bench_die("mesh on %s: %s: %s", a->subject->what, carom_status_name(status), err.message);
}

/* Over all that the query has written, and the sentinels where it writes nothing. */
uint64_t mesh_call_check(mesh_call *a)
{
    hits *h = a->out;
    memset(h->triangle.column[0], 0xa5, h->capacity * sizeof(int32_t));
    memset(h->time.column[0], 0xa5, h->capacity * sizeof(float));
    memset(h->state.column[0], 0xa5, h->capacity);
    memset(h->offsets.column[0], 0, (h->count + 1) * sizeof(uint64_t));
    mesh_call_run(a);
    uint64_t hash = bench_hash(0, h->triangle.column[0], h->capacity * sizeof(int32_t));
    hash = bench_hash(hash, h->time.column[0], h->capacity * sizeof(float));
    hash = bench_hash(hash, h->state.column[0], h->capacity);
    return bench_hash(hash, h->offsets.column[0], (h->count + 1) * sizeof(uint64_t));
}
