/* SPDX-License-Identifier: MIT */
/* Double-double arithmetic (T. J. Dekker): numbers of some 106 bits, as unevaluated sums of two doubles. */
#ifndef CAROM_HOST_MESH_DOUBLE_DOUBLE_H
#define CAROM_HOST_MESH_DOUBLE_DOUBLE_H
#include <math.h>

/* A number hi + lo; |lo| is at most half a unit in the last place of hi. */
typedef struct caromi_dd {
    double hi, lo;
} caromi_dd;

/* The exact sum a + b; |a| >= |b| or a = 0. */
static inline caromi_dd caromi_dd_of_sorted(double a, double b)
{
    const double sum = a + b;
    return (caromi_dd){sum, b - (sum - a)};
}

/* The exact sum of any two doubles. */
static inline caromi_dd caromi_dd_of_sum(double a, double b)
{
    const double sum = a + b, part = sum - a;
    return (caromi_dd){sum, (a - (sum - part)) + (b - part)};
}

/* The exact product of two doubles. */
static inline caromi_dd caromi_dd_of_product(double a, double b)
{
    const double split = 0x1p27 + 1.0;
    const double ca = split * a, cb = split * b, ah = ca - (ca - a), bh = cb - (cb - b), al = a - ah, bl = b - bh;
    const double p = a * b;
    return (caromi_dd){p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
}

static inline caromi_dd caromi_dd_add(caromi_dd a, caromi_dd b)
{
    const caromi_dd sum = caromi_dd_of_sum(a.hi, b.hi);
    return caromi_dd_of_sorted(sum.hi, sum.lo + (a.lo + b.lo));
}

static inline caromi_dd caromi_dd_negate(caromi_dd a)
{
    return (caromi_dd){-a.hi, -a.lo};
}

static inline caromi_dd caromi_dd_subtract(caromi_dd a, caromi_dd b)
{
    return caromi_dd_add(a, caromi_dd_negate(b));
}

static inline caromi_dd caromi_dd_multiply(caromi_dd a, caromi_dd b)
{
    const caromi_dd p = caromi_dd_of_product(a.hi, b.hi);
    return caromi_dd_of_sorted(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

static inline caromi_dd caromi_dd_over(caromi_dd a, double b)
{
    const double q = a.hi / b;
    const caromi_dd back = caromi_dd_of_product(q, b);
    return caromi_dd_of_sorted(q, ((a.hi - back.hi) - back.lo + a.lo) / b);
}

/* The quotient; b is not 0. */
static inline caromi_dd caromi_dd_divide(caromi_dd a, caromi_dd b)
{
    const double q = a.hi / b.hi;
    const caromi_dd left = caromi_dd_subtract(a, caromi_dd_multiply((caromi_dd){q, 0.0}, b));
    return caromi_dd_of_sorted(q, left.hi / b.hi);
}

/* The root of a number >= 0: one step of Newton's method. */
static inline caromi_dd caromi_dd_root(caromi_dd a)
{
    const double root = sqrt(a.hi);
    if (!(root > 0.0))
        return (caromi_dd){0.0, 0.0};
    return caromi_dd_of_sorted(root, caromi_dd_subtract(a, caromi_dd_of_product(root, root)).hi / (2.0 * root));
}

/* Whether a < b. */
static inline int caromi_dd_less(caromi_dd a, caromi_dd b)
{
    return a.hi < b.hi || (!(a.hi > b.hi) && a.lo < b.lo);
}
#endif
