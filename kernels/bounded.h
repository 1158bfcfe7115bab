/* SPDX-License-Identifier: MIT */
/* Numbers and vectors in binary64 that carry a bound of their error (running error analysis). `unit` is the relative
 * error of a rounding, or 0 where the result is known to be exact. docs/exact.md, section 13, has the bounds. */
#ifndef CAROM_BOUNDED_H
#define CAROM_BOUNDED_H
#include "widetwo.h"

/* A rounding, and 1 per cent for the roundings of the bounds themselves. */
#define BOUNDED_EPS w_f(W_EPS(1.01))

FN wf w_max(wf a, wf b)
{
    return w_sel(w_lt(a, b), b, a);
}

typedef struct bounded {
    wf value, error;
} bounded;

/* A vector, a bound of the length of its error, and one of its own length. */
typedef struct bounded3 {
    w3 value;
    wf error, size;
} bounded3;

FN bounded bounded_of(wf value, wf error)
{
    bounded r;
    r.value = value;
    r.error = error;
    return r;
}

/* a b. unit: the relative error of a rounding, 0 where the product is exact. */
FN bounded bounded_mul(bounded a, bounded b, wf unit)
{
    const wf product = a.value * b.value;
    return bounded_of(product, (w_abs(a.value) + a.error) * b.error + w_abs(b.value) * a.error + unit * w_abs(product));
}

/* a - b */
FN bounded bounded_sub(bounded a, bounded b, wf unit)
{
    const wf difference = a.value - b.value;
    return bounded_of(difference, a.error + b.error + unit * w_abs(difference));
}

/* a + b */
FN bounded bounded_add(bounded a, bounded b, wf unit)
{
    const wf sum = a.value + b.value;
    return bounded_of(sum, a.error + b.error + unit * w_abs(sum));
}

FN wm wide_is_exact(wf a, wf b, wf d)
{
    return w_eq(w_sub_error(a, b, d), w_f(W(0.0)));
}

/* a - b of inputs: at most one rounding in each component, and nearly always none. */
FN bounded3 bounded3_difference(w3 a, w3 b)
{
    bounded3 r;
    r.value = w3_sub(a, b);
    r.size = w_sqrt(w3_dot(r.value, r.value)) * w_f(W(0x1.0000001p0));
    const wm is_exact = w_and(w_and(wide_is_exact(a.x, b.x, r.value.x), wide_is_exact(a.y, b.y, r.value.y)),
                              wide_is_exact(a.z, b.z, r.value.z));
    r.error = w_sel(is_exact, w_f(W(0.0)), r.size * BOUNDED_EPS);
    return r;
}

FN bounded3 bounded3_cross(bounded3 a, bounded3 b, wf unit)
{
    bounded3 r;
    r.value = w3_cross(a.value, b.value);
    r.size = w3_size(r.value);
    r.error = (a.size + a.error) * b.error + b.size * a.error + unit * W(2.25) * (a.size * b.size);
    return r;
}

FN bounded bounded3_dot(bounded3 a, bounded3 b, wf unit)
{
    return bounded_of(w3_dot(a.value, b.value),
                      (a.size + a.error) * b.error + b.size * a.error + unit * W(3.0) * (a.size * b.size));
}

/* a.a */
FN bounded bounded3_square(bounded3 a, wf unit)
{
    const wf square = w3_dot(a.value, a.value);
    return bounded_of(square, (a.size * W(2.0) + a.error) * a.error + unit * W(3.0) * square);
}

/* Whether a / b is exactly this quotient. Numbers whose product may lose its second half are not tried. */
FN wm bounded_quotient_is_exact(bounded a, bounded b, wf quotient)
{
    const wf zero = w_f(W(0.0));
    const wide2 product = wide2_product(quotient, b.value);
    const wm is_exact = w_and(w_eq(a.error, zero), w_eq(b.error, zero));
    return w_and(w_and(is_exact, w_lt(w_f(W(0x1p-900)), w_abs(a.value))),
                 w_and(w_eq(product.hi, a.value), w_eq(product.lo, zero)));
}

/* a / b, for b that is certainly positive. What it loses to underflow is below 2^-1000. */
FN bounded bounded_div(bounded a, bounded b)
{
    const wf quotient = a.value / b.value;
    return bounded_of(quotient, w_sel(bounded_quotient_is_exact(a, b, quotient), w_f(W(0.0)),
                                      (a.error + w_abs(quotient) * b.error) / b.value * W(1.25) +
                                          w_abs(quotient) * W(0x1p-51) + w_f(W(0x1p-1000))));
}

/* The product of two roots: exact if both are. */
FN bounded bounded_mul_roots(bounded a, bounded b)
{
    return bounded_mul(a, b, w_sel(w_eq(a.error + b.error, w_f(W(0.0))), w_f(W(0.0)), BOUNDED_EPS));
}

/* sqrt(a), for a that is certainly positive or uncertain. The root of an uncertain number is anything from 0 up to its
 * upper bound. */
FN bounded bounded_sqrt(bounded a)
{
    const wf zero = w_f(W(0.0));
    const wm is_clear = w_lt(a.error * W(4.0), a.value);
    const wf root = w_sqrt(w_sel(is_clear, a.value, w_abs(a.error) * W(5.25)));
    const wm is_exact = w_and(w_and(w_eq(a.error, zero), w_eq(wide_head(root), root)), w_eq(root * root, a.value));
    const wf error = w_sel(is_exact, zero, a.error / root * W(0.6) + root * BOUNDED_EPS);
    return bounded_of(w_sel(is_clear, root, root * W(0.5)), w_sel(is_clear, error, root * W(0.5)));
}

/* a in lanes m, else b. */
FN bounded bounded_sel(wm m, bounded a, bounded b)
{
    return bounded_of(w_sel(m, a.value, b.value), w_sel(m, a.error, b.error));
}

/* The sum as one number. error: of the sum, 0 if it is exact. */
FN bounded bounded_of_wide2(wide2 a, wf error)
{
    const wf value = a.hi + a.lo;
    return bounded_of(value, error + w_sel(w_eq(a.lo, w_f(W(0.0))), w_f(W(0.0)), w_abs(value) * BOUNDED_EPS));
}
#endif
