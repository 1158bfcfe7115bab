/* SPDX-License-Identifier: MIT */
/* The sweep of two spheres in exact mode, first rung: a floating-point filter in binary64 with a bound on every
 * rounding. Pairs that it leaves undecided get NaN for u_first; the second rung decides them in integers.
 * docs/numerics.md, section 14, derives the bounds. */
#ifndef CAROM_SPHERES_EXACT_H
#define CAROM_SPHERES_EXACT_H
#include "layout.h"
#include "wide.h"

#ifndef SPHERES_BOUND
#define SPHERES_BOUND W(1.0) /* a test shrinks all bounds with it, and must then find wrong answers */
#endif
#define SPHERES_EPS(n) (W(n) * W(0x1p-53) * SPHERES_BOUND)

typedef struct spheres_wide {
    w3 d, v;                /* relative start and motion */
    wf radius, way, motion; /* sums of magnitudes: of d, of both motions */
    wm valid;
} spheres_wide;

typedef struct spheres_proven {
    wf u_first, u_last, state;
} spheres_proven;

/* The binary32 nearest to every number in [low, high], if that is one; else NaN. Zero is +0. */
FN wf spheres_nearest(wf low, wf high)
{
    const wf a = w_round(low), b = w_round(high), zero = w_f(W(0.0));
    return w_sel(w_eq(a, b), w_sel(w_eq(a, zero), zero, a), zero / zero);
}

/* Times at which the squared distance, less r^2, is zero: with y the way between the centres at `near`, about their
 * nearest approach, it is c + 2 b D + a D^2 for a step D from there. */
typedef struct spheres_curve {
    wf a, b, c, left; /* left: b^2 - a c */
    wf a_error, b_error, left_error;
} spheres_curve;

FN spheres_curve spheres_curve_of(const spheres_wide *x, wf a, wf near)
{
    const w3 y = w3_add(x->d, w3_mul(x->v, near));
    const wf reach = x->way + w_abs(near) * x->motion, size = w3_size(y), r2 = x->radius * x->radius;
    spheres_curve g;
    g.a = a;
    g.b = w3_dot(y, x->v);
    g.c = w3_dot(y, y) - r2;
    g.left = g.b * g.b - a * g.c;
    const wf y_error = SPHERES_EPS(4.0) * reach;
    g.a_error = SPHERES_EPS(10.0) * x->motion * x->motion;
    g.b_error = SPHERES_EPS(12.0) * reach * x->motion;
    const wf c_error = SPHERES_EPS(16.0) * (size * reach + r2) + y_error * y_error;
    g.left_error = (W(2.0) * w_abs(g.b) + g.b_error) * g.b_error + a * c_error + w_abs(g.c) * g.a_error +
                   SPHERES_EPS(8.0) * (g.b * g.b + a * w_abs(g.c));
    return g;
}

FN spheres_proven spheres_prove(const spheres_wide *x)
{
    const wf zero = w_f(W(0.0)), one = w_f(W(1.0)), inf = w_infinity();
    const wf a = w3_dot(x->v, x->v), near = -w3_dot(x->d, x->v) / a;
    const spheres_curve g = spheres_curve_of(x, a, near);
    const wf chord = w_sqrt(g.left), both = one / (a * chord), per = both * chord;
    const wf error = W(2.0) * per * (g.b_error + g.left_error * (both * a) + SPHERES_EPS(4.0) * (w_abs(g.b) + chord));
    const wf first = (-g.b - chord) * per, last = (chord - g.b) * per;
    const wf slope = W(2.0) * g.a_error * per;
    const wf at_first = near + first, at_last = near + last;
    const wf off_first = error + w_abs(first) * slope + SPHERES_EPS(2.0) * w_abs(at_first);
    const wf off_last = error + w_abs(last) * slope + SPHERES_EPS(2.0) * w_abs(at_last);

    const wm moves = w_lt(W(4.0) * g.a_error, a), hit = w_and(moves, w_lt(W(2.0) * g.left_error, g.left));
    const wm ahead = w_lt(off_first, at_first), begun = w_lt(at_first, -off_first);
    const wm over = w_lt(at_last, -off_last), on = w_lt(off_last, at_last);
    wf low = spheres_nearest(at_first - off_first, at_first + off_first);
    wf high = spheres_nearest(at_last - off_last, at_last + off_last);
    wf state = w_sel(ahead, w_f(STATE_APPROACHING), w_sel(over, w_f(STATE_PAST), w_f(STATE_OVERLAPPING)));
    wm sure = w_and(hit, w_and(w_or(ahead, w_or(over, w_and(begun, on))), w_and(w_eq(low, low), w_eq(high, high))));

    /* No motion at all, of either; where both move alike integers tell. */
    const wf c = w3_dot(x->d, x->d) - x->radius * x->radius;
    const wf c_error = SPHERES_EPS(16.0) * (x->way * x->way + x->radius * x->radius);
    const wm still = w_eq(x->motion, zero), rests = w_and(still, w_lt(c, -c_error));
    low = w_sel(rests, -inf, low);
    high = w_sel(rests, inf, high);
    state = w_sel(rests, w_f(STATE_OVERLAPPING), state);
    const wm apart = w_or(w_and(moves, w_lt(g.left, -g.left_error)), w_and(still, w_lt(c_error, c)));
    sure = w_or(sure, w_or(rests, w_or(apart, w_not(x->valid))));
    const wm none = w_or(apart, w_not(x->valid));
    spheres_proven out;
    out.u_first = w_sel(sure, w_sel(none, inf, low), zero / zero);
    out.u_last = w_sel(none, -inf, high);
    out.state = w_sel(x->valid, w_sel(none, w_f(STATE_MISS), state), w_f(STATE_INVALID));
    return out;
}

/* A sum of finite numbers is finite in binary64, one of others is not. */
FN spheres_wide spheres_relate_wide(w3 a0, w3 a1, wf radius_a, w3 b0, w3 b1, wf radius_b)
{
    const w3 a = w3_sub(a1, a0), b = w3_sub(b1, b0);
    const wf zero = w_f(W(0.0));
    spheres_wide x;
    x.d = w3_sub(a0, b0);
    x.v = w3_sub(a, b);
    x.radius = radius_a + radius_b;
    x.way = w3_size(x.d);
    x.motion = w3_size(a) + w3_size(b);
    const wm finite = w_lt(x.way + x.motion + x.radius, w_infinity());
    x.valid = w_and(finite, w_and(w_le(zero, radius_a), w_le(zero, radius_b)));
    return x;
}
#endif
