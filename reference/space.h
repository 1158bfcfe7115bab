/* SPDX-License-Identifier: MIT */
/* Exact vectors, and the triangle seen from a point: what sweep, overlap and spheres have in common. */
#ifndef CAROM_REFERENCE_SPACE_H
#define CAROM_REFERENCE_SPACE_H

#include "dyadic.h"
#include "reference.h"
#include "root.h"

typedef struct ref_vec {
    ref_dyadic c[3];
} ref_vec;

void ref_vec_from_floats(ref_vec *out, const float v[3]);
void ref_vec_copy(ref_vec *out, const ref_vec *a);
void ref_vec_sub(ref_vec *out, const ref_vec *a, const ref_vec *b);
void ref_vec_add(ref_vec *out, const ref_vec *a, const ref_vec *b);
void ref_vec_scale(ref_vec *out, const ref_vec *a, const ref_dyadic *k); /* k not within out */
void ref_vec_dot(ref_dyadic *out, const ref_vec *a, const ref_vec *b);
void ref_vec_cross(ref_vec *out, const ref_vec *a, const ref_vec *b); /* out is neither a nor b */
int ref_vec_is_zero(const ref_vec *a);

/* Read from the bits, so that neither fast-math nor flushed denormals can change the verdict. */
int ref_floats_finite(const float *v, int n);
int ref_double_finite(double value);
int ref_radius_valid(double radius); /* finite and not below zero; -0 is zero */
int ref_sweep_valid(const ref_sweep_case *c);

/* Corners relative to the sphere's centre: p[i] = Pi - C. Edge i goes from corner i to corner i + 1 (mod 3). */
typedef struct ref_triangle {
    ref_vec p[3];
    ref_vec edge[3];
    ref_dyadic length2[3];
    ref_vec normal; /* edge[0] x (P2 - P0), not unit; zero for segments and points */
    ref_dyadic normal2;
} ref_triangle;

void ref_triangle_set(ref_triangle *out, const ref_sweep_case *c);
void ref_sweep_motion(ref_vec *out, const ref_sweep_case *c); /* V' = V - W */

/* The square of the distance from the centre to the triangle, a fraction with bottom > 0, and the first of V0 V1 V2 E01
 * E12 E20 F whose closed feature holds the closest point. */
typedef struct ref_nearest {
    ref_dyadic top, bottom;
    int feature;
} ref_nearest;

void ref_triangle_nearest(const ref_triangle *triangle, ref_nearest *out);

/* The feature as above; returns the sign of distance - radius. */
int ref_triangle_closest(const ref_triangle *triangle, const ref_dyadic *radius2, int *feature);

/* While the centre moves by `motion` in each unit of time, the square of its distance to one feature's corner, line or
 * plane, less radius2, is (f[0] + 2 f[1] t + f[2] t^2) / bottom, bottom > 0. f[2] = 0 implies f[1] = 0. The triangle
 * has that feature: its edge is not of length 0, its face not of area 0. */
typedef struct ref_quadratic {
    ref_dyadic f[3], bottom;
} ref_quadratic;

void ref_feature_quadratic(ref_quadratic *out, const ref_triangle *triangle, int feature, const ref_vec *motion,
                           const ref_dyadic *radius2);

/* State by the table of docs/design.md from the exact ends of the interval of contact. */
int ref_state_of_times(const ref_root *first, const ref_root *last);

#endif
