/* SPDX-License-Identifier: MIT */
/* Numbers as the sum of two: twofloat.h for binary64. They decide the few times and signs of exact mode that need more
 * than 53 bits. An operation is off by at most 8 u^2 of the sum of the magnitudes that enter it, u = 2^-53, and exact
 * if all numbers are multiples of one unit and below 2^104 of it. Files that contain it are compiled without fusing. */
#ifndef CAROM_WIDETWO_H
#define CAROM_WIDETWO_H
#include "wide.h"

/* Rounding error of fl(a - b) = d, exactly (Knuth). */
FN wf w_sub_error(wf a, wf b, wf d)
{
    const wf b_again = a - d;
    return (a - (d + b_again)) + (b_again - b);
}

/* The 26 leading bits, so that products of such parts and of the remainders are exact (Dekker). */
FN wf wide_head(wf x)
{
    const wf spread = x * W(0x8000001p0);
    return spread - (spread - x);
}

/* A number as a sum of two; as twofloat.h, for binary64. */
typedef struct wide2 {
    wf hi, lo;
} wide2;

FN wide2 wide2_of(wf hi, wf lo)
{
    wide2 r;
    r.hi = hi;
    r.lo = lo;
    return r;
}

/* a + b, rounded to such a sum again, because after cancellation lo may be as large as the rest. */
FN wide2 wide2_add(wide2 a, wide2 b)
{
    const wf sum = a.hi + b.hi, rest = w_sub_error(a.hi, -b.hi, sum) + (a.lo + b.lo), hi = sum + rest;
    return wide2_of(hi, w_sub_error(sum, -rest, hi));
}

FN wide2 wide2_sub(wide2 a, wide2 b)
{
    return wide2_add(a, wide2_of(-b.hi, -b.lo));
}

/* a b, exactly (Dekker). */
FN wide2 wide2_product(wf a, wf b)
{
    const wf a_head = wide_head(a), a_tail = a - a_head, b_head = wide_head(b), b_tail = b - b_head, product = a * b;
    return wide2_of(product, (((a_head * b_head - product) + a_head * b_tail) + a_tail * b_head) + a_tail * b_tail);
}

FN wide2 wide2_mul(wide2 a, wide2 b)
{
    wide2 r = wide2_product(a.hi, b.hi);
    r.lo = r.lo + (a.hi * b.lo + a.lo * b.hi);
    return r;
}

/* A vector of such numbers. */
typedef struct wide23 {
    wide2 x, y, z;
} wide23;

FN wide2 wide2_sel(wm m, wide2 a, wide2 b)
{
    return wide2_of(w_sel(m, a.hi, b.hi), w_sel(m, a.lo, b.lo));
}
FN wide23 wide23_sel(wm m, wide23 a, wide23 b)
{
    wide23 r;
    r.x = wide2_sel(m, a.x, b.x);
    r.y = wide2_sel(m, a.y, b.y);
    r.z = wide2_sel(m, a.z, b.z);
    return r;
}

FN wide23 wide23_of(w3 a)
{
    const wf zero = w_f(W(0.0));
    wide23 r;
    r.x = wide2_of(a.x, zero);
    r.y = wide2_of(a.y, zero);
    r.z = wide2_of(a.z, zero);
    return r;
}

FN wide23 wide23_cross(w3 a, w3 b)
{
    wide23 r;
    r.x = wide2_sub(wide2_product(a.y, b.z), wide2_product(a.z, b.y));
    r.y = wide2_sub(wide2_product(a.z, b.x), wide2_product(a.x, b.z));
    r.z = wide2_sub(wide2_product(a.x, b.y), wide2_product(a.y, b.x));
    return r;
}

FN wide2 wide23_dot(wide23 a, wide23 b)
{
    return wide2_add(wide2_add(wide2_mul(a.x, b.x), wide2_mul(a.y, b.y)), wide2_mul(a.z, b.z));
}
#endif
