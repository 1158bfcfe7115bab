/* SPDX-License-Identifier: MIT */
/* Pairs of a query and a triangle on their way to the solver, what they answer, and what becomes of the answer.
 *
 * Of the triangles in a leaf a query enters the boxes of a few, so the lanes of a solver that took leaf after leaf would be
 * all but empty. The pairs are put side by side instead, those of several queries that are on their way at once, and the
 * solver waits for LANES of them; the queries wait for their answers, while others go on. It makes no difference to an
 * answer who else is asked. */
#ifndef CAROM_MESH_PAIRS_H
#define CAROM_MESH_PAIRS_H
#include "mesh_walk.h"

/* LANES pairs of a query and a triangle at rest. */
typedef struct mesh_question {
    sweep_in in;
    sweep_heading heading;
    vf enter, limit; /* entry into the triangle's box; end of the query's window */
    vi triangle;
    const u8 *walk; /* that the query is on */
    vm open;        /* which of the pairs are asked */
} mesh_question;

/* What they answer. Exact mode may leave some open. */
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
    a.open = v_and(hits, v_not(hits)); /* none */
    a.from = t;
    return a;
}

/* ---- what becomes of answers ---------------------------------------------------------------------------------------- */

/* Who asked. Where a leaf is answered at once that is known; rusticl's compiler dies of an offset to a lone walk. */
FN mesh_walk *mesh_asker(mesh_walk *walks, const mesh_question *q, int lane)
{
#ifdef LANG_HAS_COMPRESS
    return walks + q->walk[lane];
#else
    (void)q, (void)lane;
    return walks;
#endif
}

/* The first hit, and the earliest that one left open may come. */
FN void mesh_take_first(mesh_walk *walks, const mesh_question *q, const mesh_answers *a)
{
    int triangle[LANES], state[LANES];
    real t[LANES], from[LANES];
    vi_store(triangle, q->triangle);
    vi_store(state, a->state);
    v_store(t, a->t);
    v_store(from, a->from);
    for (u32 left = v_bitmask(a->hits); left != 0; left &= left - 1) {
        const int i = bitmask_first(left);
        mesh_walk *w = mesh_asker(walks, q, i);
        const mesh_bound hit = mesh_bound_of(t[i], triangle[i]);
        if (mesh_is_after(w->until, hit)) {
            w->until = hit;
            w->state = state[i];
        }
    }
    for (u32 left = v_bitmask(a->open); left != 0; left &= left - 1) {
        const int i = bitmask_first(left);
        mesh_walk *w = mesh_asker(walks, q, i);
        w->doubt = from[i] < w->doubt ? from[i] : w->doubt;
    }
}

/* Every hit, and what is open with NaN for its time; or no more than it takes to know that there is one. */
FN void mesh_take_all(mesh_walk *walks, const mesh_question *q, const mesh_answers *a)
{
    const u32 hits = v_bitmask(a->hits);
    int triangle[LANES], state[LANES];
    real t[LANES];
    u32 left = v_bitmask(v_or(a->hits, a->open));
    if (left == 0)
        return;
    vi_store(triangle, q->triangle);
    vi_store(state, a->state);
    v_store(t, v_sel(a->open, v_from_bits(v_i(R_NAN_BITS)), a->t));
    for (; left != 0; left &= left - 1) {
        const int i = bitmask_first(left);
        mesh_walk *w = mesh_asker(walks, q, i);
        mesh_sink *sink = w->sink;
        if (sink->count < sink->room) {
            G mesh_record *to = sink->records + sink->count;
            to->t = t[i];
            to->triangle = triangle[i];
            to->state = state[i];
            to->query = w->number - sink->first;
        }
        sink->count++;
        w->hits++;
        if ((hits >> i & 1) != 0) {
            w->state = STATE_APPROACHING;
            if (sink->one_is_enough) { /* nothing waits any more, and nothing is in time */
                w->stack.top = 0;
                w->until = mesh_bound_of(R(-1.0), 0);
            }
        }
    }
}

/* When the first hit found so far is. Whether there is any no processor foresees: no branch. */
FN real mesh_first_time(const mesh_walk *w)
{
    const u32 none = 0 - (u32)(w->until.triangle == MESH_NO_TRIANGLE); /* all bits, or none */
    return real_of_bits((real_bits(w->until.t) & ~none) | (R_INFINITY_BITS & none));
}

/* ---- pairs that wait ------------------------------------------------------------------------------------------------ */

/* What differs within a leaf: a triangle, when its box is entered, and its index. */
enum { PAIR_P0, PAIR_P1 = 3, PAIR_P2 = 6, PAIR_ENTER = 9, PAIR_TRIANGLE, PAIR_COLUMNS };
/* What a walk asks about: its sphere, and the end of its window. */
enum { PAIR_LIMIT = IN_P0X, PAIR_SPHERE };
/* Less than LANES wait, every walk comes from a leaf, and a store may reach beyond. */
#define PAIR_ROOM (LANES + MESH_WALKS * MESH_WIDTH + LANES)
#define PAIR_COLUMN(p, k) ((p)->columns + (k)*PAIR_ROOM)

/* Where work-items run together, the solver takes as many turns as the one with the most pairs has. So each puts its pairs off until
 * it has so many, for then others have about as many. */
#define MESH_PUT_OFF 8

typedef struct mesh_pairs {
#ifdef LANG_HAS_COMPRESS
    LANG_ALIGNED real columns[PAIR_COLUMNS * PAIR_ROOM]; /* integers as their bits */
    LANG_ALIGNED real sphere[PAIR_SPHERE * MESH_WALKS];  /* of the walks that have asked */
    u8 walk[PAIR_ROOM];                                  /* that a pair belongs to */
#elif defined(LANG_LOCKSTEP)
    int leaf[MESH_PUT_OFF + MESH_WIDTH]; /* as its node refers to it, */
    u8 lane[MESH_PUT_OFF + MESH_WIDTH];  /* and which triangle of it */
#endif
    int first, end;
    u32 offered, answered; /* in all, modulo 2^32 */
} mesh_pairs;

FN void mesh_pairs_begin(mesh_pairs *p)
{
    p->first = p->end = 0;
    p->offered = p->answered = 0;
}

#ifdef LANG_HAS_COMPRESS
/* Walk `number` sets out. */
FN void mesh_enter(mesh_pairs *p, const mesh_walk *w, int number)
{
    const mesh_query *q = &w->query;
    const real sphere[PAIR_SPHERE] = {q->cx, q->cy, q->cz, q->radius,
                                      q->vx, q->vy, q->vz, w->course[MESH_COURSE_LIMIT]};
    real *own = p->sphere + number;
    for (int k = 0; k < PAIR_SPHERE; k++)
        own[k * MESH_WALKS] = sphere[k];
}

/* What walk `number` has entered of a leaf. */
FN void mesh_offer(mesh_pairs *p, const mesh_group *g, int number)
{
    const vf own[PAIR_COLUMNS] = {g->p.p0.x,
                                  g->p.p0.y,
                                  g->p.p0.z,
                                  g->p.p1.x,
                                  g->p.p1.y,
                                  g->p.p1.z,
                                  g->p.p2.x,
                                  g->p.p2.y,
                                  g->p.p2.z,
                                  g->enter,
                                  v_from_bits(g->triangle)};
    const u32 lanes = v_bitmask(g->open);
    v_compress(PAIR_COLUMN(p, 0) + p->end, PAIR_ROOM, own, PAIR_COLUMNS, lanes);
    v_store_u8(p->walk + p->end, v_i(number));
    p->end += bitmask_count(lanes);
    p->offered += (u32)bitmask_count(lanes);
}

/* Fewer than LANES pairs become LANES: the last one is repeated, for nobody. */
FN void mesh_fill_up(mesh_pairs *p)
{
    for (int k = 0; k < PAIR_COLUMNS; k++)
        v_store(PAIR_COLUMN(p, k) + p->end, v_f(PAIR_COLUMN(p, k)[p->end - 1]));
    v_store(PAIR_COLUMN(p, PAIR_TRIANGLE) + p->end, v_from_bits(v_i(-1)));
    v_store_u8(p->walk + p->end, v_i(p->walk[p->end - 1]));
}

FN v3 mesh_pairs_load(const mesh_pairs *p, int column)
{
    return v3_of(v_load(PAIR_COLUMN(p, column) + p->first), v_load(PAIR_COLUMN(p, column + 1) + p->first),
                 v_load(PAIR_COLUMN(p, column + 2) + p->first));
}

FN vf mesh_pairs_pick(const mesh_pairs *p, int number)
{
    return v_table_lookup(p->sphere + number * MESH_WALKS, p->walk + p->first);
}

/* Those that have waited longest. */
FN mesh_question mesh_pairs_next(const mesh_pairs *p)
{
    const vf zero = v_f(R(0.0));
    mesh_question q;
    q.in.center = v3_of(mesh_pairs_pick(p, IN_CX), mesh_pairs_pick(p, IN_CY), mesh_pairs_pick(p, IN_CZ));
    q.in.radius = mesh_pairs_pick(p, IN_R);
    q.in.velocity = v3_of(mesh_pairs_pick(p, IN_VX), mesh_pairs_pick(p, IN_VY), mesh_pairs_pick(p, IN_VZ));
    q.in.p0 = mesh_pairs_load(p, PAIR_P0);
    q.in.p1 = mesh_pairs_load(p, PAIR_P1);
    q.in.p2 = mesh_pairs_load(p, PAIR_P2);
    q.in.w = v3_of(zero, zero, zero);
    q.heading = sweep_heading_of(q.in.velocity);
    q.enter = v_load(PAIR_COLUMN(p, PAIR_ENTER) + p->first);
    q.limit = mesh_pairs_pick(p, PAIR_LIMIT);
    q.triangle = v_bits(v_load(PAIR_COLUMN(p, PAIR_TRIANGLE) + p->first));
    q.walk = p->walk + p->first;
    q.open = vi_gt(q.triangle, v_i(-1));
    return q;
}

/* They are answered; fewer than LANES that are left go to the front. */
FN void mesh_pairs_drop(mesh_pairs *p)
{
    const int left = p->end - p->first, done = left < LANES ? left : LANES;
    p->answered += (u32)done;
    p->first += done;
    if (left - done >= LANES)
        return;
    if (left > done) {
        LANG_UNROLL
        for (int k = 0; k < PAIR_COLUMNS; k++)
            v_store(PAIR_COLUMN(p, k), v_load(PAIR_COLUMN(p, k) + p->first));
        u8 walk[LANES];
        LANG_UNROLL
        for (int lane = 0; lane < LANES; lane++)
            walk[lane] = p->walk[p->first + lane];
        LANG_UNROLL
        for (int lane = 0; lane < LANES; lane++)
            p->walk[lane] = walk[lane];
    }
    p->end = left - done;
    p->first = 0;
}
#else
FN void mesh_enter(mesh_pairs *p, const mesh_walk *w, int number)
{
    (void)p, (void)w, (void)number;
}

#ifdef LANG_LOCKSTEP
FN void mesh_put_off(mesh_pairs *p, int leaf, int lane)
{
    p->leaf[p->end] = leaf;
    p->lane[p->end++] = (u8)lane;
}
#endif

/* A query and triangles of a leaf. */
FN mesh_question mesh_question_of(const mesh_group *g, const mesh_walk *w)
{
    mesh_question q;
    q.in = mesh_sphere_of(&w->query);
    q.in.p0 = g->p.p0;
    q.in.p1 = g->p.p1;
    q.in.p2 = g->p.p2;
    q.heading = mesh_course_at(w->course).heading;
    q.enter = g->enter;
    q.limit = v_f(w->course[MESH_COURSE_LIMIT]);
    q.triangle = g->triangle;
    q.walk = 0;
    q.open = g->open;
    return q;
}
#endif

/* ---- what is known without asking ------------------------------------------------------------------------------------ */

/* Of squared radii: what is well inside, and what is not yet so far that the solver's roundings matter (docs/numerics.md, section
 * 11). Between the other two nothing that matters is out of range. */
#define MESH_WELL_INSIDE R(0.9375)
#define MESH_NOT_FAR R(0x1p18)
#define MESH_LEAST_SQUARE R(0x1p-80)
#define MESH_MOST_SQUARE R(0x1p80)

FN vf mesh_distance2(v3 p, const mesh_query *q)
{
    const v3 d = v3_sub(p, v3_of(v_f(q->cx), v_f(q->cy), v_f(q->cz)));
    return v3_dot(d, d);
}

/* A triangle with a corner well inside the sphere at the start is overlapped at time 0, and then only lower indices matter: the
 * lowest such triangle is the hit so far, and the rest of the group need not be asked. */
FN void mesh_claim_first(mesh_walk *w, mesh_group *g, int options)
{
    const mesh_query *q = &w->query;
    const real r2 = q->radius * q->radius;
    if ((options & (MESH_CULL_BACK | MESH_SKIP_PARTING | MESH_SKIP)) != 0)
        return;
    const vf a = mesh_distance2(g->p.p0, q), b = mesh_distance2(g->p.p1, q), c = mesh_distance2(g->p.p2, q);
    const vm near = v_lt(v_max(v_max(a, b), c), v_f(r2 * MESH_NOT_FAR));
    const vm has = v_lt(v_min(v_min(a, b), c), v_f(r2 * MESH_WELL_INSIDE));
    const u32 inside = v_bitmask(v_and(g->open, v_and(near, has)));
    if (inside == 0 || !(r2 > MESH_LEAST_SQUARE && r2 < MESH_MOST_SQUARE))
        return;
    int triangle[LANES];
    vi_store(triangle, g->triangle);
    w->until = mesh_bound_of(R(0.0), triangle[bitmask_first(inside)]); /* in a leaf indices rise */
    w->state = STATE_OVERLAPPING;
    g->open = v_and(g->open, v_and(v_le(g->enter, v_f(R(0.0))), vi_gt(v_i(w->until.triangle), g->triangle)));
}

/* Triangles in balls that the sphere does not come near in time need not be asked. */
FN void mesh_leave_far(const mesh_walk *w, mesh_group *g)
{
    const mesh_query *q = &w->query;
    if (w->course[MESH_COURSE_REACH] == R(1.0) / R(0.0))
        return;
    const mesh_capsule capsule = mesh_course_at(w->course).capsule;
    const real ball = MESH_IS_LOOSE(g->reference) ? R(1.0) / R(0.0) : g->leaf->ball;
    const v3 lo = mesh_min3(g->p.p0, g->p.p1, g->p.p2), hi = mesh_max3(g->p.p0, g->p.p1, g->p.p2);
    const v3 middle = v3_mul(v3_add(lo, hi), v_f(R(0.5)));
    const v3 way = v3_sub(middle, v3_of(v_f(q->cx), v_f(q->cy), v_f(q->cz)));
    const v3 velocity = v3_of(v_f(q->vx), v_f(q->vy), v_f(q->vz));
    const vf nearest_at = v_min(v_max(v3_dot(way, velocity) * capsule.per_v2, v_f(R(0.0))), v_f(w->until.t));
    const v3 gap = v3_sub(way, v3_mul(velocity, nearest_at));
    const vf reach = capsule.reach + v_f(ball);
    g->open = v_and(g->open, v_le(v3_dot(gap, gap), reach * reach));
}

FN void mesh_sift_first(mesh_walk *w, mesh_group *g, int options)
{
    mesh_leave_far(w, g);
    mesh_claim_first(w, g, options);
}

FN void mesh_sift_all(mesh_walk *w, mesh_group *g, int options)
{
    (void)options;
    mesh_leave_far(w, g);
}

/* Overlaps compare squares of distances, whose errors a capsule's margins do not cover. */
FN void mesh_sift_none(mesh_walk *w, mesh_group *g, int options)
{
    (void)w, (void)g, (void)options;
}

/* ---- a search ------------------------------------------------------------------------------------------------------- */

/* A visit of a leaf ends with 0 where the query's way ends, 1 where it goes on, or this: it waits for its pairs. */
#define MESH_WAITS 2

/* A search: visit a leaf. `sift` takes what is known of the triangles that are entered, `answers` is asked about the others,
 * `take` has what becomes of it. `options` are those of the queries or, for queries without any, a constant 0. */
#define MESH_SEARCH(name, sift, answers, take)                                                                  \
    FN void name##_of(mesh_walk *walks, const mesh_question *q, int options)                                    \
    {                                                                                                           \
        const mesh_answers a = answers(q, options);                                                             \
        take(walks, q, &a);                                                                                     \
    }                                                                                                           \
    FN int name##_visit(mesh_walk *w, int number, mesh_pairs *pairs, mesh_frame frame, G const mesh_leaf *leaf, \
                        int options)                                                                            \
    {                                                                                                           \
        int waits = 0;                                                                                          \
        for (int lane = 0; lane < MESH_WIDTH; lane += LANES) {                                                  \
            mesh_group group = mesh_group_of(leaf, w->next, lane, w, frame.scale, options);                     \
            sift(w, &group, options);                                                                           \
            if (v_any(group.open))                                                                              \
                MESH_SEARCH_OFFER(name)                                                                         \
        }                                                                                                       \
        return waits ? MESH_WAITS : mesh_advance(w);                                                            \
    }                                                                                                           \
    MESH_SEARCH_ASK(name)

#ifdef LANG_HAS_COMPRESS
#define MESH_SEARCH_OFFER(name)            \
    {                                      \
        mesh_offer(pairs, &group, number); \
        waits = 1;                         \
    }
/* And ask about the pairs that have waited longest. */
#define MESH_SEARCH_ASK(name)                                                                 \
    FN void name##_ask(const mesh_run *run, mesh_walk *walks, mesh_pairs *pairs, int options) \
    {                                                                                         \
        (void)run;                                                                            \
        if (pairs->end - pairs->first < LANES)                                                \
            mesh_fill_up(pairs);                                                              \
        const mesh_question q = mesh_pairs_next(pairs);                                       \
        name##_of(walks, &q, options);                                                        \
        mesh_pairs_drop(pairs);                                                               \
    }
#elif defined(LANG_LOCKSTEP)
#define MESH_SEARCH_OFFER(name)             \
    {                                       \
        (void)number;                       \
        mesh_put_off(pairs, w->next, lane); \
    }
/* And ask about those that are still open. */
#define MESH_SEARCH_ASK(name)                                                                               \
    FN void name##_ask(const mesh_run *run, mesh_walk *w, mesh_pairs *pairs, int options)                   \
    {                                                                                                       \
        for (int k = 0; k < pairs->end; k++) {                                                              \
            const int leaf = pairs->leaf[k];                                                                \
            const mesh_group group =                                                                        \
                mesh_group_of(mesh_leaf_of(run, leaf), leaf, pairs->lane[k], w, run->frame.scale, options); \
            if (v_any(group.open)) {                                                                        \
                const mesh_question q = mesh_question_of(&group, w);                                        \
                name##_of(w, &q, options);                                                                  \
            }                                                                                               \
        }                                                                                                   \
        pairs->end = 0;                                                                                     \
    }
#else
#define MESH_SEARCH_OFFER(name)                              \
    {                                                        \
        const mesh_question q = mesh_question_of(&group, w); \
        (void)number, (void)pairs;                           \
        name##_of(w, &q, options);                           \
    }
#define MESH_SEARCH_ASK(name) MESH_NEVER_WAITS(name, mesh_walk)
#endif

/* A search whose queries never wait. */
#define MESH_NEVER_WAITS(name, walk_type)                                                     \
    FN void name##_ask(const mesh_run *run, walk_type *walks, mesh_pairs *pairs, int options) \
    {                                                                                         \
        (void)run, (void)walks, (void)pairs, (void)options;                                   \
    }
#endif
