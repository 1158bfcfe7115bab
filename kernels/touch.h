/* SPDX-License-Identifier: MIT */
/* Contact of a sphere at rest: the closest point and its feature, from closest.h, and the unit normal from the point to
 * the centre. On the face the normal is the triangle's, on the side of the centre, because the direction of a short
 * offset would be mostly rounding. A centre at distance 0 has the triangle's normal (P1-P0)x(P2-P0), or zero. */
#ifndef CAROM_TOUCH_H
#define CAROM_TOUCH_H
#include "closest.h"
#include "contact.h"
#include "foot.h"

/* Answers LANES spheres at rest in fast mode. */
FN contact_out touch(closest_in in)
{
    const vf zero = v_f(R(0.0)), one = v_f(R(1.0)), minus = v_f(R(-1.0));
    /* The closest point. Where features tie, its feature is decided with more precision. */
    closest_solution solution = closest_solution_of(in);
    const vm ties = foot_ties(&solution);
    if (v_any(ties))
        solution.nearest = nearest_sel(ties, foot_find(&solution), solution.nearest);
    /* The triangle's normal, and which side of the plane the centre is on. */
    const vf scale = v_scale_down(solution.unit);
    const v3 face_normal =
        contact_unit(v3_cross(v3_mul(solution.relative.e01, scale), v3_mul(solution.relative.e02, scale)));
    const vm is_below =
        v_lt(zero, v3_dot(face_normal, v3_mul(solution.relative.a, scale))); /* the plane is above the centre */
    const vm at_face = vi_eq(solution.nearest.at.feature, v_i(FEATURE_FACE));
    const vm is_touching = vi_eq(v3_magnitude(solution.nearest.point), v_i(0));
    v3 normal = v3_sel(at_face, v3_mul(face_normal, v_sel(is_below, minus, one)),
                       contact_unit(v3_mul(solution.nearest.point, minus)));
    normal = v3_sel(solution.valid, v3_sel(is_touching, face_normal, normal), v3_of(zero, zero, zero));
    const closest_out answer = closest_output(in, closest_found_of(&solution));
    contact_out out;
    out.point = answer.point;
    out.normal = v3_of(v_positive_zero(normal.x), v_positive_zero(normal.y), v_positive_zero(normal.z));
    out.feature = answer.feature;
    return out;
}
#endif
