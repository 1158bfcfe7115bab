/* SPDX-License-Identifier: MIT */
#include "common.h"
#include "lattices.h"
#include "mesh_task.h"
#include "queries/mesh/mesh.h"
#include "scene_instances.h"

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
    return carom_xyz(shape->vertices);
}

carom_mesh *mesh_call_create(const mesh_call *a)
{
    const mesh_scene *shape = a->shape;
    if (shape->parts != NULL)
        return scene_parts_open(shape->parts, a->subject);
    const carom_mesh_desc desc = {
        .size = sizeof desc,
        .vertices = vertices_of(shape),
        .vertex_count = shape->vertex_count,
        .indices = {shape->indices, sizeof(uint32_t)},
        .triangle_count = shape->triangle_count,
    };
    carom_mesh *mesh = NULL;
    carom_error err = {0};
    const carom_status status = carom_mesh_create(a->subject->context, &desc, &mesh, &err);
    if (status != CAROM_OK)
        bench_die("mesh on %s: %s: %s", a->subject->what, carom_status_name(status), err.message);
    return mesh;
}

/* Where the answer goes: a column for the fields of each kind that is measured. */
static void *output_of(const hits *h, query_kind kind)
{
    switch (kind) {
    case QUERY_TRIANGLE: return h->triangle.column[0];
    case QUERY_TIME: return h->time.column[0];
    case QUERY_STATE:
    case QUERY_BITS: return h->state.column[0];
    default: return NULL;
    }
}

/* Spheres at rest read the same columns, without velocity and window. */
static query_inputs inputs_of(const mesh_call *a)
{
    static const float t_max = 1.0f;
    static const int places[] = {0, 1, 2, 6, 3, 4, 5};
    float *column[QUERY_COLUMNS_MAX] = {0};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        column[i] = resident_at(a->resident, a->spheres->column[places[i]]);
    query_inputs inputs = query_inputs_of(&query_mesh_first, column, 0);

    if (query_has_role(a->task.query, QUERY_WINDOW))
        inputs.scalars[1] = (carom_scalars){&t_max, CAROM_REPEAT};
    return inputs;
}

/* First hits in a batch for each. The library is called without the row: it is the price of a call that is measured. */
static carom_status ask_alone(mesh_call *a, const query_call *all, carom_error *err)
{
    carom_mesh_sweep_desc desc = query_swept(all);
    carom_mesh_hit_result result = {.size = sizeof result,
                                    .triangle = a->out->triangle.column[0],
                                    .state = a->out->state.column[0],
                                    .t = a->out->time.column[0]};
    const size_t f = sizeof(float);
    carom_status status = CAROM_OK;

    desc.batch.count = 1;
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

static carom_status query(mesh_call *a, carom_error *err)
{
    const query_type *q = a->task.query;
    void *out[QUERY_FIELDS_MAX];
    const float band = a->task.band * (float)a->shape->diagonal;
    query_inputs in = inputs_of(a);
    carom_list_totals totals = {0};
    carom_hit_list list = {.size = sizeof list,
                           .totals = &totals,
                           .capacity = a->out->capacity,
                           .offsets = resident_at(a->resident, a->out->offsets.column[0])};
    const query_call call = {.count = a->out->count, .accuracy = a->accuracy, .in = &in, .out = out, .list = &list};

    if (a->task.band > 0.0f)
        in.scalars[1] = (carom_scalars){&band, CAROM_REPEAT};
    for (int f = 0; f < query_field_count(q); f++) {
        out[f] = resident_at(a->resident, output_of(a->out, q->fields[f].kind));
        for (int k = 0; k < f; k++) /* the patch of a contact is no second triangle */
            out[f] = out[k] == out[f] ? NULL : out[f];
    }
    return a->task.work == MESH_ALONE ? ask_alone(a, &call, err) : q->mesh.ask(a->mesh, &call, &a->stats, err);
}

static carom_status ask(mesh_call *a, carom_error *err)
{
    a->stats.size = sizeof a->stats;
    const carom_status status = a->task.query != NULL ? query(a, err) : lattice_ask(a, err);
    if (status == CAROM_OK && (a->fastest.size == 0 || a->stats.total < a->fastest.total))
        a->fastest = a->stats;
    return status;
}

carom_status mesh_call_try(mesh_call *a, carom_error *err)
{
    if (a->task.query != NULL || a->task.work >= MESH_VOLUME)
        return ask(a, err);
    if (a->task.work == MESH_REFIT) {
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

size_t mesh_call_count_hits(mesh_call call)
{
    hits none = hits_alloc(call.out->count, 0);
    size_t most = 0;

    call.out = &none;
    for (int exact = 0; exact < 2; exact++) {
        carom_error err = {0};
        call.accuracy = exact ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST;
        if (mesh_call_try(&call, &err) != CAROM_OK)
            break;
        const uint64_t total = ((const uint64_t *)none.offsets.column[0])[none.count];
        most = total > most ? total : most;
    }
    hits_free(&none);
    return most;
}

/* Over all that the query has written, and the sentinels where it writes nothing. */
uint64_t mesh_call_check(mesh_call *a)
{
    hits *h = a->out;
    memset(h->triangle.column[0], 0xa5, h->capacity * sizeof(int32_t));
    memset(h->time.column[0], 0xa5, h->capacity * sizeof(float));
    memset(h->state.column[0], 0xa5, h->capacity);
    memset(h->offsets.column[0], 0, (h->count + 1) * sizeof(uint64_t));
    resident_write(a->resident, &h->triangle);
    resident_write(a->resident, &h->time);
    resident_write(a->resident, &h->state);
    resident_write(a->resident, &h->offsets);
    mesh_call_run(a);
    return mesh_call_hash(a);
}

uint64_t mesh_call_hash(const mesh_call *a)
{
    const hits *h = a->out;
    resident_read(a->resident, &h->triangle);
    resident_read(a->resident, &h->time);
    resident_read(a->resident, &h->state);
    resident_read(a->resident, &h->offsets);
    uint64_t hash = bench_hash(0, h->triangle.column[0], h->capacity * sizeof(int32_t));
    hash = bench_hash(hash, h->time.column[0], h->capacity * sizeof(float));
    hash = bench_hash(hash, h->state.column[0], h->capacity);
    return bench_hash(hash, h->offsets.column[0], (h->count + 1) * sizeof(uint64_t));
}

carom_status mesh_call_settle(mesh_call *a, carom_error *err)
{
    const hits *h = a->out;
    const columns *all[] = {a->spheres, &h->triangle, &h->time, &h->state, &h->offsets};
    carom_status status = CAROM_OK;

    a->resident = resident_alloc();
    for (size_t i = 0; status == CAROM_OK && i < sizeof all / sizeof all[0]; i++)
        if (all[i] != NULL) /* a lattice has no spheres */
            status = resident_add(a->resident, a->subject, all[i], err);
    return status;
}
