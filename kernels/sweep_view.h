/* SPDX-License-Identifier: MIT */
/* Preparation of a sweep for the solver: differences of the inputs, scaled so that nothing overflows, and the triangle
 * in a frame whose third axis is the relative motion: the view. docs/numerics.md, sections 1 to 4. */
#ifndef CAROM_SWEEP_VIEW_H
#define CAROM_SWEEP_VIEW_H
#include "vec.h"

typedef struct sweep_in {
    v3 center, velocity;
    vf radius;
    v3 p0, p1, p2, w;
} sweep_in;

typedef struct sweep_out {
    vf t_first, t_last;
    vi state;
    v3 point_first, point_last;
    vi feature_first, feature_last;
} sweep_out;

/* Which outputs to compute. The value is a constant at every call, so the compiler removes the rest. */
#define SWEEP_FIRST 0 /* t_first */
#define SWEEP_TIMES 1 /* both times and the state */
#define SWEEP_FULL 2  /* and points and features */

/* Differences of the inputs: the solver computes with these alone. */
typedef struct sweep_relative {
    v3 d, d_error; /* centre - P0, and its rounding error */
    v3 e01, e02;
    v3 v;      /* relative velocity */
    vi size;   /* largest magnitude among edges and radius */
    vi length; /* largest magnitude among edges, radius and d */
    vi speed;
} sweep_relative;

FN sweep_relative sweep_relate(sweep_in in, int moving)
{
    sweep_relative x;
    x.d = v3_sub(in.center, in.p0);
    x.d_error = v3_sub_error(in.center, in.p0, x.d);
    x.e01 = v3_sub(in.p1, in.p0);
    x.e02 = v3_sub(in.p2, in.p0);
    x.v = moving ? v3_sub(in.velocity, in.w) : in.velocity;
    x.size = vi_max(vi_max(v3_magnitude(x.e01), v3_magnitude(x.e02)), v_magnitude(in.radius));
    x.length = vi_max(x.size, v3_magnitude(x.d));
    x.speed = v3_magnitude(x.v);
    return x;
}

FN vm sweep_is_finite(sweep_in in, int moving)
{
    vm ok = v_and(v_and(v3_finite(in.center), v3_finite(in.velocity)), v_finite(in.radius));
    ok = v_and(ok, v_and(v_and(v3_finite(in.p0), v3_finite(in.p1)), v3_finite(in.p2)));
    return moving ? v_and(ok, v3_finite(in.w)) : ok;
}

/* A query whose differences are in range: scaled by 2^-8 if they would overflow, by 2^32 if lengths are denormal. */
typedef struct sweep_query {
    sweep_in in;
    sweep_relative x;
    vf back; /* factor that undoes the scaling of lengths */
    vi time; /* exponent of the factor that undoes the scaling of times */
    vm valid;
} sweep_query;

/* Scales queries that are out of range. They are rare, so the caller branches. */
FN void sweep_rescue(sweep_query *q, int moving)
{
    const vm finite = sweep_is_finite(q->in, moving);
    const vm near = vi_gt(v_i(R_SMALL_BITS), q->x.length);
    const vm far = v_and(finite, v_not(vi_gt(v_i(R_BIG_BITS), q->x.length)));
    const vm fast = v_and(finite, v_not(vi_gt(v_i(R_BIG_BITS), q->x.speed)));
    const vf one = v_f(R(1.0)), small = v_f(R(0x1p-8));
    const vf length = v_sel(near, v_f(R(0x1p32)), v_sel(far, small, one)), speed = v_sel(fast, small, one);
    const vi none = v_i(0);
    q->valid = v_and(q->valid, finite);
    q->back = v_sel(near, v_f(R(0x1p-32)), v_sel(far, v_f(R(0x1p8)), one));
    q->time = vi_sel(near, v_i(-32), vi_sel(far, v_i(8), none)) - vi_sel(fast, v_i(8), none);
    q->in.center = v3_mul(q->in.center, length);
    q->in.radius = q->in.radius * length;
    q->in.p0 = v3_mul(q->in.p0, length);
    q->in.p1 = v3_mul(q->in.p1, length);
    q->in.p2 = v3_mul(q->in.p2, length);
    q->in.velocity = v3_mul(q->in.velocity, speed);
    if (moving)
        q->in.w = v3_mul(q->in.w, speed);
    q->x = sweep_relate(q->in, moving);
}

FN sweep_query sweep_prepare(sweep_in in, int moving)
{
    sweep_query q;
    q.in = in;
    q.x = sweep_relate(in, moving);
    q.back = v_f(R(1.0));
    q.time = v_i(0);
    q.valid = v_le(v_f(R(0.0)), in.radius);
    const vm too_large = v_not(vi_gt(v_i(R_BIG_BITS), vi_max(q.x.length, q.x.speed)));
    if (v_any(v_or(too_large, vi_gt(v_i(R_SMALL_BITS), q.x.length))))
        sweep_rescue(&q, moving);
    return q;
}

/* An orthonormal basis whose third axis is v / |v| (Duff et al., Building an Orthonormal Basis, Revisited). Divisions
 * and roots limit the throughput of the solver, so one division gives both 1 / |v| and 1 / (sign |v| + v.z). */
typedef struct sweep_basis {
    v3 s, w, u;
    vf per_speed;
} sweep_basis;

FN sweep_basis sweep_basis_of(v3 v)
{
    const vf sign = v_copysign_one(v.z), speed = v_sqrt(v3_dot(v, v));
    const vf sum = sign * speed + v.z;
    const vf both = v_f(R(1.0)) / (speed * sum);
    sweep_basis f;
    f.per_speed = both * sum;
    f.u = v3_mul(v, f.per_speed);
    const vf a = -(both * speed); /* -1 / (sign |v| + v.z) */
    const vf ax = v.x * a, ay = v.y * a;
    f.s = v3_of(v_f(R(1.0)) + sign * (f.u.x * ax), sign * (f.u.x * ay), -(sign * f.u.x));
    f.w = v3_of(f.u.x * ay, sign + f.u.y * ay, -f.u.y);
    return f;
}

/* Direction of a motion. All triangles at rest share the heading of the sphere. */
typedef struct sweep_heading {
    v3 v; /* relative velocity, scaled to about 1 */
    sweep_basis axes;
} sweep_heading;

FN sweep_heading sweep_heading_of(v3 velocity)
{
    sweep_heading h;
    h.v = v3_mul(velocity, v_scale_down(v_exponent(v3_magnitude(velocity))));
    h.axes = sweep_basis_of(h.v);
    return h;
}

/* The triangle seen along the motion, in units of 2^exponent(size). */
typedef struct sweep_view {
    vf qx, qy;        /* the line of centres, relative to P0 */
    vf h;             /* height of P0 above the start of local time */
    vf e0x, e0y, e0h; /* P1 - P0 */
    vf e2x, e2y, e2h; /* P2 - P0 */
    vf radius, radius2;
    vi unit, length; /* exponent fields of the largest length: among edges and radius; and the distance of P0 */
    vf noise;        /* error bound of the position of the line of centres relative to the triangle */
    vf start;        /* time, in scaled units, at which the centre has height 0 */
    vf time_per_height;
    sweep_basis axes;
    v3 v;           /* relative velocity, scaled to about 1 */
    v3 m, e01, e02; /* not rotated: centre at time `start` - P0; edges */
} sweep_view;

/* Moves the start of the motion next to P0, before any term is squared. The shift has 12 significant bits and the
 * velocity is split into two parts of 12 bits. So the products are exact, and a far start loses no precision. */
FN v3 sweep_shifted(v3 d, v3 d_error, v3 v, vf shift)
{
    const v3 head = v3_of(v_head(v.x), v_head(v.y), v_head(v.z));
    const v3 near = v3_add(d, v3_mul(head, shift));
    return v3_add(v3_add(near, v3_mul(v3_sub(v, head), shift)), d_error);
}

FN sweep_view sweep_view_of(sweep_relative x, vf radius, sweep_heading heading)
{
    const vi length = v_exponent(x.length);
    /* A triangle smaller than 2^-40 of its distance is a point within the rounding of the answer. A smaller unit would
     * push the distance out of range. */
    const vi unit = v_exponent(vi_max(x.size, length - (40 << R_EXPONENT_SHIFT)));
    const vf to_unit = v_scale_down(unit), to_length = v_scale_down(length);
    const v3 v = heading.v;
    const sweep_basis f = heading.axes;
    const v3 d = v3_mul(x.d, to_length);
    sweep_view k;
    k.start = v_head(-(v3_dot(d, f.u) * f.per_speed));
    v3 m = sweep_shifted(d, v3_mul(x.d_error, to_length), v, k.start);
    m = v3_mul(m, v_scale_ratio(length, unit));
    const v3 e01 = v3_mul(x.e01, to_unit), e02 = v3_mul(x.e02, to_unit);
    k.v = v;
    k.m = m;
    k.unit = unit;
    k.length = length;
    k.noise = v_f(R(0x1p-14)) + v_scale_ratio(length, unit) * v_f(R(0x1p-27));
    k.axes = f;
    k.e01 = e01;
    k.e02 = e02;
    k.qx = v3_dot(m, f.s);
    k.qy = v3_dot(m, f.w);
    k.h = -v3_dot(m, f.u);
    k.e0x = v3_dot(e01, f.s);
    k.e0y = v3_dot(e01, f.w);
    k.e0h = v3_dot(e01, f.u);
    k.e2x = v3_dot(e02, f.s);
    k.e2y = v3_dot(e02, f.w);
    k.e2h = v3_dot(e02, f.u);
    k.radius = radius * to_unit;
    k.radius2 = k.radius * k.radius;
    k.time_per_height = f.per_speed * v_scale_ratio(unit, length);
    return k;
}
#endif
