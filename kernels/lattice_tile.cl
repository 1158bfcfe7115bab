/* SPDX-License-Identifier: MIT */
/* Distances of lattice nodes tile by tile, as OpenCL sees them. The host names the kernel that it builds. */
#ifdef KERNEL_lattice_tile_exact
#define TILE_EXACT
#endif
#include "lattice_tile.h"
#include "mesh_arguments.h"

/* A work-group answers a tile of the box, from tile `first_tile` on. Nodes that are beyond the band, or whose triangles
 * are all masked out, have the band as distance and triangle -1. In exact mode an undecided distance is NaN. The nodes'
 * coordinates are stored for the kernel of closest points. inside: of signed distances, as carom_lattice_inside leaves
 * it; an inside node's distance is negated, but a zero stays +0. */
__kernel __attribute__((reqd_work_group_size(LATTICE_TILE, 1, 1))) void
LANG_CAT(carom_, KERNEL)(MESH_PARAMETERS, lattice_box box, uint first_tile, real band, int is_signed,
                         __global const int *inside, int stores_nodes, __global real *cx, __global real *cy,
                         __global real *cz, __global int *triangle, __global real *distance, uint items)
{
    __local tile_memory memory;
    const u32 tile = first_tile + (u32)get_group_id(0), tile_row = tile / box.tiles[0];
    tile_work work;
    work.memory = &memory;
    work.frame = mesh_run_of_mesh(MESH_ARGUMENTS).frame;
    work.nodes = nodes;
    work.leaves = leaves;
    work.masks = masks;
    work.options = options;
    work.item = (u32)get_local_id(0);
    work.band = band;
    for (int axis = 0; axis < 3; axis++)
        work.shift[axis] = box.shift[axis];
    /* The tile's first node, and the item's own. */
    const u32 first[3] = {tile % box.tiles[0] << box.shift[0], tile_row % box.tiles[1] << box.shift[1],
                          tile_row / box.tiles[1] << box.shift[2]};
    const u32 x = first[0] + tile_index(work.shift, work.item, 0), y = first[1] + tile_index(work.shift, work.item, 1),
              z = first[2] + tile_index(work.shift, work.item, 2);
    const ulong element = box.at + z * box.slab + y * box.row + x;
    const int has_node = x < box.count[0] && y < box.count[1] && z < box.count[2] && element < box.elements;
    tile_locate_nodes(&work, &box, first);
    tile_begin(&work, has_node);
    tile_make_block(&work);
    tile_answer(&work, has_node);
    TILE_BARRIER();
    if (!has_node)
        return;
    /* The answer. */
    const int found = memory.best_triangle[work.item];
    const u32 best = memory.best[work.item], undecided = memory.undecided[work.item];
    const int is_undecided = undecided < real_bits(R(1.0) / R(0.0)) && undecided <= best;
    triangle[element] = found == MESH_NO_TRIANGLE ? -1 : found;
    const real answer = real_of_bits(is_undecided ? R_NAN_BITS : best);
    const ulong row = (ulong)z * box.count[1] + y;
    distance[element] = is_signed && inside[row * box.count[0] + x] ? R(0.0) - answer : answer;
    const int misses_crossings = is_signed && inside[(ulong)box.count[0] * box.count[1] * box.count[2]];
    if (misses_crossings || mesh_run_is_truncated(1u << (box.shift[0] + box.shift[1] + box.shift[2])))
        triangle[element] = MESH_LOOP_TRUNCATED;
    if (stores_nodes) {
        const v3 node = tile_position(&work, work.item);
        cx[element] = node.x;
        cy[element] = node.y;
        cz[element] = node.z;
    }
    (void)items;
}
