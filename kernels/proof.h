/* SPDX-License-Identifier: MIT */
/* Proof of a contact. Given a guess (a time, and a point on a feature of the triangle), say when the distance to that
 * feature's line or plane is r, by how much that may be wrong, and whether no other part of the triangle is nearer then.
 * The distance to a triangle is convex in time, so one such time is the first contact if the distance falls there, and
 * the last if it rises; no other feature has to be asked. A wrong guess proves nothing and is never believed.
 *
 * Near the guess the squared distance, less r^2, is c + b D + a D^2 in the small step D = t - guess. Only the distance to
 * the guessed point must be precise: it comes from binary64 (residual.h). How far the true foot is from that point, the
 * slopes, and which side of the triangle the centre is on, need no more than binary32 with a bound on its errors.
 * docs/numerics.md, section 13, derives every bound. */
#ifndef CAROM_PROOF_H
#define CAROM_PROOF_H
#include "residual.h"
#include "sweep.h"

#ifndef PROOF_BOUND
#define PROOF_BOUND R(1.0) /* a test shrinks all bounds with it, and must then find wrong answers */
#endif
#define PROOF_EPS(n) v_f(R(n) * R(0x1p-24) * PROOF_BOUND) /* n roundings of binary32 */
#define PROOF_WIDE_EPS(n) v_f(R(n) * R(0x1p-53) * PROOF_BOUND)
#define PROOF_FLOOR v_f(R(0x1p-100)) /* far above what underflow can lose, far below what it stands beside */

FN vf v3_size(v3 a)
{
    return v_abs(a.x) + v_abs(a.y) + v_abs(a.z);
}

/* Coordinates in the basis e01, e02: weights of P1 and P2, or products with the two edges. */
typedef struct v2 {
    vf x1, x2;
} v2;

FN v2 v2_of(vf x1, vf x2)
{
    v2 r;
    r.x1 = x1;
    r.x2 = x2;
    return r;
}
FN vf v2_dot(v2 a, v2 b)
{
    return a.x1 * b.x1 + a.x2 * b.x2;
}

/* What both ends of an interval of contact have in common; lengths in the units of the view. */
typedef struct proof_pair {
    v3 v, e01, e02;
    vf radius, speed, size, reach; /* at least |v|; |e01| + |e02|; that and the way to P0 */
    vf gram11, gram12, gram22;     /* e01.e01, e01.e02, e02.e02 */
    vf per11, per22, per_seam;     /* 1 / squared length: of e01, e02, e02 - e01 */
    vf face11, face12, face22;     /* inverse of the Gram matrix; of no use without area */
    v2 ve;                         /* v.e01, v.e02 */
    vf reach_per_time;             /* turns scaled time into lengths of the view, per unit of speed */
    vm still, ordinary;
} proof_pair;

FN proof_pair proof_pair_of(const sweep_query *q, const sweep_view *k)
{
    const vi length = v_exponent(q->x.length);
    proof_pair p;
    p.v = k->v;
    p.e01 = k->e01;
    p.e02 = k->e02;
    p.radius = k->radius;
    p.speed = v_sqrt(v3_dot(k->v, k->v)) * R(1.00001);
    p.reach_per_time = v_scale_ratio(length, k->unit);
    p.gram11 = v3_dot(k->e01, k->e01);
    p.gram12 = v3_dot(k->e01, k->e02);
    p.gram22 = v3_dot(k->e02, k->e02);
    p.size = v_sqrt(p.gram11 + p.gram22) * R(1.41423) + v_f(R(0x1p-60)); /* squares can underflow */
    p.reach = v_from_bits(q->x.length) * v_scale_down(k->unit) * R(1.7321) + p.size;
    const v3 e12 = v3_sub(k->e02, k->e01), n = v3_cross(k->e01, k->e02);
    const vf one = v_f(R(1.0)), per_area = one / v3_dot(n, n);
    p.per11 = one / p.gram11;
    p.per22 = one / p.gram22;
    p.per_seam = one / v3_dot(e12, e12);
    p.face11 = p.gram22 * per_area;
    p.face12 = -(p.gram12 * per_area);
    p.face22 = p.gram11 * per_area;
    p.ve = v2_of(v3_dot(k->v, k->e01), v3_dot(k->v, k->e02));
    p.still = vi_eq(q->x.speed, v_i(0));
    /* Scaled once more under a rare branch, or so slow that parts of the motion are denormal: too near the ends of the
     * range for what follows. */
    p.ordinary = v_and(vi_eq(q->time, v_i(0)), v_eq(q->back, v_f(R(1.0))));
    p.ordinary = v_and(p.ordinary, v_or(p.still, vi_gt(q->x.speed, v_i(R_SMALL_BITS))));
    return p;
}

/* The line or plane of a feature (or a corner alone). */
typedef struct proof_hull {
    vm in0, in1, in2;  /* which corners it has */
    vm at1, at2, seam; /* it is P1, P2, E12 (whose direction is the difference of the basis) */
    vf m11, m12, m22;  /* inverse of its Gram matrix; 0 for a corner */
    vf spread;         /* how much products with the edges may grow when turned into weights */
    vf lean, root;     /* how much roundings may grow in a projection, squared, and at least the root of that */
    vm fit;            /* neither too small nor too narrow for the bounds */
} proof_hull;

FN proof_hull proof_hull_of(const proof_pair *q, vi feature)
{
    const vf one = v_f(R(1.0));
    const vm e01 = vi_eq(feature, v_i(FEATURE_E01)), e20 = vi_eq(feature, v_i(FEATURE_E20));
    const vm e12 = vi_eq(feature, v_i(FEATURE_E12)), face = vi_eq(feature, v_i(FEATURE_FACE));
    const vm some1 = v_or(e01, e12), some2 = v_or(e20, e12);
    proof_hull h;
    h.at1 = vi_eq(feature, v_i(FEATURE_V1));
    h.at2 = vi_eq(feature, v_i(FEATURE_V2));
    h.seam = e12;
    h.in0 = v_or(v_or(vi_eq(feature, v_i(FEATURE_V0)), face), v_or(e01, e20));
    h.in1 = v_or(v_or(h.at1, face), some1);
    h.in2 = v_or(v_or(h.at2, face), some2);
    const vf seam = v_sel_or_zero(e12, q->per_seam);
    h.m11 = v_or_disjoint(e01, q->per11, v_or_disjoint(face, q->face11, seam));
    h.m22 = v_or_disjoint(e20, q->per22, v_or_disjoint(face, q->face22, seam));
    h.m12 = v_sel_or_zero(face, q->face12);
    const vf most = h.m11 + h.m22;
    h.spread = most * q->size;
    h.lean = one + (h.m11 * q->gram11 + h.m22 * q->gram22) * R(2.0);
    h.root = v_f(R(2.0)) + h.lean * R(0.125);
    h.fit = v_and(v_lt(most, v_f(R(0x1p50))), v_lt(h.lean, v_f(R(4096.0))));
    return h;
}

/* Weights of the vector in the hull that has these products with both edges. Along the seam their difference counts. */
FN v2 proof_solve(const proof_hull *h, v2 g)
{
    const vf g1 = g.x1 - v_sel_or_zero(h->seam, g.x2), g2 = g.x2 - v_sel_or_zero(h->seam, g.x1);
    return v2_of(h->m11 * g1 + h->m12 * g.x2, h->m12 * g.x1 + h->m22 * g2);
}
/* The same, where that difference is known better. */
FN v2 proof_solve_fine(const proof_hull *h, v2 g, vf g12)
{
    const vf g1 = v_sel(h->seam, g12, g.x1), g2 = v_sel(h->seam, -g12, g.x2);
    return v2_of(h->m11 * g1 + h->m12 * g.x2, h->m12 * g.x1 + h->m22 * g2);
}

/* The point of the hull below a centre whose way from P0 has these products, as weights. The point of an edge must lie on
 * it: on the seam w2 is in [0, 1] and a multiple of 2^-23, so that 1 - w2 is exact. */
FN v2 proof_foot(const proof_pair *q, const proof_hull *h, v2 g)
{
    const vf zero = v_f(R(0.0)), one = v_f(R(1.0));
    const v2 w = proof_solve(h, g);
    const vf middle = h->m22 * (q->gram11 - q->gram12), seam2 = v_min(v_max(w.x2 + middle, zero), one);
    const vf w2 = v_sel(h->seam, (seam2 + one) - one, w.x2);
    return v2_of(v_sel(h->seam, one - w2, w.x1) + v_sel_or_zero(h->at1, one), w2 + v_sel_or_zero(h->at2, one));
}

/* One end, guessed. */
typedef struct proof_end {
    guess at;
    vi feature;
    vm apart; /* the line of centres is thought to pass by */
    vf reach; /* how far the centre has come by then, in units of the view, per unit of speed */
    proof_hull hull;
} proof_end;

/* Squared distance to the hull, less r^2, as c + b D + a D^2. */
typedef struct proof_curve {
    vf a, b, c;
    vf a_error, b_error, c_error;
    v2 fix, drift; /* from the guessed foot to the true one, as weights; and how it moves */
    v2 g;          /* products of y with the edges */
    vf strain;     /* length of fix, at most */
    vf slip;       /* what y may be off */
    vf blur;       /* what a projection of y may be off, in roundings */
} proof_curve;

/* The true foot, as seen from the guessed one. */
FN void proof_curve_foot(const proof_pair *q, const proof_end *e, const residual *r, int full, proof_curve *k)
{
    k->g = full ? v2_of(r->g1, r->g2) : v2_of(v3_dot(r->y, q->e01), v3_dot(r->y, q->e02));
    k->fix = full ? proof_solve_fine(&e->hull, k->g, r->g12) : proof_solve(&e->hull, k->g);
    k->drift = proof_solve(&e->hull, q->ve);
}

FN void proof_curve_fit(const proof_pair *q, const residual *r, proof_curve *k)
{
    k->a = v3_dot(q->v, q->v) - v2_dot(k->drift, q->ve);
    k->b = (v3_dot(r->y, q->v) - v2_dot(k->fix, q->ve)) * R(2.0);
    k->c = r->c - v2_dot(k->fix, k->g);
}

FN void proof_curve_errors(const proof_pair *q, const proof_end *e, const residual *r, proof_curve *k)
{
    const proof_hull *h = &e->hull;
    const vf size = v3_size(r->y), reach = q->reach + e->reach * q->speed;
    k->strain = (v_abs(k->fix.x1) + v_abs(k->fix.x2)) * q->size + PROOF_EPS(6.0) * size * h->root;
    k->slip = PROOF_WIDE_EPS(8.0) * reach;
    k->blur = h->root * (size + h->lean * k->strain);
    k->a_error = PROOF_EPS(13.0) * (q->speed * q->speed) * (h->lean * h->root);
    k->b_error = q->speed * (PROOF_EPS(26.0) * k->blur + k->slip * R(2.0)) + PROOF_FLOOR;
    k->c_error = PROOF_EPS(2.0) * v_abs(k->c) + PROOF_FLOOR + PROOF_EPS(14.0) * k->strain * k->blur +
                 PROOF_WIDE_EPS(24.0) * ((size + k->slip) * reach + q->radius * q->radius);
}

/* The step from the guess to the root, or, if there is none, to the nearest approach; and how wrong it may be. */
typedef struct proof_step {
    vf step, error;
    vf slack; /* apart: at most half of what the squared distance exceeds r^2 by; else 0 */
    vm sure;  /* there is such a root, and the distance falls (rises) there; or there is none */
} proof_step;

/* A root, in all lanes but those `apart`: a D^2 + b D + c = 0. There the nearest approach of a line thought to miss:
 * 2 a D + b = 0, and c - b^2 / 4a is what is left of the distance. */
FN proof_step proof_step_of(const proof_curve *g, vm apart, int last)
{
    const vf zero = v_f(R(0.0)), half_b = g->b * R(0.5);
    const vf rest = last ? g->c : v_sel(apart, half_b, g->c), slope = last ? g->b : v_sel(apart, g->a, g->b);
    const vf rest_error = last ? g->c_error : v_sel(apart, g->b_error * R(0.5), g->c_error);
    const vf slope_error = last ? g->b_error : v_sel(apart, g->a_error, g->b_error);
    const vf bow = last ? g->a : v_sel_or_zero(v_not(apart), g->a);
    const vf per = v_f(R(1.0)) / slope, first = -rest * per;
    const vf bend = bow * first * per; /* first (1 - bend) leaves less than 2.1 bend^2 of rest */
    proof_step s;
    s.step = first - first * bend;
    const vf size = v_abs(s.step), steep = last ? g->b : -g->b;
    s.error = v_abs(per) * R(2.0) *
              (rest_error + size * (slope_error + size * g->a_error) +
               v_abs(rest) * (bend * bend * R(2.25) + PROOF_EPS(16.0)));
    s.sure = v_and(v_lt(g->b_error * R(16.0), steep), v_lt((g->a + g->a_error) * (size + s.error) * R(16.0), steep));
    s.slack = zero;
    if (!last) {
        const vf change = v_abs(half_b) * size;
        /* Of the true parabola at D, and from there down to its own lowest point. */
        const vf left_error = g->c_error + size * (g->b_error + size * g->a_error) +
                              (g->a + g->a_error) * s.error * s.error + PROOF_EPS(8.0) * change;
        s.slack = v_sel_or_zero(apart, (g->c - change) * R(0.5) - left_error);
        const vm passes = v_and(v_lt(g->a_error * R(4.0), g->a), v_lt(zero, s.slack));
        s.sure = v_or(v_and(apart, passes), v_and(v_not(apart), s.sure));
    }
    return s;
}

/* A face all but met by a point: its distance, not the square of it, passes r. */
FN proof_step proof_cross(const proof_pair *q, const proof_curve *g, v3 y, int last)
{
    const v3 n = v3_cross(q->e01, q->e02);
    const vf rise = v3_dot(n, q->v), edges2 = q->gram11 + q->gram22, per = v_f(R(1.0)) / rise;
    const vf ahead = q->radius * v_sqrt(v3_dot(n, n)) * v_copysign_one(rise);
    proof_step s;
    s.step = ((last ? ahead : -ahead) - v3_dot(n, y)) * per;
    const vf lengths = v3_size(y) + q->radius + v_abs(s.step) * q->speed;
    s.error = v_abs(per) * edges2 * (PROOF_EPS(16.0) * lengths + g->slip) + PROOF_FLOOR;
    s.slack = v_f(R(0.0));
    s.sure = v_lt(PROOF_EPS(128.0) * edges2 * q->speed, v_abs(rise));
    return s;
}

/* No motion: the distance at time 0. */
FN proof_step proof_rest(const proof_curve *g)
{
    const vf zero = v_f(R(0.0));
    proof_step s;
    s.step = s.error = zero;
    s.slack = v_max(g->c * R(0.5) - g->c_error, zero);
    s.sure = v_lt(g->c_error, v_abs(g->c));
    return s;
}

FN proof_step proof_step_sel(vm m, proof_step a, proof_step b)
{
    proof_step s;
    s.step = v_sel(m, a.step, b.step);
    s.error = v_sel(m, a.error, b.error);
    s.slack = v_sel(m, a.slack, b.slack);
    s.sure = v_or(v_and(m, a.sure), v_and(v_not(m), b.sure));
    return s;
}

/* One end of the interval of contact, or that there is none. `low` and `high` enclose its time, rounded to binary32. */
typedef struct proof {
    vf low, high;
    vf step, late; /* from the guess; how wrong that may be; in the caller's units */
    vf seen, off;  /* the same in units of the view */
    v2 shift;      /* from the guessed point to the true one, as weights */
    vf way, loose; /* of the centre; what the shift may be off per unit of both, if products are from binary64 */
    vf moved;      /* how wrong the way from the point to the centre may be */
    vm sure, apart;
    vm turn0, turn1, turn2; /* corners to leave out of the hull, or to take into it */
} proof;

/* Is nothing nearer than the foot in the hull? Corners of the feature must have weight there; every other corner must lie
 * beyond the plane through that point at right angles to the way to the centre. Of a pair apart the plane may give way by
 * the slack, and the foot may lie beside an edge: its corners are in that plane wherever they are. */
FN vm proof_nearest(const proof_pair *q, const proof_end *e, const proof_curve *k, const proof_step *s, proof *p)
{
    const proof_hull *h = &e->hull;
    const v2 shift = p->shift;
    const vf moved = p->moved;
    const vm apart = p->apart;
    const vf w1 = v_load(e->at.w1) + shift.x1, w2 = v_load(e->at.w2) + shift.x2, w0 = v_f(R(1.0)) - w1 - w2;
    /* Products of the edges with the way from the point to the centre. */
    const vf r1 = k->g.x1 + s->step * q->ve.x1 - (q->gram11 * shift.x1 + q->gram12 * shift.x2);
    const vf r2 = k->g.x2 + s->step * q->ve.x2 - (q->gram12 * shift.x1 + q->gram22 * shift.x2);
    const vf r0 = -(w1 * r1 + w2 * r2), give = v_sel(apart, v_f(R(3.0)), v_f(R(2.0)));
    const vf limit = s->slack - (q->size * moved * give + PROOF_FLOOR);
    const vf least = v_sel(apart, v_f(R(-0.25)), h->spread * moved * R(2.0) + PROOF_EPS(8.0));
    const vm ok0 = v_or(v_and(h->in0, v_lt(least, w0)), v_and(v_not(h->in0), v_lt(r0, limit)));
    const vm ok1 = v_or(v_and(h->in1, v_lt(least, w1)), v_and(v_not(h->in1), v_lt(r0 + r1, limit)));
    const vm ok2 = v_or(v_and(h->in2, v_lt(least, w2)), v_and(v_not(h->in2), v_lt(r0 + r2, limit)));
    p->turn0 = v_not(ok0);
    p->turn1 = v_not(ok1);
    p->turn2 = v_not(ok2);
    return v_and(ok0, v_and(ok1, ok2));
}

FN vm proof_turned(vm is, vm turn)
{
    return v_or(v_and(is, v_not(turn)), v_and(turn, v_not(is)));
}

/* A feature for those that are `lost`: near the border of two, times differ by a square of what the places do, and the guess
 * may have taken the wrong one. */
FN vi proof_beside(const proof_end *e, const proof *p, vm lost)
{
    const proof_hull *h = &e->hull;
    const vm is0 = proof_turned(h->in0, p->turn0), is1 = proof_turned(h->in1, p->turn1);
    const vm is2 = proof_turned(h->in2, p->turn2);
    const vi one = vi_sel(is0, v_i(FEATURE_V0), vi_sel(is1, v_i(FEATURE_V1), v_i(FEATURE_V2)));
    const vi edge = vi_sel(v_and(is0, is1), v_i(FEATURE_E01), vi_sel(is0, v_i(FEATURE_E20), v_i(FEATURE_E12)));
    const vm some = v_or(is0, v_or(is1, is2)), all = v_and(is0, v_and(is1, is2));
    const vm two = v_or(v_and(is0, v_or(is1, is2)), v_and(is1, is2));
    const vi to = vi_sel(all, v_i(FEATURE_FACE), vi_sel(two, edge, one));
    return vi_sel(v_and(lost, some), to, e->feature);
}

/* Two cases that few pairs are: a face met by all but a point, and a pair at rest. */
FN void proof_rare_steps(const proof_pair *q, const proof_end *e, const residual *r, const proof_curve *k, int from,
                         int to, proof_step *s)
{
    const vm point = v_lt(q->radius, q->size * R(0x1p-16));
    vm face[2];
    LANG_UNROLL
    for (int i = from; i < to; i++)
        face[i] = v_and(point, v_and(e[i].hull.in0, v_and(e[i].hull.in1, e[i].hull.in2)));
    if (v_any(v_or(face[from], face[to - 1]))) {
        LANG_UNROLL
        for (int i = from; i < to; i++)
            s[i] = proof_step_sel(face[i], proof_cross(q, &k[i], r[i].y, i), s[i]);
    }
    if (from == 0 && v_any(q->still))
        s[0] = proof_step_sel(q->still, proof_rest(&k[0]), s[0]);
}

FN void proof_place(const proof_pair *q, const proof_end *e, const proof_curve *k, const proof_step *s, int last,
                    proof *p)
{
    const vf spread = e->hull.lean * e->hull.root;
    p->apart = e->apart;
    if (!last && v_any(q->still))
        p->apart = v_or(v_and(v_not(q->still), p->apart), v_and(q->still, v_lt(v_f(R(0.0)), k->c)));
    p->shift = v2_of(k->fix.x1 + s->step * k->drift.x1, k->fix.x2 + s->step * k->drift.x2);
    p->way = v_abs(s->step) * q->speed;
    p->loose = PROOF_EPS(12.0) * spread;
    p->moved = q->speed * s->error + k->slip + PROOF_EPS(20.0) * (k->blur + spread * p->way);
}

FN void proof_time(const proof_end *e, const proof_step *s, v_pow2 unit, proof *p)
{
    const vf time = v_load(e->at.time);
    p->seen = s->step;
    p->step = v_ldexp(s->step, unit);
    /* The sum of two binary32 numbers is rounded once: that is the rounding of the answer. */
    p->late = v_ldexp(s->error, unit) * R(1.25) + PROOF_EPS(4.0) * v_abs(p->step) + v_f(R(0x1p-140));
    p->low = v_positive_zero(time + (p->step - p->late));
    p->high = time + (p->step + p->late);
    p->off = s->error * R(2.0) + PROOF_EPS(4.0) * v_abs(s->step);
}

/* Ends [from, to): place 0 is the first contact, place 1 the last; what is apart or at rest has been settled by the first.
 * Each step is taken for both ends before the next one, so that a core has two chains of operations to work on. */
FN void prove(const proof_pair *q, const proof_end *e, const residual *r, v_pow2 unit, int from, int to, int full,
              proof *p)
{
    proof_curve k[2];
    proof_step s[2];
    LANG_UNROLL
    for (int i = from; i < to; i++)
        proof_curve_foot(q, &e[i], &r[i], full, &k[i]);
    LANG_UNROLL
    for (int i = from; i < to; i++)
        proof_curve_fit(q, &r[i], &k[i]);
    LANG_UNROLL
    for (int i = from; i < to; i++)
        proof_curve_errors(q, &e[i], &r[i], &k[i]);
    LANG_UNROLL
    for (int i = from; i < to; i++)
        s[i] = proof_step_of(&k[i], e[i].apart, i);
    proof_rare_steps(q, e, r, k, from, to, s);
    LANG_UNROLL
    for (int i = from; i < to; i++)
        proof_place(q, &e[i], &k[i], &s[i], i, &p[i]);
    LANG_UNROLL
    for (int i = from; i < to; i++)
        p[i].sure =
            v_and(v_and(v_and(q->ordinary, e[i].hull.fit), s[i].sure), proof_nearest(q, &e[i], &k[i], &s[i], &p[i]));
    LANG_UNROLL
    for (int i = from; i < to; i++)
        proof_time(&e[i], &s[i], unit, &p[i]);
}
#endif
