/* SPDX-License-Identifier: MIT */
/* Triangles within reach of a sphere as OpenCL sees them: the host names the kernel it builds, -DKERNEL_mesh_contacts
 * or its exact twin. Contacts are chosen from the records by the host, or by contact_rows.cl. */
#ifndef CAROM_MESH_CONTACTS_KERNELS_H
#define CAROM_MESH_CONTACTS_KERNELS_H
#include "mesh_arguments.h"

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
#define MESH_RUN_PARAMETERS                                                              \
    MESH_PARAMETERS, MESH_SPHERE_PARAMETERS, MESH_SHARE_PARAMETERS MESH_TEAM_PARAMETERS, \
        __global const mesh_opposites *opposites, __global const mesh_cones *cones
#define MESH_RUN_ARGUMENTS \
    contacts_run_of(MESH_ARGUMENTS, MESH_SPHERE_ARGUMENTS, MESH_SHARE_ARGUMENTS MESH_TEAM_ARGUMENTS, opposites, cones)
/* A run from the kernel's arguments. */
FN mesh_run contacts_run_of(MESH_RUN_PARAMETERS)
{
    mesh_run run = mesh_run_of_spheres(MESH_ARGUMENTS, MESH_SPHERE_ARGUMENTS);
    run.opposites = opposites;
    run.cones = cones;
    mesh_run_set_queries(&run, MESH_SHARE_ARGUMENTS MESH_TEAM_ARGUMENTS);
    return run;
}
#include "mesh_list_kernel.h"
#endif
