/* SPDX-License-Identifier: MIT */
/* Closest triangle of a mesh to a centre: traversal of the hierarchy, LANES boxes or triangles at a time.
 *
 * The answer is the smallest (distance, triangle index) and does not depend on the tree or the order of visits. A
 * triangle's distance is the solver's, clamped to the least and the most distance that its own box allows. Both bounds
 * are monotone under inclusion, as each operation is in each of its variables: a larger box never has a greater least
 * or a smaller most. So no triangle of a node is closer than the node's least, and at least one is no farther than its
 * most. A node also stores the lowest triangle index below it. So culling nodes that come after the best by (least,
 * lowest index) loses no better triangle; nor does culling nodes that are farther than the most of any node.
 *
 * A search begins with the query's largest distance as the best, and an index above all triangles. So nodes and
 * triangles farther than the limit are culled, and triangles at the limit are kept. */
#ifndef CAROM_MESH_CLOSEST_H
#define CAROM_MESH_CLOSEST_H
#include "closest.h"
/* Where work-items share queries (mesh_shared.h): a query has its centre, its view and its radius in local memory; a
 * pair the bounds of the distance from the triangle's box. */
#define MESH_TERMS 9
#define MESH_UNUSED 1

#include "mesh_run.h"

typedef struct closest_query {
    real cx, cy, cz, radius, max_distance;
    int mask; /* all bits are set without MESH_QUERY_MASKS */
} closest_query;

typedef struct closest_hit {
    int triangle;
    real distance, depth;
} closest_hit;

/* The query's centre, scaled for distances to boxes. The unit of length is the larger of centre and mesh, so that no
 * square leaves the range. */
typedef struct closest_view {
    vf cx, cy, cz;
    vf shrink; /* factor from mesh units */
    vf unit;   /* factor to the caller's unit */
} closest_view;

/* The centre in units in which neither it nor the mesh overflows. */
FN closest_view closest_view_of(v3 center, mesh_frame frame)
{
    const vi mesh_unit = v_i(frame.scale_field);
    const vi unit = vi_max(mesh_unit, vi_min(v_exponent(v3_magnitude(center)), v_i(R_BIG_BITS)));
    const vf scale = v_scale_down(unit);
    closest_view view;
    view.cx = center.x * scale;
    view.cy = center.y * scale;
    view.cz = center.z * scale;
    view.shrink = v_scale_ratio(mesh_unit, unit);
    view.unit = v_from_bits(unit);
    return view;
}

/* Proven bounds of the distance from the centre to any object with this bounding box. 2^-21 is more than all the
 * roundings of a length, 2^-70 more than what underflow can add to it (docs/numerics.md, section 18). */
typedef struct closest_span {
    vf least, most;
} closest_span;

FN vf closest_length(vf x, vf y, vf z)
{
    return v_sqrt(x * x + y * y + z * z);
}

/* Bounds for LANES boxes, given in units of the mesh. */
FN closest_span closest_span_of(closest_view view, v3 lo, v3 hi)
{
    const vf zero = v_f(R(0.0)), floor = v_f(R(0x1p-70));
    const vf below_x = lo.x * view.shrink - view.cx, below_y = lo.y * view.shrink - view.cy,
             below_z = lo.z * view.shrink - view.cz;
    const vf above_x = view.cx - hi.x * view.shrink, above_y = view.cy - hi.y * view.shrink,
             above_z = view.cz - hi.z * view.shrink;
    /* Distances to the nearest and to the farthest point of the box. */
    const vf to_nearest = closest_length(v_max(v_max(below_x, above_x), zero), v_max(v_max(below_y, above_y), zero),
                                         v_max(v_max(below_z, above_z), zero));
    const vf to_farthest =
        closest_length(v_min(below_x, above_x), v_min(below_y, above_y), v_min(below_z, above_z)); /* none is above 0 */
    closest_span bounds;
    bounds.least = v_max(to_nearest * v_f(R(0x1.fffffp-1)) - floor, zero) * view.unit;
    bounds.most = (to_farthest * v_f(R(0x1.00001p0)) + floor) * view.unit;
    return bounds;
}

#ifdef MESH_SCENE
/* Bounds for LANES boxes of the instance that the centre was taken into, as they lie. */
FN closest_span scene_span_of(const scene_center *own, v3 lo, v3 hi)
{
    const vf zero = v_f(R(0.0)), floor = v_f(own->floor);
    const v3 center = v3_of(v_f(own->x), v_f(own->y), v_f(own->z)), below = v3_sub(lo, center),
             above = v3_sub(center, hi);
    const vf to_nearest = closest_length(v_max(v_max(below.x, above.x), zero), v_max(v_max(below.y, above.y), zero),
                                         v_max(v_max(below.z, above.z), zero));
    const vf to_farthest = closest_length(v_min(below.x, above.x), v_min(below.y, above.y), v_min(below.z, above.z));
    closest_span bounds;
    bounds.least = v_max(to_nearest * v_f(own->shrinks) - floor, zero);
    bounds.most = to_farthest * v_f(own->grows) + floor;
    return bounds;
}

#define MESH_ENTER_CENTER(trav) \
    scene_enter_center(&(trav)->here, (trav)->stack.at, (trav)->query.cx, (trav)->query.cy, (trav)->query.cz)
/* Bounds for LANES boxes of a node. */
#define CLOSEST_SPAN(trav, lo, hi) \
    ((trav)->here.is_own ? scene_span_of(&(trav)->here, lo, hi) : closest_span_of((trav)->view, lo, hi))
#else
#define MESH_ENTER_CENTER(trav) (void)0
#define CLOSEST_SPAN(trav, lo, hi) closest_span_of((trav)->view, lo, hi)
#endif

/* The state of one traversal. */
typedef struct closest_traversal {
    v3 center; /* in every lane */
    closest_view view;
    vf distance; /* the best distance of each lane */
    vi triangle;
    vf earliest_undecided; /* exact mode: the least distance that an undecided triangle may have */
    closest_query query;
    mesh_hit_key best;  /* the best of all lanes; without a triangle, the limit of the search */
    G const int *masks; /* of the leaves' triangles, with MESH_TRIANGLE_MASKS */
    mesh_sink *sink; /* output of a search for all triangles within the limit (mesh_contacts.h), as in mesh_traversal */
    mesh_sink own;
    u32 hits;                          /* records of the query, in such a search */
    G const mesh_opposites *opposites; /* with `cones`: culls triangles that are no contacts; or NULL */
    G const mesh_cones *cones;
    int number; /* of the query */
    int next;   /* to visit next: a node, or a leaf if negative */
    mesh_stack stack;
#ifdef MESH_SCENE
    scene_center here;
#endif
} closest_traversal;

#ifndef MESH_ITEMS /* else mesh_team_closest.h has it */
/* Lowers the limit of the search: some triangle is not farther than `most`. */
FN void closest_limit(closest_traversal *trav, real most)
{
    if (most < trav->best.t)
        trav->best = mesh_hit_key_of(most, MESH_NO_TRIANGLE);
}

/* Lower bound of the distance of each child of a node, and the smallest of their upper bounds. */
typedef struct closest_tested_children {
    LANG_ALIGNED real least[MESH_WIDTH];
    real most;
} closest_tested_children;

/* Bounds of all children of a node. */
FN void closest_test_children(const closest_traversal *trav, G const mesh_node *node, closest_tested_children *tested)
{
    vf most = v_infinity();
    LANG_ROLLED
    for (int lane = 0; lane < MESH_WIDTH; lane += LANG_LOADS * LANES) {
        mesh_children children[LANG_LOADS];
        mesh_load_children(node, lane, children);
        for (int load = 0; load < LANG_LOADS; load++) {
            MESH_MAP_BOXES(trav, &children[load].lo, &children[load].hi);
            const closest_span bounds = CLOSEST_SPAN(trav, children[load].lo, children[load].hi);
            v_store(tested->least + lane + load * LANES, bounds.least);
            most = v_min(v_sel(children[load].exist, bounds.most, v_infinity()), most);
        }
    }
    tested->most = v_reduce_min(most);
}

/* Pushes the children that can improve on the best, the closest on top. With masks a child may hold no triangle that
 * counts, so its upper bound does not limit the search. */
FN void closest_push_candidates(closest_traversal *trav, G const mesh_node *node, const closest_tested_children *tested,
                                int options)
{
    mesh_stack *stack = &trav->stack;
    const int bottom = stack->top;
    if (options == 0)
        closest_limit(trav, tested->most);
    LANG_ROLLED
    for (int lane = 0; lane < MESH_WIDTH; lane += LANES) {
        const vm empty = vi_eq(mesh_load_int(node->child + lane), v_i(0));
        const vm can_improve = mesh_not_after(v_load(tested->least + lane),
                                              MESH_NUMBER(trav, mesh_load_int(node->least + lane)), trav->best);
        const u32 entered = v_bitmask(v_and(can_improve, v_not(empty))) << lane;
        for (u32 left = MESH_UNMASKED(trav, node, entered, options); left != 0; left &= left - 1) {
            const int child = bitmask_first(left);
            const u64 from = mesh_key_bits_of(tested->least[child], MESH_FIRST(trav) + node->least[child]);
            mesh_stack_insert(stack, bottom, from, node->child[child]);
        }
    }
}

#endif

/* Pops what to visit next; 0 ends the traversal. */
FN int closest_pop_next(closest_traversal *trav)
{
    MESH_LEAVE(trav);
    const int left = mesh_stack_pop(&trav->stack, trav->best, &trav->next);
    MESH_FOLLOW(trav, MESH_ENTER_CENTER);
    return left;
}

/* Begins the traversal of a query; 0 if there is nothing to traverse. */
FN int closest_begin(closest_traversal *trav, mesh_frame frame, closest_query query, int options)
{
    const vf radius = v_f(query.radius);
    const real zero = R(0.0);
    trav->query = query;
    trav->center = v3_of(v_f(query.cx), v_f(query.cy), v_f(query.cz));
    trav->view = closest_view_of(trav->center, frame);
    trav->distance = trav->earliest_undecided = v_infinity();
    trav->triangle = v_i(MESH_NO_TRIANGLE);
    trav->best = mesh_hit_key_of(zero < query.max_distance ? query.max_distance : zero, MESH_NO_TRIANGLE); /* -0 is 0 */
    trav->next = frame.root;
    mesh_stack_begin(&trav->stack, frame.root);
    MESH_ENTER_CENTER(trav);
    if (options != 0 && query.mask == 0)
        return 0;
    return v_any(v_and(v3_finite(trav->center), v_and(v_finite(radius), v_le(v_f(R(0.0)), radius))));
}

/* LANES triangles of a leaf; `active` marks the lanes that can improve on the best. */
typedef struct closest_group {
    closest_in in;
    closest_span span;
    vi triangle;
    vm active;
} closest_group;

/* LANES triangles of a leaf, from slot `lane` on, without their bounds. Lanes are active if the query's mask includes
 * their triangle. */
FN closest_group closest_triangles_of(G const mesh_leaf *leaf, int lane, const closest_traversal *trav, int options)
{
    closest_group group;
    group.in.center = trav->center;
    const vi index = mesh_load_int(leaf->triangle + lane);
    mesh_corners corners = mesh_corners_of(leaf, trav->next, lane);
    MESH_MAP_CORNERS(trav, leaf, trav->next, lane, &corners);
    group.in.p0 = corners.p0;
    group.in.p1 = corners.p1;
    group.in.p2 = corners.p2;
    group.triangle = MESH_NUMBER(trav, index);
    group.active = mesh_unmasked(index, MESH_MASKS(trav), trav->next, lane, MESH_MASK(trav), options);
    return group;
}

/* Finds the box bounds of a group's triangles. Lanes that cannot improve on the best are no longer active. */
FN void closest_bound_group(closest_group *group, const closest_traversal *trav, real scale)
{
    group->span = closest_span_of(trav->view, v3_mul(mesh_min3(group->in.p0, group->in.p1, group->in.p2), v_f(scale)),
                                  v3_mul(mesh_max3(group->in.p0, group->in.p1, group->in.p2), v_f(scale)));
    group->active = v_and(mesh_not_after(group->span.least, group->triangle, trav->best), group->active);
}

/* Both, the triangles and their bounds. */
FN closest_group closest_group_of(G const mesh_leaf *leaf, int lane, const closest_traversal *trav, real scale,
                                  int options)
{
    closest_group group = closest_triangles_of(leaf, lane, trav, options);
    closest_bound_group(&group, trav, scale);
    return group;
}

/* Distances rounded down and up, equal in fast mode and usually in exact mode. */
typedef struct closest_proven {
    vf low, high;
} closest_proven;

/* The distances of LANES triangles of a leaf, in fast mode. */
FN vf closest_measure(const closest_group *group)
{
    closest_solution solution = closest_border_of(group->in);
    if (v_any(v_and(group->active, solution.sides.inside)))
        closest_add_face(&solution);
    return v_min(v_max(closest_found_of(&solution).distance, group->span.least), group->span.most);
}

#ifdef MESH_ITEMS
#include "mesh_team_closest.h"
CLOSEST_SEARCH(closest, closest_solve)
#else
/* Updates the best of each lane; returns whether one has improved. */
FN int closest_record(closest_traversal *trav, vm active, vf distance, vi triangle)
{
    const vm nearer =
        v_or(v_lt(distance, trav->distance), v_and(v_eq(distance, trav->distance), vi_gt(trav->triangle, triangle)));
    const vm better = v_and(active, nearer);
    trav->distance = v_sel(better, distance, trav->distance);
    trav->triangle = vi_sel(better, triangle, trav->triangle);
    return v_any(better);
}

/* The smallest (distance, triangle) over the lanes. */
FN void closest_reduce(closest_traversal *trav)
{
    const real least = v_reduce_min(trav->distance);
    if (least > trav->best.t)
        return;
    trav->best = mesh_hit_key_of(
        least, vi_reduce_min(vi_sel(v_eq(trav->distance, v_f(least)), trav->triangle, v_i(MESH_NO_TRIANGLE))));
}

/* Solves LANES triangles of a leaf; returns whether one of them improves on the best. */
FN int closest_leaf_lanes(G const mesh_leaf *leaf, int lane, closest_traversal *trav, real scale, int options)
{
    const closest_group group = closest_group_of(leaf, lane, trav, scale, options);
    if (!v_any(group.active))
        return 0;
    return closest_record(trav, group.active, closest_measure(&group), group.triangle);
}

/* Pushes the children and pops the closest of them; 0 ends the traversal. */
FN int closest_push_children(closest_traversal *trav, G const mesh_node *node, const closest_tested_children *tested,
                             int options)
{
    closest_push_candidates(trav, node, tested, options);
    return closest_pop_next(trav);
}

/* Tests a node's children and pops what to visit next; 0 ends the traversal. */
FN int closest_visit_node(closest_traversal *trav, G const mesh_node *node, int options)
{
    closest_tested_children tested;
    closest_test_children(trav, node, &tested);
    return closest_push_children(trav, node, &tested, options);
}

/* Queues no pairs. */
FN void closest_set_sphere(mesh_pairs *pairs, const closest_traversal *trav, int number)
{
    (void)pairs, (void)trav, (void)number;
}

/* Defines a search by what it does at a leaf: `leaf_lanes` solves LANES triangles. */
#define CLOSEST_SEARCH(name, leaf_lanes)                                                               \
    FN int name##_visit_leaf(closest_traversal *trav, int number, mesh_pairs *pairs, mesh_frame frame, \
                             G const mesh_leaf *leaf, int options)                                     \
    {                                                                                                  \
        int better = 0;                                                                                \
        (void)number, (void)pairs;                                                                     \
        LANG_ROLLED                                                                                    \
        for (int lane = 0; lane < MESH_WIDTH; lane += LANES)                                           \
            better |= leaf_lanes(leaf, lane, trav, frame.scale, options);                              \
        if (better)                                                                                    \
            closest_reduce(trav);                                                                      \
        return closest_pop_next(trav);                                                                 \
    }                                                                                                  \
    MESH_NEVER_WAITS(name, closest_traversal)
CLOSEST_SEARCH(closest, closest_leaf_lanes)
#endif

/* The answer. An invalid query, or one whose triangles are all beyond the limit, has the answer of an empty mesh. */
FN closest_hit closest_end(const closest_traversal *trav)
{
    const int none = trav->best.triangle == MESH_NO_TRIANGLE;
    const real infinity = R(1.0) / R(0.0);
    real depth[LANES];
    v_store(depth, v_positive_zero(v_f(trav->query.radius) - v_f(trav->best.t)));
    closest_hit hit;
    hit.triangle = none ? -1 : trav->best.triangle;
    hit.distance = none ? infinity : trav->best.t;
    hit.depth = none ? -infinity : depth[0];
    return hit;
}

/* ---- begin and answer, for mesh_run.h: MESH_IN_CLOSEST columns; `t` holds distances ----------------------------- */

/* Begins query `at`. */
FN int closest_begin_next(const mesh_run *run, closest_traversal *trav, u32 at, const real *rows, int options)
{
    closest_query query;
    (void)rows;
    query.cx = run->in[MESH_CX][at];
    query.cy = run->in[MESH_CY][at];
    query.cz = run->in[MESH_CZ][at];
    query.radius = run->in[MESH_RADIUS][at];
    query.max_distance = run->in[MESH_MAX_DISTANCE][at];
    query.mask = (options & MESH_QUERY_MASKS) != 0 ? run->mask[at] : -1;
    trav->number = (int)at;
    trav->masks = run->masks;
    MESH_BEGIN_AT(trav, run);
    return closest_begin(trav, run->frame, query, options);
}

/* Stores triangle, distance and depth of a query. */
FN void closest_answer_hit(const mesh_run *run, const closest_traversal *trav, closest_hit hit)
{
    run->triangle[trav->number] = hit.triangle;
    run->t[trav->number] = hit.distance;
    run->depth[trav->number] = hit.depth;
}

/* Answers a query in fast mode. */
FN void closest_answer(const mesh_run *run, const closest_traversal *trav)
{
    closest_answer_hit(run, trav, closest_end(trav));
}
#endif
