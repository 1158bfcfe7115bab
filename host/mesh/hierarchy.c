/* SPDX-License-Identifier: MIT */
/* Builds the hierarchy of a mesh and the arrays that follow its order: masks, and memory for the clearance. */
#include "host/bvh/tree.h"
#include "host/core/devices.h"
#include "clearance.h"
#include "closing.h"
#include "edges.h"
#include "mesh.h"
#include "patches.h"

/* Replaces the mesh's hierarchy, masks and clearance; frees the old ones. */
static void replace(carom_mesh *mesh, const caromi_tree *tree, int32_t *masks, mesh_clearance *clearance)
{
    mesh->context->mesh_changes++;
    mesh->builds++;
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
    mesh->view.width = tree->width;
    mesh->info.width = (uint32_t)tree->width;
    mesh->stack = tree->stack;
    mesh->leaf_count = tree->leaf_count;
    mesh->info.node_count = tree->node_count;
    mesh->info.bytes =
        mesh->vertex_count * 12 + mesh->info.triangle_count * 12 + caromi_bytes_of_leaves(mesh) +
        caromi_bytes_of_nodes(mesh) + (masks != NULL ? mesh->leaf_count * (uint64_t)tree->width * sizeof *masks : 0) +
        caromi_clearance_bytes(mesh->leaf_count) +
        (mesh->patches.given != NULL ? mesh->info.triangle_count * sizeof *mesh->patches.given : 0) +
        caromi_corners_bytes(mesh) + caromi_edges_bytes(mesh) + caromi_patches_bytes(mesh) + caromi_closing_bytes(mesh);
    caromi_hierarchy_refit(mesh);
    mesh->built_cost = mesh->info.cost;
    mesh->info.refits = 0;
}

/* Builds a new hierarchy beside the old one, then replaces it. */
carom_status caromi_hierarchy_build(carom_mesh *mesh, int width, carom_error *err)
{
    const carom_context *context = mesh->context;
    caromi_tree tree;
    int32_t *masks = NULL;
    mesh_clearance *clearance = NULL;
    CHECK(caromi_bvh_build(mesh, width, &tree, err));
    carom_status status = caromi_clearance_alloc(mesh, tree.leaf_count, &clearance, err);
    if (status == CAROM_OK) {
        const caromi_mesh_view view = {
            .frame.root = tree.root, .width = width, .nodes = tree.nodes, .leaves = tree.leaves};
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

/* ---- the width --------------------------------------------------------------------------------------------------- */

/* The CPU's instruction set has the width that measured best for it, devices have 16. */
int caromi_hierarchy_width(const carom_context *context)
{
    const int is_auto = context->desc.backend == CAROM_BACKEND_AUTO;
    const int has_device = context->desc.backend == CAROM_BACKEND_OPENCL ||
                           (is_auto && (context->desc.device != NULL || caromi_first_device(context) != NULL));
    return has_device ? MESH_WIDEST : context->isa->mesh_width;
}

carom_status caromi_hierarchy_suit_device(carom_mesh *mesh, carom_error *err)
{
    const unsigned long long triangles = mesh->info.triangle_count;
    if (mesh->scene != NULL)
        return caromi_scene_suit_device(mesh->scene, err);
    if (mesh->view.width == MESH_WIDEST || triangles == 0)
        return CAROM_OK;
    CHECK(caromi_hierarchy_build(mesh, MESH_WIDEST, err));
    caromi_log(mesh->context, CAROM_LOG_INFO,
               "a mesh of %llu triangles: built again with nodes of 16, which devices search", triangles);
    return CAROM_OK;
}

int caromi_hierarchy_may_suit(const carom_mesh *mesh)
{
    if (mesh->scene != NULL)
        return mesh->info.triangle_count > 0 && caromi_scene_may_suit(mesh->scene);
    return mesh->info.triangle_count > 0 && (mesh->view.width == MESH_WIDEST || mesh->image == NULL);
}
