/* SPDX-License-Identifier: MIT */
/* Sphere against sphere: |A0 - B0 + u ((A1 - A0) - (B1 - B0))| <= ra + rb, all differences and sums exact. */
#include "reference.h"
#include "root.h"
#include "space.h"

#include <math.h>

static void answer(ref_spheres_answer *out, int state, double first, double last)
{
    out->state = state;
    out->u_first = (float)first;
    out->u_last = (float)last;
    out->u_first_near = first;
    out->u_last_near = last;
}

static void answer_at(ref_spheres_answer *out, const ref_root *first, const ref_root *last)
{
    ref_dyadic estimate;

    out->state = ref_state_of_times(first, last);
    ref_root_estimate(&estimate, first);
    out->u_first = ref_root_to_float(first, &estimate);
    out->u_first_near = ref_root_to_double(first, &estimate);
    ref_root_estimate(&estimate, last);
    out->u_last = ref_root_to_float(last, &estimate);
    out->u_last_near = ref_root_to_double(last, &estimate);
}

static void relative_motion(ref_vec *gap, ref_vec *motion, const ref_spheres_case *c)
{
    ref_vec a0, b0, move;

    ref_vec_from_floats(&a0, c->a0);
    ref_vec_from_floats(&b0, c->b0);
    ref_vec_sub(gap, &a0, &b0);
    ref_vec_from_floats(motion, c->a1);
    ref_vec_sub(motion, motion, &a0);
    ref_vec_from_floats(&move, c->b1);
    ref_vec_sub(&move, &move, &b0);
    ref_vec_sub(motion, motion, &move);
}

/* Through the dyadic, not a conversion: flushed denormals would make a negative radius -0. */
static int radius_valid(float radius)
{
    ref_dyadic exact;

    if (!ref_floats_finite(&radius, 1))
        return 0;
    ref_dyadic_from_float(&exact, radius);
    return exact.sign >= 0;
}

static int valid(const ref_spheres_case *c)
{
    return ref_floats_finite(c->a0, 3) && ref_floats_finite(c->a1, 3) && ref_floats_finite(c->b0, 3) &&
           ref_floats_finite(c->b1, 3) && radius_valid(c->radius_a) && radius_valid(c->radius_b) &&
           ref_double_finite(c->margin);
}

void ref_spheres(const ref_spheres_case *c, ref_spheres_answer *out)
{
    const double infinity = (double)INFINITY;
    ref_vec gap, motion;
    ref_dyadic reach, part, a, b;
    ref_root first, last;

    if (!valid(c)) {
        answer(out, REF_INVALID, infinity, -infinity);
        return;
    }
    relative_motion(&gap, &motion, c);
    ref_dyadic_from_float(&reach, c->radius_a);
    ref_dyadic_from_float(&part, c->radius_b);
    ref_dyadic_add(&reach, &reach, &part);
    ref_dyadic_from_double(&part, c->margin);
    ref_dyadic_add(&reach, &reach, &part);
    if (reach.sign < 0) {
        answer(out, REF_MISS, infinity, -infinity);
        return;
    }
    ref_dyadic_mul(&reach, &reach, &reach);
    ref_vec_dot(&part, &gap, &gap);
    ref_dyadic_sub(&part, &part, &reach);
    if (ref_vec_is_zero(&motion)) {
        if (part.sign > 0)
            answer(out, REF_MISS, infinity, -infinity);
        else
            answer(out, part.sign == 0 ? REF_TOUCHING : REF_OVERLAPPING, -infinity, infinity);
        return;
    }
    ref_vec_dot(&a, &motion, &motion);
    ref_vec_dot(&b, &motion, &gap);
    if (ref_root_quadratic(&first, &last, &a, &b, &part))
        answer_at(out, &first, &last);
    else
        answer(out, REF_MISS, infinity, -infinity);
}
