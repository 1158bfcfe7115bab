/* SPDX-License-Identifier: MIT */
/* Exclusive prefix sum over any count of numbers, by three kernels: the sum of each tile, the prefix sum of these sums
 * by one work-group, and the prefix sums within the tiles. Sums have 64 bits; with GRID_SHORT they are stored with
 * 32, which may be in place. A tile has one size however small the groups are that a driver allows, and surplus groups
 * have no tile. */
#include "cloud_grid.h"
#include "scan.h"

#ifdef GRID_SHORT
typedef uint grid_sum;
#else
typedef ulong grid_sum;
#endif

/* The tile of a group, and how many there are. */
FN uint grid_tile(void)
{
    return (uint)get_group_id(0);
}
FN uint grid_tiles(uint numbers)
{
    return numbers / GRID_TILE + (numbers % GRID_TILE != 0 ? 1 : 0);
}

#ifdef KERNEL_grid_sum
__kernel void carom_grid_sum(__global const uint *count, __global ulong *sum, uint numbers, uint items)
{
    __local ulong scratch[GRID_GROUP];
    const uint item = (uint)get_local_id(0), size = (uint)get_local_size(0), tile = grid_tile();
    const ulong first = (ulong)tile * GRID_TILE;
    ulong own = 0, all;
    (void)items;
    if (tile >= grid_tiles(numbers))
        return;
    for (uint k = item; k < GRID_TILE; k += size)
        own += first + k < numbers ? count[first + k] : 0;
    (void)scan_group_long(own, scratch, &all);
    if (item == 0)
        sum[tile] = all;
}
#endif

#ifdef KERNEL_grid_carry
/* Prefix sum of the tiles' sums, in place, and the total behind them. */
__kernel void carom_grid_carry(__global ulong *sum, uint tiles, uint items)
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
__kernel void carom_grid_offset(__global const uint *count, __global const ulong *sum, __global grid_sum *to,
                                uint numbers, uint items)
{
    __local ulong scratch[GRID_GROUP];
    const uint item = (uint)get_local_id(0), size = (uint)get_local_size(0), tile = grid_tile();
    (void)items;
    if (tile >= grid_tiles(numbers))
        return;
    ulong before = sum[tile];
    for (uint part = 0; part < GRID_TILE; part += size * GRID_EACH) {
        const ulong first = (ulong)tile * GRID_TILE + part + item * GRID_EACH;
        ulong own = 0, all;
        uint counts[GRID_EACH];
        for (uint k = 0; k < GRID_EACH; k++) {
            counts[k] = first + k < numbers ? count[first + k] : 0;
            own += counts[k];
        }
        ulong start = before + scan_group_long(own, scratch, &all);
        for (uint k = 0; k < GRID_EACH && first + k < numbers; k++) {
            to[first + k] = (grid_sum)start;
            start += counts[k];
        }
        if (first < numbers && first + GRID_EACH >= numbers)
            to[numbers] = (grid_sum)start;
        before += all;
    }
}
#endif
