/* SPDX-License-Identifier: MIT */
/* Arguments that OpenCL's searches of a mesh have in common: the mesh first, then columns of queries, then the queries
 * that a work-item answers. */
#ifndef CAROM_MESH_ARGUMENTS_H
#define CAROM_MESH_ARGUMENTS_H
#include "mesh_run.h"

/* The hierarchy, its mesh_frame (scale to ball, layout.h), and the triangles' masks. */
#define MESH_PARAMETERS                                                                                        \
    __global const mesh_node *nodes, __global const mesh_leaf *leaves, float scale, int scale_field, int root, \
        float ball, __global const int *masks, int options MESH_SCENE_PARAMETERS
#define MESH_ARGUMENTS nodes, leaves, scale, scale_field, root, ball, masks, options MESH_SCENE_ARGUMENTS
/* Of a scene: the hierarchy over the instances, then these; and where a query begins. */
#ifdef MESH_SCENE
#define MESH_SCENE_PARAMETERS , __global const mesh_instance *instances, uint begin
#define MESH_SCENE_ARGUMENTS , instances, begin
#else
#define MESH_SCENE_PARAMETERS
#define MESH_SCENE_ARGUMENTS
#endif
/* Queries of spheres at rest. max_distance: the limit of a closest point, or the margin of contacts. */
#define MESH_SPHERE_PARAMETERS                                                                              \
    __global const real *cx, __global const real *cy, __global const real *cz, __global const real *radius, \
        __global const real *max_distance, __global const int *mask
#define MESH_SPHERE_ARGUMENTS cx, cy, cz, radius, max_distance, mask
/* arguments of mesh_run_share() */
#define MESH_SHARE_PARAMETERS uint share, uint queries, __global const uint *row, uint rows
#define MESH_SHARE_ARGUMENTS share, queries, row, rows
/* Arguments and local memory of work-items that traverse together (mesh_team.h). */
#ifdef MESH_ITEMS
#define MESH_TEAM_PARAMETERS , __global mesh_far_entry *far, uint far_entries
#define MESH_TEAM_ARGUMENTS , far, far_entries
#define MESH_KERNEL __attribute__((reqd_work_group_size(MESH_ITEMS, 1, 1))) LANG_SEARCH_KERNEL
#define MESH_SHARED_OF_GROUP __local mesh_shared shared
#define MESH_IS_EXTRA(count) 0
#define MESH_IS_TRUNCATED(number) mesh_group_is_truncated(&shared, number)
#else
#define MESH_SHARED_OF_GROUP (void)0
#define MESH_IS_EXTRA(count) (get_global_id(0) >= (count)) /* only fills the last group */
#define MESH_IS_TRUNCATED(number) mesh_run_is_truncated(number)
#define MESH_KERNEL LANG_SEARCH_KERNEL
#define MESH_TEAM_PARAMETERS
#define MESH_TEAM_ARGUMENTS
#endif

/* A run over a mesh, from a kernel's arguments. */
FN mesh_run mesh_run_of_mesh(MESH_PARAMETERS)
{
    mesh_run run;
    run.frame.scale = scale;
    run.frame.scale_field = scale_field;
    run.frame.root = root;
    run.frame.ball = ball;
    run.nodes = nodes;
    run.leaves = leaves;
    run.masks = masks;
    run.options = options;
#ifdef MESH_SCENE
    run.instances = instances + begin;
#endif
    return run;
}

/* The queries of a run, from a kernel's arguments: of a work-item, or of a group whose work-items share them. */
FN void mesh_run_set_queries(mesh_run *run, MESH_SHARE_PARAMETERS MESH_TEAM_PARAMETERS)
{
#ifdef MESH_ITEMS
    mesh_run_share(run, (u32)get_group_id(0), share, queries, row, 0);
    run->row = row;
    run->rows = rows;
    run->far = far;
    run->far_entries = far_entries;
#else
    mesh_run_share(run, (u32)get_global_id(0), MESH_SHARE_ARGUMENTS);
#endif
}

/* A run of spheres at rest, from a kernel's arguments. */
FN mesh_run mesh_run_of_spheres(MESH_PARAMETERS, MESH_SPHERE_PARAMETERS)
{
    mesh_run run = mesh_run_of_mesh(MESH_ARGUMENTS);
    run.in[MESH_CX] = cx;
    run.in[MESH_CY] = cy;
    run.in[MESH_CZ] = cz;
    run.in[MESH_RADIUS] = radius;
    run.in[MESH_MAX_DISTANCE] = max_distance;
    run.mask = mask;
    return run;
}
#endif
