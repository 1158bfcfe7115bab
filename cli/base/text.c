/* SPDX-License-Identifier: MIT */
#include "text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Bytes of the UTF-8 character at text[0], and the character; 0 if it is none, overlong forms and surrogates among
 * them. */
static size_t decode(const unsigned char *text, size_t length, uint32_t *character)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char c = text[0];
    const size_t n = c < 0x80 ? 1 : c < 0xc0 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf8 ? 4 : 0;
    if (n == 0 || n > length)
        return 0;
    uint32_t value = n == 1 ? c : c & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        value = value << 6 | (text[i] & 0x3f);
    }
    if (value < least[n] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
        return 0;
    *character = value;
    return n;
}

/* Unicode's controls, line separators, marks and overrides of direction, what has no width, and tags. The joiners
 * U+200C and U+200D belong to the spelling of some languages. */
static int is_hidden(uint32_t c)
{
    static const uint32_t ranges[][2] = {{0x00, 0x1f},     {0x7f, 0x9f},     {0xad, 0xad},      {0x61c, 0x61c},
                                         {0x200b, 0x200b}, {0x200e, 0x200f}, {0x2028, 0x202e},  {0x2060, 0x206f},
                                         {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f}};
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
        if (c >= ranges[i][0] && c <= ranges[i][1])
            return 1;
    return 0;
}

static size_t escape(char out[TEXT_SHOWN_MAX + 1], uint32_t c)
{
    const char *const names = "abtnvfr"; /* of 7 .. 13 */
    const char *format = c < 0x80 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x";
    if (c >= 7 && c <= 13)
        return (size_t)snprintf(out, TEXT_SHOWN_MAX + 1, "\\%c", names[c - 7]);
    return (size_t)snprintf(out, TEXT_SHOWN_MAX + 1, format, (unsigned)c);
}

/* JSON has 16 bits in an escape: what lies beyond takes two. */
static size_t escape_json(char out[TEXT_SHOWN_MAX + 1], uint32_t c)
{
    if (c < 0x10000)
        return (size_t)snprintf(out, TEXT_SHOWN_MAX + 1, "\\u%04x", (unsigned)c);
    return (size_t)snprintf(out, TEXT_SHOWN_MAX + 1, "\\u%04x\\u%04x", (unsigned)(0xd800 + ((c - 0x10000) >> 10)),
                            (unsigned)(0xdc00 + (c & 0x3ff)));
}

/* One character as it is shown, of `bytes` bytes; 0: one byte that is none. Returns the length. */
static size_t show(char out[TEXT_SHOWN_MAX + 1], const char *from, size_t bytes, uint32_t character)
{
    if (bytes == 0)
        return (size_t)snprintf(out, TEXT_SHOWN_MAX + 1, "\\x%02x", (unsigned)(unsigned char)*from);
    if (is_hidden(character))
        return escape(out, character);
    memcpy(out, from, bytes);
    return bytes;
}

static size_t show_json(char out[TEXT_SHOWN_MAX + 1], const char *from, size_t bytes, uint32_t character)
{
    if (bytes == 0)
        return escape_json(out, 0xfffd);
    if (is_hidden(character))
        return escape_json(out, character);
    const size_t before = *from == '"' || *from == '\\';
    out[0] = '\\';
    memcpy(out + before, from, bytes);
    return before + bytes;
}

static size_t copy(char *out, size_t size, const char *text, size_t length,
                   size_t (*put)(char out[TEXT_SHOWN_MAX + 1], const char *from, size_t bytes, uint32_t character))
{
    size_t used = 0;
    for (size_t at = 0; at < length;) {
        char shown[TEXT_SHOWN_MAX + 1];
        uint32_t character = 0;
        const size_t bytes = decode((const unsigned char *)text + at, length - at, &character);
        const size_t n = put(shown, text + at, bytes, character);
        if (used + n >= size)
            break;
        memcpy(out + used, shown, n);
        used += n;
        at += bytes > 0 ? bytes : 1;
    }
    if (size > 0)
        out[used] = '\0';
    return used;
}

size_t text_show(char *out, size_t size, const char *text, size_t length)
{
    return copy(out, size, text, length, show);
}

size_t text_json(char *out, size_t size, const char *text, size_t length)
{
    return copy(out, size, text, length, show_json);
}

size_t text_cut(const char *text, size_t length, size_t limit)
{
    if (length <= limit)
        return length;
    size_t start = limit; /* of the character that the limit may cut */
    while (start > 0 && limit - start < 3 && ((unsigned char)text[start] & 0xc0) == 0x80)
        start--;
    uint32_t character;
    size_t bytes = decode((const unsigned char *)text + start, length - start, &character);
    return bytes > limit - start ? start : limit;
}

void text_add(text_buffer *to, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(to->at + to->used, to->size - to->used, format, args);
    va_end(args);
    to->used += n < 0 ? 0 : (size_t)n < to->size - to->used ? (size_t)n : to->size - to->used - 1;
}
