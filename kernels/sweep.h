/* SPDX-License-Identifier: MIT */
/* Sweep of a moving sphere against a moving triangle: first and last contact.
 *
 * Source: Eberly, Intersection of Moving Sphere and Triangle: the squared distance from the moving centre to the
 * triangle is piecewise quadratic over the Voronoi regions of the triangle's seven features. Here each feature keeps
 * its own quadratic (ball, cylinder, slab) and its own region test, and contact is the earliest (latest) root that lies
 * in its region. The balls reach round the ends of the cylinders and the cylinders round the rims of the slab, so a
 * root that rounding pushes out of one region is found by the neighbour at the same time to second order: none can
 * fall between two elements. docs/numerics.md derives every formula below and the error of each step.
 *
 * Seen along the direction of motion everything is two-dimensional: after a rotation that turns the relative motion
 * into the third axis, the line of centres is a point q in the plane, seen from a vertex of height h. Then |q| is the
 * distance from the line to that vertex, and no quadratic needs a discriminant that cancels. */
#ifndef CAROM_SWEEP_H
#define CAROM_SWEEP_H
#include "closest.h"

typedef struct sweep_in {
    v3 center, velocity;
    vf radius;
    v3 p0, p1, p2, w;
} sweep_in;

typedef struct sweep_out {
    vf t_first, t_last;
    vi state;
    v3 point_first, point_last;
    vi feature_first, feature_last;
} sweep_out;

/* What the caller asked for; constants at every call, so that unused work folds away. */
#define SWEEP_FIRST 0 /* t_first */
#define SWEEP_TIMES 1 /* both times and the state */
#define SWEEP_FULL 2  /* and points and features */

/* Differences of the inputs: nothing else enters the arithmetic. */
typedef struct sweep_relative {
    v3 d, d_error; /* centre - P0, and its rounding error */
    v3 e01, e02;
    v3 v; /* relative velocity */
    vi size;   /* largest magnitude among edges and radius */
    vi length; /* and d */
    vi speed;
} sweep_relative;

FN sweep_relative sweep_relate(sweep_in in, int moving)
{
    sweep_relative x;
    x.d = v3_sub(in.center, in.p0);
    x.d_error = v3_sub_error(in.center, in.p0, x.d);
    x.e01 = v3_sub(in.p1, in.p0);
    x.e02 = v3_sub(in.p2, in.p0);
    x.v = moving ? v3_sub(in.velocity, in.w) : in.velocity;
    x.size = vi_max(vi_max(v3_magnitude(x.e01), v3_magnitude(x.e02)), v_magnitude(in.radius));
    x.length = vi_max(x.size, v3_magnitude(x.d));
    x.speed = v3_magnitude(x.v);
    return x;
}

/* Axes of which the third runs along v (Duff et al., Building an Orthonormal Basis, Revisited). Divisions and roots
 * bound the speed of the whole solver, so 1 / |v| and 1 / (sign |v| + v.z) come out of one. */
typedef struct sweep_basis {
    v3 s, w, u;
    vf per_speed;
} sweep_basis;

FN sweep_basis sweep_basis_of(v3 v)
{
    const vf sign = v_copysign_one(v.z), speed = v_sqrt(v3_dot(v, v));
    const vf sum = sign * speed + v.z;
    const vf both = v_f(R(1.0)) / (speed * sum);
    sweep_basis f;
    f.per_speed = both * sum;
    f.u = v3_mul(v, f.per_speed);
    const vf a = -(both * speed); /* -1 / (sign |v| + v.z) */
    const vf ax = v.x * a, ay = v.y * a;
    f.s = v3_of(v_f(R(1.0)) + sign * (f.u.x * ax), sign * (f.u.x * ay), -(sign * f.u.x));
    f.w = v3_of(f.u.x * ay, sign + f.u.y * ay, -f.u.y);
    return f;
}

/* The triangle seen along the motion, in units of 2^exponent(size). */
typedef struct sweep_view {
    vf qx, qy;            /* the line of centres seen from P0 */
    vf h;                 /* height of P0 above the start of local time */
    vf e0x, e0y, e0h;     /* P1 - P0 */
    vf e2x, e2y, e2h;     /* P2 - P0 */
    vf radius, radius2;
    vi unit;              /* exponent field */
    vf noise;             /* how far rounding may have moved the line of centres against the triangle */
    vf start;             /* time, in scaled units, at which the centre has height 0 */
    vf time_per_height;
    sweep_basis axes;
    v3 m, e01, e02;       /* unrotated: centre at that time seen from P0, edges */
} sweep_view;

/* Move the start of motion next to P0 before anything is squared. The shift has 12 significant bits and the velocity is
 * split into two parts of 12, so the products are exact and the far start loses no digit. */
FN v3 sweep_shifted(v3 d, v3 d_error, v3 v, vf shift)
{
    const v3 head = v3_of(v_head(v.x), v_head(v.y), v_head(v.z));
    const v3 near = v3_add(d, v3_mul(head, shift));
    return v3_add(v3_add(near, v3_mul(v3_sub(v, head), shift)), d_error);
}

FN sweep_view sweep_look(sweep_relative x, vf radius)
{
    const vi length = v_exponent(x.length);
    /* Below 2^-40 of the way the triangle is a point to every digit of the answer; a unit smaller still would push the
     * rest of the way out of range. */
    const vi unit = v_exponent(vi_max(x.size, length - (40 << R_EXPONENT_SHIFT)));
    const vf to_unit = v_scale_down(unit), to_length = v_scale_down(length);
    const v3 v = v3_mul(x.v, v_scale_down(v_exponent(x.speed)));
    const sweep_basis f = sweep_basis_of(v);
    const v3 d = v3_mul(x.d, to_length);
    sweep_view k;
    k.start = v_head(-(v3_dot(d, f.u) * f.per_speed));
    v3 m = sweep_shifted(d, v3_mul(x.d_error, to_length), v, k.start);
    m = v3_mul(m, v_scale_ratio(length, unit));
    const v3 e01 = v3_mul(x.e01, to_unit), e02 = v3_mul(x.e02, to_unit);
    k.m = m;
    k.unit = unit;
    k.noise = v_f(R(0x1p-22)) + v_scale_ratio(length, unit) * v_f(R(0x1p-33));
    k.axes = f;
    k.e01 = e01;
    k.e02 = e02;
    k.qx = v3_dot(m, f.s);
    k.qy = v3_dot(m, f.w);
    k.h = -v3_dot(m, f.u);
    k.e0x = v3_dot(e01, f.s);
    k.e0y = v3_dot(e01, f.w);
    k.e0h = v3_dot(e01, f.u);
    k.e2x = v3_dot(e02, f.s);
    k.e2y = v3_dot(e02, f.w);
    k.e2h = v3_dot(e02, f.u);
    k.radius = radius * to_unit;
    k.radius2 = k.radius * k.radius;
    k.time_per_height = f.per_speed * v_scale_ratio(unit, length);
    return k;
}

/* The best contact so far: height of the centre, feature, and for an edge how far along (of its squared length). */
typedef struct sweep_contact {
    vf at, along;
    vi feature;
} sweep_contact;

/* First and last contact, and what turns them into points. */
typedef struct sweep_span {
    sweep_contact first, last;
    vf length2[3]; /* of E01 E12 E20 */
    v3 to_face;    /* from the centre to the face where it enters; where it leaves, the same backwards */
} sweep_span;

FN sweep_contact sweep_contact_sel(vm m, sweep_contact a, sweep_contact b)
{
    sweep_contact c;
    c.at = v_sel(m, a.at, b.at);
    c.along = v_sel(m, a.along, b.along);
    c.feature = vi_sel(m, a.feature, b.feature);
    return c;
}

FN void sweep_take(sweep_contact *best, vm better, vf at, int feature)
{
    best->at = v_sel(better, at, best->at);
    best->feature = vi_sel(better, v_i(feature), best->feature);
}

/* Ball round a vertex whence the line of centres is seen at q. */
FN void sweep_vertex(sweep_span *s, vf radius2, vf qx, vf qy, vf h, int feature, int want)
{
    const vf left = radius2 - (qx * qx + qy * qy);
    const vf chord = v_sqrt(left); /* half of it; NaN where the line misses: every comparison below is false */
    const vf enter = h - chord;
    sweep_take(&s->first, v_lt(enter, s->first.at), enter, feature);
    if (want != SWEEP_FIRST) {
        const vf leave = h + chord;
        sweep_take(&s->last, v_gt(leave, s->last.at), leave, feature);
    }
}

/* Squared lengths of an edge: in space, and as seen along the motion. Seen end-on (shorter than 2^-24 units) it adds
 * nothing that its balls do not have, and is left to them. */
typedef struct sweep_lengths {
    vf space2, seen2, per_seen2;
    vm seen;
} sweep_lengths;

FN sweep_lengths sweep_lengths_of(vf ex, vf ey, vf eh)
{
    sweep_lengths l;
    const vf seen2 = ex * ex + ey * ey;
    l.space2 = seen2 + eh * eh;
    l.seen = v_lt(v_f(R(0x1p-48)), seen2);
    l.seen2 = v_sel(l.seen, seen2, v_f(R(1.0)));
    l.per_seen2 = l.seen2; /* until sweep_reciprocals */
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
    sweep_take(best, beside, at, feature);
}

/* Cylinder round the edge e that leaves a vertex whence the line of centres is seen at q. */
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

/* Signed area, times |n|, between an edge and the foot of the centre, as a function of its height above P0: not negative
 * on the side of the opposite vertex. `from` is the height of the vertex where the edge begins. */
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

/* The prism over the triangle, and the heights beyond which nothing is touched. */
typedef struct sweep_prism {
    sweep_wall wall[3];
    vf low, high;
} sweep_prism;

typedef struct sweep_crossing {
    vf at;
    vm inside;
} sweep_crossing;

FN sweep_crossing sweep_cross(const sweep_prism *p, vf at)
{
    sweep_crossing c;
    c.at = at;
    c.inside = v_within(p->low, at, p->high);
    for (int i = 0; i < 3; i++) {
        const sweep_wall g = p->wall[i];
        c.inside = v_and(c.inside, v_le(v_f(R(0.0)), (at - g.from) * g.slope + g.offset));
    }
    return c;
}

/* For a point the edges are no cylinders that would cover the seam between two triangles. So the walls give way by the
 * noise, and the line of centres crosses the plane anywhere within the noise of its root; but where it then is, the
 * triangle must be (the walls of a needle open far beyond its tip). */
FN sweep_crossing sweep_cross_point(const sweep_prism *p, const vf *length2, sweep_view k, vf n_length, vf slant, vf at)
{
    const vf zero = v_f(R(0.0)), late = k.noise * slant;
    vf from = v_max(at - late, p->low), to = v_min(at + late, p->high);
    for (int i = 0; i < 3; i++) {
        const sweep_wall g = p->wall[i];
        const vf offset = g.offset + k.noise * n_length * v_sqrt(length2[i]), bound = g.from - offset / g.slope;
        const vf outside = v_sel(v_le(zero, offset), from, v_infinity()); /* a wall along the motion */
        from = v_sel(v_lt(zero, g.slope), v_max(bound, from), v_sel(v_eq(zero, g.slope), outside, from));
        to = v_sel(v_lt(g.slope, zero), v_min(bound, to), to);
    }
    sweep_crossing c;
    c.at = v_min(v_max(at, from), to);
    const v3 p0 = v3_of(-k.qx, -k.qy, -c.at), e0 = v3_of(k.e0x, k.e0y, k.e0h), e2 = v3_of(k.e2x, k.e2y, k.e2h);
    const vf near = k.radius + k.noise * R(3.0);
    c.inside = v_and(v_le(from, to), v_le(closest_on_triangle(p0, e0, e2).distance2, near * near));
    return c;
}

/* Normal of the triangle. A sliver's cross product rounds to a vector that leans along the sliver, and a lean of eps
 * there moves the plane by eps times its length; taking out the part along P0P1 leaves only lean across, which is
 * harmless. The result is longer by e.e brought to [1, 2). A triangle without area gives noise square to the edge, or
 * zero: then the face never wins over the edges. */
FN v3 sweep_normal(sweep_view k, vf e0_length2)
{
    const v3 n = v3_of(k.e0y * k.e2h - k.e0h * k.e2y, k.e0h * k.e2x - k.e0x * k.e2h, k.e0x * k.e2y - k.e0y * k.e2x);
    const v3 e = v3_of(k.e0x, k.e0y, k.e0h);
    const vf scale = v_scale_down(v_exponent(v_bits(e0_length2)));
    return v3_sub(v3_mul(n, e0_length2 * scale), v3_mul(e, v3_dot(n, e) * scale));
}

/* Does the face count? A triangle narrower than 2^-22 of its length has walls of noise and is left to its edges; so is
 * one in whose plane the sphere moves: at an angle of 2^-26 it sinks in by 2^-26 on its way. (2^-100 and 2^-76: squares
 * and products that leave the range.) */
FN vm sweep_is_solid(v3 n, vf longest2)
{
    const vf least2 = longest2 * longest2 * v_f(R(0x1p-44)) + v_f(R(0x1p-100));
    return v_and(v_lt(least2, v3_dot(n, n)), v_lt(v_f(R(0x1p-76)), v_abs(n.z)));
}

/* Slab of the plane, bounded by the prism over the triangle. The region test is taken at the root itself, so a root that
 * is ill-conditioned (motion along the plane) can be early or late by no more than the slide, and never beside the
 * triangle. */
FN void sweep_face(sweep_span *s, sweep_view k, vf e1x, vf e1y, vf e1h, v3 n, vf per_nz, vm solid, int want)
{
    const vf zero = v_f(R(0.0)), length = v_sqrt(v3_dot(n, n)), slant = length * v_abs(per_nz);
    const vf middle = -(n.x * k.qx + n.y * k.qy) * per_nz, chord = k.radius * slant;
    sweep_prism p;
    p.wall[0] = sweep_wall_of(n, k.qx, k.qy, k.e0x, k.e0y, k.e0h, zero);
    p.wall[1] = sweep_wall_of(n, k.qx - k.e0x, k.qy - k.e0y, e1x, e1y, e1h, k.e0h);
    p.wall[2] = sweep_wall_of(n, k.qx, k.qy, -k.e2x, -k.e2y, -k.e2h, zero);
    /* A contact lies no farther along the motion than the triangle and the radius reach; the walls of a needle, all but
     * parallel, would let a root pass far beyond its tip. */
    const vf reach = k.radius + v_f(R(0x1p-10));
    p.low = v_min(v_min(k.e0h, k.e2h), zero) - reach;
    p.high = v_max(v_max(k.e0h, k.e2h), zero) + reach;
    sweep_crossing enter = sweep_cross(&p, middle - chord), leave = sweep_cross(&p, middle + chord);
    const vm point = v_le(k.radius, k.noise);
    if (v_any(point)) {
        const sweep_crossing in = sweep_cross_point(&p, s->length2, k, length, slant, enter.at);
        const sweep_crossing out = sweep_cross_point(&p, s->length2, k, length, slant, leave.at);
        enter.at = v_sel(point, in.at, enter.at);
        leave.at = v_sel(point, out.at, leave.at);
        enter.inside = v_or(enter.inside, v_and(point, in.inside));
        leave.inside = v_or(leave.inside, v_and(point, out.inside));
    }
    const vf enter_at = k.h + enter.at, leave_at = k.h + leave.at;
    sweep_take(&s->first, v_and(v_and(solid, enter.inside), v_lt(enter_at, s->first.at)), enter_at, FEATURE_FACE);
    if (want != SWEEP_FIRST)
        sweep_take(&s->last, v_and(v_and(solid, leave.inside), v_gt(leave_at, s->last.at)), leave_at, FEATURE_FACE);
    /* r along the normal, with the motion, turned back out of the view. */
    const v3 m = v3_mul(n, v_copysign_one(n.z) * k.radius / length);
    s->to_face = v3_add(v3_add(v3_mul(k.axes.s, m.x), v3_mul(k.axes.w, m.y)), v3_mul(k.axes.u, m.z));
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
FN sweep_span sweep_solve(sweep_view k, int want)
{
    sweep_span s;
    s.first = sweep_no_contact(v_infinity());
    s.last = sweep_no_contact(-v_infinity());
    const vf q1x = k.qx - k.e0x, q1y = k.qy - k.e0y, h1 = k.h + k.e0h;
    const vf e1x = k.e2x - k.e0x, e1y = k.e2y - k.e0y, e1h = k.e2h - k.e0h;
    sweep_vertex(&s, k.radius2, k.qx, k.qy, k.h, FEATURE_V0, want);
    sweep_vertex(&s, k.radius2, q1x, q1y, h1, FEATURE_V1, want);
    sweep_vertex(&s, k.radius2, k.qx - k.e2x, k.qy - k.e2y, k.h + k.e2h, FEATURE_V2, want);
    sweep_lengths l0 = sweep_lengths_of(k.e0x, k.e0y, k.e0h), l1 = sweep_lengths_of(e1x, e1y, e1h);
    sweep_lengths l2 = sweep_lengths_of(k.e2x, k.e2y, k.e2h);
    const v3 n = sweep_normal(k, l0.space2);
    s.length2[0] = l0.space2;
    s.length2[1] = l1.space2;
    s.length2[2] = l2.space2;
    const vf longest2 = v_max(v_max(l0.space2, l1.space2), l2.space2);
    const vm solid = sweep_is_solid(n, longest2);
    vf per_nz = v_sel(solid, n.z, v_f(R(1.0)));
    sweep_reciprocals(&l0.per_seen2, &l1.per_seen2);
    sweep_reciprocals(&l2.per_seen2, &per_nz);
    sweep_edge(&s, k.radius2, k.qx, k.qy, k.h, k.e0x, k.e0y, k.e0h, l0, FEATURE_E01, want);
    sweep_edge(&s, k.radius2, q1x, q1y, h1, e1x, e1y, e1h, l1, FEATURE_E12, want);
    sweep_edge(&s, k.radius2, k.qx, k.qy, k.h, k.e2x, k.e2y, k.e2h, l2, FEATURE_E20, want);
    sweep_face(&s, k, e1x, e1y, e1h, n, per_nz, solid, want);
    return s;
}

/* State of the interval [first, last], by the table of docs/design.md. */
FN vi sweep_state(vf first, vf last)
{
    const vf zero = v_f(R(0.0));
    vi state = vi_sel(v_lt(last, zero), v_i(STATE_PAST),
                      vi_sel(v_eq(last, zero), v_i(STATE_PARTING), v_i(STATE_OVERLAPPING)));
    state = vi_sel(v_eq(first, zero), v_i(STATE_TOUCHING), state);
    return vi_sel(v_lt(zero, first), v_i(STATE_APPROACHING), state);
}

/* A point of the triangle: a vertex and two equal steps from there, so that a vertex is met exactly and the difference
 * of two huge ones stays finite. */
typedef struct sweep_foot {
    v3 vertex, step;
} sweep_foot;

FN sweep_foot sweep_foot_of(sweep_in in, spot s)
{
    const vf zero = v_f(R(0.0)), scale = v_f(R(0.5));
    const vm e12 = vi_eq(s.feature, v_i(FEATURE_E12)), vertex = vi_gt(v_i(FEATURE_E01), s.feature);
    sweep_foot f;
    f.vertex = v3_sel(vi_eq(s.feature, v_i(FEATURE_V2)), in.p2, in.p0);
    f.vertex = v3_sel(v_or(vi_eq(s.feature, v_i(FEATURE_V1)), e12), in.p1, f.vertex);
    const v3 from = v3_mul(f.vertex, scale);
    const v3 to1 = v3_sub(v3_mul(in.p1, scale), from), to2 = v3_sub(v3_mul(in.p2, scale), from);
    const vf w1 = v_sel(v_or(vertex, e12), zero, s.w1), w2 = v_sel(vertex, zero, s.w2);
    f.step = v3_add(v3_mul(to1, w1), v3_mul(to2, w2));
    return f;
}

/* Weights of P1 and P2 at a contact with a vertex or an edge; at the face they are zero. */
FN spot sweep_spot_of(const sweep_span *s, sweep_contact c)
{
    const vf zero = v_f(R(0.0)), one = v_f(R(1.0));
    const vm e01 = vi_eq(c.feature, v_i(FEATURE_E01)), e12 = vi_eq(c.feature, v_i(FEATURE_E12));
    const vm e20 = vi_eq(c.feature, v_i(FEATURE_E20)); /* walked from P0 */
    const vf along = c.along / v_sel(e01, s->length2[0], v_sel(e12, s->length2[1], s->length2[2]));
    const vf end1 = v_sel(vi_eq(c.feature, v_i(FEATURE_V1)), one, zero);
    const vf end2 = v_sel(vi_eq(c.feature, v_i(FEATURE_V2)), one, zero);
    spot at;
    at.w1 = v_sel(e01, along, v_sel(e12, one - along, end1));
    at.w2 = v_sel(v_or(e12, e20), along, end2);
    at.feature = c.feature;
    return at;
}

FN v3 sweep_place(sweep_in in, sweep_foot f, vf t, vm exists, int moving)
{
    const vf zero = v_f(R(0.0));
    v3 p = v3_add(v3_add(f.vertex, f.step), f.step);
    if (moving)
        p = v3_add(p, v3_mul(in.w, t));
    return v3_sel(exists, p, v3_of(zero, zero, zero));
}

/* Where a contact touches the triangle. On the face it is the centre's foot: weights from areas would slide along a
 * sliver. */
FN v3 sweep_point(sweep_in in, sweep_view k, const sweep_span *s, sweep_contact c, v3 to_face, vf half_unit, vf t,
                  vm exists, int moving)
{
    sweep_foot f = sweep_foot_of(in, sweep_spot_of(s, c));
    const v3 on_face = v3_add(v3_add(k.m, v3_mul(k.axes.u, c.at)), to_face);
    f.step = v3_sel(vi_eq(c.feature, v_i(FEATURE_FACE)), v3_mul(on_face, half_unit), f.step);
    return sweep_place(in, f, t, exists, moving);
}

/* No relative motion: the distance at time 0 decides, for all times. */
FN void sweep_still(sweep_in in, sweep_relative x, vf radius, vm still, sweep_out *out, int want)
{
    const vf scale = v_scale_down(v_exponent(x.length)), zero = v_f(R(0.0)), inf = v_infinity();
    const closest c = closest_on_triangle(v3_mul(x.d, -scale), v3_mul(x.e01, scale), v3_mul(x.e02, scale));
    const vf radius2 = (radius * scale) * (radius * scale);
    const vm in_contact = v_le(c.distance2, radius2);
    out->t_first = v_sel(still, v_sel(in_contact, -inf, inf), out->t_first);
    if (want == SWEEP_FIRST)
        return;
    const vi contact = vi_sel(v_eq(c.distance2, radius2), v_i(STATE_TOUCHING), v_i(STATE_OVERLAPPING));
    out->t_last = v_sel(still, v_sel(in_contact, inf, -inf), out->t_last);
    out->state = vi_sel(still, vi_sel(in_contact, contact, v_i(STATE_MISS)), out->state);
    if (want != SWEEP_FULL)
        return;
    const v3 point = sweep_place(in, sweep_foot_of(in, c.at), zero, in_contact, 0);
    const vi feature = vi_sel(in_contact, c.at.feature, v_i(FEATURE_NONE));
    out->point_first = v3_sel(still, point, out->point_first);
    out->point_last = v3_sel(still, point, out->point_last);
    out->feature_first = vi_sel(still, feature, out->feature_first);
    out->feature_last = vi_sel(still, feature, out->feature_last);
}

FN vm sweep_is_finite(sweep_in in, int moving)
{
    vm ok = v_and(v_and(v3_finite(in.center), v3_finite(in.velocity)), v_finite(in.radius));
    ok = v_and(ok, v_and(v_and(v3_finite(in.p0), v3_finite(in.p1)), v3_finite(in.p2)));
    return moving ? v_and(ok, v3_finite(in.w)) : ok;
}

/* A query made safe: scaled by 2^-8 where differences would overflow. */
typedef struct sweep_query {
    sweep_in in;
    sweep_relative x;
    vf back; /* what undoes the scaling of lengths */
    vi time; /* exponent field to add to times */
    vm valid;
} sweep_query;

/* Never needed by ordinary data, so under a branch. */
FN void sweep_rescue(sweep_query *q, int moving)
{
    const vi big = v_i(R_BIG_BITS), none = v_i(0), field = v_i(8 << R_EXPONENT_SHIFT);
    const vm finite = sweep_is_finite(q->in, moving);
    const vm far = v_and(finite, v_not(vi_gt(big, q->x.length))), fast = v_and(finite, v_not(vi_gt(big, q->x.speed)));
    const vf one = v_f(R(1.0)), small = v_f(R(0x1p-8));
    const vf length = v_sel(far, small, one), speed = v_sel(fast, small, one);
    q->valid = v_and(q->valid, finite);
    q->back = v_sel(far, v_f(R(0x1p8)), one);
    q->time = vi_sel(far, field, none) - vi_sel(fast, field, none);
    q->in.center = v3_mul(q->in.center, length);
    q->in.radius = q->in.radius * length;
    q->in.p0 = v3_mul(q->in.p0, length);
    q->in.p1 = v3_mul(q->in.p1, length);
    q->in.p2 = v3_mul(q->in.p2, length);
    q->in.velocity = v3_mul(q->in.velocity, speed);
    if (moving)
        q->in.w = v3_mul(q->in.w, speed);
    q->x = sweep_relate(q->in, moving);
}

FN sweep_query sweep_prepare(sweep_in in, int moving)
{
    sweep_query q;
    q.in = in;
    q.x = sweep_relate(in, moving);
    q.back = v_f(R(1.0));
    q.time = v_i(0);
    q.valid = v_le(v_f(R(0.0)), in.radius);
    if (v_any(v_not(vi_gt(v_i(R_BIG_BITS), vi_max(q.x.length, q.x.speed)))))
        sweep_rescue(&q, moving);
    return q;
}

FN void sweep_invalid(vm valid, sweep_out *out, int want)
{
    const vf zero = v_f(R(0.0)), inf = v_infinity();
    const v3 origin = v3_of(zero, zero, zero);
    out->t_first = v_sel(valid, out->t_first, inf);
    if (want == SWEEP_FIRST)
        return;
    out->t_last = v_sel(valid, out->t_last, -inf);
    out->state = vi_sel(valid, out->state, v_i(STATE_INVALID));
    if (want != SWEEP_FULL)
        return;
    out->point_first = v3_sel(valid, out->point_first, origin);
    out->point_last = v3_sel(valid, out->point_last, origin);
    out->feature_first = vi_sel(valid, out->feature_first, v_i(FEATURE_NONE));
    out->feature_last = vi_sel(valid, out->feature_last, v_i(FEATURE_NONE));
}

/* The heights of contact as answers to the caller. */
FN sweep_out sweep_answer(sweep_in given, sweep_query q, sweep_view k, sweep_span s, int want, int moving)
{
    const vf inf = v_infinity();
    const vm hit = v_lt(s.first.at, inf);
    const vf first = k.start + s.first.at * k.time_per_height;
    const v_pow2 unit = v_pow2_of(v_exponent(q.x.length) - v_exponent(q.x.speed) + q.time);
    sweep_out out;
    out.t_first = v_sel(hit, v_positive_zero(v_ldexp(first, unit)), inf);
    if (want != SWEEP_FIRST) {
        /* The last root can be lost or overtaken only by rounding where the two meet. */
        const vf last = k.start + v_max(s.last.at, s.first.at) * k.time_per_height;
        out.t_last = v_sel(hit, v_positive_zero(v_ldexp(last, unit)), -inf);
        out.state = vi_sel(hit, sweep_state(first, last), v_i(STATE_MISS));
    }
    if (want == SWEEP_FULL) {
        const sweep_contact end = sweep_contact_sel(v_lt(s.first.at, s.last.at), s.last, s.first);
        const vm some_first = v_and(hit, v_finite(out.t_first)), some_last = v_and(hit, v_finite(out.t_last));
        const vf half_unit = v_from_bits(k.unit) * (q.back * R(0.5));
        const v3 back = v3_mul(s.to_face, v_f(R(-1.0)));
        const v3 end_face = v3_sel(v_lt(s.first.at, s.last.at), back, s.to_face);
        out.point_first =
            sweep_point(given, k, &s, s.first, s.to_face, half_unit, out.t_first, some_first, moving);
        out.point_last = sweep_point(given, k, &s, end, end_face, half_unit, out.t_last, some_last, moving);
        out.feature_first = vi_sel(some_first, s.first.feature, v_i(FEATURE_NONE));
        out.feature_last = vi_sel(some_last, end.feature, v_i(FEATURE_NONE));
    }
    const vm still = vi_eq(q.x.speed, v_i(0));
    if (v_any(still))
        sweep_still(given, q.x, q.in.radius, still, &out, want);
    if (v_any(v_not(q.valid)))
        sweep_invalid(q.valid, &out, want);
    return out;
}

FN sweep_out sweep(sweep_in in, int want, int moving)
{
    const sweep_query q = sweep_prepare(in, moving);
    const sweep_view k = sweep_look(q.x, q.in.radius);
    return sweep_answer(in, q, k, sweep_solve(k, want), want, moving);
}
#endif
