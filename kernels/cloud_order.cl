/* SPDX-License-Identifier: MIT */
/* The order of a cloud's spheres by cells, on a GPU: the CPU's, index for index. The host chooses levels by what
 * kernels measure and draw, and names the kernel that it builds. Spheres are sorted by (level, z, y), which makes rows;
 * a row's extent decides which of its cells are merged; then by row and cell. Both sorts are stable radix sorts, lowest
 * digit first, of keys with the index beside them. docs/spheres.md, section 11. */
#include "cloud_level.h"
#include "cloud_order.h"
#include "scan.h"
#include "sorted_keys.h"

#ifdef KERNEL_order_sample
/* The first sphere of an equal share of all. */
FN uint order_share_begin(uint spheres, uint shares, uint share)
{
    return spheres / shares * share + min(share, spheres % shares);
}

/* Draws a pseudorandom sphere of each of `samples` shares: caromi_cloud_sampled. */
__kernel void carom_order_sample(__global const float4 *sphere, __global float4 *to, uint spheres, uint samples,
                                 uint items)
{
    GRID_FOR_EACH(i, samples)
    {
        const uint begin = order_share_begin(spheres, samples, i), end = order_share_begin(spheres, samples, i + 1);
        to[i] = sphere[min(begin + mul_hi(i * 0x9e3779b9u, end - begin), spheres - 1)];
    }
    (void)items;
}
#endif

#if defined(KERNEL_order_keys) || defined(KERNEL_order_rows) || defined(KERNEL_order_cells) || \
    defined(KERNEL_order_crowds)
/* The level of a sphere. Invalid ones have one of their own, behind all others. */
FN uint order_level_of(__global const order_plan *plan, float4 sphere)
{
    return sphere.w < R(0.0) ? plan->level_count
                             : min((uint)plan->level_of[as_uint(sphere.w) >> 21 & (GRID_BINS - 1)], GRID_LEVELS - 1u);
}

/* The cell of a valid sphere's coordinate. */
FN uint order_cell(__global const order_plan *plan, uint level, real x, int axis)
{
    __global const order_level *l = &plan->level[min(level, GRID_LEVELS - 1u)];
    return (uint)(int)cloud_level_cell((wf)x, l->low[axis], l->per[axis], (wf)l->most[axis]);
}

/* The cell along its row; 0 for an invalid sphere. */
FN uint order_cell_along(__global const order_plan *plan, float4 sphere)
{
    return sphere.w < R(0.0) ? 0 : order_cell(plan, order_level_of(plan, sphere), sphere.x, 0);
}
#endif

#ifdef KERNEL_order_keys
/* The row of each sphere as a key, and its index. */
__kernel void carom_order_keys(__global const float4 *sphere, __global const order_plan *plan, __global ulong *key,
                               __global uint *index, uint spheres, uint items)
{
    GRID_FOR_EACH(i, spheres)
    {
        const float4 own = sphere[i];
        const uint level = order_level_of(plan, own);
        const int is_valid = own.w >= R(0.0);
        const ulong y = is_valid ? order_cell(plan, level, own.y, 1) : 0;
        const ulong z = is_valid ? order_cell(plan, level, own.z, 2) : 0;
        key[i] = ((ulong)level << plan->z_bits | z) << plan->y_bits | y;
        index[i] = i;
    }
    (void)items;
}
#endif

#if defined(KERNEL_order_count) || defined(KERNEL_order_scatter)
/* The tile of a group, and how many there are. */
FN uint order_tile(void)
{
    return (uint)get_group_id(0);
}
FN uint order_tiles(uint spheres)
{
    return spheres / GRID_TILE + (spheres % GRID_TILE != 0 ? 1 : 0);
}

FN uint order_digit(ulong key, uint shift)
{
    return (uint)(key >> shift) & (ORDER_DIGITS - 1);
}
#endif

#ifdef KERNEL_order_count
/* The number of keys with each digit in each tile, digit by digit. */
__kernel void carom_order_count(__global const ulong *key, uint shift, __global uint *count, uint spheres, uint items)
{
    volatile __local uint own[ORDER_DIGITS];
    const uint item = (uint)get_local_id(0), size = (uint)get_local_size(0), tile = order_tile();
    const ulong first = (ulong)tile * GRID_TILE;
    (void)items;
    if (tile >= order_tiles(spheres))
        return;
    for (uint digit = item; digit < ORDER_DIGITS; digit += size)
        own[digit] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = item; k < GRID_TILE && first + k < spheres; k += size)
        atomic_inc(&own[order_digit(key[first + k], shift)]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint digit = item; digit < ORDER_DIGITS; digit += size)
        count[(size_t)digit * order_tiles(spheres) + tile] = own[digit];
}
#endif

#ifdef KERNEL_order_scatter
/* Counts of all digits, 16 bits each: a part of a tile has fewer keys. */
SCAN_GROUP(scan_group_digits, ulong4)

FN ulong4 order_one(uint digit)
{
    const ulong one = (ulong)1 << 16 * (digit & 3);
    const uint of = digit >> 2;
    return (ulong4)(of == 0 ? one : 0, of == 1 ? one : 0, of == 2 ? one : 0, of == 3 ? one : 0);
}
FN uint order_count_of(ulong4 counts, uint digit)
{
    const ulong2 half_of = digit & 8 ? counts.hi : counts.lo;
    return (uint)((digit & 4 ? half_of.y : half_of.x) >> 16 * (digit & 3)) & 0xffffu;
}

/* Moves keys and indices to where the prefix sum of the counts says, those of a digit in the order in which they lie: a
 * work-item has GRID_EACH adjacent ones at a time. */
__kernel void carom_order_scatter(__global const ulong *key, __global const uint *index, uint shift,
                                  __global const uint *start, __global ulong *to_key, __global uint *to_index,
                                  volatile __global grid_totals *totals, uint spheres, uint items)
{
    __local ulong4 scratch[GRID_GROUP];
    __local uint next[ORDER_DIGITS];
    const uint item = (uint)get_local_id(0), size = (uint)get_local_size(0), tile = order_tile();
    (void)items;
    if (tile >= order_tiles(spheres))
        return;
    for (uint digit = item; digit < ORDER_DIGITS; digit += size)
        next[digit] = start[(size_t)digit * order_tiles(spheres) + tile];
    for (uint part = 0; part < GRID_TILE; part += size * GRID_EACH) {
        const ulong first = (ulong)tile * GRID_TILE + part + item * GRID_EACH;
        ulong4 own = (ulong4)(0), all;
        for (uint k = 0; k < GRID_EACH && first + k < spheres; k++)
            own += order_one(order_digit(key[first + k], shift));
        ulong4 before = scan_group_digits(own, scratch, &all);
        for (uint k = 0; k < GRID_EACH && first + k < spheres; k++) {
            const uint digit = order_digit(key[first + k], shift), slot = next[digit] + order_count_of(before, digit);
            before += order_one(digit);
            if (slot >= spheres) {
                atomic_or(&totals->faults, 1u);
                continue;
            }
            to_key[slot] = key[first + k];
            to_index[slot] = index[first + k];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint digit = item; digit < ORDER_DIGITS; digit += size)
            next[digit] += order_count_of(all, digit);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
#endif

#ifdef KERNEL_order_heads
/* Whether a sphere is the first of its row. */
__kernel void carom_order_heads(__global const ulong *key, __global uint *head, uint spheres, uint items)
{
    GRID_FOR_EACH(i, spheres)
    head[i] = i == 0 || key[i] != key[i - 1];
    (void)items;
}
#endif

#if defined(KERNEL_order_rows) || defined(KERNEL_order_cells) || defined(KERNEL_order_crowds)
/* Where each row begins, and its lowest and highest cell: the complement of the lowest. */
typedef struct order_rows {
    __global const uint *begin, *low, *high;
} order_rows;

/* How many neighbours of a row's cells are merged, as a shift; and the first cell. If the level has fewer cells than
 * the row has spheres, a row has all of them. cells.c, set_cells, has the same. */
FN uint order_merging(const order_rows *rows, uint row, uint cells_most, uint *low)
{
    const uint count = rows->begin[row + 1] - rows->begin[row];
    uint shift = 0;
    *low = 0;
    if (cells_most < count)
        return 0;
    *low = ~rows->low[row];
    while (shift < 31 && (rows->high[row] - *low) >> shift >= CLOUD_CELLS_MOST((ulong)count))
        shift++;
    return shift;
}
#endif

#ifdef KERNEL_order_rows
/* The begin of each row, and its extent. number: rows that begin before each sphere. A work-item has ORDER_RUN adjacent
 * spheres, so few of its additions are atomic. */
__kernel void carom_order_rows(__global const float4 *sphere, __global const order_plan *plan,
                               __global const uint *index, __global const uint *number, __global uint *begin,
                               volatile __global uint *low, volatile __global uint *high, uint spheres, uint runs,
                               uint items)
{
    GRID_FOR_EACH(run, runs)
    {
        uint row = 0, own_low = 0, own_high = 0;
        const uint first = run * ORDER_RUN, end = min(first + ORDER_RUN, spheres);
        for (uint k = first; k < end; k++) {
            const uint own = min(number[k + 1], spheres) - 1;
            const uint x = order_cell_along(plan, sphere[min(index[k], spheres - 1)]);
            if (number[k] != number[k + 1])
                begin[own] = k;
            if (k > first && own != row) {
                atomic_max(low + row, own_low);
                atomic_max(high + row, own_high);
                own_low = own_high = 0;
            }
            row = own;
            own_low = max(own_low, ~x);
            own_high = max(own_high, x);
        }
        atomic_max(low + row, own_low);
        atomic_max(high + row, own_high);
        if (end == spheres)
            begin[row + 1] = spheres;
    }
    (void)items;
}
#endif

#ifdef KERNEL_order_cells
/* New keys: the row and the cell in it. */
__kernel void carom_order_cells(__global const float4 *sphere, __global const order_plan *plan,
                                __global const uint *index, __global const uint *number, __global const uint *begin,
                                __global const uint *low, __global const uint *high, __global ulong *key, uint spheres,
                                uint items)
{
    const order_rows rows = {begin, low, high};
    GRID_FOR_EACH(i, spheres)
    {
        const float4 own = sphere[min(index[i], spheres - 1)];
        const uint row = min(number[i + 1], spheres) - 1, level = order_level_of(plan, own);
        uint first = 0, shift = 0, x = order_cell_along(plan, own);
        if (own.w >= R(0.0))
            shift = order_merging(&rows, row, (uint)plan->level[min(level, GRID_LEVELS - 1u)].most[0], &first);
        key[i] = (ulong)row << 32 | (x - first) >> shift;
    }
    (void)items;
}
#endif

#ifdef KERNEL_order_shared
/* How many spheres of its cell are before each: together the pairs that share a cell. */
__kernel void carom_order_shared(__global const ulong *key, __global uint *count, uint spheres, uint items)
{
    GRID_FOR_EACH(i, spheres)
    count[i] = i - (uint)sorted_key_from(key, 0, i, key[i]);
    (void)items;
}
#endif

#ifdef KERNEL_order_crowds
/* Of each sphere of a crowded cell that fits into cells of half the width: how many are in its cell and the two beside
 * it. crowded.c, each_crowd, adds up half of this. */
__kernel void carom_order_crowds(__global const float4 *sphere, __global const order_plan *plan,
                                 __global const uint *index, __global const uint *begin, __global const uint *low,
                                 __global const uint *high, __global const ulong *key, __global uint *count,
                                 uint spheres, uint items)
{
    const order_rows rows = {begin, low, high};
    GRID_FOR_EACH(i, spheres)
    {
        const float4 own = sphere[min(index[i], spheres - 1)];
        const ulong cell = key[i];
        const uint row = min((uint)(cell >> 32), spheres - 1), row_begin = min(rows.begin[row], spheres);
        const uint row_end = min(rows.begin[row + 1], spheres);
        count[i] = 0;
        if (own.w < R(0.0) || row_end - row_begin <= CLOUD_CROWD)
            continue;
        if (sorted_key_from(key, row_begin, row_end, cell + 1) - sorted_key_from(key, row_begin, row_end, cell) <=
            CLOUD_CROWD)
            continue;
        __global const order_level *level = &plan->level[order_level_of(plan, own)];
        uint first;
        const wf width = level->width * (wf)(1u << order_merging(&rows, row, (uint)level->most[0], &first));
        const wf least = (W(2.0) * (wf)own.w) * W(0x1.0004p+0); /* caromi_cloud_width_for, without a margin */
        if (W(2.0) * least <= width)
            count[i] = (uint)(sorted_key_from(key, row_begin, row_end, cell + 2) -
                              sorted_key_from(key, row_begin, row_end, cell - ((uint)cell > 0 ? 1 : 0)));
    }
    (void)items;
}
#endif
