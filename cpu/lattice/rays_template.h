/* SPDX-License-Identifier: MIT */
/* Searches the hierarchy for triangles that may meet a vertical ray through a column of a lattice, LANES boxes or
 * triangles at a time (kernels/lattice_rays.h). */
#include "kernels/lattice_rays.h"
#include "cpu/mesh/rays_template.h"
#include "rays.h"

/* Passes the leaf's triangles that a ray may meet to the caller; 0 ends the search. */
static int lattice_rays_visit_leaf(const caromi_rays *rays, int reference)
{
    const mesh_leaf *leaf = mesh_leaf_at(rays->mesh, reference);
    const vf scale = v_f(rays->mesh->frame.scale);
    rays_candidates found = {.count = 0};
    for (int lane = 0; lane < MESH_WIDTH; lane += LANES) {
        const mesh_corners corners = mesh_corners_of(leaf, reference, lane);
        const vm filled = vi_gt(mesh_load_int(leaf->triangle + lane), v_i(-1));
        rays_add_lanes(&found, leaf, lane, &corners,
                       v_bitmask(v_and(filled, rays_keep(&rays->columns, v3_mul(corners.p0, scale),
                                                         v3_mul(corners.p1, scale), v3_mul(corners.p2, scale)))));
    }
    return found.count == 0 || rays->found(rays->user, found.triangle, found.corners, found.count);
}

FN vm lattice_rays_keep_box(const caromi_rays *rays, v3 lo, v3 hi)
{
    return rays_keep_box(&rays->columns, lo, hi);
}

/* Visits all boxes that a ray may meet. */
RAYS_SEARCH(rays_search, const caromi_rays, lattice_rays_keep_box, lattice_rays_visit_leaf)
