/* SPDX-License-Identifier: MIT */
/* Rows in, answers out; see rows.h. */
#include "rows.h"
#include "cli/probe/probe.h"

#include <stdlib.h>
#include <string.h>

carom_points rows_points(const csv_column *x, uint64_t from)
{
    return (carom_points){x[0].data + from, x[1].data + from, x[2].data + from, sizeof(float)};
}

carom_points_out rows_points_out(float *xyz)
{
    return (carom_points_out){xyz, xyz + 1, xyz + 2, 3 * sizeof(float)};
}

void rows_write_vector(output *out, const float *v)
{
    for (int axis = 0; axis < 3; axis++) {
        output_char(out, ',');
        output_float(out, v[axis]);
    }
}

void rows_write_bit(output *out, uint8_t bit)
{
    output_text(out, bit == CAROM_OVERLAP_INVALID ? "\n" : bit ? "1\n" : "0\n");
}

int rows_fields_alloc(const rows_query *query, uint64_t rows, rows_field *fields)
{
    int complete = 1;
    for (int f = 0; f < ROWS_FIELDS_MAX; f++) {
        fields[f].memory = query->bytes[f] > 0 ? cli_alloc(rows, query->bytes[f]) : NULL;
        complete &= fields[f].memory || query->bytes[f] == 0;
    }
    if (!complete)
        rows_fields_free(fields);
    return complete;
}

void rows_fields_free(rows_field *fields)
{
    for (int f = 0; f < ROWS_FIELDS_MAX; f++) {
        free(fields[f].memory);
        fields[f].memory = NULL;
    }
}

int rows_read(const rows_query *query, const cli_options *options, const char *path, csv_column *columns,
              uint64_t *count)
{
    memcpy(columns, query->columns, query->column_count * sizeof *columns);
    if (options->rehearsal)
        return rehearsal_rows(options, columns, query->column_count, count);
    return csv_read(path, columns, query->column_count, count);
}

static int ask_chunk(const rows_query *query, void *subject, const cli_options *options, const csv_column *columns,
                     uint64_t from, uint64_t count, const rows_field *fields)
{
    carom_stats stats = {.size = sizeof stats};
    carom_error err = {0};
    carom_status status = query->ask(subject, options, columns, from, count, fields, &stats, &err);
    if (status != CAROM_OK)
        return cli_library_error(NULL, status, &err);
    cli_report_fallback(&stats);
    if (from == 0)
        cli_report_unused_device(options, &stats);
    return EXIT_DONE;
}

static int run_chunks(const rows_query *query, void *subject, const cli_options *options, const csv_column *columns,
                      uint64_t count, output *out)
{
    rows_field fields[ROWS_FIELDS_MAX];
    int status = EXIT_DONE;
    if (!rows_fields_alloc(query, (count < ROWS_CHUNK ? count : ROWS_CHUNK) + 1, fields))
        return cli_no_memory();
    for (uint64_t from = 0; from < count && status == EXIT_DONE && !out->error; from += ROWS_CHUNK) {
        uint64_t n = count - from < ROWS_CHUNK ? count - from : ROWS_CHUNK;
        status = ask_chunk(query, subject, options, columns, from, n, fields);
        for (uint64_t i = 0; i < n && status == EXIT_DONE && !out->error; i++)
            query->write(out, fields, i);
    }
    rows_fields_free(fields);
    return status;
}

int rows_run(const rows_query *query, void *subject, const cli_options *options, const csv_column *columns,
             uint64_t count)
{
    output out;
    int status = output_open(&out, options->output);
    if (status != EXIT_DONE)
        return status;
    output_text(&out, query->header);
    status = query->list ? rows_list(query, subject, options, columns, count, &out)
                         : run_chunks(query, subject, options, columns, count, &out);
    return output_close(&out, status);
}

int rows_pairs(const rows_query *query, const cli_options *options)
{
    csv_column columns[ROWS_COLUMNS_MAX];
    uint64_t count;
    int status = rows_read(query, options, options->pairs, columns, &count);
    if (status != EXIT_DONE)
        return status;
    carom_context *context = NULL;
    cli_options usable = *options;
    status = probe_before_rows(&usable, columns, query->column_count, count);
    if (status == EXIT_DONE)
        status = cli_context_open(&usable, &context);
    if (status == EXIT_DONE)
        status = rows_run(query, context, &usable, columns, count);
    carom_context_destroy(context);
    csv_free(columns, query->column_count);
    return status;
}
