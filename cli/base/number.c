/* SPDX-License-Identifier: MIT */
/* Text to binary32, always with strtof's answer. The command never calls setlocale, so strtof is in the C locale. */
#include "number.h"
#include "decimal.h"

#include <stdlib.h>
#include <string.h>

static int is_blank(char c)
{
    return c == ' ' || c == '\t';
}

int number_read(const char *text, size_t length, float *out)
{
    const char *end = text + length;
    while (text < end && is_blank(*text))
        text++;
    while (end > text && is_blank(end[-1]))
        end--;
    if (text == end)
        return 0;
    if (decimal_read(text, end, out) == end)
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

int number_read_mask(const char *text, size_t length, uint32_t *out)
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
