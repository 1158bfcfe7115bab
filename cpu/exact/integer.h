/* SPDX-License-Identifier: MIT */
/* Integers large enough for every sweep: the second rung of exact mode, which decides the pairs that the floating-point
 * filter leaves undecided.
 *
 * A number stores how many limbs it uses, and operations touch only these: small numbers are cheap. */
#ifndef CAROM_CPU_EXACT_INTEGER_H
#define CAROM_CPU_EXACT_INTEGER_H

#include <stdint.h>

#include "approx.h"

/* Why 5632 bits are enough for finite binary32 inputs of any exponents. They are multiples of 2^-149 below 2^128, so in
 * units of the lowest bit a difference of coordinates or of velocities has at most 278 bits and a radius 277 (between
 * spheres, where four coordinates make one velocity: 279 and 278; of an instance that moves, where three do: 279). In
 * motion.h's letters:
 *
 *   q = d x v, a = e x v, n = e x f     557 bits each component
 *   v.v, e.e, v.e                       558
 *   h = e.q, n.v                        837
 *   a.a, q.a, a.n                      1116
 *   vertex:  Y = r^2 v.v - q.q         1117
 *   edge:    Y = r^2 a.a - h^2         1674; 1670 if positive
 *   face:    Y = r^2                    554
 *
 * The largest numbers decide in which region a root lies (p^2 E against s^2 Y, see caromi_surd):
 *   vertex:  (q.a)^2, (v.e)^2 Y        2233
 *   edge:    (h n.v)^2 e.e             3348 + 558 = 3906, in at most 53 + 9 limbs
 *            (a.n)^2 Y                 2232 + 1670 = 3902, in at most 35 + 27 limbs
 *   face:    h^2 n.n, (a.n)^2 r^2      2790
 * and a product needs one limb more than its factors have: 63.
 *
 * More take the contacts of two triangles, whose times are compared (caromi_root_order) for a velocity of one bit. With
 * A and A' of at most 558 bits, B and B' of at most 840 and E Y of at most 1675, the difference of both rational parts
 * has 1399. Its square, A'^2 E Y and A^2 E' Y' have at most 2798, their sum 2800, and the two products of that size
 * that decide 5600 bits, 88 limbs. Other comparisons are of roots with Y = 0, which are quotients.
 *
 * To round, a root (-B +- sqrt(Y)) / A is compared with M 2^-k, |M| < 2^25. Let the largest length have l bits and the
 * largest velocity w. One unit of time is then at least 2^(w-l), and the time is a multiple of 2^-150, so
 * k <= 150 + w - l. B has at most 3l + w + 4 bits and B 2^k at most 2l + 2w + 154 <= 1266. So its square has at most
 * 2532 bits, and so has Y 4^k. M A is about as large as the number that it is compared with. */
enum { CAROMI_INT_LIMBS = 90 };

typedef struct caromi_int {
    int sign;                        /* -1, 0, 1 */
    int count;                       /* limbs in use, the last not zero; 0 for zero */
    uint64_t limb[CAROMI_INT_LIMBS]; /* lowest first; limb[0] always has a value */
} caromi_int;

typedef struct caromi_int3 {
    caromi_int x[3];
} caromi_int3;

/* Whether all numbers are finite. */
int caromi_floats_finite(const float *x, int count);
/* Whether a finite radius is at least 0, -0 included. */
int caromi_radius_valid(float r);
/* The exponent of the lowest bit in any of the numbers, CAROMI_NO_BIT if all are zero. All numbers are finite. */
enum { CAROMI_NO_BIT = 1000 };
int caromi_lowest_bit(const float *x, int count);

void caromi_int_zero(caromi_int *out);
/* x / 2^unit, unit at most the exponent of the lowest bit of x. */
void caromi_int_of_float(caromi_int *out, float x, int unit);
void caromi_int_of_unsigned(caromi_int *out, int sign, uint64_t magnitude);
void caromi_int_copy(caromi_int *out, const caromi_int *a);

/* `out` may be an operand of a sum or difference. It must not be an operand of a product, a square, a shift, or a
 * vector function that multiplies. */
void caromi_int_add(caromi_int *out, const caromi_int *a, const caromi_int *b);
void caromi_int_sub(caromi_int *out, const caromi_int *a, const caromi_int *b);
void caromi_int_mul(caromi_int *out, const caromi_int *a, const caromi_int *b);
void caromi_int_square(caromi_int *out, const caromi_int *a);
void caromi_int_shift(caromi_int *out, const caromi_int *a, int bits); /* a * 2^bits, bits >= 0 */
/* The sign of a - b. */
int caromi_int_compare(const caromi_int *a, const caromi_int *b);
/* The value with a relative error of at most 2^-52; m is zero or in +-[1/2, 1]. */
caromi_approx caromi_int_approx(const caromi_int *a);

void caromi_int3_sub(caromi_int3 *out, const caromi_int3 *a, const caromi_int3 *b);
void caromi_int3_cross(caromi_int3 *out, const caromi_int3 *a, const caromi_int3 *b);
void caromi_int3_dot(caromi_int *out, const caromi_int3 *a, const caromi_int3 *b);

#endif
