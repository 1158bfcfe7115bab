/* SPDX-License-Identifier: MIT */
/* Sign rule `robust` on an open mesh. The crossings of mesh and closing give a whole number for each node, the winding
 * number of both; the node is inside if that is at least 1/2 away from the winding number of the closing. Blocks of
 * nodes get the whole number nearest to the latter, if bounds prove it for all of them; nearly always it is 0, and the
 * bits that the crossings gave are right. Blocks that bounds do not decide are divided. */
#include <math.h>
#include <string.h>

#include "host/mesh/closing.h"
#include "inside.h"

enum {
    BLOCK = 32,      /* nodes along the edge of the largest blocks */
    SMALLEST = 2,    /* of the smallest; their nodes are decided one by one */
    UNDECIDED = 127, /* offset of nodes that are decided one by one */
    OFFSET_MOST = 126
};

/* The user of the tasks. */
typedef struct robust_job {
    const caromi_inside *inside;
} robust_job;

/* Nodes [first, end) of a group along each axis. */
typedef struct node_block {
    uint64_t first[3], end[3];
} node_block;

static int8_t *offsets_at(const caromi_inside *inside, uint64_t i, uint64_t j, uint64_t level)
{
    return inside->offset + (level * inside->batch->lattice.dims[1] + j) * inside->batch->lattice.dims[0] + i;
}

static void set_offsets(const caromi_inside *inside, const node_block *block, int offset)
{
    for (uint64_t level = block->first[2]; level < block->end[2]; level++)
        for (uint64_t j = block->first[1]; j < block->end[1]; j++)
            memset(offsets_at(inside, block->first[0], j, level), offset, block->end[0] - block->first[0]);
}

/* A ball around a block's nodes. Coordinates do not fall from one node to the next. */
static double ball_of(const caromi_inside *inside, const node_block *block, double center[3])
{
    const float *const at[] = {inside->x, inside->y, inside->z};
    double square = 0;
    for (int axis = 0; axis < 3; axis++) {
        const double low = (double)at[axis][block->first[axis]],
                     half = ((double)at[axis][block->end[axis] - 1] - low) / 2;
        center[axis] = low + half;
        square += half * half;
    }
    return sqrt(square) * (1 + 0x1p-40) + 0x1p-50 * (fabs(center[0]) + fabs(center[1]) + fabs(center[2]));
}

/* Finds the offsets of a block's nodes; divides it along the axes on which it is longest. */
static void find_offsets(const caromi_inside *inside, const node_block *block)
{
    if (caromi_watch_look(inside->batch->mesh->context->watch))
        return;
    double center[3];
    const double radius = ball_of(inside, block, center);
    int offset;
    uint64_t longest = 0;
    if (caromi_closing_decides(caromi_closing_around(inside->closing, center, radius), &offset) &&
        offset <= OFFSET_MOST && offset >= -OFFSET_MOST) {
        set_offsets(inside, block, offset);
        return;
    }
    for (int axis = 0; axis < 3; axis++) {
        const uint64_t length = block->end[axis] - block->first[axis];
        longest = length > longest ? length : longest;
    }
    if (longest <= SMALLEST) {
        set_offsets(inside, block, UNDECIDED);
        return;
    }
    const uint64_t edge = (longest + 1) / 2;
    for (int part = 0; part < 8; part++) {
        node_block child = *block;
        int is_empty = 0;
        for (int axis = 0; axis < 3; axis++) {
            const uint64_t middle = block->first[axis] + edge, end = block->end[axis],
                           cut = middle < end ? middle : end;
            if (part >> axis & 1)
                child.first[axis] = cut;
            else
                child.end[axis] = cut;
            is_empty = is_empty || child.first[axis] == child.end[axis];
        }
        if (!is_empty)
            find_offsets(inside, &child);
    }
}

/* Task: the offsets of a pillar of blocks. */
static void find_pillar(void *user, uint64_t task, uint32_t thread)
{
    const caromi_inside *inside = ((const robust_job *)user)->inside;
    const uint64_t *dims = inside->batch->lattice.dims, along = (dims[0] + BLOCK - 1) / BLOCK;
    node_block block = {.first = {task % along * BLOCK, task / along * BLOCK, 0}};
    (void)thread;
    for (int axis = 0; axis < 2; axis++)
        block.end[axis] = block.first[axis] + BLOCK < dims[axis] ? block.first[axis] + BLOCK : dims[axis];
    for (; block.first[2] < inside->count; block.first[2] += BLOCK) {
        block.end[2] = block.first[2] + BLOCK < inside->count ? block.first[2] + BLOCK : inside->count;
        find_offsets(inside, &block);
    }
}

/* Decides the nodes of a column that have an offset, by the crossings at each of them. */
static void decide_column(const caromi_inside *inside, uint32_t thread, uint64_t i, uint64_t j)
{
    const int32_t *levels = caromi_cross_column(inside, thread, i, j);
    caromi_watch *watch = inside->batch->mesh->context->watch;
    int32_t sum = 0;
    for (uint64_t level = inside->count; level-- > 0 && !caromi_watch_look(watch);) {
        const int offset = *offsets_at(inside, i, j, level);
        const float place[] = {inside->x[i], inside->y[j], inside->z[level]};
        sum += levels[level];
        if (offset == 0)
            continue;
        uint32_t *word = inside->bits + (level * inside->batch->lattice.dims[1] + j) * inside->words + i / 32;
        const int is_inside = offset == UNDECIDED ? caromi_closing_inside(inside->closing, place, sum) : sum != offset;
        *word = (*word & ~(1u << i % 32)) | (uint32_t)is_inside << i % 32;
    }
}

/* Task: decides the nodes of a row's columns. */
static void decide_row(void *user, uint64_t task, uint32_t thread)
{
    const caromi_inside *inside = ((const robust_job *)user)->inside;
    for (uint64_t i = 0; i < inside->batch->lattice.dims[0]; i++) {
        uint64_t level = 0;
        while (level < inside->count && *offsets_at(inside, i, task, level) == 0)
            level++;
        if (level < inside->count)
            decide_column(inside, thread, i, task);
    }
}

void caromi_robust_group(const caromi_inside *inside)
{
    caromi_pool *pool = inside->batch->mesh->context->pool;
    const uint64_t *dims = inside->batch->lattice.dims;
    robust_job job = {inside};
    caromi_parallel(pool, ((dims[0] + BLOCK - 1) / BLOCK) * ((dims[1] + BLOCK - 1) / BLOCK), find_pillar, &job);
    caromi_parallel(pool, dims[1], decide_row, &job);
}
