/* SPDX-License-Identifier: MIT */
/* The grid of empty space of a mesh that a GPU has refitted: the bytes of host/mesh/clearance.c. The host names the
 * kernel that it builds, and runs them in this order: begin, count, mark, row, and spread along y and z. */
#include "refit.h"
#include "mesh_nodes.h"
#include "clearance.h"

/* The cubes that a leaf's box touches: first and last along each axis. Returns their number, 0 if it is no leaf. */
FN uint refit_cubes(__global const mesh_node *nodes, ulong at, const mesh_clearance *grid, int from[3], int to[3])
{
    __global const real *box = (__global const real *)&nodes[at / MESH_WIDTH] + at % MESH_WIDTH;
    uint count = 1;
    if (nodes[at / MESH_WIDTH].child[at % MESH_WIDTH] >= 0)
        return 0;
    for (int k = 0; k < 3; k++) {
        const int last = (int)grid->size[k] - 1;
        from[k] = max(0, min((int)((box[MESH_WIDTH * k] - grid->lower[k]) * grid->per_length), last));
        to[k] = max(0, min((int)((box[MESH_WIDTH * (3 + k)] - grid->lower[k]) * grid->per_length), last));
        count *= (uint)(to[k] - from[k] + 1);
    }
    return count;
}

#ifdef KERNEL_refit_space_begin
/* Writes the header of the grid, clears the marks, and the number of marks behind them. */
__kernel void carom_refit_space_begin(__global mesh_clearance *clearance, real lower_x, real lower_y, real lower_z,
                                      real per_length, real scale, uint size_x, uint size_y, uint size_z,
                                      __global uint *marks, uint words, uint items)
{
    (void)items;
    REFIT_FOR_EACH(i, words + 1)
    {
        marks[i] = 0;
    }
    if (get_global_id(0) != 0)
        return;
    clearance->lower[0] = lower_x;
    clearance->lower[1] = lower_y;
    clearance->lower[2] = lower_z;
    clearance->per_length = per_length;
    clearance->scale = scale;
    clearance->size[0] = (real)size_x;
    clearance->size[1] = (real)size_y;
    clearance->size[2] = (real)size_z;
}
#endif

#ifdef KERNEL_refit_space_count
/* Adds up the cubes that leaves touch. A group adds at most most + 1, so that the sum of up to 1024 groups fits. */
__kernel REFIT_WHOLE_GROUP void carom_refit_space_count(__global const mesh_node *nodes, uint node_count,
                                                        __global const mesh_clearance *clearance, uint most,
                                                        __global uint *sum, uint sum_at, uint items)
{
    volatile __local uint of_group;
    const mesh_clearance grid = *clearance;
    int from[3], to[3];
    uint own = 0;
    (void)items;
    if (get_local_id(0) == 0)
        of_group = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    REFIT_FOR_EACH(at, (ulong)node_count * MESH_WIDTH)
    {
        own = min(own + refit_cubes(nodes, at, &grid, from, to), most + 1);
    }
    atomic_add(&of_group, own);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        atomic_add(&sum[sum_at], min(of_group, most + 1));
}
#endif

#ifdef KERNEL_refit_space_mark
/* Sets a bit for each cube that a leaf touches, unless these are too many. */
__kernel void carom_refit_space_mark(__global const mesh_node *nodes, uint node_count,
                                     __global const mesh_clearance *clearance, uint most, __global uint *marks,
                                     uint sum_at, uint items)
{
    const mesh_clearance grid = *clearance;
    const uint row = (uint)grid.size[0], rows = (uint)grid.size[1];
    int from[3], to[3];
    (void)items;
    if (marks[sum_at] > most)
        return;
    REFIT_FOR_EACH(at, (ulong)node_count * MESH_WIDTH)
    {
        if (refit_cubes(nodes, at, &grid, from, to) == 0)
            continue;
        for (int z = from[2]; z <= to[2]; z++)
            for (int y = from[1]; y <= to[1]; y++)
                for (int x = from[0]; x <= to[0]; x++) {
                    const uint cube = ((uint)z * rows + (uint)y) * row + (uint)x;
                    atomic_or(&marks[cube / 32], 1u << cube % 32);
                }
    }
}
#endif

/* i / d, for i below 2^17 and inverse = 2^34 / d rounded up: some compilers divide through approximate quotients. */
FN uint refit_quotient(uint i, ulong inverse)
{
    return (uint)((ulong)i * inverse >> REFIT_INVERSE_BITS);
}

#ifdef KERNEL_refit_space_row
/* The distance of each cube from a marked one along x, at most CLEARANCE_MOST. If there were too many marks, 0. */
__kernel void carom_refit_space_row(__global const uint *marks, uint sum_at, uint most, __global uchar *to, uint length,
                                    ulong by_length, uint cubes, uint items)
{
    const uint none = marks[sum_at] > most ? 0 : CLEARANCE_MOST;
    (void)items;
    REFIT_FOR_EACH(i, cubes)
    {
        const uint cube = (uint)i, at = cube - length * refit_quotient(cube, by_length);
        uint distance = none;
        for (uint d = 0; d < distance; d++) {
            const uint before = cube - min(d, at), behind = cube + min(d, length - 1 - at);
            const uint is_marked = (d <= at && (marks[before / 32] >> before % 32 & 1)) ||
                                   (d < length - at && (marks[behind / 32] >> behind % 32 & 1));
            distance = is_marked ? d : distance;
        }
        to[cube] = (uchar)distance;
    }
}
#endif

#ifdef KERNEL_refit_space_spread
/* The same along another axis, of cubes `step` apart: the distance of cubes is the largest of those along the axes. */
__kernel void carom_refit_space_spread(__global const uchar *from, __global uchar *to, uint to_at, uint step,
                                       ulong by_step, uint length, ulong by_length, uint cubes, uint items)
{
    (void)items;
    REFIT_FOR_EACH(i, cubes)
    {
        const uint cube = (uint)i, line = refit_quotient(cube, by_step);
        const uint at = line - length * refit_quotient(line, by_length);
        uint distance = from[cube];
        for (uint d = 1; d < distance; d++) {
            const uint before = d <= at ? from[cube - d * step] : distance;
            const uint behind = d < length - at ? from[cube + d * step] : distance;
            distance = min(distance, max(d, min(before, behind)));
        }
        to[to_at + cube] = (uchar)distance;
    }
}
#endif
