/* SPDX-License-Identifier: MIT */
#include "table.h"
#include "cli/base/base.h"

#include <stdio.h>
#include <string.h>

static const table_source *source_of(const char *path)
{
    if (cli_is_hdf5(path))
        return &table_hdf5;
    return cli_has_suffix(path, "npy") ? &table_npy : &table_csv;
}

int table_open(table_reader *out, const char *path, table_column *columns, size_t count, const table_limits *limits)
{
    const table_source *source = source_of(path);
    *out = (table_reader){0};
    for (size_t i = 0; i < count; i++) {
        columns[i].present = 0;
        columns[i].data = NULL;
    }
    const int status = source->open(&out->file, path, columns, count, limits);
    if (status == EXIT_DONE)
        out->source = source;
    return status;
}

int table_next(table_reader *r, uint64_t most, uint64_t *rows)
{
    return r->source->next(r->file, most, rows);
}

double table_share(const table_reader *r)
{
    return r->source->share(r->file);
}

uint64_t table_rows(const table_reader *r)
{
    return r->source && r->source->rows ? r->source->rows(r->file) : TABLE_UNKNOWN;
}

void table_close(table_reader *r)
{
    if (r->source)
        r->source->close(r->file);
    *r = (table_reader){0};
}

void table_place(const table_reader *r, const char *shown, uint64_t row, char *text, size_t size)
{
    if (r->source->rows_are_lines)
        snprintf(text, size, "%s:%llu", shown, (unsigned long long)row + 2);
    else
        snprintf(text, size, "%s: row %llu", shown, (unsigned long long)row);
}
