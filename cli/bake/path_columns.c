/* SPDX-License-Identifier: MIT */
/* The columns of rows of paths in HDF5, read a chunk at a time and turned into rows as those of a part, so that one
 * comparison serves all files. */
#include "path_compare.h"

#include "cli/hdf5.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 16 }; /* rows that are read at once */

typedef struct path_columns {
    path_rows *rows;
    const query_field *fields;
    int field_count;
    hdf5_id file, array[QUERY_FIELDS_MAX];
    uint64_t count; /* rows of the file */
    char *column[QUERY_FIELDS_MAX], *row;
} path_columns;

static int stop(path_columns *c, const char *what)
{
    c->rows->is_stopped = 1;
    return path_differs(c->rows, what);
}

/* A word is a byte, of HDF5's enumeration. */
static int has_type(hdf5_id array, const query_field *field, const hdf5_form *form)
{
    switch (field->kind) {
    case QUERY_STATE:
    case QUERY_FEATURE: return form->size == 1;
    case QUERY_BITS: return hdf5_is_of(array, "|u1");
    case QUERY_TIME:
    case QUERY_COORDINATE: return hdf5_is_of(array, "<f4");
    case QUERY_TRIANGLE: return hdf5_is_of(array, "<i4");
    default: return hdf5_is_of(array, "<i8");
    }
}

static int open_column(path_columns *c, int f)
{
    const query_field *field = &c->fields[f];
    hdf5_form form;
    if (!hdf5_has(c->file, field->name))
        return stop(c, "the datasets are not those of such rows");
    c->array[f] = hdf5_open_array(c->file, field->name, &form);
    if (c->array[f] < 0)
        return cli_refuse(EXIT_USAGE, "%s: %s: expected a dataset: %s", c->rows->shown, field->name, hdf5_error());
    if (form.axes != 1 || !has_type(c->array[f], field, &form))
        return stop(c, "the datasets are not of the types of such rows");
    if (f > 0 && form.dims[0] != c->count)
        return stop(c, "the datasets have different lengths");
    c->count = form.dims[0];
    if (form.fault)
        return cli_refuse(EXIT_USAGE, "%s: dataset %s: announces %llu rows, but %s", c->rows->shown, field->name,
                          (unsigned long long)c->count, form.fault);
    return EXIT_DONE;
}

static int open_columns(path_columns *c)
{
    int status = hdf5_require(c->rows->shown);
    if (status != EXIT_DONE)
        return status;
    c->file = hdf5_open(c->rows->shown);
    if (c->file < 0)
        return cli_refuse(EXIT_USAGE, "%s: cannot be opened as HDF5: %s", c->rows->shown, hdf5_error());
    for (int f = 0; f < c->field_count && status == EXIT_DONE && !c->rows->is_stopped; f++)
        status = open_column(c, f);
    return status;
}

static int alloc_rows(path_columns *c)
{
    int done = 1;
    for (int f = 0; f < c->field_count; f++) {
        c->column[f] = cli_alloc(CHUNK, query_field_size(&c->fields[f]));
        done &= c->column[f] != NULL;
    }
    c->row = cli_alloc(1, path_row_bytes(c->rows->hits));
    return done && c->row ? EXIT_DONE : cli_no_memory();
}

static int read_chunk(path_columns *c, uint64_t from, uint64_t count)
{
    for (int f = 0; f < c->field_count; f++)
        if (!hdf5_read(c->array[f], 1, &from, &count, c->column[f]))
            return cli_refuse(EXIT_USAGE, "%s: dataset %s: cannot be read: %s", c->rows->shown, c->fields[f].name,
                              hdf5_error());
    return EXIT_DONE;
}

/* A coordinate that does not exist is 0 in a row and NaN, of one pattern, in a column. Another is left as it is, and
 * so is a difference. */
static void put_field(const path_columns *c, int f, uint64_t i, char *to)
{
    const uint32_t nan = 0x7fc00000;
    const query_field *field = &c->fields[f];
    const size_t size = query_field_size(field);
    const char *from = c->column[f] + i * size;
    const int is_none = field->kind == QUERY_COORDINATE && c->column[field->feature][i] == CAROM_FEATURE_NONE;
    if (is_none && memcmp(from, &nan, sizeof nan) == 0)
        memset(to, 0, size);
    else if (is_none && memcmp(from, (const char[sizeof(float)]){0}, sizeof(float)) == 0)
        memcpy(to, &nan, size); /* a 0 in place of NaN must not look like one */
    else
        memcpy(to, from, size);
}

static int write_chunk(path_columns *c, uint64_t count, FILE *to)
{
    for (uint64_t i = 0; i < count; i++) {
        char *at = c->row;
        for (int f = 0; f < c->field_count; f++) {
            put_field(c, f, i, at);
            at += query_field_size(&c->fields[f]);
        }
        if (fwrite(c->row, (size_t)(at - c->row), 1, to) != 1)
            return cli_refuse(EXIT_WORK, "a temporary file: cannot be written: %s", strerror(errno));
    }
    return EXIT_DONE;
}

static void close_columns(path_columns *c)
{
    for (int f = 0; f < c->field_count; f++) {
        if (c->array[f] >= 0)
            hdf5_close(c->array[f]);
        free(c->column[f]);
    }
    if (c->file >= 0)
        hdf5_close(c->file);
    free(c->row);
}

int path_columns_read(path_rows *rows, FILE *to)
{
    path_columns c = {.rows = rows, .file = -1};
    c.fields = path_fields(rows->hits, &c.field_count);
    for (int f = 0; f < c.field_count; f++)
        c.array[f] = -1;
    int status = open_columns(&c);
    if (status == EXIT_DONE && !rows->is_stopped)
        status = alloc_rows(&c);
    for (uint64_t from = 0; from < c.count && status == EXIT_DONE && !rows->is_stopped; from += CHUNK) {
        const uint64_t count = c.count - from < CHUNK ? c.count - from : CHUNK;
        status = read_chunk(&c, from, count);
        if (status == EXIT_DONE)
            status = write_chunk(&c, count, to);
    }
    close_columns(&c);
    if (status == EXIT_DONE && fflush(to) != 0)
        status = cli_refuse(EXIT_WORK, "a temporary file: cannot be written: %s", strerror(errno));
    rewind(to);
    return status;
}
