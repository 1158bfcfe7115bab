/* SPDX-License-Identifier: MIT */
/* Counting sort of a chunk's queries by cell, for devices that answer one query in each work-item: work-items that
 * run together then visit the same nodes and leaves. The columns stay where they are; the result is the order of the
 * rows. Which query of a cell comes first depends on the order of the atomic increments, and no answer depends on
 * that. The host names the kernel that it builds, and runs them one after another: -DKERNEL_sort_histogram,
 * _prefix_sum or _sort_scatter. */
#include "cells.h"
#include "clearance.h"

#ifdef KERNEL_sort_histogram
/* The cell of each query, its rank among those counted there before, and the histogram of cells. has_motion: queries
 * that surely hit nothing get a cell of their own, found from all columns; else only the first three columns are
 * read. */
__kernel void carom_sort_histogram(__global const real *cx, __global const real *cy, __global const real *cz,
                                   __global const real *radius, __global const real *vx, __global const real *vy,
                                   __global const real *vz, __global const real *t_max,
                                   __global const mesh_clearance *clearance, int has_motion, int options, float lower_x,
                                   float lower_y, float lower_z, float per_x, float per_y, float per_z,
                                   __global uint *cell, __global uint *rank, volatile __global uint *per_cell,
                                   uint queries)
{
    const size_t i = get_global_id(0);
    if (i >= queries)
        return;
    const cell_grid grid = {{lower_x, lower_y, lower_z}, {per_x, per_y, per_z}};
    uint own = cell_of(cx[i], cy[i], cz[i], &grid);
    if (has_motion && clearance_holds(clearance, v3_of(cx[i], cy[i], cz[i]), radius[i], v3_of(vx[i], vy[i], vz[i]),
                                      t_max[i], options))
        own = CELL_CLEAR;
    cell[i] = own;
    rank[i] = atomic_inc(per_cell + own);
}
#endif

#ifdef KERNEL_prefix_sum
/* Exclusive prefix sums of `kinds` counts in their place, and the sum of all behind them: by the first group, whose
 * items take runs of counts. */
__kernel void carom_prefix_sum(__global uint *per_cell, uint kinds, uint items)
{
    __local uint total[CELL_ITEMS];
    const uint item = (uint)get_local_id(0), size = (uint)get_local_size(0);
    const uint run = (kinds + size - 1) / size, first = item * run;
    const uint end = first + run < kinds ? first + run : kinds;
    uint sum = 0;
    if (get_group_id(0) != 0)
        return;
    for (uint c = first; c < end; c++)
        sum += per_cell[c];
    total[item] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint start = 0;
    for (uint k = 0; k < item; k++)
        start += total[k];
    for (uint c = first; c < end; c++) {
        const uint own = per_cell[c];
        per_cell[c] = start;
        start += own;
    }
    if (item == size - 1)
        per_cell[kinds] = start;
    (void)items;
}
#endif

#ifdef KERNEL_sort_scatter
__kernel void carom_sort_scatter(__global const uint *cell, __global const uint *rank, __global const uint *start,
                                 __global uint *row, uint queries)
{
    const size_t i = get_global_id(0);
    if (i < queries)
        row[start[cell[i]] + rank[i]] = (uint)i;
}
#endif
