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

carom_points_out rows_points_out(const rows_field *xyz)
{
    return (carom_points_out){xyz[0].floats, xyz[1].floats, xyz[2].floats, sizeof(float)};
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static int field_in_output(const rows_query *query, int i)
{
    return query->order ? query->order[i] : i;
}

static void write_header(output *out, const rows_query *query)
{
    for (int i = 0; i < query->field_count; i++) {
        output_text(out, i > 0 ? "," : "");
        output_text(out, query->fields[field_in_output(query, i)].name);
    }
    output_char(out, '\n');
}

static void write_field(output *out, const query_field *field, const rows_field *fields, const rows_field *from,
                        uint64_t i)
{
    switch (field->kind) {
    case QUERY_STATE: output_text(out, carom_state_name((carom_state)from->bytes[i])); break;
    case QUERY_FEATURE:
        if (from->bytes[i] != CAROM_FEATURE_NONE)
            output_text(out, carom_feature_name((carom_feature)from->bytes[i]));
        break;
    case QUERY_BITS:
        if (from->bytes[i] != CAROM_OVERLAP_INVALID)
            output_int(out, from->bytes[i]);
        break;
    case QUERY_TIME: output_float(out, from->floats[i]); break;
    case QUERY_COORDINATE:
        if (fields[field->feature].bytes[i] != CAROM_FEATURE_NONE)
            output_float(out, from->floats[i]);
        break;
    case QUERY_TRIANGLE: output_int(out, from->integers[i]); break;
    case QUERY_COUNT:
        if (from->longs[i] != QUERY_NO_COUNT)
            output_int(out, (int64_t)from->longs[i]);
        break;
    }
}

void rows_write(output *out, const rows_query *query, const rows_field *fields, uint64_t i)
{
    for (int k = 0; k < query->field_count; k++) {
        const int f = field_in_output(query, k);
        if (k > 0)
            output_char(out, ',');
        write_field(out, &query->fields[f], fields, &fields[f], i);
    }
    output_char(out, '\n');
}

int rows_fields_alloc(const rows_query *query, uint64_t rows, rows_field *fields)
{
    int complete = 1;
    memset(fields, 0, QUERY_FIELDS_MAX * sizeof *fields);
    for (int f = 0; f < query->field_count; f++) {
        fields[f].memory = cli_alloc(rows, query_field_size(&query->fields[f]));
        complete &= fields[f].memory != NULL;
    }
    if (!complete)
        rows_fields_free(fields);
    return complete;
}

void rows_fields_free(rows_field *fields)
{
    for (int f = 0; f < QUERY_FIELDS_MAX; f++) {
        free(fields[f].memory);
        fields[f].memory = NULL;
    }
}

/* ---- reading and asking ------------------------------------------------------------------------------------------ */

int rows_read(const rows_query *query, const cli_options *options, const char *path, csv_column *columns,
              uint64_t *count)
{
    memcpy(columns, query->columns, query->column_count * sizeof *columns);
    if (options->rehearsal)
        return rehearsal_rows(options, columns, query->column_count, count);
    return csv_read(path, columns, query->column_count, count);
}

static carom_status ask_pairs(const query_type *q, carom_context *context, const cli_options *options,
                              const csv_column *columns, uint64_t from, uint64_t count, const rows_field *fields,
                              carom_stats *stats, carom_error *err)
{
    float *column[QUERY_COLUMNS_MAX];
    void *out[QUERY_FIELDS_MAX];
    for (int c = 0; c < query_column_count(q); c++)
        column[c] = columns[c].present ? columns[c].data : NULL;
    for (int f = 0; f < query_field_count(q); f++)
        out[f] = fields[f].memory;
    const query_inputs in = query_inputs_of(q, column, from);
    const query_call call = {count, options->accuracy, &in, out};
    return q->ask(context, &call, stats, err);
}

static int ask_chunk(const rows_query *query, void *subject, const cli_options *options, const csv_column *columns,
                     uint64_t from, uint64_t count, const rows_field *fields)
{
    carom_stats stats = {.size = sizeof stats};
    carom_error err = {0};
    carom_status status = query->pairs
                              ? ask_pairs(query->pairs, subject, options, columns, from, count, fields, &stats, &err)
                              : query->ask(subject, options, columns, from, count, fields, &stats, &err);
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
    rows_field fields[QUERY_FIELDS_MAX];
    int status = EXIT_DONE;
    if (!rows_fields_alloc(query, (count < ROWS_CHUNK ? count : ROWS_CHUNK) + 1, fields))
        return cli_no_memory();
    for (uint64_t from = 0; from < count && status == EXIT_DONE && !out->error; from += ROWS_CHUNK) {
        uint64_t n = count - from < ROWS_CHUNK ? count - from : ROWS_CHUNK;
        status = ask_chunk(query, subject, options, columns, from, n, fields);
        for (uint64_t i = 0; i < n && status == EXIT_DONE && !out->error; i++)
            rows_write(out, query, fields, i);
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
    write_header(&out, query);
    status = query->list ? rows_list(query, subject, options, columns, count, &out)
                         : run_chunks(query, subject, options, columns, count, &out);
    return output_close(&out, status);
}

/* The columns of a row; those of an optional input come all or none. */
static void columns_of(const query_type *q, csv_column *columns)
{
    for (int c = 0; c < query_column_count(q); c++) {
        int component;
        const query_input *input = query_input_of(q, c, &component);
        columns[c] = (csv_column){.name = input->columns[component],
                                  .group = input->optional ? 1 + (int)(input - q->inputs) : 0};
    }
}

int rows_pairs(const query_type *q, const cli_options *options)
{
    csv_column unread[QUERY_COLUMNS_MAX], columns[QUERY_COLUMNS_MAX];
    int order[QUERY_FIELDS_MAX];
    const rows_query query = {.columns = unread,
                              .column_count = (size_t)query_column_count(q),
                              .fields = q->fields,
                              .field_count = query_field_count(q),
                              .order = order,
                              .pairs = q};
    uint64_t count;
    columns_of(q, unread);
    for (int f = 0; f < query_field_count(q); f++)
        order[f] = query_field_in_output(q, f);
    int status = rows_read(&query, options, options->pairs, columns, &count);
    if (status != EXIT_DONE)
        return status;
    carom_context *context = NULL;
    cli_options usable = *options;
    status = probe_before_rows(&usable, columns, query.column_count, count);
    if (status == EXIT_DONE)
        status = cli_context_open(&usable, &context);
    if (status == EXIT_DONE)
        status = rows_run(&query, context, &usable, columns, count);
    carom_context_destroy(context);
    csv_free(columns, query.column_count);
    return status;
}

int command_pairs(const cli_options *options)
{
    const query_type *q = query_named(options->command->name);
    if (!options->pairs)
        return cli_refuse(EXIT_USAGE, "%s: --pairs FILE is missing", q->name);
    return rows_pairs(q, options);
}
