/* SPDX-License-Identifier: MIT */
/* The contacts of the step before that have ended: rows of its file, as they stand there. Text is copied line by line
 * to text. Other rows are columns: five or six that are in memory, and those others of an HDF5 file that a step may
 * have. */
#include "cli/base/base.h"
#include "contacts_ended.h"
#include "cli/rows/rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 16 }; /* rows that are read at once */

/* ---- before any work ----------------------------------------------------------------------------------------------
 */

static int is_in_memory(const char *name)
{
    static const char *const names[] = {"query", "x", "y", "z", "patch", "instance"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (!strcmp(name, names[i]))
            return 1;
    return 0;
}

/* How a dataset's numbers are copied. Returns 0 if they are of another type than a step has. */
static int find_kind(const hdf5_array *array, const query_field *field, query_kind *kind)
{
    const int is_word = field->kind == QUERY_FEATURE && array->form.size == 1;
    *kind = is_word                    ? QUERY_FEATURE
            : hdf5_is_of(array, "<f4") ? QUERY_TIME
            : hdf5_is_of(array, "<i4") ? QUERY_TRIANGLE
            : hdf5_is_of(array, "<u4") ? QUERY_PATCH
                                       : QUERY_NUMBER;
    return *kind != QUERY_NUMBER || hdf5_is_of(array, "<i8");
}

/* A column of the file, if it has it. */
static int find_column(contacts_ended *e, const contacts_history *h, const query_field *field)
{
    hdf5_array array;
    query_kind kind;
    const int has = hdf5_has(e->file, field->name);
    if (has == 0)
        return EXIT_DONE;
    if (has < 0 || !hdf5_open_array(e->file, field->name, &array))
        return cli_refuse(EXIT_USAGE, "%s: dataset %s: cannot be read: %s", h->path, field->name, hdf5_error());
    if (array.form.axes != 1 || array.form.dims[0] != h->count || array.form.fault[0] ||
        !find_kind(&array, field, &kind)) {
        cli_message("warning: %s: dataset %s: is not of the rows of a step, and left out of what --ended writes",
                    h->path, field->name);
        return EXIT_DONE;
    }
    e->array[e->count] = array;
    e->fields[e->count++] = (query_field){field->name, kind, 0};
    return EXIT_DONE;
}

static int add_column(contacts_ended *e, const contacts_history *h, const query_field *field)
{
    if (!is_in_memory(field->name))
        return e->file ? find_column(e, h, field) : EXIT_DONE;
    const query_kind kind = field->kind == QUERY_COORDINATE ? QUERY_TIME : field->kind;
    e->fields[e->count++] = (query_field){field->name, kind, 0};
    return EXIT_DONE;
}

/* In the order of the output. */
static int add_columns(contacts_ended *e, const contacts_history *h)
{
    static const query_field instance = {"instance", QUERY_TRIANGLE, 0};
    const rows_query first = rows_query_of(&query_mesh_contacts, 0);
    int status = EXIT_DONE;
    for (int f = 0; f < first.field_count && status == EXIT_DONE; f++) {
        if (h->of_scene && !strcmp(first.fields[f].name, "triangle"))
            status = add_column(e, h, &instance);
        if (status == EXIT_DONE)
            status = add_column(e, h, &first.fields[f]);
    }
    return status == EXIT_DONE ? add_column(e, h, &contacts_previous_field) : status;
}

int contacts_ended_open(contacts_ended *e, const contacts_history *h, const char *path)
{
    *e = (contacts_ended){.path = path};
    e->is_text = rows_format_of(h->path) == rows_format_of(NULL) && rows_format_of(path) == rows_format_of(NULL);
    if (cli_is_hdf5(h->path))
        e->file = hdf5_open(h->path);
    if (cli_is_hdf5(h->path) && !e->file)
        return cli_refuse(EXIT_USAGE, "%s: cannot be opened as HDF5: %s", h->path, hdf5_error());
    return add_columns(e, h);
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

/* Copies the header and the lines of contacts that have ended. */
static int copy_lines(const contacts_history *h, output *out)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    uint64_t at = 0;
    FILE *file = fopen(h->path, "re");
    if (!file)
        return cli_refuse(EXIT_USAGE, "%s: %s", h->path, strerror(errno));
    for (; !out->error && at <= h->count && (length = getline(&line, &room, file)) > 0; at++)
        if (at == 0 || h->has_ended[at - 1]) {
            output_bytes(out, line, (size_t)length);
            if (line[length - 1] != '\n')
                output_char(out, '\n');
        }
    free(line);
    fclose(file);
    return at <= h->count && !out->error ? cli_refuse(EXIT_WORK, "%s: has changed while it was read", h->path)
                                         : EXIT_DONE;
}

/* ---- columns ------------------------------------------------------------------------------------------------------
 */

static void take_from_memory(const contacts_history *h, const char *name, uint64_t from, uint64_t count,
                             const rows_field *to)
{
    const uint64_t k = (uint64_t)(name[0] - 'x'); /* of x, y and z */
    if (!strcmp(name, "query"))
        memcpy(to->memory, h->query + from, count * sizeof *h->query);
    else if (!strcmp(name, "patch"))
        memcpy(to->memory, h->patch + from, count * sizeof *h->patch);
    else if (!strcmp(name, "instance"))
        memcpy(to->memory, h->instance + from, count * sizeof *h->instance);
    else
        for (uint64_t i = 0; i < count; i++)
            to->floats[i] = h->point[3 * (from + i) + k];
}

static int take_chunk(const contacts_ended *e, const contacts_history *h, uint64_t from, uint64_t count,
                      const rows_field *to)
{
    for (int f = 0; f < e->count; f++) {
        if (!e->array[f].in)
            take_from_memory(h, e->fields[f].name, from, count, &to[f]);
        else if (!hdf5_read(&e->array[f], 1, &from, &count, to[f].memory))
            return cli_refuse(EXIT_USAGE, "%s: dataset %s: cannot be read: %s", h->path, e->fields[f].name,
                              hdf5_error());
    }
    return EXIT_DONE;
}

/* The rows of a chunk that have ended, moved together. Returns how many. */
static uint64_t keep_ended(const contacts_history *h, uint64_t from, uint64_t count, const rows_query *query,
                           const rows_field *fields)
{
    uint64_t kept = 0;
    for (uint64_t i = 0; i < count; i++) {
        if (!h->has_ended[from + i])
            continue;
        for (int f = 0; f < query->field_count; f++) {
            const size_t size = query_field_size(&query->fields[f]);
            memmove(fields[f].bytes + kept * size, fields[f].bytes + i * size, size);
        }
        kept++;
    }
    return kept;
}

static int copy_chunks(const contacts_ended *e, const contacts_history *h, const rows_query *query, rows_writer *writer)
{
    rows_field fields[QUERY_FIELDS_MAX];
    int status = rows_fields_alloc(query, CHUNK, fields) ? EXIT_DONE : cli_no_memory();
    for (uint64_t from = 0; from < h->count && status == EXIT_DONE; from += CHUNK) {
        const uint64_t count = h->count - from < CHUNK ? h->count - from : CHUNK;
        status = take_chunk(e, h, from, count, fields);
        if (status == EXIT_DONE)
            rows_write(writer, fields, keep_ended(h, from, count, query, fields));
    }
    rows_fields_free(fields);
    return status;
}

static int copy_columns(contacts_ended *e, const contacts_history *h)
{
    rows_query query = {.fields = e->fields, .field_count = e->count};
    rows_writer writer;
    uint64_t rows = 0;
    for (int f = 0; f < e->count; f++)
        query.order[f] = f;
    for (uint64_t i = 0; i < h->count; i++)
        rows += h->has_ended[i];
    int status = rows_writer_open(&writer, rows_format_of(e->path), &e->out, &query, 1, rows);
    if (status == EXIT_DONE) {
        rows_write_header(&writer);
        status = copy_chunks(e, h, &query, &writer);
    }
    if (status == EXIT_DONE && !e->out.error)
        status = rows_writer_finish(&writer);
    rows_writer_close(&writer);
    return status;
}

/* ---- the file ------------------------------------------------------------------------------------------------------
 */

int contacts_ended_write(contacts_ended *e, const contacts_history *h)
{
    int status = output_open(&e->out, e->path);
    if (status != EXIT_DONE)
        return status;
    e->is_open = 1;
    status = e->is_text ? copy_lines(h, &e->out) : copy_columns(e, h);
    return status == EXIT_DONE ? output_sync(&e->out) : status;
}

int contacts_ended_close(contacts_ended *e, int status)
{
    hdf5_close_input(e->file);
    e->file = NULL;
    if (e->is_open)
        status = output_close(&e->out, status);
    e->is_open = 0;
    return status;
}
