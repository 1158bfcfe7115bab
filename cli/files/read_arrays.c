/* SPDX-License-Identifier: MIT */
/* Arrays of any shape: what bake writes, and columns of answers. */
#include "files.h"
#include "cli/base/base.h"
#include "cli/base/json.h"
#include "cli/table/hdf5.h"
#include "cli/table/npy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { BLOCK = 1 << 22, ARRAYS = 64 }; /* bytes that are read at once, about; arrays of a file */

static void describe(json_writer *j, const char *name, const char *type, int axes, const uint64_t *shape)
{
    json_object(j, NULL);
    json_text(j, "name", name);
    json_text(j, "type", type);
    json_array(j, "shape");
    for (int k = 0; k < axes; k++)
        json_count(j, NULL, shape[k]);
    json_close(j, ']');
    json_close(j, '}');
}

static void describe_begin(json_writer *j, output *out)
{
    json_begin(j, out);
    json_array(j, "arrays");
}

static void describe_end(json_writer *j)
{
    json_close(j, ']');
    json_end(j);
    output_char(j->out, '\0');
}

/* ---- .npy -------------------------------------------------------------------------------------------------------- */

static int copy_npy(const npy_file *file, output *out)
{
    const uint64_t most = BLOCK / sizeof(float);
    float *block = cli_alloc(most, sizeof *block);
    int status = block ? EXIT_DONE : cli_no_memory();
    for (uint64_t from = 0, n; from < file->count && status == EXIT_DONE && !out->error; from += n) {
        n = file->count - from < most ? file->count - from : most;
        status = npy_read(file, from, n, block);
        if (status == EXIT_DONE)
            output_bytes(out, (const char *)block, (size_t)n * sizeof *block);
    }
    free(block);
    return status;
}

/* Rows as they stand in the file, and where the columns are in them. */
static int copy_npy_rows(const npy_file *file, output *out)
{
    const uint64_t bytes = file->count * file->size;
    char *block = cli_alloc(BLOCK, 1);
    int status = block ? EXIT_DONE : cli_no_memory();
    for (uint64_t from = 0, n; from < bytes && status == EXIT_DONE && !out->error; from += n) {
        n = bytes - from < BLOCK ? bytes - from : BLOCK;
        const int error = npy_read_rows(file, from, (size_t)n, block);
        status = error ? npy_refuse_read(file, error) : EXIT_DONE;
        if (status == EXIT_DONE)
            output_bytes(out, block, (size_t)n);
    }
    free(block);
    return status;
}

static int check_named(const npy_file *file)
{
    static const char types[] = "<f4 <f8 <i4 <i8 <u4 |u1";
    if (file->dimensions != 1)
        return npy_refuse_shape(file, "[rows]");
    for (int i = 0; i < file->named_count; i++) {
        const npy_named *named = &file->named[i];
        if (named->name[0] == '\0')
            return cli_refuse(EXIT_USAGE, "%s: expected names of 1 to %d bytes", file->path, NPY_NAME - 1);
        if (!strstr(types, named->type))
            return cli_refuse(EXIT_USAGE,
                              "%s: column %s: expected little-endian float32, float64, int32, int64 or uint32, or "
                              "uint8, got %s",
                              file->path, named->name, named->type);
    }
    return EXIT_DONE;
}

static void describe_named(json_writer *j, const npy_file *file)
{
    json_count(j, "rows", file->count);
    json_count(j, "row_bytes", file->size);
    json_array(j, "columns");
    for (int i = 0; i < file->named_count; i++) {
        json_object(j, NULL);
        json_text(j, "name", file->named[i].name);
        json_text(j, "type", file->named[i].type);
        json_count(j, "at", file->named[i].at);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static int hand_over_named(const npy_file *file)
{
    output out;
    json_writer j;
    int status = check_named(file);
    if (status == EXIT_DONE)
        status = output_open(&out, NULL);
    if (status != EXIT_DONE)
        return status;
    json_begin(&j, &out);
    describe_named(&j, file);
    json_end(&j);
    output_char(&out, '\0');
    return output_close(&out, copy_npy_rows(file, &out));
}

static int read_npy(const char *path)
{
    npy_file file;
    output out;
    json_writer j;
    int status = npy_open_rows(&file, path);
    if (status == EXIT_DONE && file.named_count > 0) {
        status = hand_over_named(&file);
        npy_close(&file);
        return status;
    }
    if (status == EXIT_DONE)
        status = output_open(&out, NULL);
    if (status == EXIT_DONE) {
        describe_begin(&j, &out);
        describe(&j, "", "<f4", file.dimensions, file.shape);
        describe_end(&j);
        status = output_close(&out, copy_npy(&file, &out));
    }
    npy_close(&file);
    return status;
}

/* ---- HDF5 -------------------------------------------------------------------------------------------------------- */

typedef struct arrays {
    const char *path, *group;
    hdf5_input *file;
    int count;
    char name[ARRAYS][HDF5_TEXT];
    hdf5_array array[ARRAYS];
} arrays;

/* A word is a byte, of HDF5's enumeration. Empty: numbers that are not read. */
static const char *type_of(const hdf5_form *form)
{
    return form->numpy[0] == '\0' && form->size == 1 && !strcmp(form->type, "another type") ? "|u1" : form->numpy;
}

static int open_array(arrays *a, const char *name)
{
    char full[2 * HDF5_TEXT];
    hdf5_array *const array = &a->array[a->count];
    const hdf5_form *const form = &array->form;
    snprintf(full, sizeof full, "%s/%s", a->group[1] ? a->group : "", name);
    if (!hdf5_open_array(a->file, full, array))
        return cli_refuse(EXIT_USAGE, "%s: dataset %s: cannot be read: %s", a->path, name, hdf5_error());
    if (form->axes > HDF5_AXES)
        return cli_refuse(EXIT_USAGE, "%s: dataset %s: expected at most %d dimensions, got %d", a->path, name,
                          HDF5_AXES, form->axes);
    if (type_of(form)[0] == '\0')
        return cli_refuse(EXIT_USAGE,
                          "%s: dataset %s: expected little-endian float32, float64, int32, int64 or uint32, or uint8, "
                          "got %s",
                          a->path, name, form->type);
    if (form->fault[0])
        return cli_refuse(EXIT_USAGE, "%s: dataset %s: cannot be read: %s", a->path, name, form->fault);
    a->count++;
    return EXIT_DONE;
}

static int open_arrays(arrays *a)
{
    char only[2];
    const int members = hdf5_only_child(a->file, a->group, only, sizeof only);
    int status = members < 0 ? cli_refuse(EXIT_USAGE, "%s: cannot be read: %s", a->path, hdf5_error()) : EXIT_DONE;
    for (int i = 0; i < members && status == EXIT_DONE; i++) {
        if (a->count == ARRAYS)
            return cli_refuse(EXIT_USAGE, "%s: has more than %d datasets; name those to be read", a->path, ARRAYS);
        const int is_dataset = hdf5_member(a->file, a->group, i, a->name[a->count]);
        if (is_dataset < 0)
            return cli_refuse(EXIT_USAGE, "%s: cannot be read: %s", a->path, hdf5_error());
        status = is_dataset ? open_array(a, a->name[a->count]) : EXIT_DONE;
    }
    if (status == EXIT_DONE && a->count == 0)
        return cli_refuse(EXIT_USAGE, "%s: has no datasets in %s", a->path, a->group[1] ? a->group : "the root group");
    return status;
}

/* Block by block along the slowest axis. */
static int copy_array(const arrays *a, int number, output *out)
{
    const hdf5_array *const array = &a->array[number];
    const hdf5_form *const form = &array->form;
    uint64_t row = form->size, from[HDF5_AXES] = {0}, count[HDF5_AXES] = {1};
    const uint64_t rows = form->axes > 0 ? form->dims[0] : 1;
    for (int k = 1; k < form->axes; k++) {
        count[k] = form->dims[k];
        row *= form->dims[k]; /* the file has them all */
    }
    const uint64_t most = row > BLOCK || row == 0 ? 1 : BLOCK / row;
    char *block = cli_alloc(row, (size_t)most);
    int status = block ? EXIT_DONE : cli_no_memory();
    for (; from[0] < rows && row > 0 && status == EXIT_DONE && !out->error; from[0] += count[0]) {
        count[0] = rows - from[0] < most ? rows - from[0] : most;
        if (hdf5_read(array, form->axes, from, count, block))
            output_bytes(out, block, (size_t)(count[0] * row));
        else
            status =
                cli_refuse(EXIT_USAGE, "%s: dataset %s: cannot be read: %s", a->path, a->name[number], hdf5_error());
    }
    free(block);
    return status;
}

static int hand_over(const arrays *a)
{
    output out;
    json_writer j;
    int status = output_open(&out, NULL);
    if (status != EXIT_DONE)
        return status;
    describe_begin(&j, &out);
    for (int i = 0; i < a->count; i++)
        describe(&j, a->name[i], type_of(&a->array[i].form), a->array[i].form.axes, a->array[i].form.dims);
    describe_end(&j);
    for (int i = 0; i < a->count && status == EXIT_DONE; i++)
        status = copy_array(a, i, &out);
    return output_close(&out, status);
}

static int read_hdf5(const char *path)
{
    struct stat info;
    int status = hdf5_require(path);
    if (status != EXIT_DONE)
        return status;
    if (stat(path, &info) != 0)
        return cli_refuse(EXIT_USAGE, "%s: cannot be opened: %s", path, strerror(errno));
    if (!S_ISREG(info.st_mode))
        return cli_refuse(EXIT_USAGE, "%s: is no regular file, which an HDF5 file must be", path);
    arrays *a = cli_alloc(1, sizeof *a);
    if (!a)
        return cli_no_memory();
    *a = (arrays){.path = path, .group = cli_is_hdf5(path) ? "/" : "/VTKHDF/PointData", .file = hdf5_open(path)};
    status = a->file ? open_arrays(a) : cli_refuse(EXIT_USAGE, "%s: cannot be opened as HDF5: %s", path, hdf5_error());
    if (status == EXIT_DONE)
        status = hand_over(a);
    hdf5_close_input(a->file);
    free(a);
    return status;
}

int files_read_arrays(int count, char **arguments)
{
    (void)count;
    return files_is_hdf5(arguments[0]) ? read_hdf5(arguments[0]) : read_npy(arguments[0]);
}
