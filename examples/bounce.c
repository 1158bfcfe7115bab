/* SPDX-License-Identifier: MIT */
/* bounce: spheres bounce in a closed box, and none gets through a wall. docs/particles.md explains each rule. */
#include <carom/carom.h>

#include <math.h>
#include <stdio.h>

enum { SPHERES = 3, LAPS = 8, STEPS = 600 };

int main(void)
{
    const float corner[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0, 0, 0, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1};
    const uint32_t wall[] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                             2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};
    const carom_mesh_desc box = {.size = sizeof box,
                                 .vertices = carom_xyz(corner),
                                 .vertex_count = 8,
                                 .indices = carom_uints_of(wall),
                                 .triangle_count = 12};
    const float step = 0.01f, gravity = -1.0f, restitution = 0.8f, radius[SPHERES] = {0.1f, 0.05f, 0.02f};
    const float tolerance = 1e-5f; /* a hundred units in the last place of the largest coordinate */
    float center[3 * SPHERES] = {0.3f, 0.3f, 0.5f, 0.6f, 0.5f, 0.7f, 0.5f, 0.8f, 0.9f};
    float velocity[3 * SPHERES] = {0.5f, 0.2f, 0, -3, 2, 1, 40, -70, 90}, left[SPHERES], t[SPHERES],
                       normal[3 * SPHERES];
    int32_t triangle[SPHERES];
    const carom_mesh_sweep_desc sweep = {.batch = {.size = sizeof sweep, .count = SPHERES},
                                         .center = carom_xyz(center),
                                         .velocity = carom_xyz(velocity),
                                         .radius = carom_scalars_of(radius),
                                         .t_max = carom_scalars_of(left),
                                         .start = CAROM_START_SKIP_PARTING};
    const carom_mesh_hit_result hit = {
        .size = sizeof hit, .triangle = triangle, .t = t, .normal = carom_xyz_out(normal)};
    carom_context *context = NULL;
    carom_mesh *mesh = NULL;
    carom_error err;
    int ok = carom_context_create(NULL, &context, &err) == CAROM_OK &&
             carom_mesh_create(context, &box, &mesh, &err) == CAROM_OK;
    for (int n = 0; ok && n < STEPS * LAPS; n++) {
        for (int i = 0; n % LAPS == 0 && i < SPHERES; i++) /* a step begins; what the last one left over is dropped */
            left[i] = step, velocity[3 * i + 2] += step * gravity;
        ok = carom_mesh_sweep_first(mesh, &sweep, &hit, NULL, &err) == CAROM_OK;
        for (int i = 0; ok && i < SPHERES; i++) {
            float *c = center + 3 * i, *v = velocity + 3 * i, *m = normal + 3 * i, go = left[i];
            const float speed = sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
            if (triangle[i] >= 0) /* to the wall, but for the tolerance; a hit at time 0 stays where it is */
                go = t[i] * speed > tolerance ? t[i] - tolerance / speed : 0;
            c[0] += go * v[0], c[1] += go * v[1], c[2] += go * v[2];
            left[i] -= go;
            const float across = m[0] * v[0] + m[1] * v[1] + m[2] * v[2]; /* zero normal without a hit */
            for (int k = 0; across < 0 && k < 3; k++)
                v[k] -= (1 + restitution) * across * m[k];
        }
    }
    for (int i = 0; ok && i < SPHERES; i++)
        printf("sphere %d: %.3f %.3f %.3f\n", i, (double)center[3 * i], (double)center[3 * i + 1],
               (double)center[3 * i + 2]);
    if (!ok)
        fprintf(stderr, "%s\n", err.message);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    return ok ? 0 : 1;
}
