/* SPDX-License-Identifier: MIT */
/* Dyadic rationals, exactly: sign * (sum of limb[i] * 2^(32 i)) * 2^(32 exp), no heap, no rounding in + - * and cmp.
 *
 * The exponent counts whole limbs, so addition never shifts bits. Zero is sign 0, n 0. Otherwise neither the lowest nor
 * the highest limb is zero, which keeps sums of far-apart powers of two short.
 *
 * Capacity. Inputs are binary32, multiples of 2^-149 below 2^128, and one radius that may be any binary64, a multiple
 * of 2^-1074 below 2^1024. With `deg` for the degree in lengths and velocities, the longest number that the reference
 * forms is the last square of a comparison of two cylinder times: degree 32, of which r^4. Its bits span
 * 28 * 278 + 4 * 2098 = 16176, and less than 64 more for the number of terms; 512 limbs with the two partly filled
 * ends. A number of the approximate half of this file is shorter. */
#ifndef CAROM_REFERENCE_DYADIC_H
#define CAROM_REFERENCE_DYADIC_H

#include <stdint.h>

enum { REF_DYADIC_LIMBS = 544, REF_APPROX_LIMBS = 14 };

typedef struct ref_dyadic {
    int sign; /* -1, 0, 1 */
    int n;    /* limbs in use */
    int exp;  /* of the lowest limb, in limbs */
    uint32_t limb[REF_DYADIC_LIMBS];
} ref_dyadic;

/* Read the bits, not the value: a host that flushes denormals must not change an answer. Finite values only. */
void ref_dyadic_from_double(ref_dyadic *out, double value);
void ref_dyadic_from_float(ref_dyadic *out, float value);
void ref_dyadic_zero(ref_dyadic *out);
void ref_dyadic_copy(ref_dyadic *out, const ref_dyadic *a);

/* In these, `out` may be an operand. */
void ref_dyadic_add(ref_dyadic *out, const ref_dyadic *a, const ref_dyadic *b);
void ref_dyadic_sub(ref_dyadic *out, const ref_dyadic *a, const ref_dyadic *b);
void ref_dyadic_mul(ref_dyadic *out, const ref_dyadic *a, const ref_dyadic *b);
void ref_dyadic_neg(ref_dyadic *a);
int ref_dyadic_cmp(const ref_dyadic *a, const ref_dyadic *b);

/* Magnitude of the nearest value, ties to even, as the bits of the format without sign; overflow is infinity. */
uint32_t ref_dyadic_bits32(const ref_dyadic *a);
uint64_t ref_dyadic_bits64(const ref_dyadic *a);
/* The same with the sign; zero is +0. */
float ref_dyadic_to_float(const ref_dyadic *a);
double ref_dyadic_to_double(const ref_dyadic *a);

/* Approximate half: relative error below 2^-380, for estimates and contact points, never for decisions. */
void ref_dyadic_trim(ref_dyadic *a);                         /* keeps the REF_APPROX_LIMBS highest limbs */
void ref_dyadic_recip(ref_dyadic *out, const ref_dyadic *a); /* 1/a, a != 0 */
void ref_dyadic_sqrt(ref_dyadic *out, const ref_dyadic *a);  /* a >= 0 */

#endif
