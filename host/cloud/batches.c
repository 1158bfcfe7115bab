/* SPDX-License-Identifier: MIT */
/* Reads spheres in batches for the sort into cells: valid spheres of a slice, with their bounding spheres in it. */
#include <string.h>

#include "cloud.h"

/* A pass over the spheres, and the batch that it fills. */
typedef struct batch_pass {
    const caromi_cloud *cloud;
    const caromi_cloud_slice *slice;
    caromi_cloud_use_fn *use;
    void *user;
    caromi_cloud_batch batch;
    float own[CLOUD_POSITION_COLUMNS][CAROMI_CLOUD_BLOCK];
} batch_pass;

/* Passes the batch on, padded to whole vectors, and begins an empty one. */
static void hand_over(batch_pass *pass)
{
    caromi_cloud_batch *batch = &pass->batch;
    if (batch->count == 0)
        return;
    for (int k = 0; k < CLOUD_POSITION_COLUMNS; k++) {
        for (uint32_t i = batch->count; i % CAROMI_CLOUD_PADDING; i++)
            pass->own[k][i] = pass->own[k][batch->count - 1];
        batch->position[k] = pass->own[k];
    }
    pass->use(pass->user, batch);
    batch->count = 0;
}

/* Adds a sphere to the batch. */
static void add_one(batch_pass *pass, uint64_t index, const caromi_cloud_position *position)
{
    caromi_cloud_batch *batch = &pass->batch;
    const uint32_t at = batch->count++;
    for (int k = 0; k < 3; k++)
        pass->own[k][at] = position->at[k];
    pass->own[CLOUD_REACH][at] = position->reach;
    batch->index[at] = (uint32_t)index;
    if (batch->count == CAROMI_CLOUD_BLOCK)
        hand_over(pass);
}

/* Computes centre and reach of the bounding spheres of a block's spheres. At time 0 a sphere is its own bounding
 * sphere. */
static void find_positions(const batch_pass *pass, const caromi_cloud_block *block,
                           float *const position[CLOUD_POSITION_COLUMNS])
{
    caromi_cloud_window window = {.begin = pass->slice->begin, .end = pass->slice->end};
    if (caromi_slice_is_instant(pass->slice)) {
        for (int k = 0; k < CLOUD_POSITION_COLUMNS; k++)
            memcpy(position[k], block->in[k], block->count * sizeof(float));
        return;
    }
    memcpy(window.origin, pass->slice->origin, sizeof window.origin);
    memcpy(window.velocity, pass->slice->velocity, sizeof window.velocity);
    pass->cloud->context->isa->cloud_position(block->in, &window, block->count, position);
}

/* Adds the spheres of a block that are in the slice. */
static void add_block(batch_pass *pass, const caromi_cloud_block *block)
{
    float own[CLOUD_POSITION_COLUMNS][CAROMI_CLOUD_BLOCK];
    float *const position[] = {own[0], own[1], own[2], own[CLOUD_REACH]};
    find_positions(pass, block, position);
    for (uint32_t i = 0; i < block->count; i++) {
        const caromi_cloud_position sphere = {{own[0][i], own[1][i], own[2][i]}, own[CLOUD_REACH][i]};
        if (caromi_cloud_is_in(pass->cloud, pass->slice, block, i))
            add_one(pass, block->first + i, &sphere);
    }
}

/* Writes the bounding spheres of a block to the slice's cache. */
static void cache_positions(batch_pass *pass, const caromi_cloud_block *block)
{
    float own[CLOUD_POSITION_COLUMNS][CAROMI_CLOUD_BLOCK];
    float *const position[] = {own[0], own[1], own[2], own[CLOUD_REACH]};
    find_positions(pass, block, position);
    for (uint32_t i = 0; i < block->count; i++)
        own[CLOUD_REACH][i] = caromi_cloud_is_in(pass->cloud, pass->slice, block, i) ? own[CLOUD_REACH][i] : -1;
    for (int k = 0; k < CLOUD_POSITION_COLUMNS; k++)
        memcpy(pass->slice->position[k] + block->first, own[k], block->count * sizeof(float));
}

/* Passes on a short block of spheres at time 0 that are all valid. */
static void copy_block(batch_pass *pass, const caromi_cloud_block *block)
{
    static const int from[CLOUD_POSITION_COLUMNS] = {CLOUD_X, CLOUD_Y, CLOUD_Z, CLOUD_R};
    caromi_cloud_batch *batch = &pass->batch;
    hand_over(pass);
    batch->count = block->count;
    for (int k = 0; k < CLOUD_POSITION_COLUMNS; k++)
        memcpy(pass->own[k], block->in[from[k]], block->count * sizeof(float));
    for (uint32_t i = 0; i < block->count; i++)
        batch->index[i] = (uint32_t)block->first + i;
    hand_over(pass);
}

/* Passes on a full block without a copy. */
static void pass_block(batch_pass *pass, uint64_t first, const float *const position[CLOUD_POSITION_COLUMNS])
{
    caromi_cloud_batch *batch = &pass->batch;
    hand_over(pass);
    batch->count = CAROMI_CLOUD_BLOCK;
    for (int k = 0; k < CLOUD_POSITION_COLUMNS; k++)
        batch->position[k] = position[k];
    for (uint32_t i = 0; i < CAROMI_CLOUD_BLOCK; i++)
        batch->index[i] = (uint32_t)first + i;
    pass->use(pass->user, batch);
    batch->count = 0;
}

/* Passes on spheres [first, first + count) from the slice's cache. */
static void add_cached(batch_pass *pass, uint64_t first, uint32_t count)
{
    const float *position[CLOUD_POSITION_COLUMNS];
    uint32_t in_slice = 0;
    for (int k = 0; k < CLOUD_POSITION_COLUMNS; k++)
        position[k] = pass->slice->position[k] + first;
    for (uint32_t i = 0; i < count; i++)
        in_slice += position[CLOUD_REACH][i] >= 0;
    if (in_slice == CAROMI_CLOUD_BLOCK) {
        pass_block(pass, first, position);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        const caromi_cloud_position sphere = {{position[0][i], position[1][i], position[2][i]},
                                              position[CLOUD_REACH][i]};
        if (sphere.reach >= 0)
            add_one(pass, first + i, &sphere);
    }
}

/* Reads the spheres block by block. Blocks without invalid spheres are passed on as they are. */
void caromi_cloud_each_batch(const caromi_cloud *cloud, const caromi_cloud_slice *slice, caromi_pass pass,
                             uint64_t begin, uint64_t end, caromi_cloud_use_fn *use, void *user)
{
    batch_pass reader;
    caromi_cloud_block block;
    const int is_instant = caromi_slice_is_instant(slice);
    reader.cloud = cloud;
    reader.slice = slice;
    reader.use = use;
    reader.user = user;
    reader.batch.count = 0;
    for (uint64_t at = begin; at < end; at += CAROMI_CLOUD_BLOCK) {
        if (slice->position[0] != NULL) { /* bounding spheres are cached */
            if (pass == CAROMI_FIRST_PASS) {
                caromi_cloud_read(cloud, at, end, &block);
                cache_positions(&reader, &block);
            }
            add_cached(&reader, at, end - at < CAROMI_CLOUD_BLOCK ? (uint32_t)(end - at) : CAROMI_CLOUD_BLOCK);
            continue;
        }
        caromi_cloud_read(cloud, at, end, &block);
        if (is_instant && block.valid == CAROMI_CLOUD_BLOCK)
            pass_block(&reader, at, block.in);
        else if (is_instant && block.valid == block.count)
            copy_block(&reader, &block);
        else
            add_block(&reader, &block);
    }
    hand_over(&reader);
}
