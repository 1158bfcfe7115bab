/* SPDX-License-Identifier: MIT */
/* Rows in, answers out; see rows.h. */
#include "rows.h"
#include "cli/probe/probe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

rows_query rows_query_of(const query_type *row, int counts)
{
    static const query_field count_field = {"count", QUERY_COUNT, 0};
    rows_query query = {.row = row,
                        .counts = counts,
                        .fields = counts ? &count_field : row->fields,
                        .field_count = counts ? 1 : query_field_count(row)};
    for (int f = 0; f < query.field_count; f++)
        query.order[f] = counts ? 0 : query_field_in_output(row, f);
    return query;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static void write_header(output *out, const rows_query *query)
{
    for (int i = 0; i < query->field_count; i++) {
        output_text(out, i > 0 ? "," : "");
        output_text(out, query->fields[query->order[i]].name);
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
        const int f = query->order[k];
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

/* The columns of a row; those of an optional input come all or none. */
static void columns_of(const query_type *q, csv_column *columns)
{
    for (int c = 0; c < query_column_count(q); c++) {
        int component;
        const query_input *input = query_input_of(q, c, &component);
        columns[c] = (csv_column){.name = input->columns[component],
                                  .kind = input->role == QUERY_WINDOW ? CSV_TIME
                                          : input->role == QUERY_MASK ? CSV_MASK
                                                                      : CSV_FLOAT,
                                  .group = input->optional ? 1 + (int)(input - q->inputs) : 0};
    }
}

int rows_read(const query_type *row, const cli_options *options, const char *path, csv_column *columns, uint64_t *count)
{
    const size_t column_count = (size_t)query_column_count(row);
    columns_of(row, columns);
    if (options->rehearsal)
        return rehearsal_rows(options, columns, column_count, count);
    return csv_read(path, columns, column_count, count);
}

/* An invalid row has no records; only a count would read like an answer. */
static int row_is_valid(const query_type *q, const csv_column *columns, uint64_t i)
{
    int valid = 1;
    for (int c = 0, component; c < query_required_count(q); c++) {
        const float value = columns[c].data[i];
        valid &= isfinite(value) && (query_input_of(q, c, &component)->role != QUERY_RADIUS || value >= 0.0f);
    }
    return valid;
}

static carom_status ask_counts(const query_type *q, carom_mesh *mesh, query_call *call, uint64_t *counts,
                               carom_stats *stats, carom_error *err)
{
    void *none[QUERY_FIELDS_MAX] = {0};
    carom_list_totals totals = {0};
    carom_hit_list list = {.size = sizeof list, .totals = &totals, .offsets = counts};
    call->out = none;
    call->list = &list;
    const carom_status status = q->mesh.ask(mesh, call, stats, err);
    for (uint64_t i = 0; i < call->count && status == CAROM_OK; i++) /* offsets become counts in place */
        counts[i] = counts[i + 1] - counts[i];
    return status;
}

carom_status rows_ask(const rows_query *query, void *subject, const cli_options *options, const csv_column *columns,
                      uint64_t from, uint64_t count, const rows_field *fields, carom_hit_list *list, carom_stats *stats,
                      carom_error *err)
{
    const query_type *q = query->row;
    float *column[QUERY_COLUMNS_MAX];
    void *out[QUERY_FIELDS_MAX];
    for (int c = 0; c < query_column_count(q); c++)
        column[c] = columns[c].present ? columns[c].data : NULL;
    for (int f = 0; f < query->field_count; f++)
        out[f] = fields[f].memory;
    query_inputs in = query_inputs_of(q, column, from);
    query_call call = {count, options->accuracy, &in, out, list};
    if (!q->mesh.ask)
        return q->ask(subject, &call, stats, err);
    in.cull_back = (options->given & OPTION_CULL_BACK) != 0;
    in.start = options->start;
    if (!in.scalars[1].data)
        in.scalars[1] = (carom_scalars){&options->t_max, CAROM_REPEAT, NULL};
    if (!query->counts)
        return q->mesh.ask(subject, &call, stats, err);
    const carom_status status = ask_counts(q, subject, &call, fields[0].longs, stats, err);
    for (uint64_t i = 0; i < count && status == CAROM_OK; i++)
        if (!row_is_valid(q, columns, from + i))
            fields[0].longs[i] = QUERY_NO_COUNT;
    return status;
}

static int ask_chunk(const rows_query *query, void *subject, const cli_options *options, const csv_column *columns,
                     uint64_t from, uint64_t count, const rows_field *fields)
{
    carom_stats stats = {.size = sizeof stats};
    carom_error err = {0};
    carom_status status = rows_ask(query, subject, options, columns, from, count, fields, NULL, &stats, &err);
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
    status = query->row->mesh.is_list && !query->counts ? rows_list(query, subject, options, columns, count, &out)
                                                        : run_chunks(query, subject, options, columns, count, &out);
    return output_close(&out, status);
}

int rows_pairs(const query_type *q, const cli_options *options)
{
    csv_column columns[QUERY_COLUMNS_MAX];
    const size_t column_count = (size_t)query_column_count(q);
    const rows_query query = rows_query_of(q, 0);
    uint64_t count;
    int status = rows_read(q, options, options->pairs, columns, &count);
    if (status != EXIT_DONE)
        return status;
    carom_context *context = NULL;
    cli_options usable = *options;
    status = probe_before_rows(&usable, columns, column_count, count);
    if (status == EXIT_DONE)
        status = cli_context_open(&usable, &context);
    if (status == EXIT_DONE)
        status = rows_run(&query, context, &usable, columns, count);
    carom_context_destroy(context);
    csv_free(columns, column_count);
    return status;
}

int command_pairs(const cli_options *options)
{
    const query_type *q = query_named(options->command->name);
    if (!options->pairs)
        return cli_refuse(EXIT_USAGE, "%s: --pairs FILE is missing", q->name);
    return rows_pairs(q, options);
}
