/* SPDX-License-Identifier: MIT */
/* Separating-axis test of a sphere against a triangle: the mask of the seven axes; overlapping is mask 0.
 *
 * Source: Ericson, Optimizing a sphere-triangle intersection test (signs corrected; ties and degenerate triangles by
 * docs/design.md). All positions are taken relative to the sphere's centre and scaled by a power of two, so nothing
 * overflows and no epsilon is needed. The edge tests use |A x e|^2 > r^2 |e|^2 in place of Ericson's foot points: one
 * degree lower, and no difference of squares. All tests of a triangle's side use the same rounded normal. So it cannot
 * happen that neither a sliver's edges nor its face separate. */
#ifndef CAROM_OVERLAP_H
#define CAROM_OVERLAP_H
#include "columns.h"
#include "layout.h"

typedef struct overlap_in {
    v3 center;
    vf radius;
    v3 p0, p1, p2;
} overlap_in;

typedef struct overlap_out {
    vi overlap, axes;
} overlap_out;

/* The triangle relative to the centre. */
typedef struct overlap_relative {
    v3 a, b, c;    /* vertices */
    v3 ab, bc, ca; /* edges */
    vi size;       /* largest magnitude */
} overlap_relative;

/* Corners relative to the centre, edges, and the largest magnitude. */
FN overlap_relative overlap_relate(overlap_in in)
{
    overlap_relative x;
    x.a = v3_sub(in.p0, in.center);
    x.b = v3_sub(in.p1, in.center);
    x.c = v3_sub(in.p2, in.center);
    x.ab = v3_sub(in.p1, in.p0);
    x.bc = v3_sub(in.p2, in.p1);
    x.ca = v3_sub(in.p0, in.p2);
    x.size = vi_max(vi_max(v3_magnitude(x.a), v3_magnitude(x.b)), vi_max(v3_magnitude(x.c), v_magnitude(in.radius)));
    return x;
}

/* Whether the line of an edge is farther than r from the centre. moment: corner x edge. */
FN vm overlap_line_far(v3 moment, vf length2, vf radius2)
{
    return v_lt(radius2 * length2, v3_dot(moment, moment));
}

/* A vertex separates if it is farther than r and both of its edges lead away from the centre. */
FN vm overlap_vertex(v3 a, vf radius2, vm away1, vm away2)
{
    return v_and(v_lt(radius2, v3_dot(a, a)), v_and(away1, away2));
}

/* The mask of the axes that separate sphere and triangle. radius: in the unit of the triangle. */
FN vi overlap_axes(overlap_relative triangle, vf radius)
{
    const vf zero = v_f(R(0.0)), r2 = radius * radius;
    const vf ab2 = v3_dot(triangle.ab, triangle.ab), bc2 = v3_dot(triangle.bc, triangle.bc),
             ca2 = v3_dot(triangle.ca, triangle.ca);
    /* An edge shorter than 2^-22 of the longest is a point within rounding and has no line of its own. A foot nearer to
     * a vertex than that is at the vertex. (2^-90: smaller squares leave the range.) */
    const vf longest2 = v_max(v_max(ab2, bc2), ca2);
    const vf least2 = v_max(longest2 * v_f(R(0x1p-44)), v_f(R(0x1p-90))), slack = -least2;
    const vm line_ab = v_le(least2, ab2), line_bc = v_le(least2, bc2), line_ca = v_le(least2, ca2);
    /* The normal is scaled on its own, so that a small triangle keeps its face. */
    v3 normal = v3_cross(triangle.ca, triangle.ab);
    normal = v3_mul(normal, v_scale_down(v_exponent(v3_magnitude(normal))));

    /* Edges: the line is far, and the centre is on its outer side. */
    const v3 moment_ab = v3_cross(triangle.a, triangle.ab), moment_bc = v3_cross(triangle.b, triangle.bc),
             moment_ca = v3_cross(triangle.c, triangle.ca);
    const vm far_ab = overlap_line_far(moment_ab, ab2, r2);
    const vm far_bc = overlap_line_far(moment_bc, bc2, r2);
    const vm far_ca = overlap_line_far(moment_ca, ca2, r2);
    const vm edge_ab = v_and(v_and(line_ab, far_ab), v_le(v3_dot(moment_ab, normal), zero));
    const vm edge_bc = v_and(v_and(line_bc, far_bc), v_le(v3_dot(moment_bc, normal), zero));
    const vm edge_ca = v_and(v_and(line_ca, far_ca), v_le(v3_dot(moment_ca, normal), zero));

    /* Corners: products of the corner with the edges that end there. */
    const vf a_ab = v3_dot(triangle.a, triangle.ab), a_ca = v3_dot(triangle.a, triangle.ca),
             b_ab = v3_dot(triangle.b, triangle.ab);
    const vf b_bc = v3_dot(triangle.b, triangle.bc), c_bc = v3_dot(triangle.c, triangle.bc),
             c_ca = v3_dot(triangle.c, triangle.ca);
    const vm vertex_a = overlap_vertex(triangle.a, r2, v_le(slack, a_ab), v_le(a_ca, least2));
    const vm vertex_b = overlap_vertex(triangle.b, r2, v_le(slack, b_bc), v_le(b_ab, least2));
    const vm vertex_c = overlap_vertex(triangle.c, r2, v_le(slack, c_ca), v_le(c_bc, least2));

    /* Distance to the plane, from the foot on AB, because the offset of the foot is short where the decision is close.
     * From a far vertex the rounding of a sliver's normal would be multiplied by the sliver's length. A plane separates
     * only if the lines in it do. For the line AB this holds by construction; if AB is the short edge of a needle, CA
     * is a long one. */
    const v3 foot = v3_sub(triangle.a, v3_mul(triangle.ab, a_ab / v_max(ab2, least2)));
    const vf height = v3_dot(foot, normal);
    const vm plane = v_and(v_lt(r2 * v3_dot(normal, normal), height * height), v_or(far_ca, v_not(line_ca)));

    const vi none = v_i(0);
    return (vi_sel(plane, v_i(AXIS_OF_FACE), none) | vi_sel(edge_ab, v_i(AXIS_OF_E01), none)) |
           (vi_sel(edge_bc, v_i(AXIS_OF_E12), none) | vi_sel(edge_ca, v_i(AXIS_OF_E20), none)) |
           (vi_sel(vertex_a, v_i(AXIS_OF_V0), none) | vi_sel(vertex_b, v_i(AXIS_OF_V1), none)) |
           vi_sel(vertex_c, v_i(AXIS_OF_V2), none);
}

/* Lanes in which no input is NaN or infinite. */
FN vm overlap_is_finite(overlap_in in)
{
    const vm sphere_is_finite = v_and(v3_finite(in.center), v_finite(in.radius));
    return v_and(sphere_is_finite, v_and(v_and(v3_finite(in.p0), v3_finite(in.p1)), v3_finite(in.p2)));
}

/* Answers LANES pairs in fast mode. */
FN overlap_out overlap(overlap_in in)
{
    overlap_relative triangle = overlap_relate(in);
    vm valid = v_le(v_f(R(0.0)), in.radius);
    /* Differences that would overflow: rare, so under a branch. An edge is at most twice the size. */
    const vm is_big = v_not(vi_gt(v_i(R_BIG_BITS), triangle.size));
    if (v_any(is_big)) {
        const vf factor = v_sel(is_big, v_f(R(0x1p-8)), v_f(R(1.0)));
        valid = v_and(valid, overlap_is_finite(in));
        in.center = v3_mul(in.center, factor);
        in.radius = in.radius * factor;
        in.p0 = v3_mul(in.p0, factor);
        in.p1 = v3_mul(in.p1, factor);
        in.p2 = v3_mul(in.p2, factor);
        triangle = overlap_relate(in);
    }
    /* The triangle scaled to a size of about 1. */
    const vf scale = v_scale_down(v_exponent(triangle.size));
    triangle.a = v3_mul(triangle.a, scale);
    triangle.b = v3_mul(triangle.b, scale);
    triangle.c = v3_mul(triangle.c, scale);
    triangle.ab = v3_mul(triangle.ab, scale);
    triangle.bc = v3_mul(triangle.bc, scale);
    triangle.ca = v3_mul(triangle.ca, scale);
    const vi axes = overlap_axes(triangle, in.radius * scale);
    overlap_out out;
    out.axes = vi_sel(valid, axes, v_i(OVERLAP_INVALID));
    out.overlap = vi_sel(valid, vi_sel(vi_eq(axes, v_i(0)), v_i(1), v_i(0)), v_i(OVERLAP_INVALID));
    return out;
}

/* Loads LANES pairs from their columns. */
FN overlap_in load_overlap(in_columns in, size_t i)
{
    overlap_in query;
    query.center = load3(in, IN_OCX, i);
    query.radius = v_load(in[IN_OR] + i);
    query.p0 = load3(in, IN_OP0X, i);
    query.p1 = load3(in, IN_OP1X, i);
    query.p2 = load3(in, IN_OP2X, i);
    return query;
}

/* Columns in, solver, columns out. */
FN void pairs_overlap(in_columns in, out_columns out, size_t i)
{
    const overlap_out answer = overlap(load_overlap(in, i));
    store_u8(out, OUT_OVERLAP, i, answer.overlap);
    store_u8(out, OUT_AXES, i, answer.axes);
}
#endif
