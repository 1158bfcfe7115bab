/* SPDX-License-Identifier: MIT */
/* Numbers with one square root (surds): exact signs; values with a relative error of at most 2^-42 however much
 * cancels; and the binary32 nearest to a time. */
#ifndef CAROM_CPU_EXACT_ROOT_H
#define CAROM_CPU_EXACT_ROOT_H

#include "integer.h"

/* p sqrt(E) + side * s sqrt(Y), side -1, 0 or 1. E > 0, NULL for 1; Y >= 0. */
typedef struct caromi_surd {
    const caromi_int *p, *e, *s, *y;
    caromi_approx x, z; /* both terms, for side 1, with a relative error of at most 2^-50 */
} caromi_surd;

/* root_e, root_y: sqrt(E), sqrt(Y). */
void caromi_surd_set(caromi_surd *surd, caromi_approx root_e, caromi_approx root_y);
int caromi_surd_sign(const caromi_surd *surd, int side);
caromi_approx caromi_surd_approx(const caromi_surd *surd, int side);

/* A time: (-B + side sqrt(E Y)) / A, a root of A t^2 + 2 B t + K = 0 (side 0: Y = 0). */
typedef struct caromi_root {
    const caromi_int *a; /* > 0 */
    const caromi_int *b;
    const caromi_int *e, *y; /* E > 0, NULL for 1; Y >= 0 */
    caromi_approx root;      /* sqrt(E Y) */
    caromi_approx k;         /* K, of the right sign and with a relative error of at most 2^-51 */
    int side;
} caromi_root;

int caromi_root_sign(const caromi_root *root);
/* The time in the integers' units, with a relative error of at most 2^-46; zero if and only if the time is zero. */
caromi_approx caromi_root_approx(const caromi_root *root);
/* The binary32 nearest to the root times 2^unit, ties to even, zero +0. */
float caromi_root_float(const caromi_root *root, caromi_approx approx, int unit);
/* The sign of root * 2^unit - m, for m in binary32 or midway between two, and either zero or so near the root that
 * their binary32 values are equal or neighbours. */
int caromi_root_compare(const caromi_root *root, double m, int unit);
/* The sign of the difference of two roots, each times 2 to the power of its unit. */
int caromi_root_order(const caromi_root *one, int unit, const caromi_root *two, int other_unit);

/* The state of contact between two times of these signs. */
int caromi_state_of(int first_sign, int last_sign);

#endif
