/* SPDX-License-Identifier: MIT */
/* The floating-point filter of exact mode: certifies a guessed contact, or leaves the pair undecided. A guess is a time
 * and a point on a feature of the triangle. The filter computes when the distance to that feature's line or plane is r,
 * with a bound on the error, and whether any other part of the triangle may be closer then.
 *
 * The distance to a triangle is convex in time. So a time at which it is r and falls is the first contact, and one at
 * which it is r and rises is the last: no other feature has to be tested. A wrong guess fails the test; it cannot give
 * a wrong answer.
 *
 * Near the guess the squared distance minus r^2 is c + b D + a D^2, D = t - guess. Only the distance to the guessed
 * point must be precise: it is computed in binary64 (residual.h). Binary32 with error bounds is enough for the rest:
 * the offset of the true foot from that point, the slopes, and the side of the triangle that the centre is on.
 * docs/exact.md, section 13, derives every bound. */
#ifndef CAROM_PROOF_H
#define CAROM_PROOF_H
#include "residual.h"
#include "sweep.h"

#ifndef PROOF_BOUND
#define PROOF_BOUND R(1.0) /* a test shrinks all bounds by this factor, and must then find wrong answers */
#endif
#define PROOF_EPS(n) v_f(R(n) * R(0x1p-24) * PROOF_BOUND) /* n roundings of binary32 */
#define PROOF_WIDE_EPS(n) v_f(R(n) * R(0x1p-53) * PROOF_BOUND)
#define PROOF_FLOOR v_f(R(0x1p-100)) /* far above losses by underflow, far below the terms that it is added to */

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

/* Terms that first and last contact share; lengths in units of the view. */
typedef struct proof_pair {
    v3 v, e01, e02;
    vf radius, speed, size, reach; /* upper bounds: radius; |v|; |e01| + |e02|; the last one plus the distance of P0 */
    vf gram11, gram12, gram22;     /* e01.e01, e01.e02, e02.e02 */
    vf per11, per22, per_e12;      /* 1 / squared length: of e01, e02, e02 - e01 */
    vf face11, face12, face22;     /* inverse of the Gram matrix; meaningless without area */
    v2 ve;                         /* v.e01, v.e02 */
    vf reach_per_time;             /* length of the view per scaled time, at unit speed */
    vm at_rest, ordinary;
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
    p.per_e12 = one / v3_dot(e12, e12);
    p.face11 = p.gram22 * per_area;
    p.face12 = -(p.gram12 * per_area);
    p.face22 = p.gram11 * per_area;
    p.ve = v2_of(v3_dot(k->v, k->e01), v3_dot(k->v, k->e02));
    p.at_rest = vi_eq(q->x.speed, v_i(0));
    /* Pairs that sweep_rescue had to scale are not ordinary, nor are pairs whose motion may have denormal components:
     * the bounds below do not hold so near the ends of the range. */
    p.ordinary = v_and(vi_eq(q->time, v_i(0)), v_eq(q->back, v_f(R(1.0))));
    p.ordinary = v_and(p.ordinary, v_or(p.at_rest, vi_gt(q->x.speed, v_i(R_SMALL_BITS))));
    return p;
}

/* The affine hull of a feature: a corner, a line or the plane. */
typedef struct proof_hull {
    vm in0, in1, in2;             /* which corners the feature has */
    vm at1, at2, e12;             /* the feature is P1, P2, or E12 (whose direction is e02 - e01) */
    vf m11, m12, m22;             /* inverse of its Gram matrix; 0 for a corner */
    vf spread;                    /* growth of errors from products with the edges to weights */
    vf condition, condition_root; /* growth of roundings in a projection, squared; an upper bound of its root */
    vm fit;                       /* the feature is large and wide enough for the bounds */
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
    h.e12 = e12;
    h.in0 = v_or(v_or(vi_eq(feature, v_i(FEATURE_V0)), face), v_or(e01, e20));
    h.in1 = v_or(v_or(h.at1, face), some1);
    h.in2 = v_or(v_or(h.at2, face), some2);
    const vf per_e12 = v_sel_or_zero(e12, q->per_e12);
    h.m11 = v_or_disjoint(e01, q->per11, v_or_disjoint(face, q->face11, per_e12));
    h.m22 = v_or_disjoint(e20, q->per22, v_or_disjoint(face, q->face22, per_e12));
    h.m12 = v_sel_or_zero(face, q->face12);
    const vf most = h.m11 + h.m22;
    h.spread = most * q->size;
    h.condition = one + (h.m11 * q->gram11 + h.m22 * q->gram22) * R(2.0);
    h.condition_root = v_f(R(2.0)) + h.condition * R(0.125);
    h.fit = v_and(v_lt(most, v_f(R(0x1p50))), v_lt(h.condition, v_f(R(4096.0))));
    return h;
}

/* Weights of the vector in the hull whose products with both edges are g. On E12 only the difference of the two
 * products counts. */
FN v2 proof_solve(const proof_hull *h, v2 g)
{
    const vf g1 = g.x1 - v_sel_or_zero(h->e12, g.x2), g2 = g.x2 - v_sel_or_zero(h->e12, g.x1);
    return v2_of(h->m11 * g1 + h->m12 * g.x2, h->m12 * g.x1 + h->m22 * g2);
}
/* The same with a more precise difference g12 of the two products. */
FN v2 proof_solve_fine(const proof_hull *h, v2 g, vf g12)
{
    const vf g1 = v_sel(h->e12, g12, g.x1), g2 = v_sel(h->e12, -g12, g.x2);
    return v2_of(h->m11 * g1 + h->m12 * g.x2, h->m12 * g.x1 + h->m22 * g2);
}

/* The projection of the centre to the hull, as weights; g are the products of centre - P0. A point of an edge must lie
 * exactly on it: on E12, w2 is a multiple of 2^-23 in [0, 1], so that 1 - w2 is exact. */
FN v2 proof_foot(const proof_pair *q, const proof_hull *h, v2 g)
{
    const vf zero = v_f(R(0.0)), one = v_f(R(1.0));
    const v2 w = proof_solve(h, g);
    const vf middle = h->m22 * (q->gram11 - q->gram12), e12_weight = v_min(v_max(w.x2 + middle, zero), one);
    const vf w2 = v_sel(h->e12, (e12_weight + one) - one, w.x2);
    return v2_of(v_sel(h->e12, one - w2, w.x1) + v_sel_or_zero(h->at1, one), w2 + v_sel_or_zero(h->at2, one));
}

/* A guessed first or last contact. */
typedef struct proof_end {
    guess at;
    vi feature;
    vm apart; /* the guess is a miss */
    vf reach; /* distance travelled by the centre, in units of the view, at unit speed */
    proof_hull hull;
} proof_end;

/* Squared distance to the hull, less r^2, as a quadratic c + b D + a D^2 in the time step D. */
typedef struct proof_curve {
    vf a, b, c;
    vf a_error, b_error, c_error;
    v2 fix, drift;       /* true foot - guessed foot, as weights; its velocity */
    v2 g;                /* products of y with the edges */
    vf fix_length;       /* upper bound of the length of fix */
    vf y_error;          /* of y */
    vf projection_error; /* error of a projection of y, counted in roundings */
} proof_curve;

/* Offset and velocity of the true foot. */
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
    k->fix_length = (v_abs(k->fix.x1) + v_abs(k->fix.x2)) * q->size + PROOF_EPS(6.0) * size * h->condition_root;
    k->y_error = PROOF_WIDE_EPS(8.0) * reach;
    k->projection_error = h->condition_root * (size + h->condition * k->fix_length);
    k->a_error = PROOF_EPS(13.0) * (q->speed * q->speed) * (h->condition * h->condition_root);
    k->b_error = q->speed * (PROOF_EPS(26.0) * k->projection_error + k->y_error * R(2.0)) + PROOF_FLOOR;
    k->c_error = PROOF_EPS(2.0) * v_abs(k->c) + PROOF_FLOOR + PROOF_EPS(14.0) * k->fix_length * k->projection_error +
                 PROOF_WIDE_EPS(24.0) * ((size + k->y_error) * reach + q->radius * q->radius);
}

/* The step from the guess to the root or, for a miss, to the closest approach; and its error bound. */
typedef struct proof_step {
    vf step, error;
    vf slack;   /* for a miss: at most half of (squared distance - r^2); else 0 */
    vm certain; /* certain: a root where the distance falls (rises), or a miss */
} proof_step;

/* The root of a D^2 + b D + c = 0. In lanes `apart` the closest approach: 2 a D + b = 0, where the squared distance
 * exceeds r^2 by c - b^2 / 4a. */
FN proof_step proof_step_of(const proof_curve *g, vm apart, int last)
{
    const vf zero = v_f(R(0.0)), half_b = g->b * R(0.5);
    const vf rest = last ? g->c : v_sel(apart, half_b, g->c), slope = last ? g->b : v_sel(apart, g->a, g->b);
    const vf rest_error = last ? g->c_error : v_sel(apart, g->b_error * R(0.5), g->c_error);
    const vf slope_error = last ? g->b_error : v_sel(apart, g->a_error, g->b_error);
    const vf curvature = last ? g->a : v_sel_or_zero(v_not(apart), g->a);
    const vf per = v_f(R(1.0)) / slope, first = -rest * per;
    const vf bend = curvature * first * per; /* first (1 - bend) leaves less than 2.1 bend^2 of rest */
    proof_step s;
    s.step = first - first * bend;
    const vf size = v_abs(s.step), steep = last ? g->b : -g->b;
    s.error = v_abs(per) * R(2.0) *
              (rest_error + size * (slope_error + size * g->a_error) +
               v_abs(rest) * (bend * bend * R(2.25) + PROOF_EPS(16.0)));
    s.certain = v_and(v_lt(g->b_error * R(16.0), steep), v_lt((g->a + g->a_error) * (size + s.error) * R(16.0), steep));
    s.slack = zero;
    if (!last) {
        const vf change = v_abs(half_b) * size;
        /* Error of the parabola at D, and its change from there to the minimum. */
        const vf left_error = g->c_error + size * (g->b_error + size * g->a_error) +
                              (g->a + g->a_error) * s.error * s.error + PROOF_EPS(8.0) * change;
        s.slack = v_sel_or_zero(apart, (g->c - change) * R(0.5) - left_error);
        const vm passes = v_and(v_lt(g->a_error * R(4.0), g->a), v_lt(zero, s.slack));
        s.certain = v_or(v_and(apart, passes), v_and(v_not(apart), s.certain));
    }
    return s;
}

/* For a face and a sphere that is almost a point: compares the distance to the plane, not its square, with r. */
FN proof_step proof_step_to_plane(const proof_pair *q, const proof_curve *g, v3 y, int last)
{
    const v3 n = v3_cross(q->e01, q->e02);
    const vf rise = v3_dot(n, q->v), edges2 = q->gram11 + q->gram22, per = v_f(R(1.0)) / rise;
    const vf ahead = q->radius * v_sqrt(v3_dot(n, n)) * v_copysign_one(rise);
    proof_step s;
    s.step = ((last ? ahead : -ahead) - v3_dot(n, y)) * per;
    const vf lengths = v3_size(y) + q->radius + v_abs(s.step) * q->speed;
    s.error = v_abs(per) * edges2 * (PROOF_EPS(16.0) * lengths + g->y_error) + PROOF_FLOOR;
    s.slack = v_f(R(0.0));
    s.certain = v_lt(PROOF_EPS(128.0) * edges2 * q->speed, v_abs(rise));
    return s;
}

/* Without relative motion the distance at time 0 decides. */
FN proof_step proof_step_at_rest(const proof_curve *g)
{
    const vf zero = v_f(R(0.0));
    proof_step s;
    s.step = s.error = zero;
    s.slack = v_max(g->c * R(0.5) - g->c_error, zero);
    s.certain = v_lt(g->c_error, v_abs(g->c));
    return s;
}

FN proof_step proof_step_sel(vm m, proof_step a, proof_step b)
{
    proof_step s;
    s.step = v_sel(m, a.step, b.step);
    s.error = v_sel(m, a.error, b.error);
    s.slack = v_sel(m, a.slack, b.slack);
    s.certain = v_or(v_and(m, a.certain), v_and(v_not(m), b.certain));
    return s;
}

/* Result of the filter for one end of the interval of contact, or a miss. [low, high] encloses its time, rounded to
 * binary32. */
typedef struct proof {
    vf low, high;
    vf step, step_error;      /* step from the guess, and its error bound; in the caller's units */
    vf view_step, view_error; /* the same in units of the view */
    v2 shift;                 /* from the guessed point to the true one, as weights */
    vf travel;                /* distance that the centre travels from the guess to the true time */
    vf shift_error; /* error of shift, relative to its length and to travel; valid for products from binary64 */
    vf gap_error;   /* error bound of centre - point */
    vm certain, apart;
    vm flip0, flip1, flip2; /* corners that fail: to remove from the hull, or to add to it */
} proof;

/* Whether no part of the triangle is closer than the foot in the hull. The corners of the feature must have positive
 * weights; every other corner must lie beyond the plane through the foot at right angles to centre - foot. For a miss a
 * corner may lie before that plane by at most the slack, and the foot may lie outside an edge, because the edge's
 * corners lie in the plane in any case. */
FN vm proof_nearest(const proof_pair *q, const proof_end *e, const proof_curve *k, const proof_step *s, proof *p)
{
    const proof_hull *h = &e->hull;
    const v2 shift = p->shift;
    const vf gap_error = p->gap_error;
    const vm apart = p->apart;
    const vf w1 = v_load(e->at.w1) + shift.x1, w2 = v_load(e->at.w2) + shift.x2, w0 = v_f(R(1.0)) - w1 - w2;
    /* Products of the edges with centre - point. */
    const vf r1 = k->g.x1 + s->step * q->ve.x1 - (q->gram11 * shift.x1 + q->gram12 * shift.x2);
    const vf r2 = k->g.x2 + s->step * q->ve.x2 - (q->gram12 * shift.x1 + q->gram22 * shift.x2);
    const vf r0 = -(w1 * r1 + w2 * r2), give = v_sel(apart, v_f(R(3.0)), v_f(R(2.0)));
    const vf limit = s->slack - (q->size * gap_error * give + PROOF_FLOOR);
    const vf least = v_sel(apart, v_f(R(-0.25)), h->spread * gap_error * R(2.0) + PROOF_EPS(8.0));
    const vm ok0 = v_or(v_and(h->in0, v_lt(least, w0)), v_and(v_not(h->in0), v_lt(r0, limit)));
    const vm ok1 = v_or(v_and(h->in1, v_lt(least, w1)), v_and(v_not(h->in1), v_lt(r0 + r1, limit)));
    const vm ok2 = v_or(v_and(h->in2, v_lt(least, w2)), v_and(v_not(h->in2), v_lt(r0 + r2, limit)));
    p->flip0 = v_not(ok0);
    p->flip1 = v_not(ok1);
    p->flip2 = v_not(ok2);
    return v_and(ok0, v_and(ok1, ok2));
}

FN vm proof_flipped(vm has, vm flip)
{
    return v_or(v_and(has, v_not(flip)), v_and(flip, v_not(has)));
}

/* Another feature to try in lanes `lost`: the hull with the failing corners flipped. Near the border of two features
 * the guess may be the wrong one, because contact times differ there by the square of the offset only. */
FN vi proof_neighbour_feature(const proof_end *e, const proof *p, vm lost)
{
    const proof_hull *h = &e->hull;
    const vm has0 = proof_flipped(h->in0, p->flip0), has1 = proof_flipped(h->in1, p->flip1);
    const vm has2 = proof_flipped(h->in2, p->flip2);
    const vi one = vi_sel(has0, v_i(FEATURE_V0), vi_sel(has1, v_i(FEATURE_V1), v_i(FEATURE_V2)));
    const vi edge = vi_sel(v_and(has0, has1), v_i(FEATURE_E01), vi_sel(has0, v_i(FEATURE_E20), v_i(FEATURE_E12)));
    const vm some = v_or(has0, v_or(has1, has2)), all = v_and(has0, v_and(has1, has2));
    const vm two = v_or(v_and(has0, v_or(has1, has2)), v_and(has1, has2));
    const vi to = vi_sel(all, v_i(FEATURE_FACE), vi_sel(two, edge, one));
    return vi_sel(v_and(lost, some), to, e->feature);
}

/* Two rare cases: a face and a sphere that is almost a point, and a pair at rest. */
FN void proof_steps_rare(const proof_pair *q, const proof_end *e, const residual *r, const proof_curve *k, int from,
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
            s[i] = proof_step_sel(face[i], proof_step_to_plane(q, &k[i], r[i].y, i), s[i]);
    }
    if (from == 0 && v_any(q->at_rest))
        s[0] = proof_step_sel(q->at_rest, proof_step_at_rest(&k[0]), s[0]);
}

FN void proof_shift(const proof_pair *q, const proof_end *e, const proof_curve *k, const proof_step *s, int last,
                    proof *p)
{
    const vf spread = e->hull.condition * e->hull.condition_root;
    p->apart = e->apart;
    if (!last && v_any(q->at_rest))
        p->apart = v_or(v_and(v_not(q->at_rest), p->apart), v_and(q->at_rest, v_lt(v_f(R(0.0)), k->c)));
    p->shift = v2_of(k->fix.x1 + s->step * k->drift.x1, k->fix.x2 + s->step * k->drift.x2);
    p->travel = v_abs(s->step) * q->speed;
    p->shift_error = PROOF_EPS(12.0) * spread;
    p->gap_error = q->speed * s->error + k->y_error + PROOF_EPS(20.0) * (k->projection_error + spread * p->travel);
}

FN void proof_time(const proof_end *e, const proof_step *s, v_pow2 unit, proof *p)
{
    const vf time = v_load(e->at.time);
    p->view_step = s->step;
    p->step = v_ldexp(s->step, unit);
    /* The sum of two binary32 numbers is rounded once: to the answer. */
    p->step_error = v_ldexp(s->error, unit) * R(1.25) + PROOF_EPS(4.0) * v_abs(p->step) + v_f(R(0x1p-140));
    p->low = v_positive_zero(time + (p->step - p->step_error));
    p->high = time + (p->step + p->step_error);
    p->view_error = s->error * R(2.0) + PROOF_EPS(4.0) * v_abs(s->step);
}

/* Filters the ends [from, to): 0 is the first contact, 1 the last. A miss or a pair at rest is decided by end 0. Each
 * step is taken for both ends before the next step, so a core has two independent chains of operations. */
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
    proof_steps_rare(q, e, r, k, from, to, s);
    LANG_UNROLL
    for (int i = from; i < to; i++)
        proof_shift(q, &e[i], &k[i], &s[i], i, &p[i]);
    LANG_UNROLL
    for (int i = from; i < to; i++)
        p[i].certain =
            v_and(v_and(v_and(q->ordinary, e[i].hull.fit), s[i].certain), proof_nearest(q, &e[i], &k[i], &s[i], &p[i]));
    LANG_UNROLL
    for (int i = from; i < to; i++)
        proof_time(&e[i], &s[i], unit, &p[i]);
}
#endif
