/* SPDX-License-Identifier: MIT */
/* particles [STEPS]: the recipe of bounce.c with 100,000 particles in a pipe that is bent to a ring. Their columns lie
 * in buffers: on the device if it has memory of its own, and in the program's hands while they are mapped. */
#include <carom/carom.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 100000, SUBSTEPS = 4, RINGS = 256, SIDES = 64, BYTES = COUNT * sizeof(float) };
enum { X, Y, Z, VX, VY, VZ, LEFT, T, NX, NY, NZ, TRIANGLE, COLUMNS };
static const float turn = 6.2831853f, pipe = 0.3f, step = 0.02f, radius = 0.01f, restitution = 0.9f, tolerance = 1e-5f;
static float corner[3 * RINGS * SIDES], *column[COLUMNS];
static uint32_t wall[6 * RINGS * SIDES];
static carom_buffer *buffer[COLUMNS];

/* Around a circle of radius 1. */
static void make_pipe(void)
{
    for (uint32_t i = 0; i < RINGS * SIDES; i++) {
        const float u = turn * (float)(i / SIDES) / RINGS, v = turn * (float)(i % SIDES) / SIDES;
        const uint32_t up = i - i % SIDES + (i + 1) % SIDES, far = RINGS * SIDES;
        const uint32_t two[6] = {i, (i + SIDES) % far, (up + SIDES) % far, i, (up + SIDES) % far, up};
        corner[3 * i] = (1 + pipe * cosf(v)) * cosf(u);
        corner[3 * i + 1] = (1 + pipe * cosf(v)) * sinf(u);
        corner[3 * i + 2] = pipe * sinf(v);
        for (int k = 0; k < 6; k++)
            wall[6 * i + (uint32_t)k] = two[k];
    }
}

static int make_buffers(carom_context *context, carom_error *err)
{
    const carom_buffer_desc desc = {.size = sizeof desc, .bytes = BYTES, .where = CAROM_BUFFER_DEVICE};
    for (int i = 0; i < COLUMNS; i++) {
        if (carom_buffer_create(context, &desc, &buffer[i], err) != CAROM_OK)
            return 0;
        column[i] = carom_buffer_address(buffer[i]);
    }
    return 1;
}

/* The columns are the program's until unmap(); it only reads answers. */
static int map(carom_error *err)
{
    void *at; /* always column[i] */
    for (int i = 0; i < COLUMNS; i++)
        if (carom_buffer_map(buffer[i], 0, BYTES, i < T ? CAROM_ACCESS_READ_WRITE : CAROM_ACCESS_READ, &at, err) !=
            CAROM_OK)
            return 0;
    return 1;
}

static int unmap(carom_error *err)
{
    int ok = 1;
    for (int i = 0; i < COLUMNS; i++)
        ok = ok && carom_buffer_unmap(buffer[i], err) == CAROM_OK;
    return ok;
}

/* In the middle of the pipe, with any velocity. */
static void start(int i)
{
    column[X][i] = cosf(turn * (float)i / COUNT);
    column[Y][i] = sinf(turn * (float)i / COUNT);
    column[Z][i] = 0;
    for (int k = VX; k <= VZ; k++)
        column[k][i] = 6 * (float)rand() / (float)RAND_MAX - 3;
    column[LEFT][i] = step;
}

static void move(int i, int is_hit)
{
    const float v[3] = {column[VX][i], column[VY][i], column[VZ][i]}, t = column[T][i];
    const float speed = sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    const float across = v[0] * column[NX][i] + v[1] * column[NY][i] + v[2] * column[NZ][i]; /* no hit: 0 */
    const float go = !is_hit ? column[LEFT][i] : t * speed > tolerance ? t - tolerance / speed : 0;
    for (int k = 0; k < 3; k++) {
        column[X + k][i] += go * v[k];
        if (across < 0)
            column[VX + k][i] -= (1 + restitution) * across * column[NX + k][i];
    }
    column[LEFT][i] -= go;
}

static int run(carom_mesh *mesh, int steps, carom_error *err)
{
    const carom_mesh_sweep_desc sweep = {.batch = {.size = sizeof sweep, .count = COUNT},
                                         .center = carom_soa(column[X], column[Y], column[Z]),
                                         .velocity = carom_soa(column[VX], column[VY], column[VZ]),
                                         .radius = {&radius, CAROM_REPEAT},
                                         .t_max = carom_scalars_of(column[LEFT]),
                                         .start = CAROM_START_SKIP_PARTING};
    int32_t *triangle = carom_buffer_address(buffer[TRIANGLE]);
    const carom_mesh_hit_result hit = {.size = sizeof hit,
                                       .triangle = triangle,
                                       .t = column[T],
                                       .normal = {column[NX], column[NY], column[NZ], sizeof(float)}};
    int ok = map(err), hits = 0, outside = 0;
    for (int i = 0; ok && i < COUNT; i++)
        start(i);
    for (int n = 0; ok && n < steps * SUBSTEPS; n++) {
        ok = unmap(err) && carom_mesh_sweep_first(mesh, &sweep, &hit, NULL, err) == CAROM_OK && map(err);
        for (int i = 0; ok && i < COUNT; i++) {
            hits += triangle[i] >= 0;
            move(i, triangle[i] >= 0);
            if (n % SUBSTEPS == SUBSTEPS - 1) /* a step ends: what a particle has left is dropped */
                column[LEFT][i] = step;
        }
    }
    for (int i = 0; ok && i < COUNT; i++)
        outside += hypotf(hypotf(column[X][i], column[Y][i]) - 1, column[Z][i]) > pipe;
    if (ok)
        printf("%d steps of %d particles: %d hits, %d particles are outside\n", steps, COUNT, hits, outside);
    return ok && outside == 0;
}

int main(int argc, char **argv)
{
    carom_context_desc desc = carom_context_desc_default();
    const carom_mesh_desc of = {.size = sizeof of,
                                .vertices = carom_xyz(corner),
                                .vertex_count = RINGS * SIDES,
                                .indices = carom_uints_of(wall),
                                .triangle_count = 2 * RINGS * SIDES};
    carom_context *context = NULL;
    carom_mesh *mesh = NULL;
    carom_error err = {CAROM_OK, 0, ""};
    desc.auto_from = COUNT; /* a device may answer batches of this size */
    make_pipe();
    const int ok = carom_context_create(&desc, &context, &err) == CAROM_OK &&
                   carom_mesh_create(context, &of, &mesh, &err) == CAROM_OK && make_buffers(context, &err) &&
                   run(mesh, argc > 1 ? atoi(argv[1]) : 100, &err);
    if (err.status != CAROM_OK)
        fprintf(stderr, "%s\n", err.message);
    for (int i = 0; i < COLUMNS; i++)
        carom_buffer_destroy(buffer[i]);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    return ok ? 0 : 1;
}
