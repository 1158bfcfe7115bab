/* SPDX-License-Identifier: MIT */
/* First hit of swept spheres on a procedural mesh: by instruction set on one thread, then all threads against every
 * OpenCL device. */
#include "bench.h"
#include "scenes.h"

#include <stdio.h>
#include <string.h>

enum { BACKENDS_MAX = BENCH_ISAS_MAX + 1 + BENCH_DEVICES_MAX, RINGS = 500, SIDES = 250 };

static const char *const sphere_names[] = {"near", "box", "long"};

typedef struct hits {
    columns triangle, numbers, bytes; /* t, point, normal; state, feature */
    size_t count;
} hits;

typedef struct mesh_ask {
    const bench_backend *backend;
    carom_mesh *mesh;
    const columns *spheres;
    const hits *out;
    int with_contact; /* point, normal and feature too */
} mesh_ask;

static hits hits_alloc(size_t count)
{
    return (hits){columns_alloc(1, count, sizeof(int32_t)), columns_alloc(7, count, sizeof(float)),
                  columns_alloc(2, count, 1), count};
}

static void hits_free(hits *h)
{
    columns_free(&h->triangle);
    columns_free(&h->numbers);
    columns_free(&h->bytes);
}

static uint64_t hits_hash(const hits *h, int with_contact)
{
    uint64_t hash = bench_hash(0, h->triangle.column[0], h->count * sizeof(int32_t));

    for (int c = 0; c < (with_contact ? 7 : 1); c++)
        hash = bench_hash(hash, h->numbers.column[c], h->count * sizeof(float));
    for (int c = 0; c < (with_contact ? 2 : 1); c++)
        hash = bench_hash(hash, h->bytes.column[c], h->count);
    return hash;
}

static carom_status mesh_ask_try(const mesh_ask *a, carom_error *err)
{
    static const float t_max = 1.0f;
    float *const *in = (float *const *)(const void *)a->spheres->column;
    float *const *number = (float *const *)(const void *)a->out->numbers.column;
    const size_t f = sizeof(float);
    const carom_mesh_sweep_desc desc = {
        .size = sizeof desc,
        .count = a->out->count,
        .center = {in[0], in[1], in[2], f},
        .velocity = {in[3], in[4], in[5], f},
        .radius = {in[6], f},
        .t_max = {&t_max, 0},
    };
    carom_mesh_hit_result result = {
        .triangle = a->out->triangle.column[0],
        .t = number[0],
        .state = a->out->bytes.column[0],
    };
    if (a->with_contact) {
        result.point = (carom_points_out){number[1], number[2], number[3], f};
        result.normal = (carom_points_out){number[4], number[5], number[6], f};
        result.feature = a->out->bytes.column[1];
    }
    return carom_mesh_sweep_first(a->mesh, &desc, &result, NULL, err);
}

static void mesh_ask_run(void *user)
{
    const mesh_ask *a = user;
    carom_error err = {0};
    const carom_status status = mesh_ask_try(a, &err);

    if (status != CAROM_OK)
        bench_die("mesh sweep on %s: %s: %s", a->backend->name, carom_status_name(status), err.message);
}

static uint64_t mesh_ask_check(mesh_ask *a)
{
    memset(a->out->triangle.column[0], 0xa5, a->out->count * sizeof(int32_t));
    mesh_ask_run(a);
    return hits_hash(a->out, a->with_contact);
}

static carom_mesh *create(const bench_backend *backend, const mesh_scene *torus)
{
    const carom_mesh_desc desc = {
        .size = sizeof desc,
        .vertices = {torus->vertices, torus->vertices + 1, torus->vertices + 2, 3 * sizeof(float)},
        .vertex_count = torus->vertex_count,
        .indices = torus->indices,
        .triangle_count = torus->triangle_count,
    };
    carom_mesh *mesh = NULL;
    carom_error err = {0};
    const carom_status status = carom_mesh_create(backend->context, &desc, &mesh, &err);
    if (status != CAROM_OK)
        bench_die("mesh on %s: %s: %s", backend->name, carom_status_name(status), err.message);
    return mesh;
}

typedef struct build_side {
    const bench_backend *backend;
    const mesh_scene *torus;
} build_side;

static void build_run(void *user)
{
    const build_side *b = user;

    carom_mesh_destroy(create(b->backend, b->torus));
}

static void report_build(bench *b, const mesh_scene *torus, const carom_mesh *mesh)
{
    build_side build = {&b->cpu, torus};
    const measure_plan plan = {b->quick ? 2 : 5, 0.0, 0.0};
    const carom_mesh_info info = carom_mesh_get_info(mesh);
    measurement m;

    measure(&m, &plan, &(measure_side){build_run, &build}, 1);
    report_add_time(b->report, "build, per triangle",
                    &(report_time){.median = measure_median(&m, 0),
                                   .best = measure_best(&m, 0),
                                   .queries = (double)info.triangle_count,
                                   .unit = "ns/tri"});
    report_add_value(b->report, "build, whole mesh", measure_median(&m, 0) * 1e3, "ms");
    report_add_value(b->report, "memory", (double)info.bytes / (double)info.triangle_count, "B/tri");
}

/* A device is also refused late, when the program of a query turns out to be wrong or not to build. */
static int open_device(bench *b, const mesh_scene *torus, mesh_ask *device)
{
    columns spheres = spheres_make(torus, SPHERES_NEAR, device->out->count);
    carom_error err = {0};

    device->mesh = create(device->backend, torus);
    device->spheres = &spheres;
    const carom_status status = mesh_ask_try(device, &err);
    columns_free(&spheres);
    if (status == CAROM_OK)
        return 1;
    carom_mesh_destroy(device->mesh);
    report_add_skip(b->report, device->backend->name, err.message);
    return 0;
}

/* All of `asks` side by side; ratios over the first. */
static void compare(bench *b, const char *name, const measure_plan *plan, mesh_ask *asks, int count)
{
    measure_side sides[BACKENDS_MAX];
    measurement m;
    char label[160];
    int same = 1;

    const uint64_t first = mesh_ask_check(&asks[0]);
    for (int i = 1; i < count; i++)
        same &= mesh_ask_check(&asks[i]) == first;
    snprintf(label, sizeof label, "%s: %d backends", name, count);
    if (count > 1)
        report_add_same(b->report, label, same);
    for (int i = 0; i < count; i++)
        sides[i] = (measure_side){mesh_ask_run, &asks[i]};
    measure(&m, plan, sides, count);
    for (int i = 0; i < count; i++) {
        snprintf(label, sizeof label, "%s: %s", name, asks[i].backend->name);
        report_add_time(b->report, label,
                        &(report_time){.median = measure_median(&m, i),
                                       .best = measure_best(&m, i),
                                       .queries = (double)asks[i].out->count,
                                       .unit = "ns/query"});
    }
    for (int i = 1; i < count; i++) {
        snprintf(label, sizeof label, "%s: %.32s over %.32s", name, asks[i].backend->name, asks[0].backend->name);
        report_add_ratio(b->report, label, measure_ratio(&m, 0, i), REPORT_NO_BOUND, 0.0);
    }
}

static void report_hit_share(bench *b, const char *name, const hits *out)
{
    const int32_t *triangle = out->triangle.column[0];
    size_t hit = 0;
    char label[64];

    for (size_t i = 0; i < out->count; i++)
        hit += triangle[i] >= 0;
    snprintf(label, sizeof label, "%s: hits", name);
    report_add_value(b->report, label, 100.0 * (double)hit / (double)out->count, "%");
}

/* `asks` holds the instruction sets, then the CPU path on all threads, then devices. */
static void measure_kind(bench *b, sphere_kind kind, const mesh_scene *torus, mesh_ask *asks, int count,
                         const hits *out)
{
    const measure_plan one = {b->quick ? 3 : 5, b->one.sample, 0.0}, many = {one.rounds, one.sample, b->many.settle};
    columns spheres = spheres_make(torus, kind, out->count);
    const int all = b->isa_count;
    mesh_ask best = asks[b->isa_count - 1];
    char name[64];

    for (int i = 0; i < count; i++)
        asks[i].spheres = &spheres;
    best.spheres = &spheres;
    best.with_contact = 1;
    compare(b, sphere_names[kind], &one, asks, b->isa_count);
    report_hit_share(b, sphere_names[kind], out);
    snprintf(name, sizeof name, "%s, with contact", sphere_names[kind]);
    compare(b, name, &one, &best, 1);
    snprintf(name, sizeof name, "%s, %u threads", sphere_names[kind], b->threads);
    compare(b, name, &many, asks + all, count - all);
    columns_free(&spheres);
}

void bench_mesh(bench *b)
{
    mesh_scene torus = mesh_scene_make(RINGS, SIDES);
    hits out = hits_alloc(b->quick ? 100000 : 1000000);
    mesh_ask asks[BACKENDS_MAX];
    int count = 0;

    report_section(b->report, "mesh", "first hit (triangle, time, state) of %zu spheres, bumpy torus of %zu triangles",
                   out.count, torus.triangle_count);
    for (int i = 0; i < b->isa_count; i++)
        asks[count++] = (mesh_ask){.backend = &b->isas[i]};
    asks[count++] = (mesh_ask){.backend = &b->cpu};
    for (int i = 0; i < count; i++) {
        asks[i].mesh = create(asks[i].backend, &torus);
        asks[i].out = &out;
    }
    for (int i = 0; i < b->device_count; i++) {
        asks[count] = (mesh_ask){.backend = &b->devices[i], .out = &out};
        count += open_device(b, &torus, &asks[count]);
    }
    report_build(b, &torus, asks[0].mesh);
    for (sphere_kind kind = SPHERES_NEAR; kind <= SPHERES_LONG; kind++)
        measure_kind(b, kind, &torus, asks, count, &out);
    for (int i = 0; i < count; i++)
        carom_mesh_destroy(asks[i].mesh);
    hits_free(&out);
    mesh_scene_free(&torus);
}
