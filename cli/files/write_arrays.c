/* SPDX-License-Identifier: MIT */
/* Arrays of any shape, each whole, in the order in which they come. */
#include "cli/base/base.h"
#include "cli/table/hdf5.h"
#include "write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1 << 20 };

const files_number files_numbers[] = {{"<f4", "Float32", 4}, {"<f8", "Float64", 8}, {"<i4", "Int32", 4},
                                      {"<i8", "Int64", 8},   {"<u4", "UInt32", 4},  {"|u1", "UInt8", 1}};
enum { TYPES = sizeof files_numbers / sizeof files_numbers[0] };

/* ---- what is written --------------------------------------------------------------------------------------------- */

static int find_type(const char *name)
{
    int i = TYPES - 1;
    while (i >= 0 && strcmp(name, files_numbers[i].numpy))
        i--;
    return i;
}

/* NAME=TYPE=SHAPE. */
static int read_array(char *text, files_array *array)
{
    char *shape = strrchr(text, '='), *type = NULL;
    if (shape) {
        *shape++ = '\0';
        type = strrchr(text, '=');
    }
    if (!type)
        return 0;
    *type++ = '\0';
    *array = (files_array){.name = text, .type = find_type(type)};
    if (array->type < 0)
        return 0;
    array->bytes = files_numbers[array->type].size;
    for (char *end; *shape && array->axes < NPY_DIMENSIONS; shape = end + (*end == ',')) {
        const uint64_t n = strtoull(shape, &end, 10);
        if (end == shape || __builtin_mul_overflow(array->bytes, n, &array->bytes))
            return 0;
        array->shape[array->axes++] = n;
    }
    return *shape == '\0';
}

static int find_arrays(files_output *a, int count, char **arguments)
{
    a->array = cli_alloc((uint64_t)count, sizeof *a->array);
    if (!a->array)
        return cli_no_memory();
    for (a->count = 0; a->count < count; a->count++)
        if (!read_array(arguments[a->count], &a->array[a->count]))
            return cli_refuse(EXIT_USAGE, "expected array %d as NAME=TYPE=SHAPE", a->count);
    return EXIT_DONE;
}

/* ---- what describes it ------------------------------------------------------------------------------------------- */

static int write_npy_header(files_output *a, output *out)
{
    char header[NPY_HEADER];
    const files_array *array = a->array;
    if (a->count != 1)
        return cli_refuse(EXIT_USAGE, "%s: a .npy file holds one array, not %d", a->path, a->count);
    const size_t size = npy_header(header, files_numbers[array->type].numpy, array->axes, array->shape);
    output_bytes(out, header, size);
    return EXIT_DONE;
}

static int write_hdf5_head(files_output *a, output *out)
{
    hdf5_head head;
    int done = 1;
    for (int i = 0; i < a->count; i++)
        if (a->array[i].axes > HDF5_AXES || a->array[i].axes == 0)
            return cli_refuse(EXIT_USAGE, "%s: dataset %s: expected 1 to %d dimensions, got %d", a->path,
                              a->array[i].name, HDF5_AXES, a->array[i].axes);
    hdf5_head_begin(&head);
    for (int i = 0; i < a->count; i++) {
        files_array *const array = &a->array[i];
        const hdf5_id id =
            hdf5_create_array(head.file, array->name, files_numbers[array->type].numpy, array->axes, array->shape);
        done &= array->bytes == 0 || (hdf5_place(id, &array->at) && array->at >= HDF5_HEAD);
        done &= hdf5_close(id);
    }
    done &= hdf5_head_end(&head);
    if (!done)
        return cli_refuse(EXIT_WORK, "%s: HDF5 cannot describe the arrays: %s", a->path, hdf5_error());
    output_bytes(out, (const char *)head.bytes, HDF5_HEAD);
    return EXIT_DONE;
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

int files_copy_arrays(const files_output *a, output *out)
{
    char *block = cli_alloc(BLOCK, 1);
    int status = block ? EXIT_DONE : cli_no_memory();
    output_flush(out);
    for (int i = 0; i < a->count && status == EXIT_DONE; i++) {
        const files_array *const array = &a->array[i];
        for (uint64_t done = 0, n; done < array->bytes && status == EXIT_DONE && !out->error; done += n) {
            n = array->bytes - done < BLOCK ? array->bytes - done : BLOCK;
            status = files_receive(block, (size_t)n);
            if (status == EXIT_DONE && array->at > 0)
                out->error = cli_write_at(out->fd, block, (size_t)n, array->at + done);
            else if (status == EXIT_DONE)
                output_bytes(out, block, (size_t)n);
        }
    }
    free(block);
    return status;
}

static int write_arrays(files_output *a)
{
    output out;
    int status = files_open(&out, a->path);
    if (status != EXIT_DONE)
        return status;
    status = files_is_hdf5(a->path) ? write_hdf5_head(a, &out) : write_npy_header(a, &out);
    if (status == EXIT_DONE)
        status = files_copy_arrays(a, &out);
    return output_close(&out, status);
}

int files_write_arrays(int count, char **arguments)
{
    files_output a = {.path = arguments[0]};
    const int has_lattice = count > 3 && !strcmp(arguments[1], "--lattice"), next = has_lattice ? 3 : 1;
    int status = find_arrays(&a, count - next, arguments + next);
    if (status == EXIT_DONE)
        status = has_lattice ? files_write_volume(&a, arguments[2]) : write_arrays(&a);
    free(a.array);
    return status;
}
