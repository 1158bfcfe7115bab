/* SPDX-License-Identifier: MIT */
/* Both directions are one product: a number of at most 64 bits times a power of ten that is cut off after 64 bits.
 *
 * Let 10^k = (P + e) 2^q with 2^63 <= P < 2^64 and 0 <= e < 1. For 0 <= k <= 27 the power's odd part 5^k has at most 64
 * bits, so e = 0. Let W < 2^64. The exact W 10^k is (W P + W e) 2^q, which lies in [W P, W P + 2^64) 2^q. So the upper
 * word H of the 128 bits of W P is that of the exact product or, where e > 0, one less. The answer is H without its
 * lowest bits, rounded: R = H >> s, and the bits that were shifted out are compared with half = 2^(s-1). Only
 * where they are half - 1 or half can the missing part decide; everywhere else the rounding is that of the exact
 * product. */
#include "decimal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide_word;

static const uint64_t powers[] = {
    0xc8de047564d20a8b, 0xfb158592be068d2e, 0x9ced737bb6c4183d, 0xc428d05aa4751e4c, 0xf53304714d9265df,
    0x993fe2c6d07b7fab, 0xbf8fdb78849a5f96, 0xef73d256a5c0f77c, 0x95a8637627989aad, 0xbb127c53b17ec159,
    0xe9d71b689dde71af, 0x9226712162ab070d, 0xb6b00d69bb55c8d1, 0xe45c10c42a2b3b05, 0x8eb98a7a9a5b04e3,
    0xb267ed1940f1c61c, 0xdf01e85f912e37a3, 0x8b61313bbabce2c6, 0xae397d8aa96c1b77, 0xd9c7dced53c72255,
    0x881cea14545c7575, 0xaa242499697392d2, 0xd4ad2dbfc3d07787, 0x84ec3c97da624ab4, 0xa6274bbdd0fadd61,
    0xcfb11ead453994ba, 0x81ceb32c4b43fcf4, 0xa2425ff75e14fc31, 0xcad2f7f5359a3b3e, 0xfd87b5f28300ca0d,
    0x9e74d1b791e07e48, 0xc612062576589dda, 0xf79687aed3eec551, 0x9abe14cd44753b52, 0xc16d9a0095928a27,
    0xf1c90080baf72cb1, 0x971da05074da7bee, 0xbce5086492111aea, 0xec1e4a7db69561a5, 0x9392ee8e921d5d07,
    0xb877aa3236a4b449, 0xe69594bec44de15b, 0x901d7cf73ab0acd9, 0xb424dc35095cd80f, 0xe12e13424bb40e13,
    0x8cbccc096f5088cb, 0xafebff0bcb24aafe, 0xdbe6fecebdedd5be, 0x89705f4136b4a597, 0xabcc77118461cefc,
    0xd6bf94d5e57a42bc, 0x8637bd05af6c69b5, 0xa7c5ac471b478423, 0xd1b71758e219652b, 0x83126e978d4fdf3b,
    0xa3d70a3d70a3d70a, 0xcccccccccccccccc, 0x8000000000000000, 0xa000000000000000, 0xc800000000000000,
    0xfa00000000000000, 0x9c40000000000000, 0xc350000000000000, 0xf424000000000000, 0x9896800000000000,
    0xbebc200000000000, 0xee6b280000000000, 0x9502f90000000000, 0xba43b74000000000, 0xe8d4a51000000000,
    0x9184e72a00000000, 0xb5e620f480000000, 0xe35fa931a0000000, 0x8e1bc9bf04000000, 0xb1a2bc2ec5000000,
    0xde0b6b3a76400000, 0x8ac7230489e80000, 0xad78ebc5ac620000, 0xd8d726b7177a8000, 0x878678326eac9000,
    0xa968163f0a57b400, 0xd3c21bcecceda100, 0x84595161401484a0, 0xa56fa5b99019a5c8, 0xcecb8f27f4200f3a,
    0x813f3978f8940984, 0xa18f07d736b90be5, 0xc9f2c9cd04674ede, 0xfc6f7c4045812296, 0x9dc5ada82b70b59d,
    0xc5371912364ce305, 0xf684df56c3e01bc6, 0x9a130b963a6c115c, 0xc097ce7bc90715b3, 0xf0bdc21abb48db20,
    0x96769950b50d88f4, 0xbc143fa4e250eb31, 0xeb194f8e1ae525fd, 0x92efd1b8d0cf37be, 0xb7abc627050305ad,
    0xe596b7b0c643c719, 0x8f7e32ce7bea5c6f, 0xb35dbf821ae4f38b, 0xe0352f62a19e306e, 0x8c213d9da502de45,
    0xaf298d050e4395d6, 0xdaf3f04651d47b4c, 0x88d8762bf324cd0f, 0xab0e93b6efee0053, 0xd5d238a4abe98068,
    0x85a36366eb71f041,
};

/* floor(k log2(10)) for |k| <= 64, floor(e log10(2)) for |e| <= 160; the second term keeps the shifted sum positive. */
static int log2_of_power(int k)
{
    return (int)((uint32_t)(k * 217706 + (1 << 26)) >> 16) - (1 << 10);
}

static int log10_of_power(int e)
{
    return (int)((uint32_t)(e * 78913 + (1 << 28)) >> 18) - (1 << 10);
}

uint64_t decimal_power(int k, int *q)
{
    *q = log2_of_power(k) - 63;
    return powers[k - DECIMAL_POWER_MIN];
}

/* ---- reading -------------------------------------------------------------------------------------------------- */

static int is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

/* digits * 10^k to binary32; 0 to leave it to strtof. The 24 bits of R are followed by 39 or 40 others. */
static int round_to_float(uint64_t digits, int k, uint32_t *bits)
{
    int q;
    if (digits == 0) {
        *bits = 0;
        return 1;
    }
    if (k < DECIMAL_POWER_MIN || k > 38)
        return 0;
    const uint64_t power = decimal_power(k, &q);
    const int zeros = __builtin_clzll(digits);
    const uint64_t high = (uint64_t)((wide_word)(digits << zeros) * power >> 64);
    const int shift = 39 + (int)(high >> 63);
    const uint64_t rest = high & ((UINT64_C(1) << shift) - 1), half = UINT64_C(1) << (shift - 1);
    if (rest == half - 1 || rest == half)
        return 0;
    const int exponent = q - zeros + 64 + shift + 23; /* of the leading bit of R */
    if (exponent < -126 || exponent > 127)
        return 0;
    /* R = 2^24, rounded up from below, carries into the exponent, and beyond the largest float to infinity. */
    const uint64_t rounded = (high >> shift) + (rest > half);
    *bits = (uint32_t)((uint64_t)(exponent + 127) << 23) + (uint32_t)(rounded - (1u << 23));
    return *bits < 0x7f800000;
}

/* The whole number behind an e; 0 if there is none. Beyond 10^4 it is out of range in any case. */
static const char *read_exponent(const char *text, const char *end, int *exponent)
{
    const int negative = text < end && *text == '-';
    int value = 0;
    text += text < end && (*text == '-' || *text == '+');
    const char *begin = text;
    for (; text < end && is_digit(*text); text++)
        value = value < 10000 ? 10 * value + (*text - '0') : value;
    *exponent += negative ? -value : value;
    return text > begin ? text : NULL;
}

static const char *read_digits(const char *text, const char *end, uint64_t *digits)
{
    uint64_t value = *digits;
    for (; text < end && is_digit(*text); text++)
        value = 10 * value + (uint64_t)(*text - '0');
    *digits = value;
    return text;
}

/* 19 digits fit in 64 bits; zeros in front do not count. */
static int is_short(const char *text, const char *end, size_t count)
{
    for (; count > 19 && text < end && (*text == '0' || *text == '.'); text++)
        count -= *text == '0';
    return count <= 19;
}

const char *decimal_read(const char *text, const char *end, float *out)
{
    const int negative = text < end && *text == '-';
    uint64_t digits = 0;
    int exponent = 0;
    text += text < end && (*text == '-' || *text == '+');
    const char *const begin = text;
    text = read_digits(text, end, &digits);
    size_t count = (size_t)(text - begin);
    if (text < end && *text == '.') {
        const char *const point = text + 1;
        text = read_digits(point, end, &digits);
        count += (size_t)(text - point);
        exponent = text - point < 10000 ? -(int)(text - point) : -10000;
    }
    if (count == 0 || (count > 19 && !is_short(begin, text, count)))
        return NULL;
    if (text < end && (*text | 0x20) == 'e' && !(text = read_exponent(text + 1, end, &exponent)))
        return NULL;
    uint32_t bits;
    if (!round_to_float(digits, exponent, &bits))
        return NULL;
    bits |= (uint32_t)negative << 31;
    memcpy(out, &bits, sizeof bits);
    return text;
}

/* ---- writing -------------------------------------------------------------------------------------------------- */

/* value = mantissa 2^exponent with 24 bits in the mantissa; not 0, finite. */
static uint32_t split(uint32_t bits, int *exponent)
{
    const uint32_t fraction = bits & 0x7fffff;
    const int biased = (int)(bits >> 23 & 0xff);
    const int zeros = biased == 0 ? __builtin_clz(fraction) - 8 : 0; /* of a subnormal number */
    *exponent = (biased == 0 ? 1 : biased) - 150 - zeros;
    return (biased == 0 ? fraction : fraction | 0x800000) << zeros;
}

/* The decimal exponent: 10^d <= mantissa 2^exponent < 10^(d+1). The powers are compared as the 64 bits of the table:
 * where these are equal to 24 bits and 40 zeros they are exact, because only 10^0 .. 10^10 have so few. */
static int decimal_exponent(uint32_t mantissa, int exponent)
{
    int q;
    const int least = log10_of_power(exponent + 23);
    const uint64_t power = decimal_power(least + 1, &q);
    return least + (q == exponent - 40 && (uint64_t)mantissa << 40 >= power);
}

/* Nine digits of value / 10^(d-8), rounded to nearest, ties to even; 0 to leave it to printf. The product is between
 * 10^8 and 10^9, so s = -(exponent - 40 + q) - 64 is between 32 and 37.
 *
 * A tie is (2n + 1) / 2 with 2n + 1 < 2^31. It is an odd multiple of 5^k for k >= 0, so k <= 13. For k < 0 the odd
 * part of the value would be (2n + 1) 5^-k > 2^24. So ties are only where e = 0, and there the lower word tells them
 * from what lies above half. */
static uint32_t nine_digits(uint32_t mantissa, int exponent, int d)
{
    int q;
    const int k = 8 - d, exact = k >= 0 && k <= 27;
    const uint64_t power = decimal_power(k, &q);
    const wide_word product = (wide_word)((uint64_t)mantissa << 40) * power;
    const uint64_t high = (uint64_t)(product >> 64);
    const int shift = -(exponent - 40 + q) - 64;
    const uint64_t rest = high & ((UINT64_C(1) << shift) - 1), half = UINT64_C(1) << (shift - 1);
    const uint32_t digits = (uint32_t)(high >> shift);
    if (rest == half - 1 && !exact)
        return 0;
    return digits + (rest > half || (rest == half && ((uint64_t)product > 0 || !exact || (digits & 1))));
}

static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434"
                            "44546474849505152535455565758596061626364656667686970717273747576777879808182838485868788"
                            "8990919293949596979899";

static void put_two(char *text, uint32_t value)
{
    memcpy(text, pairs + 2 * value, 2);
}

/* Returns how many are left without the zeros at the end. */
static int put_nine(char text[9], uint32_t digits)
{
    const uint32_t high = digits / 10000, low = digits % 10000; /* 5 and 4 digits */
    text[0] = (char)('0' + high / 10000);
    put_two(text + 1, high / 100 % 100);
    put_two(text + 3, high % 100);
    put_two(text + 5, low / 100);
    put_two(text + 7, low % 100);
    int count = 9;
    while (count > 1 && text[count - 1] == '0')
        count--;
    return count;
}

/* As %g lays out: an exponent below -4 and from the precision on. The copies of fixed size reach behind the end. */
static size_t lay_out(char *text, const char digits[16], int count, int d)
{
    if (d < -4 || d >= 9) {
        text[0] = digits[0];
        text[1] = '.';
        memcpy(text + 2, digits + 1, 8);
        char *end = text + (count > 1 ? count + 1 : 1);
        *end++ = 'e';
        *end++ = d < 0 ? '-' : '+';
        put_two(end, (uint32_t)(d < 0 ? -d : d));
        return (size_t)(end + 2 - text);
    }
    if (d < 0) {
        memcpy(text, "0.0000", 6);
        memcpy(text + 1 - d, digits, 9);
        return (size_t)(1 - d + count);
    }
    memcpy(text, digits, 9);
    if (count <= d + 1)
        return (size_t)d + 1;
    text[d + 1] = '.';
    memcpy(text + d + 2, digits + d + 1, 8);
    return (size_t)count + 1;
}

size_t decimal_write(char text[DECIMAL_MAX], float value)
{
    uint32_t bits;
    char digits[18] = ""; /* lay_out copies 8 from the tenth on at most */
    int exponent;
    memcpy(&bits, &value, sizeof bits);
    const size_t sign = bits >> 31;
    text[0] = '-';
    if (bits << 1 == 0) {
        text[sign] = '0';
        return sign + 1;
    }
    if (!isfinite(value)) {
        memcpy(text + sign, isnan(value) ? "nan" : "inf", 3);
        return sign + 3;
    }
    const uint32_t mantissa = split(bits, &exponent);
    int d = decimal_exponent(mantissa, exponent);
    uint32_t nine = nine_digits(mantissa, exponent, d);
    if (nine == 0)
        return (size_t)snprintf(text, DECIMAL_MAX, "%.9g", (double)value);
    if (nine == 1000000000) {
        nine = 100000000;
        d++;
    }
    const int count = put_nine(digits, nine);
    return sign + lay_out(text + sign, digits, count, d);
}

size_t decimal_write_integer(char text[DECIMAL_MAX], int64_t value)
{
    uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
    char reversed[DECIMAL_MAX];
    size_t count = 0, used = 0;
    do
        reversed[count++] = (char)('0' + rest % 10);
    while ((rest /= 10) > 0);
    if (value < 0)
        text[used++] = '-';
    while (count > 0)
        text[used++] = reversed[--count];
    return used;
}

/* ---- whole numbers ------------------------------------------------------------------------------------------------
 */

/* Multiply by ten so often and add; 0 if that is beyond 64 bits. */
static int append_digits(uint64_t *value, int64_t tens, uint64_t digit)
{
    for (; tens > 0 && *value > 0; tens--)
        if (__builtin_mul_overflow(*value, 10, value))
            return 0;
    return !__builtin_add_overflow(*value, digit, value);
}

/* e[+-]digits, or nothing. Returns 0 if malformed; what is too large to matter stays so. */
static int whole_exponent(const char *text, const char *end, int64_t *out)
{
    *out = 0;
    if (text == end)
        return 1;
    if (*text != 'e' && *text != 'E')
        return 0;
    const int minus = end - text > 1 && text[1] == '-';
    text += minus || (end - text > 1 && text[1] == '+') ? 2 : 1;
    if (text == end)
        return 0;
    for (; text < end && *text >= '0' && *text <= '9'; text++)
        *out = *out < 100000 ? 10 * *out + (*text - '0') : *out;
    *out = minus ? -*out : *out;
    return text == end;
}

int decimal_read_whole(const char *text, const char *end, uint64_t *out)
{
    uint64_t value = 0;
    int64_t zeros = 0, fraction = 0, exponent; /* zeros: read, and not part of `value` yet */
    int point = 0, digits = 0;
    for (; text < end && ((*text >= '0' && *text <= '9') || (*text == '.' && digits && !point)); text++) {
        if (*text == '.') {
            point = 1;
            continue;
        }
        digits = 1;
        fraction += point;
        zeros++;
        if (*text == '0')
            continue;
        if (!append_digits(&value, zeros, (uint64_t)(*text - '0')))
            return 0;
        zeros = 0;
    }
    if (!digits || !whole_exponent(text, end, &exponent))
        return 0;
    exponent += zeros - fraction;
    if ((exponent < 0 && value > 0) || !append_digits(&value, exponent, 0))
        return 0;
    *out = value;
    return 1;
}
