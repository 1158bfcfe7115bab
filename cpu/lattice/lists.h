/* SPDX-License-Identifier: MIT */
/* Culling for a block of nodes: lists of the boxes of the hierarchy that can matter to it (the frontier), then of the
 * triangles. */
#ifndef CAROM_CPU_LATTICE_LISTS_H
#define CAROM_CPU_LATTICE_LISTS_H
#include <math.h>

#include "kernels/lattice_block.h"
#include "lattice.h"

enum {
    LATTICE_LEVELS = 5,                      /* blocks of 32, 16, 8, 4 and 2 nodes along an edge */
    LATTICE_BOXES = 2048,                    /* most boxes of a frontier */
    LATTICE_TRIANGLES = 16384,               /* most triangles of a list */
    LATTICE_TRIANGLE_COLUMNS = 10,           /* nine coordinates of corners, and the index */
    LATTICE_STRIDE = LATTICE_TRIANGLES + 16, /* of its columns, with LANES more elements that v_compress may store */
    LATTICE_PENDING = 512                    /* nodes of the hierarchy to visit */
};

/* ---- lists ------------------------------------------------------------------------------------------------------- */

/* Boxes with references to nodes and leaves. Columns have LANES more elements that v_compress may store. */
typedef struct lattice_frontier {
    real lo[3][LATTICE_BOXES + 16], hi[3][LATTICE_BOXES + 16];
    real reference[LATTICE_BOXES + 16]; /* bits of an int */
    int count, overflows;
} lattice_frontier;

/* Triangles of a smallest block, in columns. */
typedef struct lattice_triangles {
    real corner[LATTICE_TRIANGLE_COLUMNS][LATTICE_STRIDE]; /* in the caller's unit; the index as bits of an int */
    real sample[LATTICE_ROWS][LATTICE_STRIDE];             /* rows of the filter: lattice_filter_rows() */
    int count, overflows;
} lattice_triangles;

/* Compaction: appends the lanes of a bitmask, for each of `count` rows that are `stride` apart. */
FN void lattice_append(real *to, int stride, const vf *rows, int count, u32 lanes)
{
#ifdef LANG_HAS_COMPRESS
    v_compress(to, stride, rows, count, lanes);
#else
    real values[LANES];
    for (int row = 0; row < count; row++) {
        v_store(values, rows[row]);
        real *out = to + row * stride;
        for (u32 left = lanes; left != 0; left &= left - 1)
            *out++ = values[bitmask_first(left)];
    }
#endif
}

/* Appends the boxes in the bitmask, or notes that they do not fit. */
FN void lattice_push(lattice_frontier *to, v3 lo, v3 hi, vf reference, u32 lanes)
{
    const int count = bitmask_count(lanes);
    if (to->count + count > LATTICE_BOXES) {
        to->overflows = 1;
        return;
    }
    const vf rows[] = {lo.x, lo.y, lo.z, hi.x, hi.y, hi.z, reference};
    lattice_append(&to->lo[0][to->count], LATTICE_BOXES + 16, rows, sizeof rows / sizeof *rows, lanes);
    to->count += count;
}

/* Lanes of boxes that are inner nodes and larger than `limit` along an axis: their children replace them. */
FN u32 lattice_large(v3 lo, v3 hi, vf reference, real limit)
{
    const vf extent = v_max(v_max(hi.x - lo.x, hi.y - lo.y), hi.z - lo.z);
    return v_bitmask(v_and(v_gt(extent, v_f(limit)), vi_gt(v_bits(reference), v_i(-1))));
}

/* Stack of nodes of the hierarchy whose children are to be tested. */
typedef struct lattice_pending {
    int node[LATTICE_PENDING];
    int count;
} lattice_pending;

/* Appends the boxes of `lanes` that matter to `to`, or the large ones to `pending`. */
FN void lattice_filter_boxes(const lattice_block *block, v3 lo, v3 hi, vf reference, u32 lanes, real limit,
                             lattice_frontier *to, lattice_pending *pending)
{
    int references[LANES];
    lanes &= v_bitmask(lattice_keeps_box(block, lo, hi));
    if (lanes == 0)
        return;
    /* Small boxes and leaves join the frontier; large boxes wait for their children to be tested. */
    const u32 large = lanes & lattice_large(lo, hi, reference, limit);
    lattice_push(to, lo, hi, reference, lanes & ~large);
    vi_store(references, v_bits(reference));
    for (u32 left = large; left != 0; left &= left - 1) {
        if (pending->count == LATTICE_PENDING) {
            to->overflows = 1;
            return;
        }
        pending->node[pending->count++] = references[bitmask_first(left)];
    }
}

/* Bitmask of the first `count` lanes. */
FN u32 lattice_first_lanes(int count)
{
    return count >= LANES ? (u32)((1ull << LANES) - 1) : (1u << count) - 1;
}

/* Lower and upper corners of LANES boxes from `at` on. */
FN v3 lattice_low(const lattice_frontier *frontier, int at)
{
    return v3_of(v_load(frontier->lo[0] + at), v_load(frontier->lo[1] + at), v_load(frontier->lo[2] + at));
}
FN v3 lattice_high(const lattice_frontier *frontier, int at)
{
    return v3_of(v_load(frontier->hi[0] + at), v_load(frontier->hi[1] + at), v_load(frontier->hi[2] + at));
}

/* Fills the last LANES with copies of the last box. */
FN void lattice_pad(lattice_frontier *frontier)
{
    for (int i = frontier->count; frontier->count > 0 && i % LANES != 0; i++) {
        for (int k = 0; k < 3; k++) {
            frontier->lo[k][i] = frontier->lo[k][frontier->count - 1];
            frontier->hi[k][i] = frontier->hi[k][frontier->count - 1];
        }
        frontier->reference[i] = frontier->reference[frontier->count - 1];
    }
}

/* The boxes of `from` that matter to a block, those larger than `limit` replaced by their children. If there are too
 * many, `to` overflows, and the block's parts use `from`, too. */
static void lattice_filter(const lattice_block *block, const mesh_node *nodes, const lattice_frontier *from, real limit,
                           lattice_frontier *to)
{
    lattice_pending pending;
    pending.count = to->count = to->overflows = 0;
    for (int i = 0; i < from->count && !to->overflows; i += LANES) {
        lattice_filter_boxes(block, lattice_low(from, i), lattice_high(from, i), v_load(from->reference + i),
                             lattice_first_lanes(from->count - i), limit, to, &pending);
        while (pending.count > 0 && !to->overflows) {
            /* A large box: its children are filtered in its place. */
            const mesh_node *node = nodes + pending.node[--pending.count];
            for (int lane = 0; lane < MESH_WIDTH; lane += LANES) {
                const v3 lo = v3_of(v_load(node->lo_x + lane), v_load(node->lo_y + lane), v_load(node->lo_z + lane));
                const v3 hi = v3_of(v_load(node->hi_x + lane), v_load(node->hi_y + lane), v_load(node->hi_z + lane));
                const vi child = mesh_load_int(node->child + lane);
                lattice_filter_boxes(block, lo, hi, v_from_bits(child), v_bitmask(v_not(vi_eq(child, v_i(0)))), limit,
                                     to, &pending);
            }
        }
    }
    lattice_pad(to);
}

/* The triangles of a leaf that matter. */
static void lattice_collect_leaf(const lattice_block *block, const caromi_lattice_tile *tile, int reference,
                                 lattice_triangles *to)
{
    const mesh_leaf *leaf = mesh_leaf_at(tile->mesh, reference);
    const vf scale = v_f(tile->mesh->frame.scale);
    for (int lane = 0; lane < MESH_WIDTH; lane += LANES) {
        const mesh_corners corners = mesh_corners_of(leaf, reference, lane);
        const vi triangle = mesh_load_int(leaf->triangle + lane);
        const v3 p0 = v3_mul(corners.p0, scale), p1 = v3_mul(corners.p1, scale), p2 = v3_mul(corners.p2, scale);
        const u32 lanes =
            v_bitmask(v_and(mesh_unmasked(triangle, tile->mesh->masks, reference, lane, -1, tile->options),
                            lattice_keeps_triangle(block, p0, p1, p2)));
        const int count = bitmask_count(lanes);
        if (to->count + count > LATTICE_TRIANGLES) {
            to->overflows = 1;
            return;
        }
        const vf rows[] = {corners.p0.x, corners.p0.y, corners.p0.z, corners.p1.x, corners.p1.y,
                           corners.p1.z, corners.p2.x, corners.p2.y, corners.p2.z, v_from_bits(triangle)};
        lattice_append(&to->corner[0][to->count], LATTICE_STRIDE, rows, LATTICE_TRIANGLE_COLUMNS, lanes);
        to->count += count;
    }
}

/* The triangles that matter to a block, from the leaves below its frontier. */
static void lattice_collect(const lattice_block *block, const caromi_lattice_tile *tile, const lattice_frontier *from,
                            lattice_triangles *to)
{
    lattice_pending pending;
    to->count = to->overflows = 0;
    for (int i = 0; i < from->count && !to->overflows; i++) {
        pending.count = 1;
        pending.node[0] = (int)real_bits(from->reference[i]);
        while (pending.count > 0 && !to->overflows) {
            /* A leaf has its triangles collected, a node its children tested. */
            const int next = pending.node[--pending.count];
            if (next < 0) {
                lattice_collect_leaf(block, tile, next, to);
                continue;
            }
            const mesh_node *node = mesh_node_at(tile->mesh, next);
            for (int lane = 0; lane < MESH_WIDTH; lane += LANES) {
                const v3 lo = v3_of(v_load(node->lo_x + lane), v_load(node->lo_y + lane), v_load(node->lo_z + lane));
                const v3 hi = v3_of(v_load(node->hi_x + lane), v_load(node->hi_y + lane), v_load(node->hi_z + lane));
                const vi child = mesh_load_int(node->child + lane);
                u32 left = v_bitmask(v_and(v_not(vi_eq(child, v_i(0))), lattice_keeps_box(block, lo, hi)));
                for (; left != 0; left &= left - 1)
                    if (pending.count < LATTICE_PENDING)
                        pending.node[pending.count++] = node->child[lane + bitmask_first(left)];
                    else
                        to->overflows = 1;
            }
        }
    }
}

/* Corners of LANES triangles of a list, in the mesh's unit. */
FN mesh_corners lattice_corners(const lattice_triangles *list, int at, vf scale)
{
    mesh_corners corners;
    corners.p0 =
        v3_mul(v3_of(v_load(list->corner[0] + at), v_load(list->corner[1] + at), v_load(list->corner[2] + at)), scale);
    corners.p1 =
        v3_mul(v3_of(v_load(list->corner[3] + at), v_load(list->corner[4] + at), v_load(list->corner[5] + at)), scale);
    corners.p2 =
        v3_mul(v3_of(v_load(list->corner[6] + at), v_load(list->corner[7] + at), v_load(list->corner[8] + at)), scale);
    return corners;
}

/* Fills in the samples of a list. The columns are padded with the last triangle. */
static void lattice_set_samples(const lattice_block *block, real scale, lattice_triangles *list)
{
    for (int first = list->count; first % LANES != 0; first++)
        for (int column = 0; column < LATTICE_TRIANGLE_COLUMNS; column++)
            list->corner[column][first] = list->corner[column][list->count - 1];
    for (int first = 0; first < list->count; first += LANES) {
        const mesh_corners corners = lattice_corners(list, first, v_f(scale));
        vf rows[LATTICE_ROWS];
        lattice_filter_rows(block, corners.p0, corners.p1, corners.p2, rows);
        LANG_UNROLL
        for (int column = 0; column < LATTICE_ROWS; column++)
            v_store(list->sample[column] + first, rows[column]);
    }
}
#endif
