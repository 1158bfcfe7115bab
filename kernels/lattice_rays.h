/* SPDX-License-Identifier: MIT */
/* Which boxes and triangles may meet a vertical ray through a column of a lattice: LANES of them at a time. An excluded
 * box or triangle certainly meets no ray. Most triangles of a fine mesh lie between the columns, and most triangles
 * whose box holds one column do not meet it. docs/volumes.md, section 3, has the bounds. */
#ifndef CAROM_LATTICE_RAYS_H
#define CAROM_LATTICE_RAYS_H
#include "mesh_rays.h"

#include "lattice_box.h" /* needs wide_real */

/* Columns in an interval along an axis: the last one that it may hold, whether it may hold any, and whether at most
 * one. */
typedef struct rays_last {
    vf column;
    vm exists, is_single;
} rays_last;

/* Adding and subtracting 1.5 * 2^23 rounds to an integer. */
FN rays_last rays_last_of(const lattice_rays *rays, int axis, vf lo, vf hi)
{
    const real error = rays->error * rays->per_length;
    const vf origin = v_f(rays->origin[axis]), per_length = v_f(rays->per_length), magic = v_f(R(0x1.8p23));
    const vf first = v_f(rays->first[axis] - R(0.5)), end = v_f(rays->end[axis] - R(0.5));
    const vf first_column = v_max((lo - origin) * per_length, first) - v_f(error);
    const vf last_column = v_max(v_min((hi - origin) * per_length, end), first - v_f(R(1.0)));
    rays_last last;
    last.column = ((last_column + v_f(R(2.0) * error - R(0.5))) + magic) - magic;
    last.exists = v_le(first_column, last.column);
    last.is_single = v_lt(last.column - v_f(R(1.0)), first_column);
    return last;
}

/* Whether a ray may meet the triangle. Corners are in the mesh's unit. */
FN vm rays_keep(const lattice_rays *rays, v3 p0, v3 p1, v3 p2)
{
    const v3 lo = mesh_min3(p0, p1, p2), hi = mesh_max3(p0, p1, p2);
    const rays_last x = rays_last_of(rays, AXIS_X, lo.x, hi.x), y = rays_last_of(rays, AXIS_Y, lo.y, hi.y);
    const vm box_is_met = v_and(v_le(v_f(rays->lowest), hi.z), v_and(x.exists, y.exists));
    const vf at_x = v_f(rays->origin[0]) + x.column * v_f(rays->spacing);
    const vf at_y = v_f(rays->origin[1]) + y.column * v_f(rays->spacing);
    /* A triangle with the single column of its box certainly outside an edge is missed. */
    const vm is_outside = rays_is_outside(at_x, at_y, rays->error, p0, p1, p2, lo, hi);
    return v_and(box_is_met, v_not(v_and(is_outside, v_and(x.is_single, y.is_single))));
}

/* Whether a ray may meet the box. */
FN vm rays_keep_box(const lattice_rays *rays, v3 lo, v3 hi)
{
    const vm above = v_le(v_f(rays->lowest), hi.z);
    return v_and(above,
                 v_and(rays_last_of(rays, AXIS_X, lo.x, hi.x).exists, rays_last_of(rays, AXIS_Y, lo.y, hi.y).exists));
}
#endif
