/* SPDX-License-Identifier: MIT */
/* Narrow phase of a cloud: whether two spheres make a pair, and their time of impact. The solver is that of spheres.h.
 * Its inputs are centres and velocities at time 0 in place of end positions, a shift of B (periodic images), a margin
 * and a limit of time. The offset d from A to B, the relative velocity v and the sum of the radii are each rounded
 * once. */
#ifndef CAROM_CLOUD_H
#define CAROM_CLOUD_H
#include "spheres.h"

/* clang-format off */
enum {
    IN_AX, IN_AY, IN_AZ, IN_AVX, IN_AVY, IN_AVZ, IN_AR, IN_BX, IN_BY, IN_BZ, IN_BVX, IN_BVY, IN_BVZ, IN_BR,
    IN_SHIFT_X, IN_SHIFT_Y, IN_SHIFT_Z, IN_MARGIN, IN_LIMIT,
    IN_CLOUD
};
enum { OUT_CLOUD_T, OUT_CLOUD_STATE, OUT_CLOUD_PARTS, OUT_CLOUD };
/* clang-format on */
#define RADII_CLOUD (1 << IN_AR | 1 << IN_BR | 1 << IN_MARGIN | 1 << IN_LIMIT)
#define BYTES_CLOUD (1 << OUT_CLOUD_STATE | 1 << OUT_CLOUD_PARTS)

/* OUT_CLOUD_STATE is MISS (no pair), APPROACHING (contact within the limit), TOUCHING, OVERLAPPING, or NEAR: spheres at
 * rest that are apart, but within the margin. OUT_CLOUD_PARTS: 1 if d.v > 0. */
#define STATE_NEAR 7

#ifdef PAIR_SOLVERS
typedef struct cloud_in {
    v3 a, a_velocity, b, b_velocity, shift;
    vf radius_a, radius_b, margin, limit;
} cloud_in;

/* b - a + shift: rounded once where the shift is 0; else the rounding errors of both sums are added back. */
FN v3 cloud_offset(cloud_in in)
{
    const v3 offset = v3_sub(in.b, in.a), back = v3_mul(in.shift, v_f(R(-1.0))), d = v3_sub(offset, back);
    return v3_add(d, v3_add(v3_sub_error(in.b, in.a, offset), v3_sub_error(offset, back, d)));
}

/* Differences of a pair; the offset's error is already added back. */
FN spheres_relative cloud_relate(cloud_in in)
{
    spheres_relative pair;
    pair.d = cloud_offset(in);
    pair.d_error = v3_mul(pair.d, v_f(R(0.0)));
    pair.v = v3_sub(in.b_velocity, in.a_velocity);
    pair.radius = in.radius_a + in.radius_b;
    pair.length = vi_max(v3_magnitude(pair.d), v_magnitude(pair.radius));
    pair.speed = v3_magnitude(pair.v);
    return pair;
}

/* Scales pairs that would overflow, as spheres_rescue does: lengths and velocities alike, so times stay. */
FN void cloud_rescue(cloud_in *in, spheres_relative *pair, vm is_large)
{
    const vf factor = v_sel(is_large, v_f(R(0x1p-8)), v_f(R(1.0)));
    in->a = v3_mul(in->a, factor);
    in->b = v3_mul(in->b, factor);
    in->shift = v3_mul(in->shift, factor);
    in->a_velocity = v3_mul(in->a_velocity, factor);
    in->b_velocity = v3_mul(in->b_velocity, factor);
    in->radius_a = in->radius_a * factor;
    in->radius_b = in->radius_b * factor;
    in->margin = in->margin * factor;
    *pair = cloud_relate(*in);
}

typedef struct cloud_out {
    vf t;
    vi state, parts;
} cloud_out;

/* Decides ties of a moving pair by exact signs, in place of the solver's. Regular packings are full of ties: spheres
 * that touch at time 0 and first_lane, or that pass each other at the distance R. There |d|^2, R^2, d.v and d x v are
 * exact in binary32, but the solver's quotients and roots are rounded. So the state follows from the signs of these
 * four terms. The time is the solver's, with two exceptions. If the pair grazes, the time is that of the nearest
 * approach. If the solver found no contact ahead, the time is c / (sqrt(left) - d.v) with c = |d|^2 - R^2, which is
 * positive. docs/numerics.md, section 10. */
FN spheres_out cloud_ties(spheres_out s, v3 d, v3 v, vf radius, v_pow2 unit)
{
    const vf zero = v_f(R(0.0)), inf = v_infinity();
    const v3 across = v3_cross(d, v);
    const vf radius2 = radius * radius, speed2 = v3_dot(v, v), d_dot_v = v3_dot(d, v), d2 = v3_dot(d, d);
    const vf discriminant = radius2 * speed2 - v3_dot(across, across);
    /* Approaching pairs whose paths come within the radius; at distance 0 of it they graze. */
    const vm meets = v_and(v_lt(d_dot_v, zero), v_le(zero, discriminant)), grazes = v_eq(discriminant, zero);
    const vf half_chord = v_sqrt(v_sel(meets, discriminant, zero)), nearest_time = -d_dot_v / speed2;
    const vf time = v_sel(grazes, nearest_time, v_min((d2 - radius2) / (half_chord - d_dot_v), nearest_time));
    const vm solved = v_and(v_lt(zero, s.u_first), v_lt(s.u_first, inf));
    /* The state: by the distance at time 0, then by the direction of the motion. */
    const vi ahead = vi_sel(meets, v_i(STATE_APPROACHING), v_i(STATE_MISS));
    const vi at_start = vi_sel(v_lt(d2, radius2), v_i(STATE_OVERLAPPING),
                               vi_sel(v_lt(zero, d_dot_v), v_i(STATE_MISS), v_i(STATE_TOUCHING)));
    s.state = vi_sel(v_lt(radius2, d2), ahead, at_start);
    s.u_first = v_sel(v_and(solved, v_not(grazes)), s.u_first, v_ldexp(time, unit));
    return s;
}

/* State within the window [0, limit], from the state and time of a sweep over all times. */
FN vi cloud_state(vi state, vf t, vf limit)
{
    const vm is_ahead = vi_eq(state, v_i(STATE_APPROACHING)), late = v_and(is_ahead, v_not(v_le(t, limit)));
    return vi_sel(v_or(late, vi_gt(state, v_i(STATE_OVERLAPPING))), v_i(STATE_MISS), state);
}

/* Answers LANES pairs in fast mode. */
FN cloud_out cloud(cloud_in in)
{
    const vf zero = v_f(R(0.0)), inf = v_infinity();
    spheres_relative pair = cloud_relate(in);
    const vm is_big = v_not(vi_gt(v_i(R_BIG_BITS), vi_max(pair.length, pair.speed)));
    if (v_any(is_big))
        cloud_rescue(&in, &pair, is_big);
    /* Scaled to about 1, for the signs that decide ties. */
    const vi length = v_exponent(pair.length), speed = v_exponent(pair.speed);
    const vf to_length = v_scale_down(length), reach = (pair.radius + in.margin) * to_length;
    const v3 d = v3_mul(pair.d, to_length), v = v3_mul(pair.v, v_scale_down(speed));
    const vm at_rest = vi_eq(pair.speed, v_i(0));
    const v_pow2 unit = v_pow2_of((length - speed) >> R_EXPONENT_SHIFT);
    spheres_out solved = spheres_solve(pair);
    if (v_any(v_not(at_rest))) {
        const spheres_out moving = cloud_ties(solved, d, v, pair.radius * to_length, unit);
        solved.state = vi_sel(at_rest, solved.state, moving.state);
        solved.u_first = v_sel(at_rest, solved.u_first, moving.u_first);
    }

    cloud_out out;
    out.state = cloud_state(solved.state, solved.u_first, in.limit);
    const vm apart = vi_eq(out.state, v_i(STATE_MISS));
    const vm in_margin = v_and(v_and(at_rest, apart), v_le(v3_dot(d, d), reach * reach));
    out.state = vi_sel(in_margin, v_i(STATE_NEAR), out.state);
    out.t = v_sel(vi_eq(out.state, v_i(STATE_APPROACHING)), solved.u_first, v_sel(apart, inf, zero));
    out.parts = vi_sel(v_lt(zero, v3_dot(d, v)), v_i(1), v_i(0));
    return out;
}

/* Columns in, solver, columns out. */
FN void pairs_cloud(in_columns in, out_columns out, size_t i)
{
    cloud_in pair;
    pair.a = load3(in, IN_AX, i);
    pair.a_velocity = load3(in, IN_AVX, i);
    pair.radius_a = v_load(in[IN_AR] + i);
    pair.b = load3(in, IN_BX, i);
    pair.b_velocity = load3(in, IN_BVX, i);
    pair.radius_b = v_load(in[IN_BR] + i);
    pair.shift = load3(in, IN_SHIFT_X, i);
    pair.margin = v_load(in[IN_MARGIN] + i);
    pair.limit = v_load(in[IN_LIMIT] + i);
    const cloud_out a = cloud(pair);
    store(out, OUT_CLOUD_T, i, a.t);
    store_u8(out, OUT_CLOUD_STATE, i, a.state);
    store_u8(out, OUT_CLOUD_PARTS, i, a.parts);
}

#ifdef CAROM_WIDE_H /* programs of exact mode have binary64 */
/* ---- exact mode -------------------------------------------------------------------------------------------------- */

/* Two sums make each component of d, so d_size counts the magnitudes of all three terms twice. Velocities differ by
 * zero in binary64 only if they are equal. */
FN spheres_wide cloud_relate_wide(in_columns in, size_t at)
{
    const w3 va = load3_wide(in, IN_AVX, at), vb = load3_wide(in, IN_BVX, at), shift = load3_wide(in, IN_SHIFT_X, at);
    const w3 offset = w3_sub(load3_wide(in, IN_BX, at), load3_wide(in, IN_AX, at));
    const wf zero = w_f(W(0.0));
    spheres_wide pair;
    pair.d = w3_add(offset, shift);
    pair.v = w3_sub(vb, va);
    pair.radius = w_load(in[IN_AR] + at) + w_load(in[IN_BR] + at);
    pair.d_size = W(2.0) * (w3_size(offset) + w3_size(shift));
    pair.v_size = w_sel(w_eq(w3_size(pair.v), zero), zero, w3_size(va) + w3_size(vb));
    pair.valid = w_eq(zero, zero);
    return pair;
}

/* Floating-point filter: stores NaN as the time of an undecided pair. A time that rounds to the limit is undecided,
 * because the true time may lie on either side of it. */
FN void cloud_prove(in_columns in, out_columns out, size_t at)
{
    const wf zero = w_f(W(0.0)), one = w_f(W(1.0)), inf = w_infinity();
    const spheres_wide pair = cloud_relate_wide(in, at);
    const spheres_proven proven = spheres_prove(&pair);
    /* State and contact as the solver of spheres proves them. */
    const wf limit = w_load(in[IN_LIMIT] + at), reach = pair.radius + w_load(in[IN_MARGIN] + at);
    const wm at_rest = w_eq(pair.v_size, zero), ahead = w_eq(proven.state, w_f(STATE_APPROACHING));
    const wm contact = w_or(w_eq(proven.state, w_f(STATE_TOUCHING)), w_eq(proven.state, w_f(STATE_OVERLAPPING)));

    /* Pairs at rest that may be within the margin; pairs whose sign or time is not certain. */
    const wf margin_square = w3_dot(pair.d, pair.d) - reach * reach,
             margin_square_error = W_EPS(16.0) * (pair.d_size * pair.d_size + reach * reach);
    const wm miss = w_eq(proven.state, w_f(STATE_MISS)),
             close = w_and(w_and(at_rest, miss), w_le(margin_square, margin_square_error));
    const wf dot = w3_dot(pair.d, pair.v), dot_error = W_EPS(16.0) * pair.d_size * pair.v_size;
    const wm undecided =
        w_or(w_or(w_and(ahead, w_eq(proven.u_first, limit)), w_and(close, w_le(-margin_square_error, margin_square))),
             w_and(contact, w_and(w_not(at_rest), w_le(w_abs(dot), dot_error))));

    /* The answers, with NaN as the time of undecided pairs. */
    const wm hit = w_or(contact, w_and(ahead, w_lt(proven.u_first, limit)));
    const wf state = w_sel(close, w_f(STATE_NEAR), w_sel(hit, proven.state, w_f(STATE_MISS)));
    const wf t = w_sel(hit, w_sel(ahead, proven.u_first, zero), inf), certain = w_sel(undecided, zero / zero, t);
    w_store((G real *)out[OUT_CLOUD_T] + at, w_sel(w_eq(proven.u_first, proven.u_first), certain, proven.u_first));
    w_store_u8((G u8 *)out[OUT_CLOUD_STATE] + at, state);
    w_store_u8((G u8 *)out[OUT_CLOUD_PARTS] + at, w_sel(w_lt(zero, dot), one, zero));
}

/* Columns in, filter, columns out, for each half of the lanes. */
FN void pairs_cloud_exact(in_columns in, out_columns out, size_t i)
{
    LANG_UNROLL
    for (int first_lane = 0; first_lane < LANES; first_lane += WIDE)
        cloud_prove(in, out, i + (size_t)first_lane);
}
#endif
#endif
#endif
