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
enum { ROWS_CHUNK = 1 << 21 };

/* Arrays of answers, a chunk long. */
typedef union rows_field {
    void *memory;
    float *floats;
    uint8_t *bytes;
    int32_t *integers;
    uint64_t *longs;
} rows_field;

typedef struct rows_query {
    const query_type *row;
    int counts;                /* of a list: the number of records of each query is asked for, in place of them */
    const query_field *fields; /* [field_count] an array of answers each, and a column of the output */
    int field_count, order[QUERY_FIELDS_MAX]; /* of the fields in the output */
} rows_query;

rows_query rows_query_of(const query_type *row, int counts);

/* Ask `subject`, the context or the mesh of the query, for rows from .. from + count. `list` is that of query_call. Of
 * counts there is room for one row more, because the library answers with count + 1 offsets. */
carom_status rows_ask(const rows_query *query, void *subject, const cli_options *options, const csv_column *columns,
                      uint64_t from, uint64_t count, const rows_field *fields, carom_hit_list *list, carom_stats *stats,
                      carom_error *err);
/* Write row i of the chunk, or record i of the list, with its newline. What is not there is an empty field. */
void rows_write(output *out, const rows_query *query, const rows_field *fields, uint64_t i);

/* An array of so many rows for every field; 0, and none, where there is no memory. */
int rows_fields_alloc(const rows_query *query, uint64_t rows, rows_field *fields);
void rows_fields_free(rows_field *fields);

/* Each of these returns an exit status with its message printed. */

/* Read a file of such rows into `columns` [QUERY_COLUMNS_MAX], which csv_free frees; a rehearsal makes them up. */
int rows_read(const query_type *row, const cli_options *options, const char *path, csv_column *columns,
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
