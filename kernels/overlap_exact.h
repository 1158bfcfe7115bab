/* SPDX-License-Identifier: MIT */
/* Separating-axis test in exact mode, first rung: a floating-point filter in binary32 for each of the seven bits.
 *
 * Every test is a quantity with a bound of its rounding error. Beyond the bound its sign is certain; within the bound
 * the test is undecided. A bit is the conjunction of its tests, so one test that certainly fails clears the bit. If a
 * bit stays undecided, the pair is OVERLAP_UNDECIDED, and the second rung decides it in integers. No constant here is
 * tuned: where overlap.h may guess (slack, short edges, slivers), this text has proofs. docs/exact.md derives the
 * bounds.
 *
 * Corners have one unit and edges another, so that a small triangle far away loses no precision. L is a bound of the
 * corners' lengths, E of the edges': 1 + x / 4 >= sqrt(x) saves two roots. n comes from the two shorter edges, D is the
 * product of their lengths. With eps = 2^-24, rounding moves
 *
 *     A.AB         by 5 eps L E                   three roundings in a product, two sums
 *     M = A x AB   by 4.47 eps L |AB|             3 eps of |products|, in all <= 1.155 |A| |AB|, and 1 of M
 *     n = AB x CA  by 4.47 eps D                  likewise
 *     M.n          by eps L |AB| (7.47 |n| + 4.47 D)
 *     n.A          by eps L (4 |n| + 4.47 D)
 *
 * The constants in the text are a few per cent larger. That pays for second orders, for the rounding of the bounds
 * themselves and for underflow. */
#ifndef CAROM_OVERLAP_EXACT_H
#define CAROM_OVERLAP_EXACT_H
#include "overlap.h"

/* Result of a test: whether it certainly holds, and whether it may hold. */
typedef struct overlap_verdict {
    vm certain, may;
} overlap_verdict;

/* The test x > 0 for an x with an error: above `certain` it holds, above `may` it may hold. */
FN overlap_verdict overlap_above(vf x, vf certain, vf may)
{
    overlap_verdict verdict;
    verdict.certain = v_lt(certain, x);
    verdict.may = v_le(may, x);
    return verdict;
}

/* The conjunction of two tests. */
FN overlap_verdict overlap_both(overlap_verdict a, overlap_verdict b)
{
    overlap_verdict verdict;
    verdict.certain = v_and(a.certain, b.certain);
    verdict.may = v_and(a.may, b.may);
    return verdict;
}

/* Two thresholds of one quantity: above the first a test certainly holds, above the second it may hold. */
typedef struct overlap_gap {
    vf certain, may;
} overlap_gap;

/* Thresholds and error bounds of all tests of a triangle. */
typedef struct overlap_bounds {
    overlap_gap radius2; /* thresholds of A.A and of M.M / AB^2 */
    overlap_gap plane;   /* thresholds of |n.A| */
    vf dot, side;        /* errors of A.AB, and of M.n over the extent of AB */
} overlap_bounds;

/* Bounds for a triangle: the radius in the corners' unit; squared lengths of the corners, of the longest edge, of n,
 * and D^2 as d2. */
FN overlap_bounds overlap_bound(vf radius, v3 corner2, vf edge2, vf normal2, vf d2)
{
    const vf one = v_f(R(1.0)), quarter = v_f(R(0.25));
    const vf normal = v_sqrt(normal2), edge_product = v_sqrt(d2);
    const vf corner_length = one + v_max(v_max(corner2.x, corner2.y), corner2.z) * quarter;
    const vf edge_length = one + edge2 * quarter;
    overlap_bounds bounds;
    /* The thresholds differ from r by the error of M or n.A, plus 6 eps of r for the squares and products of the
     * comparison. A.A needs less. */
    const vf slack = corner_length * v_f(R(0x5p-24)) + radius * v_f(R(0x7.8p-24));
    const vf outer = radius + slack, inner = v_max(radius - slack, v_f(R(0.0)));
    bounds.radius2.certain = outer * outer;
    bounds.radius2.may = inner * inner;
    const vf plane_error = edge_product * (corner_length + radius) * v_f(R(0x4.cp-24));
    bounds.plane.certain = normal * outer + plane_error;
    bounds.plane.may = normal * inner - plane_error;
    /* Error bounds of products with edges, for the sides of corners and edges. */
    bounds.dot = corner_length * edge_length * v_f(R(0x5.4p-24));
    /* sqrt(3): an edge is measured by its largest component, because a short one must have a small bound. */
    bounds.side = corner_length * (normal * v_f(R(0xd.8p-24)) + edge_product * v_f(R(0x8.4p-24)));
    return bounds;
}

/* Whether the line along an edge is farther than r. */
FN overlap_verdict overlap_line(v3 moment, vf length2, overlap_bounds bounds)
{
    return overlap_above(v3_dot(moment, moment), bounds.radius2.certain * length2, bounds.radius2.may * length2);
}

/* Whether the centre and the triangle are on different sides of an edge. */
FN overlap_verdict overlap_side(v3 moment, v3 n, vf extent, overlap_bounds bounds)
{
    const vf bound = bounds.side * extent;
    return overlap_above(v3_dot(moment, n), bound, -bound);
}

/* Whether a corner separates. away: the lesser of A.AB and A.AC. */
FN overlap_verdict overlap_corner(vf length2, vf away, overlap_bounds bounds)
{
    return overlap_both(overlap_above(length2, bounds.radius2.certain, bounds.radius2.may),
                        overlap_above(away, bounds.dot, -bounds.dot));
}

/* Bits that are certainly set, and bits that may be set. */
typedef struct overlap_masks {
    vi certain, may;
} overlap_masks;

/* Adds a bit to the mask. */
FN overlap_masks overlap_put(overlap_masks masks, overlap_verdict verdict, int bit)
{
    const vi none = v_i(0);
    masks.certain = masks.certain | vi_sel(verdict.certain, v_i(bit), none);
    masks.may = masks.may | vi_sel(verdict.may, v_i(bit), none);
    return masks;
}

/* A triangle scaled to its two units. */
typedef struct overlap_triangle {
    overlap_relative x;
    v3 extent; /* largest components of AB BC CA */
    v3 edge2;  /* their squared lengths */
    vf longest2;
    v3 n;
    vf d2; /* D^2 */
    vf r;
} overlap_triangle;

/* Largest components: of AB, BC and CA; of all three edges; of the edges, a and r (b and c are at most twice as
 * large). */
typedef struct overlap_sizes {
    vi ab, bc, ca, longest, size;
} overlap_sizes;

/* Sizes of a triangle. */
FN overlap_sizes overlap_measure(overlap_relative x, vf radius)
{
    overlap_sizes sizes;
    sizes.ab = v3_magnitude(x.ab);
    sizes.bc = v3_magnitude(x.bc);
    sizes.ca = v3_magnitude(x.ca);
    sizes.longest = vi_max(vi_max(sizes.ab, sizes.bc), sizes.ca);
    sizes.size = vi_max(vi_max(v3_magnitude(x.a), v_magnitude(radius)), sizes.longest);
    return sizes;
}

/* Values of the parameter `rare`: whether some lane may have a degenerate triangle. */
#define OVERLAP_USUAL 0
#define OVERLAP_RARE 1

/* Flags of rare degenerate triangles: edges of length 0; no area. */
typedef struct overlap_flats {
    vm ab, bc, ca, flat;
} overlap_flats;

/* Adds the bits of the three corners. */
FN overlap_masks overlap_corners(overlap_masks masks, overlap_relative relative, v3 length2, overlap_bounds bounds,
                                 int rare, overlap_flats flats)
{
    vf a_ab = v3_dot(relative.a, relative.ab), b_ba = -v3_dot(relative.b, relative.ab);
    vf b_bc = v3_dot(relative.b, relative.bc), c_cb = -v3_dot(relative.c, relative.bc);
    vf c_ca = v3_dot(relative.c, relative.ca), a_ac = -v3_dot(relative.a, relative.ca);
    if (rare) { /* along an edge of length 0 the products are exactly 0: the test holds */
        const vf yes = v_f(R(1.0));
        a_ab = v_sel(flats.ab, yes, a_ab);
        b_ba = v_sel(flats.ab, yes, b_ba);
        b_bc = v_sel(flats.bc, yes, b_bc);
        c_cb = v_sel(flats.bc, yes, c_cb);
        c_ca = v_sel(flats.ca, yes, c_ca);
        a_ac = v_sel(flats.ca, yes, a_ac);
    }
    masks = overlap_put(masks, overlap_corner(length2.x, v_min(a_ab, a_ac), bounds), AXIS_OF_V0);
    masks = overlap_put(masks, overlap_corner(length2.y, v_min(b_bc, b_ba), bounds), AXIS_OF_V1);
    return overlap_put(masks, overlap_corner(length2.z, v_min(c_ca, c_cb), bounds), AXIS_OF_V2);
}

/* The mask of separating axes: the bits that are certain, and the bits that may be set. */
FN overlap_masks overlap_decide(overlap_triangle triangle, int rare, overlap_flats flats)
{
    const overlap_relative relative = triangle.x;
    const v3 corner2 =
        v3_of(v3_dot(relative.a, relative.a), v3_dot(relative.b, relative.b), v3_dot(relative.c, relative.c));
    const overlap_bounds bounds =
        overlap_bound(triangle.r, corner2, triangle.longest2, v3_dot(triangle.n, triangle.n), triangle.d2);
    const v3 moment_ab = v3_cross(relative.a, relative.ab), moment_bc = v3_cross(relative.b, relative.bc),
             moment_ca = v3_cross(relative.c, relative.ca);
    /* For each edge: whether its line is far, and whether the centre is on its outer side. */
    overlap_verdict ab = overlap_line(moment_ab, triangle.edge2.x, bounds),
                    side_ab = overlap_side(moment_ab, triangle.n, triangle.extent.x, bounds);
    overlap_verdict bc = overlap_line(moment_bc, triangle.edge2.y, bounds),
                    side_bc = overlap_side(moment_bc, triangle.n, triangle.extent.y, bounds);
    overlap_verdict ca = overlap_line(moment_ca, triangle.edge2.z, bounds),
                    side_ca = overlap_side(moment_ca, triangle.n, triangle.extent.z, bounds);
    /* No plane is farther than a line in it. */
    overlap_verdict plane =
        overlap_above(v_abs(v3_dot(triangle.n, relative.a)), bounds.plane.certain, bounds.plane.may);
    plane.may = v_and(plane.may, v_and(v_and(ab.may, bc.may), ca.may));
    if (rare) { /* an edge of length 0 has no line; a triangle without area has no plane, and every side of it separates
                 */
        ab.may = v_and(ab.may, v_not(flats.ab));
        bc.may = v_and(bc.may, v_not(flats.bc));
        ca.may = v_and(ca.may, v_not(flats.ca));
        plane.may = v_and(plane.may, v_not(flats.flat));
        side_ab.certain = v_or(side_ab.certain, flats.flat);
        side_bc.certain = v_or(side_bc.certain, flats.flat);
        side_ca.certain = v_or(side_ca.certain, flats.flat);
    }
    overlap_masks masks;
    masks.certain = masks.may = v_i(0);
    masks = overlap_put(masks, plane, AXIS_OF_FACE);
    masks = overlap_put(masks, overlap_both(ab, side_ab), AXIS_OF_E01);
    masks = overlap_put(masks, overlap_both(bc, side_bc), AXIS_OF_E12);
    masks = overlap_put(masks, overlap_both(ca, side_ca), AXIS_OF_E20);
    return overlap_corners(masks, relative, corner2, bounds, rare, flats);
}

FN vm overlap_is_zero(v3 x)
{
    return vi_eq(v3_magnitude(x), v_i(0));
}

/* Whether the difference b - a is exact, and a multiple of 2^-10 of the edges' unit. Products of such edges are exact,
 * as they have 22 bits. big: 1.5 2^13 units; if that overflows to infinity, the answer is no. */
FN vm overlap_on_grid(v3 a, v3 b, vf big)
{
    const v3 x = v3_sub(b, a);
    const vm exact = overlap_is_zero(v3_sub_error(b, a, x));
    const vm xy = v_and(v_eq((x.x + big) - big, x.x), v_eq((x.y + big) - big, x.y));
    return v_and(exact, v_and(xy, v_eq((x.z + big) - big, x.z)));
}

/* Finds degenerate triangles. An edge is exactly 0 if and only if its corners are equal, and n = 0 on a grid is exact.
 * Big triangles may have lost digits, so no flag is set for them. */
FN overlap_flats overlap_find_flats(overlap_in in, v3 n, overlap_sizes sizes, vm is_big)
{
    const vi zero = v_i(0);
    const vf grid = v_from_bits(v_exponent(sizes.longest)) * v_f(R(0x1.8p13));
    const vm ab = overlap_on_grid(in.p0, in.p1, grid), bc = overlap_on_grid(in.p1, in.p2, grid);
    const vm ca = overlap_on_grid(in.p2, in.p0, grid), known = v_not(is_big);
    overlap_flats flats;
    flats.ab = v_and(known, vi_eq(sizes.ab, zero));
    flats.bc = v_and(known, vi_eq(sizes.bc, zero));
    flats.ca = v_and(known, vi_eq(sizes.ca, zero));
    flats.flat = v_and(v_and(known, overlap_is_zero(n)), v_and(ab, v_and(bc, ca)));
    flats.flat = v_or(v_or(flats.flat, flats.ab), v_or(flats.bc, flats.ca));
    return flats;
}

/* The pair with all lengths scaled. */
FN overlap_in overlap_scaled(overlap_in in, vf scale)
{
    in.center = v3_mul(in.center, scale);
    in.radius = in.radius * scale;
    in.p0 = v3_mul(in.p0, scale);
    in.p1 = v3_mul(in.p1, scale);
    in.p2 = v3_mul(in.p2, scale);
    return in;
}

/* Corners and radius in one unit, edges in another. */
FN overlap_triangle overlap_unite(overlap_relative x, vf radius, overlap_sizes sizes)
{
    const vf corner_unit = v_scale_down(v_exponent(sizes.size)), edge_unit = v_scale_down(v_exponent(sizes.longest));
    overlap_triangle triangle;
    triangle.r = radius * corner_unit;
    triangle.x.a = v3_mul(x.a, corner_unit);
    triangle.x.b = v3_mul(x.b, corner_unit);
    triangle.x.c = v3_mul(x.c, corner_unit);
    triangle.x.ab = v3_mul(x.ab, edge_unit);
    triangle.x.bc = v3_mul(x.bc, edge_unit);
    triangle.x.ca = v3_mul(x.ca, edge_unit);
    triangle.x.size = sizes.size;
    /* Lengths of the edges. */
    triangle.extent = v3_mul(v3_of(v_from_bits(sizes.ab), v_from_bits(sizes.bc), v_from_bits(sizes.ca)), edge_unit);
    triangle.edge2 = v3_of(v3_dot(triangle.x.ab, triangle.x.ab), v3_dot(triangle.x.bc, triangle.x.bc),
                           v3_dot(triangle.x.ca, triangle.x.ca));
    triangle.longest2 = v_max(v_max(triangle.edge2.x, triangle.edge2.y), triangle.edge2.z);
    /* n = AB x CA from the two shorter edges: -BC stands in for the longest. */
    const v3 cb = v3_of(-triangle.x.bc.x, -triangle.x.bc.y, -triangle.x.bc.z);
    const vm ab_long = v_le(triangle.longest2, triangle.edge2.x),
             ca_long = v_and(v_le(triangle.longest2, triangle.edge2.z), v_not(ab_long));
    triangle.n = v3_cross(v3_sel(ab_long, cb, triangle.x.ab), v3_sel(ca_long, cb, triangle.x.ca));
    triangle.d2 =
        v_sel(ab_long, triangle.edge2.y, triangle.edge2.x) * v_sel(ca_long, triangle.edge2.y, triangle.edge2.z);
    return triangle;
}

/* Edges that may have lost digits to underflow: shorter than 2^-30 of their unit, or all denormal, or below 2^-60 in a
 * big triangle. */
FN vm overlap_is_thin(overlap_triangle triangle, overlap_sizes sizes, vm is_big)
{
    const vf shortest = v_min(v_min(triangle.extent.x, triangle.extent.y), triangle.extent.z);
    const vi least = vi_sel(is_big, v_bits(v_f(R(0x1p-60))), v_i(R_MIN_NORMAL_BITS));
    return v_or(v_lt(shortest, v_f(R(0x1p-30))), vi_gt(least, sizes.longest));
}

/* Answers LANES pairs in exact mode; OVERLAP_UNDECIDED where the filter fails. */
FN overlap_out overlap_exact(overlap_in in)
{
    overlap_relative x = overlap_relate(in);
    overlap_sizes sizes = overlap_measure(x, in.radius);
    vm valid = v_le(v_f(R(0.0)), in.radius);
    /* Differences that would overflow or are near to denormal numbers: rare, so under a branch. 2^32 is exact, and 2^-8
     * is but for numbers below 2^-118. */
    const vm is_big = v_not(vi_gt(v_i(R_BIG_BITS), sizes.size));
    const vm is_odd = v_or(is_big, vi_gt(v_i(R_SMALL_BITS), sizes.size));
    if (v_any(is_odd)) {
        valid = v_and(valid, overlap_is_finite(in));
        in = overlap_scaled(in, v_sel(is_odd, v_sel(is_big, v_f(R(0x1p-8)), v_f(R(0x1p32))), v_f(R(1.0))));
        x = overlap_relate(in);
        sizes = overlap_measure(x, in.radius);
    }
    /* The usual case takes no heed of degenerate triangles. */
    const overlap_triangle triangle = overlap_unite(x, in.radius, sizes);
    overlap_flats flats;
    flats.ab = flats.bc = flats.ca = flats.flat = is_big; /* the first pass does not read them */
    overlap_masks masks = overlap_decide(triangle, OVERLAP_USUAL, flats);
    const vm is_thin = overlap_is_thin(triangle, sizes, is_big), rare = v_or(is_thin, overlap_is_zero(triangle.n));
    vm undecided = v_not(vi_eq(masks.certain, masks.may));
    /* Triangles with an edge of length 0 or without area are decided again. */
    if (v_any(rare)) {
        flats = overlap_find_flats(in, triangle.n, sizes, is_big);
        masks = overlap_decide(triangle, OVERLAP_RARE, flats);
        undecided = v_or(v_not(vi_eq(masks.certain, masks.may)), v_and(is_thin, v_not(flats.flat)));
    }
    /* Scaling up denormal numbers may have moved the other numbers of the pair out of range. */
    undecided = v_or(undecided, v_not(v_and(v3_finite(x.a), v_and(v3_finite(x.b), v3_finite(x.c)))));
    /* Invalid and undecided lanes get their marks. */
    const vi invalid = v_i(OVERLAP_INVALID), unknown = v_i(OVERLAP_UNDECIDED), none = v_i(0);
    const vi overlap = vi_sel(vi_eq(masks.certain, none), v_i(1), none);
    overlap_out out;
    out.axes = vi_sel(valid, vi_sel(undecided, unknown, masks.certain), invalid);
    out.overlap = vi_sel(valid, vi_sel(undecided, unknown, overlap), invalid);
    return out;
}

/* Columns in, filter, columns out. */
FN void pairs_overlap_exact(in_columns in, out_columns out, size_t i)
{
    const overlap_out answer = overlap_exact(load_overlap(in, i));
    store_u8(out, OUT_OVERLAP, i, answer.overlap);
    store_u8(out, OUT_AXES, i, answer.axes);
}
#endif
