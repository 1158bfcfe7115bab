/* SPDX-License-Identifier: MIT */
/* devices [QUERIES]: one batch on several devices. The first OpenCL device that can be divided gives two parts of one
 * core each; carom answers the same queries on one part and on both, and prints the times. docs/performance.md says how
 * to build it, and what it has printed. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200112L
#endif
#include <carom/carom_opencl.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { AROUND = 280, ACROSS = 125, TRIANGLES = 2 * AROUND * ACROSS, ROUNDS = 7, WARM_UP = 4, PARTS = 2, DEVICES = 16 };
enum { RECORDS = 24 /* of a query, that the arrays of a list have room for */ };
enum { FIRST, ANY, CLOSEST, LIST, CALLS };
static const char *const names[CALLS] = {"first hits", "any hits", "closest points", "all hits"};
static float corner[3 * AROUND * ACROSS];
static uint32_t torus[3 * TRIANGLES];

/* A side: the context over one part or over both. */
typedef struct side {
    carom_context *context;
    carom_mesh *mesh;
    float *t;
    int32_t *triangle;
    uint8_t *hit;
    double seconds[ROUNDS];
} side;
static float *center, *velocity;
static uint64_t count;

static void die(const char *words)
{
    fprintf(stderr, "%s\n", words);
    exit(1);
}

static void make_torus(void)
{
    uint32_t *next = torus;
    for (uint32_t i = 0; i < AROUND; i++)
        for (uint32_t j = 0; j < ACROSS; j++) {
            const float u = 6.2831853f * (float)i / AROUND, v = 6.2831853f * (float)j / ACROSS;
            float *p = corner + 3 * (i * ACROSS + j);
            const uint32_t k = (i + 1) % AROUND, l = (j + 1) % ACROSS;
            const uint32_t of[4] = {i * ACROSS + j, k * ACROSS + j, k * ACROSS + l, i * ACROSS + l};
            p[0] = (1 + 0.4f * cosf(v)) * cosf(u);
            p[1] = (1 + 0.4f * cosf(v)) * sinf(u);
            p[2] = 0.4f * sinf(v);
            *next++ = of[0], *next++ = of[1], *next++ = of[2];
            *next++ = of[0], *next++ = of[2], *next++ = of[3];
        }
}

static void make_queries(side *sides)
{
    center = malloc(3 * count * sizeof *center);
    velocity = malloc(3 * count * sizeof *velocity);
    for (int i = 0; i < PARTS; i++) {
        sides[i].t = calloc(RECORDS * count, sizeof *sides[i].t);
        sides[i].triangle = calloc(RECORDS * count, sizeof *sides[i].triangle);
        sides[i].hit = calloc(count, 1);
        if (sides[i].t == NULL || sides[i].triangle == NULL || sides[i].hit == NULL)
            die("no memory for the answers");
    }
    if (center == NULL || velocity == NULL)
        die("no memory for the queries");
    for (uint64_t i = 0; i < 3 * count; i++) {
        center[i] = 3 * (float)rand() / (float)RAND_MAX - 1.5f;
        velocity[i] = (float)rand() / (float)RAND_MAX - 0.5f;
    }
}

/* Parts of one core each, in a cl_context of their own. */
static cl_context make_parts(cl_device_id *part)
{
    const cl_device_partition_property one[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
    cl_platform_id platforms[DEVICES];
    cl_device_id devices[DEVICES];
    cl_uint n = 0, m = 0, all = 0;
    if (clGetPlatformIDs(DEVICES, platforms, &n) != CL_SUCCESS)
        n = 0;
    for (cl_uint i = 0; i < n && i < DEVICES; i++) {
        if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, DEVICES, devices, &m) != CL_SUCCESS)
            continue;
        for (cl_uint k = 0; k < m && k < DEVICES; k++) {
            cl_device_id got[64];
            if (clCreateSubDevices(devices[k], one, 0, NULL, &all) != CL_SUCCESS || all < PARTS || all > 64 ||
                clCreateSubDevices(devices[k], one, all, got, NULL) != CL_SUCCESS)
                continue;
            memcpy(part, got, PARTS * sizeof *part);
            return clCreateContext(NULL, PARTS, part, NULL, NULL, NULL);
        }
    }
    return NULL;
}

static void open_side(side *s, cl_context shared, const cl_device_id *part, uint32_t parts)
{
    const carom_opencl_desc cl = {.size = sizeof cl, .context = shared, .devices = part, .device_count = parts};
    const carom_mesh_desc mesh = {.size = sizeof mesh,
                                  .vertices = carom_xyz(corner),
                                  .vertex_count = AROUND * ACROSS,
                                  .indices = carom_uints_of(torus),
                                  .triangle_count = TRIANGLES};
    carom_context_desc desc = carom_context_desc_default();
    carom_error err;
    desc.backend = CAROM_BACKEND_OPENCL;
    desc.threads = 1;
    if (carom_context_create_opencl(&desc, &cl, &s->context, &err) != CAROM_OK ||
        carom_mesh_create(s->context, &mesh, &s->mesh, &err) != CAROM_OK)
        die(err.message);
}

static double ask(side *s, int call, carom_accuracy accuracy)
{
    static const float radius = 0.003f;
    const carom_batch batch = {.size = sizeof(carom_mesh_sweep_desc), .count = count, .accuracy = accuracy};
    const carom_mesh_sweep_desc sweep = {.batch = batch,
                                         .center = carom_xyz(center),
                                         .velocity = carom_xyz(velocity),
                                         .radius = {&radius, CAROM_REPEAT}};
    carom_mesh_closest_desc near = {.batch = batch, .center = sweep.center};
    const carom_mesh_hit_result hit = {.size = sizeof hit, .triangle = s->triangle, .t = s->t};
    const carom_any_result any = {.size = sizeof any, .hit = s->hit};
    const carom_mesh_closest_result closest = {.size = sizeof closest, .triangle = s->triangle, .distance = s->t};
    carom_list_totals totals = {0, 0, 0};
    const carom_hit_list list = {
        .size = sizeof list, .capacity = RECORDS * count, .triangle = s->triangle, .t = s->t, .totals = &totals};
    struct timespec from, to;
    carom_error err;
    near.batch.size = sizeof near;
    clock_gettime(CLOCK_MONOTONIC, &from);
    const carom_status status = call == FIRST ? carom_mesh_sweep_first(s->mesh, &sweep, &hit, NULL, &err)
                                : call == ANY ? carom_mesh_sweep_any(s->mesh, &sweep, &any, NULL, &err)
                                : call == CLOSEST
                                    ? carom_mesh_closest(s->mesh, &near, &closest, NULL, &err)
                                    : carom_mesh_sweep_list(s->mesh, &sweep, CAROM_HITS_ALL, &list, NULL, &err);
    clock_gettime(CLOCK_MONOTONIC, &to);
    if (status != CAROM_OK)
        die(err.message);
    if (call == LIST && totals.complete < count)
        die("the arrays are too short for all hits");
    return (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Medians over rounds of both sides in turn, after a few in which the context learns how fast its devices are. */
static void compare(side *sides, int call, carom_accuracy accuracy)
{
    for (int i = 0; i < WARM_UP + ROUNDS; i++)
        for (int k = 0; k < PARTS; k++)
            sides[k].seconds[i < WARM_UP ? 0 : i - WARM_UP] = ask(&sides[k], call, accuracy);
    for (int k = 0; k < PARTS; k++)
        qsort(sides[k].seconds, ROUNDS, sizeof(double), by_value);
    const double one = 1e9 * sides[0].seconds[ROUNDS / 2] / (double)count;
    const double two = 1e9 * sides[1].seconds[ROUNDS / 2] / (double)count;
    const int same = memcmp(sides[0].triangle, sides[1].triangle, RECORDS * count * sizeof(int32_t)) == 0 &&
                     memcmp(sides[0].t, sides[1].t, RECORDS * count * sizeof(float)) == 0 &&
                     memcmp(sides[0].hit, sides[1].hit, count) == 0;
    printf("%s, %s: %.1f ns a query on one part, %.1f on two: %.2f times as fast, %s\n", names[call],
           accuracy == CAROM_ACCURACY_EXACT ? "exact" : "fast", one, two, one / two,
           same ? "the same answers" : "OTHER ANSWERS");
}

int main(int argc, char **argv)
{
    const uint64_t asked = argc > 1 ? strtoull(argv[1], NULL, 10) : 300000;
    side sides[PARTS] = {0};
    cl_device_id part[PARTS];
    const cl_context shared = make_parts(part);
    if (shared == NULL)
        die("no OpenCL device can be divided");
    count = asked > 1000 ? asked : 1000;
    make_torus();
    make_queries(sides);
    for (uint32_t k = 0; k < PARTS; k++)
        open_side(&sides[k], shared, part, k + 1);
    for (int call = 0; call < CALLS; call++) {
        compare(sides, call, CAROM_ACCURACY_FAST);
        compare(sides, call, CAROM_ACCURACY_EXACT);
    }
    for (int k = 0; k < PARTS; k++) {
        carom_mesh_destroy(sides[k].mesh);
        carom_context_destroy(sides[k].context);
        free(sides[k].t);
        free(sides[k].triangle);
        free(sides[k].hit);
    }
    free(center);
    free(velocity);
    (void)clReleaseContext(shared);
    return 0;
}
