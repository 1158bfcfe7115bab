/* SPDX-License-Identifier: MIT */
/* Approximate reals with a wide exponent, for integers of thousands of bits of which only the first digits matter.
 * Every operation except the addition of opposite signs has a relative error of at most 2^-52.
 *
 * Only + - * / sqrt on doubles, so the bits are the same on every machine. */
#ifndef CAROM_CPU_EXACT_APPROX_H
#define CAROM_CPU_EXACT_APPROX_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* A mantissa m and an exponent e: the number m * 2^e. A few operations in a row leave m far inside a double's range, so
 * it is not normalised. */
typedef struct caromi_approx {
    double m;
    int e;
} caromi_approx;

/* 2^e, 0 below the normal range and the largest power above it. */
static inline double caromi_power2(int e)
{
    const uint64_t field = e < -1022 ? 0 : e > 1023 ? 2046 : (uint64_t)(e + 1023);
    const uint64_t bits = field << 52;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline caromi_approx caromi_approx_mul(caromi_approx a, caromi_approx b)
{
    return (caromi_approx){a.m * b.m, a.e + b.e};
}

/* b is not zero. */
static inline caromi_approx caromi_approx_div(caromi_approx a, caromi_approx b)
{
    return (caromi_approx){a.m / b.m, a.e - b.e};
}

/* a >= 0. */
static inline caromi_approx caromi_approx_sqrt(caromi_approx a)
{
    const int odd = a.e & 1;
    return (caromi_approx){sqrt(odd ? a.m * 2.0 : a.m), (a.e - odd) / 2};
}

/* Gives both numbers the larger exponent, so that their mantissas m may be added and compared. A number below 2^-900 of
 * the other becomes 0. */
static inline int caromi_approx_align(caromi_approx *a, caromi_approx *b)
{
    if (a->m == 0.0)
        return a->e = b->e;
    if (b->m == 0.0)
        return b->e = a->e;
    caromi_approx *low = a->e < b->e ? a : b;
    const int e = a->e < b->e ? b->e : a->e;
    low->m *= caromi_power2(low->e - e);
    low->e = e;
    return e;
}

/* The nearest double; outside 2^-600 .. 2^600 it is 0, or 2^700 with the number's sign. */
static inline double caromi_approx_double(caromi_approx a, int unit)
{
    const int e = a.e + unit;
    if (a.m == 0.0 || e < -600)
        return 0.0;
    return e > 600 ? (a.m < 0.0 ? -0x1p700 : 0x1p700) : a.m * caromi_power2(e);
}

/* The nearest binary32: infinite beyond the range, and zero is always +0. */
static inline float caromi_float_of(double x)
{
    if (x >= 0x1.ffffffp127 || x <= -0x1.ffffffp127)
        return x < 0.0 ? -INFINITY : INFINITY;
    return (float)x + 0.0f;
}

#endif
