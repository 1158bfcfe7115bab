/* SPDX-License-Identifier: MIT */
/* Which boxes and triangles of a mesh may meet a vertical ray, which goes from a point along +z: LANES of them at a
 * time. An excluded box or triangle certainly does not meet it. docs/volumes.md, section 3, has the bounds. */
#ifndef CAROM_MESH_RAYS_H
#define CAROM_MESH_RAYS_H
#include "mesh.h"

/* Twice the area that a ray and an edge span, seen from above. */
FN vf rays_side(vf x, vf y, v3 a, v3 b)
{
    return (a.x - x) * (b.y - y) - (a.y - y) * (b.x - x);
}

/* Whether a ray within the box [lo, hi] of a triangle is certainly on different sides of two edges. Its position has an
 * error of at most `error` along x and y. */
FN vm rays_is_outside(vf x, vf y, real error, v3 p0, v3 p1, v3 p2, v3 lo, v3 hi)
{
    const vf side01 = rays_side(x, y, p0, p1), side12 = rays_side(x, y, p1, p2), side20 = rays_side(x, y, p2, p0);
    const vf width = v_max(hi.x - lo.x, hi.y - lo.y) + v_f(R(4.0) * error);
    const vf side_error = width * (width * v_f(R(0x1p-19)) + v_f(R(8.0) * error)) + v_f(R(0x1p-100));
    return v_and(v_lt(v_min(v_min(side01, side12), side20), -side_error),
                 v_lt(side_error, v_max(v_max(side01, side12), side20)));
}

/* The start of a ray, in the mesh's unit of length. */
typedef struct mesh_ray {
    real x, y, z;
} mesh_ray;

/* Whether the ray may meet the box. Scaling to the mesh's unit is monotone, so it excludes no box that is met. */
FN vm mesh_ray_keep_box(mesh_ray ray, v3 lo, v3 hi)
{
    const vf x = v_f(ray.x), y = v_f(ray.y);
    const vm in_x = v_and(v_le(lo.x, x), v_le(x, hi.x)), in_y = v_and(v_le(lo.y, y), v_le(y, hi.y));
    return v_and(v_le(v_f(ray.z), hi.z), v_and(in_x, in_y));
}

/* Whether the ray may meet the triangle. Corners are in the mesh's unit. */
FN vm mesh_ray_keep(mesh_ray ray, v3 p0, v3 p1, v3 p2)
{
    const v3 lo = mesh_min3(p0, p1, p2), hi = mesh_max3(p0, p1, p2);
    const vm is_outside = rays_is_outside(v_f(ray.x), v_f(ray.y), R(0.0), p0, p1, p2, lo, hi);
    return v_and(mesh_ray_keep_box(ray, lo, hi), v_not(is_outside));
}
#endif
