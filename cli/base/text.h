/* SPDX-License-Identifier: MIT */
/* Strings from outside (file names, words of files, arguments, names of devices) as a terminal may show them. */
#ifndef CAROM_CLI_BASE_TEXT_H
#define CAROM_CLI_BASE_TEXT_H

#include <stddef.h>

enum { TEXT_SHOWN_MAX = 12 }; /* bytes that one character may become */

/* Copy text[0..length) into out[size] as one printable line, and end it: control characters, what turns the direction
 * of writing or has no width, and bytes that are no UTF-8 become escapes as in C (\n, \x1b, \u202e). What does not fit
 * is cut off behind a whole character. Returns the length. */
size_t text_show(char *out, size_t size, const char *text, size_t length);

/* The same as the content of a JSON string: whole characters only, escapes as JSON has them, and U+FFFD for a byte that
 * is no UTF-8. */
size_t text_json(char *out, size_t size, const char *text, size_t length);

/* The largest length <= limit that does not cut a character of `text` apart. */
size_t text_cut(const char *text, size_t length, size_t limit);

/* A string in `size` bytes, which grows; the rest of what does not fit is left out. */
typedef struct text_buffer {
    char *at;
    size_t size, used;
} text_buffer;
void text_add(text_buffer *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
