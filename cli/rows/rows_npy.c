/* SPDX-License-Identifier: MIT */
/* Answers to NumPy: one dimension of rows, whose fields are the columns. The header has one length for any number of
 * rows, and is written last. */
#include "cli/table/npy.h"
#include "rows_format.h"

#include <stdlib.h>
#include <string.h>

static size_t header_of(const rows_writer *w, uint64_t rows, char to[NPY_FIELDS_HEADER])
{
    const rows_query *query = w->query;
    npy_field fields[ROWS_COLUMNS_MAX];
    for (int k = 0; k < query->field_count; k++) {
        const query_field *field = &query->fields[query->order[k]];
        fields[k] = (npy_field){field->name, rows_type_of(field)->numpy};
    }
    return npy_fields_header(to, fields, query->field_count, rows);
}

static int open_rows(rows_writer *w)
{
    size_t bytes = 0;
    for (int f = 0; f < w->query->field_count; f++)
        bytes += query_field_size(&w->query->fields[f]);
    return rows_slices_open(w, bytes);
}

static void write_header(rows_writer *w)
{
    char header[NPY_FIELDS_HEADER];
    output_bytes(w->out, header, header_of(w, 0, header));
}

static char *put_row(rows_writer *w, char *to, uint64_t i)
{
    const rows_query *query = w->query;
    unsigned char *at = (unsigned char *)to;
    for (int k = 0; k < query->field_count; k++) {
        const int f = query->order[k];
        at = rows_put_number(at, &query->fields[f], w->fields, &w->fields[f], i);
    }
    return (char *)at;
}

static int finish(rows_writer *w)
{
    char header[NPY_FIELDS_HEADER];
    const size_t size = header_of(w, w->done, header);
    output_flush(w->out);
    if (!w->out->error)
        w->out->error = cli_write_at(w->out->fd, header, size, 0);
    return EXIT_DONE;
}

const rows_format rows_npy = {.suffix = "npy",
                              .title = "a .npy",
                              .open = open_rows,
                              .header = write_header,
                              .write = rows_slices_write,
                              .finish = finish,
                              .close = rows_slices_close,
                              .put_row = put_row};
