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

/* Lane by lane: a where m, else b. */
FN sweep_contact sweep_contact_sel(vm m, sweep_contact a, sweep_contact b)
{
    sweep_contact contact;
    contact.at = v_sel(m, a.at, b.at);
    contact.along = v_sel(m, a.along, b.along);
    contact.feature = vi_sel(m, a.feature, b.feature);
    return contact;
}

/* The contact that a root is a candidate for; a constant at every call. */
#define SWEEP_ENTER 0
#define SWEEP_LEAVE 1

/* Lanes in which a root is earlier than the first contact so far, or later than the last. NaN is neither. */
FN vm sweep_is_better(const sweep_contact *best, vf at, int which)
{
    return which == SWEEP_ENTER ? v_lt(at, best->at) : v_gt(at, best->at);
}

/* Replaces the best contact where the root is better. Features are tested in ascending order. */
FN void sweep_contact_keep(sweep_contact *best, vf at, int feature, int which)
{
    best->feature = vi_max_where(sweep_is_better(best, at, which), v_i(feature), best->feature);
    best->at = which == SWEEP_ENTER ? v_min(at, best->at) : v_max(at, best->at);
}

/* Replaces it in lanes `counts` alone. */
FN void sweep_contact_keep_where(sweep_contact *best, vm counts, vf at, int feature, int which)
{
    const vm better = v_and(counts, sweep_is_better(best, at, which));
    best->feature = vi_max_where(better, v_i(feature), best->feature);
    best->at = which == SWEEP_ENTER ? v_min_where(counts, at, best->at) : v_max_where(counts, at, best->at);
}

/* First and last contact with the ball around a vertex. line: the line of centres, relative to the vertex. */
FN void sweep_vertex(sweep_span *span, vf radius2, vf line_x, vf line_y, vf height, int feature, int want)
{
    const vf chord2 = radius2 - (line_x * line_x + line_y * line_y);
    const vf half_chord = v_sqrt(chord2); /* NaN where the line misses, so every comparison below is false */
    const vf enter = height - half_chord;
    sweep_contact_keep(&span->first, enter, feature, SWEEP_ENTER);
    if (want != SWEEP_FIRST) {
        const vf leave = height + half_chord;
        sweep_contact_keep(&span->last, leave, feature, SWEEP_LEAVE);
    }
}

/* Squared lengths of an edge (x and y across the motion, h along it). */
FN sweep_lengths sweep_lengths_of(vf edge_x, vf edge_y, vf edge_h)
{
    sweep_lengths lengths;
    const vf seen2 = edge_x * edge_x + edge_y * edge_y;
    lengths.space2 = seen2 + edge_h * edge_h;
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

/* Replaces the best contact in lanes `seen` where the root is better and lies between the ends of the edge. */
FN void sweep_edge_root(sweep_contact *best, vm seen, vf at, vf along, vf length2, int feature, int which)
{
    const vm between_ends = v_and(seen, v_within(v_f(R(0.0)), along, length2));
    best->along = v_sel(v_and(between_ends, sweep_is_better(best, at, which)), along, best->along);
    sweep_contact_keep_where(best, between_ends, at, feature, which);
}

/* First and last contact with the cylinder around an edge. line: the line of centres, relative to the vertex where the
 * edge begins. */
FN void sweep_edge(sweep_span *span, vf radius2, vf line_x, vf line_y, vf height, vf edge_x, vf edge_y, vf edge_h,
                   sweep_lengths lengths, int feature, int want)
{
    const vf side = line_x * edge_y - line_y * edge_x, along0 = line_x * edge_x + line_y * edge_y;
    const vf chord2 = radius2 * lengths.seen2 - side * side;
    const vf half_chord = v_sqrt(chord2 * lengths.space2), middle = along0 * edge_h;
    const vf enter = (middle - half_chord) * lengths.per_seen2, enter_at = height + enter;
    sweep_edge_root(&span->first, lengths.seen, enter_at, enter * edge_h + along0, lengths.space2, feature,
                    SWEEP_ENTER);
    if (want != SWEEP_FIRST) {
        const vf leave = (middle + half_chord) * lengths.per_seen2, leave_at = height + leave;
        sweep_edge_root(&span->last, lengths.seen, leave_at, leave * edge_h + along0, lengths.space2, feature,
                        SWEEP_LEAVE);
    }
}

/* A side of the prism over the triangle: signed area, times |n|, between an edge and the projection of the centre, as a
 * function of the centre's height above P0. The area is not negative on the side of the opposite vertex. `from` is the
 * height of the vertex where the edge begins. */
typedef struct sweep_wall {
    vf slope, offset, from;
} sweep_wall;

/* The prism's side over an edge. n: the triangle's normal. */
FN sweep_wall sweep_wall_of(v3 normal, vf line_x, vf line_y, vf edge_x, vf edge_y, vf edge_h, vf from)
{
    sweep_wall wall;
    wall.slope = normal.x * edge_y - normal.y * edge_x;
    wall.offset = (normal.y * edge_h - normal.z * edge_y) * line_x + (normal.z * edge_x - normal.x * edge_h) * line_y;
    wall.from = from;
    return wall;
}

/* The prism over the triangle: a wall over each edge, and the range of heights at which contact is possible. */
typedef struct sweep_prism {
    sweep_wall wall[3];
    vf low, high;
} sweep_prism;

typedef struct sweep_crossing {
    vf at;
    vm inside;
} sweep_crossing;

/* Whether the centre is inside the prism at a height. */
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
    const v3 normal =
        v3_of(view.e01y * view.e02h - view.e01h * view.e02y, view.e01h * view.e02x - view.e01x * view.e02h,
              view.e01x * view.e02y - view.e01y * view.e02x);
    const v3 edge = v3_of(view.e01x, view.e01y, view.e01h);
    const vf scale = v_scale_down(v_exponent(v_bits(e0_length2)));
    return v3_sub(v3_mul(normal, e0_length2 * scale), v3_mul(edge, v3_dot(normal, edge) * scale));
}

/* Whether the face is tested. A triangle narrower than 2^-22 of its length is not: its sides are noise, and its edges
 * cover it. The edges also cover a triangle in whose plane the sphere moves: at an angle of 2^-26 the sphere penetrates
 * by 2^-26 of its path. (Squares below 2^-100 and products below 2^-76 leave the range.) */
FN vm sweep_is_solid(v3 normal, vf longest2)
{
    const vf least2 = longest2 * longest2 * v_f(R(0x1p-44)) + v_f(R(0x1p-100));
    return v_and(v_lt(least2, v3_dot(normal, normal)), v_lt(v_f(R(0x1p-76)), v_abs(normal.z)));
}

/* The slab around the plane, bounded by the prism over the triangle. The region test is made at the root itself. So an
 * ill-conditioned root (motion along the plane) is early or late by no more than the slide, and never beside the
 * triangle. */
FN void sweep_face(sweep_span *span, sweep_view view, vf e12x, vf e12y, vf e12h, v3 normal, vf per_nz, vm is_solid,
                   vm is_point, sweep_line line, int want, int with_points)
{
    const vf zero = v_f(R(0.0)), length = v_sqrt(v3_dot(normal, normal)), per_normal_speed = length * v_abs(per_nz);
    const vf middle = -(normal.x * view.line_x + normal.y * view.line_y) * per_nz,
             half_chord = view.radius * per_normal_speed;
    sweep_prism prism;
    /* The prism over the triangle, with a wall over each edge. */
    prism.wall[0] = sweep_wall_of(normal, view.line_x, view.line_y, view.e01x, view.e01y, view.e01h, zero);
    prism.wall[1] =
        sweep_wall_of(normal, view.line_x - view.e01x, view.line_y - view.e01y, e12x, e12y, e12h, view.e01h);
    prism.wall[2] = sweep_wall_of(normal, view.line_x, view.line_y, -view.e02x, -view.e02y, -view.e02h, zero);
    /* A contact lies within the triangle's heights, extended by the radius. The sides of a needle are almost parallel:
     * without this limit they would accept a root far beyond its tip. */
    const vf reach = view.radius + v_f(R(0x1p-10));
    prism.low = v_min(v_min(view.e01h, view.e02h), zero) - reach;
    prism.high = v_max(v_max(view.e01h, view.e02h), zero) + reach;
    /* Where the centre enters and leaves the slab around the plane. */
    sweep_crossing enter = sweep_cross(prism, middle - half_chord), leave = sweep_cross(prism, middle + half_chord);
    enter.inside = v_and(is_solid, enter.inside);
    leave.inside = v_and(is_solid, leave.inside);
    /* The radius along the normal, in the direction of the motion. */
    vf offset = v_copysign_one(normal.z) * view.radius / length;
    /* Spheres that are almost points: the line test replaces roots outside the prism. */
    if (with_points && v_any(is_point)) {
        const vm passes_through = v_and(is_point, line.through);
        /* A point hits only triangles that its ray passes through: the sides of a needle accept roots beyond its
         * tip. */
        const vm is_sphere = v_lt(v_f(R(0x1p-40)), view.radius);
        enter.inside = v_and(enter.inside, v_or(is_sphere, line.through));
        leave.inside = v_and(leave.inside, v_or(is_sphere, line.through));
        enter.at = v_sel(enter.inside, enter.at, line.enter);
        leave.at = v_sel(leave.inside, leave.at, line.leave);
        enter.inside = v_or(enter.inside, passes_through);
        leave.inside = v_or(leave.inside, passes_through);
        offset = v_sel_or_zero(is_solid, offset); /* a triangle without area has no normal */
    }
    /* Contacts with the face count if they are before the first, or after the last, so far. */
    const vf enter_at = view.p0_height + enter.at, leave_at = view.p0_height + leave.at;
    sweep_contact_keep_where(&span->first, enter.inside, enter_at, FEATURE_FACE, SWEEP_ENTER);
    if (want != SWEEP_FIRST)
        sweep_contact_keep_where(&span->last, leave.inside, leave_at, FEATURE_FACE, SWEEP_LEAVE);
    /* The offset to the face, rotated back out of the view. */
    const v3 to_face = v3_mul(normal, offset);
    span->to_face =
        v3_add(v3_add(v3_mul(view.axes.s, to_face.x), v3_mul(view.axes.w, to_face.y)), v3_mul(view.axes.u, to_face.z));
}

/* Line test for spheres so small that the line of centres alone decides about the face. The solver does this first, so
 * that the registers of the rare test near an edge do not add to those of later steps. */
FN sweep_line sweep_line_of_points(sweep_in in, sweep_view view, vm is_point)
{
    sweep_line line;
    line.enter = line.leave = v_f(R(0.0));
    line.through = is_point;
    return v_any(is_point) ? sweep_line_of(in, view, is_point) : line;
}

/* A contact that any other one replaces. */
FN sweep_contact sweep_no_contact(vf at)
{
    sweep_contact contact;
    contact.at = at;
    contact.along = v_f(R(0.0));
    contact.feature = v_i(FEATURE_NONE);
    return contact;
}

/* Heights of first and last contact: the earliest and latest root over the seven features. with_points: some lane may
 * be a point; a constant at every call. */
FN sweep_span sweep_span_of(sweep_view view, vm is_point, sweep_line line, int want, int with_points)
{
    sweep_span span;
    span.first = sweep_no_contact(v_infinity());
    span.last = sweep_no_contact(-v_infinity());
    /* The line of centres relative to P1, and the edge E12. */
    const vf line1_x = view.line_x - view.e01x, line1_y = view.line_y - view.e01y,
             p1_height = view.p0_height + view.e01h;
    const vf e12x = view.e02x - view.e01x, e12y = view.e02y - view.e01y, e12h = view.e02h - view.e01h;
    /* Balls around the vertices. */
    sweep_vertex(&span, view.radius2, view.line_x, view.line_y, view.p0_height, FEATURE_V0, want);
    sweep_vertex(&span, view.radius2, line1_x, line1_y, p1_height, FEATURE_V1, want);
    sweep_vertex(&span, view.radius2, view.line_x - view.e02x, view.line_y - view.e02y, view.p0_height + view.e02h,
                 FEATURE_V2, want);
    /* Terms of edges and face, each pair of reciprocals by one division. */
    sweep_lengths length01 = sweep_lengths_of(view.e01x, view.e01y, view.e01h),
                  length12 = sweep_lengths_of(e12x, e12y, e12h);
    sweep_lengths length20 = sweep_lengths_of(view.e02x, view.e02y, view.e02h);
    const v3 normal = sweep_normal(view, length01.space2);
    const vf longest2 = v_max(v_max(length01.space2, length12.space2), length20.space2);
    const vm is_solid = sweep_is_solid(normal, longest2);
    vf per_nz = v_sel(is_solid, normal.z, v_f(R(1.0)));
    sweep_reciprocals(&length01.per_seen2, &length12.per_seen2);
    sweep_reciprocals(&length20.per_seen2, &per_nz);
    span.edge[0] = length01;
    span.edge[1] = length12;
    span.edge[2] = length20;
    /* Cylinders around the edges, then the slab around the face. */
    sweep_edge(&span, view.radius2, view.line_x, view.line_y, view.p0_height, view.e01x, view.e01y, view.e01h, length01,
               FEATURE_E01, want);
    sweep_edge(&span, view.radius2, line1_x, line1_y, p1_height, e12x, e12y, e12h, length12, FEATURE_E12, want);
    sweep_edge(&span, view.radius2, view.line_x, view.line_y, view.p0_height, view.e02x, view.e02y, view.e02h, length20,
               FEATURE_E20, want);
    sweep_face(&span, view, e12x, e12y, e12h, normal, per_nz, is_solid, is_point, line, want, with_points);
    return span;
}

/* Heights of contact of any spheres. `in` is what the line test reads. */
FN sweep_span sweep_solve(sweep_in in, sweep_view view, int want)
{
    const vm is_point = v_le(view.radius, view.noise);
    return sweep_span_of(view, is_point, sweep_line_of_points(in, view, is_point), want, 1);
}

/* Heights of contact where no lane is a point. */
FN sweep_span sweep_solve_spheres(sweep_view view, int want)
{
    sweep_line line;
    line.enter = line.leave = v_f(R(0.0));
    line.through = v_lt(line.enter, line.leave); /* none */
    return sweep_span_of(view, line.through, line, want, 0);
}
#endif
