/* SPDX-License-Identifier: MIT */
/* bounce: spheres bounce in a closed box, and none gets through a wall. docs/particles.md explains each rule. */
#include <carom/carom.h>

#include <math.h>
#include <stdio.h>

enum { SPHERES = 3, SUBSTEPS = 8, STEPS = 600 };

int main(void)
{
    const float corner[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0, 0, 0, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1};
    const uint32_t wall[] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                             2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};
    /* gap: the tolerance, a hundred units in the last place of the largest coordinate. */
    const float step = 0.01f, gravity = -1, restitution = 0.8f, gap = 1e-5f, radius[] = {0.1f, 0.05f, 0.02f};
    float center[SPHERES][3] = {{0.3f, 0.3f, 0.5f}, {0.6f, 0.5f, 0.7f}, {0.5f, 0.8f, 0.9f}}, left[SPHERES], t[SPHERES];
    float velocity[SPHERES][3] = {{0.5f, 0.2f, 0}, {-3, 2, 1}, {40, -70, 90}}, normal[SPHERES][3];
    /* clang-format off */
    const carom_mesh_desc box = {.size = sizeof box, .vertices = carom_xyz(corner), .vertex_count = 8,
                                 .indices = carom_uints_of(wall), .triangle_count = 12};
    const carom_mesh_sweep_desc sweep = {.batch = {.size = sizeof sweep, .count = SPHERES},
        .center = carom_xyz(center[0]), .velocity = carom_xyz(velocity[0]), .radius = carom_scalars_of(radius),
        .t_max = carom_scalars_of(left), .start = CAROM_START_SKIP_PARTING};
    /* clang-format on */
    const carom_mesh_hit_result hit = {.size = sizeof hit, .t = t, .normal = carom_xyz_out(normal[0])};
    carom_context *context = NULL;
    carom_mesh *mesh = NULL;
    carom_error err;
    int ok = !carom_context_create(NULL, &context, &err) && !carom_mesh_create(context, &box, &mesh, &err);
    for (int n = 0; ok && n < STEPS * SUBSTEPS; n++) {
        for (int i = 0; n % SUBSTEPS == 0 && i < SPHERES;
             i++) /* a step begins; what the last one left over is dropped */
            left[i] = step, velocity[i][2] += step * gravity;
        ok = !carom_mesh_sweep_first(mesh, &sweep, &hit, NULL, &err);
        for (int i = 0; ok && i < SPHERES; i++) { /* to the wall but for the gap; no hit: t = inf, normal = 0 */
            float *v = velocity[i], *m = normal[i], across = fminf(m[0] * v[0] + m[1] * v[1] + m[2] * v[2], 0);
            const float go = fminf(left[i], fmaxf(t[i] - gap / sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]), 0));
            for (int k = 0; k < 3; k++)
                center[i][k] += go * v[k], v[k] -= (1 + restitution) * across * m[k];
            left[i] -= go;
        }
    }
    for (int i = 0; ok && i < SPHERES; i++)
        printf("sphere %d: %.3f %.3f %.3f\n", i, (double)center[i][0], (double)center[i][1], (double)center[i][2]);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    return ok ? 0 : (fprintf(stderr, "%s\n", err.message), 1);
}
