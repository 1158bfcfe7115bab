/* SPDX-License-Identifier: MIT */
/* Closest points of a mesh as OpenCL sees them. The host names the kernel it builds: -DKERNEL_mesh_closest or
 * -DKERNEL_mesh_closest_point, or their exact twins. */
#ifndef CAROM_MESH_CLOSEST_KERNELS_H
#define CAROM_MESH_CLOSEST_KERNELS_H
#include "mesh_arguments.h"

#ifdef KERNEL_mesh_closest
#define CLOSEST_SEARCHED closest
#define CLOSEST_ANSWER closest_answer
#elif defined(KERNEL_mesh_closest_exact)
#define CLOSEST_SEARCHED closest_exact
#define CLOSEST_ANSWER closest_answer_exact
#endif

#ifdef CLOSEST_ANSWER
MESH_RUN(closest_search, closest, CLOSEST_SEARCHED, closest_begin_next, CLOSEST_ANSWER, run->options)

/* A work-item answers its share of the queries; its lanes are boxes and triangles. */
MESH_KERNEL void LANG_CAT(carom_, KERNEL)(MESH_PARAMETERS, MESH_SPHERE_PARAMETERS,
                                          MESH_SHARE_PARAMETERS MESH_TEAM_PARAMETERS, __global int *triangle,
                                          __global real *distance, __global real *depth, uint count)
{
    MESH_SHARED_OF_GROUP;
    if (MESH_IS_EXTRA(count))
        return;
    mesh_run run = mesh_run_of_spheres(MESH_ARGUMENTS, MESH_SPHERE_ARGUMENTS);
    mesh_run_set_queries(&run, MESH_SHARE_ARGUMENTS MESH_TEAM_ARGUMENTS);
#ifdef MESH_ITEMS
    run.shared = &shared;
#endif
    run.triangle = triangle;
    run.t = distance;
    run.depth = depth;
    closest_search(&run);
    if (MESH_IS_TRUNCATED(share) && run.first < run.end)
        triangle[mesh_run_row(&run, run.first)] = MESH_LOOP_TRUNCATED;
}
#endif

#if defined(KERNEL_mesh_closest_point) || defined(KERNEL_mesh_closest_point_exact)
#ifdef KERNEL_mesh_closest_point
#define CLOSEST_POINT closest
#else
#define CLOSEST_POINT closest_exact
#endif
/* Point and feature of the nearest triangles. A work-item answers LANES queries. */
__kernel void LANG_CAT(carom_, KERNEL)(__global const real *vertices, __global const uint *indices, uint triangles,
                                       __global const real *cx, __global const real *cy, __global const real *cz,
                                       __global const int *triangle, __global real *px, __global real *py,
                                       __global real *pz, __global uchar *feature, uint groups)
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
    const closest_out answer = CLOSEST_POINT(query);
    const vm some = vi_gt(mesh_load_int(triangle + i), v_i(-1));
    const vf zero = v_f(R(0.0));
    const v3 point = v3_sel(some, answer.point, v3_of(zero, zero, zero));
    v_store(px + i, point.x);
    v_store(py + i, point.y);
    v_store(pz + i, point.z);
    v_store_u8(feature + i, vi_sel(some, answer.feature, v_i(FEATURE_NONE)));
}
#endif
#endif
