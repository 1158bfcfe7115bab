/* SPDX-License-Identifier: MIT */
/* Query sort: a counting sort of a chunk's queries by cell, for devices with one query per work-item. Then
 * work-items that run together visit the same nodes and leaves. The columns stay in place; the result is a
 * permutation of the rows. The order within a cell depends on scheduling, and no answer depends on it. The host
 * selects a kernel and runs them in turn: -DKERNEL_order_count, _starts, _rows. */
#include "cells.h"
#include "clearance.h"

#ifdef KERNEL_order_count
/* The cell of each query, its rank in the cell, and the histogram of cells. `tells`: queries that are clear of the
 * mesh get a number of their own, which reads all columns; else the first three columns are enough. */
__kernel void carom_order_count(__global const real *cx, __global const real *cy, __global const real *cz,
                                __global const real *radius, __global const real *vx, __global const real *vy,
                                __global const real *vz, __global const real *t_max,
                                __global const mesh_clearance *clearance, int tells, float lower_x, float lower_y,
                                float lower_z, float per_x, float per_y, float per_z, __global uint *cell,
                                __global uint *before, volatile __global uint *per_cell, uint queries)
{
    const size_t i = get_global_id(0);
    if (i >= queries)
        return;
    const cell_grid grid = {{lower_x, lower_y, lower_z}, {per_x, per_y, per_z}};
    uint own = cell_of(cx[i], cy[i], cz[i], &grid);
    if (tells &&
        clearance_holds(clearance, v3_of(cx[i], cy[i], cz[i]), radius[i], v3_of(vx[i], vy[i], vz[i]), t_max[i]))
        own = CELL_CLEAR;
    cell[i] = own;
    before[i] = atomic_inc(per_cell + own);
}
#endif

#ifdef KERNEL_order_starts
/* Prefix sum in place: counts of `kinds` cells become their starts, followed by the total. By the first work-group,
 * whose items take runs of cells. */
__kernel void carom_order_starts(__global uint *per_cell, uint kinds, uint items)
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

#ifdef KERNEL_order_rows
__kernel void carom_order_rows(__global const uint *cell, __global const uint *before, __global const uint *start,
                               __global uint *row, uint queries)
{
    const size_t i = get_global_id(0);
    if (i < queries)
        row[start[cell[i]] + before[i]] = (uint)i;
}
#endif
