/* SPDX-License-Identifier: MIT */
#include "dyadic.h"

#include <assert.h>
#include <string.h>

void ref_dyadic_zero(ref_dyadic *out)
{
    out->sign = 0;
    out->n = 0;
    out->exp = 0;
}

void ref_dyadic_copy(ref_dyadic *out, const ref_dyadic *a)
{
    if (out == a)
        return;
    out->sign = a->sign;
    out->n = a->n;
    out->exp = a->exp;
    memcpy(out->limb, a->limb, (size_t)a->n * sizeof a->limb[0]);
}

/* Store `n` raw limbs, dropping zero limbs at both ends. */
static void store(ref_dyadic *out, int sign, int exp, const uint32_t *limb, int n)
{
    int low = 0;

    while (n > 0 && limb[n - 1] == 0)
        n--;
    while (low < n && limb[low] == 0)
        low++;
    if (n == 0) {
        ref_dyadic_zero(out);
        return;
    }
    out->sign = sign;
    out->n = n - low;
    out->exp = exp + low;
    assert(out->n <= REF_DYADIC_LIMBS); /* the bound of the header; inputs cannot reach it */
    memmove(out->limb, limb + low, (size_t)out->n * sizeof limb[0]);
}

/* mantissa * 2^exponent, mantissa < 2^53 */
static void from_parts(ref_dyadic *out, int sign, uint64_t mantissa, int exponent)
{
    /* Biased so that the division rounds down for negative exponents as well. */
    int whole = (exponent + 32 * 1024) / 32 - 1024;
    unsigned shift = (unsigned)(exponent - 32 * whole);
    uint64_t low = (mantissa & 0xffffffffu) << shift;
    uint64_t high = ((mantissa >> 32) << shift) + (low >> 32);
    const uint32_t limb[3] = {(uint32_t)low, (uint32_t)high, (uint32_t)(high >> 32)};

    store(out, sign, whole, limb, 3);
}

void ref_dyadic_from_double(ref_dyadic *out, double value)
{
    uint64_t bits;
    int field;

    memcpy(&bits, &value, sizeof bits);
    field = (int)(bits >> 52 & 0x7ff);
    bits = (bits & 0x800fffffffffffffu) | (field ? (uint64_t)1 << 52 : 0);
    from_parts(out, bits >> 63 ? -1 : 1, bits & 0x1fffffffffffffu, (field ? field : 1) - 1075);
}

void ref_dyadic_from_float(ref_dyadic *out, float value)
{
    uint32_t bits;
    int field;

    memcpy(&bits, &value, sizeof bits);
    field = (int)(bits >> 23 & 0xff);
    from_parts(out, bits >> 31 ? -1 : 1, (bits & 0x7fffffu) | (field ? 0x800000u : 0), (field ? field : 1) - 150);
}

void ref_dyadic_neg(ref_dyadic *a)
{
    a->sign = -a->sign;
}

static int cmp_magnitude(const ref_dyadic *a, const ref_dyadic *b)
{
    int top = a->n + a->exp;
    int common = a->n < b->n ? a->n : b->n;

    if (top != b->n + b->exp)
        return top < b->n + b->exp ? -1 : 1;
    for (int i = 1; i <= common; i++) {
        uint32_t x = a->limb[a->n - i], y = b->limb[b->n - i];
        if (x != y)
            return x < y ? -1 : 1;
    }
    /* Equal so far; the lowest limb of the longer one is not zero. */
    return a->n == b->n ? 0 : a->n < b->n ? -1 : 1;
}

int ref_dyadic_cmp(const ref_dyadic *a, const ref_dyadic *b)
{
    if (a->sign != b->sign)
        return a->sign < b->sign ? -1 : 1;
    return a->sign == 0 ? 0 : a->sign * cmp_magnitude(a, b);
}

static void add_magnitudes(ref_dyadic *out, int sign, const ref_dyadic *a, const ref_dyadic *b)
{
    uint32_t sum[REF_DYADIC_LIMBS + 2];
    int low = a->exp < b->exp ? a->exp : b->exp;
    int top_a = a->exp + a->n, top_b = b->exp + b->n;
    int n = (top_a > top_b ? top_a : top_b) - low;
    uint64_t carry = 0;

    assert(n < REF_DYADIC_LIMBS + 2);
    memset(sum, 0, (size_t)n * sizeof sum[0]);
    memcpy(sum + (a->exp - low), a->limb, (size_t)a->n * sizeof sum[0]);
    for (int i = 0, k = b->exp - low; k < n && (i < b->n || carry); i++, k++) {
        carry += (uint64_t)sum[k] + (i < b->n ? b->limb[i] : 0);
        sum[k] = (uint32_t)carry;
        carry >>= 32;
    }
    sum[n] = (uint32_t)carry;
    store(out, sign, low, sum, n + 1);
}

/* |a| > |b| */
static void sub_magnitudes(ref_dyadic *out, int sign, const ref_dyadic *a, const ref_dyadic *b)
{
    uint32_t diff[REF_DYADIC_LIMBS + 1];
    int low = a->exp < b->exp ? a->exp : b->exp;
    int n = a->exp + a->n - low;
    uint64_t borrow = 0;

    assert(n <= REF_DYADIC_LIMBS);
    memset(diff, 0, (size_t)n * sizeof diff[0]);
    memcpy(diff + (a->exp - low), a->limb, (size_t)a->n * sizeof diff[0]);
    for (int i = 0, k = b->exp - low; k < n && (i < b->n || borrow); i++, k++) {
        uint64_t d = (uint64_t)diff[k] - (i < b->n ? b->limb[i] : 0) - borrow;
        diff[k] = (uint32_t)d;
        borrow = d >> 63;
    }
    store(out, sign, low, diff, n);
}

static void add_signed(ref_dyadic *out, const ref_dyadic *a, const ref_dyadic *b, int sign_b)
{
    int order;

    if (sign_b == 0) {
        ref_dyadic_copy(out, a);
    } else if (a->sign == 0) {
        ref_dyadic_copy(out, b);
        out->sign = sign_b;
    } else if (a->sign == sign_b) {
        add_magnitudes(out, sign_b, a, b);
    } else if ((order = cmp_magnitude(a, b)) == 0) {
        ref_dyadic_zero(out);
    } else if (order > 0) {
        sub_magnitudes(out, a->sign, a, b);
    } else {
        sub_magnitudes(out, sign_b, b, a);
    }
}

void ref_dyadic_add(ref_dyadic *out, const ref_dyadic *a, const ref_dyadic *b)
{
    add_signed(out, a, b, b->sign);
}

void ref_dyadic_sub(ref_dyadic *out, const ref_dyadic *a, const ref_dyadic *b)
{
    add_signed(out, a, b, -b->sign);
}

void ref_dyadic_mul(ref_dyadic *out, const ref_dyadic *a, const ref_dyadic *b)
{
    uint32_t product[REF_DYADIC_LIMBS + 2];

    if (a->sign == 0 || b->sign == 0) {
        ref_dyadic_zero(out);
        return;
    }
    assert(a->n + b->n <= REF_DYADIC_LIMBS + 2);
    memset(product, 0, (size_t)(a->n + b->n) * sizeof product[0]);
    for (int i = 0; i < a->n; i++) {
        uint64_t carry = 0, digit = a->limb[i];
        if (digit == 0) /* far-apart magnitudes leave long runs of zero limbs */
            continue;
        for (int j = 0; j < b->n; j++) {
            carry += digit * b->limb[j] + product[i + j];
            product[i + j] = (uint32_t)carry;
            carry >>= 32;
        }
        product[i + b->n] = (uint32_t)carry;
    }
    store(out, a->sign * b->sign, a->exp + b->exp, product, a->n + b->n);
}

static int top_bit(const ref_dyadic *a)
{
    uint32_t high = a->limb[a->n - 1];
    int bit = 32 * (a->exp + a->n - 1);

    while (high >>= 1)
        bit++;
    return bit;
}

/* floor(|a| / 2^lsb) for a quotient below 2^64; *rest: -1, 0, 1 as the remainder is below, at, above one half, and
 * -2 if it is nothing. */
static uint64_t integer_part(const ref_dyadic *a, int lsb, int *rest)
{
    uint64_t whole = 0;
    int half = 0, sticky = 0;

    for (int i = a->n - 1; i >= 0; i--) {
        int shift = 32 * (a->exp + i) - lsb;
        uint32_t limb = a->limb[i];
        if (shift >= 0) {
            whole |= (uint64_t)limb << shift;
        } else if (shift > -32) {
            whole |= limb >> -shift;
            half = (int)(limb >> (-shift - 1) & 1u);
            sticky |= (limb & ((1u << (-shift - 1)) - 1u)) != 0;
        } else if (shift == -32) {
            half = (int)(limb >> 31);
            sticky |= (limb & 0x7fffffffu) != 0;
        } else {
            sticky |= limb != 0;
        }
    }
    *rest = half ? (sticky ? 1 : 0) : (sticky ? -1 : -2);
    return whole;
}

/* Bits of the nearest value in a format of `precision` bits whose smallest denormal is 2^min_exp. The exponent field
 * and the hidden bit add up so that a carry out of the mantissa needs no case of its own. */
static uint64_t nearest_bits(const ref_dyadic *a, int precision, int min_exp, uint64_t infinity)
{
    uint64_t whole, bits;
    int lsb, rest;

    if (a->sign == 0)
        return 0;
    lsb = top_bit(a) - (precision - 1);
    if (lsb < min_exp)
        lsb = min_exp;
    if ((uint64_t)(lsb - min_exp) >= infinity >> (precision - 1))
        return infinity;
    whole = integer_part(a, lsb, &rest);
    if (rest > 0 || (rest == 0 && (whole & 1)))
        whole++;
    bits = ((uint64_t)(lsb - min_exp) << (precision - 1)) + whole;
    return bits < infinity ? bits : infinity;
}

uint32_t ref_dyadic_bits32(const ref_dyadic *a)
{
    return (uint32_t)nearest_bits(a, 24, -149, 0x7f800000u);
}

uint64_t ref_dyadic_bits64(const ref_dyadic *a)
{
    return nearest_bits(a, 53, -1074, (uint64_t)0x7ff << 52);
}

float ref_dyadic_to_float(const ref_dyadic *a)
{
    uint32_t bits = ref_dyadic_bits32(a);
    float value;

    if (a->sign < 0 && bits != 0)
        bits |= 0x80000000u;
    memcpy(&value, &bits, sizeof value);
    return value;
}

double ref_dyadic_to_double(const ref_dyadic *a)
{
    uint64_t bits = ref_dyadic_bits64(a);
    double value;

    if (a->sign < 0 && bits != 0)
        bits |= (uint64_t)1 << 63;
    memcpy(&value, &bits, sizeof value);
    return value;
}

void ref_dyadic_trim(ref_dyadic *a)
{
    int drop = a->n - REF_APPROX_LIMBS;

    if (drop > 0)
        store(a, a->sign, a->exp + drop, a->limb + drop, REF_APPROX_LIMBS);
}

/* |a| = value * 2^(32 *exp) with 1 <= value < 2^32, up to binary64 rounding. */
static double leading_value(const ref_dyadic *a, int *exp)
{
    double value = a->limb[a->n - 1];

    if (a->n > 1)
        value += a->limb[a->n - 2] * 0x1p-32;
    if (a->n > 2)
        value += a->limb[a->n - 3] * 0x1p-64;
    *exp = a->exp + a->n - 1;
    return value;
}

/* Newton on 1/x: x <- x + x (1 - a x). The seed has 50 bits; each step doubles them. */
void ref_dyadic_recip(ref_dyadic *out, const ref_dyadic *a)
{
    ref_dyadic divisor, x, error, one;
    int exp;

    ref_dyadic_copy(&divisor, a);
    ref_dyadic_trim(&divisor);
    ref_dyadic_from_double(&one, 1.0);
    ref_dyadic_from_double(&x, 1.0 / leading_value(&divisor, &exp));
    x.exp -= exp;
    x.sign = divisor.sign;
    for (int step = 0; step < 4; step++) {
        ref_dyadic_mul(&error, &divisor, &x);
        ref_dyadic_sub(&error, &one, &error);
        ref_dyadic_trim(&error);
        ref_dyadic_mul(&error, &error, &x);
        ref_dyadic_add(&x, &x, &error);
        ref_dyadic_trim(&x);
    }
    ref_dyadic_copy(out, &x);
}

/* 1/sqrt in binary64 for 1 <= value < 2^64, without libm: five steps from a seed that is right to 4 %. */
static double inverse_root_seed(double value)
{
    uint64_t bits;
    double y;

    memcpy(&bits, &value, sizeof bits);
    bits = 0x5fe6eb50c7b537a9u - (bits >> 1);
    memcpy(&y, &bits, sizeof y);
    for (int step = 0; step < 5; step++)
        y = y * (1.5 - 0.5 * value * y * y);
    return y;
}

/* Newton on 1/sqrt(x): y <- y + y (1 - a y^2) / 2, and the root is a y. */
void ref_dyadic_sqrt(ref_dyadic *out, const ref_dyadic *a)
{
    ref_dyadic radicand, y, error, one, half;
    double lead;
    int exp;

    if (a->sign == 0) {
        ref_dyadic_zero(out);
        return;
    }
    ref_dyadic_copy(&radicand, a);
    ref_dyadic_trim(&radicand);
    lead = leading_value(&radicand, &exp);
    if (exp % 2 != 0) { /* the root needs a whole number of limbs in its exponent */
        lead *= 0x1p32;
        exp--;
    }
    ref_dyadic_from_double(&one, 1.0);
    ref_dyadic_from_double(&half, 0.5);
    ref_dyadic_from_double(&y, inverse_root_seed(lead));
    y.exp -= exp / 2;
    for (int step = 0; step < 4; step++) {
        ref_dyadic_mul(&error, &y, &y);
        ref_dyadic_trim(&error);
        ref_dyadic_mul(&error, &error, &radicand);
        ref_dyadic_sub(&error, &one, &error);
        ref_dyadic_mul(&error, &error, &half);
        ref_dyadic_trim(&error);
        ref_dyadic_mul(&error, &error, &y);
        ref_dyadic_add(&y, &y, &error);
        ref_dyadic_trim(&y);
    }
    ref_dyadic_mul(out, &radicand, &y);
    ref_dyadic_trim(out);
}
