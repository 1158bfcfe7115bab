/* SPDX-License-Identifier: MIT */
/* Brings the stored pairs of a cloud into the order of the list, by rows: the pairs of one sphere a. The host names the
 * kernel that it builds. */
#include "cloud_rows.h"

#ifdef KERNEL_grid_totals
/* Finds the last sphere up to which all pairs fit. offset[begin] is 0. */
__kernel void carom_grid_totals(__global const ulong *offset, ulong capacity, uint begin, uint end,
                                __global grid_totals *totals, uint items)
{
    uint low = begin, high = end; /* offset[low] fits; offset[high + 1] does not, or is beyond the end */
    if (get_global_id(0) != 0)
        return;
    while (low < high) {
        const uint middle = low + (high - low + 1) / 2;
        if (offset[middle] <= capacity)
            low = middle;
        else
            high = middle - 1;
    }
    totals->total = offset[end];
    totals->complete = low;
    totals->stored = offset[low];
    (void)items;
}
#endif

#ifdef KERNEL_grid_find_long
/* Lists the spheres from `begin` on with long rows that are stored: giant ones from the end of the list on, which has
 * `capacity` for both. */
__kernel void carom_grid_find_long(__global const ulong *offset, uint begin, __global uint *row, uint capacity,
                                   volatile __global grid_totals *totals, uint rows, uint items)
{
    GRID_FOR_EACH(i, rows)
    {
        const uint own = begin + i;
        const ulong count = offset[own + 1] - offset[own];
        if (count <= GRID_LONG_ROW || own >= totals->complete)
            continue;
        const int is_giant = count > GRID_GIANT_ROW;
        const uint at = atomic_inc(is_giant ? &totals->giant_rows : &totals->long_rows);
        if (is_giant)
            atomic_max(&totals->longest, (uint)count);
        if (at < capacity)
            row[is_giant ? capacity - 1 - at : at] = own;
    }
    (void)items;
}
#endif

#if defined(KERNEL_grid_sort_long) || defined(KERNEL_grid_merge)
/* Compares elements `low` and `high` of a row, and exchanges them if they are not in order. */
FN void grid_exchange(__global ulong *key, ulong low, ulong high, ulong count)
{
    if (high >= count)
        return; /* as if it were larger than all others */
    const ulong one = key[low], other = key[high];
    if (one > other) {
        key[low] = other;
        key[high] = one;
    }
}

/* A step of a merge, in blocks of 2^(bits + 1) elements: each element of a block's first half is compared with its
 * mirror image in the block, or with the element 2^bits behind it. The step is shared by `size` work-items. All steps
 * together are a bitonic merge sort for any number of elements, because every exchange brings the smaller one to the
 * front. */
FN void grid_merge_step(__global ulong *key, ulong count, uint bits, int is_mirrored, uint item, uint size)
{
    const ulong step = (ulong)1 << bits;
    for (ulong k = item; k < (count + 1) / 2 + step; k += size) {
        const ulong block = k >> bits << (bits + 1), at = k & (step - 1);
        grid_exchange(key, block + at, is_mirrored ? block + 2 * step - 1 - at : block + step + at, count);
    }
}

/* The pairs of sphere `a` among the stored ones. */
typedef struct grid_row {
    ulong begin, count;
} grid_row;
FN grid_row grid_row_of(__global const ulong *offset, uint a, uint row_end, ulong stored)
{
    grid_row row = {0, 0};
    if (a < row_end) {
        row.begin = min(offset[a], stored);
        row.count = max(min(offset[a + 1], stored), row.begin) - row.begin;
    }
    return row;
}
#endif

#ifdef KERNEL_grid_sort_long
/* Each group sorts a long row after the other, of rows [first, first + rows) of the list. */
__kernel void carom_grid_sort_long(__global const ulong *offset, __global const uint *row, uint first, uint rows,
                                   uint row_end, ulong stored, __global ulong *key, uint items)
{
    const uint item = (uint)get_local_id(0), size = (uint)get_local_size(0);
    for (uint r = (uint)get_group_id(0); r < rows; r += (uint)get_num_groups(0)) {
        const grid_row own = grid_row_of(offset, row[first + r], row_end, stored);
        for (uint sorted = 0; own.count <= GRID_GIANT_ROW && (ulong)1 << sorted < own.count; sorted++)
            for (uint bits = sorted + 1; bits > 0; bits--) {
                grid_merge_step(key + own.begin, own.count, bits - 1, bits > sorted, item, size);
                barrier(CLK_GLOBAL_MEM_FENCE);
            }
    }
    (void)items;
}
#endif

#ifdef KERNEL_grid_merge
/* One step in giant rows [first, first + rows) of the list. */
__kernel void carom_grid_merge(__global const ulong *offset, __global const uint *row, uint first, uint rows,
                               uint row_end, ulong stored, __global ulong *key, uint bits, int is_mirrored, uint items)
{
    for (uint r = first; r < first + rows; r++) {
        const grid_row own = grid_row_of(offset, row[r], row_end, stored);
        grid_merge_step(key + own.begin, own.count, bits, is_mirrored, (uint)get_global_id(0),
                        (uint)get_global_size(0));
    }
    (void)items;
}
#endif

#ifdef KERNEL_grid_order
/* Whether the pair in place `own` is in the row of sphere `a`, and none is left of those that the first pass counted
 * there. */
FN int grid_is_full(__global const ulong *offset, __global const uint *left, uint a, ulong own, ulong stored)
{
    return own >= offset[a] && own < offset[a + 1] && offset[a + 1] <= stored && left[a] == 0;
}

/* Stores pairs [first, first + items) in order into the columns of the mask `wanted`, each of which begins `at` bytes
 * behind the begin of its memory. first_b: of a cloud against another one, the index of the second's first sphere. */
__kernel void carom_grid_order(__global const ulong *offset, __global const ulong *key, __global const uint *of,
                               __global const uint *left, uint row_begin, uint row_end, ulong stored,
                               volatile __global grid_totals *totals, int options, uint first_b, uint wanted,
                               __global uchar *a, ulong a_at, __global uchar *b, ulong b_at, __global uchar *state,
                               ulong state_at, __global uchar *t, ulong t_at, __global uchar *shift, ulong shift_at,
                               ulong first, uint items)
{
    if (get_global_id(0) >= items)
        return;
    const ulong own = first + get_global_id(0), mine = key[own];
    const uint sphere = of[own];
    if (sphere < row_begin || sphere >= row_end || !grid_is_full(offset, left, sphere, own, stored)) {
        atomic_or(&totals->faults, 1u);
        return;
    }
    const ulong at = grid_slot(offset, key, of, own);
    if (wanted >> GRID_A & 1)
        resident_store(a, a_at + 4 * at, sphere);
    if (wanted >> GRID_B & 1)
        resident_store(b, b_at + 4 * at, grid_partner_of(mine, options) - first_b);
    if (wanted >> GRID_STATE & 1)
        state[state_at + at] = (uchar)(mine & GRID_KEY_STATE);
    if (wanted >> GRID_T & 1)
        resident_store(t, t_at + 4 * at, real_bits(grid_time_of(mine, options)));
    for (int k = 0; (wanted >> GRID_SHIFT & 1) && k < 3; k++)
        shift[shift_at + 3 * at + (uint)k] = (uchar)grid_step_of(grid_image_of(mine, options), k);
}
#endif

#ifdef KERNEL_grid_partners
/* The number of partners of each sphere; GRID_INVALID for spheres with an invalid input. */
__kernel void carom_grid_partners(__global const float4 *sphere, __global const uint *count, __global uchar *partners,
                                  ulong partners_at, uint spheres, uint items)
{
    GRID_FOR_EACH(i, spheres)
    resident_store(partners, partners_at + 4 * (ulong)i, sphere[i].w < R(0.0) ? GRID_INVALID : count[i]);
    (void)items;
}
#endif

#ifdef KERNEL_grid_partner
/* The best partner of each sphere, -1 without one, and what is known of the pair; `hit` says whether there is one.
 * Columns of the mask `wanted`. */
__kernel void carom_grid_partner(__global const float4 *sphere, __global const uint *best, uint first_b, uint wanted,
                                 __global uchar *other, ulong other_at, __global uchar *state, ulong state_at,
                                 __global uchar *t, ulong t_at, __global uchar *hit, ulong hit_at, uint spheres,
                                 uint items)
{
    GRID_FOR_EACH(i, spheres)
    {
        const int is_valid = sphere[i].w >= R(0.0), has_one = best[i] != 0;
        if (wanted >> GRID_OTHER & 1)
            resident_store(other, other_at + 4 * (ulong)i, has_one ? ~best[i] - first_b : ~0u);
        if (wanted >> GRID_OTHER_STATE & 1)
            state[state_at + i] = !is_valid ? STATE_INVALID : has_one ? STATE_OVERLAPPING : STATE_MISS;
        if (wanted >> GRID_OTHER_T & 1)
            resident_store(t, t_at + 4 * (ulong)i, has_one ? 0 : R_INFINITY_BITS);
        if (wanted >> GRID_HIT & 1)
            hit[hit_at + i] = !is_valid ? OVERLAP_INVALID : has_one;
    }
    (void)items;
}
#endif

#ifdef KERNEL_grid_touch
/* Best partners that only touch: all of these pairs are among the undecided ones. states: of the spheres that are asked
 * for. */
__kernel void carom_grid_touch(__global const uint *index, __global const uint2 *pair, __global const uchar *pair_state,
                               __global const uint *best, __global uchar *state, ulong state_at, uint states,
                               uint spheres, uint pairs, uint items)
{
    GRID_FOR_EACH(i, pairs)
    {
        const uint one = index[min(grid_slot_of(pair[i].x), spheres - 1)],
                   other = index[min(grid_slot_of(pair[i].y), spheres - 1)];
        if (pair_state[i] != STATE_TOUCHING || max(one, other) >= spheres)
            continue;
        if (one < states && best[one] == ~other)
            state[state_at + one] = STATE_TOUCHING;
        if (other < states && best[other] == ~one)
            state[state_at + other] = STATE_TOUCHING;
    }
    (void)items;
}
#endif
