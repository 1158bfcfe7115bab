/* SPDX-License-Identifier: MIT */
/* The text layer of the mesh readers: encodings, line ends, comments, words, numbers. */
#include "reader.h"
#include "cli/base/base.h"
#include "cli/base/number.h"

#include <math.h>
#include <string.h>
#include <strings.h>

/* ---- encoding ----------------------------------------------------------------------------------------------- */

int mesh_check_text(const mesh_file *file)
{
    static const struct {
        const char *mark, *name;
        size_t size;
    } encodings[] = {{"\xff\xfe\0\0", "UTF-32", 4}, /* before UTF-16, whose mark it begins with */
                     {"\0\0\xfe\xff", "UTF-32", 4},
                     {"\xff\xfe", "UTF-16", 2},
                     {"\xfe\xff", "UTF-16", 2}};
    for (size_t i = 0; i < sizeof encodings / sizeof encodings[0]; i++)
        if (file->size >= encodings[i].size && !memcmp(file->data, encodings[i].mark, encodings[i].size))
            return cli_refuse(EXIT_USAGE, "%s: is text in %s, which is not read: convert it to UTF-8", file->path,
                              encodings[i].name);
    return EXIT_DONE;
}

mesh_scan mesh_scan_begin(const char *data, size_t size, unsigned syntax)
{
    const char *end = data + size;
    if (size >= 3 && !memcmp(data, "\xef\xbb\xbf", 3))
        data += 3;
    while (end > data && (end[-1] == '\0' || end[-1] == '\x1a'))
        end--;
    return (mesh_scan){.at = data, .end = end, .word = data, .line_end = data, .syntax = syntax};
}

/* ---- lines and words ---------------------------------------------------------------------------------------- */

static int is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* To the next word of the line, or to the line's end, which a comment is. */
static void skip_space(mesh_scan *scan)
{
    while (scan->word < scan->line_end && is_space(*scan->word))
        scan->word++;
    if ((scan->syntax & MESH_COMMENTS) && scan->word < scan->line_end && *scan->word == '#')
        scan->line_end = scan->word;
}

/* The next line, also if it is empty. */
static int take_line(mesh_scan *scan)
{
    const char *stop = scan->at, *end = scan->end;
    scan->word = scan->line_end = stop;
    if (stop == end) {
        scan->ended = 1;
        return 0;
    }
    while (stop < end && *stop != '\n' && *stop != '\r')
        stop++;
    scan->line_end = stop;
    if (scan->line % MESH_TELL == 0)
        mesh_parsed(scan->at);
    int cr_lf = end - stop >= 2 && stop[0] == '\r' && stop[1] == '\n';
    /* The first line decides, because the byte behind a header that ends in CR may belong to binary data. */
    if (scan->line++ == 0)
        scan->cr_alone = stop < end && *stop == '\r' && !cr_lf;
    scan->at = stop == end ? end : stop + (cr_lf && !scan->cr_alone ? 2 : 1);
    return 1;
}

int mesh_scan_line(mesh_scan *scan)
{
    while (take_line(scan)) {
        skip_space(scan);
        if (scan->word < scan->line_end)
            return 1;
    }
    return 0;
}

int mesh_scan_word(mesh_scan *scan, const char **word, size_t *length)
{
    for (;;) {
        skip_space(scan);
        *word = scan->word;
        while (scan->word < scan->line_end && !is_space(*scan->word))
            scan->word++;
        *length = (size_t)(scan->word - *word);
        if (!(scan->syntax & MESH_CONTINUED) || *length == 0 || scan->word[-1] != '\\')
            return *length > 0;
        skip_space(scan);
        if (scan->word < scan->line_end) /* a backslash inside the line is a letter like others */
            return 1;
        take_line(scan);
        if (--*length > 0)
            return 1;
    }
}

/* ---- numbers ------------------------------------------------------------------------------------------------ */

/* Microsoft's C library wrote 1.#QNAN, 1.#SNAN, -1.#IND and 1.#INF, zeros behind them. */
static int microsoft_special(const char *word, size_t length, float *out)
{
    static const char *const names[] = {"QNAN", "SNAN", "IND", "INF"};
    const char *end = word + length;
    int negative = length > 0 && *word == '-';
    word += length > 0 && (*word == '-' || *word == '+');
    if (end - word < 3 || memcmp(word, "1.#", 3) != 0)
        return 0;
    word += 3;
    while (end > word && end[-1] == '0')
        end--;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (mesh_word_is(word, (size_t)(end - word), names[i])) {
            *out = i < 3 ? NAN : negative ? -INFINITY : INFINITY;
            return 1;
        }
    return 0;
}

int mesh_word_float(const char *word, size_t length, float *out)
{
    return number_read(word, length, out) || microsoft_special(word, length, out);
}

int mesh_word_integer(const char *word, size_t length, int64_t *out)
{
    int negative = length > 0 && word[0] == '-';
    size_t first = length > 0 && (negative || word[0] == '+'), i;
    int64_t value = 0;
    for (i = first; i < length && i < first + 18 && word[i] >= '0' && word[i] <= '9'; i++)
        value = 10 * value + (word[i] - '0');
    *out = negative ? -value : value;
    return i == length && i > first;
}

int mesh_scan_float(mesh_scan *scan, float *out)
{
    const char *word;
    size_t length;
    return mesh_scan_word(scan, &word, &length) && mesh_word_float(word, length, out);
}

int mesh_scan_integer(mesh_scan *scan, int64_t *out)
{
    const char *word;
    size_t length;
    return mesh_scan_word(scan, &word, &length) && mesh_word_integer(word, length, out);
}

int mesh_scan_numbers(mesh_scan *scan)
{
    const char *word;
    size_t length;
    float number;
    while (mesh_scan_word(scan, &word, &length))
        if (!mesh_word_float(word, length, &number))
            return 0;
    return 1;
}

int mesh_word_is(const char *word, size_t length, const char *text)
{
    return length == strlen(text) && !strncasecmp(word, text, length);
}
