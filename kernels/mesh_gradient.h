/* SPDX-License-Identifier: MIT */
/* Gradients of closest points of a mesh, for OpenCL: the normals of contacts at rest (touch.h), which is the CPU's
 * text. The host names the kernel that it builds: -DKERNEL_mesh_gradient, or its exact twin. */
#ifndef CAROM_MESH_GRADIENT_H
#define CAROM_MESH_GRADIENT_H
#include "mesh_arguments.h"

#ifdef KERNEL_mesh_gradient
#define GRADIENT_TOUCH touch
#else
#define GRADIENT_TOUCH touch_exact
#endif

/* The unit vector from each query's closest point to its centre; zero without a triangle. In exact mode an undecided
 * one has x NaN. A work-item answers LANES queries. */
__kernel void LANG_CAT(carom_, KERNEL)(__global const real *vertices, __global const uint *indices, uint triangles,
                                       __global const real *cx, __global const real *cy, __global const real *cz,
                                       __global const int *triangle, __global real *gx, __global real *gy,
                                       __global real *gz, uint groups)
{
    const size_t group = get_global_id(0);
    if (group >= groups)
        return;
    const size_t i = group * LANES;
    closest_in query;
    query.center = v3_of(v_load(cx + i), v_load(cy + i), v_load(cz + i));
    query.p0 = mesh_gather_corner(vertices, indices, triangles, triangle + i, 0);
    query.p1 = mesh_gather_corner(vertices, indices, triangles, triangle + i, 1);
    query.p2 = mesh_gather_corner(vertices, indices, triangles, triangle + i, 2);
    const contact_out contact = GRADIENT_TOUCH(query);
    const vf zero = v_f(R(0.0)), x = v_sel(v_eq(contact.point.x, contact.point.x), contact.normal.x, contact.point.x);
    const vm some = vi_gt(mesh_load_int(triangle + i), v_i(-1));
    v_store(gx + i, v_sel(some, x, zero));
    v_store(gy + i, v_sel(some, contact.normal.y, zero));
    v_store(gz + i, v_sel(some, contact.normal.z, zero));
}
#endif
