/* SPDX-License-Identifier: MIT */
/* The way of a query through the hierarchy of a mesh, LANES boxes or triangles side by side: what every search does, whatever
 * a triangle answers and whatever becomes of the answer.
 *
 * The answer does not depend on the tree and the order of visits, because a triangle's answer includes its own box test: it
 * is hit only if that test passes, at max(solver time, box entry). The box arithmetic is monotone under inclusion (subtract,
 * multiply by a constant of the query, min, max), so a node never enters later than what it holds. Nor are there lower
 * indices in it than its lowest. So skipping what comes after the best hit by (entry, lowest index) skips no better one. */
#ifndef CAROM_MESH_WALK_H
#define CAROM_MESH_WALK_H
#include "mesh_course.h"

#define MESH_NO_TRIANGLE 0x7fffffff /* above every index */

typedef struct mesh_hit {
    int triangle, state;
    real t;
} mesh_hit;

/* The end of the window, and then the best hit so far. */
typedef struct mesh_bound {
    real t;
    int triangle;
} mesh_bound;

/* Boxes of triangles from `least` on that are entered in time for something better: not behind the start, and their entry
 * not after the bound, by time and then by index. */
FN vm mesh_is_open(mesh_passage p, vi least, mesh_bound until)
{
    const vf from = v_max(p.enter, v_f(R(0.0)));
    const vm early =
        v_or(v_lt(from, v_f(until.t)), v_and(v_eq(from, v_f(until.t)), v_not(vi_gt(least, v_i(until.triangle)))));
    return v_and(p.exists, early);
}

/* Best hit per lane. */
typedef struct mesh_best {
    vf t;
    vi triangle, state;
} mesh_best;

FN v3 mesh_min3(v3 a, v3 b, v3 c)
{
    return v3_of(v_min(v_min(a.x, b.x), c.x), v_min(v_min(a.y, b.y), c.y), v_min(v_min(a.z, b.z), c.z));
}
FN v3 mesh_max3(v3 a, v3 b, v3 c)
{
    return v3_of(v_max(v_max(a.x, b.x), c.x), v_max(v_max(a.y, b.y), c.y), v_max(v_max(a.z, b.z), c.z));
}

FN v3 mesh_corner(G const mesh_leaf *leaf, int corner, int lane)
{
    return v3_of(v_load(leaf->p[3 * corner] + lane), v_load(leaf->p[3 * corner + 1] + lane),
                 v_load(leaf->p[3 * corner + 2] + lane));
}

/* One corner of the triangles of LANES queries; a query without one takes triangle 0. */
FN v3 mesh_gather_corner(G const real *vertices, G const u32 *indices, G const int *triangle, int corner)
{
    real x[LANES], y[LANES], z[LANES];
    for (int lane = 0; lane < LANES; lane++) {
        const int index = triangle[lane] < 0 ? 0 : triangle[lane];
        G const real *p = vertices + 3 * (size_t)indices[3 * (size_t)index + (size_t)corner];
        x[lane] = p[0];
        y[lane] = p[1];
        z[lane] = p[2];
    }
    return v3_of(v_load(x), v_load(y), v_load(z));
}

FN vi mesh_load_int(G const int *from)
{
    return v_bits(v_load((G const real *)from));
}

/* The smallest (t, triangle) over the lanes. */
FN mesh_hit mesh_reduce(mesh_best best)
{
    mesh_hit hit;
    hit.t = v_least(best.t);
    const vm first = v_eq(best.t, v_f(hit.t));
    hit.triangle = vi_least(vi_sel(first, best.triangle, v_i(MESH_NO_TRIANGLE)));
    int state[LANES];
    vi_store(state, best.state);
    hit.state = state[lane_first(v_lanes(v_and(first, vi_eq(best.triangle, v_i(hit.triangle)))))];
    return hit;
}

typedef struct mesh_open {
    mesh_bound from; /* nothing in it is earlier */
    int child;
} mesh_open;

FN int mesh_is_after(mesh_bound a, mesh_bound b)
{
    return a.t > b.t || (a.t == b.t && a.triangle > b.triangle);
}

/* Where a search for all hits puts them. */
typedef struct mesh_sink {
    G mesh_record *records;
    u32 room, count; /* records that fit; hits found, also beyond */
    int one_is_enough;
} mesh_sink;

/* One query on its way through the hierarchy. */
typedef struct mesh_walk {
    real course[MESH_COURSE];
    mesh_best best;
    vf doubt; /* exact mode: the earliest that a triangle left open might come */
    mesh_query query;
    mesh_hit hit; /* the best of all lanes, or that there is none */
    real limit;   /* end of the window */
    mesh_bound until;
    G const int *masks; /* of the leaves' triangles, if the options say that there are any */
    mesh_sink *sink;    /* of a search for all hits: one for several walks, or the walk's own */
    mesh_sink own;
    int number; /* of the query, for its records */
    int next;   /* what is visited next: a node, or ~leaf */
    int top;
    mesh_open stack[MESH_STACK];
} mesh_walk;

/* Take what is next from the stack; 0 if nothing there can be better. */
FN int mesh_advance(mesh_walk *w)
{
    while (w->top > 0) {
        const mesh_open next = w->stack[--w->top];
        w->next = next.child;
        if (!mesh_is_after(next.from, w->until))
            return 1;
    }
    return 0;
}

/* The children of a node that are entered in time, a bit for each, and when. */
FN u32 mesh_children(G const mesh_node *node, const mesh_walk *w, real *enters)
{
    u32 open = 0;
    for (int lane = 0; lane < MESH_WIDTH; lane += LANES) {
        const v3 lo = v3_of(v_load(node->lo_x + lane), v_load(node->lo_y + lane), v_load(node->lo_z + lane));
        const v3 hi = v3_of(v_load(node->hi_x + lane), v_load(node->hi_y + lane), v_load(node->hi_z + lane));
        const mesh_passage p = mesh_pass(mesh_course_at(w->course).slabs, lo, hi);
        const vm empty = vi_eq(mesh_load_int(node->child + lane), v_i(0)); /* the root is nobody's child */
        const vm in_time = mesh_is_open(p, mesh_load_int(node->least + lane), w->until);
        v_store(enters + lane, v_max(p.enter, v_f(R(0.0))));
        open |= v_lanes(v_and(in_time, v_not(empty))) << lane;
    }
    return open;
}

/* Go on with the first by time and index of a node's children; the others wait on the stack. */
FN int mesh_descend(mesh_walk *w, G const mesh_node *node)
{
    real enters[MESH_WIDTH];
    u32 open = mesh_children(node, w, enters);
    const int bottom = w->top;
    if (open != 0 && (open & (open - 1)) == 0) {
        w->next = node->child[lane_first(open)];
        return 1;
    }
    for (; open != 0; open &= open - 1) {
        const int i = lane_first(open);
        mesh_open next;
        next.from.t = enters[i];
        next.from.triangle = node->least[i];
        next.child = node->child[i];
        int at = w->top++;
        for (; at > bottom && mesh_is_after(next.from, w->stack[at - 1].from); at--)
            w->stack[at] = w->stack[at - 1];
        w->stack[at] = next;
    }
    return mesh_advance(w);
}

/* A query whose course is in one lane of `rows`. 0 if it is answered already. */
FN int mesh_begin(mesh_walk *w, mesh_frame frame, mesh_query q, const real *rows, int lane)
{
    for (int k = 0; k < MESH_COURSE; k++)
        w->course[k] = rows[LANES * k + lane];
    const int valid = w->course[MESH_COURSE_VALID] != R(0.0);
    w->query = q;
    w->hit.triangle = -1;
    w->hit.state = valid ? STATE_MISS : STATE_INVALID;
    w->hit.t = R(1.0) / R(0.0);
    /* A motionless sphere hits at time 0 or never. */
    w->limit = q.vx == R(0.0) && q.vy == R(0.0) && q.vz == R(0.0) ? R(0.0) : q.t_max;
    w->until.t = w->limit;
    w->until.triangle = MESH_NO_TRIANGLE;
    w->best.t = w->doubt = v_infinity();
    w->best.triangle = v_i(MESH_NO_TRIANGLE);
    w->best.state = v_i(STATE_MISS);
    w->next = frame.root;
    w->top = 0;
    return valid && (q.options == 0 || q.mask != 0);
}

/* The same for one query alone. */
FN int mesh_begin_alone(mesh_walk *w, mesh_frame frame, mesh_query q)
{
    real rows[LANES * MESH_COURSE];
    mesh_chart(rows, v3_of(v_f(q.cx), v_f(q.cy), v_f(q.cz)), v_f(q.radius), v3_of(v_f(q.vx), v_f(q.vy), v_f(q.vz)),
               frame);
    return mesh_begin(w, frame, q, rows, 0);
}

/* LANES triangles of a leaf, and which of them the query enters in time. */
typedef struct mesh_group {
    sweep_in in;
    vf enter;
    vi triangle;
    vm open;
} mesh_group;

FN mesh_group mesh_group_of(G const mesh_leaf *leaf, int lane, const mesh_walk *w, real scale)
{
    mesh_group g;
    g.in = mesh_sphere_of(&w->query);
    g.in.p0 = mesh_corner(leaf, 0, lane);
    g.in.p1 = mesh_corner(leaf, 1, lane);
    g.in.p2 = mesh_corner(leaf, 2, lane);
    const mesh_passage p =
        mesh_pass(mesh_course_at(w->course).slabs, v3_mul(mesh_min3(g.in.p0, g.in.p1, g.in.p2), v_f(scale)),
                  v3_mul(mesh_max3(g.in.p0, g.in.p1, g.in.p2), v_f(scale)));
    g.enter = p.enter;
    g.triangle = mesh_load_int(leaf->triangle + lane);
    g.open = mesh_is_open(p, g.triangle, w->until);
    return g;
}

/* The triangles of LANES slots of a leaf that a query's mask lets through. */
FN vm mesh_masked(G const int *masks, int mask, int leaf, int lane, int options)
{
    vi own = v_i(-1);
    if ((options & MESH_TRIANGLE_MASKS) != 0)
        own = mesh_load_int(masks + MESH_WIDTH * (size_t)leaf + lane);
    return v_not(vi_eq(own & v_i(mask), v_i(0)));
}

/* The triangles of a group that count for the query. */
FN vm mesh_admitted(const mesh_group *g, const mesh_walk *w, G const mesh_leaf *leaf, int lane, int options)
{
    (void)leaf;
    if ((options & MESH_TRIANGLE_MASKS) == 0)
        return g->open;
    return v_and(g->open, mesh_masked(w->masks, w->query.mask, ~w->next, lane, options));
}

/* What the triangles of a group answer. Exact mode may leave some open. */
typedef struct mesh_answers {
    vm hits;
    vf t;
    vi state;
    vm open; /* may be hits, but none before `from` */
    vf from;
} mesh_answers;

FN mesh_answers mesh_answers_of(vm hits, vf t, vi state)
{
    mesh_answers a;
    a.hits = hits;
    a.t = t;
    a.state = state;
    a.open = v_lt(t, t); /* none */
    a.from = t;
    return a;
}

/* ---- what becomes of answers: each of these returns whether it narrows the search --------------------------------- */

/* The first hit. */
FN int mesh_take_first(mesh_walk *w, const mesh_group *g, const mesh_answers *a, G const mesh_leaf *leaf, int lane)
{
    mesh_best *best = &w->best;
    const vm sooner = v_or(v_lt(a->t, best->t), v_and(v_eq(a->t, best->t), vi_gt(best->triangle, g->triangle)));
    const vm better = v_and(a->hits, sooner);
    (void)leaf, (void)lane;
    best->t = v_sel(better, a->t, best->t);
    best->triangle = vi_sel(better, g->triangle, best->triangle);
    best->state = vi_sel(better, a->state, best->state);
    w->doubt = v_sel(a->open, v_min(a->from, w->doubt), w->doubt);
    return v_any(better);
}

FN void mesh_narrow_first(mesh_walk *w)
{
    w->hit = mesh_reduce(w->best);
    w->until.t = w->hit.t;
    w->until.triangle = w->hit.triangle;
}

/* Every hit, and what is open with NaN for its time; or no more than it takes to know that there is one. */
FN int mesh_take_all(mesh_walk *w, const mesh_group *g, const mesh_answers *a, G const mesh_leaf *leaf, int lane)
{
    const u32 hits = v_lanes(a->hits);
    u32 left = v_lanes(v_or(a->hits, a->open));
    real t[LANES];
    int state[LANES];
    (void)g;
    if (left == 0)
        return 0;
    v_store(t, v_sel(a->open, v_from_bits(v_i(R_NAN_BITS)), a->t));
    vi_store(state, a->state);
    for (; left != 0; left &= left - 1) {
        const int i = lane_first(left), at = lane + i;
        if (at > 0 && leaf->triangle[at] == leaf->triangle[at - 1]) /* an empty slot */
            continue;
        if (w->sink->count < w->sink->room) {
            G mesh_record *to = w->sink->records + w->sink->count;
            to->t = t[i];
            to->triangle = leaf->triangle[at];
            to->state = state[i];
            to->query = w->number;
        }
        w->sink->count++;
    }
    if (hits != 0)
        w->hit.state = STATE_APPROACHING;
    return hits != 0 && w->sink->one_is_enough;
}

FN void mesh_narrow_all(mesh_walk *w)
{
    w->top = 0;
}

/* A search: visit a node or a leaf; 0 if that was the last. `answers` is asked of the groups that are entered, as far as
 * they are `admitted` by the options, which are those of the query or, for queries without any, a constant 0; `take` has
 * what becomes of it. */
#define MESH_SEARCH(name, admitted, answers, take)                                                                \
    FN int name(mesh_walk *w, mesh_frame frame, G const mesh_node *nodes, G const mesh_leaf *leaves, int options) \
    {                                                                                                             \
        int narrower = 0;                                                                                         \
        if (w->next >= 0)                                                                                         \
            return mesh_descend(w, nodes + w->next);                                                              \
        for (int lane = 0; lane < MESH_WIDTH; lane += LANES) {                                                    \
            G const mesh_leaf *leaf = leaves + ~w->next;                                                          \
            mesh_group group = mesh_group_of(leaf, lane, w, frame.scale);                                         \
            if (options != 0)                                                                                     \
                group.open = admitted(&group, w, leaf, lane, options);                                            \
            if (v_any(group.open)) {                                                                              \
                const mesh_answers a = answers(&group, w, leaf, lane, options);                                   \
                narrower |= mesh_take_##take(w, &group, &a, leaf, lane);                                          \
            }                                                                                                     \
        }                                                                                                         \
        if (narrower)                                                                                             \
            mesh_narrow_##take(w);                                                                                \
        return mesh_advance(w);                                                                                   \
    }
#endif
