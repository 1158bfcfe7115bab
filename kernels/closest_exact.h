/* SPDX-License-Identifier: MIT */
/* Distance from a centre to a triangle in exact mode, first rung: bounds of the true distance in binary64; and the
 * closest point if its feature is certain.
 *
 * Upper bounds are distances to points that certainly belong to the triangle: its corners, a foot that is certainly on
 * its edge, and the foot on the plane if it is certainly inside. Lower bounds come from planes that have the triangle
 * on their far side. Such a plane goes through a corner or through the foot on an edge's line, at right angles to the
 * direction from there to the centre; the triangle's own plane is one, too. On a border between two features both give
 * the same distance, so it is known although the feature is not.
 *
 * No product has more than six factors of a length, so binary64 cannot leave its range for any binary32 input, and all
 * lengths stay in the caller's unit. docs/exact.md, section 19, derives the bounds. */
#ifndef CAROM_CLOSEST_EXACT_H
#define CAROM_CLOSEST_EXACT_H
#include "closest.h"
#include "wide.h"

#ifndef CLOSEST_BOUND
#define CLOSEST_BOUND W(1.0) /* a test shrinks all bounds by this factor, and must then find wrong answers */
#endif
#define CLOSEST_EPS(n) w_f(W(n) * W(0x1p-53) * CLOSEST_BOUND)

FN wf closest_min(wf a, wf b)
{
    return w_sel(w_lt(a, b), a, b);
}
FN wf closest_max(wf a, wf b) /* the other number if one is NaN */
{
    return w_sel(w_lt(a, b), b, w_sel(w_eq(a, a), a, b));
}

/* An edge from A to B, the third corner C, and the foot of the centre on the edge's line. */
typedef struct closest_edge {
    wf along, rest;    /* distance of the foot from A and from B, times the length; negative outside the edge */
    wf length2, share; /* square of the edge; weight of B at the foot */
    w3 offset;         /* from the foot to the centre */
    wf offset2;        /* square of the offset; NaN for an edge without length */
    wf inside;         /* offset.(C - A): positive if the centre is on C's side */
} closest_edge;

/* Products for an edge and the centre. from_a: the centre minus A; third: the third corner minus A. */
FN closest_edge closest_edge_of(w3 from_a, w3 direction, w3 third)
{
    closest_edge edge;
    edge.along = w3_dot(from_a, direction);
    edge.length2 = w3_dot(direction, direction);
    edge.rest = edge.length2 - edge.along;
    edge.share = edge.along / edge.length2;
    edge.offset = w3_sub_scaled(from_a, direction, edge.share);
    edge.offset2 = w3_dot(edge.offset, edge.offset);
    edge.inside = w3_dot(third, edge.offset);
    return edge;
}

/* A centre and a triangle in binary64, and the error bounds of their products. */
typedef struct closest_wide {
    w3 center, p0, p1, p2, e01, e12, e02;
    w3 square; /* of the offsets from the corners to the centre */
    closest_edge edge[3];
    w3 normal;
    wf per_area, height2; /* 1 / n.n times the height times n; height squared */
    wf size2;             /* at least the squared distance of every corner, and half the square of every edge */
    wf dot_error;         /* bound of the errors of along, rest and inside */
    wf root_error;        /* bound of the error of the square root of a squared distance */
    wm has_plane;         /* the plane's error is bounded, because the triangle is no sliver */
} closest_wide;

/* Terms of WIDE centres and triangles. */
FN closest_wide closest_wide_of(w3 center, w3 p0, w3 p1, w3 p2)
{
    const w3 from_p0 = w3_sub(center, p0), from_p1 = w3_sub(center, p1), from_p2 = w3_sub(center, p2);
    const wf minus = w_f(W(-1.0));
    closest_wide wide;
    wide.center = center;
    wide.p0 = p0;
    wide.p1 = p1;
    wide.p2 = p2;
    wide.e01 = w3_sub(p1, p0);
    wide.e12 = w3_sub(p2, p1);
    wide.e02 = w3_sub(p2, p0);
    /* Corners and edges: squared distances and feet. */
    wide.square = w3_of(w3_dot(from_p0, from_p0), w3_dot(from_p1, from_p1), w3_dot(from_p2, from_p2));
    wide.edge[0] = closest_edge_of(from_p0, wide.e01, wide.e02);
    wide.edge[1] = closest_edge_of(from_p1, wide.e12, w3_mul(wide.e01, minus));
    wide.edge[2] = closest_edge_of(from_p2, w3_mul(wide.e02, minus), w3_mul(wide.e12, minus));
    /* The plane: the height above it, times the normal. */
    wide.normal = w3_cross(wide.e01, wide.e02);
    const wf area2 = w3_dot(wide.normal, wide.normal), height = w3_dot(wide.normal, from_p0);
    wide.per_area = height / area2;
    wide.height2 = height * wide.per_area;
    /* Error bounds; the plane's error grows with the square of how thin the triangle is. */
    wide.size2 = wide.square.x + wide.square.y + wide.square.z;
    wide.dot_error = CLOSEST_EPS(40.0) * wide.size2;
    const wf sliver2 = wide.edge[0].length2 * wide.edge[2].length2 / area2;
    wide.has_plane = w_lt(sliver2, w_f(W(0x1p20)));
    wide.root_error = CLOSEST_EPS(32.0) * w_sqrt(wide.size2 * w_sel(wide.has_plane, sliver2, w_f(W(1.0))));
    return wide;
}

/* Lower bound of a squared distance: the square for the supporting plane, less twice how far the triangle may reach
 * beyond it. If that is more than an eighth of the square, the bound is 0, because the root of the rest would be too
 * uncertain. */
FN wf closest_reduced_square(wf square, wf reach, wf dot_error)
{
    const wf zero = w_f(W(0.0)), twice_reach = closest_max(reach + dot_error, zero) * W(2.0);
    return w_sel(w_le(twice_reach * W(8.0), square), square - twice_reach, zero);
}

/* The true distance is in [low, high]. */
typedef struct closest_range {
    wf low, high;
} closest_range;

/* Bounds of the distance: upper bounds from points of the triangle, lower bounds from planes in front of it. */
FN closest_range closest_range_of(const closest_wide *wide)
{
    const wf zero = w_f(W(0.0));
    const closest_edge *edge = wide->edge;
    const wf corner2 = closest_min(closest_min(wide->square.x, wide->square.y), wide->square.z);
    wf low2 = closest_reduced_square(wide->square.x, closest_max(edge[0].along, edge[2].rest), wide->dot_error),
       high2 = corner2;
    low2 = closest_max(
        low2, closest_reduced_square(wide->square.y, closest_max(edge[1].along, edge[0].rest), wide->dot_error));
    low2 = closest_max(
        low2, closest_reduced_square(wide->square.z, closest_max(edge[2].along, edge[1].rest), wide->dot_error));
    /* Feet on the edges, and planes through them. */
    wm inside = wide->has_plane;
    LANG_UNROLL
    for (int i = 0; i < 3; i++) {
        const wm is_on_edge = w_and(w_lt(wide->dot_error, edge[i].along), w_lt(wide->dot_error, edge[i].rest));
        low2 = closest_max(low2, closest_reduced_square(edge[i].offset2, edge[i].inside, wide->dot_error));
        high2 = w_sel(is_on_edge, closest_min(edge[i].offset2, high2), high2);
        inside = w_and(inside, w_lt(wide->dot_error, edge[i].inside));
    }
    /* The triangle's own plane, and the foot on it if it is certainly inside. */
    low2 = w_sel(wide->has_plane, closest_max(low2, wide->height2), low2);
    high2 = w_sel(inside, closest_min(wide->height2, high2), high2);
    const wm touches = w_eq(corner2, zero); /* a difference of binary32 numbers is zero if and only if they are equal */
    closest_range range;
    range.low = w_sel(touches, zero, closest_max(w_sqrt(low2) - wide->root_error, zero));
    range.high = w_sel(touches, zero, w_sqrt(high2) + wide->root_error);
    return range;
}

/* The closest point and its feature; FEATURE_NONE if undecided. */
typedef struct closest_point {
    w3 point;
    wf feature;
} closest_point;

/* Replaces the chosen point and feature in lanes m. */
FN void closest_choose_point(closest_point *chosen, wm m, w3 point, wf feature)
{
    chosen->point = w3_of(w_sel(m, point.x, chosen->point.x), w_sel(m, point.y, chosen->point.y),
                          w_sel(m, point.z, chosen->point.z));
    chosen->feature = w_sel(m, feature, chosen->feature);
}

/* Whether the centre is certainly beyond both edges of a corner. along, rest: of the edges that begin and end there. */
FN wm closest_is_corner(const closest_wide *wide, wf along, wf rest)
{
    return w_and(w_lt(along, -wide->dot_error), w_lt(rest, -wide->dot_error));
}

/* Whether the foot is certainly on the edge, and the centre on its outer side. */
FN wm closest_is_edge(const closest_wide *wide, const closest_edge *edge)
{
    return w_and(w_and(w_lt(wide->dot_error, edge->along), w_lt(wide->dot_error, edge->rest)),
                 w_lt(edge->inside, -wide->dot_error));
}

/* The closest point, on the one feature whose signs are all certain. */
FN closest_point closest_point_of(const closest_wide *wide)
{
    const closest_edge *edge = wide->edge;
    const wf zero = w_f(W(0.0));
    const wm inside = w_and(w_and(w_lt(wide->dot_error, edge[0].inside), w_lt(wide->dot_error, edge[1].inside)),
                            w_and(w_lt(wide->dot_error, edge[2].inside), wide->has_plane));
    closest_point chosen;
    chosen.point = w3_of(zero, zero, zero);
    chosen.feature = zero;
    closest_choose_point(&chosen, closest_is_corner(wide, edge[0].along, edge[2].rest), wide->p0,
                         w_f((wide_real)FEATURE_V0));
    closest_choose_point(&chosen, closest_is_corner(wide, edge[1].along, edge[0].rest), wide->p1,
                         w_f((wide_real)FEATURE_V1));
    closest_choose_point(&chosen, closest_is_corner(wide, edge[2].along, edge[1].rest), wide->p2,
                         w_f((wide_real)FEATURE_V2));
    closest_choose_point(&chosen, closest_is_edge(wide, &edge[0]), w3_add_scaled(wide->p0, wide->e01, edge[0].share),
                         w_f((wide_real)FEATURE_E01));
    closest_choose_point(&chosen, closest_is_edge(wide, &edge[1]), w3_add_scaled(wide->p1, wide->e12, edge[1].share),
                         w_f((wide_real)FEATURE_E12));
    closest_choose_point(&chosen, closest_is_edge(wide, &edge[2]), w3_sub_scaled(wide->p2, wide->e02, edge[2].share),
                         w_f((wide_real)FEATURE_E20));
    closest_choose_point(&chosen, inside, w3_sub_scaled(wide->center, wide->normal, wide->per_area),
                         w_f((wide_real)FEATURE_FACE));
    return chosen;
}

/* Centre and corners in memory, from which the binary64 halves of the lanes load them. */
typedef struct closest_rows {
    real column[IN_CLOSEST][LANES]; /* IN_NCX and so on */
} closest_rows;

/* Three columns in binary64, for the half of the lanes that begins at first_lane. */
FN w3 closest_load3(const closest_rows *rows, int first, int first_lane)
{
    return w3_of(w_load(rows->column[first] + first_lane), w_load(rows->column[first + 1] + first_lane),
                 w_load(rows->column[first + 2] + first_lane));
}

/* Stores three columns. */
FN void closest_store3(closest_rows *rows, int first, v3 x)
{
    v_store(rows->column[first], x.x);
    v_store(rows->column[first + 1], x.y);
    v_store(rows->column[first + 2], x.z);
}

/* Stores centre and corners. */
FN void closest_store(closest_rows *rows, closest_in in)
{
    closest_store3(rows, IN_NCX, in.center);
    closest_store3(rows, IN_NP0X, in.p0);
    closest_store3(rows, IN_NP1X, in.p1);
    closest_store3(rows, IN_NP2X, in.p2);
}

/* The feature as an integer, from its number in binary32. */
FN vi closest_feature_of(vf number)
{
    vi feature = v_i(FEATURE_NONE);
    LANG_UNROLL
    for (int each = FEATURE_V0; each <= FEATURE_FACE; each++)
        feature = vi_sel(v_eq(number, v_f((real)each)), v_i(each), feature);
    return feature;
}

/* Joins the two halves of the lanes. A pair is undecided where the point's x is NaN. */
FN closest_out closest_join_parts(const closest_point *a, const closest_point *b)
{
    closest_out out;
    out.feature = closest_feature_of(w_join(a->feature, b->feature));
    const vf x = v_positive_zero(w_join(a->point.x, b->point.x));
    out.point.x = v_sel(vi_eq(out.feature, v_i(FEATURE_NONE)), v_from_bits(v_i(R_NAN_BITS)), x);
    out.point.y = v_positive_zero(w_join(a->point.y, b->point.y));
    out.point.z = v_positive_zero(w_join(a->point.z, b->point.z));
    return out;
}

/* The closest point in exact mode; NaN where the filter leaves its feature undecided. */
FN closest_out closest_exact(closest_in in)
{
    closest_rows rows;
    closest_point chosen[PARTS];
    closest_store(&rows, in);
    LANG_UNROLL
    for (int first_lane = 0; first_lane < LANES; first_lane += WIDE) {
        /* One half of the lanes. */
        const closest_wide wide =
            closest_wide_of(closest_load3(&rows, IN_NCX, first_lane), closest_load3(&rows, IN_NP0X, first_lane),
                            closest_load3(&rows, IN_NP1X, first_lane), closest_load3(&rows, IN_NP2X, first_lane));
        chosen[first_lane / WIDE] = closest_point_of(&wide);
    }
    return closest_join_parts(&chosen[0], &chosen[PARTS - 1]);
}
#endif
