/* SPDX-License-Identifier: MIT */
/* Proof of a contact. Given a guess (which feature, and about when), say when the distance to that feature is r, by how
 * much that may be wrong, and whether the feature's own region holds the centre then. The distance to a triangle is
 * convex in time, so one such time is the first contact if the distance falls there, and the last if it rises; no other
 * feature has to be asked. A wrong guess proves nothing and is never believed.
 *
 * Near the guess the squared distance, less r^2, is c + b D + a D^2 in the small step D = t - guess. Only c must be
 * precise: it comes from binary64 (residual.h). The rest, and where the centre is over the triangle, need no more than
 * binary32 with a bound on its errors. docs/numerics.md, section 13, derives every bound. */
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

/* What both ends of an interval of contact have in common; lengths in the units of the view. */
typedef struct proof_pair {
    v3 v, e01, e12, e20;
    vf radius, speed, size, reach; /* of v, of the edges from P0, of the way to P0: sums of magnitudes */
    vf rise, area;                 /* motion along the normal; length of the normal */
    vf reach_per_time;             /* turns scaled time into lengths of the view, per unit of speed */
    vm still, ordinary;
} proof_pair;

FN proof_pair proof_pair_of(const sweep_query *q, const sweep_view *k)
{
    const vf to_unit = v_scale_down(k->unit);
    const vi length = v_exponent(q->x.length);
    proof_pair p;
    p.v = k->v;
    p.e01 = k->e01;
    p.e12 = v3_mul(v3_sub(q->in.p2, q->in.p1), to_unit);
    p.e20 = v3_mul(k->e02, v_f(R(-1.0)));
    p.radius = k->radius;
    p.speed = v3_size(k->v);
    p.size = v3_size(k->e01) + v3_size(k->e02);
    p.reach_per_time = v_scale_ratio(length, k->unit);
    p.reach = v3_size(v3_mul(q->x.d, v_scale_down(length))) * p.reach_per_time + p.size;
    const v3 n = v3_cross(k->e01, k->e02);
    p.area = v_sqrt(v3_dot(n, n));
    p.rise = v3_dot(n, k->v);
    p.still = vi_eq(q->x.speed, v_i(0));
    /* Scaled once more under a rare branch, or so slow that parts of the motion are denormal: too near the ends of the
     * range for what follows. */
    p.ordinary = v_and(vi_eq(q->time, v_i(0)), v_eq(q->back, v_f(R(1.0))));
    p.ordinary = v_and(p.ordinary, v_or(p.still, vi_gt(q->x.speed, v_i(R_SMALL_BITS))));
    return p;
}

/* The triangle from the corner where the feature begins: e runs along the feature, f to the third corner. */
typedef struct proof_corner {
    vm vertex, face; /* neither: edge */
    v3 e, f, y, x;   /* at the time guessed, as in residual */
    vf e2, f2, ef;   /* dots */
    vf y_size, x_size, reach;
    vf along;        /* at least |e|; of a corner 1, of a face at least the length of its normal */
} proof_corner;

FN proof_corner proof_corner_of(const proof_pair *q, vf feature, const residual *r, vf reach)
{
    const vm at1 = v_or(v_eq(feature, v_f(FEATURE_V1)), v_eq(feature, v_f(FEATURE_E12)));
    const vm at2 = v_or(v_eq(feature, v_f(FEATURE_V2)), v_eq(feature, v_f(FEATURE_E20)));
    proof_corner k;
    k.vertex = v_lt(feature, v_f(FEATURE_E01));
    k.face = v_eq(feature, v_f(FEATURE_FACE));
    k.e = v3_sel(at1, q->e12, v3_sel(at2, q->e20, q->e01));
    k.f = v3_mul(v3_sel(at1, q->e01, v3_sel(at2, q->e12, q->e20)), v_f(R(-1.0)));
    k.y = r->y;
    k.x = r->x;
    k.e2 = v3_dot(k.e, k.e);
    k.f2 = v3_dot(k.f, k.f);
    k.ef = v3_dot(k.e, k.f);
    k.y_size = v3_size(k.y);
    k.x_size = v_sel(k.face, v_abs(k.x.x), v3_size(k.x));
    k.reach = reach;
    k.along = v_sel(k.face, (k.e2 + k.f2) * R(0.5), v_sel(k.vertex, v_f(R(1.0)), v3_size(k.e)));
    return k;
}

/* Squared distance to the feature, less r^2, as c + b D + a D^2, all times |e|^2 (a corner: 1, a face: |normal|^2). */
typedef struct proof_curve {
    vf a, b, c;
    vf a_error, b_error, c_error;
} proof_curve;

FN proof_curve proof_curve_of(const proof_pair *q, const proof_corner *k, vf c)
{
    const v3 m = v3_sel(k->vertex, q->v, v3_cross(k->e, q->v));
    const vf turn = k->along * q->speed, slip = PROOF_WIDE_EPS(32.0) * k->along * k->reach; /* what x itself may be off */
    const vf wide = k->along * (k->x_size * k->reach + q->radius * q->radius * k->along);
    proof_curve g;
    g.a = v_sel(k->face, q->rise * q->rise, v3_dot(m, m));
    g.b = v_sel(k->face, k->x.x * q->rise, v3_dot(k->x, m)) * R(2.0);
    g.c = c;
    g.a_error = PROOF_EPS(24.0) * turn * turn;
    g.b_error = turn * (PROOF_EPS(28.0) * k->x_size + slip) + PROOF_FLOOR;
    g.c_error = PROOF_EPS(2.0) * v_abs(c) + PROOF_FLOOR + slip * slip + PROOF_WIDE_EPS(48.0) * wide;
    return g;
}

/* The step from the guess to the root, or, if there is none, to the nearest approach; and how wrong it may be. */
typedef struct proof_step {
    vf step, error;
    vf slack; /* apart: at most half of what the squared distance exceeds r^2 by, times k; else 0 */
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
    const vf bow = last ? g->a : v_sel(apart, zero, g->a);
    const vf per = v_f(R(1.0)) / slope, first = -rest * per;
    /* The first terms of a series in bend = bow first / slope. */
    const vf bend = bow * first * per, bend2 = bend * bend;
    proof_step s;
    s.step = first + first * (bend * (bend * R(2.0) - R(1.0)) - bend * bend2 * R(5.0));
    const vf size = v_abs(s.step), steep = last ? g->b : -g->b;
    s.error = v_abs(per) * R(2.0) *
              (rest_error + size * (slope_error + size * g->a_error) +
               v_abs(rest) * (bend2 * bend2 * R(32.0) + PROOF_EPS(16.0)));
    s.sure = v_and(v_lt(g->b_error * R(16.0), steep), v_lt((g->a + g->a_error) * (size + s.error) * R(16.0), steep));
    s.slack = zero;
    if (!last) {
        const vf change = v_abs(half_b) * size;
        const vf left_error = g->c_error + size * (g->b_error + g->a * s.error * R(2.0)) + PROOF_EPS(8.0) * change;
        s.slack = v_sel(apart, (g->c - change) * R(0.5) - left_error, zero);
        const vm passes = v_and(v_lt(g->a_error * R(4.0), g->a), v_lt(zero, s.slack));
        s.sure = v_or(v_and(apart, passes), v_and(v_not(apart), s.sure));
    }
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

/* Is the centre in the region of the feature? Of a pair apart it is enough that a plane at right angles to the nearest
 * approach separates the two, and that plane may give way by the slack. */
FN vm proof_inside(const proof_pair *q, const proof_corner *k, const proof_step *s, vm apart)
{
    const v3 y = v3_add(k->y, v3_mul(q->v, s->step));
    const vf ye = v3_dot(y, k->e), yf = v3_dot(y, k->f);
    const vf g1 = ye * k->f2 - yf * k->ef, g2 = yf * k->e2 - ye * k->ef, n2 = k->e2 * k->f2 - k->ef * k->ef;
    const vf moved = q->speed * s->error + PROOF_WIDE_EPS(4.0) * k->reach +
                     PROOF_EPS(16.0) * (k->y_size + v_abs(s->step) * q->speed + q->size);
    const vf off1 = q->size * moved + PROOF_FLOOR, off3 = (k->e2 + k->f2) * (q->size * moved) + PROOF_FLOOR;
    const vm vertex = v_and(v_lt(ye, s->slack - off1), v_lt(yf, s->slack - off1));
    const vm span = v_or(apart, v_and(v_lt(off1, ye), v_lt(off1, k->e2 - ye)));
    const vm edge = v_and(v_lt(g2, s->slack - off3), span);
    const vm over = v_and(v_and(v_lt(off3, g1), v_lt(off3, g2)), v_lt(off3 * R(3.0), (n2 - g1) - g2));
    const vm face = v_or(apart, over);
    return v_or(v_and(k->vertex, vertex), v_or(v_and(k->face, face), v_and(v_not(v_or(k->vertex, k->face)), edge)));
}

/* One end of the interval of contact, or that there is none. `low` and `high` enclose its time, rounded to binary32. */
typedef struct proof {
    vf low, high, step;
    vf late, off; /* how wrong that time may be, in the caller's units and in those of the view */
    vm sure, apart;
} proof;

/* `last`: a pair that is apart or at rest has been settled by its first contact. */
FN proof prove(const proof_pair *q, const guess *g, const residual *r, v_pow2 unit, int last)
{
    const vf zero = v_f(R(0.0)), number = v_load(g->feature), time = v_load(g->time);
    const proof_corner k = proof_corner_of(q, v_abs(number), r, q->reach + v_load(g->reach) * q->speed);
    const proof_curve curve = proof_curve_of(q, &k, r->c);
    /* An edge or a face too small for products of its lengths. */
    const vm fit = v_and(q->ordinary, v_or(k.vertex, v_lt(v_f(R(0x1p-80)), k.e2)));
    proof p;
    p.apart = v_lt(number, zero);
    proof_step s = proof_step_of(&curve, p.apart, last);
    if (!last && v_any(q->still)) {
        s = proof_step_sel(q->still, proof_rest(&curve), s);
        p.apart = v_or(v_and(v_not(q->still), p.apart), v_and(q->still, v_lt(zero, curve.c)));
    }
    p.sure = v_and(v_and(fit, s.sure), proof_inside(q, &k, &s, p.apart));
    p.step = v_ldexp(s.step, unit);
    /* The sum of two binary32 numbers is rounded once: that is the rounding of the answer. */
    p.late = v_ldexp(s.error, unit) * R(1.25) + PROOF_EPS(4.0) * v_abs(p.step) + v_f(R(0x1p-140));
    p.low = v_positive_zero(time + (p.step - p.late));
    p.high = v_positive_zero(time + (p.step + p.late));
    p.off = s.error * R(2.0) + PROOF_EPS(4.0) * v_abs(s.step);
    return p;
}
#endif
