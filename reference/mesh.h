/* SPDX-License-Identifier: MIT */
/* First hits on a mesh from the definition: the exact reference, triangle by triangle. */
#ifndef CAROM_REFERENCE_MESH_H
#define CAROM_REFERENCE_MESH_H

#include "reference.h"

typedef struct ref_mesh {
    const float *vertices;   /* x y z */
    const uint32_t *indices; /* three to a triangle */
    size_t triangle_count;
} ref_mesh;

/* The smallest (nearest binary32 time, triangle) that is hit within [0, t_max]; point and feature are those of time 0
 * for a start in contact. */
typedef struct ref_mesh_hit {
    int32_t triangle; /* -1: none */
    int state, feature;
    float t;
    double near, point[3]; /* nearest binary64 time; the contact point to about 2^-50 */
} ref_mesh_hit;

/* Of the ball, `p` and `w` are not read. The name of what went wrong, or NULL: no memory, or a graze that begins at
 * t_max to the last bit of binary64. */
const char *ref_mesh_first(const ref_mesh *mesh, const ref_sweep_case *ball, float t_max, ref_mesh_hit *out);

void ref_mesh_triangle(const ref_mesh *mesh, size_t triangle, float p[3][3]);

#endif
