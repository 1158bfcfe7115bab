/* SPDX-License-Identifier: MIT */
/* Triangle masks, permuted to the order of the leaves. */
#include <string.h>

#include "host/core/arrays.h"
#include "mesh.h"

enum { NODES_PER_TASK = 256 };

/* The permutation of masks between triangles and leaf slots. */
typedef struct mask_job {
    caromi_mesh_view view;
    uint64_t node_count;
    caromi_in_column of_triangle;
    int32_t *of_slot;  /* [leaf_count][MESH_WIDTH] */
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
    const mesh_leaf *leaf = &job->view.leaves[MESH_LEAF_AT(reference)];
    int32_t *slots = &job->of_slot[(size_t)MESH_LEAF_AT(reference) * MESH_WIDTH];
    for (int lane = 0; lane < MESH_WIDTH; lane++) {
        const int triangle = leaf->triangle[lane];
        if (job->gathered == NULL)
            slots[lane] = triangle < 0 ? 0 : load_mask(&job->of_triangle, triangle);
        else if (triangle >= 0)
            job->gathered[triangle] = slots[lane];
    }
    if (job->gathered == NULL && MESH_IS_UNINDEXED(reference))
        memset(slots + MESH_WIDTH, 0, MESH_WIDTH * sizeof *slots);
}

static void copy_masks(void *user, uint64_t begin, uint64_t end, uint32_t thread)
{
    const mask_job *job = user;
    (void)thread;
    for (uint64_t n = begin; n < end; n++)
        for (int i = 0; i < MESH_WIDTH; i++)
            if (job->view.nodes[n].child[i] < 0)
                copy_leaf(job, job->view.nodes[n].child[i]);
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

/* Permutes the triangles' masks to the order of a finished hierarchy's leaves. */
carom_status caromi_mesh_mask(carom_mesh *mesh, const carom_uints *masks, carom_error *err)
{
    mask_job job = {.view = mesh->view, .node_count = mesh->info.node_count};
    job.of_slot = caromi_alloc(mesh->context, mesh->leaf_count * MESH_WIDTH, sizeof *job.of_slot);
    if (job.of_slot == NULL)
        return no_memory(mesh, err);
    caromi_uints_to_column(masks, (caromi_index){NULL, 0}, &job.of_triangle);
    copy_all(mesh, &job);
    mesh->masks = job.of_slot;
    mesh->view.masks = job.of_slot;
    mesh->info.bytes += mesh->leaf_count * MESH_WIDTH * sizeof *job.of_slot;
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
    int32_t *of_slot = caromi_alloc(mesh->context, leaf_count * MESH_WIDTH, sizeof *of_slot);
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
