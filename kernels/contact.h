/* SPDX-License-Identifier: MIT */
/* Contact of a mesh hit: point, unit normal from the point to the centre, feature. The time is 0 for a sphere that
 * starts in contact, else the time of impact. */
#ifndef CAROM_CONTACT_H
#define CAROM_CONTACT_H
#include "sweep.h"

typedef struct contact_out {
    v3 point, normal;
    vi feature;
} contact_out;

/* v / |v|, scaled first so that no square leaves the range; zero stays zero. */
FN v3 contact_unit(v3 v)
{
    const vi size = v3_magnitude(v);
    v = v3_mul(v, v_scale_down(v_exponent(size)));
    const vf per_length = v_f(R(1.0)) / v_sqrt(v3_dot(v, v)), zero = v_f(R(0.0));
    const vm some = vi_gt(size, v_i(0));
    return v3_sel(some, v3_mul(v, per_length), v3_of(zero, zero, zero));
}

/* The triangle's normal n, on the side that faces the motion u; for a triangle without normal, or motion along the
 * plane, -u. */
FN v3 contact_against(v3 n, v3 u)
{
    const vf zero = v_f(R(0.0));
    const vf along = v3_dot(n, u);
    const v3 turned = v3_mul(n, v_sel(v_lt(zero, along), v_f(R(-1.0)), v_f(R(1.0))));
    return v3_sel(v_eq(along, zero), v3_mul(u, v_f(R(-1.0))), turned);
}

/* First contact: time, point, normal and feature. motion: if it is given by its end, `velocity` holds the position of
 * the centre at time 1, and `w` the one at time 0 (mesh_relative_to). The point moves with the instance alone. */
FN contact_out contact(sweep_in in, int motion)
{
    const vf zero = v_f(R(0.0));
    const v3 none = v3_of(zero, zero, zero);
    const sweep_query query = sweep_prepare(in, motion);
    const sweep_relative relative = query.relative;
    const sweep_view view = sweep_view_of(relative, query.in.radius, sweep_heading_of(relative.v));
    const sweep_span span = sweep_solve(query.in, view, SWEEP_FULL);
    const sweep_out answer = sweep_answer(in, query, view, span, SWEEP_FULL, motion & TRIANGLE_CARRIED);
    const vm at_rest = vi_eq(relative.speed, v_i(0));

    /* At first contact. */
    const sweep_contact first = span.first;
    const barycentric touch_point = sweep_barycentric_of(&span, first);
    const v3 foot = v3_add(v3_mul(view.e01, touch_point.w1), v3_mul(view.e02, touch_point.w2));
    const v3 center = v3_add(view.center, v3_mul(view.axes.u, first.at));
    const v3 direction = v3_sel(at_rest, none, view.axes.u);
    const v3 face_normal = contact_unit(v3_cross(view.e01, view.e02)),
             against = contact_against(face_normal, direction);
    const v3 gap = v3_sub(center, foot);
    const vm none_left = v_or(v_eq(in.radius, zero), vi_eq(v3_magnitude(gap), v_i(0)));
    const vm is_flat = v_or(vi_eq(first.feature, v_i(FEATURE_FACE)), none_left);
    const v3 first_normal = v3_sel(is_flat, against, contact_unit(gap));

    /* At time 0. */
    const vf scale = v_scale_down(v_exponent(relative.length));
    const nearest nearest_point =
        nearest_on_triangle(v3_mul(relative.center, -scale), v3_mul(relative.e01, scale), v3_mul(relative.e02, scale));
    /* The normal there: the triangle's on the face, else the direction to the centre. */
    const v3 away = v3_mul(nearest_point.point, v_f(R(-1.0)));
    const vf side = v3_dot(face_normal, away);
    const vm at_face =
        v_and(vi_eq(nearest_point.at.feature, v_i(FEATURE_FACE)), v_lt(nearest_point.distance2, v_f(R(0x1p-24))));
    const v3 facing_centre = v3_mul(face_normal, v_sel(v_lt(side, zero), v_f(R(-1.0)), v_f(R(1.0))));
    v3 start_normal =
        v3_sel(at_face, facing_centre, contact_unit(away)); /* the direction of a short vector is mostly rounding */
    start_normal = v3_sel(vi_eq(v3_magnitude(away), v_i(0)), against, start_normal);

    /* A sphere that starts in contact has the contact of time 0. */
    const vm begins = v_or(vi_eq(answer.state, v_i(STATE_TOUCHING)), vi_eq(answer.state, v_i(STATE_OVERLAPPING)));
    const vm hits = v_or(begins, v_and(vi_eq(answer.state, v_i(STATE_APPROACHING)), v_finite(answer.t_first)));
    contact_out out;
    out.point =
        v3_sel(begins, sweep_foot_point(in, sweep_foot_of(in, nearest_point.at), zero, begins, TRIANGLE_AT_REST),
               answer.point_first);
    const v3 normal = v3_sel(hits, v3_sel(begins, start_normal, first_normal), none);
    out.normal = v3_of(v_positive_zero(normal.x), v_positive_zero(normal.y), v_positive_zero(normal.z));
    out.feature = vi_sel(hits, vi_sel(begins, nearest_point.at.feature, answer.feature_first), v_i(FEATURE_NONE));
    return out;
}
#endif
