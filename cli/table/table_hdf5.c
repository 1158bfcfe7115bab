/* SPDX-License-Identifier: MIT */
/* Rows of an HDF5 file: a dataset in the root group for each column, named as in a CSV. Others are ignored, as columns
 * of a CSV are. */
#include "cli/base/base.h"
#include "hdf5.h"
#include "table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct hdf5_table {
    const char *path;
    table_column *columns;
    size_t count;
    table_limits limits;
    table_window window;
    hdf5_input *file;
    hdf5_array array[]; /* [count] */
} hdf5_table;

/* ---- the datasets -------------------------------------------------------------------------------------------------
 */

/* The size of a whole number; 0: it is none. */
static size_t whole_size(const hdf5_array *array)
{
    return hdf5_is_of(array, "<i8")                               ? sizeof(int64_t)
           : hdf5_is_of(array, "<i4") || hdf5_is_of(array, "<u4") ? sizeof(int32_t)
                                                                  : 0;
}

static int check_type(const hdf5_table *t, const table_column *column, const hdf5_array *array)
{
    if (column->kind == TABLE_WHOLE)
        return whole_size(array) > 0
                   ? EXIT_DONE
                   : cli_refuse(EXIT_USAGE, "%s: dataset %s: expected little-endian int64, int32 or uint32, got %s",
                                t->path, column->name, array->form.type);
    if (column->kind == TABLE_SHIFT && hdf5_is_of(array, "<i4"))
        return EXIT_DONE;
    const int is_mask = column->kind == TABLE_MASK;
    if (hdf5_is_of(array, is_mask ? "<u4" : "<f4"))
        return EXIT_DONE;
    return cli_refuse(EXIT_USAGE,
                      "%s: dataset %s: expected little-endian %s, got %s; convert the array with "
                      "numpy.asarray(a, '%s')",
                      t->path, column->name, is_mask ? "uint32" : "float32", array->form.type, is_mask ? "<u4" : "<f4");
}

static int check_shape(hdf5_table *t, const table_column *column, const hdf5_form *form)
{
    if (form->axes != 1)
        return cli_refuse(EXIT_USAGE, "%s: dataset %s: expected one dimension, got %d", t->path, column->name,
                          form->axes);
    if (t->window.rows == TABLE_UNKNOWN)
        t->window.rows = form->dims[0];
    if (form->dims[0] != t->window.rows)
        return cli_refuse(EXIT_USAGE, "%s: dataset %s: expected %llu rows, as those before it have, got %llu", t->path,
                          column->name, (unsigned long long)t->window.rows, (unsigned long long)form->dims[0]);
    if (form->fault[0])
        return cli_refuse(EXIT_USAGE, "%s: dataset %s: announces %llu rows, but %s", t->path, column->name,
                          (unsigned long long)form->dims[0], form->fault);
    return EXIT_DONE;
}

static int find_column(hdf5_table *t, size_t c)
{
    table_column *column = &t->columns[c];
    const int has = hdf5_has(t->file, column->name);
    if (has < 0)
        return cli_refuse(EXIT_USAGE, "%s: dataset %s: cannot be read: %s", t->path, column->name, hdf5_error());
    if (!has)
        return EXIT_DONE;
    if (!hdf5_open_array(t->file, column->name, &t->array[c]))
        return cli_refuse(EXIT_USAGE, "%s: %s: expected a dataset: %s", t->path, column->name, hdf5_error());
    column->present = 1;
    const int status = check_type(t, column, &t->array[c]);
    return status == EXIT_DONE ? check_shape(t, column, &t->array[c].form) : status;
}

static int find_columns(hdf5_table *t)
{
    char more[TABLE_NAMES];
    for (size_t c = 0; c < t->count; c++) {
        const int status = find_column(t, c);
        if (status != EXIT_DONE)
            return status;
    }
    const table_column *missing = table_missing(t->columns, t->count, more);
    if (missing)
        return cli_refuse(EXIT_USAGE, "%s: dataset %s: expected in the root group%s, and is not there%s%s", t->path,
                          missing->name, missing->group ? " together with the others of its kind" : "",
                          more[0] ? "; also missing: " : "", more);
    return EXIT_DONE;
}

/* ---- the file -----------------------------------------------------------------------------------------------------
 */

static int open_file(hdf5_table *t)
{
    struct stat info;
    if (hdf5_require(t->path) != EXIT_DONE)
        return EXIT_USAGE;
    if (stat(t->path, &info) != 0)
        return cli_refuse(EXIT_USAGE, "%s: cannot be opened: %s", t->path, strerror(errno));
    if (!S_ISREG(info.st_mode))
        return cli_refuse(EXIT_USAGE, "%s: is no regular file, which an HDF5 file must be", t->path);
    t->file = hdf5_open(t->path);
    return t->file ? EXIT_DONE : cli_refuse(EXIT_USAGE, "%s: cannot be opened as HDF5: %s", t->path, hdf5_error());
}

static void close_table(void *file)
{
    hdf5_table *t = file;
    hdf5_close_input(t->file);
    free(t);
}

static int open_table(void **file, const char *path, table_column *columns, size_t count, const table_limits *limits)
{
    hdf5_table *t = malloc(sizeof *t + count * sizeof t->array[0]);
    if (!t)
        return cli_no_memory();
    *t =
        (hdf5_table){.path = path, .columns = columns, .count = count, .limits = *limits, .window.rows = TABLE_UNKNOWN};
    int status = open_file(t);
    if (status == EXIT_DONE)
        status = find_columns(t);
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

/* ---- chunks -------------------------------------------------------------------------------------------------------
 */

/* The first row whose time is none; `size` if all are. */
static uint64_t check_times(const hdf5_table *t, const table_column *column)
{
    uint64_t i = 0;
    while (i < t->window.size && column->data[i] >= 0.0f)
        i++;
    return i;
}

/* Numbers of 32 bits become 64 wide, from the last one on, and none may be negative. */
static int check_wholes(const hdf5_table *t, const table_column *column, const hdf5_array *array)
{
    int64_t *const numbers = (int64_t *)(void *)column->data;
    const int is_signed = hdf5_is_of(array, "<i4");
    for (uint64_t i = whole_size(array) == sizeof(int32_t) ? t->window.size : 0; i-- > 0;) {
        uint32_t bits;
        memcpy(&bits, column->data + i, sizeof bits);
        numbers[i] = is_signed ? (int32_t)bits : (int64_t)bits;
    }
    for (uint64_t i = 0; i < t->window.size; i++)
        if (numbers[i] < 0)
            return cli_refuse(EXIT_USAGE, "%s: row %llu: dataset %s: expected a whole number from 0 to 2^63 - 1",
                              t->path, (unsigned long long)(t->window.from + i), column->name);
    return EXIT_DONE;
}

/* Integers become floats in place; one that is too large for a shift stays so. */
static int check_shifts(const hdf5_table *t, const table_column *column, const hdf5_array *array)
{
    for (uint64_t i = 0; i < t->window.size; i++) {
        int32_t number;
        memcpy(&number, &column->data[i], sizeof number);
        if (hdf5_is_of(array, "<i4"))
            column->data[i] = (float)number;
        if (!table_is_shift(column->data[i]))
            return cli_refuse(EXIT_USAGE, "%s: row %llu: dataset %s: expected a whole number from -128 to 127", t->path,
                              (unsigned long long)(t->window.from + i), column->name);
    }
    return EXIT_DONE;
}

static int read_column(hdf5_table *t, size_t c)
{
    const table_column *column = &t->columns[c];
    if (!hdf5_read(&t->array[c], 1, &t->window.from, &t->window.size, column->data))
        return cli_refuse(EXIT_USAGE, "%s: dataset %s: cannot be read: %s", t->path, column->name, hdf5_error());
    const uint64_t bad = column->kind == TABLE_TIME ? check_times(t, column) : t->window.size;
    if (bad < t->window.size)
        return cli_refuse(EXIT_USAGE, "%s: row %llu: dataset %s: expected a number >= 0 or inf, got %.9g", t->path,
                          (unsigned long long)(t->window.from + bad), column->name, (double)column->data[bad]);
    return column->kind == TABLE_WHOLE   ? check_wholes(t, column, &t->array[c])
           : column->kind == TABLE_SHIFT ? check_shifts(t, column, &t->array[c])
                                         : EXIT_DONE;
}

static int next_rows(void *file, uint64_t most, uint64_t *rows)
{
    hdf5_table *t = file;
    int status = EXIT_DONE;
    if (!table_move(&t->window, t->columns, t->count, &t->limits, most))
        return cli_no_memory();
    *rows = t->window.size;
    for (size_t c = 0; c < t->count && t->window.size > 0 && status == EXIT_DONE; c++)
        status = t->columns[c].present ? read_column(t, c) : EXIT_DONE;
    return status;
}

static uint64_t rows_of(const void *file)
{
    return ((const hdf5_table *)file)->window.rows;
}

static double share_of(const void *file)
{
    return table_window_share(&((const hdf5_table *)file)->window);
}

const table_source table_hdf5 = {
    .open = open_table, .next = next_rows, .share = share_of, .rows = rows_of, .close = close_table};
