/* SPDX-License-Identifier: MIT */
/* Lines to numbers. A block of lines is cut into a part for each thread. Lines are counted first, so that each thread
 * knows the place of its rows: every line before the first malformed or empty one is a row. */
#include "csv_reader.h"
#include "cli/base/decimal.h"
#include "cli/base/number.h"

#include <math.h>
#include <string.h>

/* ---- fields ------------------------------------------------------------------------------------------------- */

/* Such a column has elements of 64 bits. */
static int take_whole(const table_column *column, uint64_t row, const char *text, size_t length)
{
    uint64_t value;
    csv_trim(&text, &length);
    if (!decimal_read_whole(text, text + length, &value) || value > INT64_MAX)
        return 0;
    ((uint64_t *)(void *)column->data)[row] = value;
    return 1;
}

/* Infinity is written in letters; from digits it is a number that is too large. */
static void note_beyond(const csv_reader *r, csv_beyond *beyond, const table_column *column, uint64_t row,
                        const char *text, size_t length)
{
    csv_trim(&text, &length);
    const size_t sign = *text == '-' || *text == '+';
    if ((text[sign] | 0x20) == 'i' || beyond->last == r->first + row + 1)
        return;
    if (beyond->rows++ == 0) {
        beyond->first = r->first + row;
        beyond->column = column->name;
        csv_show(text, length, beyond->text);
    }
    beyond->last = r->first + row + 1;
}

const char *csv_take_field(const csv_reader *r, csv_beyond *beyond, const table_column *column, uint64_t row,
                           const char *text, size_t length)
{
    _Static_assert(sizeof(uint32_t) == sizeof *column->data, "a mask takes the place of a float");
    uint32_t mask;
    float value;
    if (column->kind == TABLE_MASK) {
        if (!number_read_mask(text, length, &mask))
            return "a whole number from 0 to 4294967295 or 0xffffffff";
        memcpy(&column->data[row], &mask, sizeof mask);
        return NULL;
    }
    if (column->kind == TABLE_WHOLE)
        return take_whole(column, row, text, length) ? NULL : "a whole number from 0 to 9223372036854775807";
    if (!number_read(text, length, &value))
        return "a number";
    if (column->kind == TABLE_TIME && !(value >= 0.0f))
        return "a number >= 0 or inf";
    if (column->kind == TABLE_SHIFT && !table_is_shift(value))
        return "a whole number from -128 to 127";
    if (isinf(value) && column->kind == TABLE_FLOAT)
        note_beyond(r, beyond, column, row, text, length);
    column->data[row] = value;
    return NULL;
}

/* Read the field at `text` of a line that ends in LF. Returns the comma or LF behind it, NULL if it is malformed. A
 * plain number is read on the way to its end. */
static char *scan_field(const csv_reader *r, csv_part *p, const table_column *column, char *text)
{
    float value;
    if (column && (column->kind == TABLE_FLOAT || column->kind == TABLE_TIME)) {
        const char *end = decimal_read(text, p->end, &value);
        if (end) {
            end += *end == '\r' && end[1] == '\n';
            if ((*end == ',' || *end == '\n') && (column->kind == TABLE_FLOAT || value >= 0.0f)) {
                column->data[p->row] = value;
                return text + (end - text);
            }
        }
    }
    char *end = text;
    while (*end != ',' && *end != '\n')
        end++;
    const size_t length = (size_t)(end - text) - (*end == '\n' && end > text && end[-1] == '\r');
    if (column ? csv_take_field(r, &p->beyond, column, p->row, text, length) != NULL : memchr(text, 0, length) != NULL)
        return NULL;
    return end;
}

/* Returns the next line, NULL if this one is no row. */
static char *scan_row(const csv_reader *r, csv_part *p, char *text)
{
    for (size_t field = 0; field < r->field_count; field++) {
        char *end = scan_field(r, p, r->fields[field], text);
        if (!end || (*end == '\n') != (field + 1 == r->field_count))
            return NULL;
        text = end + 1;
    }
    return text;
}

/* ---- parts -------------------------------------------------------------------------------------------------- */

/* Returns how many parts there are. */
static unsigned cut(csv_reader *r, size_t size)
{
    char *const begin = r->buffer + r->begin, *const end = begin + size, *at = begin;
    const size_t wanted = size / r->limits.part + 1;
    const unsigned count = wanted < r->limits.threads ? (unsigned)wanted : r->limits.threads;
    for (unsigned i = 0; i < count; i++) {
        char *stop = begin + size / count * (i + 1);
        stop = i + 1 == count ? end : stop <= at ? at : (char *)memchr(stop - 1, '\n', (size_t)(end - stop) + 1) + 1;
        r->parts[i] = (csv_part){.at = at, .end = stop};
        at = stop;
    }
    return count;
}

static void count_lines(void *user, unsigned i)
{
    csv_part *p = &((csv_reader *)user)->parts[i];
    uint64_t lines = 0;
    for (const char *at = p->at; at < p->end; lines++)
        at = (const char *)memchr(at, '\n', (size_t)(p->end - at)) + 1;
    p->lines = lines;
}

static void scan_lines(void *user, unsigned i)
{
    csv_reader *const r = user;
    csv_part p = r->parts[i];
    for (char *next; p.row < p.stop && (next = scan_row(r, &p, p.at)) != NULL; p.row++)
        p.at = next;
    r->parts[i] = p;
}

static void add_beyond(csv_beyond *sum, const csv_beyond *part)
{
    const uint64_t rows = sum->rows + part->rows;
    if (sum->rows == 0)
        *sum = *part;
    sum->rows = rows;
}

int csv_take_lines(csv_reader *r, size_t size, uint64_t most)
{
    const unsigned count = cut(r, size);
    parallel_run(count, count_lines, r);
    uint64_t row = r->rows;
    for (unsigned i = 0; i < count; i++) {
        csv_part *p = &r->parts[i];
        p->row = row;
        row = most - row < p->lines ? most : row + p->lines;
        p->stop = row;
    }
    if (!table_grow(r->columns, r->count, &r->limits, &r->room, row))
        return 0;
    parallel_run(count, scan_lines, r);
    for (unsigned i = 0; i < count; i++) {
        const csv_part *p = &r->parts[i];
        r->begin = (size_t)(p->at - r->buffer);
        r->rows = p->row;
        add_beyond(&r->beyond, &p->beyond);
        if (p->at < p->end)
            break;
    }
    return 1;
}
