/* SPDX-License-Identifier: MIT */
/* Distance from a centre to a triangle, and its closest point. The corners are taken relative to the centre and scaled
 * by a power of two for nearest.h, so that no square leaves the range and no epsilon is needed. */
#ifndef CAROM_CLOSEST_H
#define CAROM_CLOSEST_H
#include "sweep.h"

typedef struct closest_in {
    v3 center, p0, p1, p2;
} closest_in;

typedef struct closest_out {
    v3 point;
    vi feature;
} closest_out;

/* The triangle relative to the centre. Each corner has its own difference, so triangles that share a corner agree about
 * it. */
typedef struct closest_relative {
    v3 a, b, c, e01, e12, e02;
    vi size; /* largest magnitude among the corners; edges are at most twice as large */
} closest_relative;

typedef struct closest_found {
    vf distance;
    barycentric at;
    vm valid;
} closest_found;

FN closest_relative closest_relate(closest_in in)
{
    closest_relative x;
    x.a = v3_sub(in.p0, in.center);
    x.b = v3_sub(in.p1, in.center);
    x.c = v3_sub(in.p2, in.center);
    x.e01 = v3_sub(in.p1, in.p0);
    x.e12 = v3_sub(in.p2, in.p1);
    x.e02 = v3_sub(in.p2, in.p0);
    x.size = vi_max(vi_max(v3_magnitude(x.a), v3_magnitude(x.b)), v3_magnitude(x.c));
    return x;
}

FN vm closest_is_finite(closest_in in)
{
    return v_and(v_and(v3_finite(in.center), v3_finite(in.p0)), v_and(v3_finite(in.p1), v3_finite(in.p2)));
}

/* Scales inputs whose differences would overflow. They are rare, so the caller branches. (Into a struct of its own:
 * Mesa 22.3 lets a function that changes its copy of one change the caller's.) */
FN closest_relative closest_rescue(closest_in in, vf small)
{
    closest_in scaled;
    scaled.center = v3_mul(in.center, small);
    scaled.p0 = v3_mul(in.p0, small);
    scaled.p1 = v3_mul(in.p1, small);
    scaled.p2 = v3_mul(in.p2, small);
    return closest_relate(scaled);
}

/* On a sliver, weights are imprecise along its length. So the foot is corrected along the longer edge from P0, within
 * the triangle. Across the sliver there is no room for errors. */
FN nearest_inner closest_refine_foot(nearest_inner f, v3 a, v3 e01, v3 e02)
{
    const vf zero = v_f(R(0.0)), one = v_f(R(1.0)), square1 = v3_dot(e01, e01), square2 = v3_dot(e02, e02);
    const vm first = v_lt(square2, square1);
    const vf step = v3_dot(f.foot, v3_sel(first, e01, e02)) / v_sel(first, square1, square2);
    const vf w = v_sel(first, f.w1, f.w2) - step, other = v_sel(first, f.w2, f.w1);
    const vf moved = v_max(v_min(w, one - other), zero);
    f.w1 = v_sel(first, moved, f.w1);
    f.w2 = v_sel(first, f.w2, moved);
    f.foot = v3_add(a, v3_add(v3_mul(e01, f.w1), v3_mul(e02, f.w2)));
    return f;
}

/* The closest point relative to the centre, in scaled units, and the candidates that it was chosen from. */
typedef struct closest_solution {
    closest_relative x;
    nearest near;
    nearest_border border;
    nearest_inner inner;
    vi unit; /* exponent of the unit of the scaled lengths */
    vf back; /* factor that undoes closest_rescue */
    vm valid;
} closest_solution;

FN void closest_choose(closest_solution *s, vf scale)
{
    const v3 a = v3_mul(s->x.a, scale), b = v3_mul(s->x.b, scale), c = v3_mul(s->x.c, scale);
    const v3 e01 = v3_mul(s->x.e01, scale), e12 = v3_mul(s->x.e12, scale), e02 = v3_mul(s->x.e02, scale);
    s->border = nearest_on_border(a, b, c, e01, e12, e02);
    s->inner = closest_refine_foot(nearest_on_face(a, b, e01, e12, e02), a, e01, e02);
    s->near = nearest_of_all(&s->border, s->inner);
}

/* Lanes whose inputs are so large that squares could overflow are solved at 2^-8 of their scale; `back` undoes that. */
FN closest_solution closest_solution_of(closest_in in)
{
    const vf one = v_f(R(1.0));
    closest_solution s;
    s.x = closest_relate(in);
    s.back = one;
    const vm big = v_not(vi_gt(v_i(R_BIG_BITS), s.x.size));
    s.valid = v_eq(one, one);
    if (v_any(big)) {
        s.valid = closest_is_finite(in);
        s.back = v_sel(big, v_f(R(0x1p8)), one);
        s.x = closest_rescue(in, v_sel(big, v_f(R(0x1p-8)), one));
    }
    s.unit = v_exponent(s.x.size);
    closest_choose(&s, v_scale_down(s.unit));
    return s;
}

FN closest_found closest_found_of(const closest_solution *s)
{
    closest_found f;
    f.distance = (v_sqrt(s->near.distance2) * v_from_bits(s->unit)) * s->back;
    f.at = s->near.at;
    f.valid = s->valid;
    return f;
}

FN closest_found closest_find(closest_in in)
{
    const closest_solution s = closest_solution_of(in);
    return closest_found_of(&s);
}

FN closest_out closest_output(closest_in in, closest_found f)
{
    const vf zero = v_f(R(0.0));
    sweep_in corners;
    corners.center = corners.velocity = corners.w = in.center;
    corners.radius = zero;
    corners.p0 = in.p0;
    corners.p1 = in.p1;
    corners.p2 = in.p2;
    const v3 point = sweep_foot_point(corners, sweep_foot_of(corners, f.at), zero, f.valid, 0);
    closest_out out;
    out.point = v3_of(v_positive_zero(point.x), v_positive_zero(point.y), v_positive_zero(point.z));
    out.feature = vi_sel(f.valid, f.at.feature, v_i(FEATURE_NONE));
    return out;
}

FN closest_out closest(closest_in in)
{
    return closest_output(in, closest_find(in));
}
#endif
