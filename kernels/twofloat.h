/* SPDX-License-Identifier: MIT */
/* Double-float arithmetic: a number as the sum of two reals, with twice the precision, from correctly rounded
 * operations alone. It decides the few signs that need more than one real.
 *
 * Source: Dekker, A floating-point technique for extending the available precision; Knuth for the sum. An operation is
 * off by at most 8 eps^2 of the sum of the magnitudes that enter it. */
#ifndef CAROM_TWOFLOAT_H
#define CAROM_TWOFLOAT_H
#include "vec.h"

typedef struct twofloat {
    vf hi, lo; /* lo is the rounding error of hi */
} twofloat;

typedef struct twofloat3 {
    twofloat x, y, z;
} twofloat3;

/* a - b, exactly */
FN twofloat twofloat_difference(vf a, vf b)
{
    twofloat r;
    r.hi = a - b;
    r.lo = v_sub_error(a, b, r.hi);
    return r;
}

/* The 12 leading bits, rounded to nearest, so that the remainder has 11 bits and a sign: products of such parts are
 * exact. */
FN vf twofloat_head(vf x)
{
    return v_from_bits((v_bits(x) + v_i(1 << (R_HEAD_SHIFT - 1))) & R_HEAD_MASK);
}

/* a b, exactly */
FN twofloat twofloat_product(vf a, vf b)
{
    const vf a_head = twofloat_head(a), a_tail = a - a_head, b_head = twofloat_head(b), b_tail = b - b_head;
    twofloat r;
    r.hi = a * b;
    r.lo = (((a_head * b_head - r.hi) + a_head * b_tail) + a_tail * b_head) + a_tail * b_tail;
    return r;
}

/* a times a power of two, exactly. */
FN twofloat twofloat_scale(twofloat a, vf power)
{
    a.hi = a.hi * power;
    a.lo = a.lo * power;
    return a;
}
/* a + b. hi is the sum rounded again, because after cancellation lo may be as large as the rest. */
FN twofloat twofloat_add(twofloat a, twofloat b)
{
    const vf sum = a.hi + b.hi, rest = v_sub_error(a.hi, -b.hi, sum) + (a.lo + b.lo);
    twofloat r;
    r.hi = sum + rest;
    r.lo = v_sub_error(sum, -rest, r.hi);
    return r;
}
/* a - b */
FN twofloat twofloat_sub(twofloat a, twofloat b)
{
    return twofloat_add(a, twofloat_scale(b, v_f(R(-1.0))));
}
/* a b */
FN twofloat twofloat_mul(twofloat a, twofloat b)
{
    twofloat r = twofloat_product(a.hi, b.hi);
    r.lo = r.lo + (a.hi * b.lo + a.lo * b.hi);
    return r;
}
/* a b, b a single number. */
FN twofloat twofloat_times(twofloat a, vf b)
{
    twofloat r = twofloat_product(a.hi, b);
    r.lo = r.lo + a.lo * b;
    return r;
}
/* The number rounded to one real. */
FN vf twofloat_value(twofloat a)
{
    return a.hi + a.lo;
}

/* a - b, exactly, times a power of twofloat */
FN twofloat3 twofloat3_difference(v3 a, v3 b, vf power)
{
    twofloat3 r;
    r.x = twofloat_scale(twofloat_difference(a.x, b.x), power);
    r.y = twofloat_scale(twofloat_difference(a.y, b.y), power);
    r.z = twofloat_scale(twofloat_difference(a.z, b.z), power);
    return r;
}
/* v x a */
FN twofloat3 twofloat3_cross(v3 v, twofloat3 a)
{
    twofloat3 r;
    r.x = twofloat_sub(twofloat_times(a.z, v.y), twofloat_times(a.y, v.z));
    r.y = twofloat_sub(twofloat_times(a.x, v.z), twofloat_times(a.z, v.x));
    r.z = twofloat_sub(twofloat_times(a.y, v.x), twofloat_times(a.x, v.y));
    return r;
}
#endif
