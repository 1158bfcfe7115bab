/* SPDX-License-Identifier: MIT */
/* What the CPU's and the device's way through a batch of closest-point queries share. */
#ifndef CAROM_HOST_MESH_CLOSEST_H
#define CAROM_HOST_MESH_CLOSEST_H
#include "cpu/mesh.h"
#include "host/opencl/opencl.h"

/* A checked batch. */
typedef struct caromi_closest_batch {
    carom_mesh *mesh;
    uint64_t count;
    caromi_in_column in[CAROMI_CLOSEST_IN];
    caromi_in_column mask;
    int wants_point, exact, options;
    const carom_mesh_closest_result *out;
} caromi_closest_batch;

caromi_on_cpu caromi_cpu_closest;
/* Settle in integers what the exact kernels have left open among queries [first, first + count), which lie in the
 * batch's arrays: those whose distance is NaN, and points whose x is. marks: triangles, distances and the points' x.
 * rows: of each query, if they are not in a row. Returns how many. */
uint64_t caromi_settle_closest_batch(const caromi_closest_batch *batch, const void *const *marks, const uint64_t *rows,
                                     uint64_t first, size_t count);
#endif
