/* SPDX-License-Identifier: MIT */
/* Text to binary32, always with strtof's answer. The command never calls setlocale, so strtof is in the C locale. */
#include "csv.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

static int is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Plain decimals of at most 15 digits and a power of ten up to 22: digits and power are exact in binary64, so one
 * division or product is the binary64 nearest to the decimal. Rounding that to binary32 is right unless it sits
 * exactly on a midpoint of two floats, where the digits lost before it would decide. Returns 0 to leave it to
 * strtof. */
static int short_decimal(const char *text, const char *end, float *out)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    int negative = *text == '-', digits = 0, exponent = 0;
    uint64_t mantissa = 0;
    if (*text == '-' || *text == '+')
        text++;
    for (; text < end && *text >= '0' && *text <= '9' && digits < 18; text++, digits++)
        mantissa = mantissa * 10 + (uint64_t)(*text - '0');
    if (text < end && *text == '.')
        for (text++; text < end && *text >= '0' && *text <= '9' && digits < 18; text++, digits++, exponent--)
            mantissa = mantissa * 10 + (uint64_t)(*text - '0');
    if (digits == 0)
        return 0;
    if (end - text >= 2 && end - text <= 4 && (*text == 'e' || *text == 'E')) {
        int minus = text[1] == '-', value = 0, places = 0;
        text += text[1] == '-' || text[1] == '+' ? 2 : 1;
        for (; text < end && *text >= '0' && *text <= '9'; text++, places++)
            value = value * 10 + (*text - '0');
        if (places == 0)
            return 0;
        exponent += minus ? -value : value;
    }
    if (text != end || mantissa >= UINT64_C(1000000000000000) || exponent < -22 || exponent > 22)
        return 0;
    double value = exponent < 0 ? (double)mantissa / powers[-exponent] : (double)mantissa * powers[exponent];
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    int midpoint = (bits & 0x1fffffff) == 0x10000000;
    if (midpoint || (mantissa != 0 && value < (double)FLT_MIN) || value > (double)FLT_MAX)
        return 0;
    *out = (float)(negative ? -value : value);
    return 1;
}

int csv_number(const char *text, size_t length, float *out)
{
    const char *end = text + length;
    while (text < end && is_blank(*text))
        text++;
    while (end > text && is_blank(end[-1]))
        end--;
    if (text == end)
        return 0;
    if (short_decimal(text, end, out))
        return 1;
    /* strtof skips more kinds of white space than a number may begin with here, and wants a terminator. */
    char small[64], *copy = small, *stop;
    size_t size = (size_t)(end - text);
    if ((*text >= '\t' && *text <= '\r') || memchr(text, 0, size))
        return 0;
    if (size >= sizeof small && !(copy = malloc(size + 1)))
        return 0;
    memcpy(copy, text, size);
    copy[size] = '\0';
    *out = strtof(copy, &stop);
    int whole = stop == copy + size;
    if (copy != small)
        free(copy);
    return whole;
}

int csv_mask(const char *text, size_t length, uint32_t *out)
{
    const char *end = text + length;
    uint64_t value = 0, base = 10;
    while (text < end && is_blank(*text))
        text++;
    while (end > text && is_blank(end[-1]))
        end--;
    if (end - text > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        base = 16;
        text += 2;
    }
    if (text == end)
        return 0;
    for (; text < end; text++) {
        const char c = (char)(*text | 0x20);
        const int digit = *text >= '0' && *text <= '9' ? *text - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
        if ((uint64_t)digit >= base)
            return 0;
        value = value * base + (uint64_t)digit;
        if (value > UINT32_MAX)
            return 0;
    }
    *out = (uint32_t)value;
    return 1;
}
