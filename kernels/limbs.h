/* SPDX-License-Identifier: MIT */
/* Integers of a fixed number of 32-bit limbs in two's complement, lowest limb first, for the few signs that binary64
 * leaves open on a device. Coordinates are written in units of 2^-149, so 9 limbs hold the difference of any two of
 * them, 18 the difference of two products of differences, and 27 that times a difference, three times. */
#ifndef CAROM_LIMBS_H
#define CAROM_LIMBS_H
#include "lang.h"

#define LIMBS_REAL 9
#define LIMBS_AREA 18
#define LIMBS_VOLUME 27

/* a -= b. */
FN void limbs_subtract(u32 *a, const u32 *b, int count)
{
    u32 borrow = 0;
    LANG_ROLLED
    for (int k = 0; k < count; k++) {
        const u32 without = a[k] - b[k], next = a[k] < b[k] || without < borrow;
        a[k] = without - borrow;
        borrow = next;
    }
}

/* a += b. */
FN void limbs_add(u32 *a, const u32 *b, int count)
{
    u32 carry = 0;
    LANG_ROLLED
    for (int k = 0; k < count; k++) {
        const ulong sum = (ulong)a[k] + b[k] + carry;
        a[k] = (u32)sum;
        carry = (u32)(sum >> 32);
    }
}

/* 1, -1 or 0. */
FN int limbs_sign(const u32 *a, int count)
{
    u32 any = 0;
    LANG_ROLLED
    for (int k = 0; k < count; k++)
        any |= a[k];
    return a[count - 1] >> 31 ? -1 : any != 0;
}

/* A coordinate; minus the coordinate if `negates`. */
FN void limbs_of_real(real x, int negates, u32 to[LIMBS_REAL])
{
    const u32 bits = real_bits(x), exponent = bits >> 23 & 255, shift = exponent != 0 ? exponent - 1 : 0,
              minus = (bits >> 31) ^ (u32)negates;
    const ulong mantissa = (bits & 0x7fffff) | (exponent != 0 ? 0x800000 : 0), value = mantissa << shift % 32;
    u32 carry = minus;
    LANG_ROLLED
    for (int k = 0; k < LIMBS_REAL; k++) {
        const u32 limb = k == (int)(shift / 32) ? (u32)value : k == (int)(shift / 32) + 1 ? (u32)(value >> 32) : 0;
        to[k] = minus ? ~limb + carry : limb;
        carry = carry && to[k] == 0;
    }
}

/* a - b. */
FN void limbs_difference(real a, real b, u32 to[LIMBS_REAL])
{
    u32 subtracted[LIMBS_REAL];
    limbs_of_real(a, 0, to);
    limbs_of_real(b, 1, subtracted);
    limbs_add(to, subtracted, LIMBS_REAL);
}

/* The limb of a number whose sign goes on beyond its limbs. */
FN u32 limbs_at(const u32 *a, int count, int at)
{
    return at < count ? a[at] : a[count - 1] >> 31 ? 0xffffffffu : 0;
}

/* a b, in `to_count` limbs. */
FN void limbs_multiply(const u32 *a, int a_count, const u32 *b, int b_count, u32 *to, int to_count)
{
    LANG_ROLLED
    for (int k = 0; k < to_count; k++)
        to[k] = 0;
    LANG_ROLLED
    for (int i = 0; i < to_count; i++) {
        const ulong factor = limbs_at(a, a_count, i);
        u32 carry = 0;
        LANG_ROLLED
        for (int j = 0; j < to_count - i; j++) {
            const ulong sum = factor * limbs_at(b, b_count, j) + to[i + j] + carry;
            to[i + j] = (u32)sum;
            carry = (u32)(sum >> 32);
        }
    }
}

/* a b - c d, of four differences. */
FN void limbs_area(const u32 *a, const u32 *b, const u32 *c, const u32 *d, u32 to[LIMBS_AREA])
{
    u32 subtracted[LIMBS_AREA];
    limbs_multiply(a, LIMBS_REAL, b, LIMBS_REAL, to, LIMBS_AREA);
    limbs_multiply(c, LIMBS_REAL, d, LIMBS_REAL, subtracted, LIMBS_AREA);
    limbs_subtract(to, subtracted, LIMBS_AREA);
}
#endif
