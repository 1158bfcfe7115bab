/* SPDX-License-Identifier: MIT */
/* Sweep of two moving spheres over the normalised time u.
 *
 * Source: Gomez, Simple Intersection Tests for Games (2.1), over the whole real line and with an answer for spheres
 * without relative motion. The start is moved to the nearest approach before anything is squared, so the quadratic is
 * u = nearest -+ sqrt(r^2 - distance^2) / speed and nothing cancels; see docs/numerics.md. */
#ifndef CAROM_SPHERES_H
#define CAROM_SPHERES_H
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

/* (a1 - a0) - (b1 - b0) with the rounding errors of all three differences put back: two spheres that move almost alike
 * keep their small relative motion. */
FN v3 spheres_motion(spheres_in in)
{
    const v3 a = v3_sub(in.a1, in.a0), b = v3_sub(in.b1, in.b0), v = v3_sub(a, b);
    const v3 lost = v3_sub(v3_sub_error(in.a1, in.a0, a), v3_sub_error(in.b1, in.b0, b));
    return v3_add(v, v3_add(v3_sub_error(a, b, v), lost));
}

FN spheres_relative spheres_relate(spheres_in in)
{
    spheres_relative x;
    x.d = v3_sub(in.a0, in.b0);
    x.d_error = v3_sub_error(in.a0, in.b0, x.d);
    x.v = spheres_motion(in);
    x.radius = in.radius_a + in.radius_b;
    x.length = vi_max(v3_magnitude(x.d), v_magnitude(x.radius));
    x.speed = v3_magnitude(x.v);
    return x;
}

FN vm spheres_are_finite(spheres_in in)
{
    const vm a = v_and(v3_finite(in.a0), v3_finite(in.a1)), b = v_and(v3_finite(in.b0), v3_finite(in.b1));
    return v_and(v_and(a, b), v_and(v_finite(in.radius_a), v_finite(in.radius_b)));
}

/* Scales pairs that would overflow. Rare, so the caller branches. Lengths and displacements are scaled alike, so u
 * stays. */
FN void spheres_rescue(spheres_in *in, spheres_relative *x, vm *valid, vm big)
{
    const vf small = v_sel(big, v_f(R(0x1p-8)), v_f(R(1.0)));
    *valid = v_and(*valid, spheres_are_finite(*in));
    in->a0 = v3_mul(in->a0, small);
    in->a1 = v3_mul(in->a1, small);
    in->b0 = v3_mul(in->b0, small);
    in->b1 = v3_mul(in->b1, small);
    in->radius_a = in->radius_a * small;
    in->radius_b = in->radius_b * small;
    *x = spheres_relate(*in);
}

FN spheres_out spheres_solve(spheres_relative x)
{
    const vf zero = v_f(R(0.0)), inf = v_infinity();
    const vi length = v_exponent(x.length), speed = v_exponent(x.speed);
    const vf to_length = v_scale_down(length);
    const v3 v = v3_mul(x.v, v_scale_down(speed)), d = v3_mul(x.d, to_length);
    const vf per_speed = v_f(R(1.0)) / v_sqrt(v3_dot(v, v)), radius = x.radius * to_length;
    const v3 u = v3_mul(v, per_speed);
    const vf start = v_head(-(v3_dot(d, u) * per_speed));
    const v3 m = sweep_shifted(d, v3_mul(x.d_error, to_length), v, start);
    const vf rest = v3_dot(m, u);
    const v3 beside = v3_sub(m, v3_mul(u, rest));
    const vf left = radius * radius - v3_dot(beside, beside);
    const vf chord = v_sqrt(left);
    const vf first = start - (rest + chord) * per_speed, last = start - (rest - chord) * per_speed;
    const vm hit = v_le(zero, left), still = vi_eq(x.speed, v_i(0));
    const v_pow2 unit = v_pow2_of((length - speed) >> R_EXPONENT_SHIFT);
    const sweep_rest r = sweep_at_rest(v3_dot(d, d), radius * radius);

    spheres_out out;
    out.u_first = v_sel(still, r.first, v_sel(hit, v_positive_zero(v_ldexp(first, unit)), inf));
    out.u_last = v_sel(still, r.last, v_sel(hit, v_positive_zero(v_ldexp(last, unit)), -inf));
    out.state = vi_sel(still, r.state, vi_sel(hit, sweep_state(first, last), v_i(STATE_MISS)));
    return out;
}

FN spheres_out spheres(spheres_in in)
{
    const vf zero = v_f(R(0.0)), inf = v_infinity();
    spheres_relative x = spheres_relate(in);
    vm valid = v_and(v_le(zero, in.radius_a), v_le(zero, in.radius_b));
    const vm big = v_not(vi_gt(v_i(R_BIG_BITS), vi_max(x.length, x.speed)));
    if (v_any(big))
        spheres_rescue(&in, &x, &valid, big);
    spheres_out out = spheres_solve(x);
    out.u_first = v_sel(valid, out.u_first, inf);
    out.u_last = v_sel(valid, out.u_last, -inf);
    out.state = vi_sel(valid, out.state, v_i(STATE_INVALID));
    return out;
}
#endif
