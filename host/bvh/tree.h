/* SPDX-License-Identifier: MIT */
/* The interface of the hierarchy for host/mesh. */
#ifndef CAROM_HOST_BVH_TREE_H
#define CAROM_HOST_BVH_TREE_H
#include "mesh_data.h"

/* A built hierarchy; a refit fills in its boxes and vertices. */
typedef struct caromi_tree {
    void *nodes, *leaves; /* of `width` slots: cpu/mesh/rows.h */
    int width;
    uint32_t node_count, leaf_count;
    int root;
    int stack; /* entries of the stack that a traversal may need */
} caromi_tree;

/* Builds the hierarchy of a mesh with vertices, indices and a frame, with nodes and leaves of 8 or 16 slots. build.c */
carom_status caromi_bvh_build(const carom_mesh *mesh, int width, caromi_tree *out, carom_error *err);
/* Sets the vertices in the leaves, all boxes, and the cost, from the mesh's vertices and frame. refit.c */
void caromi_bvh_refit(carom_mesh *mesh);
/* Checks that nodes and leaves are a hierarchy as the builder makes it, over all triangles of the mesh, refit to its
 * vertices: every search ends, and reads nothing outside of the arrays. Indices, vertices and scale were checked
 * before. verify.c */
carom_status caromi_bvh_verify(const carom_mesh *mesh, carom_error *err);
#endif
