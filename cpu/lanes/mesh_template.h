/* SPDX-License-Identifier: MIT */
/* Searches of meshes of one width at one lane count; included once per instruction set and width, with LANES, ISA_NAME
 * and MESH_WIDTH defined. */
#include "kernels/wide.h" /* first: headers have exact bodies where it is */
#include "isa_run.h"
#include "cpu/mesh/template.h"
#include "cpu/lattice/template.h"
#include "cpu/lattice/rays_template.h"
#include "cpu/lattice/drop_template.h"

extern const caromi_mesh_table ISA_MESH(MESH_WIDTH);
const caromi_mesh_table ISA_MESH(MESH_WIDTH) = {
    .search = {[CAROMI_MESH_FIRST] = {mesh_first, mesh_first_exact},
               [CAROMI_MESH_LIST] = {mesh_list, mesh_list_exact},
               [CAROMI_MESH_OVERLAPS] = {mesh_overlaps, mesh_overlaps_exact},
               [CAROMI_MESH_CLOSEST] = {mesh_closest, mesh_closest_exact},
               [CAROMI_MESH_CONTACTS] = {mesh_contacts, mesh_contacts_exact}},
    .lattice = lattice_tile,
    .lattice_scratch = sizeof(lattice_scratch),
    .rays = rays_search,
    .point_rays = point_rays_sum,
    .drop = drop_columns,
};
