/* SPDX-License-Identifier: MIT */
/* Spheres and their images as they go into cells, some at a time. */
#include <math.h>
#include <string.h>

#include "cloud.h"

/* Images are along axes that have a period. */
static int is_image(const caromi_cloud *cloud, int image)
{
    for (int k = 0; k < 3; k++)
        if (caromi_image_step(image, k) && !(cloud->period[k] > 0))
            return 0;
    return 1;
}

/* An image counts if it may touch a sphere: only near the bounds of them all. */
static int image_counts(const caromi_cloud *cloud, const caromi_cloud_extent *extent, int image,
                        const caromi_cloud_place *place)
{
    const double off = ((double)place->reach + (double)extent->largest + (double)cloud->margin) * (1 + 0x1p-14);
    for (int k = 0; k < 3; k++) {
        const double at = (double)place->at[k], slack = off + fabs(at) * 0x1p-20;
        if (image != CAROMI_IMAGE_OWN && (at + slack < extent->low[k] || at - slack > extent->high[k]))
            return 0;
    }
    return 1;
}

typedef struct feed {
    const caromi_cloud *cloud;
    const caromi_cloud_slice *slice;
    const caromi_cloud_extent *extent; /* NULL: images are not wanted */
    caromi_cloud_use_fn *use;
    void *user;
    caromi_cloud_batch batch;
    float own[4][CAROMI_CLOUD_BLOCK];
} feed;

static void hand_over(feed *f)
{
    caromi_cloud_batch *b = &f->batch;
    if (b->count == 0)
        return;
    for (int k = 0; k < 4; k++) {
        for (uint32_t i = b->count; i % CAROMI_CLOUD_PADDING; i++)
            f->own[k][i] = f->own[k][b->count - 1];
        b->place[k] = f->own[k];
    }
    f->use(f->user, b);
    b->count = 0;
}

static void add_one(feed *f, uint64_t index, int image, const caromi_cloud_place *place)
{
    caromi_cloud_batch *b = &f->batch;
    const uint32_t at = b->count++;
    for (int k = 0; k < 3; k++)
        f->own[k][at] = place->at[k];
    f->own[3][at] = place->reach;
    b->index[at] = (uint32_t)index;
    b->image[at] = (uint8_t)image;
    if (b->count == CAROMI_CLOUD_BLOCK)
        hand_over(f);
}

enum { GROUP = CAROMI_CLOUD_PADDING };
typedef float group_places[4][GROUP];

/* Places of `count` spheres of a block from `from` on, shifted to an image. At time 0 a sphere itself is at its centre.
 */
static void find_places(const feed *f, const caromi_cloud_block *block, uint32_t from, uint32_t count, int image,
                        float *const place[4])
{
    const float *in[CLOUD_COLUMNS];
    caromi_cloud_window window = {.begin = f->slice->begin, .end = f->slice->end};
    if (caromi_slice_is_instant(f->slice) && image == CAROMI_IMAGE_OWN) {
        for (int k = 0; k < 4; k++)
            memcpy(place[k], block->in[k] + from, count * sizeof(float));
        return;
    }
    for (int c = 0; c < CLOUD_COLUMNS; c++)
        in[c] = block->in[c] + from;
    for (int k = 0; k < 3; k++) {
        window.origin[k] = f->slice->origin[k];
        window.velocity[k] = f->slice->velocity[k];
        window.shift[k] = caromi_image_step(image, k) * (double)f->cloud->period[k];
    }
    f->cloud->context->isa->cloud_within(in, &window, count, place);
}

/* A few spheres of a block, and those of their images that count. */
static void add_group(feed *f, const caromi_cloud_block *block, uint32_t from, uint32_t count)
{
    const int periodic = f->extent != NULL && caromi_cloud_is_periodic(f->cloud);
    const int first = periodic ? 0 : CAROMI_IMAGE_OWN, last = periodic ? CAROMI_IMAGES - 1 : CAROMI_IMAGE_OWN;
    group_places places[CAROMI_IMAGES];
    for (int image = first; image <= last; image++) {
        float *const to[] = {places[image][0], places[image][1], places[image][2], places[image][3]};
        if (is_image(f->cloud, image))
            find_places(f, block, from, count, image, to);
    }
    for (uint32_t i = 0; i < count; i++)
        for (int image = first; caromi_cloud_is_in(f->cloud, f->slice, block, from + i) && image <= last; image++) {
            const group_places *at = &places[image];
            const caromi_cloud_place place = {{(*at)[0][i], (*at)[1][i], (*at)[2][i]}, (*at)[3][i]};
            if (is_image(f->cloud, image) && (!periodic || image_counts(f->cloud, f->extent, image, &place)))
                add_one(f, block->first + from + i, image, &place);
        }
}

static void add_block(feed *f, const caromi_cloud_block *block)
{
    for (uint32_t i = 0; i < block->count; i += GROUP)
        add_group(f, block, i, block->count - i < GROUP ? block->count - i : GROUP);
}

/* Keeps the places of a block for the next time. */
static void keep_places(feed *f, const caromi_cloud_block *block)
{
    float own[4][CAROMI_CLOUD_BLOCK];
    float *const place[] = {own[0], own[1], own[2], own[3]};
    find_places(f, block, 0, block->count, CAROMI_IMAGE_OWN, place);
    for (uint32_t i = 0; i < block->count; i++)
        own[3][i] = caromi_cloud_is_in(f->cloud, f->slice, block, i) ? own[3][i] : -1;
    for (int k = 0; k < 4; k++)
        memcpy(f->slice->place[k] + block->first, own[k], block->count * sizeof(float));
}

/* A block of valid spheres at time 0. */
static void copy_block(feed *f, const caromi_cloud_block *block)
{
    static const int from[4] = {CLOUD_X, CLOUD_Y, CLOUD_Z, CLOUD_R};
    caromi_cloud_batch *b = &f->batch;
    hand_over(f);
    b->count = block->count;
    for (int k = 0; k < 4; k++)
        memcpy(f->own[k], block->in[from[k]], block->count * sizeof(float));
    for (uint32_t i = 0; i < block->count; i++)
        b->index[i] = (uint32_t)block->first + i;
    memset(b->image, CAROMI_IMAGE_OWN, block->count);
    hand_over(f);
}

/* A full block, as it lies in columns. */
static void pass_block(feed *f, uint64_t first, const float *const place[4])
{
    caromi_cloud_batch *b = &f->batch;
    hand_over(f);
    b->count = CAROMI_CLOUD_BLOCK;
    for (int k = 0; k < 4; k++)
        b->place[k] = place[k];
    for (uint32_t i = 0; i < CAROMI_CLOUD_BLOCK; i++)
        b->index[i] = (uint32_t)first + i;
    memset(b->image, CAROMI_IMAGE_OWN, sizeof b->image);
    f->use(f->user, b);
    b->count = 0;
}

/* Spheres [first, first + count) at the places that have been kept. */
static void add_kept(feed *f, uint64_t first, uint32_t count)
{
    const float *place[4];
    uint32_t in = 0;
    for (int k = 0; k < 4; k++)
        place[k] = f->slice->place[k] + first;
    for (uint32_t i = 0; i < count; i++)
        in += place[3][i] >= 0;
    if (in == CAROMI_CLOUD_BLOCK) {
        pass_block(f, first, place);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        const caromi_cloud_place one = {{place[0][i], place[1][i], place[2][i]}, place[3][i]};
        if (one.reach >= 0)
            add_one(f, first + i, CAROMI_IMAGE_OWN, &one);
    }
}

void caromi_cloud_feed(const caromi_cloud *cloud, const caromi_cloud_slice *slice, const caromi_cloud_extent *extent,
                       uint64_t begin, uint64_t end, caromi_cloud_use_fn *use, void *user)
{
    feed f;
    caromi_cloud_block block;
    const int is_plain = caromi_slice_is_instant(slice) && (extent == NULL || !caromi_cloud_is_periodic(cloud));
    f.cloud = cloud;
    f.slice = slice;
    f.extent = extent;
    f.use = use;
    f.user = user;
    f.batch.count = 0;
    for (uint64_t at = begin; at < end; at += CAROMI_CLOUD_BLOCK) {
        if (slice->place[0] != NULL) {
            if (extent == NULL) {
                caromi_cloud_read(cloud, at, end, &block);
                keep_places(&f, &block);
            }
            add_kept(&f, at, end - at < CAROMI_CLOUD_BLOCK ? (uint32_t)(end - at) : CAROMI_CLOUD_BLOCK);
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
