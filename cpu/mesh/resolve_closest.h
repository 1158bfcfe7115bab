/* SPDX-License-Identifier: MIT */
/* The integer rung of exact mode for closest points: the same traversal, with integers for the triangles whose
 * distances the floating-point filter leaves undecided. */
#include "kernels/mesh_closest_exact.h"
#include "cpu/exact/exact.h"
#include "nodes.h"

/* Decides a triangle of a leaf; 1 if it is closer than the best. */
static int closest_resolve_triangle(const closest_group *group, closest_traversal *trav)
{
    const closest_proven proven = closest_prove(group->in, group->active);
    float distance = proven.low;
    if (proven.low != proven.high) {
        caromi_exact_closest answer;
        closest_rows in;
        if (proven.low > trav->distance || proven.low > trav->best.t)
            return 0;
        closest_store(&in, group->in);
        caromi_exact_closest_of((const float *)&in, &answer);
        distance = answer.distance;
    }
    return closest_record(trav, 1, distance, group->triangle);
}

/* Solves the triangles of a leaf, and keeps the closest. */
static void closest_resolve_leaf(const mesh_leaf *leaf, closest_traversal *trav, float scale, int options)
{
    int better = 0;
    for (int lane = 0; lane < MESH_WIDTH; lane++) {
        const closest_group group = closest_group_of(leaf, lane, trav, scale, options);
        if (group.active)
            better |= closest_resolve_triangle(&group, trav);
    }
    if (better)
        closest_reduce(trav);
}

/* Traverses the hierarchy for one query; no triangle stays undecided. */
static void closest_resolve(const caromi_mesh_view *mesh, const caromi_mesh_query *query, int32_t *triangle,
                            float *distance, float *depth)
{
    const float *in = query->in;
    const closest_query traversed = {in[MESH_CX],     in[MESH_CY],           in[MESH_CZ],
                                     in[MESH_RADIUS], in[MESH_MAX_DISTANCE], query->mask};
    closest_traversal trav;
    trav.masks = mesh->masks;
    MESH_BEGIN_AT(&trav, mesh);
    int left = closest_begin(&trav, mesh->frame, traversed, query->options);
    while (left)
        if (trav.next >= 0) {
            left = closest_visit_node(&trav, MESH_NODE(mesh, &trav), query->options);
        } else {
            closest_resolve_leaf(MESH_LEAF_HERE(mesh, &trav), &trav, mesh->frame.scale, query->options);
            left = closest_pop_next(&trav);
        }
    const closest_hit hit = closest_end(&trav);
    *triangle = hit.triangle;
    *distance = hit.distance;
    *depth = hit.depth;
}
