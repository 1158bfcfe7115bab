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

/* A pair of spheres as a moving point and a sphere at rest. */
typedef struct spheres_relative {
    v3 d, d_error, v; /* offset of the centres at time 0, and its rounding error; relative velocity */
    vf radius;        /* sum of the radii */
    vi length, speed; /* largest magnitudes: of d and radius; of v */
} spheres_relative;

/* (a1 - a0) - (b1 - b0), with the rounding errors of all three differences added back. So two spheres that move almost
 * alike keep their small relative motion. */
FN v3 spheres_motion(spheres_in in)
{
    const v3 a = v3_sub(in.a1, in.a0), b = v3_sub(in.b1, in.b0), v = v3_sub(a, b);
    const v3 lost = v3_sub(v3_sub_error(in.a1, in.a0, a), v3_sub_error(in.b1, in.b0, b));
    return v3_add(v, v3_add(v3_sub_error(a, b, v), lost));
}

/* Differences of a pair. */
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

/* Lanes in which no input is NaN or infinite. */
FN vm spheres_are_finite(spheres_in in)
{
    const vm a = v_and(v3_finite(in.a0), v3_finite(in.a1)), b = v_and(v3_finite(in.b0), v3_finite(in.b1));
    return v_and(v_and(a, b), v_and(v_finite(in.radius_a), v_finite(in.radius_b)));
}

/* Scales pairs that would overflow. Rare, so the caller branches. Lengths and displacements are scaled alike, so u
 * stays. */
FN void spheres_rescue(spheres_in *in, spheres_relative *pair, vm *valid, vm is_big)
{
    const vf factor = v_sel(is_big, v_f(R(0x1p-8)), v_f(R(1.0)));
    *valid = v_and(*valid, spheres_are_finite(*in));
    in->a0 = v3_mul(in->a0, factor);
    in->a1 = v3_mul(in->a1, factor);
    in->b0 = v3_mul(in->b0, factor);
    in->b1 = v3_mul(in->b1, factor);
    in->radius_a = in->radius_a * factor;
    in->radius_b = in->radius_b * factor;
    *pair = spheres_relate(*in);
}

/* Times and state of a pair, from the quadratic at the nearest approach. */
FN spheres_out spheres_solve(spheres_relative pair)
{
    const vf zero = v_f(R(0.0)), inf = v_infinity();
    const vi length = v_exponent(pair.length), speed = v_exponent(pair.speed);
    const vf to_length = v_scale_down(length);
    const v3 v = v3_mul(pair.v, v_scale_down(speed)), d = v3_mul(pair.d, to_length);
    const vf per_speed = v_f(R(1.0)) / v_sqrt(v3_dot(v, v)), radius = pair.radius * to_length;
    const v3 direction = v3_mul(v, per_speed);
    const vf start = v_head(-(v3_dot(d, direction) * per_speed));
    /* The offset when the time is `start`, near the closest approach: its parts along and across the motion. */
    const v3 near_offset = sweep_shifted(d, v3_mul(pair.d_error, to_length), v, start);
    const vf along = v3_dot(near_offset, direction);
    const v3 across = v3_sub(near_offset, v3_mul(direction, along));
    const vf chord2 = radius * radius - v3_dot(across, across);
    const vf half_chord = v_sqrt(chord2);
    const vf first = start - (along + half_chord) * per_speed, last = start - (along - half_chord) * per_speed;
    /* Without relative motion the distance at time 0 decides. */
    const vm hit = v_le(zero, chord2), at_rest = vi_eq(pair.speed, v_i(0));
    const v_pow2 unit = v_pow2_of((length - speed) >> R_EXPONENT_SHIFT);
    const sweep_rest rest = sweep_rest_of(v3_dot(d, d), radius * radius);

    spheres_out out;
    out.u_first = v_sel(at_rest, rest.first, v_sel(hit, v_positive_zero(v_ldexp(first, unit)), inf));
    out.u_last = v_sel(at_rest, rest.last, v_sel(hit, v_positive_zero(v_ldexp(last, unit)), -inf));
    out.state = vi_sel(at_rest, rest.state, vi_sel(hit, sweep_state(first, last), v_i(STATE_MISS)));
    return out;
}

/* Answers LANES pairs in fast mode. */
FN spheres_out spheres(spheres_in in)
{
    const vf zero = v_f(R(0.0)), inf = v_infinity();
    spheres_relative pair = spheres_relate(in);
    vm valid = v_and(v_le(zero, in.radius_a), v_le(zero, in.radius_b));
    const vm is_big = v_not(vi_gt(v_i(R_BIG_BITS), vi_max(pair.length, pair.speed)));
    if (v_any(is_big))
        spheres_rescue(&in, &pair, &valid, is_big);
    spheres_out out = spheres_solve(pair);
    out.u_first = v_sel(valid, out.u_first, inf);
    out.u_last = v_sel(valid, out.u_last, -inf);
    out.state = vi_sel(valid, out.state, v_i(STATE_INVALID));
    return out;
}

/* Columns in, solver, columns out. */
FN void pairs_spheres(in_columns in, out_columns out, size_t i)
{
    spheres_in pair;
    pair.a0 = load3(in, IN_A0X, i);
    pair.a1 = load3(in, IN_A1X, i);
    pair.radius_a = v_load(in[IN_RA] + i);
    pair.b0 = load3(in, IN_B0X, i);
    pair.b1 = load3(in, IN_B1X, i);
    pair.radius_b = v_load(in[IN_RB] + i);
    const spheres_out answer = spheres(pair);
    store(out, OUT_U_FIRST, i, answer.u_first);
    store(out, OUT_U_LAST, i, answer.u_last);
    store_u8(out, OUT_U_STATE, i, answer.state);
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

/* The quadratic at the time `near`, with error bounds. a: square of the relative velocity. */
FN spheres_curve spheres_curve_of(const spheres_wide *pair, wf a, wf near)
{
    const w3 offset = w3_add(pair->d, w3_mul(pair->v, near));
    const wf reach = pair->d_size + w_abs(near) * pair->v_size, size = w3_size(offset),
             r2 = pair->radius * pair->radius;
    spheres_curve curve;
    curve.a = a;
    curve.b = w3_dot(offset, pair->v);
    curve.c = w3_dot(offset, offset) - r2;
    curve.left = curve.b * curve.b - a * curve.c;
    /* Error bounds of the coefficients and of the discriminant. */
    const wf offset_error = W_EPS(4.0) * reach;
    curve.a_error = W_EPS(10.0) * pair->v_size * pair->v_size;
    curve.b_error = W_EPS(12.0) * reach * pair->v_size;
    const wf c_error = W_EPS(16.0) * (size * reach + r2) + offset_error * offset_error;
    curve.left_error = (W(2.0) * w_abs(curve.b) + curve.b_error) * curve.b_error + a * c_error +
                       w_abs(curve.c) * curve.a_error + W_EPS(8.0) * (curve.b * curve.b + a * w_abs(curve.c));
    return curve;
}

/* Times and state that the filter proves. Undecided lanes have NaN as u_first. */
FN spheres_proven spheres_prove(const spheres_wide *pair)
{
    const wf zero = w_f(W(0.0)), one = w_f(W(1.0)), inf = w_infinity();
    const wf a = w3_dot(pair->v, pair->v), near = -w3_dot(pair->d, pair->v) / a;
    const spheres_curve curve = spheres_curve_of(pair, a, near);
    const wf chord = w_sqrt(curve.left), per_square_and_chord = one / (a * chord),
             per_square = per_square_and_chord * chord;
    const wf error =
        W(2.0) * per_square *
        (curve.b_error + curve.left_error * (per_square_and_chord * a) + W_EPS(4.0) * (w_abs(curve.b) + chord));
    /* Both roots, as steps from the nearest approach, and bounds of their errors. */
    const wf first = (-curve.b - chord) * per_square, last = (chord - curve.b) * per_square;
    const wf slope = W(2.0) * curve.a_error * per_square;
    const wf at_first = near + first, at_last = near + last;
    const wf error_first = error + w_abs(first) * slope + W_EPS(2.0) * w_abs(at_first);
    const wf error_last = error + w_abs(last) * slope + W_EPS(2.0) * w_abs(at_last);

    /* Lanes with a proven hit whose times round to one number, and whose state is certain. */
    const wm moves = w_lt(W(4.0) * curve.a_error, a), hit = w_and(moves, w_lt(W(2.0) * curve.left_error, curve.left));
    const wm is_ahead = w_lt(error_first, at_first), has_begun = w_lt(at_first, -error_first);
    const wm ended = w_lt(at_last, -error_last), lasting = w_lt(error_last, at_last);
    wf low = spheres_nearest(at_first - error_first, at_first + error_first);
    wf high = spheres_nearest(at_last - error_last, at_last + error_last);
    wf state = w_sel(is_ahead, w_f(STATE_APPROACHING), w_sel(ended, w_f(STATE_PAST), w_f(STATE_OVERLAPPING)));
    wm certain = w_and(
        hit, w_and(w_or(is_ahead, w_or(ended, w_and(has_begun, lasting))), w_and(w_eq(low, low), w_eq(high, high))));

    /* Pairs in which neither sphere moves. If both move alike, integers decide. */
    const wf c = w3_dot(pair->d, pair->d) - pair->radius * pair->radius;
    const wf c_error = W_EPS(16.0) * (pair->d_size * pair->d_size + pair->radius * pair->radius);
    const wm at_rest = w_eq(pair->v_size, zero), rest_contact = w_and(at_rest, w_lt(c, -c_error));
    low = w_sel(rest_contact, -inf, low);
    high = w_sel(rest_contact, inf, high);
    state = w_sel(rest_contact, w_f(STATE_OVERLAPPING), state);
    const wm apart = w_or(w_and(moves, w_lt(curve.left, -curve.left_error)), w_and(at_rest, w_lt(c_error, c)));
    certain = w_or(certain, w_or(rest_contact, w_or(apart, w_not(pair->valid))));
    const wm no_contact = w_or(apart, w_not(pair->valid));
    spheres_proven out;
    out.u_first = w_sel(certain, w_sel(no_contact, inf, low), zero / zero);
    out.u_last = w_sel(no_contact, -inf, high);
    out.state = w_sel(pair->valid, w_sel(no_contact, w_f(STATE_MISS), state), w_f(STATE_INVALID));
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
    const wm is_finite = w_lt(pair.d_size + pair.v_size + pair.radius, w_infinity());
    pair.valid = w_and(is_finite, w_and(w_le(zero, radius_a), w_le(zero, radius_b)));
    return pair;
}

/* Columns in, filter, columns out, for each half of the lanes. */
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
