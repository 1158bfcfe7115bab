/* SPDX-License-Identifier: MIT */
/* Integers: sign and magnitude outside, two's complement while products are summed. */
#include "integer.h"

__extension__ typedef unsigned __int128 wide_word;
__extension__ typedef __int128 wide_signed;

enum { WORD = 64, SMALL_BITS = 62 }; /* three products of two such numbers fit 127 bits */

/* ---- inputs -------------------------------------------------------------------------------------------------------
 */

/* The bits of a binary32 number. */
static uint32_t float_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* |x| = mantissa * 2^exponent. Reads the bits, so that no mode of the processor flushes x to zero. */
static uint32_t float_split(float x, int *exponent)
{
    const uint32_t bits = float_bits(x), field = bits >> 23 & 255, fraction = bits & 0x7fffff;
    *exponent = (int)(field ? field : 1) - 150;
    return field ? fraction | 0x800000 : fraction;
}

/* Whether no number is infinite or NaN, by the exponents' bits. */
int caromi_floats_finite(const float *x, int count)
{
    int finite = 1;
    for (int i = 0; i < count; i++)
        finite &= (float_bits(x[i]) >> 23 & 255) != 255;
    return finite;
}

int caromi_radius_valid(float r)
{
    return float_bits(r) <= 0x80000000u;
}

/* Exponent of the lowest bit that is set in any of the numbers. */
int caromi_lowest_bit(const float *x, int count)
{
    int lowest = CAROMI_NO_BIT;
    for (int i = 0; i < count; i++) {
        int exponent;
        const uint32_t mantissa = float_split(x[i], &exponent);
        if (mantissa == 0)
            continue;
        exponent += __builtin_ctz(mantissa);
        lowest = exponent < lowest ? exponent : lowest;
    }
    return lowest;
}

/* ---- simple values ------------------------------------------------------------------------------------------------
 */

void caromi_int_zero(caromi_int *out)
{
    out->sign = out->count = 0;
    out->limb[0] = 0;
}

void caromi_int_of_unsigned(caromi_int *out, int sign, uint64_t magnitude)
{
    out->sign = magnitude ? sign : 0;
    out->count = magnitude != 0;
    out->limb[0] = magnitude;
}

void caromi_int_copy(caromi_int *out, const caromi_int *a)
{
    out->sign = a->sign;
    out->count = a->count;
    out->limb[0] = a->limb[0];
    for (int i = 1; i < a->count; i++)
        out->limb[i] = a->limb[i];
}

void caromi_int_of_float(caromi_int *out, float x, int unit)
{
    int exponent;
    uint32_t mantissa = float_split(x, &exponent);
    const int sign = float_bits(x) >> 31 ? -1 : 1, shift = exponent - unit;
    if (mantissa == 0) {
        caromi_int_zero(out);
    } else if (shift <= SMALL_BITS - 24) {
        caromi_int_of_unsigned(out, sign, shift < 0 ? (uint64_t)mantissa >> -shift : (uint64_t)mantissa << shift);
    } else {
        caromi_int whole;
        caromi_int_of_unsigned(&whole, sign, mantissa);
        caromi_int_shift(out, &whole, shift);
    }
}

/* Sets sign and count after leading limbs may have become 0. */
static void trim(caromi_int *a, int sign, int count)
{
    while (count > 0 && a->limb[count - 1] == 0)
        count--;
    a->count = count;
    a->sign = count ? sign : 0;
}

void caromi_int_shift(caromi_int *out, const caromi_int *a, int bits)
{
    const int word_shift = bits / WORD, bit_shift = bits % WORD;
    if (a->sign == 0) {
        caromi_int_zero(out);
        return;
    }
    for (int i = 0; i < word_shift; i++)
        out->limb[i] = 0;
    uint64_t carry = 0;
    for (int i = 0; i < a->count; i++) {
        const wide_word shifted = (wide_word)a->limb[i] << bit_shift;
        out->limb[word_shift + i] = (uint64_t)shifted | carry;
        carry = (uint64_t)(shifted >> WORD);
    }
    int count = word_shift + a->count;
    if (carry)
        out->limb[count++] = carry;
    out->sign = a->sign;
    out->count = count;
}

caromi_approx caromi_int_approx(const caromi_int *a)
{
    if (a->sign == 0)
        return (caromi_approx){0.0, 0};
    const int zeros = __builtin_clzll(a->limb[a->count - 1]);
    uint64_t top = a->limb[a->count - 1] << zeros;
    if (zeros && a->count > 1)
        top |= a->limb[a->count - 2] >> (WORD - zeros);
    return (caromi_approx){(double)top * (a->sign < 0 ? -0x1p-64 : 0x1p-64), a->count * WORD - zeros};
}

/* ---- sums ---------------------------------------------------------------------------------------------------------
 */

/* The sign of |a| - |b|. */
static int compare_magnitudes(const caromi_int *a, const caromi_int *b)
{
    if (a->count != b->count)
        return a->count < b->count ? -1 : 1;
    for (int i = a->count; i-- > 0;)
        if (a->limb[i] != b->limb[i])
            return a->limb[i] < b->limb[i] ? -1 : 1;
    return 0;
}

int caromi_int_compare(const caromi_int *a, const caromi_int *b)
{
    if (a->sign != b->sign)
        return a->sign < b->sign ? -1 : 1;
    return a->sign * compare_magnitudes(a, b);
}

/* |a| + |b|, |a| having at least as many limbs. */
static void add_magnitudes(caromi_int *out, const caromi_int *a, const caromi_int *b, int sign)
{
    const int count = a->count, common = b->count;
    uint64_t carry = 0;
    for (int i = 0; i < count; i++) {
        const wide_word sum = (wide_word)a->limb[i] + (i < common ? b->limb[i] : 0) + carry;
        out->limb[i] = (uint64_t)sum;
        carry = (uint64_t)(sum >> WORD);
    }
    if (carry)
        out->limb[count] = carry;
    out->count = count + (carry != 0);
    out->sign = sign;
}

/* |a| - |b|, |a| being the larger. */
static void sub_magnitudes(caromi_int *out, const caromi_int *a, const caromi_int *b, int sign)
{
    const int count = a->count, common = b->count;
    uint64_t borrow = 0;
    for (int i = 0; i < count; i++) {
        const wide_word part = (wide_word)a->limb[i] - (i < common ? b->limb[i] : 0) - borrow;
        out->limb[i] = (uint64_t)part;
        borrow = (uint64_t)(part >> WORD) & 1;
    }
    trim(out, sign, count);
}

/* Whether the number fits SMALL_BITS. */
static int is_small(const caromi_int *a)
{
    return a->count <= 1 && a->limb[0] >> SMALL_BITS == 0;
}

static int64_t small_value(const caromi_int *a)
{
    return a->sign * (int64_t)a->limb[0];
}

/* a + b, with a separate sign for b. */
static void add_signed(caromi_int *out, const caromi_int *a, const caromi_int *b, int b_sign)
{
    if (is_small(a) && is_small(b)) {
        const int64_t sum = small_value(a) + b_sign * (int64_t)b->limb[0];
        caromi_int_of_unsigned(out, sum < 0 ? -1 : 1, sum < 0 ? (uint64_t)-sum : (uint64_t)sum);
    } else if (a->sign * b_sign >= 0) {
        const int sign = a->sign ? a->sign : b_sign;
        if (a->count >= b->count)
            add_magnitudes(out, a, b, sign);
        else
            add_magnitudes(out, b, a, sign);
    } else if (compare_magnitudes(a, b) >= 0) {
        sub_magnitudes(out, a, b, a->sign);
    } else {
        sub_magnitudes(out, b, a, b_sign);
    }
    if (out->count == 0)
        out->limb[0] = 0;
}

void caromi_int_add(caromi_int *out, const caromi_int *a, const caromi_int *b)
{
    add_signed(out, a, b, b->sign);
}

void caromi_int_sub(caromi_int *out, const caromi_int *a, const caromi_int *b)
{
    add_signed(out, a, b, -b->sign);
}

/* ---- products -----------------------------------------------------------------------------------------------------
 */

/* A sum of products accumulates in place, in two's complement of `count` limbs, and is converted to sign and
 * magnitude once. */

/* sum += |a| |b|, modulo 2^(64 count). */
static void add_product(uint64_t *sum, int count, const caromi_int *a, const caromi_int *b)
{
    for (int i = 0; i < a->count; i++) {
        const uint64_t factor = a->limb[i];
        uint64_t carry = 0;
        int k = i;
        for (int j = 0; j < b->count; j++, k++) {
            const wide_word part = (wide_word)factor * b->limb[j] + sum[k] + carry;
            sum[k] = (uint64_t)part;
            carry = (uint64_t)(part >> WORD);
        }
        for (; carry && k < count; k++) {
            sum[k] += carry;
            carry = sum[k] < carry;
        }
    }
}

/* sum -= |a| |b|, modulo 2^(64 count). */
static void sub_product(uint64_t *sum, int count, const caromi_int *a, const caromi_int *b)
{
    for (int i = 0; i < a->count; i++) {
        const uint64_t factor = a->limb[i];
        uint64_t borrow = 0;
        int k = i;
        for (int j = 0; j < b->count; j++, k++) {
            const wide_word part = (wide_word)factor * b->limb[j] + borrow;
            const uint64_t low = (uint64_t)part;
            borrow = (uint64_t)(part >> WORD) + (sum[k] < low);
            sum[k] -= low;
        }
        for (; borrow && k < count; k++) {
            const uint64_t before = sum[k];
            sum[k] = before - borrow;
            borrow = before < borrow;
        }
    }
}

/* sum += sign a b */
static void accumulate(caromi_int *sum, int count, const caromi_int *a, const caromi_int *b, int sign)
{
    if (a->sign * b->sign * sign > 0)
        add_product(sum->limb, count, a, b);
    else if (a->sign * b->sign != 0)
        sub_product(sum->limb, count, a, b);
}

/* Converts two's complement to sign and magnitude. */
static void finish(caromi_int *sum, int count)
{
    const int negative = sum->limb[count - 1] >> (WORD - 1) != 0;
    if (negative) {
        uint64_t carry = 1;
        for (int i = 0; i < count; i++) {
            sum->limb[i] = ~sum->limb[i] + carry;
            carry = carry && sum->limb[i] == 0;
        }
    }
    trim(sum, negative ? -1 : 1, count);
}

/* Sets a number of at most 127 bits. */
static void set_wide(caromi_int *out, wide_signed value)
{
    const wide_word magnitude = value < 0 ? (wide_word)-value : (wide_word)value;
    out->limb[0] = (uint64_t)magnitude;
    out->limb[1] = (uint64_t)(magnitude >> WORD);
    out->count = out->limb[1] ? 2 : out->limb[0] != 0;
    out->sign = out->count == 0 ? 0 : value < 0 ? -1 : 1;
}

/* a b; numbers of one limb need a single multiplication. */
void caromi_int_mul(caromi_int *out, const caromi_int *a, const caromi_int *b)
{
    const int count = a->count + b->count;
    if (a->count <= 1 && b->count <= 1) {
        const wide_word product = (wide_word)a->limb[0] * b->limb[0];
        out->limb[0] = (uint64_t)product;
        out->limb[1] = (uint64_t)(product >> WORD);
        out->count = out->limb[1] ? 2 : out->limb[0] != 0;
        out->sign = a->sign * b->sign;
        return;
    }
    for (int i = 0; i < count; i++)
        out->limb[i] = 0;
    if (a->sign != 0 && b->sign != 0)
        add_product(out->limb, count, a, b);
    trim(out, a->sign * b->sign, count);
}

/* Computes each product of two different limbs once, doubles the sum, then adds the squares of the limbs. */
void caromi_int_square(caromi_int *out, const caromi_int *a)
{
    const int count = a->count;
    if (count <= 3) {
        caromi_int_mul(out, a, a);
        return;
    }
    for (int i = 0; i < 2 * count; i++)
        out->limb[i] = 0;
    /* Products of different limbs, each once. */
    for (int i = 0; i + 1 < count; i++) {
        uint64_t carry = 0;
        for (int j = i + 1; j < count; j++) {
            const wide_word part = (wide_word)a->limb[i] * a->limb[j] + out->limb[i + j] + carry;
            out->limb[i + j] = (uint64_t)part;
            carry = (uint64_t)(part >> WORD);
        }
        out->limb[i + count] = carry;
    }
    /* Twice that sum plus the squares, two limbs of the result at a time. */
    uint64_t shifted = 0, carry = 0;
    for (int i = 0; i < count; i++) {
        const wide_word square = (wide_word)a->limb[i] * a->limb[i];
        const uint64_t low = out->limb[2 * i], high = out->limb[2 * i + 1];
        const wide_word first = (wide_word)(low << 1 | shifted) + (uint64_t)square + carry;
        const wide_word second =
            (wide_word)(high << 1 | low >> (WORD - 1)) + (uint64_t)(square >> WORD) + (uint64_t)(first >> WORD);
        shifted = high >> (WORD - 1);
        out->limb[2 * i] = (uint64_t)first;
        out->limb[2 * i + 1] = (uint64_t)second;
        carry = (uint64_t)(second >> WORD);
    }
    trim(out, 1, 2 * count);
}

/* ---- vectors ------------------------------------------------------------------------------------------------------
 */

/* Whether all components fit SMALL_BITS. */
static int are_small(const caromi_int3 *a)
{
    return (a->x[0].count | a->x[1].count | a->x[2].count) <= 1 &&
           (a->x[0].limb[0] | a->x[1].limb[0] | a->x[2].limb[0]) >> SMALL_BITS == 0;
}

/* The greatest number of limbs of a component. */
static int most_limbs(const caromi_int3 *a)
{
    const int xy = a->x[0].count > a->x[1].count ? a->x[0].count : a->x[1].count;
    return xy > a->x[2].count ? xy : a->x[2].count;
}

void caromi_int3_sub(caromi_int3 *out, const caromi_int3 *a, const caromi_int3 *b)
{
    for (int i = 0; i < 3; i++)
        caromi_int_sub(&out->x[i], &a->x[i], &b->x[i]);
}

/* A dot product in one pass: small numbers in 128 bits, others limb by limb. */
void caromi_int3_dot(caromi_int *out, const caromi_int3 *a, const caromi_int3 *b)
{
    if (are_small(a) && are_small(b)) {
        wide_signed sum = 0;
        for (int i = 0; i < 3; i++)
            sum += (wide_signed)small_value(&a->x[i]) * small_value(&b->x[i]);
        set_wide(out, sum);
        return;
    }
    const int count = most_limbs(a) + most_limbs(b) + 1;
    for (int i = 0; i < count; i++)
        out->limb[i] = 0;
    for (int i = 0; i < 3; i++)
        accumulate(out, count, &a->x[i], &b->x[i], 1);
    finish(out, count);
}

/* A cross product, component by component. */
void caromi_int3_cross(caromi_int3 *out, const caromi_int3 *a, const caromi_int3 *b)
{
    const int small = are_small(a) && are_small(b);
    const int count = most_limbs(a) + most_limbs(b) + 1;
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        caromi_int *to = &out->x[i];
        if (small) {
            set_wide(to, (wide_signed)small_value(&a->x[j]) * small_value(&b->x[k]) -
                             (wide_signed)small_value(&a->x[k]) * small_value(&b->x[j]));
            continue;
        }
        for (int l = 0; l < count; l++)
            to->limb[l] = 0;
        accumulate(to, count, &a->x[j], &b->x[k], 1);
        accumulate(to, count, &a->x[k], &b->x[j], -1);
        finish(to, count);
    }
}
