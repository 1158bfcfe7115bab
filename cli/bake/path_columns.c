/* SPDX-License-Identifier: MIT */
/* The columns of rows of paths in HDF5, read a chunk at a time and turned into rows as those of a part, so that one
 * comparison serves all files. */
#include "path_compare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 16 }; /* rows that are read at once */

/* A coordinate that does not exist is 0 in a row and NaN, of one pattern, in a column. Another is left as it is, and
 * so is a difference; a 0 must not look like one. */
static void put_field(const rows_query *query, const rows_field *fields, int f, uint64_t i, char *to)
{
    const uint32_t nan = 0x7fc00000;
    const query_field *field = &query->fields[f];
    const size_t size = query_field_size(field);
    const char *from = (const char *)fields[f].memory + i * size;
    const int is_none = field->kind == QUERY_COORDINATE && fields[field->feature].bytes[i] == CAROM_FEATURE_NONE;
    if (is_none && memcmp(from, &nan, sizeof nan) == 0)
        memset(to, 0, size);
    else if (is_none && memcmp(from, (const char[sizeof nan]){0}, sizeof nan) == 0)
        memcpy(to, &nan, size);
    else
        memcpy(to, from, size);
}

static int write_chunk(const rows_query *query, const rows_field *fields, uint64_t count, char *row, FILE *to)
{
    for (uint64_t i = 0; i < count; i++) {
        char *at = row;
        for (int f = 0; f < query->field_count; f++) {
            put_field(query, fields, f, i, at);
            at += query_field_size(&query->fields[f]);
        }
        if (fwrite(row, (size_t)(at - row), 1, to) != 1)
            return cli_refuse(EXIT_WORK, "a temporary file: cannot be written: %s", strerror(errno));
    }
    return EXIT_DONE;
}

static int copy_rows(rows_reader *reader, const rows_query *query, char *row, FILE *to)
{
    rows_field fields[QUERY_FIELDS_MAX];
    int status = rows_fields_alloc(query, CHUNK, fields) && row ? EXIT_DONE : cli_no_memory();
    for (uint64_t from = 0; from < reader->rows && status == EXIT_DONE; from += CHUNK) {
        const uint64_t count = reader->rows - from < CHUNK ? reader->rows - from : CHUNK;
        status = rows_read(reader, from, count, fields);
        if (status == EXIT_DONE)
            status = write_chunk(query, fields, count, row, to);
    }
    rows_fields_free(fields);
    return status;
}

int path_columns_read(path_rows *rows, FILE *to)
{
    const rows_query query = path_query(rows->hits);
    rows_reader reader;
    int status = rows_reader_open(&reader, rows->shown, query.fields, query.field_count);
    if (status == EXIT_DONE && reader.wrong) {
        rows->is_stopped = 1;
        status = path_differs(rows, reader.wrong);
    } else if (status == EXIT_DONE) {
        char *row = cli_alloc(1, path_row_bytes(rows->hits));
        status = copy_rows(&reader, &query, row, to);
        free(row);
    }
    rows_reader_close(&reader);
    if (status == EXIT_DONE && fflush(to) != 0)
        status = cli_refuse(EXIT_WORK, "a temporary file: cannot be written: %s", strerror(errno));
    rewind(to);
    return status;
}
