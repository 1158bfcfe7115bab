/* SPDX-License-Identifier: MIT */
#include "space.h"

#include <string.h>

void ref_vec_from_floats(ref_vec *out, const float v[3])
{
    for (int i = 0; i < 3; i++)
        ref_dyadic_from_float(&out->c[i], v[i]);
}

void ref_vec_copy(ref_vec *out, const ref_vec *a)
{
    for (int i = 0; i < 3; i++)
        ref_dyadic_copy(&out->c[i], &a->c[i]);
}

void ref_vec_sub(ref_vec *out, const ref_vec *a, const ref_vec *b)
{
    for (int i = 0; i < 3; i++)
        ref_dyadic_sub(&out->c[i], &a->c[i], &b->c[i]);
}

void ref_vec_add(ref_vec *out, const ref_vec *a, const ref_vec *b)
{
    for (int i = 0; i < 3; i++)
        ref_dyadic_add(&out->c[i], &a->c[i], &b->c[i]);
}

void ref_vec_scale(ref_vec *out, const ref_vec *a, const ref_dyadic *k)
{
    for (int i = 0; i < 3; i++)
        ref_dyadic_mul(&out->c[i], &a->c[i], k);
}

void ref_vec_dot(ref_dyadic *out, const ref_vec *a, const ref_vec *b)
{
    ref_dyadic sum, product;

    ref_dyadic_mul(&sum, &a->c[0], &b->c[0]);
    for (int i = 1; i < 3; i++) {
        ref_dyadic_mul(&product, &a->c[i], &b->c[i]);
        ref_dyadic_add(&sum, &sum, &product);
    }
    ref_dyadic_copy(out, &sum);
}

void ref_vec_cross(ref_vec *out, const ref_vec *a, const ref_vec *b)
{
    ref_dyadic product;

    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        ref_dyadic_mul(&out->c[i], &a->c[j], &b->c[k]);
        ref_dyadic_mul(&product, &a->c[k], &b->c[j]);
        ref_dyadic_sub(&out->c[i], &out->c[i], &product);
    }
}

int ref_vec_is_zero(const ref_vec *a)
{
    return a->c[0].sign == 0 && a->c[1].sign == 0 && a->c[2].sign == 0;
}

int ref_floats_finite(const float *v, int n)
{
    for (int i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &v[i], sizeof bits);
        if ((bits & 0x7f800000u) == 0x7f800000u)
            return 0;
    }
    return 1;
}

int ref_double_finite(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return (bits & (uint64_t)0x7ff << 52) != (uint64_t)0x7ff << 52;
}

int ref_radius_valid(double radius)
{
    uint64_t bits;

    memcpy(&bits, &radius, sizeof bits);
    return bits == (uint64_t)1 << 63 || bits < (uint64_t)0x7ff << 52;
}

int ref_sweep_valid(const ref_sweep_case *c)
{
    return ref_radius_valid(c->radius) && ref_floats_finite(c->center, 3) && ref_floats_finite(c->velocity, 3) &&
           ref_floats_finite(c->w, 3) && ref_floats_finite(c->p[0], 3) && ref_floats_finite(c->p[1], 3) &&
           ref_floats_finite(c->p[2], 3);
}

void ref_sweep_motion(ref_vec *out, const ref_sweep_case *c)
{
    ref_vec drift;

    ref_vec_from_floats(out, c->velocity);
    ref_vec_from_floats(&drift, c->w);
    ref_vec_sub(out, out, &drift);
}

void ref_triangle_set(ref_triangle *out, const ref_sweep_case *c)
{
    ref_vec origin, side;

    ref_vec_from_floats(&origin, c->center);
    for (int i = 0; i < 3; i++) {
        ref_vec_from_floats(&out->p[i], c->p[i]);
        ref_vec_sub(&out->p[i], &out->p[i], &origin);
    }
    for (int i = 0; i < 3; i++) {
        ref_vec_sub(&out->edge[i], &out->p[(i + 1) % 3], &out->p[i]);
        ref_vec_dot(&out->length2[i], &out->edge[i], &out->edge[i]);
    }
    ref_vec_sub(&side, &out->p[2], &out->p[0]);
    ref_vec_cross(&out->normal, &out->edge[0], &side);
    ref_vec_dot(&out->normal2, &out->normal, &out->normal);
}

/* Every candidate is the distance to a point of the triangle and the closest point is unique, so an equal distance is
 * the same point: the earlier feature keeps it. */
static void consider(ref_nearest *best, const ref_dyadic *top, const ref_dyadic *bottom, int feature)
{
    ref_dyadic left, right;

    if (best->feature != REF_NONE) {
        ref_dyadic_mul(&left, top, &best->bottom);
        ref_dyadic_mul(&right, &best->top, bottom);
        if (ref_dyadic_cmp(&left, &right) >= 0)
            return;
    }
    ref_dyadic_copy(&best->top, top);
    ref_dyadic_copy(&best->bottom, bottom);
    best->feature = feature;
}

static void consider_edge(ref_nearest *best, const ref_triangle *triangle, int i)
{
    ref_dyadic along, top;
    ref_vec moment;

    if (triangle->length2[i].sign == 0)
        return;
    ref_vec_dot(&along, &triangle->p[i], &triangle->edge[i]);
    ref_dyadic_neg(&along); /* (C - Pi) . edge */
    if (along.sign < 0 || ref_dyadic_cmp(&along, &triangle->length2[i]) > 0)
        return;
    ref_vec_cross(&moment, &triangle->p[i], &triangle->edge[i]);
    ref_vec_dot(&top, &moment, &moment);
    consider(best, &top, &triangle->length2[i], REF_E01 + i);
}

static void consider_face(ref_nearest *best, const ref_triangle *triangle)
{
    ref_dyadic side, top;
    ref_vec inward;

    if (triangle->normal2.sign == 0)
        return;
    for (int i = 0; i < 3; i++) {
        ref_vec_cross(&inward, &triangle->normal, &triangle->edge[i]);
        ref_vec_dot(&side, &inward, &triangle->p[i]); /* the centre is inside where this is <= 0 */
        if (side.sign > 0)
            return;
    }
    ref_vec_dot(&top, &triangle->normal, &triangle->p[0]);
    ref_dyadic_mul(&top, &top, &top);
    consider(best, &top, &triangle->normal2, REF_FACE);
}

void ref_triangle_nearest(const ref_triangle *triangle, ref_nearest *out)
{
    ref_dyadic one, top;

    out->feature = REF_NONE;
    ref_dyadic_from_double(&one, 1.0);
    for (int i = 0; i < 3; i++) {
        ref_vec_dot(&top, &triangle->p[i], &triangle->p[i]);
        consider(out, &top, &one, REF_V0 + i);
    }
    for (int i = 0; i < 3; i++)
        consider_edge(out, triangle, i);
    consider_face(out, triangle);
}

int ref_triangle_closest(const ref_triangle *triangle, const ref_dyadic *radius2, int *feature)
{
    ref_nearest best;
    ref_dyadic limit;

    ref_triangle_nearest(triangle, &best);
    *feature = best.feature;
    ref_dyadic_mul(&limit, radius2, &best.bottom);
    return ref_dyadic_cmp(&best.top, &limit);
}

/* |t V' - x|^2 - r^2 bottom, for vectors that the feature makes of V' and of a corner. */
static void vector_quadratic(ref_quadratic *out, const ref_vec *motion, const ref_vec *x)
{
    ref_vec_dot(&out->f[0], x, x);
    ref_vec_dot(&out->f[1], motion, x);
    ref_vec_dot(&out->f[2], motion, motion);
    ref_dyadic_neg(&out->f[1]);
}

void ref_feature_quadratic(ref_quadratic *out, const ref_triangle *triangle, int feature, const ref_vec *motion,
                           const ref_dyadic *radius2)
{
    ref_vec turn, moment;
    ref_dyadic limit;

    if (feature <= REF_V2) {
        vector_quadratic(out, motion, &triangle->p[feature - REF_V0]);
        ref_dyadic_from_double(&out->bottom, 1.0);
    } else if (feature < REF_FACE) {
        const int i = feature - REF_E01;
        ref_vec_cross(&turn, motion, &triangle->edge[i]);
        ref_vec_cross(&moment, &triangle->p[i], &triangle->edge[i]);
        vector_quadratic(out, &turn, &moment);
        ref_dyadic_copy(&out->bottom, &triangle->length2[i]);
    } else {
        for (int k = 0; k < 3; k++) {
            ref_dyadic_zero(&turn.c[k]);
            ref_dyadic_zero(&moment.c[k]);
        }
        ref_vec_dot(&turn.c[0], motion, &triangle->normal);
        ref_vec_dot(&moment.c[0], &triangle->p[0], &triangle->normal);
        vector_quadratic(out, &turn, &moment);
        ref_dyadic_copy(&out->bottom, &triangle->normal2);
    }
    ref_dyadic_mul(&limit, radius2, &out->bottom);
    ref_dyadic_sub(&out->f[0], &out->f[0], &limit);
}

int ref_state_of_times(const ref_root *first, const ref_root *last)
{
    int sign = ref_root_sign(first);

    if (sign > 0)
        return REF_APPROACHING;
    if (sign == 0)
        return REF_TOUCHING;
    sign = ref_root_sign(last);
    return sign > 0 ? REF_OVERLAPPING : sign == 0 ? REF_PARTING : REF_PAST;
}
