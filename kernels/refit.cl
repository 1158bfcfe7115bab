/* SPDX-License-Identifier: MIT */
/* The refit of a mesh on a GPU (host/bvh/refit.c is that of the CPU), to vertices in memory of the device: the same
 * bits in leaves and nodes. The host names the kernel that it builds, and runs them in this order: move, measure,
 * frame, leaves, nodes once for each level from the lowest upwards, end. From `leaves` on they do nothing if a vertex
 * is refused. */
#include "refit.h"
#include "mesh_nodes.h"
#include "resident.h"

/* Unsigned integers in the order of the numbers. */
FN uint refit_ordered(real x)
{
    const uint bits = as_uint(x);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}
FN real refit_number(uint ordered)
{
    return as_float(ordered & 0x80000000u ? ordered & 0x7fffffffu : ~ordered);
}
FN uint refit_is_finite(real x)
{
    return (as_uint(x) & 0x7f800000u) != 0x7f800000u ? 1 : 0;
}

/* Scales an extreme coordinate into mesh units, -0 into 0. */
FN real refit_scaled(real extreme, real scale)
{
    const uint bits = as_uint(extreme * scale);
    return as_float((bits & 0x7fffffffu) != 0 ? bits : 0u);
}

FN real refit_area(real x, real y, real z)
{
    return x * y + y * z + z * x;
}

/* The least or largest of 16 numbers. Zeros of both signs may be taken for each other. */
FN real refit_extreme_of(__local const real *row, uint is_upper)
{
    real extreme = row[0];
    for (uint i = 1; i < MESH_WIDTH; i++)
        extreme = (is_upper ? row[i] > extreme : row[i] < extreme) ? row[i] : extreme;
    return extreme;
}
/* The same for one of the rows lo_x, lo_y, lo_z, hi_x, hi_y, hi_z of a node, which hold no -0. */
FN real refit_extreme_in(__global const real *box, uint row)
{
    real extreme = box[MESH_WIDTH * row];
    for (uint i = 1; i < MESH_WIDTH; i++) {
        const real x = box[MESH_WIDTH * row + i];
        extreme = (row >= 3 ? x > extreme : x < extreme) ? x : extreme;
    }
    return extreme;
}

#ifdef KERNEL_refit_move
/* Copies the caller's vertices. */
__kernel void carom_refit_move(__global const uchar *x, ulong x_at, __global const uchar *y, ulong y_at,
                               __global const uchar *z, ulong z_at, ulong stride, __global uint *to, uint vertices,
                               uint items)
{
    REFIT_FOR_EACH(i, vertices)
    {
        to[3 * i] = resident_load(x, x_at + i * stride);
        to[3 * i + 1] = resident_load(y, y_at + i * stride);
        to[3 * i + 2] = resident_load(z, z_at + i * stride);
    }
    (void)items;
}
#endif

#ifdef KERNEL_refit_measure
/* Bounds of the triangles' corners, and whether all are finite. */
__kernel void carom_refit_measure(__global const real *vertex, __global const uint *index, uint triangles,
                                  __global refit_work *work, uint items)
{
    volatile __local uint all[7];
    uint above[3] = {0, 0, 0}, below[3] = {0, 0, 0}, refused = 0;
    for (uint k = (uint)get_local_id(0); k < 7; k += (uint)get_local_size(0))
        all[k] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    REFIT_FOR_EACH(t, triangles)
    {
        uint finite = 1;
        for (uint corner = 0; corner < 3; corner++) {
            const ulong from = 3 * (ulong)index[3 * t + corner];
            for (uint k = 0; k < 3; k++) {
                const real at = vertex[from + k];
                finite &= refit_is_finite(at);
                above[k] = max(above[k], refit_ordered(at));
                below[k] = max(below[k], ~refit_ordered(at));
            }
        }
        refused = finite ? refused : max(refused, ~(uint)t);
    }
    for (uint k = 0; k < 3; k++) {
        atomic_max(&all[k], above[k]);
        atomic_max(&all[3 + k], below[k]);
    }
    atomic_max(&all[6], refused);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = (uint)get_local_id(0); k < 3; k += (uint)get_local_size(0)) {
        atomic_max(&work->measure.above[k], all[k]);
        atomic_max(&work->measure.below[k], all[3 + k]);
    }
    if (get_local_id(0) == 0)
        atomic_max(&work->measure.refused, all[6]);
    (void)items;
}
#endif

#ifdef KERNEL_refit_frame
/* The power of two that brings the largest coordinate into [1, 2); 2 if all are 0. As set_frame (host/mesh/mesh.c). */
FN real refit_scale_of(real largest)
{
    const int field = (int)(as_uint(largest) >> 23), exponent = largest > R(0.0) ? field - 127 : -1;
    return as_float((uint)(127 - max(-126, min(exponent, 126))) << 23);
}

/* One work-item: the result so far. Clears the measure for the next refit. */
__kernel void carom_refit_frame(__global const real *vertex, __global const uint *index, __global refit_work *work,
                                uint items)
{
    __global refit_measure *measure = &work->measure;
    __global refit_result *result = &work->result;
    real largest = R(0.0);
    (void)items;
    if (get_global_id(0) != 0)
        return;
    result->is_refused = measure->refused != 0;
    result->triangle = ~measure->refused;
    result->corner = 0;
    for (uint corner = 3; result->is_refused && corner-- > 0;) {
        const ulong from = 3 * (ulong)index[3 * (ulong)result->triangle + corner];
        if (!(refit_is_finite(vertex[from]) & refit_is_finite(vertex[from + 1]) & refit_is_finite(vertex[from + 2])))
            result->corner = corner;
    }
    for (uint k = 0; k < 3; k++) {
        const real lower = refit_number(~measure->below[k]), upper = refit_number(measure->above[k]);
        result->lower[k] = lower;
        result->upper[k] = upper;
        largest = max(largest, max(fabs(lower), fabs(upper)));
        measure->above[k] = measure->below[k] = 0;
    }
    measure->refused = 0;
    result->scale = refit_scale_of(largest);
}
#endif

#ifdef KERNEL_refit_leaves
/* A leaf while a row of 16 work-items fills it. */
typedef struct refit_leaf {
    real row[9][MESH_WIDTH]; /* x y z of an indexed leaf's vertices; of an unindexed leaf's three corners each */
    real square[MESH_WIDTH]; /* diagonal of a triangle's box, squared */
    real box[6];
    int triangle[MESH_WIDTH];
    uchar corner[3][MESH_WIDTH];
    uchar source[MESH_WIDTH]; /* of each vertex: 3 * slot + corner of its last triangle */
} refit_leaf;

/* The corner by which each vertex of an indexed leaf is known; unused vertices are copies of the last one. */
FN uint refit_source(__local refit_leaf *own, uint lane)
{
    uint source = 0, last = 0, wanted;
    for (uint at = 0; at < 3 * MESH_WIDTH; at++)
        if (own->triangle[at / 3] >= 0)
            last = max(last, (uint)own->corner[at % 3][at / 3]);
    wanted = min(lane, last);
    for (uint at = 0; at < 3 * MESH_WIDTH; at++)
        if (own->triangle[at / 3] >= 0 && own->corner[at % 3][at / 3] == wanted)
            source = at;
    return source;
}

/* The squared diagonal of the box of an indexed leaf's triangle. */
FN real refit_square(__local const refit_leaf *own, uint lane)
{
    real square[3];
    for (uint k = 0; k < 3; k++) {
        const real a = own->row[k][own->corner[0][lane]], b = own->row[k][own->corner[1][lane]],
                   c = own->row[k][own->corner[2][lane]];
        const real low = a < b ? a : b, high = a > b ? a : b, size = (c > high ? c : high) - (c < low ? c : low);
        square[k] = size * size;
    }
    return own->triangle[lane] >= 0 ? square[0] + square[1] + square[2] : R(0.0);
}

/* Row `row` of a leaf's box: lo x, y, z, hi x, y, z. */
FN real refit_box_row(__local const refit_leaf *own, uint row, uint is_unindexed, real scale)
{
    const uint k = row % 3, is_upper = row >= 3;
    real extreme = refit_scaled(refit_extreme_of(own->row[k], is_upper), scale);
    for (uint corner = 1; is_unindexed && corner < 3; corner++) {
        const real x = refit_scaled(refit_extreme_of(own->row[3 * corner + k], is_upper), scale);
        extreme = (is_upper ? x > extreme : x < extreme) ? x : extreme;
    }
    return extreme;
}

FN real refit_ball(__local const refit_leaf *own)
{
    real largest = R(0.0);
    for (uint i = 0; i < MESH_WIDTH; i++)
        largest = own->square[i] > largest ? own->square[i] : largest;
    return R(0.5) * REFIT_BALL_MARGIN * sqrt(largest);
}

/* Fills the leaves, and stores their boxes in the nodes. A row of 16 work-items has a slot of a node: one for each
 * vertex, triangle or row of the box. A mesh of one leaf has no node. area: half the surface of each slot's box. */
__kernel REFIT_WHOLE_GROUP void carom_refit_leaves(__global const real *vertex, __global const uint *index,
                                                   __global mesh_node *nodes, uint node_count,
                                                   __global mesh_leaf *leaves, int root, __global real *area,
                                                   __global const refit_work *work, uint items)
{
    __local refit_leaf filled[REFIT_SLOTS];
    const uint lane = (uint)get_local_id(0) % MESH_WIDTH, part = (uint)get_local_id(0) / MESH_WIDTH;
    const ulong slots = node_count > 0 ? (ulong)node_count * MESH_WIDTH : 1, step = get_num_groups(0) * REFIT_SLOTS;
    const real scale = work->result.scale;
    __local refit_leaf *own = &filled[part];
    (void)items;
    if (work->result.is_refused)
        return;
    for (ulong first = get_group_id(0) * REFIT_SLOTS; first < slots; first += step) {
        const ulong at = first + part;
        const int child = at >= slots ? 0 : node_count > 0 ? nodes[at / MESH_WIDTH].child[at % MESH_WIDTH] : root;
        const uint is_leaf = child < 0 ? 1 : 0, is_unindexed = is_leaf ? (uint)MESH_IS_UNINDEXED(child) : 0;
        __global mesh_leaf *leaf = &leaves[is_leaf ? MESH_LEAF_AT(child) : 0];
        if (is_leaf) {
            own->triangle[lane] = leaf->triangle[lane];
            for (uint k = 0; k < 3 && !is_unindexed; k++)
                own->corner[k][lane] = leaf->corner[k][lane];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (is_leaf && is_unindexed) {
            const ulong triangle = (ulong)own->triangle[own->triangle[lane] < 0 ? 0 : lane];
            __global real *rows = (__global real *)leaf + MESH_WIDTH;
            for (uint row = 0; row < 9; row++) {
                const real x = vertex[3 * (ulong)index[3 * triangle + row / 3] + row % 3];
                own->row[row][lane] = x;
                rows[MESH_WIDTH * row + lane] = x;
            }
        } else if (is_leaf) {
            const uint source = refit_source(own, lane);
            const ulong from = 3 * (ulong)index[3 * (ulong)own->triangle[source / 3] + source % 3];
            for (uint k = 0; k < 3; k++) {
                own->row[k][lane] = vertex[from + k];
                leaf->vertex[k][lane] = vertex[from + k];
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (is_leaf && !is_unindexed)
            own->square[lane] = refit_square(own, lane);
        if (is_leaf && lane < 6) {
            own->box[lane] = refit_box_row(own, lane, is_unindexed, scale);
            if (node_count > 0)
                ((__global real *)&nodes[at / MESH_WIDTH])[MESH_WIDTH * lane + at % MESH_WIDTH] = own->box[lane];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (is_leaf && !is_unindexed && lane == 0)
            leaf->ball = refit_ball(own);
        if (at < slots && lane == 0)
            area[at] = is_leaf
                           ? refit_area(own->box[3] - own->box[0], own->box[4] - own->box[1], own->box[5] - own->box[2])
                           : R(0.0);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
#endif

#ifdef KERNEL_refit_nodes
/* Takes over the boxes of the child nodes of the nodes of one level, whose own children are complete. The area of a
 * slot becomes that of its box and all boxes below. */
__kernel void carom_refit_nodes(__global mesh_node *nodes, __global real *area, __global const uint *level, uint first,
                                __global const refit_work *work, uint count, uint items)
{
    (void)items;
    if (work->result.is_refused)
        return;
    REFIT_FOR_EACH(at, (ulong)count * MESH_WIDTH)
    {
        const uint number = level[first + at / MESH_WIDTH], slot = (uint)(at % MESH_WIDTH);
        const int child = nodes[number].child[slot];
        real box[6], below = R(0.0);
        if (child <= 0)
            continue;
        for (uint row = 0; row < 6; row++) {
            box[row] = refit_extreme_in((__global const real *)&nodes[child], row);
            ((__global real *)&nodes[number])[MESH_WIDTH * row + slot] = box[row];
        }
        for (uint i = 0; i < MESH_WIDTH; i++)
            below += area[(ulong)child * MESH_WIDTH + i];
        area[(ulong)number * MESH_WIDTH + slot] = below + refit_area(box[3] - box[0], box[4] - box[1], box[5] - box[2]);
    }
}
#endif

#ifdef KERNEL_refit_end
/* The radius of a sampled leaf, as bits; those of radii have the order of the numbers. 0xffffffff: there is none. Node
 * number `sample` of the sample is the first of a slice of `each` nodes, or one more in the first `extra` slices. */
FN uint refit_sampled_ball(__global const mesh_node *nodes, uint samples, uint each, uint extra,
                           __global const mesh_leaf *leaves, uint slot)
{
    const uint sample = slot / MESH_WIDTH;
    if (sample >= samples)
        return 0xffffffffu;
    const int child = nodes[(ulong)each * sample + min(sample, extra)].child[slot % MESH_WIDTH];
    return child < 0 && !MESH_IS_UNINDEXED(child) ? as_uint(leaves[MESH_LEAF_AT(child)].ball) : 0xffffffffu;
}

/* One group: the median radius of a sample of leaves, bit by bit from the highest, and the areas. */
__kernel REFIT_WHOLE_GROUP void carom_refit_end(__global const mesh_node *nodes, uint samples, uint each, uint extra,
                                                __global const mesh_leaf *leaves, __global const real *area,
                                                __global refit_work *work, uint items)
{
    enum { SAMPLED = REFIT_SAMPLES * MESH_WIDTH };
    __local uint balls[SAMPLED];
    volatile __local uint below;
    const uint item = (uint)get_local_id(0);
    __global refit_result *result = &work->result;
    uint median = 0, count = 0;
    (void)items;
    if (result->is_refused || get_group_id(0) != 0)
        return;
    if (item == 0)
        below = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = item; i < SAMPLED; i += REFIT_GROUP) {
        balls[i] = refit_sampled_ball(nodes, samples, each, extra, leaves, i);
        count += balls[i] != 0xffffffffu ? 1 : 0;
    }
    atomic_add(&below, count);
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint all = below;
    for (uint bit = 0x80000000u; bit != 0; bit >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item == 0)
            below = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        count = 0;
        for (uint i = item; i < SAMPLED; i += REFIT_GROUP)
            count += balls[i] < (median | bit) ? 1 : 0;
        atomic_add(&below, count);
        barrier(CLK_LOCAL_MEM_FENCE);
        median |= below <= all / 2 ? bit : 0;
    }
    if (item != 0)
        return;
    real box[6], sum = R(0.0);
    for (uint row = 0; row < 6; row++)
        box[row] = samples > 0 ? refit_extreme_in((__global const real *)nodes, row) : R(0.0);
    for (uint i = 0; i < MESH_WIDTH && samples > 0; i++)
        sum += area[i];
    result->ball = all > 0 ? as_float(median) : as_float(0x7f800000u);
    result->area = sum;
    result->root = refit_area(box[3] - box[0], box[4] - box[1], box[5] - box[2]);
}
#endif
