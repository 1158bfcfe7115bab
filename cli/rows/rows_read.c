/* SPDX-License-Identifier: MIT */
/* Answers from HDF5, as rows_hdf5.c writes them. */
#include "rows.h"

/* A word is a byte, of HDF5's enumeration. */
static int has_type(const hdf5_array *array, const query_field *field)
{
    switch (field->kind) {
    case QUERY_STATE:
    case QUERY_FEATURE: return array->form.size == 1;
    case QUERY_BITS: return hdf5_is_of(array, "|u1");
    case QUERY_TIME:
    case QUERY_COORDINATE:
    case QUERY_HEIGHT: return hdf5_is_of(array, "<f4");
    case QUERY_TRIANGLE: return hdf5_is_of(array, "<i4");
    case QUERY_PATCH: return hdf5_is_of(array, "<u4");
    default: return hdf5_is_of(array, "<i8");
    }
}

static int open_column(rows_reader *r, int f)
{
    const query_field *field = &r->fields[f];
    hdf5_array *const array = &r->array[f];
    const hdf5_form *const form = &array->form;
    const int has = hdf5_has(r->file, field->name);
    if (has < 0)
        return cli_refuse(EXIT_USAGE, "%s: dataset %s: cannot be read: %s", r->path, field->name, hdf5_error());
    if (!has) {
        r->wrong = "the datasets are not those of such rows";
        return EXIT_DONE;
    }
    if (!hdf5_open_array(r->file, field->name, array))
        return cli_refuse(EXIT_USAGE, "%s: %s: expected a dataset: %s", r->path, field->name, hdf5_error());
    if (form->axes != 1 || !has_type(array, field))
        r->wrong = "the datasets are not of the types of such rows";
    else if (f > 0 && form->dims[0] != r->rows)
        r->wrong = "the datasets have different lengths";
    else if (form->fault[0])
        return cli_refuse(EXIT_USAGE, "%s: dataset %s: announces %llu rows, but %s", r->path, field->name,
                          (unsigned long long)form->dims[0], form->fault);
    r->rows = form->dims[0];
    return EXIT_DONE;
}

int rows_reader_open(rows_reader *r, const char *path, const query_field *fields, int count)
{
    *r = (rows_reader){.path = path, .fields = fields, .field_count = count};
    int status = hdf5_require(path);
    if (status != EXIT_DONE)
        return status;
    r->file = hdf5_open(path);
    if (!r->file)
        return cli_refuse(EXIT_USAGE, "%s: cannot be opened as HDF5: %s", path, hdf5_error());
    for (int f = 0; f < count && status == EXIT_DONE && !r->wrong; f++)
        status = open_column(r, f);
    return status;
}

int rows_read(rows_reader *r, uint64_t from, uint64_t count, const rows_field *to)
{
    for (int f = 0; f < r->field_count; f++)
        if (!hdf5_read(&r->array[f], 1, &from, &count, to[f].memory))
            return cli_refuse(EXIT_USAGE, "%s: dataset %s: cannot be read: %s", r->path, r->fields[f].name,
                              hdf5_error());
    return EXIT_DONE;
}

void rows_reader_close(rows_reader *r)
{
    hdf5_close_input(r->file);
    *r = (rows_reader){.file = NULL};
}
