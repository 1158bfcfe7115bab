/* SPDX-License-Identifier: MIT */
#include "json.h"
#include "text.h"

#include <math.h>
#include <string.h>

void json_quoted(output *out, const char *text)
{
    char part[TEXT_SHOWN_MAX * 16 + 1];
    output_char(out, '"');
    for (size_t length = strlen(text), n; length > 0; text += n, length -= n) {
        n = text_cut(text, length, 16);
        text_json(part, sizeof part, text, n);
        output_text(out, part);
    }
    output_char(out, '"');
}

static void new_line(json_writer *j)
{
    output_char(j->out, '\n');
    for (int i = 0; i < j->depth; i++)
        output_text(j->out, "  ");
}

/* What stands in front of a value. */
static void next(json_writer *j, const char *key)
{
    if (!j->empty)
        output_char(j->out, ',');
    j->empty = 0;
    new_line(j);
    if (key) {
        json_quoted(j->out, key);
        output_text(j->out, ": ");
    }
}

static void open_bracket(json_writer *j, char bracket)
{
    output_char(j->out, bracket);
    j->depth++;
    j->empty = 1;
}

void json_begin(json_writer *j, output *out)
{
    *j = (json_writer){out, 0, 1};
    open_bracket(j, '{');
}

void json_close(json_writer *j, char bracket)
{
    j->depth--;
    if (!j->empty)
        new_line(j);
    output_char(j->out, bracket);
    j->empty = 0;
}

void json_end(json_writer *j)
{
    json_close(j, '}');
    output_char(j->out, '\n');
}

void json_object(json_writer *j, const char *key)
{
    next(j, key);
    open_bracket(j, '{');
}

void json_array(json_writer *j, const char *key)
{
    next(j, key);
    open_bracket(j, '[');
}

void json_null(json_writer *j, const char *key)
{
    next(j, key);
    output_text(j->out, "null");
}

void json_text(json_writer *j, const char *key, const char *text)
{
    if (!text) {
        json_null(j, key);
        return;
    }
    next(j, key);
    json_quoted(j->out, text);
}

void json_count(json_writer *j, const char *key, uint64_t value)
{
    next(j, key);
    output_format(j->out, "%llu", (unsigned long long)value);
}

void json_real(json_writer *j, const char *key, double value)
{
    if (!isfinite(value)) {
        json_null(j, key);
        return;
    }
    next(j, key);
    output_format(j->out, "%.9g", value);
}

void json_bool(json_writer *j, const char *key, int value)
{
    next(j, key);
    output_text(j->out, value ? "true" : "false");
}
