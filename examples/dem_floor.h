/* SPDX-License-Identifier: MIT */
/* The floor that dem rolls its balls over, cut as finely as is wanted. */
#ifndef CAROM_EXAMPLES_DEM_FLOOR_H
#define CAROM_EXAMPLES_DEM_FLOOR_H

#include <carom/carom.h>

#include <stdlib.h>
#include <string.h>

/* The square of half side 8 in the plane z = 0, in 2 n^2 triangles. */
static inline carom_status make_floor(carom_context *context, uint32_t n, carom_mesh **mesh, carom_error *err)
{
    float *corner = malloc((n + 1) * (n + 1) * 3 * sizeof *corner);
    uint32_t *index = malloc(6 * n * n * sizeof *index), *to = index;
    for (uint32_t i = 0; i < (n + 1) * (n + 1); i++) {
        corner[3 * i] = (float)(-8 + 16 * (double)(i % (n + 1)) / n);
        corner[3 * i + 1] = (float)(-8 + 16 * (double)(i / (n + 1)) / n);
        corner[3 * i + 2] = 0;
    }
    for (uint32_t i = 0; i < n * n; i++) {
        const uint32_t a = i / n * (n + 1) + i % n, square[] = {a, a + 1, a + n + 2, a, a + n + 2, a + n + 1};
        memcpy(to, square, sizeof square);
        to += 6;
    }
    const carom_mesh_desc desc = {.size = sizeof desc,
                                  .vertices = carom_xyz(corner),
                                  .vertex_count = (n + 1) * (n + 1),
                                  .indices = carom_uints_of(index),
                                  .triangle_count = 2 * n * n};
    const carom_status status = carom_mesh_create(context, &desc, mesh, err);
    free(corner);
    free(index);
    return status;
}

#endif
