/* SPDX-License-Identifier: MIT */
/* The crossings of a mesh with columns of lattice nodes, on a GPU. A work-group has a column for each item. It searches
 * the hierarchy for triangles that may meet one of its columns, and lists them. A list that is long is answered: each
 * triangle has a rectangle of columns, and these pairs are solved as many at a time as there are items. Sums are made
 * by atomic additions of integers, whose order does not matter. */
#ifndef CAROM_LATTICE_COLUMNS_H
#define CAROM_LATTICE_COLUMNS_H
#include "lattice_crossing.h"
#include "lattice_rays.h"
#include "mesh_run.h"
#include "tile_queue.h"

#define COLUMNS_PIECE LATTICE_TILE /* a list with more triangles is answered */
#define COLUMNS_LIST (COLUMNS_PIECE + LATTICE_TILE)
#define COLUMNS_STEP 4 /* pairs of a triangle that are queued before some are solved */
#define COLUMNS_PAIRS (COLUMNS_STEP * LATTICE_TILE + LATTICE_TILE)

typedef struct columns_memory {
    tile_queue queue;
    real x[LATTICE_TILE], y[LATTICE_TILE]; /* coordinates of the columns */
    u32 count[2];                          /* columns along each axis */
    real corner[9][COLUMNS_LIST];
    u32 rectangle[COLUMNS_LIST]; /* first column along x, their number, and the same along y; 8 bits each */
    ushort pair[COLUMNS_PAIRS];  /* column + LATTICE_TILE * element of the list */
    u32 pair_count, unfinished;  /* triangles with more pairs */
} columns_memory;

/* A work-item and its columns. */
typedef struct columns_work {
    __local columns_memory *memory;
    mesh_frame frame;
    G const mesh_node *nodes;
    G const mesh_leaf *leaves;
    G const int *masks;
    int options;
    u32 item, share, shares; /* shares: a power of two */
    const lattice_box *box;
    lattice_rays rays; /* those of the group */
    u32 first[2];      /* the group's first column in the box */
    G int *levels;
} columns_work;

/* Computes the columns' coordinates, and narrows the rays from the box's columns to the group's. */
FN void columns_locate(columns_work *work)
{
    const lattice_box *box = work->box;
    for (int axis = 0; axis < 2; axis++) {
        const u32 left = box->count[axis] - work->first[axis], edge = 1u << box->shift[axis],
                  count = left < edge ? left : edge;
        __local real *to = axis == 0 ? work->memory->x : work->memory->y;
        work->rays.first[axis] += (real)work->first[axis];
        work->rays.end[axis] = work->rays.first[axis] + (real)count;
        if (work->item < count)
            to[work->item] = tile_coordinate(box, axis, work->first[axis] + work->item);
        if (work->item == 0)
            work->memory->count[axis] = count;
    }
    if (work->item == 0)
        work->memory->pair_count = work->memory->unfinished = 0;
}

/* ---- the list ---------------------------------------------------------------------------------------------------- */

/* The columns within a closed interval: the first, and their number. */
FN u32 columns_within(__local const real *at, u32 count, real a, real b, real c)
{
    const real low = v_min(v_min(a, b), c), high = v_max(v_max(a, b), c);
    u32 before = 0, until = 0;
    for (u32 i = 0; i < count; i++) {
        before += at[i] < low;
        until += at[i] <= high;
    }
    return before | (until > before ? until - before : 0) << 8;
}

/* Lists a triangle of a leaf if a column may cross it. */
FN void columns_test_triangle(const columns_work *work, int reference, int slot)
{
    __local columns_memory *memory = work->memory;
    G const mesh_leaf *leaf = work->leaves + MESH_LEAF_AT(reference);
    const int triangle = leaf->triangle[slot];
    if (mesh_unmasked(triangle, work->masks, reference, slot, -1, work->options)) {
        const mesh_corners corners = mesh_corners_of(leaf, reference, slot);
        const real scale = work->frame.scale;
        const u32 along_x = columns_within(memory->x, memory->count[0], corners.p0.x, corners.p1.x, corners.p2.x),
                  along_y = columns_within(memory->y, memory->count[1], corners.p0.y, corners.p1.y, corners.p2.y);
        if (along_x >> 8 != 0 && along_y >> 8 != 0 &&
            rays_keep(&work->rays, v3_mul(corners.p0, scale), v3_mul(corners.p1, scale), v3_mul(corners.p2, scale))) {
            const u32 to = atomic_inc(&memory->queue.listed);
            const real corner[9] = {corners.p0.x, corners.p0.y, corners.p0.z, corners.p1.x, corners.p1.y,
                                    corners.p1.z, corners.p2.x, corners.p2.y, corners.p2.z};
            for (int k = 0; k < 9; k++)
                memory->corner[k][to] = corner[k];
            memory->rectangle[to] = along_x | along_y << 16;
        }
    }
}

/* Keeps a child of a node if a column may meet its box. Of the leaves it keeps those of the group's share. */
FN void columns_test_child(const columns_work *work, int reference, int slot)
{
    G const mesh_node *node = work->nodes + reference;
    const int child = node->child[slot];
    const v3 lo = v3_of(node->lo_x[slot], node->lo_y[slot], node->lo_z[slot]),
             hi = v3_of(node->hi_x[slot], node->hi_y[slot], node->hi_z[slot]);
    const int is_own = child >= 0 || ((u32)MESH_LEAF_AT(child) & (work->shares - 1)) == work->share;
    if (child != 0 && is_own && rays_keep_box(&work->rays, lo, hi))
        tile_add(&work->memory->queue, child);
}

/* ---- pairs ------------------------------------------------------------------------------------------------------- */

/* The number of nodes of a column that are strictly below a crossing: by a guess, then by halving. */
FN u32 columns_below(const lattice_box *box, const v3 corner[3], int side, real x, real y)
{
    const crossing_height height = crossing_height_of(corner, x, y);
    const wide_real rise = height.common / height.normal_z,
                    guess = (corner[0].z - rise - box->origin[2]) / box->spacing - (wide_real)box->first[2];
    u32 low = 0, high = box->count[2];
    u32 next = guess > 0 ? (guess < (wide_real)(high - 1) ? (u32)ceil(guess) : high - 1) : 0, turn = 0;
    while (low < high) {
        const int is_above = crossing_is_above(corner, &height, side, x, y, tile_coordinate(box, 2, next));
        if (is_above)
            low = next + 1;
        else
            high = next;
        next = turn > 0 ? low + (high - low) / 2 : is_above ? low : high - 1;
        turn = 1;
    }
    return low;
}

/* Adds the crossing of a pair of a triangle and a column. */
FN void columns_solve(const columns_work *work, u32 pair)
{
    __local const columns_memory *memory = work->memory;
    const lattice_box *box = work->box;
    const u32 element = pair / LATTICE_TILE, column = pair % LATTICE_TILE, i = column & ((1u << box->shift[0]) - 1),
              j = column >> box->shift[0];
    const real x = memory->x[i], y = memory->y[j];
    v3 corner[3];
    for (int k = 0; k < 3; k++)
        corner[k] = v3_of(memory->corner[3 * k][element], memory->corner[3 * k + 1][element],
                          memory->corner[3 * k + 2][element]);
    const int side = crossing_of(corner, x, y);
    const u32 below = side != 0 ? columns_below(box, corner, side, x, y) : 0;
    if (below > 0)
        (void)atomic_add(work->levels + (((ulong)(below - 1) * box->count[1] + work->first[1] + j) * box->count[0] +
                                         work->first[0] + i),
                         side);
}

/* Answers up to LATTICE_TILE triangles of the list, an item for each. */
FN void columns_answer(const columns_work *work, u32 first, u32 listed)
{
    __local columns_memory *memory = work->memory;
    const u32 element = first + work->item, rectangle = element < listed ? memory->rectangle[element] : 0,
              width = rectangle >> 8 & 255, all = width * (rectangle >> 24), shift = work->box->shift[0];
    u32 next = 0, column = ((rectangle >> 16 & 255) << shift) + (rectangle & 255), along_x = 0, unfinished;
    do {
        u32 taken = all - next < COLUMNS_STEP ? all - next : COLUMNS_STEP;
        u32 to = taken > 0 ? atomic_add(&memory->pair_count, taken) : 0;
        for (; taken > 0; taken--, next++) {
            memory->pair[to++] = (ushort)(column + along_x + LATTICE_TILE * element);
            if (++along_x == width) { /* the next row */
                along_x = 0;
                column += 1u << shift;
            }
        }
        if (next < all)
            (void)atomic_inc(&memory->unfinished);
        TILE_BARRIER();
        unfinished = memory->unfinished;
        u32 left = memory->pair_count;
        while (left >= LATTICE_TILE || (unfinished == 0 && left > 0)) {
            const u32 begin = left > LATTICE_TILE ? left - LATTICE_TILE : 0;
            if (begin + work->item < left)
                columns_solve(work, memory->pair[begin + work->item]);
            left = begin;
        }
        TILE_BARRIER();
        if (work->item == 0) {
            memory->pair_count = left;
            memory->unfinished = 0;
        }
        TILE_BARRIER();
    } while (unfinished != 0);
}

/* Finds all crossings of the group's columns with its share of the leaves. A root that is a leaf is of share 0. */
FN void columns_find(const columns_work *work)
{
    __local tile_queue *queue = &work->memory->queue;
    int ends;
    tile_queue_begin(queue, work->item, work->frame.root, work->frame.root >= 0 || work->share == 0);
    do {
        while (queue->listed <= COLUMNS_PIECE && !tile_queue_is_empty(queue)) {
            const tile_step step = tile_next(queue, work->item);
            if (step.has_triangle)
                columns_test_triangle(work, step.reference, step.slot);
            if (step.has_child)
                columns_test_child(work, step.reference, step.slot);
            TILE_BARRIER();
        }
        const u32 listed = queue->listed;
        ends = tile_queue_is_empty(queue);
        for (u32 first = 0; first < listed; first += LATTICE_TILE)
            columns_answer(work, first, listed);
        TILE_BARRIER();
        if (work->item == 0)
            queue->listed = 0;
        TILE_BARRIER();
    } while (!ends);
}
#endif
