/* SPDX-License-Identifier: MIT */
/* The side of a mesh that the centre of a query is on: the crossings of a ray that goes from it along +z, one triangle
 * after the other. The CPU has the same ray in cpu/mesh/rays_template.h. Both decide each crossing exactly, so their
 * sums are equal. */
#ifndef CAROM_MESH_SIDE_H
#define CAROM_MESH_SIDE_H
#include "lattice_crossing.h"
#include "mesh_rays.h"
#include "mesh_run.h"

/* A ray, and the triangles that it may count. */
typedef struct side_ray {
    v3 start;
    mesh_ray scaled; /* the start in the mesh's unit */
    int mask;
} side_ray;

FN side_ray side_ray_of(const mesh_run *run, u32 row)
{
    const real scale = run->frame.scale;
    side_ray ray;
    ray.start = v3_of(run->in[MESH_CX][row], run->in[MESH_CY][row], run->in[MESH_CZ][row]);
    ray.scaled.x = ray.start.x * scale;
    ray.scaled.y = ray.start.y * scale;
    ray.scaled.z = ray.start.z * scale;
    ray.mask = (run->options & MESH_QUERY_MASKS) != 0 ? run->mask[row] : -1;
    return ray;
}

/* 1 or -1 if the ray crosses the triangle strictly above its start, by the normal's direction; else 0. */
FN int side_crossing(const side_ray *ray, const v3 corner[3])
{
    const int side = crossing_of(corner, ray->start.x, ray->start.y);
    if (side == 0)
        return 0;
    const crossing_height height = crossing_height_of(corner, ray->start.x, ray->start.y);
    return crossing_is_above(corner, &height, side, ray->start.x, ray->start.y, ray->start.z) ? side : 0;
}

/* The sum of the crossings of a leaf's triangles. */
FN int side_of_leaf(const mesh_run *run, const side_ray *ray, int reference)
{
    G const mesh_leaf *leaf = run->leaves + MESH_LEAF_AT(reference);
    const real scale = run->frame.scale;
    int sum = 0;
    LANG_ROLLED
    for (int slot = 0; slot < MESH_WIDTH; slot++)
        if (mesh_unmasked(leaf->triangle[slot], run->masks, reference, slot, ray->mask, run->options)) {
            const mesh_corners corners = mesh_corners_of(leaf, reference, slot);
            const v3 corner[3] = {corners.p0, corners.p1, corners.p2};
            if (mesh_ray_keep(ray->scaled, v3_mul(corners.p0, scale), v3_mul(corners.p1, scale),
                              v3_mul(corners.p2, scale)))
                sum += side_crossing(ray, corner);
        }
    return sum;
}

/* The sum of the crossings of the ray of a query. */
FN int side_sum(const mesh_run *run, u32 row)
{
    const side_ray ray = side_ray_of(run, row);
    int pending[MESH_STACK], count = 0, sum = 0;
    if (ray.mask != 0)
        pending[count++] = run->frame.root;
    while (count > 0) {
        const int next = pending[--count];
        if (next < 0) {
            sum += side_of_leaf(run, &ray, next);
        } else {
            G const mesh_node *node = run->nodes + next;
            LANG_ROLLED
            for (int slot = 0; slot < MESH_WIDTH; slot++) {
                const v3 lo = v3_of(node->lo_x[slot], node->lo_y[slot], node->lo_z[slot]),
                         hi = v3_of(node->hi_x[slot], node->hi_y[slot], node->hi_z[slot]);
                if (node->child[slot] != 0 && mesh_ray_keep_box(ray.scaled, lo, hi))
                    pending[count++] = node->child[slot];
            }
        }
    }
    return sum;
}

/* Whether a query is valid, so that it may have a side. */
FN int side_is_valid(const mesh_run *run, u32 row)
{
    const real radius = run->in[MESH_RADIUS][row];
    return v_finite(run->in[MESH_CX][row]) && v_finite(run->in[MESH_CY][row]) && v_finite(run->in[MESH_CZ][row]) &&
           v_finite(radius) && radius >= R(0.0);
}

FN int side_is_inside(const mesh_run *run, u32 row, int is_parity)
{
    const int sum = side_sum(run, row);
    return is_parity ? sum & 1 : sum != 0;
}
#endif
