/* SPDX-License-Identifier: MIT */
/* Rows of a .npy file: [rows][required columns] in their order; columns of an optional vector may stand behind them.
 * Each thread reads slices of rows and cuts them into columns. */
#include "cli/base/base.h"
#include "npy.h"
#include "cli/base/parallel.h"
#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLICE = 1 << 12 };            /* rows */
enum { WHOLE_MOST = (1 << 24) - 1 }; /* beyond, two whole numbers are the same binary32 number */

typedef struct npy_table {
    npy_file npy;
    table_column *columns;
    size_t count;
    table_limits limits;
    size_t width; /* columns of the file */
    table_window window;
    float *buffer[PARALLEL_MAX];
    int error[PARALLEL_MAX];
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

/* Which columns the file has. */
static int find_columns(npy_table *t)
{
    char names[TABLE_NAMES], more[TABLE_NAMES], expected[2 * TABLE_NAMES + 80];
    const size_t required = add_names(t, 0, names), optional = add_names(t, 1, more);
    t->width = t->npy.dimensions == 2 && t->npy.shape[1] <= required + optional ? (size_t)t->npy.shape[1] : 0;
    if (t->width != required && (optional == 0 || t->width != required + optional)) {
        int n = snprintf(expected, sizeof expected, "[rows][%zu] (%s)", required, names);
        if (optional > 0)
            snprintf(expected + n, sizeof expected - (size_t)n, " or [rows][%zu] (and %s)", required + optional, more);
        return npy_refuse_shape(&t->npy, expected);
    }
    for (size_t c = 0; c < t->count; c++)
        t->columns[c].present = t->columns[c].group == 0 || (t->width > required && may_follow(&t->columns[c]));
    t->window.rows = t->npy.shape[0];
    return EXIT_DONE;
}

static int alloc_buffers(npy_table *t)
{
    for (unsigned i = 0; i < t->limits.threads; i++) {
        t->buffer[i] = cli_alloc(SLICE * t->width, sizeof(float));
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
    npy_table *t = cli_alloc(1, sizeof *t);
    if (!t)
        return cli_no_memory();
    *t = (npy_table){.columns = columns, .count = count, .limits = *limits};
    int status = npy_open(&t->npy, path);
    if (status == EXIT_DONE)
        status = find_columns(t);
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

static void put(const table_column *column, uint64_t i, float x)
{
    if (column->kind == TABLE_WHOLE)
        ((uint64_t *)(void *)column->data)[i] = whole_of(x);
    else
        column->data[i] = x;
}

/* Rows of the chunk from `begin` on, out of the buffer. */
static void cut(const npy_table *t, const float *rows, uint64_t begin, uint64_t count)
{
    int optional = 0;
    size_t at = 0; /* in a row of the file: what is required stands first */
    do {
        for (size_t c = 0; c < t->count; c++) {
            const table_column *column = &t->columns[c];
            if (!column->present || (column->group != 0) != optional)
                continue;
            for (uint64_t i = 0; i < count; i++)
                put(column, begin + i, rows[i * t->width + at]);
            at++;
        }
    } while (optional++ == 0);
}

static void read_slices(void *user, unsigned thread)
{
    npy_table *t = user;
    const uint64_t step = (uint64_t)t->limits.threads * SLICE;
    for (uint64_t begin = (uint64_t)thread * SLICE; begin < t->window.size && !t->error[thread]; begin += step) {
        const uint64_t rows = t->window.size - begin < SLICE ? t->window.size - begin : SLICE;
        float *const buffer = t->buffer[thread];
        t->error[thread] = npy_read_at(&t->npy, (t->window.from + begin) * t->width, rows * t->width, buffer);
        if (!t->error[thread])
            cut(t, buffer, begin, rows);
    }
}

static int check_wholes(const npy_table *t, const table_column *column)
{
    const int is_shift = column->kind == TABLE_SHIFT;
    const uint64_t *numbers = column->kind == TABLE_WHOLE ? table_wholes(column) : NULL;
    for (uint64_t i = 0; column->present && (numbers || is_shift) && i < t->window.size; i++)
        if (is_shift ? !table_is_shift(column->data[i]) : numbers[i] == UINT64_MAX)
            return cli_refuse(EXIT_USAGE, "%s: row %llu: column %s: expected a whole number from %d to %d", t->npy.path,
                              (unsigned long long)(t->window.from + i), column->name, is_shift ? INT8_MIN : 0,
                              is_shift ? INT8_MAX : WHOLE_MOST);
    return EXIT_DONE;
}

static int next_rows(void *file, uint64_t most, uint64_t *rows)
{
    npy_table *t = file;
    int status = EXIT_DONE;
    if (!table_move(&t->window, t->columns, t->count, &t->limits, most))
        return cli_no_memory();
    *rows = t->window.size;
    const uint64_t slices = (t->window.size + SLICE - 1) / SLICE;
    parallel_run(slices < t->limits.threads ? (unsigned)slices : t->limits.threads, read_slices, t);
    for (unsigned i = 0; i < t->limits.threads; i++)
        if (t->error[i])
            return npy_refuse_read(&t->npy, t->error[i]);
    for (size_t c = 0; c < t->count && status == EXIT_DONE; c++)
        status = check_wholes(t, &t->columns[c]);
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
