/* SPDX-License-Identifier: MIT */
/* The interval in which the centre is within the radius of each feature: three balls around vertices, three cylinders
 * around edges, one slab around the face, each with its own roots and region test. docs/numerics.md, sections 5 to
 * 7. */
#ifndef CAROM_SWEEP_PIECES_H
#define CAROM_SWEEP_PIECES_H
#include "layout.h"
#include "sweep_line.h"

/* The best contact so far: height of the centre, feature, and for an edge the position along it, times its length. */
typedef struct sweep_contact {
    vf at, along;
    vi feature;
} sweep_contact;

/* Squared lengths of an edge: in space, and seen in the view. An edge that is shorter than 2^-24 units in the view is
 * ignored, because the balls around its ends cover it. */
typedef struct sweep_lengths {
    vf space2, seen2, per_seen2;
    vm seen;
} sweep_lengths;

/* First and last contact, and the data for their points. */
typedef struct sweep_span {
    sweep_contact first, last;
    sweep_lengths edge[3]; /* E01 E12 E20 */
    v3 to_face;            /* from the centre to the face at first contact; the opposite at last contact */
} sweep_span;

FN sweep_contact sweep_contact_sel(vm m, sweep_contact a, sweep_contact b)
{
    sweep_contact c;
    c.at = v_sel(m, a.at, b.at);
    c.along = v_sel(m, a.along, b.along);
    c.feature = vi_sel(m, a.feature, b.feature);
    return c;
}

FN void sweep_contact_keep(sweep_contact *best, vm better, vf at, int feature)
{
    best->at = v_sel(better, at, best->at);
    best->feature = vi_max_where(better, v_i(feature), best->feature); /* features are tested in ascending order */
}

/* The ball around a vertex. q: the line of centres, relative to the vertex. */
FN void sweep_vertex(sweep_span *s, vf radius2, vf qx, vf qy, vf h, int feature, int want)
{
    const vf left = radius2 - (qx * qx + qy * qy);
    const vf chord = v_sqrt(left); /* half the chord; NaN where the line misses, so every comparison below is false */
    const vf enter = h - chord;
    sweep_contact_keep(&s->first, v_lt(enter, s->first.at), enter, feature);
    if (want != SWEEP_FIRST) {
        const vf leave = h + chord;
        sweep_contact_keep(&s->last, v_gt(leave, s->last.at), leave, feature);
    }
}

FN sweep_lengths sweep_lengths_of(vf ex, vf ey, vf eh)
{
    sweep_lengths l;
    const vf seen2 = ex * ex + ey * ey;
    l.space2 = seen2 + eh * eh;
    l.seen = v_lt(v_f(R(0x1p-48)), seen2);
    l.seen2 = v_sel(l.seen, seen2, v_f(R(1.0)));
    l.per_seen2 = l.seen2; /* inverted by sweep_reciprocals */
    return l;
}

/* 1/a and 1/b by one division. */
FN void sweep_reciprocals(vf *a, vf *b)
{
    const vf both = v_f(R(1.0)) / (*a * *b), per_a = both * *b;
    *b = both * *a;
    *a = per_a;
}

FN void sweep_edge_root(sweep_contact *best, vm better, vf at, vf along, vf length2, int feature)
{
    const vm beside = v_and(better, v_within(v_f(R(0.0)), along, length2));
    best->along = v_sel(beside, along, best->along);
    sweep_contact_keep(best, beside, at, feature);
}

/* The cylinder around the edge e. q: the line of centres, relative to the vertex where the edge begins. */
FN void sweep_edge(sweep_span *s, vf radius2, vf qx, vf qy, vf h, vf ex, vf ey, vf eh, sweep_lengths l, int feature,
                   int want)
{
    const vf side = qx * ey - qy * ex, along0 = qx * ex + qy * ey;
    const vf left = radius2 * l.seen2 - side * side;
    const vf chord = v_sqrt(left * l.space2), middle = along0 * eh;
    const vf enter = (middle - chord) * l.per_seen2, enter_at = h + enter;
    const vm enters = v_and(l.seen, v_lt(enter_at, s->first.at));
    sweep_edge_root(&s->first, enters, enter_at, enter * eh + along0, l.space2, feature);
    if (want != SWEEP_FIRST) {
        const vf leave = (middle + chord) * l.per_seen2, leave_at = h + leave;
        const vm leaves = v_and(l.seen, v_gt(leave_at, s->last.at));
        sweep_edge_root(&s->last, leaves, leave_at, leave * eh + along0, l.space2, feature);
    }
}

/* A side of the prism over the triangle: signed area, times |n|, between an edge and the projection of the centre, as a
 * function of the centre's height above P0. The area is not negative on the side of the opposite vertex. `from` is the
 * height of the vertex where the edge begins. */
typedef struct sweep_wall {
    vf slope, offset, from;
} sweep_wall;

FN sweep_wall sweep_wall_of(v3 n, vf qx, vf qy, vf ex, vf ey, vf eh, vf from)
{
    sweep_wall g;
    g.slope = n.x * ey - n.y * ex;
    g.offset = (n.y * eh - n.z * ey) * qx + (n.z * ex - n.x * eh) * qy;
    g.from = from;
    return g;
}

/* The prism over the triangle, and the range of heights at which contact is possible. */
typedef struct sweep_prism {
    sweep_wall wall[3];
    vf low, high;
} sweep_prism;

typedef struct sweep_crossing {
    vf at;
    vm inside;
} sweep_crossing;

FN sweep_crossing sweep_cross(sweep_prism p, vf at)
{
    sweep_crossing c;
    c.at = at;
    c.inside = v_within(p.low, at, p.high);
    for (int i = 0; i < 3; i++) {
        const sweep_wall g = p.wall[i];
        c.inside = v_and(c.inside, v_le(v_f(R(0.0)), (at - g.from) * g.slope + g.offset));
    }
    return c;
}

/* Normal of the triangle. The rounded cross product of a sliver leans along the sliver. A lean of eps moves the plane
 * by eps times the sliver's length. Removing the component along P0P1 leaves only lean across, which is harmless. The
 * result is longer by the factor e.e, scaled to [1, 2). A triangle without area gives noise at right angles to the
 * edge, or zero: then the face never wins over the edges. */
FN v3 sweep_normal(sweep_view k, vf e0_length2)
{
    const v3 n = v3_of(k.e0y * k.e2h - k.e0h * k.e2y, k.e0h * k.e2x - k.e0x * k.e2h, k.e0x * k.e2y - k.e0y * k.e2x);
    const v3 e = v3_of(k.e0x, k.e0y, k.e0h);
    const vf scale = v_scale_down(v_exponent(v_bits(e0_length2)));
    return v3_sub(v3_mul(n, e0_length2 * scale), v3_mul(e, v3_dot(n, e) * scale));
}

/* Whether the face is tested. A triangle narrower than 2^-22 of its length is not: its sides are noise, and its edges
 * cover it. The edges also cover a triangle in whose plane the sphere moves: at an angle of 2^-26 the sphere penetrates
 * by 2^-26 of its path. (Squares below 2^-100 and products below 2^-76 leave the range.) */
FN vm sweep_is_solid(v3 n, vf longest2)
{
    const vf least2 = longest2 * longest2 * v_f(R(0x1p-44)) + v_f(R(0x1p-100));
    return v_and(v_lt(least2, v3_dot(n, n)), v_lt(v_f(R(0x1p-76)), v_abs(n.z)));
}

/* The slab around the plane, bounded by the prism over the triangle. The region test is made at the root itself. So an
 * ill-conditioned root (motion along the plane) is early or late by no more than the slide, and never beside the
 * triangle. */
FN void sweep_face(sweep_span *s, sweep_view k, vf e1x, vf e1y, vf e1h, v3 n, vf per_nz, vm solid, vm point,
                   sweep_line line, int want)
{
    const vf zero = v_f(R(0.0)), length = v_sqrt(v3_dot(n, n)), slant = length * v_abs(per_nz);
    const vf middle = -(n.x * k.qx + n.y * k.qy) * per_nz, chord = k.radius * slant;
    sweep_prism p;
    p.wall[0] = sweep_wall_of(n, k.qx, k.qy, k.e0x, k.e0y, k.e0h, zero);
    p.wall[1] = sweep_wall_of(n, k.qx - k.e0x, k.qy - k.e0y, e1x, e1y, e1h, k.e0h);
    p.wall[2] = sweep_wall_of(n, k.qx, k.qy, -k.e2x, -k.e2y, -k.e2h, zero);
    /* A contact lies within the triangle's heights, extended by the radius. The sides of a needle are almost parallel:
     * without this limit they would accept a root far beyond its tip. */
    const vf reach = k.radius + v_f(R(0x1p-10));
    p.low = v_min(v_min(k.e0h, k.e2h), zero) - reach;
    p.high = v_max(v_max(k.e0h, k.e2h), zero) + reach;
    sweep_crossing enter = sweep_cross(p, middle - chord), leave = sweep_cross(p, middle + chord);
    enter.inside = v_and(solid, enter.inside);
    leave.inside = v_and(solid, leave.inside);
    /* radius along the normal, in the direction of the motion */
    vf offset = v_copysign_one(n.z) * k.radius / length;
    if (v_any(point)) {
        const vm through = v_and(point, line.through);
        /* A point hits only triangles that its ray passes through: the sides of a needle accept roots beyond its
         * tip. */
        const vm sphere = v_lt(v_f(R(0x1p-40)), k.radius);
        enter.inside = v_and(enter.inside, v_or(sphere, line.through));
        leave.inside = v_and(leave.inside, v_or(sphere, line.through));
        enter.at = v_sel(enter.inside, enter.at, line.enter);
        leave.at = v_sel(leave.inside, leave.at, line.leave);
        enter.inside = v_or(enter.inside, through);
        leave.inside = v_or(leave.inside, through);
        offset = v_sel_or_zero(solid, offset); /* a triangle without area has no normal */
    }
    const vf enter_at = k.h + enter.at, leave_at = k.h + leave.at;
    sweep_contact_keep(&s->first, v_and(enter.inside, v_lt(enter_at, s->first.at)), enter_at, FEATURE_FACE);
    if (want != SWEEP_FIRST)
        sweep_contact_keep(&s->last, v_and(leave.inside, v_gt(leave_at, s->last.at)), leave_at, FEATURE_FACE);
    /* rotated back out of the view */
    const v3 m = v3_mul(n, offset);
    s->to_face = v3_add(v3_add(v3_mul(k.axes.s, m.x), v3_mul(k.axes.w, m.y)), v3_mul(k.axes.u, m.z));
}

/* Line test for spheres so small that the line of centres alone decides about the face. The solver does this first, so
 * that the registers of the rare test near an edge do not add to those of later steps. */
FN sweep_line sweep_line_of_points(sweep_in in, sweep_view k, vm point)
{
    sweep_line line;
    line.enter = line.leave = v_f(R(0.0));
    line.through = point;
    return v_any(point) ? sweep_line_of(in, k, point) : line;
}

FN sweep_contact sweep_no_contact(vf at)
{
    sweep_contact c;
    c.at = at;
    c.along = v_f(R(0.0));
    c.feature = v_i(FEATURE_NONE);
    return c;
}

/* Heights of first and last contact: the earliest and latest root over the seven features. */
FN sweep_span sweep_solve(sweep_in in, sweep_view k, int want)
{
    sweep_span s;
    s.first = sweep_no_contact(v_infinity());
    s.last = sweep_no_contact(-v_infinity());
    const vm point = v_le(k.radius, k.noise);
    const sweep_line line = sweep_line_of_points(in, k, point);
    const vf q1x = k.qx - k.e0x, q1y = k.qy - k.e0y, h1 = k.h + k.e0h;
    const vf e1x = k.e2x - k.e0x, e1y = k.e2y - k.e0y, e1h = k.e2h - k.e0h;
    sweep_vertex(&s, k.radius2, k.qx, k.qy, k.h, FEATURE_V0, want);
    sweep_vertex(&s, k.radius2, q1x, q1y, h1, FEATURE_V1, want);
    sweep_vertex(&s, k.radius2, k.qx - k.e2x, k.qy - k.e2y, k.h + k.e2h, FEATURE_V2, want);
    sweep_lengths l0 = sweep_lengths_of(k.e0x, k.e0y, k.e0h), l1 = sweep_lengths_of(e1x, e1y, e1h);
    sweep_lengths l2 = sweep_lengths_of(k.e2x, k.e2y, k.e2h);
    const v3 n = sweep_normal(k, l0.space2);
    const vf longest2 = v_max(v_max(l0.space2, l1.space2), l2.space2);
    const vm solid = sweep_is_solid(n, longest2);
    vf per_nz = v_sel(solid, n.z, v_f(R(1.0)));
    sweep_reciprocals(&l0.per_seen2, &l1.per_seen2);
    sweep_reciprocals(&l2.per_seen2, &per_nz);
    s.edge[0] = l0;
    s.edge[1] = l1;
    s.edge[2] = l2;
    sweep_edge(&s, k.radius2, k.qx, k.qy, k.h, k.e0x, k.e0y, k.e0h, l0, FEATURE_E01, want);
    sweep_edge(&s, k.radius2, q1x, q1y, h1, e1x, e1y, e1h, l1, FEATURE_E12, want);
    sweep_edge(&s, k.radius2, k.qx, k.qy, k.h, k.e2x, k.e2y, k.e2h, l2, FEATURE_E20, want);
    sweep_face(&s, k, e1x, e1y, e1h, n, per_nz, solid, point, line, want);
    return s;
}
#endif
