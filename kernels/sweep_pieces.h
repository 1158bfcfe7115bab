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
    sweep_contact contact;
    contact.at = v_sel(m, a.at, b.at);
    contact.along = v_sel(m, a.along, b.along);
    contact.feature = vi_sel(m, a.feature, b.feature);
    return contact;
}

FN void sweep_contact_keep(sweep_contact *best, vm better, vf at, int feature)
{
    best->at = v_sel(better, at, best->at);
    best->feature = vi_max_where(better, v_i(feature), best->feature); /* features are tested in ascending order */
}

/* The ball around a vertex. q: the line of centres, relative to the vertex. */
FN void sweep_vertex(sweep_span *span, vf radius2, vf line_x, vf line_y, vf h, int feature, int want)
{
    const vf left = radius2 - (line_x * line_x + line_y * line_y);
    const vf chord = v_sqrt(left); /* half the chord; NaN where the line misses, so every comparison below is false */
    const vf enter = h - chord;
    sweep_contact_keep(&span->first, v_lt(enter, span->first.at), enter, feature);
    if (want != SWEEP_FIRST) {
        const vf leave = h + chord;
        sweep_contact_keep(&span->last, v_gt(leave, span->last.at), leave, feature);
    }
}

FN sweep_lengths sweep_lengths_of(vf ex, vf ey, vf eh)
{
    sweep_lengths lengths;
    const vf seen2 = ex * ex + ey * ey;
    lengths.space2 = seen2 + eh * eh;
    lengths.seen = v_lt(v_f(R(0x1p-48)), seen2);
    lengths.seen2 = v_sel(lengths.seen, seen2, v_f(R(1.0)));
    lengths.per_seen2 = lengths.seen2; /* inverted by sweep_reciprocals */
    return lengths;
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
FN void sweep_edge(sweep_span *span, vf radius2, vf line_x, vf line_y, vf h, vf ex, vf ey, vf eh, sweep_lengths lengths,
                   int feature, int want)
{
    const vf side = line_x * ey - line_y * ex, along0 = line_x * ex + line_y * ey;
    const vf left = radius2 * lengths.seen2 - side * side;
    const vf chord = v_sqrt(left * lengths.space2), middle = along0 * eh;
    const vf enter = (middle - chord) * lengths.per_seen2, enter_at = h + enter;
    const vm enters = v_and(lengths.seen, v_lt(enter_at, span->first.at));
    sweep_edge_root(&span->first, enters, enter_at, enter * eh + along0, lengths.space2, feature);
    if (want != SWEEP_FIRST) {
        const vf leave = (middle + chord) * lengths.per_seen2, leave_at = h + leave;
        const vm leaves = v_and(lengths.seen, v_gt(leave_at, span->last.at));
        sweep_edge_root(&span->last, leaves, leave_at, leave * eh + along0, lengths.space2, feature);
    }
}

/* A side of the prism over the triangle: signed area, times |n|, between an edge and the projection of the centre, as a
 * function of the centre's height above P0. The area is not negative on the side of the opposite vertex. `from` is the
 * height of the vertex where the edge begins. */
typedef struct sweep_wall {
    vf slope, offset, from;
} sweep_wall;

FN sweep_wall sweep_wall_of(v3 n, vf line_x, vf line_y, vf ex, vf ey, vf eh, vf from)
{
    sweep_wall wall;
    wall.slope = n.x * ey - n.y * ex;
    wall.offset = (n.y * eh - n.z * ey) * line_x + (n.z * ex - n.x * eh) * line_y;
    wall.from = from;
    return wall;
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

FN sweep_crossing sweep_cross(sweep_prism prism, vf at)
{
    sweep_crossing crossing;
    crossing.at = at;
    crossing.inside = v_within(prism.low, at, prism.high);
    for (int i = 0; i < 3; i++) {
        const sweep_wall wall = prism.wall[i];
        crossing.inside = v_and(crossing.inside, v_le(v_f(R(0.0)), (at - wall.from) * wall.slope + wall.offset));
    }
    return crossing;
}

/* Normal of the triangle. The rounded cross product of a sliver leans along the sliver. A lean of eps moves the plane
 * by eps times the sliver's length. Removing the component along P0P1 leaves only lean across, which is harmless. The
 * result is longer by the factor e.e, scaled to [1, 2). A triangle without area gives noise at right angles to the
 * edge, or zero: then the face never wins over the edges. */
FN v3 sweep_normal(sweep_view view, vf e0_length2)
{
    const v3 n = v3_of(view.e01y * view.e02h - view.e01h * view.e02y, view.e01h * view.e02x - view.e01x * view.e02h,
                       view.e01x * view.e02y - view.e01y * view.e02x);
    const v3 e = v3_of(view.e01x, view.e01y, view.e01h);
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
FN void sweep_face(sweep_span *span, sweep_view view, vf e12x, vf e12y, vf e12h, v3 n, vf per_nz, vm solid, vm point,
                   sweep_line line, int want)
{
    const vf zero = v_f(R(0.0)), length = v_sqrt(v3_dot(n, n)), slant = length * v_abs(per_nz);
    const vf middle = -(n.x * view.line_x + n.y * view.line_y) * per_nz, chord = view.radius * slant;
    sweep_prism prism;
    prism.wall[0] = sweep_wall_of(n, view.line_x, view.line_y, view.e01x, view.e01y, view.e01h, zero);
    prism.wall[1] = sweep_wall_of(n, view.line_x - view.e01x, view.line_y - view.e01y, e12x, e12y, e12h, view.e01h);
    prism.wall[2] = sweep_wall_of(n, view.line_x, view.line_y, -view.e02x, -view.e02y, -view.e02h, zero);
    /* A contact lies within the triangle's heights, extended by the radius. The sides of a needle are almost parallel:
     * without this limit they would accept a root far beyond its tip. */
    const vf reach = view.radius + v_f(R(0x1p-10));
    prism.low = v_min(v_min(view.e01h, view.e02h), zero) - reach;
    prism.high = v_max(v_max(view.e01h, view.e02h), zero) + reach;
    sweep_crossing enter = sweep_cross(prism, middle - chord), leave = sweep_cross(prism, middle + chord);
    enter.inside = v_and(solid, enter.inside);
    leave.inside = v_and(solid, leave.inside);
    /* radius along the normal, in the direction of the motion */
    vf offset = v_copysign_one(n.z) * view.radius / length;
    if (v_any(point)) {
        const vm through = v_and(point, line.through);
        /* A point hits only triangles that its ray passes through: the sides of a needle accept roots beyond its
         * tip. */
        const vm sphere = v_lt(v_f(R(0x1p-40)), view.radius);
        enter.inside = v_and(enter.inside, v_or(sphere, line.through));
        leave.inside = v_and(leave.inside, v_or(sphere, line.through));
        enter.at = v_sel(enter.inside, enter.at, line.enter);
        leave.at = v_sel(leave.inside, leave.at, line.leave);
        enter.inside = v_or(enter.inside, through);
        leave.inside = v_or(leave.inside, through);
        offset = v_sel_or_zero(solid, offset); /* a triangle without area has no normal */
    }
    const vf enter_at = view.p0_height + enter.at, leave_at = view.p0_height + leave.at;
    sweep_contact_keep(&span->first, v_and(enter.inside, v_lt(enter_at, span->first.at)), enter_at, FEATURE_FACE);
    if (want != SWEEP_FIRST)
        sweep_contact_keep(&span->last, v_and(leave.inside, v_gt(leave_at, span->last.at)), leave_at, FEATURE_FACE);
    /* rotated back out of the view */
    const v3 m = v3_mul(n, offset);
    span->to_face = v3_add(v3_add(v3_mul(view.axes.s, m.x), v3_mul(view.axes.w, m.y)), v3_mul(view.axes.u, m.z));
}

/* Line test for spheres so small that the line of centres alone decides about the face. The solver does this first, so
 * that the registers of the rare test near an edge do not add to those of later steps. */
FN sweep_line sweep_line_of_points(sweep_in in, sweep_view view, vm point)
{
    sweep_line line;
    line.enter = line.leave = v_f(R(0.0));
    line.through = point;
    return v_any(point) ? sweep_line_of(in, view, point) : line;
}

FN sweep_contact sweep_no_contact(vf at)
{
    sweep_contact contact;
    contact.at = at;
    contact.along = v_f(R(0.0));
    contact.feature = v_i(FEATURE_NONE);
    return contact;
}

/* Heights of first and last contact: the earliest and latest root over the seven features. */
FN sweep_span sweep_solve(sweep_in in, sweep_view view, int want)
{
    sweep_span span;
    span.first = sweep_no_contact(v_infinity());
    span.last = sweep_no_contact(-v_infinity());
    const vm point = v_le(view.radius, view.noise);
    const sweep_line line = sweep_line_of_points(in, view, point);
    const vf line1_x = view.line_x - view.e01x, line1_y = view.line_y - view.e01y, h1 = view.p0_height + view.e01h;
    const vf e12x = view.e02x - view.e01x, e12y = view.e02y - view.e01y, e12h = view.e02h - view.e01h;
    sweep_vertex(&span, view.radius2, view.line_x, view.line_y, view.p0_height, FEATURE_V0, want);
    sweep_vertex(&span, view.radius2, line1_x, line1_y, h1, FEATURE_V1, want);
    sweep_vertex(&span, view.radius2, view.line_x - view.e02x, view.line_y - view.e02y, view.p0_height + view.e02h,
                 FEATURE_V2, want);
    sweep_lengths l0 = sweep_lengths_of(view.e01x, view.e01y, view.e01h), l1 = sweep_lengths_of(e12x, e12y, e12h);
    sweep_lengths l2 = sweep_lengths_of(view.e02x, view.e02y, view.e02h);
    const v3 n = sweep_normal(view, l0.space2);
    const vf longest2 = v_max(v_max(l0.space2, l1.space2), l2.space2);
    const vm solid = sweep_is_solid(n, longest2);
    vf per_nz = v_sel(solid, n.z, v_f(R(1.0)));
    sweep_reciprocals(&l0.per_seen2, &l1.per_seen2);
    sweep_reciprocals(&l2.per_seen2, &per_nz);
    span.edge[0] = l0;
    span.edge[1] = l1;
    span.edge[2] = l2;
    sweep_edge(&span, view.radius2, view.line_x, view.line_y, view.p0_height, view.e01x, view.e01y, view.e01h, l0,
               FEATURE_E01, want);
    sweep_edge(&span, view.radius2, line1_x, line1_y, h1, e12x, e12y, e12h, l1, FEATURE_E12, want);
    sweep_edge(&span, view.radius2, view.line_x, view.line_y, view.p0_height, view.e02x, view.e02y, view.e02h, l2,
               FEATURE_E20, want);
    sweep_face(&span, view, e12x, e12y, e12h, n, per_nz, solid, point, line, want);
    return span;
}
#endif
