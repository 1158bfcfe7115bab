/* SPDX-License-Identifier: MIT */
/* Boxes and radii as a refit stores them in nodes and leaves: the same vertices give the same bits. */
#ifndef CAROM_HOST_BVH_BOXES_H
#define CAROM_HOST_BVH_BOXES_H
#include "bvh.h"

/* The least of so many numbers, 8 or 16, in four lanes that are still to be compared; and the largest. */
static inline bvh_vec bvh_row_min(const float *row, int count)
{
    bvh_vec quarters[4];
    memcpy(quarters, row, 2 * sizeof *quarters);
    const bvh_vec low = bvh_min(quarters[0], quarters[1]);
    if (count == 8)
        return low;
    memcpy(quarters + 2, row + 8, 2 * sizeof *quarters);
    return bvh_min(low, bvh_min(quarters[2], quarters[3]));
}

static inline bvh_vec bvh_row_max(const float *row, int count)
{
    bvh_vec quarters[4];
    memcpy(quarters, row, 2 * sizeof *quarters);
    const bvh_vec low = bvh_max(quarters[0], quarters[1]);
    if (count == 8)
        return low;
    memcpy(quarters + 2, row + 8, 2 * sizeof *quarters);
    return bvh_max(low, bvh_max(quarters[2], quarters[3]));
}

static inline float bvh_lanes_min(bvh_vec v)
{
    const float a = v[0] < v[1] ? v[0] : v[1], b = v[2] < v[3] ? v[2] : v[3];
    return a < b ? a : b;
}

static inline float bvh_lanes_max(bvh_vec v)
{
    const float a = v[0] > v[1] ? v[0] : v[1], b = v[2] > v[3] ? v[2] : v[3];
    return a > b ? a : b;
}

/* The box of a node; empty slots are empty boxes, which change nothing. */
static inline bvh_box bvh_node_box(const carom_mesh *mesh, uint64_t number)
{
    const caromi_node_rows node = caromi_node_at(mesh, number);
    bvh_box box = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    for (int k = 0; k < 3; k++) {
        box.lo[k] = bvh_lanes_min(bvh_row_min(node.lower[k], mesh->view.width));
        box.hi[k] = bvh_lanes_max(bvh_row_max(node.upper[k], mesh->view.width));
    }
    return box;
}

/* The box around so many points, in mesh units. */
static inline bvh_box bvh_box_of_rows(float *const rows[3], int count, float scale)
{
    bvh_box box = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    for (int k = 0; k < 3; k++) {
        box.lo[k] = bvh_scaled(bvh_lanes_min(bvh_row_min(rows[k], count)), scale);
        box.hi[k] = bvh_scaled(bvh_lanes_max(bvh_row_max(rows[k], count)), scale);
    }
    return box;
}

/* Covers the rounding errors of a bounding radius. */
#define BVH_BALL_MARGIN (1 + 0x1p-20F)

/* The largest square so far of the diagonal of a triangle's box. */
static inline void bvh_grow_diagonal(float *largest_square, const bvh_box *box)
{
    const bvh_vec size = box->hi - box->lo, squares = size * size;
    const float sum = squares[0] + squares[1] + squares[2];
    *largest_square = sum > *largest_square ? sum : *largest_square;
}

/* Half the largest diagonal of a triangle's box bounds the radius of each triangle. */
static inline float bvh_ball(float largest_square)
{
    return 0.5F * BVH_BALL_MARGIN * __builtin_sqrtf(largest_square);
}
#endif
