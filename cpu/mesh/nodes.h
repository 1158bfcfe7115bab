/* SPDX-License-Identifier: MIT */
/* Nodes and leaves of a mesh, for code that is compiled for the mesh's width. */
#ifndef CAROM_CPU_MESH_NODES_H
#define CAROM_CPU_MESH_NODES_H
#include "kernels/mesh_nodes.h"
#include "mesh.h"

_Static_assert(sizeof(mesh_node) == CAROMI_NODE_BYTES(MESH_WIDTH) && sizeof(mesh_leaf) == CAROMI_LEAF_BYTES(MESH_WIDTH),
               "kernels and host agree about nodes and leaves");
_Static_assert(sizeof(mesh_opposites) == CAROMI_OPPOSITES_BYTES(MESH_WIDTH) &&
                   sizeof(mesh_cones) == CAROMI_CONES_BYTES(MESH_WIDTH),
               "kernels and host agree about what contacts know of leaves and nodes");

static inline const mesh_node *mesh_node_at(const caromi_mesh_view *mesh, int reference)
{
    return (const mesh_node *)mesh->nodes + reference;
}

static inline const mesh_leaf *mesh_leaf_at(const caromi_mesh_view *mesh, int reference)
{
    return (const mesh_leaf *)mesh->leaves + MESH_LEAF_AT(reference);
}
#endif
