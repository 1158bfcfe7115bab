/* SPDX-License-Identifier: MIT */
/* Vertical rays from points: what they cross of a mesh. */
#ifndef CAROM_CPU_MESH_RAYS_H
#define CAROM_CPU_MESH_RAYS_H
#include "mesh.h"

/* Rays along +z from `count` points. */
typedef struct caromi_point_rays {
    const caromi_mesh_view *mesh;
    int options; /* MESH_TRIANGLE_MASKS and MESH_QUERY_MASKS */
    const float *x, *y, *z;
    const int32_t *mask; /* of each point, with MESH_QUERY_MASKS */
    uint32_t count;
    /* [count] sum over the triangles that a ray crosses strictly above its point: 1 where the normal points up, -1
     * where it points down. The crossings are decided exactly. */
    int32_t *sum;
} caromi_point_rays;
#endif
