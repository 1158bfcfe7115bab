/* SPDX-License-Identifier: MIT */
/* Empty-space skipping: a grid of cubes over the box of a mesh. Each cube stores its distance, in cubes, from the
 * leaves of the hierarchy. A sphere whose whole motion stays within that distance hits nothing and needs no traversal.
 *
 * A triangle is hit only if its box test passes (mesh_traversal.h), so it is enough that no box test can pass:
 * docs/numerics.md, section 11. */
#ifndef CAROM_CLEARANCE_H
#define CAROM_CLEARANCE_H
#include "layout.h"
#include "vec.h"

/* The grid, in mesh units. Behind this header follows a byte for each cube, x fastest, then y. The byte is 0 if some
 * leaf's box meets the cube. It is k if no box meets the cube or a cube within k - 1 cubes of it, at most
 * CLEARANCE_MOST. */
typedef struct mesh_clearance {
    real lower[3], per_length; /* a corner of all cubes; cubes per length */
    real scale;                /* of the mesh */
    real size[3];              /* cubes along x y z, all together below 2^23 */
} mesh_clearance;

#define CLEARANCE_MOST 16

/* The integer nearest to x; x from 0 to 2^22. */
#define CLEARANCE_ROUND R(0x1p23)
FN vf clearance_round(vf x)
{
    return (x + v_f(CLEARANCE_ROUND)) - v_f(CLEARANCE_ROUND);
}

/* The interval that a sphere may reach along one axis, cut to the mesh's box: the slab of cubes at its middle, and its
 * extent from there. needed <= k if the interval stays within k - 1/2 cubes of the middle of that slab; needed < 0 if
 * it is outside the box. `slab` is in range for any input. */
typedef struct clearance_span {
    vf slab, needed;
} clearance_span;

/* The interval [middle - reach, middle + reach] along an axis, in slabs of the grid. */
FN clearance_span clearance_span_of(vf middle, vf reach, const mesh_clearance *grid, int axis)
{
    const vf zero = v_f(R(0.0)), by_two = v_f(R(0.5)), end = v_f(grid->size[axis]);
    const vf at = (middle - v_f(grid->lower[axis])) * v_f(grid->per_length), cubes = reach * v_f(grid->per_length);
    const vf from = v_max(at - cubes, zero), to = v_min(at + cubes, end), length = to - from;
    const vf position = (from + to) * by_two - by_two; /* 0: in the middle of the first slab */
    clearance_span span;
    span.slab = clearance_round(v_min(v_max(position, zero), end - v_f(R(1.0))));
    span.needed = v_sel(v_lt(length, zero), v_f(R(-1.0)), by_two + length * by_two + v_abs(position - span.slab));
    return span;
}

/* Early out: which spheres certainly hit nothing. motion: the velocity, or with MESH_ENDS the end position; an overflow
 * of its difference from the centre gives "not free". Margins: 2^-18 of the largest coordinate, 2^-20 of the path. */
FN vm clearance_is_free(G const mesh_clearance *clearance, v3 center, vf radius, v3 motion, vf t_max, int options)
{
    const v3 velocity = (options & MESH_ENDS) != 0 ? v3_sub(motion, center) : motion;
    const mesh_clearance grid = *clearance;
    G const u8 *cubes = (G const u8 *)(clearance + 1);
    /* Box tests round times to 0 that are too small for a number: the sphere may move for longer than its window. */
    const vm rests = vi_eq(v3_magnitude(velocity), v_i(0));
    const vf half_time = v_sel(rests, v_f(R(0.0)), t_max * v_f(R(0.5)) + v_f(R(0x1p-120)));
    const v3 start = v3_mul(center, v_f(grid.scale)), half_path = v3_mul(v3_mul(velocity, v_f(grid.scale)), half_time);
    const v3 middle = v3_add(start, half_path),
             half_paths = v3_of(v_abs(half_path.x), v_abs(half_path.y), v_abs(half_path.z));
    const vf half_length = half_paths.x + half_paths.y + half_paths.z;
    const vf size = v_abs(start.x) + v_abs(start.y) + v_abs(start.z) + radius * v_f(grid.scale) + v_f(R(2.0));
    const vf reach = radius * v_f(grid.scale) + size * v_f(R(0x1p-18)) + half_length * v_f(R(0x1p-20));
    const clearance_span x = clearance_span_of(middle.x, reach + half_paths.x, &grid, AXIS_X);
    const clearance_span y = clearance_span_of(middle.y, reach + half_paths.y, &grid, AXIS_Y);
    const clearance_span z = clearance_span_of(middle.z, reach + half_paths.z, &grid, AXIS_Z);
    /* The extent that is needed around the middle cube, and the number of that cube. */
    const vm is_outside = v_lt(v_min(v_min(x.needed, y.needed), z.needed), v_f(R(0.0)));
    const vf needed = v_sel(is_outside, v_f(R(0.0)), v_max(v_max(x.needed, y.needed), z.needed));
    const vf at = (z.slab * v_f(grid.size[1]) + y.slab) * v_f(grid.size[0]) + x.slab;
    /* Looks up the clearance of the cube. */
    int cube[LANES];
    real free_cubes[LANES];
    vi_store(cube, v_bits(at + v_f(CLEARANCE_ROUND)) & 0x7fffff);
    for (int lane = 0; lane < LANES; lane++)
        free_cubes[lane] = (real)cubes[cube[lane]];
    /* The grid is not used for NaN, infinity, or numbers so large that every box test passes. */
    const vm in_range = v_and(v_le(v_f(R(0.0)), radius), v_lt(size + half_length, v_f(R(0x1p40))));
    return v_and(in_range, v_le(needed, v_load(free_cubes)));
}
#endif
