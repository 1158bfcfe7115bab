/* SPDX-License-Identifier: MIT */
/* The cosine of an angle in degrees, rounded to the nearest binary64, as the C library's cosine differs between
 * systems. It sums a series in double-double arithmetic (T. J. Dekker), with an error below 2^-98. Apart from cosines 0
 * and 1/2, no angle is known whose cosine is that close to the middle of two doubles. */
#include "patches.h"

/* A double-double number hi + lo; |lo| is at most half a unit in the last place of hi. */
typedef struct pair {
    double hi, lo;
} pair;

/* The exact sum a + b; |a| >= |b| or a = 0. */
static pair pair_of(double a, double b)
{
    const double sum = a + b;
    return (pair){sum, b - (sum - a)};
}

static pair product(double a, double b)
{
    const double split = 0x1p27 + 1.0;
    const double ca = split * a, cb = split * b, ah = ca - (ca - a), bh = cb - (cb - b), al = a - ah, bl = b - bh;
    const double p = a * b;
    return (pair){p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
}

static pair add(pair a, pair b)
{
    const double sum = a.hi + b.hi, part = sum - a.hi;
    const double error = (a.hi - (sum - part)) + (b.hi - part);
    return pair_of(sum, error + (a.lo + b.lo));
}

static pair multiply(pair a, pair b)
{
    const pair p = product(a.hi, b.hi);
    return pair_of(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

static pair over(pair a, double b)
{
    const double q = a.hi / b;
    const pair back = product(q, b);
    return pair_of(q, ((a.hi - back.hi) - back.lo + a.lo) / b);
}

/* The cosine (first 0) or sine (first 1) of degrees in [0, 45]. */
static double series(double degrees, int first)
{
    enum { TERMS = 16 };
    const pair radian = {0x1.1df46a2529d39p-6, 0x1.5c1d8becdd291p-62};
    const pair x = multiply((pair){degrees, 0.0}, radian), square = multiply(x, x);
    pair term = first == 0 ? (pair){1.0, 0.0} : x, terms[TERMS], sum = {0.0, 0.0};
    for (int i = 0; i < TERMS; i++) {
        const double n = (double)(2 * i + first);
        terms[i] = term;
        term = over(multiply(term, square), -(n + 1.0) * (n + 2.0));
    }
    for (int i = TERMS - 1; i >= 0; i--)
        sum = add(terms[i], sum);
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
