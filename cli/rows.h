/* SPDX-License-Identifier: MIT */
/* Rows of a CSV through the library and out again, a chunk at a time: what every query command does, but for the query
 * itself. */
#ifndef CAROM_CLI_ROWS_H
#define CAROM_CLI_ROWS_H

#include "cli.h"
#include "csv.h"
#include "output.h"

enum { ROWS_COLUMNS_MAX = 32, ROWS_FIELDS_MAX = 8 };

/* Arrays of answers, a chunk long. */
typedef union rows_field {
    void *memory;
    float *floats;
    uint8_t *bytes;
    int32_t *integers;
} rows_field;

typedef struct rows_query {
    const csv_column *columns; /* [column_count] as they stand before reading */
    size_t column_count;
    const char *header;            /* of the output, with its newline */
    size_t bytes[ROWS_FIELDS_MAX]; /* per row, of each array of answers; 0: no more */
    /* Ask for rows from .. from + count. `subject` is what the query asks: a context or a mesh. */
    carom_status (*ask)(void *subject, const cli_options *options, const csv_column *columns, uint64_t from,
                        uint64_t count, const rows_field *fields, carom_stats *stats, carom_error *err);
    /* Write row i of the chunk, with its newline. */
    void (*write)(output *out, const rows_field *fields, uint64_t i);
} rows_query;

/* Three columns side by side as points. */
carom_points rows_points(const csv_column *x, uint64_t from);
/* An array of x y z, x y z, ... to be filled. */
carom_points_out rows_points_out(float *xyz);
/* ",x,y,z" */
void rows_write_vector(output *out, const float *v);

/* Each of these returns an exit status with its message printed. */

/* Read a file of such rows into `columns` [query->column_count], which csv_free frees. */
int rows_read(const rows_query *query, const char *path, csv_column *columns, uint64_t *count);
/* Ask and write all rows. */
int rows_run(const rows_query *query, void *subject, const cli_options *options, const csv_column *columns,
             uint64_t count);
/* The whole of a --pairs command. */
int rows_pairs(const rows_query *query, const cli_options *options);

#endif
