/* SPDX-License-Identifier: MIT */
#include "files.h"
#include "cli/base/base.h"
#include "cli/base/json.h"
#include "cli/base/parallel.h"
#include "cli/table/csv.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *const types[] = {"<f4", "<u4", "<i8"};
static const table_kind kinds[] = {TABLE_FLOAT, TABLE_MASK, TABLE_WHOLE};
enum { TYPES = sizeof types / sizeof types[0] };

/* Columns as NAME=TYPE; a name may have an equals sign in it. */
static int find_columns(int count, char **arguments, table_column *columns)
{
    for (int i = 0; i < count; i++) {
        char *equals = strrchr(arguments[i], '=');
        const int type = equals ? files_type(equals + 1, types, TYPES) : -1;
        if (type < 0)
            return cli_refuse(EXIT_USAGE, "expected a column as NAME=TYPE, got '%s'", arguments[i]);
        *equals = '\0';
        columns[i] = (table_column){.name = arguments[i], .kind = kinds[type]};
    }
    return EXIT_DONE;
}

static void describe(output *out, const table_reader *reader, const table_column *columns, size_t count)
{
    const uint64_t rows = table_rows(reader);
    json_writer j;
    json_begin(&j, out);
    json_array(&j, "columns");
    for (size_t i = 0; i < count; i++) {
        json_object(&j, NULL);
        json_text(&j, "name", columns[i].name);
        json_text(&j, "type", types[columns[i].kind == TABLE_MASK ? 1 : columns[i].kind == TABLE_WHOLE ? 2 : 0]);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    if (rows == TABLE_UNKNOWN)
        json_null(&j, "rows");
    else
        json_count(&j, "rows", rows);
    json_end(&j);
    output_char(out, '\0');
}

static int hand_over(table_reader *reader, const table_column *columns, size_t count)
{
    output out;
    uint64_t rows = 1;
    double share;
    int status = output_open(&out, NULL);
    if (status != EXIT_DONE)
        return status;
    describe(&out, reader, columns, count);
    while (status == EXIT_DONE && rows > 0 && !out.error) {
        status = table_next(reader, FILES_CHUNK, &rows);
        if (status != EXIT_DONE)
            break;
        share = table_share(reader);
        share = share >= 0.0 ? share : 0.0; /* of a pipe not known */
        output_bytes(&out, (const char *)&rows, sizeof rows);
        output_bytes(&out, (const char *)&share, sizeof share);
        for (size_t i = 0; i < count; i++)
            output_bytes(&out, (const char *)columns[i].data,
                         (size_t)rows * (columns[i].kind == TABLE_WHOLE ? sizeof(uint64_t) : sizeof(float)));
    }
    return output_close(&out, status);
}

static int read_columns(const char *path, table_column *columns, size_t count)
{
    const table_limits limits = {.rows = FILES_CHUNK, .threads = parallel_threads(0), .part = CSV_PART};
    table_reader reader;
    int status = table_open(&reader, path, columns, count, &limits);
    if (status != EXIT_DONE)
        return status;
    status = hand_over(&reader, columns, count);
    table_close(&reader);
    table_free(columns, count);
    return status;
}

/* All columns that the header names. */
static int read_all(const char *path)
{
    char **names;
    size_t count;
    struct stat info;
    /* The file is opened twice: for the names, then for the numbers. */
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))
        return cli_refuse(EXIT_USAGE, "%s: is no regular file, which can be read only if the columns are named", path);
    int status = csv_names(path, &names, &count);
    if (status != EXIT_DONE)
        return status;
    table_column *columns = cli_alloc(count, sizeof *columns);
    for (size_t i = 0; columns && i < count; i++)
        columns[i] = (table_column){.name = names[i], .kind = TABLE_FLOAT};
    status = columns ? read_columns(path, columns, count) : cli_no_memory();
    free(columns);
    csv_free_names(names, count);
    return status;
}

int files_read_rows(int count, char **arguments)
{
    if (count == 1)
        return read_all(arguments[0]);
    table_column *columns = cli_alloc((uint64_t)count, sizeof *columns);
    int status = columns ? find_columns(count - 1, arguments + 1, columns) : cli_no_memory();
    if (status == EXIT_DONE)
        status = read_columns(arguments[0], columns, (size_t)count - 1);
    free(columns);
    return status;
}
