/* SPDX-License-Identifier: MIT */
/* The contacts of the step before that have ended: rows of its file, as they stand there; what cannot be copied, lines
 * of text to HDF5 and .npy, by the five columns that are in memory. */
#include "cli.h"
#include "contacts.h"
#include "output.h"
#include "rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 16 }; /* rows that are read at once */

/* ---- text -------------------------------------------------------------------------------------------------------- */

/* Copies the header and the lines of contacts that have ended. */
static int copy_lines(const contacts_history *h, output *out)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    uint64_t at = 0;
    FILE *file = fopen(h->path, "r");
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

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

/* Those that are in memory. */
static const query_field old_fields[] = {{"query", QUERY_COUNT, 0},
                                         {"x", QUERY_TIME, 0},
                                         {"y", QUERY_TIME, 0},
                                         {"z", QUERY_TIME, 0},
                                         {"patch", QUERY_TRIANGLE, 0}};

static int take_chunk(const contacts_history *h, uint64_t from, uint64_t count, const rows_field *to)
{
    for (uint64_t i = 0; i < count; i++) {
        to[0].longs[i] = h->query[from + i];
        for (int k = 0; k < 3; k++)
            to[1 + k].floats[i] = h->point[3 * (from + i) + (uint64_t)k];
        to[4].integers[i] = (int32_t)h->patch[from + i];
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

/* `reader`: NULL for rows in memory. */
static int copy_chunks(const contacts_history *h, rows_reader *reader, const rows_query *query, rows_writer *writer)
{
    rows_field fields[QUERY_FIELDS_MAX];
    int status = rows_fields_alloc(query, CHUNK, fields) ? EXIT_DONE : cli_no_memory();
    for (uint64_t from = 0; from < h->count && status == EXIT_DONE; from += CHUNK) {
        const uint64_t count = h->count - from < CHUNK ? h->count - from : CHUNK;
        status = reader ? rows_read(reader, from, count, fields) : take_chunk(h, from, count, fields);
        if (status == EXIT_DONE)
            rows_write(writer, fields, keep_ended(h, from, count, query, fields));
    }
    rows_fields_free(fields);
    return status;
}

static int copy_rows(const contacts_history *h, rows_reader *reader, const query_field *fields, int count, output *out)
{
    rows_query query = {.fields = fields, .field_count = count};
    rows_writer writer;
    uint64_t rows = 0;
    for (int f = 0; f < count; f++)
        query.order[f] = f;
    for (uint64_t i = 0; i < h->count; i++)
        rows += h->has_ended[i];
    int status = rows_writer_open(&writer, rows_format_of(out->place.shown), out, &query, 1, rows);
    if (status == EXIT_DONE) {
        rows_write_header(&writer);
        status = copy_chunks(h, reader, &query, &writer);
    }
    if (status == EXIT_DONE && !out->error)
        status = rows_writer_finish(&writer);
    rows_writer_close(&writer);
    return status;
}

/* The columns of an output of the command: those of a first step, and `previous` if they are there. */
static int copy_columns(const contacts_history *h, output *out)
{
    query_field fields[QUERY_FIELDS_MAX];
    const rows_query first = rows_query_of(&query_mesh_contacts, 0);
    rows_reader reader;
    int count = first.field_count;
    memcpy(fields, first.fields, (size_t)count * sizeof *fields);
    fields[count++] = contacts_previous_field;
    int status = rows_reader_open(&reader, h->path, fields, count);
    if (status == EXIT_DONE && reader.wrong) {
        rows_reader_close(&reader);
        status = rows_reader_open(&reader, h->path, fields, --count);
    }
    if (status == EXIT_DONE && reader.wrong)
        status = cli_refuse(EXIT_USAGE, "%s: %s, which --ended needs", h->path, reader.wrong);
    else if (status == EXIT_DONE && reader.rows != h->count)
        status = cli_refuse(EXIT_WORK, "%s: has changed while it was read", h->path);
    if (status == EXIT_DONE)
        status = copy_rows(h, &reader, fields, count, out);
    rows_reader_close(&reader);
    return status;
}

int contacts_write_ended(const contacts_history *h, const char *path)
{
    output out;
    int status = output_open(&out, path);
    if (status != EXIT_DONE)
        return status;
    if (cli_is_hdf5(h->path))
        status = copy_columns(h, &out);
    else if (cli_is_hdf5(path) || !strcmp(cli_suffix(h->path), "npy"))
        status = copy_rows(h, NULL, old_fields, sizeof old_fields / sizeof old_fields[0], &out);
    else
        status = copy_lines(h, &out);
    return output_close(&out, status);
}
