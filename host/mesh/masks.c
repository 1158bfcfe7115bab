/* SPDX-License-Identifier: MIT */
/* Triangle masks, permuted to the order of the leaves. */
#include <string.h>

#include "closing.h"
#include "edges.h"
#include "host/core/arrays.h"
#include "host/core/device.h"
#include "mesh.h"

enum { NODES_PER_TASK = 256 };

/* The permutation of masks between triangles and leaf slots. */
typedef struct mask_job {
    caromi_mesh_view view;
    uint64_t node_count;
    caromi_in_column of_triangle;
    int32_t *of_slot;  /* [leaf_count][width] */
    int32_t *gathered; /* [triangle_count] not NULL: the opposite direction, from leaf slots to triangles */
} mask_job;

static int32_t load_mask(const caromi_in_column *masks, int triangle)
{
    int32_t mask;
    memcpy(&mask, caromi_element(masks, (uint64_t)triangle), sizeof mask);
    return mask;
}

static void copy_leaf(const mask_job *job, int reference)
{
    const int width = job->view.width;
    const caromi_leaf_rows leaf = caromi_leaf_rows_of(job->view.leaves, width, reference);
    int32_t *slots = &job->of_slot[(size_t)MESH_LEAF_AT(reference) * (size_t)width];
    for (int lane = 0; lane < width; lane++) {
        const int triangle = leaf.triangle[lane];
        if (job->gathered == NULL)
            slots[lane] = triangle < 0 ? 0 : load_mask(&job->of_triangle, triangle);
        else if (triangle >= 0)
            job->gathered[triangle] = slots[lane];
    }
    if (job->gathered == NULL && MESH_IS_UNINDEXED(reference))
        memset(slots + width, 0, (size_t)width * sizeof *slots);
}

static void copy_masks(void *user, uint64_t begin, uint64_t end, uint32_t thread)
{
    const mask_job *job = user;
    (void)thread;
    for (uint64_t n = begin; n < end; n++) {
        const caromi_node_rows node = caromi_node_rows_of(job->view.nodes, job->view.width, n);
        for (int i = 0; i < job->view.width; i++)
            if (node.child[i] < 0)
                copy_leaf(job, node.child[i]);
    }
}

static void copy_all(const carom_mesh *mesh, mask_job *job)
{
    if (job->node_count == 0)
        copy_leaf(job, job->view.frame.root);
    caromi_parallel_runs(mesh->context->pool, job->node_count, NODES_PER_TASK, copy_masks, job);
}

static carom_status no_memory(const carom_mesh *mesh, carom_error *err)
{
    return caromi_fail_memory(err, "no memory for the masks of %llu triangles",
                              (unsigned long long)mesh->info.triangle_count);
}

static uint64_t bytes_of(const carom_mesh *mesh)
{
    return mesh->masks == NULL ? 0 : mesh->leaf_count * (uint64_t)mesh->view.width * sizeof *mesh->masks;
}

/* Replaces the masks of a mesh. */
static void replace(carom_mesh *mesh, int32_t *masks)
{
    mesh->info.bytes -= bytes_of(mesh);
    caromi_free(mesh->context, mesh->masks);
    mesh->masks = masks;
    mesh->view.masks = masks;
    mesh->info.bytes += bytes_of(mesh);
}

/* Permutes the triangles' masks to the order of the leaves. */
static carom_status permute(const carom_mesh *mesh, const carom_uints *masks, int32_t **out, carom_error *err)
{
    mask_job job = {.view = mesh->view, .node_count = mesh->info.node_count};
    *out = job.of_slot =
        caromi_alloc(mesh->context, mesh->leaf_count * (uint64_t)mesh->view.width, sizeof *job.of_slot);
    if (job.of_slot == NULL)
        return no_memory(mesh, err);
    caromi_uints_to_column(masks, (caromi_index){NULL, 0}, &job.of_triangle);
    copy_all(mesh, &job);
    return CAROM_OK;
}

carom_status caromi_mesh_mask(carom_mesh *mesh, const carom_uints *masks, carom_error *err)
{
    int32_t *of_slot;
    CHECK(permute(mesh, masks, &of_slot, err));
    replace(mesh, of_slot);
    return CAROM_OK;
}

/* The masks of a mesh in the order of its triangles. */
carom_status caromi_masks_of_triangles(const carom_mesh *mesh, int32_t **out, carom_error *err)
{
    *out = caromi_alloc(mesh->context, mesh->info.triangle_count, sizeof **out);
    if (*out == NULL)
        return no_memory(mesh, err);
    mask_job job = {.view = mesh->view, .node_count = mesh->info.node_count, .of_slot = mesh->masks, .gathered = *out};
    copy_all(mesh, &job);
    return CAROM_OK;
}

carom_status caromi_masks_follow(const carom_mesh *mesh, const caromi_mesh_view *tree, uint64_t node_count,
                                 uint64_t leaf_count, int32_t **out, carom_error *err)
{
    int32_t *of_triangle;
    *out = NULL;
    if (mesh->masks == NULL)
        return CAROM_OK;
    CHECK(caromi_masks_of_triangles(mesh, &of_triangle, err));
    int32_t *of_slot = caromi_alloc(mesh->context, leaf_count * (uint64_t)tree->width, sizeof *of_slot);
    mask_job to = {.view = *tree,
                   .node_count = node_count,
                   .of_triangle = {.base = of_triangle, .stride = sizeof *of_triangle},
                   .of_slot = of_slot};
    if (of_slot != NULL)
        copy_all(mesh, &to);
    caromi_free(mesh->context, of_triangle);
    *out = of_slot;
    return of_slot != NULL ? CAROM_OK : no_memory(mesh, err);
}

/* ---- masks that change ------------------------------------------------------------------------------------------- */

static carom_status check_masks(const carom_mesh *mesh, const carom_uints *masks, carom_error *err)
{
    if (mesh->image != NULL)
        return caromi_fail_argument(err,
                                    "the mesh lies in an image (carom_mesh_open_image): its masks cannot be changed");
    if (masks == NULL || mesh->info.triangle_count == 0)
        return CAROM_OK;
    CHECK(caromi_check_optional_uints(masks, "masks", err));
    CAROMI_CHECK_ARRAYS(mesh->context, err, caromi_reads_uints, "masks", masks, mesh->info.triangle_count);
    return CAROM_OK;
}

/* Copies on devices are released once nothing can fail any more, but before the masks: a device that shares the host's
 * memory reads them in place. */
static carom_status set_masks(carom_mesh *mesh, const carom_uints *masks, carom_error *err)
{
    int32_t *of_slot = NULL;
    CHECK(caromi_mesh_only(mesh, "carom_mesh_set_masks", err));
    CHECK(check_masks(mesh, masks, err));
    if (mesh->info.triangle_count == 0)
        return CAROM_OK;
    CHECK(caromi_mesh_bring(mesh, err));
    if (masks != NULL && masks->data != NULL)
        CHECK(permute(mesh, masks, &of_slot, err));
    caromi_driver.mesh_release(mesh);
    caromi_mesh_has_changed(mesh);
    replace(mesh, of_slot);
    caromi_edges_forget_masks(mesh);
    caromi_closing_forget(mesh);
    mesh->boundary_edges.known = 0;
    return CAROM_OK;
}

carom_status carom_mesh_set_masks(carom_mesh *mesh, const carom_uints *masks, carom_error *err)
{
    CHECK_NOT_NULL(mesh, "mesh", err);
    IN_CALL(mesh->context, err, set_masks(mesh, masks, err));
}
