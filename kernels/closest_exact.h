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
    wf along, rest; /* distance of the foot from A and from B, times the length; negative outside the edge */
    wf length2, share;
    w3 offset;  /* from the foot to the centre */
    wf offset2; /* square of the offset; NaN for an edge without length */
    wf inside;  /* way.(C - A): positive if the centre is on C's side */
} closest_edge;

FN closest_edge closest_edge_of(w3 d, w3 e, w3 third)
{
    closest_edge x;
    x.along = w3_dot(d, e);
    x.length2 = w3_dot(e, e);
    x.rest = x.length2 - x.along;
    x.share = x.along / x.length2;
    x.offset = w3_sub_scaled(d, e, x.share);
    x.offset2 = w3_dot(x.offset, x.offset);
    x.inside = w3_dot(third, x.offset);
    return x;
}

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

FN closest_wide closest_wide_of(w3 center, w3 p0, w3 p1, w3 p2)
{
    const w3 d0 = w3_sub(center, p0), d1 = w3_sub(center, p1), d2 = w3_sub(center, p2);
    const wf minus = w_f(W(-1.0));
    closest_wide t;
    t.center = center;
    t.p0 = p0;
    t.p1 = p1;
    t.p2 = p2;
    t.e01 = w3_sub(p1, p0);
    t.e12 = w3_sub(p2, p1);
    t.e02 = w3_sub(p2, p0);
    t.square = w3_of(w3_dot(d0, d0), w3_dot(d1, d1), w3_dot(d2, d2));
    t.edge[0] = closest_edge_of(d0, t.e01, t.e02);
    t.edge[1] = closest_edge_of(d1, t.e12, w3_mul(t.e01, minus));
    t.edge[2] = closest_edge_of(d2, w3_mul(t.e02, minus), w3_mul(t.e12, minus));
    t.normal = w3_cross(t.e01, t.e02);
    const wf area2 = w3_dot(t.normal, t.normal), height = w3_dot(t.normal, d0);
    t.per_area = height / area2;
    t.height2 = height * t.per_area;
    t.size2 = t.square.x + t.square.y + t.square.z;
    t.dot_error = CLOSEST_EPS(40.0) * t.size2;
    const wf sliver2 = t.edge[0].length2 * t.edge[2].length2 / area2;
    t.has_plane = w_lt(sliver2, w_f(W(0x1p20)));
    t.root_error = CLOSEST_EPS(32.0) * w_sqrt(t.size2 * w_sel(t.has_plane, sliver2, w_f(W(1.0))));
    return t;
}

/* Lower bound of a squared distance: the square for the supporting plane, less twice how far the triangle may reach
 * beyond it. If that is more than an eighth of the square, the bound is 0, because the root of the rest would be too
 * uncertain. */
FN wf closest_reduced_square(wf square, wf reach, wf dot_error)
{
    const wf zero = w_f(W(0.0)), give = closest_max(reach + dot_error, zero) * W(2.0);
    return w_sel(w_le(give * W(8.0), square), square - give, zero);
}

/* The true distance is in [low, high]. */
typedef struct closest_range {
    wf low, high;
} closest_range;

FN closest_range closest_range_of(const closest_wide *t)
{
    const wf zero = w_f(W(0.0));
    const closest_edge *e = t->edge;
    const wf corner = closest_min(closest_min(t->square.x, t->square.y), t->square.z);
    wf low = closest_reduced_square(t->square.x, closest_max(e[0].along, e[2].rest), t->dot_error), high = corner;
    low = closest_max(low, closest_reduced_square(t->square.y, closest_max(e[1].along, e[0].rest), t->dot_error));
    low = closest_max(low, closest_reduced_square(t->square.z, closest_max(e[2].along, e[1].rest), t->dot_error));
    wm inside = t->has_plane;
    LANG_UNROLL
    for (int i = 0; i < 3; i++) {
        const wm on = w_and(w_lt(t->dot_error, e[i].along), w_lt(t->dot_error, e[i].rest));
        low = closest_max(low, closest_reduced_square(e[i].offset2, e[i].inside, t->dot_error));
        high = w_sel(on, closest_min(e[i].offset2, high), high);
        inside = w_and(inside, w_lt(t->dot_error, e[i].inside));
    }
    low = w_sel(t->has_plane, closest_max(low, t->height2), low);
    high = w_sel(inside, closest_min(t->height2, high), high);
    const wm touches = w_eq(corner, zero); /* a difference of binary32 numbers is zero if and only if they are equal */
    closest_range r;
    r.low = w_sel(touches, zero, closest_max(w_sqrt(low) - t->root_error, zero));
    r.high = w_sel(touches, zero, w_sqrt(high) + t->root_error);
    return r;
}

/* The closest point and its feature; FEATURE_NONE if undecided. */
typedef struct closest_point {
    w3 point;
    wf feature;
} closest_point;

FN void closest_choose_point(closest_point *s, wm m, w3 point, wf feature)
{
    s->point = w3_of(w_sel(m, point.x, s->point.x), w_sel(m, point.y, s->point.y), w_sel(m, point.z, s->point.z));
    s->feature = w_sel(m, feature, s->feature);
}

FN wm closest_is_corner(const closest_wide *t, wf along, wf rest)
{
    return w_and(w_lt(along, -t->dot_error), w_lt(rest, -t->dot_error));
}

FN wm closest_is_edge(const closest_wide *t, const closest_edge *e)
{
    return w_and(w_and(w_lt(t->dot_error, e->along), w_lt(t->dot_error, e->rest)), w_lt(e->inside, -t->dot_error));
}

FN closest_point closest_point_of(const closest_wide *t)
{
    const closest_edge *e = t->edge;
    const wf zero = w_f(W(0.0));
    const wm inside = w_and(w_and(w_lt(t->dot_error, e[0].inside), w_lt(t->dot_error, e[1].inside)),
                            w_and(w_lt(t->dot_error, e[2].inside), t->has_plane));
    closest_point s;
    s.point = w3_of(zero, zero, zero);
    s.feature = zero;
    closest_choose_point(&s, closest_is_corner(t, e[0].along, e[2].rest), t->p0, w_f(W(1.0)));
    closest_choose_point(&s, closest_is_corner(t, e[1].along, e[0].rest), t->p1, w_f(W(2.0)));
    closest_choose_point(&s, closest_is_corner(t, e[2].along, e[1].rest), t->p2, w_f(W(3.0)));
    closest_choose_point(&s, closest_is_edge(t, &e[0]), w3_add_scaled(t->p0, t->e01, e[0].share), w_f(W(4.0)));
    closest_choose_point(&s, closest_is_edge(t, &e[1]), w3_add_scaled(t->p1, t->e12, e[1].share), w_f(W(5.0)));
    closest_choose_point(&s, closest_is_edge(t, &e[2]), w3_sub_scaled(t->p2, t->e02, e[2].share), w_f(W(6.0)));
    closest_choose_point(&s, inside, w3_sub_scaled(t->center, t->normal, t->per_area), w_f(W(7.0)));
    return s;
}

/* Centre and corners in memory, from which the binary64 halves of the lanes load them. */
typedef struct closest_rows {
    real at[IN_CLOSEST][LANES];
} closest_rows;

FN w3 closest_load3(const closest_rows *r, int first, int part)
{
    return w3_of(w_load(r->at[first] + part), w_load(r->at[first + 1] + part), w_load(r->at[first + 2] + part));
}

FN void closest_store3(closest_rows *r, int first, v3 x)
{
    v_store(r->at[first], x.x);
    v_store(r->at[first + 1], x.y);
    v_store(r->at[first + 2], x.z);
}

FN void closest_store(closest_rows *r, closest_in in)
{
    closest_store3(r, IN_NCX, in.center);
    closest_store3(r, IN_NP0X, in.p0);
    closest_store3(r, IN_NP1X, in.p1);
    closest_store3(r, IN_NP2X, in.p2);
}

FN vi closest_feature_of(vf number)
{
    vi feature = v_i(FEATURE_NONE);
    LANG_UNROLL
    for (int k = FEATURE_V0; k <= FEATURE_FACE; k++)
        feature = vi_sel(v_eq(number, v_f((real)k)), v_i(k), feature);
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

FN closest_out closest_exact(closest_in in)
{
    closest_rows rows;
    closest_point s[PARTS];
    closest_store(&rows, in);
    LANG_UNROLL
    for (int part = 0; part < LANES; part += WIDE) {
        const closest_wide t =
            closest_wide_of(closest_load3(&rows, IN_NCX, part), closest_load3(&rows, IN_NP0X, part),
                            closest_load3(&rows, IN_NP1X, part), closest_load3(&rows, IN_NP2X, part));
        s[part / WIDE] = closest_point_of(&t);
    }
    return closest_join_parts(&s[0], &s[PARTS - 1]);
}
#endif
