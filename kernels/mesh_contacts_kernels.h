/* SPDX-License-Identifier: MIT */
/* Triangles within reach of a sphere as OpenCL sees them: the host names the kernel it builds, -DKERNEL_mesh_contacts
 * or its exact twin, and chooses contacts from the records. */
#ifndef CAROM_MESH_CONTACTS_KERNELS_H
#define CAROM_MESH_CONTACTS_KERNELS_H

#ifdef KERNEL_mesh_contacts
#define MESH_LISTED contacts
#define MESH_BEGIN contacts_begin_next
#elif defined(KERNEL_mesh_contacts_exact)
#define MESH_LISTED contacts_exact
#define MESH_BEGIN contacts_exact_begin_next
#endif
#define MESH_KIND contacts
#define MESH_STATE_OF(trav) STATE_MISS
#define MESH_OPTIONS run->options

/* A work-item answers its share of the queries; its lanes are boxes and triangles. */
#define MESH_RUN_PARAMETERS                                                                                          \
    __global const mesh_node *nodes, __global const mesh_leaf *leaves, float scale, int scale_field, int root,       \
        float ball, __global const int *masks, int options, __global const real *cx, __global const real *cy,        \
        __global const real *cz, __global const real *radius, __global const real *margin, __global const int *mask, \
        uint share, uint queries, __global const uint *row, uint rows, __global const mesh_opposites *opposites,     \
        __global const mesh_cones *cones
#define MESH_RUN_ARGUMENTS                                                                                           \
    contacts_run_of(nodes, leaves, scale, scale_field, root, ball, masks, options, cx, cy, cz, radius, margin, mask, \
                    share, queries, row, rows, opposites, cones)
FN mesh_run contacts_run_of(MESH_RUN_PARAMETERS)
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
    run.in[MESH_CX] = cx;
    run.in[MESH_CY] = cy;
    run.in[MESH_CZ] = cz;
    run.in[MESH_RADIUS] = radius;
    run.in[MESH_MAX_DISTANCE] = margin;
    run.mask = mask;
    run.opposites = opposites;
    run.cones = cones;
    mesh_run_share(&run, (u32)get_global_id(0), share, queries, row, rows);
    return run;
}
#include "mesh_list_kernel.h"
#endif
