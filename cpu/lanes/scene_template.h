/* SPDX-License-Identifier: MIT */
/* Searches of scenes of one width at one lane count: those of mesh_template.h over instances of meshes. */
#define MESH_SCENE
#define MESH_SCENE_MOVES
#include "kernels/wide.h" /* first: headers have exact bodies where it is */
#include "cpu/scene/motion.h"
#include "isa_run.h"
#include "cpu/mesh/template.h"

extern const caromi_mesh_table ISA_SCENE(MESH_WIDTH);
const caromi_mesh_table ISA_SCENE(MESH_WIDTH) = {
    .search = {[CAROMI_MESH_FIRST] = {mesh_first, mesh_first_exact},
               [CAROMI_MESH_LIST] = {mesh_list, mesh_list_exact},
               [CAROMI_MESH_OVERLAPS] = {mesh_overlaps, mesh_overlaps_exact},
               [CAROMI_MESH_CLOSEST] = {mesh_closest, mesh_closest_exact},
               [CAROMI_MESH_CONTACTS] = {mesh_contacts, mesh_contacts_exact}},
};
