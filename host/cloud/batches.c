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
    float own[4][CAROMI_CLOUD_BLOCK];
} batch_pass;

static void hand_over(batch_pass *f)
{
    caromi_cloud_batch *b = &f->batch;
    if (b->count == 0)
        return;
    for (int k = 0; k < 4; k++) {
        for (uint32_t i = b->count; i % CAROMI_CLOUD_PADDING; i++)
            f->own[k][i] = f->own[k][b->count - 1];
        b->position[k] = f->own[k];
    }
    f->use(f->user, b);
    b->count = 0;
}

static void add_one(batch_pass *f, uint64_t index, const caromi_cloud_position *position)
{
    caromi_cloud_batch *b = &f->batch;
    const uint32_t at = b->count++;
    for (int k = 0; k < 3; k++)
        f->own[k][at] = position->at[k];
    f->own[3][at] = position->reach;
    b->index[at] = (uint32_t)index;
    if (b->count == CAROMI_CLOUD_BLOCK)
        hand_over(f);
}

/* Computes centre and reach of the bounding spheres of a block's spheres. At time 0 a sphere is its own bounding
 * sphere. */
static void find_positions(const batch_pass *f, const caromi_cloud_block *block, float *const position[4])
{
    caromi_cloud_window window = {.begin = f->slice->begin, .end = f->slice->end};
    if (caromi_slice_is_instant(f->slice)) {
        for (int k = 0; k < 4; k++)
            memcpy(position[k], block->in[k], block->count * sizeof(float));
        return;
    }
    memcpy(window.origin, f->slice->origin, sizeof window.origin);
    memcpy(window.velocity, f->slice->velocity, sizeof window.velocity);
    f->cloud->context->isa->cloud_position(block->in, &window, block->count, position);
}

static void add_block(batch_pass *f, const caromi_cloud_block *block)
{
    float own[4][CAROMI_CLOUD_BLOCK];
    float *const position[] = {own[0], own[1], own[2], own[3]};
    find_positions(f, block, position);
    for (uint32_t i = 0; i < block->count; i++) {
        const caromi_cloud_position one = {{own[0][i], own[1][i], own[2][i]}, own[3][i]};
        if (caromi_cloud_is_in(f->cloud, f->slice, block, i))
            add_one(f, block->first + i, &one);
    }
}

/* Writes the bounding spheres of a block to the slice's cache. */
static void cache_positions(batch_pass *f, const caromi_cloud_block *block)
{
    float own[4][CAROMI_CLOUD_BLOCK];
    float *const position[] = {own[0], own[1], own[2], own[3]};
    find_positions(f, block, position);
    for (uint32_t i = 0; i < block->count; i++)
        own[3][i] = caromi_cloud_is_in(f->cloud, f->slice, block, i) ? own[3][i] : -1;
    for (int k = 0; k < 4; k++)
        memcpy(f->slice->position[k] + block->first, own[k], block->count * sizeof(float));
}

/* Passes on a short block of spheres at time 0 that are all valid. */
static void copy_block(batch_pass *f, const caromi_cloud_block *block)
{
    static const int from[4] = {CLOUD_X, CLOUD_Y, CLOUD_Z, CLOUD_R};
    caromi_cloud_batch *b = &f->batch;
    hand_over(f);
    b->count = block->count;
    for (int k = 0; k < 4; k++)
        memcpy(f->own[k], block->in[from[k]], block->count * sizeof(float));
    for (uint32_t i = 0; i < block->count; i++)
        b->index[i] = (uint32_t)block->first + i;
    hand_over(f);
}

/* Passes on a full block without a copy. */
static void pass_block(batch_pass *f, uint64_t first, const float *const position[4])
{
    caromi_cloud_batch *b = &f->batch;
    hand_over(f);
    b->count = CAROMI_CLOUD_BLOCK;
    for (int k = 0; k < 4; k++)
        b->position[k] = position[k];
    for (uint32_t i = 0; i < CAROMI_CLOUD_BLOCK; i++)
        b->index[i] = (uint32_t)first + i;
    f->use(f->user, b);
    b->count = 0;
}

/* Passes on spheres [first, first + count) from the slice's cache. */
static void add_cached(batch_pass *f, uint64_t first, uint32_t count)
{
    const float *position[4];
    uint32_t in = 0;
    for (int k = 0; k < 4; k++)
        position[k] = f->slice->position[k] + first;
    for (uint32_t i = 0; i < count; i++)
        in += position[3][i] >= 0;
    if (in == CAROMI_CLOUD_BLOCK) {
        pass_block(f, first, position);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        const caromi_cloud_position one = {{position[0][i], position[1][i], position[2][i]}, position[3][i]};
        if (one.reach >= 0)
            add_one(f, first + i, &one);
    }
}

void caromi_cloud_each_batch(const caromi_cloud *cloud, const caromi_cloud_slice *slice, int is_first, uint64_t begin,
                             uint64_t end, caromi_cloud_use_fn *use, void *user)
{
    batch_pass f;
    caromi_cloud_block block;
    const int is_plain = caromi_slice_is_instant(slice);
    f.cloud = cloud;
    f.slice = slice;
    f.use = use;
    f.user = user;
    f.batch.count = 0;
    for (uint64_t at = begin; at < end; at += CAROMI_CLOUD_BLOCK) {
        if (slice->position[0] != NULL) {
            if (is_first) {
                caromi_cloud_read(cloud, at, end, &block);
                cache_positions(&f, &block);
            }
            add_cached(&f, at, end - at < CAROMI_CLOUD_BLOCK ? (uint32_t)(end - at) : CAROMI_CLOUD_BLOCK);
            continue;
        }
        caromi_cloud_read(cloud, at, end, &block);
        if (is_plain && block.valid == CAROMI_CLOUD_BLOCK)
            pass_block(&f, at, block.in);
        else if (is_plain && block.valid == block.count)
            copy_block(&f, &block);
        else
            add_block(&f, &block);
    }
    hand_over(&f);
}
