/* SPDX-License-Identifier: MIT */
/* Rows of a CSV through the library and out again, a chunk at a time: what every query command does, but for the query
 * itself. */
#ifndef CAROM_CLI_ROWS_H
#define CAROM_CLI_ROWS_H

#include "cli.h"
#include "csv.h"
#include "output.h"
#include "queries/query.h"

/* Rows per library call, and records of a list: enough to fill any device, few enough that results need no memory worth
 * mentioning. */
enum { ROWS_CHUNK = 1 << 21, ROWS_COLUMNS_MAX = 32 };

/* Arrays of answers, a chunk long. */
typedef union rows_field {
    void *memory;
    float *floats;
    uint8_t *bytes;
    int32_t *integers;
    uint64_t *longs;
} rows_field;

typedef struct rows_query {
    const csv_column *columns; /* [column_count] as they stand before reading */
    size_t column_count;
    const query_field *fields; /* [field_count] an array of answers each, and a column of the output */
    int field_count;
    const int *order;        /* of the fields in the output; NULL: as they stand */
    const query_type *pairs; /* the row that says how a context is asked; NULL: as follows */
    /* Without it: ask the mesh `subject` for rows from .. from + count. There is room for one row more, because some
     * calls of the library answer with count + 1 numbers. */
    carom_status (*ask)(void *subject, const cli_options *options, const csv_column *columns, uint64_t from,
                        uint64_t count, const rows_field *fields, carom_stats *stats, carom_error *err);
    /* In place of it, of a query whose answer is a list: name the arrays in `list`, which has its size, capacity and
     * offsets, and ask. */
    carom_status (*list)(void *subject, const cli_options *options, const csv_column *columns, uint64_t from,
                         uint64_t count, const rows_field *fields, carom_mesh_hit_list *list, carom_stats *stats,
                         carom_error *err);
} rows_query;

/* Three columns side by side as points. */
carom_points rows_points(const csv_column *x, uint64_t from);
/* Three arrays of answers side by side as points to be filled. */
carom_points_out rows_points_out(const rows_field *xyz);
/* Write row i of the chunk, or record i of the list, with its newline. What is not there is an empty field. */
void rows_write(output *out, const rows_query *query, const rows_field *fields, uint64_t i);

/* An array of so many rows for every field; 0, and none, where there is no memory. */
int rows_fields_alloc(const rows_query *query, uint64_t rows, rows_field *fields);
void rows_fields_free(rows_field *fields);

/* Each of these returns an exit status with its message printed. */

/* Read a file of such rows into `columns` [query->column_count], which csv_free frees; a rehearsal makes them up. */
int rows_read(const rows_query *query, const cli_options *options, const char *path, csv_column *columns,
              uint64_t *count);
/* Ask and write all rows. */
int rows_run(const rows_query *query, void *subject, const cli_options *options, const csv_column *columns,
             uint64_t count);
/* The part of rows_run that is for lists: records of rows 0 .. count to `out`, which is open. */
int rows_list(const rows_query *query, void *subject, const cli_options *options, const csv_column *columns,
              uint64_t count, output *out);
/* The whole of a --pairs command, from its row in the registry. */
int rows_pairs(const query_type *q, const cli_options *options);

#endif
