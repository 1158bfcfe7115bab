/* SPDX-License-Identifier: MIT */
#include "mesh_question.h"

#include <string.h>

hits hits_alloc(size_t count)
{
    return (hits){columns_alloc(1, count, sizeof(int32_t)), columns_alloc(1, count, sizeof(float)),
                  columns_alloc(1, count, 1), count};
}

void hits_free(hits *h)
{
    columns_free(&h->triangle);
    columns_free(&h->time);
    columns_free(&h->state);
}

carom_mesh *mesh_ask_create(const mesh_ask *a)
{
    const mesh_scene *shape = a->shape;
    const carom_mesh_desc desc = {
        .size = sizeof desc,
        .vertices = {shape->vertices, shape->vertices + 1, shape->vertices + 2, 3 * sizeof(float)},
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

carom_status mesh_ask_try(mesh_ask *a, carom_error *err)
{
    static const float t_max = 1.0f;

    if (a->build) {
        carom_mesh_destroy(mesh_ask_create(a));
        return CAROM_OK;
    }
    float *const *in = (float *const *)(const void *)a->spheres->column;
    const size_t f = sizeof(float);
    const carom_mesh_sweep_desc desc = {
        .size = sizeof desc,
        .count = a->out->count,
        .accuracy = a->accuracy,
        .center = {in[0], in[1], in[2], f},
        .velocity = {in[3], in[4], in[5], f},
        .radius = {in[6], f},
        .t_max = {&t_max, 0},
    };
    const carom_mesh_hit_result result = {
        .triangle = a->out->triangle.column[0],
        .t = a->out->time.column[0],
        .state = a->out->state.column[0],
    };
    a->stats.size = sizeof a->stats;
    const carom_status status = carom_mesh_sweep_first(a->mesh, &desc, &result, &a->stats, err);
    if (status == CAROM_OK && (a->fastest.size == 0 || a->stats.total < a->fastest.total))
        a->fastest = a->stats;
    return status;
}

void mesh_ask_run(void *user)
{
    mesh_ask *a = user;
    carom_error err = {0};
    const carom_status status = mesh_ask_try(a, &err);

    if (status != CAROM_OK)
        bench_die("mesh sweep on %s: %s: %s", a->subject->what, carom_status_name(status), err.message);
}

uint64_t mesh_ask_check(mesh_ask *a)
{
    memset(a->out->triangle.column[0], 0xa5, a->out->count * sizeof(int32_t));
    mesh_ask_run(a);
    const uint64_t hash = bench_hash(0, a->out->triangle.column[0], a->out->count * sizeof(int32_t));
    return bench_hash(bench_hash(hash, a->out->time.column[0], a->out->count * sizeof(float)), a->out->state.column[0],
                      a->out->count);
}
