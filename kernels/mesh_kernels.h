/* SPDX-License-Identifier: MIT */
/* OpenCL kernels of mesh queries. The host selects one: -DKERNEL_mesh_first, _list, _overlaps or _contact, or their
 * exact twins. */
#ifndef CAROM_MESH_KERNELS_H
#define CAROM_MESH_KERNELS_H
#include "mesh_arguments.h"

#ifdef KERNEL_mesh_first
#define MESH_SEARCHED mesh_first
#define MESH_ANSWER mesh_answer_first
#elif defined(KERNEL_mesh_first_exact)
#define MESH_SEARCHED mesh_first_exact
#define MESH_ANSWER mesh_answer_first_exact
#elif defined(KERNEL_mesh_list)
#define MESH_SEARCHED mesh_list
#elif defined(KERNEL_mesh_list_exact)
#define MESH_SEARCHED mesh_list_exact
#elif defined(KERNEL_mesh_overlaps)
#define MESH_SEARCHED mesh_overlaps
#elif defined(KERNEL_mesh_overlaps_exact)
#define MESH_SEARCHED mesh_overlaps_exact
#endif

/* A program for queries without options leaves out the code of options, which would cost registers. */
#ifdef MESH_PLAIN
#define MESH_OPTIONS 0
#else
#define MESH_OPTIONS run->options
#endif

#ifdef MESH_SEARCHED
/* A work-item answers its share of the queries; its lanes are boxes and triangles. */
#define MESH_RUN_PARAMETERS                                                                                     \
    MESH_PARAMETERS, __global const real *cx, __global const real *cy, __global const real *cz,                 \
        __global const real *radius, __global const real *vx, __global const real *vy, __global const real *vz, \
        __global const real *t_max, __global const int *mask, MESH_SHARE_PARAMETERS,                            \
        __global const mesh_clearance *clearance MESH_TEAM_PARAMETERS
#define MESH_RUN_ARGUMENTS                                                                         \
    mesh_run_of(MESH_ARGUMENTS, cx, cy, cz, radius, vx, vy, vz, t_max, mask, MESH_SHARE_ARGUMENTS, \
                clearance MESH_TEAM_ARGUMENTS)
/* A run from the kernel's arguments. */
FN mesh_run mesh_run_of(MESH_RUN_PARAMETERS)
{
    mesh_run run = mesh_run_of_mesh(MESH_ARGUMENTS);
    run.clearance = clearance;
    run.in[MESH_CX] = cx;
    run.in[MESH_CY] = cy;
    run.in[MESH_CZ] = cz;
    run.in[MESH_RADIUS] = radius;
    run.in[MESH_VX] = vx;
    run.in[MESH_VY] = vy;
    run.in[MESH_VZ] = vz;
    run.in[MESH_T_MAX] = t_max;
    run.mask = mask;
    mesh_run_set_queries(&run, MESH_SHARE_ARGUMENTS MESH_TEAM_ARGUMENTS);
    return run;
}
#endif

#ifdef MESH_ANSWER
MESH_RUN(mesh_search, mesh, MESH_SEARCHED, mesh_begin_clear, MESH_ANSWER, MESH_OPTIONS)

MESH_KERNEL void LANG_CAT(carom_, KERNEL)(MESH_RUN_PARAMETERS, __global int *triangle, __global uchar *state,
                                          __global real *t, uint count)
{
    MESH_SHARED_OF_GROUP;
    if (MESH_IS_EXTRA(count))
        return;
    mesh_run run = MESH_RUN_ARGUMENTS;
#ifdef MESH_ITEMS
    run.shared = &shared;
#endif
    run.triangle = triangle;
    run.state = state;
    run.t = t;
    mesh_search(&run);
    if (MESH_IS_TRUNCATED(share) && run.first < run.end)
        triangle[mesh_run_row(&run, run.first)] = MESH_LOOP_TRUNCATED;
}
#elif defined(MESH_SEARCHED)
#define MESH_LISTED MESH_SEARCHED
#define MESH_KIND mesh
#if defined(MESH_SCENE) && defined(KERNEL_mesh_overlaps)
#define MESH_BEGIN mesh_begin_clear_fast_overlap
#else
#define MESH_BEGIN mesh_begin_clear
#endif
#define MESH_STATE_OF(trav) (trav)->state
#include "mesh_list_kernel.h"
#endif

#if defined(KERNEL_mesh_contact) || defined(KERNEL_mesh_contact_exact)
#ifdef KERNEL_mesh_contact
#define MESH_CONTACT contact
#else
#define MESH_CONTACT contact_exact
#endif
/* Contacts of hits. A work-item answers LANES queries. */
__kernel void LANG_CAT(carom_, KERNEL)(__global const real *vertices, __global const uint *indices, uint triangles,
                                       int options, __global const real *cx, __global const real *cy,
                                       __global const real *cz, __global const real *radius, __global const real *vx,
                                       __global const real *vy, __global const real *vz, __global const int *triangle,
                                       __global real *px, __global real *py, __global real *pz, __global real *nx,
                                       __global real *ny, __global real *nz, __global uchar *feature, uint groups)
{
    const size_t group = get_global_id(0);
    if (group >= groups)
        return;
    const size_t i = group * LANES;
    const vf zero = v_f(R(0.0));
    sweep_in query;
    query.center = v3_of(v_load(cx + i), v_load(cy + i), v_load(cz + i));
    query.radius = v_load(radius + i);
    query.velocity = v3_of(v_load(vx + i), v_load(vy + i), v_load(vz + i));
    query.p0 = mesh_gather_corner(vertices, indices, triangles, triangle + i, 0);
    query.p1 = mesh_gather_corner(vertices, indices, triangles, triangle + i, 1);
    query.p2 = mesh_gather_corner(vertices, indices, triangles, triangle + i, 2);
    query.w = mesh_relative_to(query.center, options);
    query.u = v3_of(zero, zero, zero);
    const contact_out answer = MESH_CONTACT(query, (options & MESH_ENDS) != 0);
    const vm hit = vi_gt(mesh_load_int(triangle + i), v_i(-1));
    const v3 none = v3_of(zero, zero, zero), point = v3_sel(hit, answer.point, none),
             normal = v3_sel(hit, answer.normal, none);
    v_store(px + i, point.x);
    v_store(py + i, point.y);
    v_store(pz + i, point.z);
    v_store(nx + i, normal.x);
    v_store(ny + i, normal.y);
    v_store(nz + i, normal.z);
    v_store_u8(feature + i, vi_sel(hit, answer.feature, v_i(FEATURE_NONE)));
}
#endif
#endif
