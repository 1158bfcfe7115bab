/* SPDX-License-Identifier: MIT */
/* Counting sort of a chunk's queries by cell, for devices that answer one query per work-item. Adjacent work-items then
 * visit the same nodes and leaves. The columns stay where they are; the result is the order of the rows. The order of
 * queries within a cell depends on the atomic additions; no answer depends on that order. The host names the kernel
 * that it builds, and runs them one after another: -DKERNEL_sort_histogram, _prefix_sum or _sort_scatter. */
#include "cells.h"
#include "clearance.h"
#include "scan.h"

#ifdef KERNEL_sort_histogram
/* Histogram: the cell of each query, its rank within the cell, and the number of queries per cell. has_motion: queries
 * that certainly hit nothing get a cell of their own, for which all columns are read; else only the first three columns
 * are read.
 *
 * A device serialises atomic additions to one address, and often most queries are in one cell. So a work-group counts
 * its queries in local memory first, and adds once for each cell. If cells share a local slot, the cell with the
 * highest number owns it; the cell of queries that hit nothing has the highest of all. Queries of the other cells use
 * global atomics. */
__kernel void carom_sort_histogram(__global const real *cx, __global const real *cy, __global const real *cz,
                                   __global const real *radius, __global const real *vx, __global const real *vy,
                                   __global const real *vz, __global const real *t_max,
                                   __global const mesh_clearance *clearance, int has_motion, int options, float lower_x,
                                   float lower_y, float lower_z, float per_x, float per_y, float per_z,
                                   __global uint *cell, __global uint *rank, volatile __global uint *per_cell,
                                   uint queries)
{
    volatile __local uint owner[CELL_SLOTS], count[CELL_SLOTS];
    __local uint base[CELL_SLOTS];
    const uint i = (uint)get_global_id(0), item = (uint)get_local_id(0), size = (uint)get_local_size(0);
    const cell_grid grid = {{lower_x, lower_y, lower_z}, {per_x, per_y, per_z}};
    uint own = 0, own_rank = 0;
    for (uint slot = item; slot < CELL_SLOTS; slot += size)
        owner[slot] = count[slot] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < queries) {
        own = cell_of(cx[i], cy[i], cz[i], &grid);
        if (has_motion && clearance_is_free(clearance, v3_of(cx[i], cy[i], cz[i]), radius[i],
                                            v3_of(vx[i], vy[i], vz[i]), t_max[i], options))
            own = CELL_CLEAR;
        atomic_max(&owner[own % CELL_SLOTS], own);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    /* Counts in local memory, then one global addition per cell that owns a slot. */
    const uint slot = own % CELL_SLOTS;
    const int is_owner = i < queries && owner[slot] == own;
    if (is_owner)
        own_rank = atomic_inc(&count[slot]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (is_owner && own_rank == 0)
        base[slot] = atomic_add(per_cell + own, count[slot]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < queries) {
        cell[i] = own;
        rank[i] = is_owner ? base[slot] + own_rank : atomic_inc(per_cell + own);
    }
}
#endif

#ifdef KERNEL_prefix_sum
/* Exclusive prefix sum of `kinds` counts, in place, and the total behind them. The first work-group computes it. */
__kernel void carom_prefix_sum(__global uint *counts, uint kinds, uint items)
{
    __local uint scratch[PREFIX_ITEMS];
    const uint item = (uint)get_local_id(0), size = (uint)get_local_size(0);
    uint sum = 0;
    if (get_group_id(0) != 0)
        return;
    for (uint tile = 0; tile < kinds; tile += size * PREFIX_EACH) {
        /* A work-item sums its own counts; the scan over the group gives each work-item its start. */
        const uint first = tile + item * PREFIX_EACH;
        uint count[PREFIX_EACH], own = 0, all;
        for (uint k = 0; k < PREFIX_EACH; k++) {
            count[k] = first + k < kinds ? counts[first + k] : 0;
            own += count[k];
        }
        uint start = sum + scan_group(own, scratch, &all);
        for (uint k = 0; k < PREFIX_EACH && first + k < kinds; k++) {
            counts[first + k] = start;
            start += count[k];
        }
        sum += all;
    }
    if (item == 0)
        counts[kinds] = sum;
    (void)items;
}
#endif

#ifdef KERNEL_sort_scatter
/* Writes each query's row to the slot that the prefix sum and its rank give. */
__kernel void carom_sort_scatter(__global const uint *cell, __global const uint *rank, __global const uint *start,
                                 __global uint *row, uint queries)
{
    const size_t i = get_global_id(0);
    if (i < queries)
        row[start[cell[i]] + rank[i]] = (uint)i;
}
#endif
