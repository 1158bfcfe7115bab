/* SPDX-License-Identifier: MIT */
/* Sweep of a moving sphere against a moving triangle: first and last contact.
 *
 * Source: Eberly, Intersection of Moving Sphere and Triangle. The squared distance from the moving centre to the
 * triangle is piecewise quadratic over the Voronoi regions of the triangle's seven features. Here each feature has its
 * own quadratic (ball, cylinder, slab) and its own region test. The first (last) contact is the earliest (latest) root
 * that lies in its region. The balls extend past the ends of the cylinders, and the cylinders past the rims of the
 * slab. So a root that rounding pushes out of one region is found by the neighbour, at the same time to second order:
 * no contact is lost between two features. docs/numerics.md derives every formula below and the error of each step.
 *
 * Along the direction of motion the problem is two-dimensional. A rotation turns the relative motion into the third
 * axis. The line of centres is then a point q in the plane, relative to a vertex, and the vertex has a height h along
 * the motion. |q| is the distance from the line to that vertex, and no quadratic needs a discriminant that cancels. */
#ifndef CAROM_SWEEP_H
#define CAROM_SWEEP_H
#include "nearest.h"
#include "sweep_pieces.h"

/* State of the interval [first, last], by the table of docs/design.md. */
FN vi sweep_state(vf first, vf last)
{
    const vf zero = v_f(R(0.0));
    vi state =
        vi_sel(v_lt(last, zero), v_i(STATE_PAST), vi_sel(v_eq(last, zero), v_i(STATE_PARTING), v_i(STATE_OVERLAPPING)));
    state = vi_sel(v_eq(first, zero), v_i(STATE_TOUCHING), state);
    return vi_sel(v_lt(zero, first), v_i(STATE_APPROACHING), state);
}

/* A point of the triangle as vertex + step + step. A vertex is therefore exact, and the difference of two huge vertices
 * stays finite. */
typedef struct sweep_foot {
    v3 vertex, step;
} sweep_foot;

/* The point of the triangle with these weights. Everything is halved, so that no difference overflows. */
FN sweep_foot sweep_foot_of(sweep_in in, barycentric weights)
{
    const vf zero = v_f(R(0.0)), one_half = v_f(R(0.5));
    /* The vertex to start from: the feature's own, P1 for E12, else P0. */
    const vm e12 = vi_eq(weights.feature, v_i(FEATURE_E12)), vertex = vi_gt(v_i(FEATURE_E01), weights.feature);
    sweep_foot foot;
    foot.vertex = v3_sel(vi_eq(weights.feature, v_i(FEATURE_V2)), in.p2, in.p0);
    foot.vertex = v3_sel(v_or(vi_eq(weights.feature, v_i(FEATURE_V1)), e12), in.p1, foot.vertex);
    /* The step from there, half of it because it is added twice. */
    const v3 half_vertex = v3_mul(foot.vertex, one_half);
    const v3 half_to_p1 = v3_sub(v3_mul(in.p1, one_half), half_vertex),
             half_to_p2 = v3_sub(v3_mul(in.p2, one_half), half_vertex);
    const vf w1 = v_sel(v_or(vertex, e12), zero, weights.w1), w2 = v_sel(vertex, zero, weights.w2);
    foot.step = v3_add(v3_mul(half_to_p1, w1), v3_mul(half_to_p2, w2));
    return foot;
}

/* Barycentric weights of P1 and P2 at a contact with a vertex or an edge; zero for the face. */
FN barycentric sweep_barycentric_of(const sweep_span *span, sweep_contact contact)
{
    const vf zero = v_f(R(0.0)), one = v_f(R(1.0));
    const vm e01 = vi_eq(contact.feature, v_i(FEATURE_E01)), e12 = vi_eq(contact.feature, v_i(FEATURE_E12));
    const vm e20 = vi_eq(contact.feature, v_i(FEATURE_E20)); /* `along` is measured from P0 */
    const vf along =
        contact.along / v_sel(e01, span->edge[0].space2, v_sel(e12, span->edge[1].space2, span->edge[2].space2));
    const vf at_p1 = v_sel(vi_eq(contact.feature, v_i(FEATURE_V1)), one, zero);
    const vf at_p2 = v_sel(vi_eq(contact.feature, v_i(FEATURE_V2)), one, zero);
    barycentric at;
    at.w1 = v_sel(e01, along, v_sel(e12, one - along, at_p1));
    at.w2 = v_sel(v_or(e12, e20), along, at_p2);
    at.feature = contact.feature;
    return at;
}

/* A point of the triangle is finite, but its sum may round to infinity: clamps it to the largest number. */
FN vf sweep_within_range(vf x)
{
    return v_max(v_min(x, v_largest()), -v_largest());
}

/* The point in space, at the time t of a moving triangle; zero in lanes without contact (`exists`). moving: 0, or one
 * of its bits. */
FN v3 sweep_foot_point(sweep_in in, sweep_foot foot, vf t, vm exists, int moving)
{
    const vf zero = v_f(R(0.0));
    v3 point = v3_add(v3_add(foot.vertex, foot.step), foot.step);
    point = v3_of(sweep_within_range(point.x), sweep_within_range(point.y), sweep_within_range(point.z));
    if (moving)
        point = v3_add(point, v3_mul(sweep_point_velocity(&in, moving), t));
    return v3_sel(exists, point, v3_of(zero, zero, zero));
}

/* The contact point. On the face it is the projection of the centre: weights from areas would be wrong along a
 * sliver. */
FN v3 sweep_point(sweep_in in, sweep_view view, const sweep_span *span, sweep_contact contact, v3 to_face, vf half_unit,
                  vf t, vm exists, int moving)
{
    sweep_foot foot = sweep_foot_of(in, sweep_barycentric_of(span, contact));
    const v3 on_face = v3_add(v3_add(view.center, v3_mul(view.axes.u, contact.at)), to_face);
    foot.step = v3_sel(vi_eq(contact.feature, v_i(FEATURE_FACE)), v3_mul(on_face, half_unit), foot.step);
    return sweep_foot_point(in, foot, t, exists, moving);
}

/* Without relative motion the distance at time 0 decides for all times. */
typedef struct sweep_rest {
    vf first, last;
    vi state;
    vm in_contact;
} sweep_rest;

/* Times and state of a pair without relative motion. */
FN sweep_rest sweep_rest_of(vf distance2, vf radius2)
{
    const vf inf = v_infinity();
    sweep_rest rest;
    rest.in_contact = v_le(distance2, radius2);
    rest.first = v_sel(rest.in_contact, -inf, inf);
    rest.last = v_sel(rest.in_contact, inf, -inf);
    const vi contact = vi_sel(v_eq(distance2, radius2), v_i(STATE_TOUCHING), v_i(STATE_OVERLAPPING));
    rest.state = vi_sel(rest.in_contact, contact, v_i(STATE_MISS));
    return rest;
}

/* Replaces the answer in lanes `at_rest`. want: SWEEP_FIRST, SWEEP_TIMES or SWEEP_FULL. */
FN void sweep_at_rest(sweep_in in, sweep_relative relative, vf radius, vm at_rest, sweep_out *out, int want)
{
    const vf scale = v_scale_down(v_exponent(relative.length)), zero = v_f(R(0.0));
    const nearest closest_point =
        nearest_on_triangle(v3_mul(relative.center, -scale), v3_mul(relative.e01, scale), v3_mul(relative.e02, scale));
    const sweep_rest rest = sweep_rest_of(closest_point.distance2, (radius * scale) * (radius * scale));
    out->t_first = v_sel(at_rest, rest.first, out->t_first);
    if (want == SWEEP_FIRST)
        return;
    out->t_last = v_sel(at_rest, rest.last, out->t_last);
    out->state = vi_sel(at_rest, rest.state, out->state);
    if (want != SWEEP_FULL)
        return;
    const v3 point = sweep_foot_point(in, sweep_foot_of(in, closest_point.at), zero, rest.in_contact, TRIANGLE_AT_REST);
    const vi feature = vi_sel(rest.in_contact, closest_point.at.feature, v_i(FEATURE_NONE));
    out->point_first = v3_sel(at_rest, point, out->point_first);
    out->point_last = v3_sel(at_rest, point, out->point_last);
    out->feature_first = vi_sel(at_rest, feature, out->feature_first);
    out->feature_last = vi_sel(at_rest, feature, out->feature_last);
}

/* Replaces the answer of invalid queries: no times, no point, STATE_INVALID. */
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

/* Power of two that turns scaled times into the caller's. */
FN v_pow2 sweep_time_unit(const sweep_relative *relative, vi time_exponent)
{
    return v_pow2_of(((v_exponent(relative->length) - v_exponent(relative->speed)) >> R_EXPONENT_SHIFT) +
                     time_exponent);
}

/* From heights of contact in the view to times, and to the state. `start` and `time_per_height` are the view's. */
FN sweep_out sweep_times_of(const sweep_span *span, vf start, vf time_per_height, v_pow2 unit, int want)
{
    const vf inf = v_infinity(), first = start + span->first.at * time_per_height;
    const vm hit = v_lt(span->first.at, inf);
    sweep_out out;
    out.t_first = v_sel(hit, v_positive_zero(v_ldexp(first, unit)), inf);
    if (want != SWEEP_FIRST) {
        /* Only rounding can lose the last root or put it before the first, where the two coincide. */
        const vf last = start + v_max(span->last.at, span->first.at) * time_per_height;
        out.t_last = v_sel(hit, v_positive_zero(v_ldexp(last, unit)), -inf);
        out.state = vi_sel(hit, sweep_state(first, last), v_i(STATE_MISS));
    }
    return out;
}

/* From heights of contact in the view to the caller's times, points and features. */
FN sweep_out sweep_answer(sweep_in given, sweep_query query, sweep_view view, sweep_span span, int want, int moving)
{
    sweep_out out = sweep_times_of(&span, view.start, view.time_per_height,
                                   sweep_time_unit(&query.relative, query.time_exponent), want);
    if (want == SWEEP_FULL) {
        const vm hit = v_lt(span.first.at, v_infinity());
        /* Where rounding lost the last contact, the first one also stands for the last. */
        const sweep_contact last_contact = sweep_contact_sel(v_lt(span.first.at, span.last.at), span.last, span.first);
        const vm has_first = v_and(hit, v_finite(out.t_first)), has_last = v_and(hit, v_finite(out.t_last));
        const vf half_unit = v_from_bits(view.unit) * (query.unscale * R(0.5));
        const v3 minus_to_face = v3_mul(span.to_face, v_f(R(-1.0)));
        const v3 to_last_face = v3_sel(v_lt(span.first.at, span.last.at), minus_to_face, span.to_face);
        /* Points and features. They exist where the time is finite. */
        out.point_first =
            sweep_point(given, view, &span, span.first, span.to_face, half_unit, out.t_first, has_first, moving);
        out.point_last =
            sweep_point(given, view, &span, last_contact, to_last_face, half_unit, out.t_last, has_last, moving);
        out.feature_first = vi_sel(has_first, span.first.feature, v_i(FEATURE_NONE));
        out.feature_last = vi_sel(has_last, last_contact.feature, v_i(FEATURE_NONE));
    }
    const vm at_rest = vi_eq(query.relative.speed, v_i(0));
    if (v_any(at_rest))
        sweep_at_rest(given, query.relative, query.in.radius, at_rest, &out, want);
    if (v_any(v_not(query.valid)))
        sweep_invalid(query.valid, &out, want);
    return out;
}

/* Answers LANES pairs. moving: the triangle has a velocity, too. */
FN sweep_out sweep(sweep_in in, int want, int moving)
{
    const sweep_query query = sweep_prepare(in, moving);
    const sweep_view view = sweep_view_of(query.relative, query.in.radius, sweep_heading_of(query.relative.v));
    return sweep_answer(in, query, view, sweep_solve(query.in, view, want), want, moving);
}

/* `given` is the heading of the unscaled velocity. It is valid unless the query had to be scaled. Where work-items
 * share queries (mesh_team.h), none is given. */
FN sweep_heading sweep_heading_after(const sweep_query *query, sweep_heading given)
{
#ifdef MESH_ITEMS
    return sweep_heading_of(query->relative.v);
#endif
    const vm scaled = v_not(v_and(vi_eq(query->time_exponent, v_i(0)), v_eq(query->unscale, v_f(R(1.0)))));
    return v_any(scaled) ? sweep_heading_of(query->relative.v) : given;
}

/* Among 16 lanes, or work-items in lockstep, nearly always at least one contact has begun. */
#ifdef LANG_LOCKSTEP
#define SWEEP_SOME_HAS_BEGUN 1
#else
#define SWEEP_SOME_HAS_BEGUN (LANES >= 16)
#endif

/* First time and state in any lanes: what sweep_ahead_of() answers. */
FN sweep_out sweep_ahead_of_any(sweep_in in, sweep_heading heading, vm matters, int moving)
{
    const sweep_query query = sweep_prepare(in, moving);
    const sweep_view view = sweep_view_of(query.relative, query.in.radius, sweep_heading_after(&query, heading));
    if (SWEEP_SOME_HAS_BEGUN)
        return sweep_answer(in, query, view, sweep_solve(query.in, view, SWEEP_TIMES), SWEEP_TIMES, TRIANGLE_AT_REST);
    /* The first contact alone; the last one, too, if a contact has begun in some lane. */
    const sweep_span span = sweep_solve(query.in, view, SWEEP_FIRST);
    const vm hit = v_lt(span.first.at, v_infinity());
    const vf first = view.start + span.first.at * view.time_per_height;
    const vm has_begun = v_and(v_and(hit, matters), v_lt(first, v_f(R(0.0))));
    if (v_any(v_or(has_begun, vi_eq(query.relative.speed, v_i(0)))))
        return sweep_answer(in, query, view, sweep_solve(query.in, view, SWEEP_TIMES), SWEEP_TIMES, TRIANGLE_AT_REST);
    sweep_out out = sweep_answer(in, query, view, span, SWEEP_FIRST, TRIANGLE_AT_REST);
    out.state = vi_sel(hit, sweep_state(first, v_infinity()), v_i(STATE_MISS));
    return out;
}

/* For mesh searches: first time and state, of triangles at rest. If a contact has begun at time 0 in a lane that
 * `matters`, the last time is computed too, to distinguish overlapping from past. In other lanes these two states may
 * be confused. */
#ifdef LANG_RARE_APART
/* A function of its own, because what rare steps need would otherwise be kept through all others. */
FN_RARE void sweep_ahead_of_rare(const sweep_in *in, const vm *matters, int moving, sweep_out *out)
{
    *out = sweep_ahead_of_any(*in, sweep_heading_of(sweep_relate(*in, moving).v), *matters, moving);
}

FN sweep_out sweep_ahead_of(sweep_in in, sweep_heading heading, vm matters, int moving)
{
    const sweep_relative relative = sweep_relate(in, moving);
    if (v_any(sweep_is_rare(&relative, in.radius))) {
        const sweep_in in_copy = in; /* copies, as in sweep_line_of() */
        const vm matters_copy = matters;
        sweep_out rare;
        sweep_ahead_of_rare(&in_copy, &matters_copy, moving, &rare);
        return rare;
    }
    const sweep_view view = sweep_view_of(relative, in.radius, heading);
    const v_pow2 unit = sweep_time_unit(&relative, v_i(0));
    const int want = SWEEP_SOME_HAS_BEGUN ? SWEEP_TIMES : SWEEP_FIRST;
    sweep_span span = sweep_solve_spheres(view, want);
    sweep_out out = sweep_times_of(&span, view.start, view.time_per_height, unit, want);
    if (want == SWEEP_FIRST) {
        const vm hit = v_lt(span.first.at, v_infinity());
        const vf first = view.start + span.first.at * view.time_per_height;
        out.state = vi_sel(hit, sweep_state(first, v_infinity()), v_i(STATE_MISS));
        if (v_any(v_and(v_and(hit, matters), v_lt(first, v_f(R(0.0)))))) {
            span = sweep_solve_spheres(view, SWEEP_TIMES);
            out = sweep_times_of(&span, view.start, view.time_per_height, unit, SWEEP_TIMES);
        }
    }
    return out;
}
#else
FN sweep_out sweep_ahead_of(sweep_in in, sweep_heading heading, vm matters, int moving)
{
    return sweep_ahead_of_any(in, heading, matters, moving);
}
#endif
#endif
