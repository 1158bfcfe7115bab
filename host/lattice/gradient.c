/* SPDX-License-Identifier: MIT */
/* Gradients of a lattice's distances, from the nodes' triangles and the signs of their distances: those of closest
 * points at the same places, by the same kernel (mesh/block.c). */
#include <math.h>
#include <string.h>

#include "host/mesh/block.h"
#include "lattice.h"

typedef struct gradient_job {
    const carom_context *context;
    const caromi_lattice_batch *batch;
    uint64_t first, end;       /* nodes */
    caromi_mesh_block *blocks; /* [threads] */
} gradient_job;

/* Turns the gradients inside, and decides in integers those that the kernel has left undecided. */
static void finish(const caromi_mesh_batch *points, caromi_mesh_block *block, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        caromi_mesh_answer answer = {.triangle = block->triangle[i], .key = block->key[i]};
        const float center[3] = {block->in[MESH_CX][i], block->in[MESH_CY][i], block->in[MESH_CZ][i]};
        const int is_undecided = points->exact && isnan(block->normal[0][i]);
        if (is_undecided)
            (void)caromi_resolve_gradient(points, center, &answer);
        for (int k = 0; k < 3 && is_undecided; k++)
            block->normal[k][i] = answer.normal[k];
        for (int k = 0; k < 3 && !is_undecided && answer.key < 0; k++)
            block->normal[k][i] = 0 - block->normal[k][i];
    }
}

/* Task: a block of nodes. */
static void fill_block(void *user, uint64_t task, uint32_t thread)
{
    const gradient_job *job = user;
    const caromi_lattice_batch *batch = job->batch;
    caromi_mesh_block *block = &job->blocks[thread];
    const uint64_t first = job->first + task * CAROMI_BLOCK, left = job->end - first, at = first - batch->begin;
    const uint32_t count = left < CAROMI_BLOCK ? (uint32_t)left : CAROMI_BLOCK;
    if (caromi_watch_look(job->context->watch))
        return;
    const caromi_mesh_batch points = {.kind = &caromi_closest_triangle,
                                      .mesh = batch->mesh,
                                      .exact = batch->exact,
                                      .out = {[CAROMI_ANSWER_GRADIENT] = batch->out[CAROMI_ANSWER_GRADIENT]}};
    caromi_lattice_columns(&batch->lattice, first, count, block->in[MESH_CX], block->in[MESH_CY], block->in[MESH_CZ]);
    for (uint32_t i = 0; i < count; i++) {
        const caromi_out_column *triangle = &batch->out[CAROMI_ANSWER_TRIANGLE], *key = &batch->out[CAROMI_ANSWER_KEY];
        memcpy(&block->triangle[i], (const char *)triangle->base + (at + i) * triangle->stride, sizeof(int32_t));
        memcpy(&block->key[i], (const char *)key->base + (at + i) * key->stride, sizeof(float));
    }
    if (batch->mesh->info.triangle_count > 0) {
        caromi_block_points(job->context, &points, block, count);
        finish(&points, block, count);
    } else {
        caromi_block_miss(block, count);
    }
    for (uint32_t k = 0; k < 3; k++)
        caromi_scatter(&batch->out[CAROMI_ANSWER_GRADIENT + k], at, block->normal[k], count, sizeof(float));
}

carom_status caromi_lattice_gradients(const carom_context *context, const caromi_lattice_batch *batch, uint64_t first,
                                      uint64_t end, carom_error *err)
{
    gradient_job job = {.context = context, .batch = batch, .first = first, .end = end};
    job.blocks = caromi_alloc(context, caromi_pool_threads(context->pool), sizeof *job.blocks);
    if (job.blocks == NULL)
        return caromi_fail_memory(err, "no memory for the gradients of %llu nodes", (unsigned long long)(end - first));
    caromi_parallel(context->pool, (end - first + CAROMI_BLOCK - 1) / CAROMI_BLOCK, fill_block, &job);
    caromi_free(context, job.blocks);
    return caromi_went_on(context);
}
