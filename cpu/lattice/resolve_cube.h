/* SPDX-License-Identifier: MIT */
/* Whether a mesh is within a limit around a sphere's radius (cube.h): a traversal that ends at the first triangle
 * within. The limit culls like the largest distance of a closest point; the floating-point filter decides most
 * triangles. */
#include "kernels/mesh_closest_exact.h"
#include "cpu/exact/cube.h"
#include "cpu/mesh/nodes.h"

/* The limit to test against, and its bounds in binary64. */
typedef struct cube_reach {
    const caromi_cube *cube;
    enum caromi_cube_limit which;
    caromi_bounds limit;
} cube_reach;

/* Whether one triangle is within the limit: the filter decides, or else integers. */
static int cube_triangle_reaches(const closest_group *group, const cube_reach *reach_limit)
{
    const closest_proven proven = closest_prove(group->in, group->active);
    closest_rows in;
    if (caromi_distance_bounds(proven.high).high <= reach_limit->limit.low)
        return 1;
    if (caromi_distance_bounds(proven.low).low > reach_limit->limit.high)
        return 0;
    closest_store(&in, group->in);
    return caromi_cube_reaches((const float *)&in, reach_limit->cube, reach_limit->which);
}

/* Whether a triangle of a leaf is within the limit. */
static int cube_leaf_reaches(const mesh_leaf *leaf, const closest_traversal *trav, float scale, int options,
                             const cube_reach *r)
{
    for (int lane = 0; lane < MESH_WIDTH; lane++) {
        const closest_group g = closest_group_of(leaf, lane, trav, scale, options);
        if (g.active && cube_triangle_reaches(&g, r))
            return 1;
    }
    return 0;
}

/* Traverses the hierarchy until a triangle is within the limit. */
static int cube_resolve(const caromi_mesh_view *mesh, const float *center, int options, const caromi_cube *cube,
                        enum caromi_cube_limit which)
{
    const cube_reach reach_limit = {cube, which, caromi_cube_bounds(cube, which)};
    const closest_query query = {center[0], center[1], center[2], 0, caromi_float_above(reach_limit.limit.high), -1};
    closest_traversal trav;
    if (reach_limit.limit.high < 0)
        return 0;
    trav.masks = mesh->masks;
    int left = closest_begin(&trav, mesh->frame, query, options);
    while (left)
        if (trav.next >= 0) {
            left = closest_visit_node(&trav, mesh_node_at(mesh, trav.next), options);
        } else {
            if (cube_leaf_reaches(mesh_leaf_at(mesh, trav.next), &trav, mesh->frame.scale, options, &reach_limit))
                return 1;
            left = closest_pop_next(&trav);
        }
    return 0;
}
