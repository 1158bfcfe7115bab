/* SPDX-License-Identifier: MIT */
/* jobs [STEPS]: the recipe of bounce.c with 200,000 particles in two halves. While carom's threads sweep one half, the
 * program moves the other. */
#include <carom/carom.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { HALF = 100000, SUBSTEPS = 4 };
static const float step = 0.01f, radius = 0.01f, restitution = 0.9f, tolerance = 1e-5f;
static struct half {
    float center[3 * HALF], velocity[3 * HALF], left[HALF], t[HALF], normal[3 * HALF];
    int32_t triangle[HALF];
    carom_job *job;
} halves[2];

static void start(struct half *h)
{
    for (int i = 0; i < 3 * HALF; i++) {
        h->center[i] = 0.1f + 0.8f * (float)rand() / (float)RAND_MAX;
        h->velocity[i] = 6 * (float)rand() / (float)RAND_MAX - 3;
    }
    for (int i = 0; i < HALF; i++)
        h->left[i] = step;
}

/* Asks for first hits and returns at once. Until wait_for(), the arrays of this half are carom's. */
static int ask(carom_mesh *mesh, struct half *h, carom_error *err)
{
    const carom_mesh_sweep_desc sweep = {.batch = {.size = sizeof sweep, .count = HALF, .job = &h->job},
                                         .center = carom_xyz(h->center),
                                         .velocity = carom_xyz(h->velocity),
                                         .radius = {&radius, CAROM_REPEAT},
                                         .t_max = carom_scalars_of(h->left),
                                         .start = CAROM_START_SKIP_PARTING};
    const carom_mesh_hit_result hit = {
        .size = sizeof hit, .triangle = h->triangle, .t = h->t, .normal = carom_xyz_out(h->normal)};
    return carom_mesh_sweep_first(mesh, &sweep, &hit, NULL, err) == CAROM_OK;
}

static int wait_for(struct half *h, carom_error *err)
{
    const int ok = carom_job_wait(h->job, INFINITY, err) == CAROM_OK;
    carom_job_destroy(h->job);
    h->job = NULL;
    return ok;
}

/* Returns how many have hit. */
static int move(struct half *h, int is_last_substep)
{
    int hits = 0;
    for (int i = 0; i < HALF; i++) {
        float *c = h->center + 3 * i, *v = h->velocity + 3 * i, go = h->left[i];
        const float *n = h->normal + 3 * i, speed = sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        const float across = n[0] * v[0] + n[1] * v[1] + n[2] * v[2]; /* without a hit 0 */
        if (h->triangle[i] >= 0)
            hits++, go = h->t[i] * speed > tolerance ? h->t[i] - tolerance / speed : 0;
        for (int k = 0; k < 3; k++) {
            c[k] += go * v[k];
            if (across < 0)
                v[k] -= (1 + restitution) * across * n[k];
        }
        h->left[i] = is_last_substep ? step : h->left[i] - go;
    }
    return hits;
}

static int is_outside(const float *c)
{
    return !(c[0] > 0 && c[0] < 1 && c[1] > 0 && c[1] < 1 && c[2] > 0 && c[2] < 1);
}

static int run(carom_mesh *mesh, int steps, carom_error *err)
{
    const int substeps = steps * SUBSTEPS;
    int hits = 0, outside = 0, ok = 1;
    start(&halves[0]);
    start(&halves[1]);
    for (int n = 0; ok && n < 2 && substeps > 0; n++)
        ok = ask(mesh, &halves[n], err);
    for (int n = 0; ok && n < 2 * substeps; n++) {
        struct half *h = &halves[n % 2]; /* the job of the other half runs meanwhile */
        ok = wait_for(h, err);
        hits += ok ? move(h, n / 2 % SUBSTEPS == SUBSTEPS - 1) : 0;
        ok = ok && (n / 2 == substeps - 1 || ask(mesh, h, err));
    }
    for (int i = 0; ok && i < 2 * HALF; i++)
        outside += is_outside(halves[i % 2].center + 3 * (i / 2));
    if (ok)
        printf("%d steps of %d particles: %d hits, %d particles are outside\n", steps, 2 * HALF, hits, outside);
    for (int n = 0; n < 2; n++)
        carom_job_destroy(halves[n].job);
    return ok && outside == 0;
}

int main(int argc, char **argv)
{
    const float corner[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0, 0, 0, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1};
    const uint32_t wall[] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                             2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};
    const carom_mesh_desc box = {.size = sizeof box,
                                 .vertices = carom_xyz(corner),
                                 .vertex_count = 8,
                                 .indices = carom_uints_of(wall),
                                 .triangle_count = 12};
    carom_context *context = NULL;
    carom_mesh *mesh = NULL;
    carom_error err = {CAROM_OK, 0, ""};
    const int ok = carom_context_create(NULL, &context, &err) == CAROM_OK &&
                   carom_mesh_create(context, &box, &mesh, &err) == CAROM_OK &&
                   run(mesh, argc > 1 ? atoi(argv[1]) : 100, &err);
    if (err.status != CAROM_OK)
        fprintf(stderr, "%s\n", err.message);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    return ok ? 0 : 1;
}
