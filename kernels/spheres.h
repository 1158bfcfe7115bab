/* SPDX-License-Identifier: MIT */
/* Sweep of two moving spheres over the normalised time u.
 *
 * Source: Gomez, Simple Intersection Tests for Games (2.1), over the whole real line and with an answer for spheres
 * without relative motion. The start is moved to the nearest approach before anything is squared, so the quadratic is u
 * = nearest -+ sqrt(r^2 - distance^2) / speed and nothing cancels; see docs/numerics.md. */
#ifndef CAROM_SPHERES_H
#define CAROM_SPHERES_H
#include "layout.h"

/* clang-format off */
enum {
    IN_A0X, IN_A0Y, IN_A0Z, IN_A1X, IN_A1Y, IN_A1Z, IN_RA, IN_B0X, IN_B0Y, IN_B0Z, IN_B1X, IN_B1Y, IN_B1Z, IN_RB,
    IN_SPHERES
};
enum { OUT_U_FIRST, OUT_U_LAST, OUT_U_STATE, OUT_SPHERES };
/* clang-format on */
#define RADII_SPHERES (1 << IN_RA | 1 << IN_RB)

#define SPHERE_INPUTS(X)           \
    X(points, a0, a, IN_A0X)       \
    X(points, a1, a, IN_A1X)       \
    X(scalars, radius_a, a, IN_RA) \
    X(points, b0, b, IN_B0X)       \
    X(points, b1, b, IN_B1X)       \
    X(scalars, radius_b, b, IN_RB)
#define SPHERE_OUTPUTS(X)          \
    X(array, state, OUT_U_STATE)   \
    X(array, u_first, OUT_U_FIRST) \
    X(array, u_last, OUT_U_LAST)

#ifdef PAIR_SOLVERS
#include "columns.h"
#include "sweep.h"

typedef struct spheres_in {
    v3 a0, a1;
    vf radius_a;
    v3 b0, b1;
    vf radius_b;
} spheres_in;

typedef struct spheres_out {
    vf u_first, u_last;
    vi state;
} spheres_out;

typedef struct spheres_relative {
    v3 d, d_error, v;
    vf radius;
    vi length, speed;
} spheres_relative;

/* (a1 - a0) - (b1 - b0), with the rounding errors of all three differences added back. So two spheres that move almost
 * alike keep their small relative motion. */
FN v3 spheres_motion(spheres_in in)
{
    const v3 a = v3_sub(in.a1, in.a0), b = v3_sub(in.b1, in.b0), v = v3_sub(a, b);
    const v3 lost = v3_sub(v3_sub_error(in.a1, in.a0, a), v3_sub_error(in.b1, in.b0, b));
    return v3_add(v, v3_add(v3_sub_error(a, b, v), lost));
}

FN spheres_relative spheres_relate(spheres_in in)
{
    spheres_relative pair;
    pair.d = v3_sub(in.a0, in.b0);
    pair.d_error = v3_sub_error(in.a0, in.b0, pair.d);
    pair.v = spheres_motion(in);
    pair.radius = in.radius_a + in.radius_b;
    pair.length = vi_max(v3_magnitude(pair.d), v_magnitude(pair.radius));
    pair.speed = v3_magnitude(pair.v);
    return pair;
}

FN vm spheres_are_finite(spheres_in in)
{
    const vm a = v_and(v3_finite(in.a0), v3_finite(in.a1)), b = v_and(v3_finite(in.b0), v3_finite(in.b1));
    return v_and(v_and(a, b), v_and(v_finite(in.radius_a), v_finite(in.radius_b)));
}

/* Scales pairs that would overflow. Rare, so the caller branches. Lengths and displacements are scaled alike, so u
 * stays. */
FN void spheres_rescue(spheres_in *in, spheres_relative *pair, vm *valid, vm big)
{
    const vf small = v_sel(big, v_f(R(0x1p-8)), v_f(R(1.0)));
    *valid = v_and(*valid, spheres_are_finite(*in));
    in->a0 = v3_mul(in->a0, small);
    in->a1 = v3_mul(in->a1, small);
    in->b0 = v3_mul(in->b0, small);
    in->b1 = v3_mul(in->b1, small);
    in->radius_a = in->radius_a * small;
    in->radius_b = in->radius_b * small;
    *pair = spheres_relate(*in);
}

FN spheres_out spheres_solve(spheres_relative pair)
{
    const vf zero = v_f(R(0.0)), inf = v_infinity();
    const vi length = v_exponent(pair.length), speed = v_exponent(pair.speed);
    const vf to_length = v_scale_down(length);
    const v3 v = v3_mul(pair.v, v_scale_down(speed)), d = v3_mul(pair.d, to_length);
    const vf per_speed = v_f(R(1.0)) / v_sqrt(v3_dot(v, v)), radius = pair.radius * to_length;
    const v3 u = v3_mul(v, per_speed);
    const vf start = v_head(-(v3_dot(d, u) * per_speed));
    const v3 m = sweep_shifted(d, v3_mul(pair.d_error, to_length), v, start);
    const vf rest = v3_dot(m, u);
    const v3 beside = v3_sub(m, v3_mul(u, rest));
    const vf left = radius * radius - v3_dot(beside, beside);
    const vf chord = v_sqrt(left);
    const vf first = start - (rest + chord) * per_speed, last = start - (rest - chord) * per_speed;
    const vm hit = v_le(zero, left), at_rest = vi_eq(pair.speed, v_i(0));
    const v_pow2 unit = v_pow2_of((length - speed) >> R_EXPONENT_SHIFT);
    const sweep_rest r = sweep_rest_of(v3_dot(d, d), radius * radius);

    spheres_out out;
    out.u_first = v_sel(at_rest, r.first, v_sel(hit, v_positive_zero(v_ldexp(first, unit)), inf));
    out.u_last = v_sel(at_rest, r.last, v_sel(hit, v_positive_zero(v_ldexp(last, unit)), -inf));
    out.state = vi_sel(at_rest, r.state, vi_sel(hit, sweep_state(first, last), v_i(STATE_MISS)));
    return out;
}

FN spheres_out spheres(spheres_in in)
{
    const vf zero = v_f(R(0.0)), inf = v_infinity();
    spheres_relative pair = spheres_relate(in);
    vm valid = v_and(v_le(zero, in.radius_a), v_le(zero, in.radius_b));
    const vm big = v_not(vi_gt(v_i(R_BIG_BITS), vi_max(pair.length, pair.speed)));
    if (v_any(big))
        spheres_rescue(&in, &pair, &valid, big);
    spheres_out out = spheres_solve(pair);
    out.u_first = v_sel(valid, out.u_first, inf);
    out.u_last = v_sel(valid, out.u_last, -inf);
    out.state = vi_sel(valid, out.state, v_i(STATE_INVALID));
    return out;
}

FN void pairs_spheres(in_columns in, out_columns out, size_t i)
{
    spheres_in q;
    q.a0 = load3(in, IN_A0X, i);
    q.a1 = load3(in, IN_A1X, i);
    q.radius_a = v_load(in[IN_RA] + i);
    q.b0 = load3(in, IN_B0X, i);
    q.b1 = load3(in, IN_B1X, i);
    q.radius_b = v_load(in[IN_RB] + i);
    const spheres_out a = spheres(q);
    store(out, OUT_U_FIRST, i, a.u_first);
    store(out, OUT_U_LAST, i, a.u_last);
    store_u8(out, OUT_U_STATE, i, a.state);
}

#ifdef CAROM_WIDE_H /* programs of exact mode have binary64 */
/* ---- exact mode -------------------------------------------------------------------------------------------------- */

/* First rung: a floating-point filter in binary64 with a bound on every rounding. Pairs that it leaves undecided get
 * NaN for u_first; the second rung decides them in integers. docs/exact.md, section 14, derives the bounds. */
typedef struct spheres_wide {
    w3 d, v;                   /* relative start and motion */
    wf radius, d_size, v_size; /* sum of the radii; sums of magnitudes of d and of both motions */
    wm valid;
} spheres_wide;

typedef struct spheres_proven {
    wf u_first, u_last, state;
} spheres_proven;

/* The binary32 to which every number in [low, high] rounds, if there is only one; else NaN. Zero is +0. */
FN wf spheres_nearest(wf low, wf high)
{
    const wf a = w_round(low), b = w_round(high), zero = w_f(W(0.0));
    return w_sel(w_eq(a, b), w_sel(w_eq(a, zero), zero, a), zero / zero);
}

/* Quadratic of the time of impact. Let y be the offset between the centres at the time `near`, about that of their
 * nearest approach. The squared distance less r^2 is c + 2 b D + a D^2, for a time step D from `near`. */
typedef struct spheres_curve {
    wf a, b, c, left; /* left: b^2 - a c */
    wf a_error, b_error, left_error;
} spheres_curve;

FN spheres_curve spheres_curve_of(const spheres_wide *pair, wf a, wf near)
{
    const w3 y = w3_add(pair->d, w3_mul(pair->v, near));
    const wf reach = pair->d_size + w_abs(near) * pair->v_size, size = w3_size(y), r2 = pair->radius * pair->radius;
    spheres_curve g;
    g.a = a;
    g.b = w3_dot(y, pair->v);
    g.c = w3_dot(y, y) - r2;
    g.left = g.b * g.b - a * g.c;
    const wf y_error = W_EPS(4.0) * reach;
    g.a_error = W_EPS(10.0) * pair->v_size * pair->v_size;
    g.b_error = W_EPS(12.0) * reach * pair->v_size;
    const wf c_error = W_EPS(16.0) * (size * reach + r2) + y_error * y_error;
    g.left_error = (W(2.0) * w_abs(g.b) + g.b_error) * g.b_error + a * c_error + w_abs(g.c) * g.a_error +
                   W_EPS(8.0) * (g.b * g.b + a * w_abs(g.c));
    return g;
}

FN spheres_proven spheres_prove(const spheres_wide *pair)
{
    const wf zero = w_f(W(0.0)), one = w_f(W(1.0)), inf = w_infinity();
    const wf a = w3_dot(pair->v, pair->v), near = -w3_dot(pair->d, pair->v) / a;
    const spheres_curve g = spheres_curve_of(pair, a, near);
    const wf chord = w_sqrt(g.left), both = one / (a * chord), per = both * chord;
    const wf error = W(2.0) * per * (g.b_error + g.left_error * (both * a) + W_EPS(4.0) * (w_abs(g.b) + chord));
    const wf first = (-g.b - chord) * per, last = (chord - g.b) * per;
    const wf slope = W(2.0) * g.a_error * per;
    const wf at_first = near + first, at_last = near + last;
    const wf off_first = error + w_abs(first) * slope + W_EPS(2.0) * w_abs(at_first);
    const wf off_last = error + w_abs(last) * slope + W_EPS(2.0) * w_abs(at_last);

    const wm moves = w_lt(W(4.0) * g.a_error, a), hit = w_and(moves, w_lt(W(2.0) * g.left_error, g.left));
    const wm ahead = w_lt(off_first, at_first), begun = w_lt(at_first, -off_first);
    const wm over = w_lt(at_last, -off_last), on = w_lt(off_last, at_last);
    wf low = spheres_nearest(at_first - off_first, at_first + off_first);
    wf high = spheres_nearest(at_last - off_last, at_last + off_last);
    wf state = w_sel(ahead, w_f(STATE_APPROACHING), w_sel(over, w_f(STATE_PAST), w_f(STATE_OVERLAPPING)));
    wm certain = w_and(hit, w_and(w_or(ahead, w_or(over, w_and(begun, on))), w_and(w_eq(low, low), w_eq(high, high))));

    /* Pairs in which neither sphere moves. If both move alike, integers decide. */
    const wf c = w3_dot(pair->d, pair->d) - pair->radius * pair->radius;
    const wf c_error = W_EPS(16.0) * (pair->d_size * pair->d_size + pair->radius * pair->radius);
    const wm at_rest = w_eq(pair->v_size, zero), rests = w_and(at_rest, w_lt(c, -c_error));
    low = w_sel(rests, -inf, low);
    high = w_sel(rests, inf, high);
    state = w_sel(rests, w_f(STATE_OVERLAPPING), state);
    const wm apart = w_or(w_and(moves, w_lt(g.left, -g.left_error)), w_and(at_rest, w_lt(c_error, c)));
    certain = w_or(certain, w_or(rests, w_or(apart, w_not(pair->valid))));
    const wm none = w_or(apart, w_not(pair->valid));
    spheres_proven out;
    out.u_first = w_sel(certain, w_sel(none, inf, low), zero / zero);
    out.u_last = w_sel(none, -inf, high);
    out.state = w_sel(pair->valid, w_sel(none, w_f(STATE_MISS), state), w_f(STATE_INVALID));
    return out;
}

/* A sum of finite binary32 numbers is finite in binary64; a sum with infinity or NaN is not. */
FN spheres_wide spheres_relate_wide(w3 a0, w3 a1, wf radius_a, w3 b0, w3 b1, wf radius_b)
{
    const w3 a = w3_sub(a1, a0), b = w3_sub(b1, b0);
    const wf zero = w_f(W(0.0));
    spheres_wide pair;
    pair.d = w3_sub(a0, b0);
    pair.v = w3_sub(a, b);
    pair.radius = radius_a + radius_b;
    pair.d_size = w3_size(pair.d);
    pair.v_size = w3_size(a) + w3_size(b);
    const wm finite = w_lt(pair.d_size + pair.v_size + pair.radius, w_infinity());
    pair.valid = w_and(finite, w_and(w_le(zero, radius_a), w_le(zero, radius_b)));
    return pair;
}

FN void pairs_spheres_exact(in_columns in, out_columns out, size_t i)
{
    LANG_UNROLL
    for (int first_lane = 0; first_lane < LANES; first_lane += WIDE) {
        const size_t at = i + (size_t)first_lane;
        const spheres_wide pair =
            spheres_relate_wide(load3_wide(in, IN_A0X, at), load3_wide(in, IN_A1X, at), w_load(in[IN_RA] + at),
                                load3_wide(in, IN_B0X, at), load3_wide(in, IN_B1X, at), w_load(in[IN_RB] + at));
        const spheres_proven proven = spheres_prove(&pair);
        w_store((G real *)out[OUT_U_FIRST] + at, proven.u_first);
        w_store((G real *)out[OUT_U_LAST] + at, proven.u_last);
        w_store_u8((G u8 *)out[OUT_U_STATE] + at, proven.state);
    }
}
#endif
#endif
#endif
