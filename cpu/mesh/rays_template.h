/* SPDX-License-Identifier: MIT */
/* Searches of the hierarchy for triangles that vertical rays may meet, LANES boxes or triangles at a time
 * (kernels/mesh_rays.h). */
#ifndef CAROM_CPU_MESH_RAYS_TEMPLATE_H
#define CAROM_CPU_MESH_RAYS_TEMPLATE_H
#include "kernels/mesh_rays.h"
#include "cpu/exact/crossing.h"
#include "nodes.h"
#include "rays.h"

/* Triangles of a leaf that a ray may meet. */
typedef struct rays_candidates {
    u32 count;
    int32_t triangle[MESH_WIDTH];
    real corners[MESH_WIDTH][9]; /* x y z of P0, P1 and P2 */
} rays_candidates;

/* Appends the triangles in `lanes`, counted from slot `lane` of the leaf. */
static void rays_add_lanes(rays_candidates *to, const mesh_leaf *leaf, int lane, const mesh_corners *corners, u32 lanes)
{
    LANG_ALIGNED real rows[9][LANES];
    const vf values[] = {corners->p0.x, corners->p0.y, corners->p0.z, corners->p1.x, corners->p1.y,
                         corners->p1.z, corners->p2.x, corners->p2.y, corners->p2.z};
    if (lanes == 0)
        return;
    for (int coordinate = 0; coordinate < 9; coordinate++)
        v_store(rows[coordinate], values[coordinate]);
    for (; lanes != 0; lanes &= lanes - 1) {
        const int found = bitmask_first(lanes);
        for (int coordinate = 0; coordinate < 9; coordinate++)
            to->corners[to->count][coordinate] = rows[coordinate][found];
        to->triangle[to->count++] = leaf->triangle[lane + found];
    }
}

/* Defines `name`: a traversal for `type`, which has a mesh. Visits all boxes that keep_box(rays, lo, hi) keeps, and the
 * leaves below them; a visit that returns 0 ends it. */
#define RAYS_SEARCH(name, type, keep_box, visit_leaf)                                                                 \
    static void name(type *rays)                                                                                      \
    {                                                                                                                 \
        int pending[MESH_STACK], count = 1;                                                                           \
        pending[0] = rays->mesh->frame.root;                                                                          \
        while (count > 0) {                                                                                           \
            const int next = pending[--count];                                                                        \
            if (next < 0) {                                                                                           \
                if (!visit_leaf(rays, next))                                                                          \
                    return;                                                                                           \
                continue;                                                                                             \
            }                                                                                                         \
            const mesh_node *node = mesh_node_at(rays->mesh, next);                                                   \
            for (int lane = 0; lane < MESH_WIDTH; lane += LANES) {                                                    \
                const v3 lo = v3_of(v_load(node->lo_x + lane), v_load(node->lo_y + lane), v_load(node->lo_z + lane)), \
                         hi = v3_of(v_load(node->hi_x + lane), v_load(node->hi_y + lane), v_load(node->hi_z + lane)); \
                const vm filled = v_not(vi_eq(mesh_load_int(node->child + lane), v_i(0)));                            \
                for (u32 left = v_bitmask(v_and(filled, keep_box(rays, lo, hi))); left != 0; left &= left - 1)        \
                    pending[count++] = node->child[lane + bitmask_first(left)];                                       \
            }                                                                                                         \
        }                                                                                                             \
    }

/* ---- rays from points -------------------------------------------------------------------------------------------- */

/* One ray. */
typedef struct point_ray {
    const caromi_mesh_view *mesh;
    float start[3];
    mesh_ray scaled; /* the start in the mesh's unit */
    int mask, options;
    int32_t sum;
} point_ray;

FN vm point_ray_keep_box(const point_ray *ray, v3 lo, v3 hi)
{
    return mesh_ray_keep_box(ray->scaled, lo, hi);
}

/* Adds the directions of the leaf's triangles that the ray crosses. */
static int point_ray_visit_leaf(point_ray *ray, int reference)
{
    const mesh_leaf *leaf = mesh_leaf_at(ray->mesh, reference);
    const vf scale = v_f(ray->mesh->frame.scale);
    rays_candidates found = {.count = 0};
    for (int lane = 0; lane < MESH_WIDTH; lane += LANES) {
        const mesh_corners corners = mesh_corners_of(leaf, reference, lane);
        const vm counts = mesh_unmasked(mesh_load_int(leaf->triangle + lane), ray->mesh->masks, reference, lane,
                                        ray->mask, ray->options);
        rays_add_lanes(&found, leaf, lane, &corners,
                       v_bitmask(v_and(counts, mesh_ray_keep(ray->scaled, v3_mul(corners.p0, scale),
                                                             v3_mul(corners.p1, scale), v3_mul(corners.p2, scale)))));
    }
    for (u32 i = 0; i < found.count; i++)
        ray->sum += caromi_ray_crosses(found.corners[i], ray->start);
    return 1;
}

RAYS_SEARCH(point_ray_search, point_ray, point_ray_keep_box, point_ray_visit_leaf)

/* Sums the crossings of each ray. */
static void point_rays_sum(const caromi_point_rays *rays)
{
    const float scale = rays->mesh->frame.scale;
    for (uint32_t i = 0; i < rays->count; i++) {
        point_ray ray = {.mesh = rays->mesh,
                         .start = {rays->x[i], rays->y[i], rays->z[i]},
                         .scaled = {rays->x[i] * scale, rays->y[i] * scale, rays->z[i] * scale},
                         .mask = (rays->options & MESH_QUERY_MASKS) != 0 ? rays->mask[i] : -1,
                         .options = rays->options};
        if (ray.mask != 0)
            point_ray_search(&ray);
        rays->sum[i] = ray.sum;
    }
}
#endif
