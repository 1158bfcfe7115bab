/* SPDX-License-Identifier: MIT */
/* Closest point of a triangle to the origin: candidates on its corners, edges and face, of which the nearest wins.
 *
 * Source: Ericson, Real-Time Collision Detection, 5.1.5, rearranged so that every candidate is a convex combination of
 * the vertices: a rounding error can then pick a neighbouring point of the triangle, never one outside it. Ties go to
 * the first of V0 V1 V2 E01 E12 E20 F. Degenerate triangles need no special case: their face never wins. */
#ifndef CAROM_NEAREST_H
#define CAROM_NEAREST_H
#include "vec.h"
#include "layout.h"

/* A point of the triangle: barycentric weights of P1 and P2 (P0 has the rest) and the feature that holds the point. */
typedef struct barycentric {
    vf w1, w2;
    vi feature;
} barycentric;

typedef struct nearest {
    v3 point;
    vf distance2;
    barycentric at;
} nearest;

/* Lane by lane: a where m, else b. */
FN nearest nearest_sel(vm m, nearest a, nearest b)
{
    nearest result;
    result.point = v3_sel(m, a.point, b.point);
    result.distance2 = v_sel(m, a.distance2, b.distance2);
    result.at.w1 = v_sel(m, a.at.w1, b.at.w1);
    result.at.w2 = v_sel(m, a.at.w2, b.at.w2);
    result.at.feature = vi_sel(m, a.at.feature, b.at.feature);
    return result;
}

/* A candidate: a point relative to the origin, and its weights and feature. */
FN nearest nearest_of(v3 point, vf w1, vf w2, int feature)
{
    nearest result;
    result.point = point;
    result.distance2 = v3_dot(point, point);
    result.at.w1 = w1;
    result.at.w2 = w2;
    result.at.feature = v_i(feature);
    return result;
}

/* The nearer of two candidates, the first if they tie. */
FN nearest nearest_nearer(nearest best, nearest next)
{
    return nearest_sel(v_lt(next.distance2, best.distance2), next, best);
}

/* Foot of the origin on the line of an edge, as the weight of the edge's far end. A weight outside (0, 1), or NaN, is
 * not on the edge. */
FN vf nearest_foot(v3 begin, v3 edge)
{
    return -v3_dot(begin, edge) / v3_dot(edge, edge);
}

/* Candidates on the border: the closest corner, the feet on the lines of the edges, and whether each foot is on its
 * edge. */
typedef struct nearest_border {
    nearest corner, edge[3];
    vm on[3];
} nearest_border;

/* a, b, c: the corners relative to the origin, and the edges between them, all scaled to about 1. */
FN nearest_border nearest_on_border(v3 a, v3 b, v3 c, v3 e01, v3 e12, v3 e02)
{
    const vf zero = v_f(R(0.0)), one = v_f(R(1.0));
    nearest_border border;
    border.corner = nearest_of(a, zero, zero, FEATURE_V0);
    border.corner = nearest_nearer(border.corner, nearest_of(b, one, zero, FEATURE_V1));
    border.corner = nearest_nearer(border.corner, nearest_of(c, zero, one, FEATURE_V2));

    const vf weight01 = nearest_foot(a, e01), weight12 = nearest_foot(b, e12), weight20 = nearest_foot(a, e02);
    border.edge[0] = nearest_of(v3_add(a, v3_mul(e01, weight01)), weight01, zero, FEATURE_E01);
    border.edge[1] = nearest_of(v3_add(b, v3_mul(e12, weight12)), one - weight12, weight12, FEATURE_E12);
    border.edge[2] = nearest_of(v3_add(a, v3_mul(e02, weight20)), zero, weight20, FEATURE_E20);
    border.on[0] = v_within(zero, weight01, one);
    border.on[1] = v_within(zero, weight12, one);
    border.on[2] = v_within(zero, weight20, one);
    return border;
}

/* The nearest candidate of the border. */
FN nearest nearest_of_border(const nearest_border *border)
{
    nearest best = border->corner;
    LANG_UNROLL
    for (int i = 0; i < 3; i++)
        best =
            nearest_sel(v_and(border->on[i], v_lt(border->edge[i].distance2, best.distance2)), border->edge[i], best);
    return best;
}

/* The edge functions of two edges and the sum of all three, at the foot on the plane. Each edge function, over the sum,
 * is the weight of the opposite corner. All of them use the same normal, so its rounding does not matter. */
typedef struct nearest_sides {
    vf side01, side20, sum;
    vm inside; /* the foot is inside the triangle */
} nearest_sides;

FN nearest_sides nearest_sides_of(v3 a, v3 b, v3 e01, v3 e12, v3 e02)
{
    const vf zero = v_f(R(0.0));
    const v3 normal = v3_cross(e01, e02);
    const vf side12 = -v3_dot(v3_cross(normal, e12), b);
    nearest_sides sides;
    sides.side01 = -v3_dot(v3_cross(normal, e01), a);
    sides.side20 = v3_dot(v3_cross(normal, e02), a);
    sides.sum = sides.side01 + side12 + sides.side20;
    sides.inside = v_and(v_and(v_ge(sides.side01, zero), v_ge(side12, zero)),
                         v_and(v_ge(sides.side20, zero), v_gt(sides.sum, zero)));
    return sides;
}

/* Candidate on the face: the foot on the plane, its weights, and whether it is inside the triangle. */
typedef struct nearest_inner {
    v3 foot;
    vf w1, w2;
    vm inside;
} nearest_inner;

FN nearest_inner nearest_on_face(v3 a, v3 e01, v3 e02, nearest_sides sides)
{
    nearest_inner face;
    face.w1 = sides.side20 / sides.sum;
    face.w2 = sides.side01 / sides.sum;
    face.foot = v3_add(a, v3_add(v3_mul(e01, face.w1), v3_mul(e02, face.w2)));
    face.inside = sides.inside;
    return face;
}

/* The nearest of all candidates. border: the nearest of the others. */
FN nearest nearest_of_all(nearest border, nearest_inner face)
{
    const nearest on_face = nearest_of(face.foot, face.w1, face.w2, FEATURE_FACE);
    return nearest_sel(v_and(face.inside, v_lt(on_face.distance2, border.distance2)), on_face, border);
}

/* a: vertex P0, e01 and e02 its edges, all relative to the origin and scaled to about 1. */
FN nearest nearest_on_triangle(v3 a, v3 e01, v3 e02)
{
    const v3 b = v3_add(a, e01), e12 = v3_sub(e02, e01);
    const nearest_border border = nearest_on_border(a, b, v3_add(a, e02), e01, e12, e02);
    return nearest_of_all(nearest_of_border(&border),
                          nearest_on_face(a, e01, e02, nearest_sides_of(a, b, e01, e12, e02)));
}
#endif
