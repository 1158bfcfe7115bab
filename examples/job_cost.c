/* SPDX-License-Identifier: MIT */
/* job_cost [QUERIES]: what jobs cost and leave to the calling thread. First hits on a wavy floor, on two threads of the
 * CPU: CPU time of the calling thread during a job of so many queries (10^7), and the time of a job beyond that of the
 * blocking call, for one query and for 1000. docs/performance.md says how to build it, and what it has printed. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200112L
#endif
#include <carom/carom.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SIDE = 256, VERTICES = (SIDE + 1) * (SIDE + 1), TRIANGLES = 2 * SIDE * SIDE, ROUNDS = 1001 };
static float corner[3 * VERTICES];
static uint32_t floor_of[3 * TRIANGLES];

typedef struct queries {
    carom_context *context;
    carom_mesh *mesh;
    float *center, *t;
    int32_t *triangle;
} queries;

static void make_floor(void)
{
    for (uint32_t i = 0; i < VERTICES; i++) {
        const float x = (float)(i % (SIDE + 1)) / SIDE, y = (float)(i / (SIDE + 1)) / SIDE;
        corner[3 * i] = x;
        corner[3 * i + 1] = y;
        corner[3 * i + 2] = 0.1f * sinf(20 * x) * sinf(20 * y);
    }
    for (uint32_t i = 0; i < SIDE * SIDE; i++) {
        const uint32_t a = i / SIDE * (SIDE + 1) + i % SIDE, b = a + SIDE + 1;
        const uint32_t two[6] = {a, a + 1, b + 1, a, b + 1, b};
        for (uint32_t k = 0; k < 6; k++)
            floor_of[6 * i + k] = two[k];
    }
}

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A blocking call, or a job and the wait for it. */
static void ask(const queries *q, uint64_t count, int as_job)
{
    static const float radius = 0.01f, motion[3] = {0.1f, 0.2f, -1};
    carom_job *job = NULL;
    carom_error err;
    const carom_mesh_sweep_desc sweep = {.batch = {.size = sizeof sweep, .count = count, .job = as_job ? &job : NULL},
                                         .center = carom_xyz(q->center),
                                         .velocity = carom_repeat(motion),
                                         .radius = {&radius, CAROM_REPEAT}};
    const carom_mesh_hit_result hit = {.size = sizeof hit, .triangle = q->triangle, .t = q->t};
    if (carom_mesh_sweep_first(q->mesh, &sweep, &hit, NULL, &err) != CAROM_OK ||
        (as_job && carom_job_wait(job, INFINITY, &err) != CAROM_OK)) {
        fprintf(stderr, "%s\n", err.message);
        exit(1);
    }
    carom_job_destroy(job);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Medians over rounds of both in turn. */
static void print_cost(const queries *q, uint64_t count)
{
    static double took[2][ROUNDS];
    for (int i = 0; i < ROUNDS; i++)
        for (int as_job = 0; as_job < 2; as_job++) {
            const double start = seconds(CLOCK_MONOTONIC);
            ask(q, count, as_job);
            took[as_job][i] = seconds(CLOCK_MONOTONIC) - start;
        }
    for (int as_job = 0; as_job < 2; as_job++)
        qsort(took[as_job], ROUNDS, sizeof(double), by_value);
    printf("%llu queries: %.1f us blocking, %.1f us as a job\n", (unsigned long long)count, 1e6 * took[0][ROUNDS / 2],
           1e6 * took[1][ROUNDS / 2]);
}

static void print_share(const queries *q, uint64_t count)
{
    for (int as_job = 0; as_job < 2; as_job++) {
        const double start = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_THREAD_CPUTIME_ID);
        ask(q, count, as_job);
        printf("%llu queries, %s: %.3f s, %.6f s of them on the calling thread\n", (unsigned long long)count,
               as_job ? "a job" : "blocking", seconds(CLOCK_MONOTONIC) - start, seconds(CLOCK_THREAD_CPUTIME_ID) - cpu);
    }
}

static int make_queries(queries *q, uint64_t count)
{
    q->center = malloc(3 * count * sizeof *q->center);
    q->t = malloc(count * sizeof *q->t);
    q->triangle = malloc(count * sizeof *q->triangle);
    if (q->center == NULL || q->t == NULL || q->triangle == NULL)
        return 0;
    for (uint64_t i = 0; i < 3 * count; i++)
        q->center[i] = (float)rand() / (float)RAND_MAX + (i % 3 == 2 ? 0.2f : 0.0f);
    return 1;
}

int main(int argc, char **argv)
{
    const uint64_t asked = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000000, count = asked > 1000 ? asked : 1000;
    carom_context_desc desc = carom_context_desc_default();
    const carom_mesh_desc of = {.size = sizeof of,
                                .vertices = carom_xyz(corner),
                                .vertex_count = VERTICES,
                                .indices = carom_uints_of(floor_of),
                                .triangle_count = TRIANGLES};
    queries q = {0};
    carom_error err = {CAROM_OK, 0, "no memory for the queries"};
    desc.backend = CAROM_BACKEND_CPU;
    desc.threads = 2;
    make_floor();
    const int ok = make_queries(&q, count) && carom_context_create(&desc, &q.context, &err) == CAROM_OK &&
                   carom_mesh_create(q.context, &of, &q.mesh, &err) == CAROM_OK;
    if (ok) {
        print_share(&q, count);
        print_cost(&q, 1);
        print_cost(&q, 1000);
    } else
        fprintf(stderr, "%s\n", err.message);
    carom_mesh_destroy(q.mesh);
    carom_context_destroy(q.context);
    free(q.center);
    free(q.t);
    free(q.triangle);
    return ok ? 0 : 1;
}
