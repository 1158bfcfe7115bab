/* SPDX-License-Identifier: MIT */
#include "files.h"
#include "cli/rows/rows.h"
#include "cli/rows/rows_format.h"

#include <stdlib.h>
#include <string.h>

static const char *const types[] = {"<f4", "<i4", "<u4", "<i8", "|u1"};
static const query_kind kinds[] = {QUERY_TIME, QUERY_TRIANGLE, QUERY_PATCH, QUERY_NUMBER, QUERY_BITS};
enum { TYPES = sizeof types / sizeof types[0], NAME_MOST = 255 };

typedef struct rows_out {
    uint64_t rows;
    query_field field[ROWS_COLUMNS_MAX];
    rows_field numbers[ROWS_COLUMNS_MAX];
    rows_query query;
} rows_out;

static int find_columns(rows_out *r, const char *path, int count, char **arguments)
{
    if (count > ROWS_COLUMNS_MAX)
        return cli_refuse(EXIT_USAGE, "%s: cannot have %d columns: %d at most", path, count, ROWS_COLUMNS_MAX);
    r->query = (rows_query){.fields = r->field, .field_count = count};
    for (int i = 0; i < count; i++) {
        char *equals = strrchr(arguments[i], '=');
        const int type = equals ? files_type(equals + 1, types, TYPES) : -1;
        if (type < 0)
            return cli_refuse(EXIT_USAGE, "expected a column as NAME=TYPE, got '%s'", arguments[i]);
        *equals = '\0';
        if (*arguments[i] == '\0' || strlen(arguments[i]) > NAME_MOST)
            return cli_refuse(EXIT_USAGE, "%s: a column's name has 1 to %d bytes, '%.20s' has %zu", path, NAME_MOST,
                              arguments[i], strlen(arguments[i]));
        if (rows_format_of(path) == &rows_csv && strpbrk(arguments[i], ",\"\r\n"))
            return cli_refuse(EXIT_USAGE, "%s: column '%s': a comma, quote or line end cannot be in a name of a CSV",
                              path, arguments[i]);
        r->field[i] = (query_field){.name = arguments[i], .kind = kinds[type]};
        r->query.order[i] = i;
    }
    return EXIT_DONE;
}

static int copy_rows(rows_out *r, rows_writer *writer)
{
    int status = EXIT_DONE;
    for (uint64_t done = 0, n; done < r->rows && status == EXIT_DONE && !writer->out->error; done += n) {
        n = r->rows - done < FILES_CHUNK ? r->rows - done : FILES_CHUNK;
        for (int i = 0; i < r->query.field_count && status == EXIT_DONE; i++)
            status = files_receive(r->numbers[i].memory, (size_t)n * query_field_size(&r->field[i]));
        if (status == EXIT_DONE)
            rows_write(writer, r->numbers, n);
    }
    return status;
}

static int write_rows(rows_out *r, const char *path)
{
    output out;
    rows_writer writer;
    int status = files_open(&out, path);
    if (status != EXIT_DONE)
        return status;
    status = rows_writer_open(&writer, rows_format_of(path), &out, &r->query, parallel_threads(0), r->rows);
    if (status == EXIT_DONE) {
        rows_write_header(&writer);
        status = copy_rows(r, &writer);
    }
    if (status == EXIT_DONE && !out.error)
        status = rows_writer_finish(&writer);
    rows_writer_close(&writer);
    return output_close(&out, status);
}

int files_write_rows(int count, char **arguments)
{
    const char *const path = arguments[0];
    rows_out r = {.rows = strtoull(arguments[1], NULL, 10)};
    int status = find_columns(&r, path, count - 2, arguments + 2);
    for (int i = 0; i < r.query.field_count && status == EXIT_DONE; i++) {
        r.numbers[i].memory = cli_alloc(FILES_CHUNK, query_field_size(&r.field[i]));
        status = r.numbers[i].memory ? EXIT_DONE : cli_no_memory();
    }
    if (status == EXIT_DONE)
        status = write_rows(&r, path);
    for (int i = 0; i < ROWS_COLUMNS_MAX; i++)
        free(r.numbers[i].memory);
    return status;
}
