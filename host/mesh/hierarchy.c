/* SPDX-License-Identifier: MIT */
/* Builds the hierarchy of a mesh and the arrays that follow its order: masks, and memory for the clearance. */
#include "host/bvh/tree.h"
#include "clearance.h"
#include "edges.h"
#include "mesh.h"

/* Replaces the mesh's hierarchy, masks and clearance; frees the old ones. */
static void replace(carom_mesh *mesh, const caromi_tree *tree, int32_t *masks, mesh_clearance *clearance)
{
    caromi_edges_forget_leaves(mesh);
    caromi_free(mesh->context, mesh->clearance);
    mesh->clearance = clearance;
    caromi_free(mesh->context, mesh->masks);
    mesh->masks = masks;
    mesh->view.masks = masks;
    caromi_free(mesh->context, mesh->nodes);
    caromi_free(mesh->context, mesh->leaves);
    mesh->nodes = tree->nodes;
    mesh->leaves = tree->leaves;
    mesh->view.nodes = tree->nodes;
    mesh->view.leaves = tree->leaves;
    mesh->view.frame.root = tree->root;
    mesh->stack = tree->stack;
    mesh->leaf_count = tree->leaf_count;
    mesh->info.node_count = tree->node_count;
    mesh->info.bytes = mesh->vertex_count * 12 + mesh->info.triangle_count * 12 + mesh->leaf_count * sizeof(mesh_leaf) +
                       mesh->info.node_count * sizeof(mesh_node) +
                       (masks != NULL ? mesh->leaf_count * MESH_WIDTH * sizeof *masks : 0) +
                       caromi_clearance_bytes(mesh->leaf_count) +
                       (mesh->patches.given != NULL ? mesh->info.triangle_count * sizeof *mesh->patches.given : 0) +
                       caromi_corners_bytes(mesh) + caromi_edges_bytes(mesh);
    caromi_hierarchy_refit(mesh);
    mesh->built_cost = mesh->info.cost;
    mesh->info.refits = 0;
}

/* Builds a new hierarchy beside the old one, then replaces it. */
carom_status caromi_hierarchy_build(carom_mesh *mesh, carom_error *err)
{
    const carom_context *context = mesh->context;
    caromi_tree tree;
    int32_t *masks = NULL;
    mesh_clearance *clearance = NULL;
    CHECK(caromi_bvh_build(mesh, &tree, err));
    carom_status status = caromi_clearance_alloc(mesh, tree.leaf_count, &clearance, err);
    if (status == CAROM_OK) {
        const caromi_mesh_view view = {.frame.root = tree.root, .nodes = tree.nodes, .leaves = tree.leaves};
        status = caromi_masks_follow(mesh, &view, tree.node_count, tree.leaf_count, &masks, err);
    }
    if (status == CAROM_OK) {
        replace(mesh, &tree, masks, clearance);
    } else {
        caromi_free(context, clearance);
        caromi_free(context, tree.leaves);
        caromi_free(context, tree.nodes);
    }
    return status;
}

/* Refits the hierarchy to changed vertices and frame. */
void caromi_hierarchy_refit(carom_mesh *mesh)
{
    caromi_clearance_forget(mesh);
    caromi_bvh_refit(mesh);
}
