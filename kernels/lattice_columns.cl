/* SPDX-License-Identifier: MIT */
/* Signs of lattice nodes on a device, as host/lattice/inside.c gives them: each column of nodes is a ray. The host
 * names the kernel that it builds. */
#include "lattice_columns.h"
#include "lattice_limits.h"
#include "mesh_arguments.h"

#ifdef KERNEL_lattice_columns
/* A work-group finds the crossings of LATTICE_TILE columns with a share of the leaves. Groups are counted from
 * `first_group` on, all 2^shares_log2 shares of a tile of columns one after the other. levels: for each node of the box
 * the sum of the crossings between it and the node above. A word behind them tells of truncated loops. */
LANG_SEARCH_KERNEL __attribute__((reqd_work_group_size(LATTICE_TILE, 1, 1))) void
carom_lattice_columns(MESH_PARAMETERS, lattice_box box, lattice_rays rays, uint first_group, uint shares_log2,
                      __global int *levels, uint items)
{
    __local columns_memory memory;
    const u32 group = first_group + (u32)get_group_id(0), tile = group >> shares_log2;
    columns_work work;
    work.memory = &memory;
    work.frame = mesh_run_of_mesh(MESH_ARGUMENTS).frame;
    work.nodes = nodes;
    work.leaves = leaves;
    work.masks = masks;
    work.options = options;
    work.item = (u32)get_local_id(0);
    work.shares = 1u << shares_log2;
    work.share = group & (work.shares - 1);
    work.box = &box;
    work.rays = rays;
    work.levels = levels;
    work.first[0] = tile % box.tiles[0] << box.shift[0];
    work.first[1] = tile / box.tiles[0] << box.shift[1];
    columns_locate(&work);
    columns_find(&work);
    if (mesh_run_is_truncated(1u << (box.shift[0] + box.shift[1])))
        levels[(ulong)box.count[0] * box.count[1] * box.count[2]] = 1;
    (void)items;
}
#endif

#ifdef KERNEL_lattice_clear
/* Begins without crossings. */
__kernel void carom_lattice_clear(__global int *levels, uint items)
{
    const u32 item = (u32)get_global_id(0);
    if (item < items)
        levels[item] = 0;
}
#endif

#ifdef KERNEL_lattice_inside
/* Replaces the sums between nodes by 1 for each node that is inside, else 0: an item for each column, from the highest
 * node down. */
__kernel void carom_lattice_inside(lattice_box box, int is_parity, __global int *levels, uint items)
{
    const u32 item = (u32)get_global_id(0);
    const ulong slab = (ulong)box.count[0] * box.count[1];
    int sum = 0;
    if (item >= items)
        return;
    __global int *at = levels + slab * box.count[2] + item;
    for (u32 left = box.count[2]; left > 0; left--) {
        at -= slab;
        sum += *at;
        *at = (is_parity ? sum & 1 : sum) != 0;
    }
    if (mesh_run_is_truncated(items < 64 ? items : 64))
        levels[slab * box.count[2]] = 1;
}
#endif

#ifdef KERNEL_lattice_classify
/* Compares distances with the limits of clearance, and lists the nodes that are next to one. NaN: undecided by the
 * filter of distances. */
__kernel void carom_lattice_classify(__global const int *triangle, __global const real *distance, __global uint *list,
                                     real inner_low, real inner_high, real outer_low, real beyond,
                                     __global uchar *answer, uint items)
{
    const u32 item = (u32)get_global_id(0);
    if (item >= items)
        return;
    const real d = distance[item];
    const int is_blocked = d <= inner_low, is_free = d >= beyond, is_between = d >= inner_high && d <= outer_low;
    answer[item] = (uchar)(is_blocked ? CLEARANCE_BLOCKED : is_free ? CLEARANCE_FREE : CLEARANCE_UNDECIDED);
    if (!is_blocked && !is_free && !is_between)
        list[CLEARANCE_LIST + atomic_inc(list + CLEARANCE_COUNT)] = item;
    if (triangle[item] == MESH_LOOP_TRUNCATED)
        list[CLEARANCE_TRUNCATED] = 1;
}
#endif

#ifdef KERNEL_lattice_put
/* Puts the host's answers for listed nodes to their places. */
__kernel void carom_lattice_put(__global const uint *list, __global const uchar *decided, __global uchar *answer,
                                uint items)
{
    const u32 item = (u32)get_global_id(0);
    if (item < items)
        answer[list[CLEARANCE_LIST + item]] = decided[item];
}
#endif
