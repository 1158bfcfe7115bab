/* SPDX-License-Identifier: MIT */
/* Rows of a .npy file: [rows][required columns] in their order; columns of an optional vector may stand behind them. Or
 * columns by their names, in NumPy's structured type; others are ignored, as those of a CSV are. Each thread reads
 * slices of rows and cuts them into columns. */
#include "cli/base/base.h"
#include "npy.h"
#include "cli/base/parallel.h"
#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLICE = 1 << 12, SLICE_BYTES = 1 << 20 }; /* rows of a slice, at most, and bytes about */
enum { WHOLE_MOST = (1 << 24) - 1 };             /* beyond, two whole numbers are the same binary32 number */

/* Where a column is in a row, in bytes, and its type. */
typedef struct npy_place {
    uint64_t at;
    char type[4];
} npy_place;

typedef struct npy_table {
    npy_file npy;
    table_column *columns;
    size_t count;
    table_limits limits;
    table_window window;
    uint64_t slice; /* rows */
    unsigned char *buffer[PARALLEL_MAX];
    int error[PARALLEL_MAX];
    npy_place place[]; /* [count] */
} npy_table;

/* Times and masks are no numbers of a batch's geometry, and have no place in the file. */
static int may_follow(const table_column *column)
{
    return column->group != 0 && (column->kind == TABLE_FLOAT || column->kind == TABLE_SHIFT);
}

static size_t add_names(const npy_table *t, int optional, char names[TABLE_NAMES])
{
    size_t count = 0, used = 0;
    names[0] = '\0';
    for (size_t c = 0; c < t->count; c++)
        if (optional ? may_follow(&t->columns[c]) : t->columns[c].group == 0) {
            count++;
            table_add_name(names, &used, t->columns[c].name);
        }
    return count;
}

/* Columns without names stand in their order, those that are required first. */
static int find_columns(npy_table *t)
{
    char names[TABLE_NAMES], more[TABLE_NAMES], expected[2 * TABLE_NAMES + 80];
    const size_t required = add_names(t, 0, names), optional = add_names(t, 1, more);
    const size_t width = t->npy.dimensions == 2 && t->npy.shape[1] <= required + optional ? (size_t)t->npy.shape[1] : 0;
    if (width != required && (optional == 0 || width != required + optional)) {
        int n = snprintf(expected, sizeof expected, "[rows][%zu] (%s)", required, names);
        if (optional > 0)
            snprintf(expected + n, sizeof expected - (size_t)n, " or [rows][%zu] (and %s)", required + optional, more);
        return npy_refuse_shape(&t->npy, expected);
    }
    uint64_t at[2] = {0, required * sizeof(float)};
    for (size_t c = 0; c < t->count; c++) {
        const int is_optional = t->columns[c].group != 0;
        t->columns[c].present = !is_optional || (width > required && may_follow(&t->columns[c]));
        t->place[c] = (npy_place){at[is_optional], "<f4"};
        at[is_optional] += t->columns[c].present ? sizeof(float) : 0;
    }
    t->npy.size = width * sizeof(float);
    return EXIT_DONE;
}

/* The types that a column may have. */
static const char *types_of(const table_column *column)
{
    switch (column->kind) {
    case TABLE_MASK: return "<u4";
    case TABLE_SHIFT: return "<i4 or <f4";
    case TABLE_WHOLE: return "<i8, <i4 or <u4";
    default: return "<f4";
    }
}

static int find_named_column(npy_table *t, size_t c)
{
    table_column *column = &t->columns[c];
    int n = 0;
    while (n < t->npy.named_count && strcmp(t->npy.named[n].name, column->name) != 0)
        n++;
    column->present = n < t->npy.named_count;
    if (!column->present)
        return EXIT_DONE;
    const npy_named *named = &t->npy.named[n];
    if (!strstr(types_of(column), named->type))
        return cli_refuse(EXIT_USAGE, "%s: column %s: expected the type %s, got %s", t->npy.path, column->name,
                          types_of(column), named->type);
    t->place[c].at = named->at;
    memcpy(t->place[c].type, named->type, sizeof t->place[c].type);
    return EXIT_DONE;
}

static int find_named_columns(npy_table *t)
{
    char more[TABLE_NAMES];
    if (t->npy.dimensions != 1)
        return npy_refuse_shape(&t->npy, "[rows]");
    for (size_t c = 0; c < t->count; c++) {
        const int status = find_named_column(t, c);
        if (status != EXIT_DONE)
            return status;
    }
    const table_column *missing = table_missing(t->columns, t->count, more);
    if (missing)
        return cli_refuse(EXIT_USAGE, "%s: column %s: expected%s, and is not there%s%s", t->npy.path, missing->name,
                          missing->group ? " together with the others of its kind" : "",
                          more[0] ? "; also missing: " : "", more);
    return EXIT_DONE;
}

static int alloc_buffers(npy_table *t)
{
    const uint64_t fit = SLICE_BYTES / t->npy.size;
    t->slice = fit < 1 ? 1 : fit < SLICE ? fit : SLICE;
    for (unsigned i = 0; i < t->limits.threads; i++) {
        t->buffer[i] = cli_alloc(t->slice, t->npy.size);
        if (!t->buffer[i])
            return cli_no_memory();
    }
    return EXIT_DONE;
}

static void close_table(void *file)
{
    npy_table *t = file;
    if (!t)
        return;
    for (unsigned i = 0; i < PARALLEL_MAX; i++)
        free(t->buffer[i]);
    npy_close(&t->npy);
    free(t);
}

static int open_table(void **file, const char *path, table_column *columns, size_t count, const table_limits *limits)
{
    npy_table *t = cli_alloc(1, sizeof *t + count * sizeof t->place[0]);
    if (!t)
        return cli_no_memory();
    *t = (npy_table){.columns = columns, .count = count, .limits = *limits};
    int status = npy_open_rows(&t->npy, path);
    if (status == EXIT_DONE)
        status = t->npy.named_count > 0 ? find_named_columns(t) : find_columns(t);
    t->window.rows = t->npy.shape[0];
    if (status == EXIT_DONE)
        status = alloc_buffers(t);
    if (status == EXIT_DONE && !table_grow(columns, count, limits, &t->window.room, 1))
        status = cli_no_memory();
    if (status == EXIT_DONE) {
        *file = t;
    } else {
        close_table(t);
        table_free(columns, count);
    }
    return status;
}

/* UINT64_MAX: it is no whole number. */
static uint64_t whole_of(float x)
{
    return x >= 0.0f && x <= (float)WHOLE_MOST && !((float)(uint32_t)x < x) ? (uint64_t)x : UINT64_MAX;
}

static void put_whole(uint64_t *to, const unsigned char *from, const char *type)
{
    float number;
    uint32_t bits;
    memcpy(&bits, from, sizeof bits);
    memcpy(&number, from, sizeof number);
    if (type[1] == 'f')
        *to = whole_of(number);
    else if (type[2] == '8')
        memcpy(to, from, sizeof *to);
    else
        *to = bits;
    if (type[1] == 'i' && (type[2] == '8' ? *to >> 63 : bits >> 31))
        *to = UINT64_MAX;
}

/* Rows of the chunk from `begin` on, out of the buffer. */
static void cut_column(const npy_table *t, size_t c, const unsigned char *rows, uint64_t begin, uint64_t count)
{
    const table_column *column = &t->columns[c];
    const npy_place *place = &t->place[c];
    const int is_integer = column->kind == TABLE_SHIFT && place->type[1] == 'i';
    uint64_t *wholes = column->kind == TABLE_WHOLE ? (uint64_t *)(void *)column->data : NULL;
    for (uint64_t i = 0; i < count; i++) {
        const unsigned char *from = rows + i * t->npy.size + place->at;
        int32_t integer;
        if (wholes) {
            put_whole(&wholes[begin + i], from, place->type);
            continue;
        }
        memcpy(&column->data[begin + i], from, sizeof(float));
        memcpy(&integer, from, sizeof integer);
        if (is_integer)
            column->data[begin + i] = (float)integer;
    }
}

static void read_slices(void *user, unsigned thread)
{
    npy_table *t = user;
    const uint64_t step = (uint64_t)t->limits.threads * t->slice;
    for (uint64_t begin = (uint64_t)thread * t->slice; begin < t->window.size && !t->error[thread]; begin += step) {
        const uint64_t rows = t->window.size - begin < t->slice ? t->window.size - begin : t->slice;
        unsigned char *const buffer = t->buffer[thread];
        t->error[thread] = npy_read_rows(&t->npy, (t->window.from + begin) * t->npy.size, rows * t->npy.size, buffer);
        for (size_t c = 0; c < t->count && !t->error[thread]; c++)
            if (t->columns[c].present)
                cut_column(t, c, buffer, begin, rows);
    }
}

static int check_column(const npy_table *t, size_t c)
{
    const table_column *column = &t->columns[c];
    const uint64_t *wholes = column->kind == TABLE_WHOLE ? table_wholes(column) : NULL;
    for (uint64_t i = 0; column->present && i < t->window.size; i++) {
        const char *wanted = NULL;
        if (wholes && wholes[i] == UINT64_MAX)
            wanted =
                t->place[c].type[1] == 'f' ? "a whole number from 0 to 16777215" : "a whole number from 0 to 2^63 - 1";
        else if (column->kind == TABLE_SHIFT && !table_is_shift(column->data[i]))
            wanted = "a whole number from -128 to 127";
        else if (column->kind == TABLE_TIME && !(column->data[i] >= 0.0f))
            wanted = "a number >= 0 or inf";
        if (wanted)
            return cli_refuse(EXIT_USAGE, "%s: row %llu: column %s: expected %s", t->npy.path,
                              (unsigned long long)(t->window.from + i), column->name, wanted);
    }
    return EXIT_DONE;
}

static int next_rows(void *file, uint64_t most, uint64_t *rows)
{
    npy_table *t = file;
    int status = EXIT_DONE;
    if (!table_move(&t->window, t->columns, t->count, &t->limits, most))
        return cli_no_memory();
    *rows = t->window.size;
    const uint64_t slices = (t->window.size + t->slice - 1) / t->slice;
    parallel_run(slices < t->limits.threads ? (unsigned)slices : t->limits.threads, read_slices, t);
    for (unsigned i = 0; i < t->limits.threads; i++)
        if (t->error[i])
            return npy_refuse_read(&t->npy, t->error[i]);
    for (size_t c = 0; c < t->count && status == EXIT_DONE; c++)
        if (t->columns[c].kind != TABLE_FLOAT && t->columns[c].kind != TABLE_MASK)
            status = check_column(t, c);
    return status;
}

static uint64_t rows_of(const void *file)
{
    return ((const npy_table *)file)->window.rows;
}

static double share_of(const void *file)
{
    return table_window_share(&((const npy_table *)file)->window);
}

const table_source table_npy = {
    .open = open_table, .next = next_rows, .share = share_of, .rows = rows_of, .close = close_table};
