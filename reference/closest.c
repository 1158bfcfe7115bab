/* SPDX-License-Identifier: MIT */
/* Closest point of a triangle: the least of the squared distances to its features, compared as fractions. */
#include <math.h>
#include <string.h>

#include "space.h"

static const ref_closest_answer nothing = {HUGE_VALF, HUGE_VAL, REF_NONE, {0}};

/* a + (top / bottom) b, rounded to binary64. */
static void go(double out[3], const ref_vec *a, const ref_vec *b, const ref_dyadic *top, const ref_dyadic *bottom)
{
    ref_dyadic share, part;

    ref_dyadic_recip(&share, bottom);
    ref_dyadic_mul(&share, &share, top);
    ref_dyadic_trim(&share);
    for (int k = 0; k < 3; k++) {
        ref_dyadic_mul(&part, &share, &b->c[k]);
        ref_dyadic_add(&part, &part, &a->c[k]);
        out[k] = ref_dyadic_to_double(&part);
    }
}

static void place(const ref_triangle *triangle, const ref_sweep_case *c, int feature, double out[3])
{
    ref_vec from;
    ref_dyadic top;

    if (feature <= REF_V2) {
        for (int k = 0; k < 3; k++)
            out[k] = (double)c->p[feature - REF_V0][k];
    } else if (feature <= REF_E20) {
        int i = feature - REF_E01;
        ref_vec_from_floats(&from, c->p[i]);
        ref_vec_dot(&top, &triangle->p[i], &triangle->edge[i]);
        ref_dyadic_neg(&top); /* (C - Pi) . edge */
        go(out, &from, &triangle->edge[i], &top, &triangle->length2[i]);
    } else {
        ref_vec_from_floats(&from, c->center);
        ref_vec_dot(&top, &triangle->normal, &triangle->p[0]);
        go(out, &from, &triangle->normal, &top, &triangle->normal2);
    }
}

void ref_closest(const ref_sweep_case *c, ref_closest_answer *out)
{
    ref_triangle triangle;
    ref_nearest nearest;
    ref_root root;
    ref_dyadic estimate;

    *out = nothing;
    if (!ref_radius_valid(c->radius) || !ref_floats_finite(c->center, 3) || !ref_floats_finite(c->p[0], 3) ||
        !ref_floats_finite(c->p[1], 3) || !ref_floats_finite(c->p[2], 3))
        return;
    ref_triangle_set(&triangle, c);
    ref_triangle_nearest(&triangle, &nearest);
    out->feature = nearest.feature;
    place(&triangle, c, nearest.feature, out->point);
    if (nearest.top.sign == 0) {
        out->distance = 0.0f;
        out->distance_near = 0.0;
        return;
    }
    /* sqrt(top / bottom) = sqrt(top bottom) / bottom */
    ref_dyadic_zero(&root.p);
    ref_dyadic_mul(&root.q, &nearest.top, &nearest.bottom);
    ref_dyadic_copy(&root.w, &nearest.bottom);
    root.s = 1;
    ref_root_estimate(&estimate, &root);
    out->distance = ref_root_to_float(&root, &estimate);
    out->distance_near = ref_root_to_double(&root, &estimate);
}
