/* SPDX-License-Identifier: MIT */
/* Nearest triangle of a mesh to a centre: traversal of the hierarchy, LANES boxes or triangles side by side.
 *
 * The answer is the smallest (distance, triangle index), whatever the tree and the order of visits, because a
 * triangle's distance is what the solver says, but neither less than the least that its own box gives nor more than
 * the most. Both are monotone under inclusion (each operation is, in each of its variables): a larger box never
 * gives a greater least nor a lesser most. So nothing in a node is nearer than its least, and something is not
 * farther than its most. Nor are there lower indices in it than its lowest. Skipping what comes after the best by
 * (least, lowest index) skips nothing better, and nor does skipping what is farther than somebody's most. */
#ifndef CAROM_MESH_CLOSEST_H
#define CAROM_MESH_CLOSEST_H
#include "closest.h"
#include "mesh_run.h"

typedef struct closest_query {
    real cx, cy, cz, radius;
    int mask; /* all bits without MESH_QUERY_MASKS */
} closest_query;

typedef struct closest_hit {
    int triangle;
    real distance, depth;
} closest_hit;

/* A centre against boxes: both in units of whichever is larger, centre or mesh, so that nothing is out of range. */
typedef struct closest_view {
    vf cx, cy, cz;
    vf shrink; /* from mesh units */
    vf unit;   /* to the caller's */
} closest_view;

FN closest_view closest_view_of(v3 center, mesh_frame frame)
{
    const vi mesh = v_i(frame.scale_field);
    const vi unit = vi_max(mesh, vi_min(v_exponent(v3_magnitude(center)), v_i(R_BIG_BITS)));
    const vf scale = v_scale_down(unit);
    closest_view k;
    k.cx = center.x * scale;
    k.cy = center.y * scale;
    k.cz = center.z * scale;
    k.shrink = v_scale_ratio(mesh, unit);
    k.unit = v_from_bits(unit);
    return k;
}

/* Least and most of the distance from the centre to what touches every side of a box: proven bounds of the true one,
 * rounded. 2^-21 is more than all the roundings of a length, 2^-70 more than what underflow can add to it
 * (docs/numerics.md, section 18). */
typedef struct closest_span {
    vf least, most;
} closest_span;

FN vf closest_length(vf x, vf y, vf z)
{
    return v_sqrt(x * x + y * y + z * z);
}

FN closest_span closest_span_of(closest_view k, v3 lo, v3 hi)
{
    const vf zero = v_f(R(0.0)), floor = v_f(R(0x1p-70));
    const vf ax = lo.x * k.shrink - k.cx, ay = lo.y * k.shrink - k.cy, az = lo.z * k.shrink - k.cz;
    const vf bx = k.cx - hi.x * k.shrink, by = k.cy - hi.y * k.shrink, bz = k.cz - hi.z * k.shrink;
    const vf near = closest_length(v_max(v_max(ax, bx), zero), v_max(v_max(ay, by), zero), v_max(v_max(az, bz), zero));
    const vf far = closest_length(v_min(ax, bx), v_min(ay, by), v_min(az, bz)); /* none is above 0 */
    closest_span s;
    s.least = v_max(near * v_f(R(0x1.fffffp-1)) - floor, zero) * k.unit;
    s.most = (far * v_f(R(0x1.00001p0)) + floor) * k.unit;
    return s;
}

/* One query on its way through the hierarchy. */
typedef struct closest_walk {
    v3 center; /* in every lane */
    closest_view view;
    vf distance; /* the best per lane */
    vi triangle;
    vf doubt; /* exact mode: the nearest that a triangle left open might be */
    closest_query query;
    mesh_bound until;   /* the best of all lanes, or a distance that something is not beyond */
    G const int *masks; /* of the leaves' triangles, with MESH_TRIANGLE_MASKS */
    int number;         /* of the query */
    int next;           /* what is visited next: a node, or below 0 a leaf */
    mesh_stack stack;
} closest_walk;

/* Something is not farther than this. */
FN void closest_limit(closest_walk *w, real most)
{
    if (most < w->until.t)
        w->until = mesh_bound_of(most, MESH_NO_TRIANGLE);
}

/* The least that the children of a node are away, and what the nearest is at most. */
typedef struct closest_seen {
    LANG_ALIGNED real least[MESH_WIDTH];
    real most;
} closest_seen;

FN void closest_see(const closest_walk *w, G const mesh_node *node, closest_seen *seen)
{
    vf most = v_infinity();
    for (int lane = 0; lane < MESH_WIDTH; lane += LANES) {
        const v3 lo = v3_of(v_load(node->lo_x + lane), v_load(node->lo_y + lane), v_load(node->lo_z + lane));
        const v3 hi = v3_of(v_load(node->hi_x + lane), v_load(node->hi_y + lane), v_load(node->hi_z + lane));
        const vm empty = vi_eq(mesh_load_int(node->child + lane), v_i(0)); /* the root is nobody's child */
        const closest_span s = closest_span_of(w->view, lo, hi);
        v_store(seen->least + lane, s.least);
        most = v_min(v_sel(empty, v_infinity(), s.most), most);
    }
    seen->most = v_reduce_min(most);
}

/* Push the children that may hold something better, the nearest on top. Whether there is something in them at all that
 * counts is not known with masks. */
FN void closest_push(closest_walk *w, G const mesh_node *node, const closest_seen *seen, int options)
{
    mesh_stack *s = &w->stack;
    const int bottom = s->top;
    if (options == 0)
        closest_limit(w, seen->most);
    for (int lane = 0; lane < MESH_WIDTH; lane += LANES) {
        const vm empty = vi_eq(mesh_load_int(node->child + lane), v_i(0));
        const vm open = mesh_in_time(v_load(seen->least + lane), mesh_load_int(node->least + lane), w->until);
        for (u32 lanes = v_bitmask(v_and(open, v_not(empty))); lanes != 0; lanes &= lanes - 1) {
            const int i = lane + bitmask_first(lanes);
            const u64 from = mesh_key_of(seen->least[i], node->least[i]);
            mesh_insert(s, bottom, from, node->child[i]);
        }
    }
}

/* Take what is next from the stack; 0 if nothing there can be better. */
FN int closest_advance(closest_walk *w)
{
    return mesh_take(&w->stack, w->until, &w->next);
}

/* 0 if the query is answered already. */
FN int closest_begin(closest_walk *w, mesh_frame frame, closest_query q, int options)
{
    const vf radius = v_f(q.radius);
    w->query = q;
    w->center = v3_of(v_f(q.cx), v_f(q.cy), v_f(q.cz));
    w->view = closest_view_of(w->center, frame);
    w->distance = w->doubt = v_infinity();
    w->triangle = v_i(MESH_NO_TRIANGLE);
    w->until = mesh_bound_of(R(1.0) / R(0.0), MESH_NO_TRIANGLE);
    w->next = frame.root;
    mesh_stack_begin(&w->stack, frame.root);
    if (options != 0 && q.mask == 0)
        return 0;
    return v_any(v_and(v3_finite(w->center), v_and(v_finite(radius), v_le(v_f(R(0.0)), radius))));
}

/* LANES triangles of a leaf, and which of them may be better. */
typedef struct closest_group {
    closest_in in;
    closest_span span;
    vi triangle;
    vm open;
} closest_group;

FN closest_group closest_group_of(G const mesh_leaf *leaf, int lane, const closest_walk *w, real scale, int options)
{
    closest_group g;
    g.in.center = w->center;
    const mesh_corners p = mesh_corners_of(leaf, w->next, lane);
    g.in.p0 = p.p0;
    g.in.p1 = p.p1;
    g.in.p2 = p.p2;
    g.span = closest_span_of(w->view, v3_mul(mesh_min3(g.in.p0, g.in.p1, g.in.p2), v_f(scale)),
                             v3_mul(mesh_max3(g.in.p0, g.in.p1, g.in.p2), v_f(scale)));
    g.triangle = mesh_load_int(leaf->triangle + lane);
    g.open = v_and(mesh_in_time(g.span.least, g.triangle, w->until),
                   mesh_counts(g.triangle, w->masks, w->next, lane, w->query.mask, options));
    return g;
}

/* Returns if one of these is better than its lane's best. */
FN int closest_take(closest_walk *w, vm open, vf distance, vi triangle)
{
    const vm nearer =
        v_or(v_lt(distance, w->distance), v_and(v_eq(distance, w->distance), vi_gt(w->triangle, triangle)));
    const vm better = v_and(open, nearer);
    w->distance = v_sel(better, distance, w->distance);
    w->triangle = vi_sel(better, triangle, w->triangle);
    return v_any(better);
}

/* The smallest (distance, triangle) over the lanes. */
FN void closest_reduce(closest_walk *w)
{
    const real least = v_reduce_min(w->distance);
    if (least > w->until.t)
        return;
    w->until =
        mesh_bound_of(least, vi_reduce_min(vi_sel(v_eq(w->distance, v_f(least)), w->triangle, v_i(MESH_NO_TRIANGLE))));
}

FN int closest_leaf_lanes(G const mesh_leaf *leaf, int lane, closest_walk *w, real scale, int options)
{
    const closest_group g = closest_group_of(leaf, lane, w, scale, options);
    if (!v_any(g.open))
        return 0;
    const vf distance = v_min(v_max(closest_find(g.in).distance, g.span.least), g.span.most);
    return closest_take(w, g.open, distance, g.triangle);
}

/* Go on with the nearest child of a node. */
FN int closest_choose(closest_walk *w, G const mesh_node *node, const closest_seen *seen, int options)
{
    closest_push(w, node, seen, options);
    return closest_advance(w);
}

/* Both at once. */
FN int closest_descend(closest_walk *w, G const mesh_node *node, int options)
{
    closest_seen seen;
    closest_see(w, node, &seen);
    return closest_choose(w, node, &seen, options);
}

/* It has no pairs that wait. */
FN void closest_enter(mesh_pairs *p, const closest_walk *w, int number)
{
    (void)p, (void)w, (void)number;
}

/* A search: visit a leaf. `leaf_lanes` takes LANES triangles. */
#define CLOSEST_SEARCH(name, leaf_lanes)                                                                           \
    FN int name##_visit(closest_walk *w, int number, mesh_pairs *pairs, mesh_frame frame, G const mesh_leaf *leaf, \
                        int options)                                                                               \
    {                                                                                                              \
        int better = 0;                                                                                            \
        (void)number, (void)pairs;                                                                                 \
        for (int lane = 0; lane < MESH_WIDTH; lane += LANES)                                                       \
            better |= leaf_lanes(leaf, lane, w, frame.scale, options);                                             \
        if (better)                                                                                                \
            closest_reduce(w);                                                                                     \
        return closest_advance(w);                                                                                 \
    }                                                                                                              \
    MESH_NEVER_WAITS(name, closest_walk)
CLOSEST_SEARCH(closest, closest_leaf_lanes)

/* What is found by now; for an invalid query, that nothing is. */
FN closest_hit closest_end(const closest_walk *w)
{
    const int none = w->until.triangle == MESH_NO_TRIANGLE;
    real depth[LANES];
    v_store(depth, v_positive_zero(v_f(w->query.radius) - v_f(w->until.t)));
    closest_hit hit;
    hit.triangle = none ? -1 : w->until.triangle;
    hit.distance = w->until.t;
    hit.depth = none ? -w->until.t : depth[0];
    return hit;
}

/* ---- a run of queries, mesh_run.h: of the sphere centre and radius, a distance for a time ------------------------- */

FN int closest_begin_next(const mesh_run *run, closest_walk *w, u32 at, const real *rows, int options)
{
    closest_query q;
    (void)rows;
    q.cx = run->in[0][at];
    q.cy = run->in[1][at];
    q.cz = run->in[2][at];
    q.radius = run->in[3][at];
    q.mask = (options & MESH_QUERY_MASKS) != 0 ? run->mask[at] : -1;
    w->number = (int)at;
    w->masks = run->masks;
    return closest_begin(w, run->frame, q, options);
}

FN void closest_answer_hit(const mesh_run *run, const closest_walk *w, closest_hit hit)
{
    run->triangle[w->number] = hit.triangle;
    run->t[w->number] = hit.distance;
    run->depth[w->number] = hit.depth;
}

FN void closest_answer(const mesh_run *run, const closest_walk *w)
{
    closest_answer_hit(run, w, closest_end(w));
}
#endif
