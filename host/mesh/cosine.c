/* SPDX-License-Identifier: MIT */
/* The cosine of an angle in degrees, rounded to the nearest binary64, as the C library's cosine differs between
 * systems. It sums a series in double-double arithmetic (T. J. Dekker), with an error below 2^-98. Apart from cosines 0
 * and 1/2, no angle is known whose cosine is that close to the middle of two doubles. */
#include "double_double.h"
#include "patches.h"

/* The cosine (first 0) or sine (first 1) of degrees in [0, 45]. */
static double series(double degrees, int first)
{
    enum { TERMS = 16 };
    const caromi_dd radian = {0x1.1df46a2529d39p-6, 0x1.5c1d8becdd291p-62};
    const caromi_dd x = caromi_dd_multiply((caromi_dd){degrees, 0.0}, radian), square = caromi_dd_multiply(x, x);
    caromi_dd term = first == 0 ? (caromi_dd){1.0, 0.0} : x, terms[TERMS], sum = {0.0, 0.0};
    for (int i = 0; i < TERMS; i++) {
        const double n = (double)(2 * i + first);
        terms[i] = term;
        term = caromi_dd_over(caromi_dd_multiply(term, square), -(n + 1.0) * (n + 2.0));
    }
    for (int i = TERMS - 1; i >= 0; i--)
        sum = caromi_dd_add(terms[i], sum);
    return sum.hi;
}

/* Reduces the angle to [0, 45] degrees; the differences are exact. */
double caromi_cosine_of_degrees(double degrees)
{
    if (degrees <= 45.0)
        return series(degrees, 0);
    if (degrees <= 135.0)
        return degrees <= 90.0 ? series(90.0 - degrees, 1) : -series(degrees - 90.0, 1);
    return -series(180.0 - degrees, 0);
}
