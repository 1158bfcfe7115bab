/* SPDX-License-Identifier: MIT */
/* The hierarchy as the meshes see it. */
#ifndef CAROM_HOST_BVH_TREE_H
#define CAROM_HOST_BVH_TREE_H
#include "mesh_data.h"

/* Nodes and leaves without their boxes, which a refit fills in. */
typedef struct caromi_tree {
    mesh_node *nodes;
    mesh_leaf *leaves;
    uint32_t node_count, leaf_count;
    int root;
    int stack; /* entries that a traversal may need */
} caromi_tree;

/* Build the hierarchy over a mesh that has vertices, indices and a frame; build.c */
carom_status caromi_bvh_build(const carom_mesh *mesh, caromi_tree *out, carom_error *err);
/* The corners in the mesh's leaves, all boxes, and the cost, from its vertices and frame; refit.c */
void caromi_bvh_refit(carom_mesh *mesh);
#endif
