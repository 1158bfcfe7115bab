/* SPDX-License-Identifier: MIT */
/* Numbers (p + s sqrt(q)) / w: everything that a time of contact can be. Signs and comparisons are exact, by repeated
 * squaring; rounding starts from an estimate and ends with exact comparisons against the midpoints. */
#ifndef CAROM_REFERENCE_ROOT_H
#define CAROM_REFERENCE_ROOT_H

#include "dyadic.h"

typedef struct ref_root {
    ref_dyadic p, q, w; /* q >= 0, w > 0 */
    int s;              /* -1, 0, 1; 0 (then q is 0) for a rational */
} ref_root;

void ref_root_copy(ref_root *out, const ref_root *a);
void ref_root_rational(ref_root *out, const ref_dyadic *numerator, const ref_dyadic *denominator); /* not 0 */
/* Roots of a t^2 + 2 b t + c, a > 0; returns 0 and leaves them alone if there is none. */
int ref_root_quadratic(ref_root *first, ref_root *last, const ref_dyadic *a, const ref_dyadic *b, const ref_dyadic *c);

int ref_root_sign(const ref_root *a);
int ref_root_cmp(const ref_root *a, const ref_root *b);
int ref_root_cmp_dyadic(const ref_root *a, const ref_dyadic *b);

/* Relative error below 2^-370; zero exactly when the number is. */
void ref_root_estimate(ref_dyadic *out, const ref_root *a);
/* Nearest values, ties to even; zero is +0. `estimate` is any dyadic near the number, as from ref_root_estimate. */
float ref_root_to_float(const ref_root *a, const ref_dyadic *estimate);
double ref_root_to_double(const ref_root *a, const ref_dyadic *estimate);

#endif
