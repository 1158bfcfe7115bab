/* SPDX-License-Identifier: MIT */
/* Searches the hierarchy for triangles that may meet a vertical ray through a column of a lattice, LANES boxes or
 * triangles at a time (kernels/lattice_rays.h). */
#include "kernels/lattice_rays.h"
#include "rays.h"

/* Passes the leaf's triangles that a ray may meet to the caller; 0 ends the search. */
static int rays_visit_leaf(const caromi_rays *rays, int reference)
{
    const mesh_leaf *leaf = rays->mesh->leaves + MESH_LEAF_AT(reference);
    const vf scale = v_f(rays->mesh->frame.scale);
    LANG_ALIGNED real rows[9][LANES];
    int32_t found[MESH_WIDTH];
    real corners[MESH_WIDTH][9]; /* x y z of P0, P1 and P2 */
    u32 count = 0;
    for (int lane = 0; lane < MESH_WIDTH; lane += LANES) {
        const mesh_corners mesh_triangle = mesh_corners_of(leaf, reference, lane);
        const vm filled = vi_gt(mesh_load_int(leaf->triangle + lane), v_i(-1));
        u32 left =
            v_bitmask(v_and(filled, rays_keep(&rays->columns, v3_mul(mesh_triangle.p0, scale),
                                              v3_mul(mesh_triangle.p1, scale), v3_mul(mesh_triangle.p2, scale))));
        if (left == 0)
            continue;
        const vf values[] = {mesh_triangle.p0.x, mesh_triangle.p0.y, mesh_triangle.p0.z,
                             mesh_triangle.p1.x, mesh_triangle.p1.y, mesh_triangle.p1.z,
                             mesh_triangle.p2.x, mesh_triangle.p2.y, mesh_triangle.p2.z};
        for (int coordinate = 0; coordinate < 9; coordinate++)
            v_store(rows[coordinate], values[coordinate]);
        for (; left != 0; left &= left - 1) {
            const int hit_lane = bitmask_first(left);
            for (int coordinate = 0; coordinate < 9; coordinate++)
                corners[count][coordinate] = rows[coordinate][hit_lane];
            found[count++] = leaf->triangle[lane + hit_lane];
        }
    }
    return count == 0 || rays->found(rays->user, found, corners, count);
}

/* Visits all boxes that a ray may meet. */
static void rays_search(const caromi_rays *rays)
{
    int pending[MESH_STACK], count = 1;
    pending[0] = rays->mesh->frame.root;
    while (count > 0) {
        const int next = pending[--count];
        if (next < 0) {
            if (!rays_visit_leaf(rays, next))
                return;
            continue;
        }
        const mesh_node *node = rays->mesh->nodes + next;
        for (int lane = 0; lane < MESH_WIDTH; lane += LANES) {
            const v3 lo = v3_of(v_load(node->lo_x + lane), v_load(node->lo_y + lane), v_load(node->lo_z + lane));
            const v3 hi = v3_of(v_load(node->hi_x + lane), v_load(node->hi_y + lane), v_load(node->hi_z + lane));
            const vm filled = v_not(vi_eq(mesh_load_int(node->child + lane), v_i(0)));
            for (u32 left = v_bitmask(v_and(filled, rays_keep_box(&rays->columns, lo, hi))); left != 0;
                 left &= left - 1)
                pending[count++] = node->child[lane + bitmask_first(left)];
        }
    }
}
