/* SPDX-License-Identifier: MIT */
/* Candidates for contacts: all triangles of a mesh within a distance of a centre, each with its distance and closest
 * feature. The traversal is that of mesh_closest.h with a fixed limit. So the hierarchy is culled by the ball itself,
 * not by its box.
 *
 * Triangles that share an edge or a corner must agree on its distance. So the distance of an edge or a corner is
 * computed from its positions alone (foot.h), and clamped by the edge's own box. That box lies in those of its
 * triangles and nodes, so here, too, no answer depends on the tree. With MESH_OWN_DISTANCE the record has the distance
 * that `closest` gives the triangle.
 *
 * Most triangles within the limit are no contact, because the triangle behind their closest edge is closer. Leaves
 * store the third corners of these neighbours, so such a triangle is left out early and makes no record. */
#ifndef CAROM_MESH_CONTACTS_H
#define CAROM_MESH_CONTACTS_H
#include "foot.h"
#include "mesh_closest.h"

typedef struct contacts_edge {
    v3 a, b; /* equal for a corner */
} contacts_edge;

/* The ends of the feature; any corner for the face. */
FN contacts_edge contacts_ends(closest_in in, vi feature)
{
    const vm has0 = v_or(vi_eq(feature, v_i(FEATURE_V0)), v_or(vi_eq(feature, v_i(FEATURE_E01)), //
                                                               vi_eq(feature, v_i(FEATURE_E20))));
    const vm is1 = v_or(vi_eq(feature, v_i(FEATURE_V1)), vi_eq(feature, v_i(FEATURE_E12)));
    const vm to1 = v_or(vi_eq(feature, v_i(FEATURE_V1)), vi_eq(feature, v_i(FEATURE_E01)));
    contacts_edge ends;
    ends.a = v3_sel(has0, in.p0, v3_sel(is1, in.p1, in.p2));
    ends.b = v3_sel(vi_eq(feature, v_i(FEATURE_V0)), in.p0, v3_sel(to1, in.p1, in.p2));
    return ends;
}

/* Clamps a distance to what a box allows. */
FN vf contacts_clamp(vf distance, closest_span span)
{
    return v_min(v_max(distance, span.least), span.most);
}

/* Bounds of the distance from the box of an edge. */
FN closest_span contacts_span_of(closest_view view, contacts_edge ends, real scale)
{
    return closest_span_of(view, v3_mul(mesh_min3(ends.a, ends.b, ends.b), v_f(scale)),
                           v3_mul(mesh_max3(ends.a, ends.b, ends.b), v_f(scale)));
}

/* Closest feature and distance of LANES triangles of a leaf. */
typedef struct contacts_solution {
    vf distance;
    vi feature;
    v3 offset; /* from the centre to the closest point, in the unit of `scale` */
    vf scale, length;
} contacts_solution;

/* Feature, offset and distance of LANES triangles. own: the distance is the one that `closest` gives. */
FN contacts_solution contacts_solution_of(closest_in in, closest_span span, vm active, int own)
{
    closest_solution solution = closest_border_of(in);
    nearest chosen = solution.nearest;
    /* Few centres are above a triangle's face or tie between two of its features. */
    vm needs_face = solution.sides.inside;
    if (!own)
        needs_face = v_or(needs_face, foot_ties_on_border(&solution));
    if (v_any(v_and(active, needs_face))) {
        closest_add_face(&solution);
        chosen = solution.nearest;
        const vm ties = v_and(active, foot_ties(&solution));
        if (!own && v_any(ties))
            chosen = nearest_sel(ties, foot_find(&solution), chosen);
    }
    contacts_solution s;
    s.distance = contacts_clamp(closest_found_of(&solution).distance, span);
    s.feature = chosen.at.feature;
    s.offset = chosen.point;
    s.length = v_sqrt(chosen.distance2);
    /* Near overflow no comparison is certain: NaN makes each of them false. */
    s.scale = v_sel(v_eq(solution.unscale, v_f(R(1.0))), v_scale_down(solution.unit), v_from_bits(v_i(R_NAN_BITS)));
    return s;
}

/* The distance of the feature: an edge or a corner has the same distance for all of its triangles. */
FN vf contacts_distance(closest_in in, closest_view view, const contacts_solution *solution, vm active, real scale)
{
    const vm on_edge = v_and(active, vi_gt(v_i(FEATURE_FACE), solution->feature));
    if (!v_any(on_edge))
        return solution->distance;
    const contacts_edge ends = contacts_ends(in, solution->feature);
    return v_sel(on_edge, contacts_clamp(foot_distance(in.center, ends.a, ends.b), contacts_span_of(view, ends, scale)),
                 solution->distance);
}

/* ---- triangles that another surely precedes --------------------------------------------------------------- */

/* Lanes whose feature is the corner or the edge with this number. */
typedef struct contacts_numbers {
    vm is1, is2; /* else it is number 0, or the face */
} contacts_numbers;

FN contacts_numbers contacts_numbers_of(vi feature)
{
    contacts_numbers numbers;
    numbers.is1 = v_or(vi_eq(feature, v_i(FEATURE_V1)), vi_eq(feature, v_i(FEATURE_E12)));
    numbers.is2 = v_or(vi_eq(feature, v_i(FEATURE_V2)), vi_eq(feature, v_i(FEATURE_E20)));
    return numbers;
}

/* Three numbers of edges, or of rows for corners: what lanes with feature number 0, 1 and 2 take. */
typedef struct contacts_choice {
    contacts_numbers numbers;
    int row0, row1, row2;
} contacts_choice;

FN contacts_choice contacts_choice_of(contacts_numbers numbers, int row0, int row1, int row2)
{
    contacts_choice choice;
    choice.numbers = numbers;
    choice.row0 = row0;
    choice.row1 = row1;
    choice.row2 = row2;
    return choice;
}

/* Neighbours' corners in an indexed leaf, by their slots (mesh_opposites). */
FN v3 contacts_corner_at(G const mesh_leaf *leaf, G const mesh_opposites *opposites, vi slot)
{
    return v3_of(v_tables_at(leaf->vertex[0], opposites->at[0], slot),
                 v_tables_at(leaf->vertex[1], opposites->at[1], slot),
                 v_tables_at(leaf->vertex[2], opposites->at[2], slot));
}

/* Neighbours' corners in an indexed leaf. Row 3 + k is that of the neighbours across corner k. */
FN v3 contacts_indexed_opposite(G const mesh_leaf *leaf, const closest_traversal *trav, contacts_choice c, int lane)
{
    G const mesh_opposites *opposites = trav->opposites + MESH_LEAF_AT(trav->next);
    return contacts_corner_at(leaf, opposites,
                              vi_sel(c.numbers.is2, vi_load_u8(opposites->slot[c.row2] + lane),
                                     vi_sel(c.numbers.is1, vi_load_u8(opposites->slot[c.row1] + lane),
                                            vi_load_u8(opposites->slot[c.row0] + lane))));
}

/* The third corners of LANES neighbours at one edge, in an unindexed leaf. */
FN v3 contacts_unindexed_opposite(const closest_traversal *trav, int edge, int lane)
{
    return mesh_unindexed_corner((G const real *)(trav->opposites + MESH_LEAF_AT(trav->next)) + 3 * MESH_WIDTH * edge +
                                 lane);
}

/* The third corners of neighbours at the edges that lanes have chosen. */
FN v3 contacts_opposite(G const mesh_leaf *leaf, const closest_traversal *trav, contacts_choice choice, int lane)
{
    if (!MESH_IS_UNINDEXED(trav->next))
        return contacts_indexed_opposite(leaf, trav, choice, lane);
    return v3_sel(choice.numbers.is2, contacts_unindexed_opposite(trav, choice.row2, lane),
                  v3_sel(choice.numbers.is1, contacts_unindexed_opposite(trav, choice.row1, lane),
                         contacts_unindexed_opposite(trav, choice.row0, lane)));
}

/* Whether the neighbour with this corner O is certainly closer. It contains the segment from the closest point q to O,
 * along which the squared distance falls by min(s^2 / |O - q|^2, s), s = (C - q).(O - q). The fall must exceed 8 times
 * the errors of both distances (docs/contacts.md, section 5), so the computed distances have the same order. more:
 * bound of how much farther away the neighbour's other corners are than O and the triangle's corners. */
FN vm contacts_rises_to(const contacts_solution *s, v3 center, v3 opposite, real more)
{
    const v3 o = v3_mul(v3_sub(opposite, center), s->scale), u = v3_sub(o, s->offset);
    const vf size = (v_f(R(2.0)) + v_from_bits(v3_magnitude(o))) * v_f(more), fall = -v3_dot(s->offset, u);
    const vf least = (s->length * v_f(R(0x1p-15)) + v_f(R(0x1p-19))) * size;
    return v_and(v_lt(least, fall), v_lt(least * v3_dot(u, u), fall * fall));
}

/* Whether a neighbour that shares the triangle's closest edge or corner is certainly closer. */
FN vm contacts_is_preceded(G const mesh_leaf *leaf, int lane, const closest_traversal *trav,
                           const contacts_solution *solution, vm active)
{
    const contacts_numbers numbers = contacts_numbers_of(solution->feature);
    const vm is_corner = vi_gt(v_i(FEATURE_E01), solution->feature),
             is_face = vi_eq(solution->feature, v_i(FEATURE_FACE));
    /* The edge with the feature's number; at a corner the edge before it, too. */
    const v3 after = contacts_opposite(leaf, trav, contacts_choice_of(numbers, 0, 1, 2), lane),
             before = contacts_opposite(leaf, trav, contacts_choice_of(numbers, 2, 0, 1), lane);
    const vm rises = v_or(contacts_rises_to(solution, trav->center, after, R(1.0)),
                          v_and(is_corner, contacts_rises_to(solution, trav->center, before, R(1.0))));
    const vm preceded = v_or(v_not(active), v_and(v_not(is_face), rises));
    if (MESH_IS_UNINDEXED(trav->next) || !v_any(v_and(v_not(preceded), is_corner)))
        return preceded;
    /* Neighbours across a corner matter only if the corner is the closest feature. */
    const v3 across = contacts_indexed_opposite(leaf, trav, contacts_choice_of(numbers, 3, 4, 5), lane);
    return v_or(preceded, v_and(is_corner, contacts_rises_to(solution, trav->center, across, R(8.0))));
}

#if !defined(MESH_ITEMS) && !defined(__OPENCL_VERSION__) && !defined(__OPENCL_C_VERSION__)
#define CONTACTS_CULLS_FIRST
#include "mesh_contacts_cull.h"
#endif

/* The contacts among LANES triangles. */
typedef struct contacts_found {
    vf distance; /* exact mode: NaN if its rounding is not certain */
    vi feature;  /* exact mode: FEATURE_NONE if it is not certain */
    vm within;   /* the limit, and not preceded */
} contacts_found;

/* Finds the contacts among LANES triangles of a leaf, from slot `lane` on. */
FN contacts_found contacts_find(G const mesh_leaf *leaf, int lane, const closest_traversal *trav,
                                const closest_group *g, real scale, int options)
{
    const int own = (options & MESH_OWN_DISTANCE) != 0;
    const contacts_solution s = contacts_solution_of(g->in, g->span, g->active, own);
    contacts_found found;
    found.within = g->active;
    found.feature = s.feature;
    found.distance = s.distance;
    if (trav->opposites != 0)
        found.within = v_not(contacts_is_preceded(leaf, lane, trav, &s, g->active));
    if (!v_any(found.within))
        return found;
    if (!own)
        found.distance = contacts_distance(g->in, trav->view, &s, found.within, scale);
    found.within = v_and(found.within, v_le(found.distance, v_f(trav->best.t)));
    return found;
}

typedef closest_traversal contacts_traversal;

/* Without MESH_OWN_DISTANCE triangles that another precedes are left out. */
FN void contacts_set_culling(const mesh_run *run, contacts_traversal *trav, int options)
{
    const int leaves_out = (options & MESH_OWN_DISTANCE) == 0;
    trav->opposites = leaves_out ? run->opposites : 0;
    trav->cones = leaves_out ? run->cones : 0;
}

/* Whether every triangle below a child is certainly preceded by a neighbour, because no direction from the child to the
 * centre is in its normal cone. lo, hi: the child's box. Lengths are doubled, in the unit of the view. */
FN vm contacts_is_beside(const contacts_traversal *trav, G const mesh_cones *cones, int lane, v3 lo, v3 hi)
{
    const closest_view view = trav->view;
    const v3 centre_from_box = v3_of((view.cx - hi.x * view.shrink) - (lo.x * view.shrink - view.cx),
                                     (view.cy - hi.y * view.shrink) - (lo.y * view.shrink - view.cy),
                                     (view.cz - hi.z * view.shrink) - (lo.z * view.shrink - view.cz));
    const v3 axis = v3_of(v_load(cones->axis_x + lane), v_load(cones->axis_y + lane), v_load(cones->axis_z + lane));
    const vf radius = v_load(cones->diameter + lane) * view.shrink, along = v_abs(v3_dot(centre_from_box, axis));
    const vf across = radius + v_load(cones->slope + lane) * (along + radius);
    const vm is_far =
        v_lt(across * across + v_f(R(0x1p-100)), v3_dot(centre_from_box, centre_from_box) - along * along);
    return v_and(is_far, v_le(v_f(trav->best.t), v_load(cones->reach + lane)));
}

/* Tests LANES children of a node, from `lane` on, against the limit and their normal cones. */
FN vm contacts_test_some(const contacts_traversal *trav, G const mesh_node *node, int lane)
{
    v3 lo = v3_of(v_load(node->lo_x + lane), v_load(node->lo_y + lane), v_load(node->lo_z + lane));
    v3 hi = v3_of(v_load(node->hi_x + lane), v_load(node->hi_y + lane), v_load(node->hi_z + lane));
    const vm empty = vi_eq(mesh_load_int(node->child + lane), v_i(0)); /* 0 is the root, which is no child */
    MESH_MAP_BOXES(trav, &lo, &hi);
    vm within = v_le(CLOSEST_SPAN(trav, lo, hi).least, v_f(trav->best.t));
    if (trav->cones != 0)
        within = v_and(within, v_not(contacts_is_beside(trav, trav->cones + trav->next, lane, lo, hi)));
    return v_and(within, v_not(empty));
}

/* Pops the next node or leaf, and prefetches its neighbours or cones; 0 ends the traversal. */
FN int contacts_pop_next(contacts_traversal *trav)
{
#ifdef MESH_ITEMS
    const int left = closest_pop_next(trav);
#else
    /* The limit stays, so all that was pushed is visited. */
    MESH_LEAVE(trav);
    const int left = mesh_stack_pop_any(&trav->stack, &trav->next);
    MESH_FOLLOW(trav, MESH_ENTER_CENTER);
#endif
    if (left && trav->next < 0 && trav->opposites != 0)
        for (size_t at = 0; at < sizeof(mesh_opposites); at += MESH_CACHE_LINE)
            v_prefetch(trav->opposites + MESH_LEAF_AT(trav->next), at);
    if (left && trav->next >= 0 && trav->cones != 0)
        for (size_t at = 0; at < sizeof(mesh_cones); at += MESH_CACHE_LINE)
            v_prefetch(trav->cones + trav->next, at);
    return left;
}

#ifdef MESH_ITEMS
#include "mesh_team_contacts.h"
#else
/* A bit for each child of a node that is within the limit. */
typedef struct contacts_tested_children {
    u32 within;
} contacts_tested_children;

/* Tests all children of a node. */
FN void contacts_test_children(const contacts_traversal *trav, G const mesh_node *node,
                               contacts_tested_children *tested)
{
    tested->within = 0;
    LANG_ROLLED
    for (int lane = 0; lane < MESH_WIDTH; lane += LANES)
        tested->within |= v_bitmask(contacts_test_some(trav, node, lane)) << lane;
}

/* Pushes the children within the limit, in no order. */
FN int contacts_push_children(contacts_traversal *trav, G const mesh_node *node, const contacts_tested_children *tested,
                              int options)
{
    (void)options;
#if defined(LANG_HAS_COMPRESS) && !defined(MESH_SCENE)
    /* No loop over them, whose end would be mispredicted. */
    for (int lane = 0; lane < MESH_WIDTH; lane += LANES) {
        const u32 within = tested->within >> lane & ((1u << LANES) - 1);
        const vf child = v_load((G const real *)node->child + lane);
        v_compress((real *)trav->stack.entries->child + trav->stack.top, 0, &child, 1, within);
        trav->stack.top += bitmask_count(within);
    }
#else
    for (u32 left = MESH_UNMASKED(trav, node, tested->within, options); left != 0; left &= left - 1)
        mesh_stack_set(&trav->stack, trav->stack.top++, 0, node->child[bitmask_first(left)]);
#endif
    return contacts_pop_next(trav);
}

/* Tests a node's children and pops what to visit next; 0 ends the traversal. */
FN int contacts_visit_node(contacts_traversal *trav, G const mesh_node *node, int options)
{
    contacts_tested_children tested;
    contacts_test_children(trav, node, &tested);
    return contacts_push_children(trav, node, &tested, options);
}

FN void contacts_set_sphere(mesh_pairs *pairs, const contacts_traversal *trav, int number)
{
    closest_set_sphere(pairs, trav, number);
}

/* Appends the lanes of a group that are within the limit. */
FN void contacts_append(closest_traversal *trav, vi triangles, vf distances, vi states, vm within)
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
        if (sink->count < sink->capacity)
            mesh_store_record(sink->records + sink->count, t[i], triangle[i], state[i], trav->number, sink->first);
        sink->count++;
        trav->hits++;
    }
}

/* LANES triangles of a leaf, from slot `lane` on. Lanes are active if they may be contacts; without any, there are no
 * bounds. culls: whether it pays to look for neighbours that precede before anything else is computed. */
FN closest_group contacts_group_of(G const mesh_leaf *leaf, int lane, const contacts_traversal *trav, real scale,
                                   int options, int culls)
{
    closest_group group = closest_triangles_of(leaf, lane, trav, options);
#ifdef CONTACTS_CULLS_FIRST
    if (culls && contacts_may_cull(leaf, trav)) {
        group.active = v_and(group.active, v_not(contacts_cull(leaf, lane, trav, &group.in)));
        if (!v_any(group.active))
            return group;
    }
#endif
    closest_bound_group(&group, trav, scale);
    return group;
}

/* Defines a search by how it finds contacts among LANES triangles of a leaf. culls: as of contacts_group_of. */
#define CONTACTS_SEARCH(name, find, culls)                                                                \
    FN int name##_visit_leaf(contacts_traversal *trav, int number, mesh_pairs *pairs, mesh_frame frame,   \
                             G const mesh_leaf *leaf, int options)                                        \
    {                                                                                                     \
        (void)number, (void)pairs;                                                                        \
        LANG_ROLLED                                                                                       \
        for (int lane = 0; lane < MESH_WIDTH; lane += LANES) {                                            \
            const closest_group group = contacts_group_of(leaf, lane, trav, frame.scale, options, culls); \
            if (!v_any(group.active))                                                                     \
                continue;                                                                                 \
            const contacts_found found = find(leaf, lane, trav, &group, frame.scale, options);            \
            contacts_append(trav, group.triangle, found.distance, found.feature, found.within);           \
        }                                                                                                 \
        return contacts_pop_next(trav);                                                                   \
    }                                                                                                     \
    MESH_NEVER_WAITS(name, contacts_traversal)
#endif
/* Sixteen lanes compute all as cheaply as the part that would be left out. */
CONTACTS_SEARCH(contacts, contacts_find, LANES < 16)

/* ---- begin and answer, for mesh_run.h: MESH_IN_CLOSEST columns, the last of them a margin ------------------------ */

/* Values of the parameter `exact`. */
#define CONTACTS_FAST 0
#define CONTACTS_EXACT 1

/* Begins a query whose limit is radius + margin. */
FN int contacts_begin_within(const mesh_run *run, contacts_traversal *trav, u32 at, const real *rows, int options,
                             int exact)
{
    const int begun = closest_begin_next(run, trav, at, rows, options);
    /* The limit is the rounded sum; a sum rounded down must not cull in exact mode. */
    real limit[LANES];
    v_store(limit, v_f(trav->query.radius) + v_f(trav->query.max_distance));
    /* Exact mode: the real sum is not above the number after its rounding. */
    const u32 bits = real_bits(limit[0]) & R_MAGNITUDE_MASK;
    trav->best = mesh_hit_key_of(real_of_bits(bits + (u32)(exact && bits < R_INFINITY_BITS)), MESH_NO_TRIANGLE);
    trav->sink = run->sink;
    trav->hits = 0;
    contacts_set_culling(run, trav, options);
    return begun;
}
/* Begins query `at` in fast mode. */
FN int contacts_begin_next(const mesh_run *run, contacts_traversal *trav, u32 at, const real *rows, int options)
{
    return contacts_begin_within(run, trav, at, rows, options, CONTACTS_FAST);
}
/* Begins query `at` in exact mode. */
FN int contacts_exact_begin_next(const mesh_run *run, contacts_traversal *trav, u32 at, const real *rows, int options)
{
    return contacts_begin_within(run, trav, at, rows, options, CONTACTS_EXACT);
}

/* Stores the state; the contacts are in the records. */
FN void contacts_answer(const mesh_run *run, const contacts_traversal *trav)
{
    run->state[trav->number] = STATE_MISS;
}
#endif
