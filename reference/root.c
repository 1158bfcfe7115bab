/* SPDX-License-Identifier: MIT */
#include "root.h"

#include <string.h>

void ref_root_copy(ref_root *out, const ref_root *a)
{
    ref_dyadic_copy(&out->p, &a->p);
    ref_dyadic_copy(&out->q, &a->q);
    ref_dyadic_copy(&out->w, &a->w);
    out->s = a->s;
}

void ref_root_rational(ref_root *out, const ref_dyadic *numerator, const ref_dyadic *denominator)
{
    ref_dyadic_copy(&out->p, numerator);
    ref_dyadic_copy(&out->w, denominator);
    ref_dyadic_zero(&out->q);
    out->s = 0;
    if (out->w.sign < 0) {
        ref_dyadic_neg(&out->p);
        ref_dyadic_neg(&out->w);
    }
}

int ref_root_quadratic(ref_root *first, ref_root *last, const ref_dyadic *a, const ref_dyadic *b, const ref_dyadic *c)
{
    ref_dyadic discriminant, product;

    ref_dyadic_mul(&discriminant, b, b);
    ref_dyadic_mul(&product, a, c);
    ref_dyadic_sub(&discriminant, &discriminant, &product);
    if (discriminant.sign < 0)
        return 0;
    ref_dyadic_copy(&first->p, b);
    ref_dyadic_neg(&first->p);
    ref_dyadic_copy(&first->q, &discriminant);
    ref_dyadic_copy(&first->w, a);
    first->s = -discriminant.sign;
    ref_root_copy(last, first);
    last->s = discriminant.sign;
    return 1;
}

/* Sign of x + s sqrt(q). */
static int sign_with_root(const ref_dyadic *x, int s, const ref_dyadic *q)
{
    ref_dyadic square;

    if (q->sign == 0)
        s = 0;
    if (s == 0 || x->sign == s)
        return x->sign;
    if (x->sign == 0)
        return s;
    ref_dyadic_mul(&square, x, x);
    return x->sign * ref_dyadic_cmp(&square, q);
}

int ref_root_sign(const ref_root *a)
{
    return sign_with_root(&a->p, a->s, &a->q);
}

int ref_root_cmp_dyadic(const ref_root *a, const ref_dyadic *b)
{
    ref_dyadic x;

    ref_dyadic_mul(&x, b, &a->w);
    ref_dyadic_sub(&x, &a->p, &x);
    return sign_with_root(&x, a->s, &a->q);
}

/* Sign of x + sy sqrt(y2) + sz sqrt(z2), where sy and sz are 0 exactly if y2 and z2 are. */
static int sign_with_two_roots(const ref_dyadic *x, int sy, const ref_dyadic *y2, int sz, const ref_dyadic *z2)
{
    ref_dyadic left, right;
    int roots, order;

    if (sz == 0)
        return sign_with_root(x, sy, y2);
    if (sy == 0)
        return sign_with_root(x, sz, z2);
    roots = sy == sz ? sy : sy * ref_dyadic_cmp(y2, z2);
    if (roots == 0 || x->sign == roots)
        return x->sign;
    if (x->sign == 0)
        return roots;
    /* Opposite signs: x^2 against (sy sqrt(y2) + sz sqrt(z2))^2 = y2 + z2 + 2 sy sz sqrt(y2 z2). */
    ref_dyadic_mul(&left, x, x);
    ref_dyadic_sub(&left, &left, y2);
    ref_dyadic_sub(&left, &left, z2);
    ref_dyadic_mul(&right, y2, z2);
    ref_dyadic_add(&right, &right, &right);
    ref_dyadic_add(&right, &right, &right);
    order = sign_with_root(&left, -sy * sz, &right);
    return x->sign * order;
}

int ref_root_cmp(const ref_root *a, const ref_root *b)
{
    ref_dyadic x, y2, z2, product;

    ref_dyadic_mul(&x, &a->p, &b->w);
    ref_dyadic_mul(&product, &b->p, &a->w);
    ref_dyadic_sub(&x, &x, &product);
    ref_dyadic_zero(&y2);
    ref_dyadic_zero(&z2);
    if (a->s) {
        ref_dyadic_mul(&y2, &b->w, &b->w);
        ref_dyadic_mul(&y2, &y2, &a->q);
    }
    if (b->s) {
        ref_dyadic_mul(&z2, &a->w, &a->w);
        ref_dyadic_mul(&z2, &z2, &b->q);
    }
    return sign_with_two_roots(&x, a->s * y2.sign, &y2, -b->s * z2.sign, &z2);
}

/* If p and s sqrt(q) cancel, the number is (p^2 - q) / (w (p - s sqrt(q))), where they do not. */
void ref_root_estimate(ref_dyadic *out, const ref_root *a)
{
    ref_dyadic root, top, bottom;

    ref_dyadic_sqrt(&root, &a->q);
    root.sign *= a->s;
    if (root.sign * a->p.sign >= 0) {
        ref_dyadic_add(&top, &a->p, &root);
        ref_dyadic_copy(&bottom, &a->w);
    } else {
        ref_dyadic_mul(&top, &a->p, &a->p);
        ref_dyadic_sub(&top, &top, &a->q);
        ref_dyadic_sub(&bottom, &a->p, &root);
        ref_dyadic_trim(&bottom);
        ref_dyadic_mul(&bottom, &bottom, &a->w);
    }
    ref_dyadic_trim(&top);
    ref_dyadic_recip(&bottom, &bottom);
    ref_dyadic_mul(out, &top, &bottom);
    ref_dyadic_trim(out);
}

/* A binary format through the bits of its magnitudes, which are in the order of the values. Infinity stands for the
 * power of two where it would be, so that the last midpoint is the one at which rounding overflows. */
struct format {
    int single;
    uint64_t infinity;
};

static const struct format binary32 = {1, 0x7f800000u};
static const struct format binary64 = {0, (uint64_t)0x7ff << 52};

static double double_of_bits(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static float float_of_bits(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static void value_of_bits(ref_dyadic *out, const struct format *format, uint64_t bits)
{
    if (bits == format->infinity) {
        ref_dyadic_from_double(out, format->single ? 0x1p127 : 0x1p1023);
        ref_dyadic_add(out, out, out);
    } else if (format->single) {
        ref_dyadic_from_float(out, float_of_bits((uint32_t)bits));
    } else {
        ref_dyadic_from_double(out, double_of_bits(bits));
    }
}

/* |a| against the midpoint of the magnitudes `bits` and `bits` + 1; `sign` is that of a. */
static int cmp_midpoint(const ref_root *a, int sign, const struct format *format, uint64_t bits)
{
    ref_dyadic middle, next, half;

    value_of_bits(&middle, format, bits);
    value_of_bits(&next, format, bits + 1);
    ref_dyadic_from_double(&half, 0.5);
    ref_dyadic_add(&middle, &middle, &next);
    ref_dyadic_mul(&middle, &middle, &half);
    middle.sign *= sign;
    return sign * ref_root_cmp_dyadic(a, &middle);
}

/* From a guess to the right magnitude, one value at a time; the guess is nearly always right. */
static uint64_t settle(const ref_root *a, int sign, const struct format *format, uint64_t bits)
{
    int order;

    while (bits < format->infinity) {
        order = cmp_midpoint(a, sign, format, bits);
        if (order < 0 || (order == 0 && bits % 2 == 0))
            break;
        bits++;
    }
    while (bits > 0) {
        order = cmp_midpoint(a, sign, format, bits - 1);
        if (order > 0 || (order == 0 && bits % 2 == 0))
            break;
        bits--;
    }
    return bits;
}

float ref_root_to_float(const ref_root *a, const ref_dyadic *estimate)
{
    int sign = ref_root_sign(a);
    uint32_t bits;

    if (sign == 0)
        return 0.0f;
    bits = (uint32_t)settle(a, sign, &binary32, ref_dyadic_bits32(estimate));
    return float_of_bits(sign < 0 && bits ? bits | 0x80000000u : bits);
}

double ref_root_to_double(const ref_root *a, const ref_dyadic *estimate)
{
    int sign = ref_root_sign(a);
    uint64_t bits;

    if (sign == 0)
        return 0.0;
    bits = settle(a, sign, &binary64, ref_dyadic_bits64(estimate));
    return double_of_bits(sign < 0 && bits ? bits | (uint64_t)1 << 63 : bits);
}
