/* SPDX-License-Identifier: MIT */
/* All triangles of a mesh within a distance of a centre, each with its distance and the feature that is closest: what
 * contacts are chosen from, and what merges them. The traversal is that of mesh_closest.h with a limit that stays. So
 * the hierarchy is culled by the ball itself, not by its box.
 *
 * Triangles that share an edge or a corner must agree on its distance. So the distance of an edge or a corner is
 * computed from its positions alone, with the ends in lexicographic order, and clamped by the edge's own box. That box
 * lies in those of its triangles and nodes, so here, too, no answer depends on the tree. With MESH_OWN_DISTANCE the
 * distance is the one that `closest` gives the triangle. */
#ifndef CAROM_MESH_CONTACTS_H
#define CAROM_MESH_CONTACTS_H
#include "mesh_closest.h"

typedef struct contacts_edge {
    v3 a, b; /* equal for a corner */
} contacts_edge;

/* Whether p comes before q; -0 is 0. */
FN vm contacts_before(v3 p, v3 q)
{
    const vm by_yz = v_or(v_lt(p.y, q.y), v_and(v_eq(p.y, q.y), v_lt(p.z, q.z)));
    return v_or(v_lt(p.x, q.x), v_and(v_eq(p.x, q.x), by_yz));
}

/* The ends of the feature; any corner for the face. */
FN contacts_edge contacts_ends(closest_in in, vi feature)
{
    const vm has0 = v_or(vi_eq(feature, v_i(FEATURE_V0)), v_or(vi_eq(feature, v_i(FEATURE_E01)), //
                                                               vi_eq(feature, v_i(FEATURE_E20))));
    const vm is1 = v_or(vi_eq(feature, v_i(FEATURE_V1)), vi_eq(feature, v_i(FEATURE_E12)));
    const vm to1 = v_or(vi_eq(feature, v_i(FEATURE_V1)), vi_eq(feature, v_i(FEATURE_E01)));
    const v3 first = v3_sel(has0, in.p0, v3_sel(is1, in.p1, in.p2));
    const v3 last = v3_sel(vi_eq(feature, v_i(FEATURE_V0)), in.p0, v3_sel(to1, in.p1, in.p2));
    const vm ordered = contacts_before(first, last);
    contacts_edge e;
    e.a = v3_sel(ordered, first, last);
    e.b = v3_sel(ordered, last, first);
    return e;
}

/* Distance of the centre from the segment, by nearest.h's formulas for corners and edges. */
FN vf contacts_segment(v3 center, contacts_edge ends)
{
    const vf zero = v_f(R(0.0)), one = v_f(R(1.0));
    v3 a = v3_sub(ends.a, center), b = v3_sub(ends.b, center), e = v3_sub(ends.b, ends.a);
    vi size = vi_max(v3_magnitude(a), v3_magnitude(b));
    vf back = one;
    const vm big = v_not(vi_gt(v_i(R_BIG_BITS), size));
    if (v_any(big)) { /* as closest_rescue */
        const vf small = v_sel(big, v_f(R(0x1p-8)), one);
        const v3 c = v3_mul(center, small), p = v3_mul(ends.a, small), q = v3_mul(ends.b, small);
        back = v_sel(big, v_f(R(0x1p8)), one);
        a = v3_sub(p, c);
        b = v3_sub(q, c);
        e = v3_sub(q, p);
        size = vi_max(v3_magnitude(a), v3_magnitude(b));
    }
    const vi unit = v_exponent(size);
    const vf scale = v_scale_down(unit);
    a = v3_mul(a, scale);
    b = v3_mul(b, scale);
    e = v3_mul(e, scale);
    const vf share = nearest_foot(a, e);
    const v3 foot = v3_add(a, v3_mul(e, share));
    const vf ends2 = v_min(v3_dot(a, a), v3_dot(b, b)), foot2 = v3_dot(foot, foot);
    const vf square = v_sel(v_and(v_within(zero, share, one), v_lt(foot2, ends2)), foot2, ends2);
    return (v_sqrt(square) * v_from_bits(unit)) * back;
}

FN vf contacts_clamp(vf distance, closest_span span)
{
    return v_min(v_max(distance, span.least), span.most);
}

FN closest_span contacts_span_of(const closest_traversal *trav, contacts_edge e, real scale)
{
    return closest_span_of(trav->view, v3_mul(mesh_min3(e.a, e.b, e.b), v_f(scale)),
                           v3_mul(mesh_max3(e.a, e.b, e.b), v_f(scale)));
}

/* Appends the lanes of a group that are within the limit. */
FN void contacts_append(const closest_traversal *trav, vi triangles, vf distances, vi states, vm within)
{
    u32 left = v_bitmask(within);
    int triangle[LANES], state[LANES];
    real t[LANES];
    if (left == 0)
        return;
    vi_store(triangle, triangles);
    vi_store(state, states);
    v_store(t, distances);
    for (; left != 0; left &= left - 1) {
        const int i = bitmask_first(left);
        mesh_sink *sink = trav->sink;
        if (sink->count < sink->room) {
            G mesh_record *to = sink->records + sink->count;
            to->t = t[i];
            to->triangle = triangle[i];
            to->state = state[i];
            to->query = trav->number - sink->first;
        }
        sink->count++;
    }
}

FN void contacts_leaf_lanes(G const mesh_leaf *leaf, int lane, closest_traversal *trav, real scale, int options)
{
    const closest_group g = closest_group_of(leaf, lane, trav, scale, options);
    if (!v_any(g.active))
        return;
    const closest_found f = closest_find(g.in);
    vf distance = contacts_clamp(f.distance, g.span);
    const vm on_edge = v_and(g.active, vi_gt(v_i(FEATURE_FACE), f.at.feature));
    if ((options & MESH_OWN_DISTANCE) == 0 && v_any(on_edge)) {
        const contacts_edge e = contacts_ends(g.in, f.at.feature);
        const vf shared = contacts_clamp(contacts_segment(g.in.center, e), contacts_span_of(trav, e, scale));
        distance = v_sel(on_edge, shared, distance);
    }
    contacts_append(trav, g.triangle, distance, f.at.feature, v_and(g.active, v_le(distance, v_f(trav->best.t))));
}

/* Pushes all children within the limit, in no order. */
FN int contacts_push_children(closest_traversal *trav, G const mesh_node *node, const closest_tested_children *tested,
                              int options)
{
    (void)options;
    for (int lane = 0; lane < MESH_WIDTH; lane += LANES) {
        const vm empty = vi_eq(mesh_load_int(node->child + lane), v_i(0));
        const vm within = v_and(v_le(v_load(tested->least + lane), v_f(trav->best.t)), v_not(empty));
        for (u32 lanes = v_bitmask(within); lanes != 0; lanes &= lanes - 1) {
            const int i = lane + bitmask_first(lanes);
            mesh_stack_set(&trav->stack, trav->stack.top++, 0, node->child[i]);
        }
    }
    return closest_pop_next(trav);
}

typedef closest_traversal contacts_traversal;
typedef closest_tested_children contacts_tested_children;
FN void contacts_test_children(const contacts_traversal *trav, G const mesh_node *node,
                               contacts_tested_children *tested)
{
    closest_test_children(trav, node, tested);
}
FN int contacts_visit_node(contacts_traversal *trav, G const mesh_node *node, int options)
{
    contacts_tested_children tested;
    closest_test_children(trav, node, &tested);
    return contacts_push_children(trav, node, &tested, options);
}
FN int contacts_pop_next(contacts_traversal *trav)
{
    return closest_pop_next(trav);
}
FN void contacts_set_sphere(mesh_pairs *p, const contacts_traversal *trav, int number)
{
    closest_set_sphere(p, trav, number);
}

/* Defines a search by what it does with LANES triangles of a leaf. */
#define CONTACTS_SEARCH(name, leaf_lanes)                                                               \
    FN int name##_visit_leaf(contacts_traversal *trav, int number, mesh_pairs *pairs, mesh_frame frame, \
                             G const mesh_leaf *leaf, int options)                                      \
    {                                                                                                   \
        (void)number, (void)pairs;                                                                      \
        for (int lane = 0; lane < MESH_WIDTH; lane += LANES)                                            \
            leaf_lanes(leaf, lane, trav, frame.scale, options);                                         \
        return closest_pop_next(trav);                                                                  \
    }                                                                                                   \
    MESH_NEVER_WAITS(name, contacts_traversal)
CONTACTS_SEARCH(contacts, contacts_leaf_lanes)

/* ---- begin and answer, for mesh_run.h: MESH_IN_CLOSEST columns, the last of them a margin ------------------------ */

FN int contacts_begin_within(const mesh_run *run, contacts_traversal *trav, u32 at, const real *rows, int options,
                             int exact)
{
    const int begun = closest_begin_next(run, trav, at, rows, options);
    real limit[LANES];
    v_store(limit, v_f(trav->query.radius) + v_f(trav->query.max_distance));
    /* Exact mode: the real sum is not above the number after its rounding. */
    const u32 bits = real_bits(limit[0]) & R_MAGNITUDE_MASK;
    trav->best = mesh_hit_key_of(real_of_bits(bits + (u32)(exact && bits < R_INFINITY_BITS)), MESH_NO_TRIANGLE);
    trav->sink = run->sink;
    return begun;
}
FN int contacts_begin_next(const mesh_run *run, contacts_traversal *trav, u32 at, const real *rows, int options)
{
    return contacts_begin_within(run, trav, at, rows, options, 0);
}
FN int contacts_exact_begin_next(const mesh_run *run, contacts_traversal *trav, u32 at, const real *rows, int options)
{
    return contacts_begin_within(run, trav, at, rows, options, 1);
}

FN void contacts_answer(const mesh_run *run, const contacts_traversal *trav)
{
    run->state[trav->number] = STATE_MISS;
}
#endif
