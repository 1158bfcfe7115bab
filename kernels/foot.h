/* SPDX-License-Identifier: MIT */
/* The feature of a triangle that is closest to a centre, where binary32 distances tie: within some 10^-3 of the
 * distance beside an edge or a corner. closest.h takes any of the tied features, because their distances agree. A
 * contact depends on the feature: the triangle behind an edge is closer than a point of the edge.
 *
 * So signs of projections decide, as in closest_exact.h, to some 10^-6 of the size. A face or an edge is the feature
 * only if its foot is certainly inside. Else the feature is an edge or a corner, which other triangles share. An edge's
 * sign and distance depend on its positions alone, so triangles that share the edge agree on both. docs/contacts.md,
 * section 5, derives the bounds. */
#ifndef CAROM_FOOT_H
#define CAROM_FOOT_H
#include "closest.h"

/* Lexicographic order of points: whether p is before q; -0 is 0. */
FN vm foot_before(v3 p, v3 q)
{
    const vm by_yz = v_or(v_lt(p.y, q.y), v_and(v_eq(p.y, q.y), v_lt(p.z, q.z)));
    return v_or(v_lt(p.x, q.x), v_and(v_eq(p.x, q.x), by_yz));
}

/* The foot on the line through an edge, from the end that is closer. */
typedef struct foot_edge {
    v3 offset; /* from the centre to the foot */
    vf share;  /* weight of the farther end */
    vf end2;   /* square of the distance of the closer end */
    vf gain;   /* by how much the foot is closer: difference of squares, relative to end2 */
    vm last;   /* the closer end is the second one */
    vm on;     /* the foot is certainly between the ends */
} foot_edge;

/* The foot on an edge. a, b: the ends relative to the centre, e: from a to b, all scaled to about 1. (b, a, -e) gives
 * the same result. Equal ends make a corner, whose line has no foot. */
FN foot_edge foot_on_edge(v3 a, v3 b, v3 e)
{
    const vf begin2 = v3_dot(a, a), end2 = v3_dot(b, b), edge2 = v3_dot(e, e);
    foot_edge foot;
    foot.last = v_or(v_lt(end2, begin2), v_and(v_eq(begin2, end2), foot_before(b, a)));
    foot.end2 = v_min(begin2, end2);
    /* From the closer end: how far along the edge the foot is, and whether it is certainly on it. */
    const v3 end = v3_sel(foot.last, b, a), inward = v3_sel(foot.last, v3_mul(e, v_f(R(-1.0))), e);
    const vf along = -v3_dot(end, inward);
    foot.share = along / edge2;
    foot.offset = v3_add(end, v3_mul(inward, foot.share));
    foot.gain = along * foot.share / foot.end2;
    foot.on = v_and(v_lt(v_f(R(0.0)), along), v_lt(foot.end2 * edge2 * v_f(R(0x1p-42)), along * along));
    return foot;
}

/* Whether the foot on the triangle's plane is certainly on the third corner's side of the edge. third: from the edge's
 * closer end to the third corner. */
FN vm foot_is_beside(const foot_edge *foot, v3 third)
{
    const vf side = -v3_dot(foot->offset, third);
    return v_and(v_lt(v_f(R(0.0)), side), v_lt(foot->end2 * v3_dot(third, third) * v_f(R(0x1p-40)), side * side));
}

/* Distance of the centre from an edge, or from a corner if both ends are equal. It depends on these positions alone. */
FN vf foot_distance(v3 center, v3 p, v3 q)
{
    const vf one = v_f(R(1.0));
    v3 a = v3_sub(p, center), b = v3_sub(q, center), edge = v3_sub(q, p);
    vi size = vi_max(v3_magnitude(a), v3_magnitude(b));
    vf unscale = one;
    const vm is_big = v_not(vi_gt(v_i(R_BIG_BITS), size));
    if (v_any(is_big)) { /* as closest_rescue */
        const vf factor = v_sel(is_big, v_f(R(0x1p-8)), one);
        const v3 scaled_center = v3_mul(center, factor), first = v3_mul(p, factor), second = v3_mul(q, factor);
        unscale = v_sel(is_big, v_f(R(0x1p8)), one);
        a = v3_sub(first, scaled_center);
        b = v3_sub(second, scaled_center);
        edge = v3_sub(second, first);
        size = vi_max(v3_magnitude(a), v3_magnitude(b));
    }
    /* The foot if it is on the edge, else the closer end. */
    const vi unit = v_exponent(size);
    const vf scale = v_scale_down(unit);
    const foot_edge foot = foot_on_edge(v3_mul(a, scale), v3_mul(b, scale), v3_mul(edge, scale));
    const vf square = v_sel(foot.on, v_min(v3_dot(foot.offset, foot.offset), foot.end2), foot.end2);
    return (v_sqrt(square) * v_from_bits(unit)) * unscale;
}

/* The largest squared distance that ties with the least: each distance is off by at most 16 units of 2^-24 of the
 * size. */
FN vf foot_tie_limit(vf least2)
{
    return least2 + v_sqrt(least2) * v_f(R(0x1p-19));
}

/* Whether the squared distances of two features tie. face2: of the face; infinite: it is no candidate. */
FN vm foot_ties_with(const closest_solution *solution, vf face2)
{
    const nearest_border *border = &solution->border;
    /* The two smallest distances among corner, edges and face. */
    vf least = border->corner.distance2, second = v_infinity();
    LANG_UNROLL
    for (int i = 0; i < 4; i++) {
        /* The fourth candidate is the face. */
        const vf next = i < 3 ? v_sel(border->on[i % 3], border->edge[i % 3].distance2, v_infinity()) : face2;
        second = v_min(second, v_max(least, next));
        least = v_min(least, next);
    }
    return v_le(second, foot_tie_limit(solution->nearest.distance2));
}

/* Whether the distances of two features tie. */
FN vm foot_ties(const closest_solution *solution)
{
    return foot_ties_with(
        solution, v_sel(solution->inner.inside, v3_dot(solution->inner.foot, solution->inner.foot), v_infinity()));
}

/* The same before closest_add_face(), where the foot on the plane is outside the triangle. */
FN vm foot_ties_on_border(const closest_solution *solution)
{
    return foot_ties_with(solution, v_infinity());
}

/* The closest corner. */
FN nearest foot_at_corner(v3 a, v3 b, v3 c)
{
    const vf zero = v_f(R(0.0)), one = v_f(R(1.0));
    return nearest_nearer(nearest_nearer(nearest_of(a, zero, zero, FEATURE_V0), nearest_of(b, one, zero, FEATURE_V1)),
                          nearest_of(c, zero, one, FEATURE_V2));
}

/* The closest point of triangles whose distances tie, on the feature that the signs of projections decide. */
FN nearest foot_find(const closest_solution *solution)
{
    const vf zero = v_f(R(0.0)), one = v_f(R(1.0)), scale = v_scale_down(solution->unit), minus = -scale;
    const v3 a = v3_mul(solution->relative.a, scale), b = v3_mul(solution->relative.b, scale),
             c = v3_mul(solution->relative.c, scale);
    const v3 e01 = v3_mul(solution->relative.e01, scale), e12 = v3_mul(solution->relative.e12, scale),
             e02 = v3_mul(solution->relative.e02, scale);
    const v3 e10 = v3_mul(solution->relative.e01, minus), e21 = v3_mul(solution->relative.e12, minus),
             e20 = v3_mul(solution->relative.e02, minus);
    const foot_edge foot[3] = {foot_on_edge(a, b, e01), foot_on_edge(b, c, e12), foot_on_edge(c, a, e20)};
    const vm is_beside[3] = {foot_is_beside(&foot[0], v3_sel(foot[0].last, e12, e02)),
                             foot_is_beside(&foot[1], v3_sel(foot[1].last, e20, e10)),
                             foot_is_beside(&foot[2], v3_sel(foot[2].last, e01, e21))};
    const vf tie_limit = foot_tie_limit(solution->nearest.distance2);
    const nearest corner = foot_at_corner(a, b, c);
    nearest found = nearest_sel(v_le(corner.distance2, tie_limit), corner, solution->nearest);
    /* The edge whose foot is closest, among edges that have the centre outside. */
    vf gain = zero;
    LANG_UNROLL
    for (int i = 0; i < 3; i++) {
        const vf rest = one - foot[i].share, to = v_sel(foot[i].last, rest, foot[i].share),
                 from = v_sel(foot[i].last, foot[i].share, rest);
        const vf w1 = i == 0 ? to : i == 1 ? from : zero, w2 = i == 0 ? zero : i == 1 ? to : from;
        const nearest edge = nearest_of(foot[i].offset, w1, w2, FEATURE_E01 + i);
        const vm may = v_and(v_and(foot[i].on, v_not(is_beside[i])), v_le(edge.distance2, tie_limit));
        const vm more = v_and(may, v_lt(gain, foot[i].gain));
        found = nearest_sel(more, edge, found);
        gain = v_sel(more, foot[i].gain, gain);
    }
    /* The face, if the projection is inside all edges. */
    const nearest face = nearest_of(solution->inner.foot, solution->inner.w1, solution->inner.w2, FEATURE_FACE);
    const vm inside = v_and(v_and(solution->inner.inside, is_beside[0]), v_and(is_beside[1], is_beside[2]));
    return nearest_sel(v_and(inside, v_le(face.distance2, tie_limit)), face, found);
}
#endif
