/* SPDX-License-Identifier: MIT */
/* The triangles' masks in the order of the leaves. */
#include "internal.h"

enum { LEAVES_PER_TASK = 1024 };

typedef struct mask_job {
    const mesh_leaf *leaves;
    uint64_t leaf_count;
    uint32_t *of_triangle;
    int32_t *of_slot; /* [leaf_count][MESH_WIDTH] */
    int back;         /* from slots to triangles */
} mask_job;

static void copy_masks(void *user, uint64_t task, uint32_t thread)
{
    const mask_job *job = user;
    const uint64_t first = task * LEAVES_PER_TASK, left = job->leaf_count - first;
    const uint64_t end = first + (left < LEAVES_PER_TASK ? left : LEAVES_PER_TASK);
    (void)thread;
    for (uint64_t i = first; i < end; i++)
        for (uint32_t lane = 0; lane < MESH_WIDTH; lane++) {
            const int triangle = job->leaves[i].triangle[lane];
            int32_t *const slot = &job->of_slot[i * MESH_WIDTH + lane];
            if (!job->back)
                *slot = triangle < 0 ? 0 : (int32_t)job->of_triangle[triangle];
            else if (triangle >= 0)
                job->of_triangle[triangle] = (uint32_t)*slot;
        }
}

static void copy_all(const carom_mesh *mesh, mask_job *job)
{
    caromi_parallel(mesh->context->pool, (job->leaf_count + LEAVES_PER_TASK - 1) / LEAVES_PER_TASK, copy_masks, job);
}

static carom_status no_memory(const carom_mesh *mesh, carom_error *err)
{
    return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory for the masks of %llu triangles",
                       (unsigned long long)mesh->info.triangle_count);
}

carom_status caromi_mesh_mask(carom_mesh *mesh, const uint32_t *masks, carom_error *err)
{
    mask_job job = {.leaves = mesh->leaves, .leaf_count = mesh->leaf_count};
    job.of_slot = caromi_alloc(mesh->context, mesh->leaf_count * MESH_WIDTH, sizeof *job.of_slot);
    if (job.of_slot == NULL)
        return no_memory(mesh, err);
    job.of_triangle = (uint32_t *)(uintptr_t)masks; /* read only, this way */
    copy_all(mesh, &job);
    mesh->masks = job.of_slot;
    mesh->view.masks = job.of_slot;
    mesh->info.bytes += mesh->leaf_count * MESH_WIDTH * sizeof *job.of_slot;
    return CAROM_OK;
}

carom_status caromi_masks_follow(const carom_mesh *mesh, const mesh_leaf *leaves, uint64_t leaf_count, int32_t **out,
                                 carom_error *err)
{
    *out = NULL;
    if (mesh->masks == NULL)
        return CAROM_OK;
    uint32_t *of_triangle = caromi_alloc(mesh->context, mesh->info.triangle_count, sizeof *of_triangle);
    int32_t *of_slot = caromi_alloc(mesh->context, leaf_count * MESH_WIDTH, sizeof *of_slot);
    if (of_triangle == NULL || of_slot == NULL) {
        caromi_free(mesh->context, of_triangle);
        caromi_free(mesh->context, of_slot);
        return no_memory(mesh, err);
    }
    mask_job from = {mesh->leaves, mesh->leaf_count, of_triangle, mesh->masks, 1};
    mask_job to = {leaves, leaf_count, of_triangle, of_slot, 0};
    copy_all(mesh, &from);
    copy_all(mesh, &to);
    caromi_free(mesh->context, of_triangle);
    *out = of_slot;
    return CAROM_OK;
}
