/* SPDX-License-Identifier: MIT */
/* Exclusive prefix sum over any count of numbers, by three kernels: the sum of each tile, the prefix sum of these sums
 * by one work-group, and the prefix sums within the tiles. Sums have 64 bits; with GRID_SHORT they are stored with
 * 32, which may be in place. */
#include "cloud_grid.h"
#include "scan.h"

#ifdef GRID_SHORT
typedef uint grid_sum;
#else
typedef ulong grid_sum;
#endif

/* The host counts tiles by this size of a group. */
#define GRID_WHOLE_GROUP __attribute__((reqd_work_group_size(GRID_GROUP, 1, 1)))

#ifdef KERNEL_grid_sum
__kernel GRID_WHOLE_GROUP void carom_grid_sum(__global const uint *count, __global ulong *sum, uint numbers, uint items)
{
    __local ulong scratch[GRID_GROUP];
    const uint item = (uint)get_local_id(0), size = (uint)get_local_size(0);
    const ulong first = (ulong)get_group_id(0) * size * GRID_EACH;
    ulong own = 0, all;
    for (uint k = 0; k < GRID_EACH; k++) {
        const ulong i = first + k * size + item;
        own += i < numbers ? count[i] : 0;
    }
    (void)scan_group_long(own, scratch, &all);
    if (item == 0)
        sum[get_group_id(0)] = all;
    (void)items;
}
#endif

#ifdef KERNEL_grid_carry
/* Prefix sum of the tiles' sums, in place, and the total behind them. */
__kernel GRID_WHOLE_GROUP void carom_grid_carry(__global ulong *sum, uint tiles, uint items)
{
    __local ulong scratch[GRID_GROUP];
    const uint item = (uint)get_local_id(0), size = (uint)get_local_size(0);
    ulong before = 0;
    (void)items;
    if (get_group_id(0) != 0)
        return;
    for (uint first = 0; first < tiles; first += size) {
        const uint i = first + item;
        ulong all;
        const ulong start = scan_group_long(i < tiles ? sum[i] : 0, scratch, &all);
        if (i < tiles)
            sum[i] = before + start;
        before += all;
    }
    if (item == 0)
        sum[tiles] = before;
}
#endif

#ifdef KERNEL_grid_offset
/* to[i] is the sum of all counts before i, for i up to `numbers`. */
__kernel GRID_WHOLE_GROUP void carom_grid_offset(__global const uint *count, __global const ulong *sum,
                                                 __global grid_sum *to, uint numbers, uint items)
{
    __local ulong scratch[GRID_GROUP];
    const uint item = (uint)get_local_id(0), size = (uint)get_local_size(0);
    const ulong first = ((ulong)get_group_id(0) * size + item) * GRID_EACH;
    ulong own = 0, all;
    uint counts[GRID_EACH];
    for (uint k = 0; k < GRID_EACH; k++) {
        counts[k] = first + k < numbers ? count[first + k] : 0;
        own += counts[k];
    }
    ulong start = sum[get_group_id(0)] + scan_group_long(own, scratch, &all);
    for (uint k = 0; k < GRID_EACH && first + k < numbers; k++) {
        to[first + k] = (grid_sum)start;
        start += counts[k];
    }
    if (first < numbers && first + GRID_EACH >= numbers)
        to[numbers] = (grid_sum)start;
    (void)items;
}
#endif
