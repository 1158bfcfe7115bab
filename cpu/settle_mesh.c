/* SPDX-License-Identifier: MIT */
/* A mesh query that the kernels leave open: the same traversal, with integers for every triangle whose box is entered in
 * time. */
#define LANES 1
#include "../kernels/mesh.h"
#include "exact.h"
#include "mesh.h"

/* A triangle of a leaf, exactly; 1 if it is better. */
static int settle_triangle(const mesh_leaf *leaf, int lane, mesh_walk *w, const float *query)
{
    mesh_best *best = &w->best;
    float in[IN_SWEEP_MOVING] = {0};
    caromi_exact_sweep a;
    memcpy(in, query, IN_P0X * sizeof *in);
    for (int k = 0; k < 9; k++)
        in[IN_P0X + k] = leaf->p[k][lane];
    caromi_exact_sweep_of(in, CAROMI_EXACT_TIMES, w->limit, &a);
    const int begins = a.state == STATE_TOUCHING || a.state == STATE_OVERLAPPING;
    if (!begins && (a.state != STATE_APPROACHING || a.beyond))
        return 0;
    const float t = begins ? 0 : a.t_first;
    if (t > best->t || (t == best->t && leaf->triangle[lane] >= best->triangle))
        return 0;
    best->t = t;
    best->triangle = leaf->triangle[lane];
    best->state = a.state;
    return 1;
}

static int settle_leaf(const mesh_leaf *leaf, mesh_walk *w, float scale, const float *query)
{
    int better = 0;
    for (int lane = 0; lane < MESH_WIDTH; lane++) {
        const v3 p0 = mesh_corner(leaf, 0, lane), p1 = mesh_corner(leaf, 1, lane), p2 = mesh_corner(leaf, 2, lane);
        float enter, leave;
        if (lane > 0 && leaf->triangle[lane] == leaf->triangle[lane - 1]) /* an empty slot */
            continue;
        mesh_box(w->slabs, v3_mul(mesh_min3(p0, p1, p2), scale), v3_mul(mesh_max3(p0, p1, p2), scale), &enter, &leave);
        if (mesh_box_open(enter, leave, leaf->triangle[lane], w->until))
            better |= settle_triangle(leaf, lane, w, query);
    }
    return better;
}

void caromi_settle_mesh(const caromi_mesh_view *mesh, const float *query, int32_t *triangle, int32_t *state, float *t)
{
    const mesh_query q = {query[0], query[1], query[2], query[3], query[4], query[5], query[6], query[7]};
    mesh_walk w;
    int left = mesh_begin(&w, mesh->frame, q);
    for (; left; left = mesh_advance(&w)) {
        if (w.next >= 0)
            mesh_visit(&w, mesh->frame, mesh->nodes, mesh->leaves);
        else if (settle_leaf(mesh->leaves + ~w.next, &w, mesh->frame.scale, query))
            mesh_found(&w);
    }
    *triangle = w.hit.triangle;
    *state = w.hit.state;
    *t = w.hit.t;
}
