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

/* Corners relative to the centre, edges, and the largest magnitude. */
FN closest_relative closest_relate(closest_in in)
{
    closest_relative relative;
    relative.a = v3_sub(in.p0, in.center);
    relative.b = v3_sub(in.p1, in.center);
    relative.c = v3_sub(in.p2, in.center);
    relative.e01 = v3_sub(in.p1, in.p0);
    relative.e12 = v3_sub(in.p2, in.p1);
    relative.e02 = v3_sub(in.p2, in.p0);
    relative.size = vi_max(vi_max(v3_magnitude(relative.a), v3_magnitude(relative.b)), v3_magnitude(relative.c));
    return relative;
}

/* Lanes in which no input is NaN or infinite. */
FN vm closest_is_finite(closest_in in)
{
    return v_and(v_and(v3_finite(in.center), v3_finite(in.p0)), v_and(v3_finite(in.p1), v3_finite(in.p2)));
}

/* Scales inputs whose differences would overflow. They are rare, so the caller branches. (Into a struct of its own:
 * Mesa 22.3 lets a function that changes its copy of one change the caller's.) */
FN closest_relative closest_rescue(closest_in in, vf factor)
{
    closest_in scaled;
    scaled.center = v3_mul(in.center, factor);
    scaled.p0 = v3_mul(in.p0, factor);
    scaled.p1 = v3_mul(in.p1, factor);
    scaled.p2 = v3_mul(in.p2, factor);
    return closest_relate(scaled);
}

/* On a sliver, weights are imprecise along its length. So the foot is corrected along the longer edge from P0, within
 * the triangle. Across the sliver there is no room for errors. */
FN nearest_inner closest_refine_foot(nearest_inner face, v3 a, v3 e01, v3 e02)
{
    const vf zero = v_f(R(0.0)), one = v_f(R(1.0)), square1 = v3_dot(e01, e01), square2 = v3_dot(e02, e02);
    const vm e01_is_longer = v_lt(square2, square1);
    /* Projects the foot's offset to the longer edge, and keeps the weight within the triangle. */
    const vf step = v3_dot(face.foot, v3_sel(e01_is_longer, e01, e02)) / v_sel(e01_is_longer, square1, square2);
    const vf weight = v_sel(e01_is_longer, face.w1, face.w2) - step,
             other_weight = v_sel(e01_is_longer, face.w2, face.w1);
    const vf corrected = v_max(v_min(weight, one - other_weight), zero);
    face.w1 = v_sel(e01_is_longer, corrected, face.w1);
    face.w2 = v_sel(e01_is_longer, face.w2, corrected);
    face.foot = v3_add(a, v3_add(v3_mul(e01, face.w1), v3_mul(e02, face.w2)));
    return face;
}

/* The closest point relative to the centre, in scaled units, and the candidates that it was chosen from. */
typedef struct closest_solution {
    closest_relative relative;
    nearest nearest;       /* the closest point */
    nearest_border border; /* candidates on corners and edges */
    nearest_sides sides;   /* tell whether there is a candidate on the face */
    nearest_inner inner;   /* candidate on the face, after closest_add_face() */
    vi unit;               /* exponent of the unit of the scaled lengths */
    vf unscale;            /* factor that undoes closest_rescue */
    vm valid;
} closest_solution;

/* The nearest of the candidates on corners and edges, with all lengths scaled to about 1. */
FN void closest_choose_border(closest_solution *solution, vf scale)
{
    const v3 a = v3_mul(solution->relative.a, scale), b = v3_mul(solution->relative.b, scale),
             c = v3_mul(solution->relative.c, scale);
    const v3 e01 = v3_mul(solution->relative.e01, scale), e12 = v3_mul(solution->relative.e12, scale),
             e02 = v3_mul(solution->relative.e02, scale);
    solution->border = nearest_on_border(a, b, c, e01, e12, e02);
    solution->nearest = nearest_of_border(&solution->border);
    solution->sides = nearest_sides_of(a, b, e01, e12, e02);
}

/* Adds the candidate on the face. Changes nothing where the foot on the plane is outside the triangle. */
FN void closest_add_face(closest_solution *solution)
{
    const vf scale = v_scale_down(solution->unit);
    const v3 a = v3_mul(solution->relative.a, scale), e01 = v3_mul(solution->relative.e01, scale),
             e02 = v3_mul(solution->relative.e02, scale);
    solution->inner = closest_refine_foot(nearest_on_face(a, e01, e02, solution->sides), a, e01, e02);
    solution->nearest = nearest_of_all(solution->nearest, solution->inner);
}

/* The closest points of the borders alone; `inner` is not set. Lanes whose inputs are so large that squares could
 * overflow are solved at 2^-8 of their scale; `unscale` undoes that. */
FN closest_solution closest_border_of(closest_in in)
{
    const vf one = v_f(R(1.0));
    closest_solution solution;
    solution.relative = closest_relate(in);
    solution.unscale = one;
    const vm is_big = v_not(vi_gt(v_i(R_BIG_BITS), solution.relative.size));
    solution.valid = v_eq(one, one);
    if (v_any(is_big)) {
        solution.valid = closest_is_finite(in);
        solution.unscale = v_sel(is_big, v_f(R(0x1p8)), one);
        solution.relative = closest_rescue(in, v_sel(is_big, v_f(R(0x1p-8)), one));
    }
    solution.unit = v_exponent(solution.relative.size);
    closest_choose_border(&solution, v_scale_down(solution.unit));
    return solution;
}

/* The closest points of the triangles. */
FN closest_solution closest_solution_of(closest_in in)
{
    closest_solution solution = closest_border_of(in);
    closest_add_face(&solution);
    return solution;
}

/* The distance in the caller's unit, and the closest point as weights. */
FN closest_found closest_found_of(const closest_solution *solution)
{
    closest_found found;
    found.distance = (v_sqrt(solution->nearest.distance2) * v_from_bits(solution->unit)) * solution->unscale;
    found.at = solution->nearest.at;
    found.valid = solution->valid;
    return found;
}

/* Distance and closest point of a triangle, as weights. */
FN closest_found closest_find(closest_in in)
{
    const closest_solution solution = closest_solution_of(in);
    return closest_found_of(&solution);
}

/* The closest point in space: exact at a corner, like the contact point of a sweep. */
FN closest_out closest_output(closest_in in, closest_found found)
{
    const vf zero = v_f(R(0.0));
    sweep_in corners;
    corners.center = corners.velocity = corners.w = corners.u = in.center;
    corners.radius = zero;
    corners.p0 = in.p0;
    corners.p1 = in.p1;
    corners.p2 = in.p2;
    const v3 point = sweep_foot_point(corners, sweep_foot_of(corners, found.at), zero, found.valid, TRIANGLE_AT_REST);
    closest_out out;
    out.point = v3_of(v_positive_zero(point.x), v_positive_zero(point.y), v_positive_zero(point.z));
    out.feature = vi_sel(found.valid, found.at.feature, v_i(FEATURE_NONE));
    return out;
}

/* The closest point of a triangle to a centre. */
FN closest_out closest(closest_in in)
{
    return closest_output(in, closest_find(in));
}
#endif
