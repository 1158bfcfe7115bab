/* SPDX-License-Identifier: MIT */
/* Rows in, answers out; see rows.h. */
#include "rows.h"
#include "mesh_columns.h"
#include "cli/table/csv.h"
#include "cli/probe/probe.h"

#include <math.h>
#include <stdio.h>
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

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* The columns of a row; those of an optional input come all or none. */
static void columns_of(const query_type *q, table_column *columns)
{
    for (int c = 0; c < query_column_count(q); c++) {
        int component;
        const query_input *input = query_input_of(q, c, &component);
        columns[c] = (table_column){.name = input->columns[component],
                                    .kind = input->role == QUERY_WINDOW || input->role == QUERY_REACH ? TABLE_TIME
                                            : input->role == QUERY_MASK                               ? TABLE_MASK
                                                                                                      : TABLE_FLOAT,
                                    .group = input->optional ? 1 + (int)(input - q->inputs) : 0};
    }
}

static int open_chunks(rows_input *input, const query_type *row, const cli_options *options, const char *path,
                       uint64_t chunk)
{
    const table_limits limits = {.rows = chunk, .threads = parallel_threads(options->threads), .part = CSV_PART};
    *input = (rows_input){.path = path, .chunk = chunk, .column_count = (size_t)query_column_count(row)};
    columns_of(row, input->columns);
    const int status = table_open(&input->file, path, input->columns, input->column_count, &limits);
    const uint64_t rows = table_rows(&input->file);
    progress_begin(&input->progress, options->command->name, "rows", 0, rows != TABLE_UNKNOWN ? rows : 0);
    return status;
}

int rows_open(rows_input *input, const query_type *row, const cli_options *options, const char *path)
{
    return open_chunks(input, row, options, path, CLI_CHUNK);
}

static uint64_t bundle_of(const rows_query *query)
{
    return query->bundle > 1 ? query->bundle : 1;
}

int rows_open_bundles(rows_input *input, const rows_query *query, const cli_options *options, const char *path)
{
    const uint64_t each = bundle_of(query);
    return open_chunks(input, query->row, options, path, each < CLI_CHUNK ? CLI_CHUNK / each * each : each);
}

int rows_next(rows_input *input, uint64_t most)
{
    rows_show(input, input->count);
    input->from += input->count;
    input->begin = input->end;
    input->count = 0;
    const int status = table_next(&input->file, most, &input->count);
    input->end = table_share(&input->file);
    return status;
}

void rows_show(rows_input *input, uint64_t done)
{
    const double part = input->count > 0 ? (double)done / (double)input->count : 0.0;
    const double share = input->begin + (input->end - input->begin) * part;
    if (isnan(share) || table_rows(&input->file) != TABLE_UNKNOWN)
        progress_show(&input->progress, input->from + done);
    else
        progress_show_share(&input->progress, input->from + done, share);
}

void rows_close(rows_input *input)
{
    progress_end(&input->progress);
    table_close(&input->file);
    table_free(input->columns, input->column_count);
}

/* ---- asking ------------------------------------------------------------------------------------------------------ */

/* An invalid row has no records; only a count would read like an answer. */
static int row_is_valid(const query_type *q, const table_column *columns, uint64_t i)
{
    int valid = 1;
    for (int c = 0, component; c < query_required_count(q); c++) {
        const float value = columns[c].data[i];
        valid &= isfinite(value) && (query_input_of(q, c, &component)->role != QUERY_RADIUS || value >= 0.0f);
    }
    return valid;
}

static int show_done(void *input, uint64_t done, uint64_t count)
{
    (void)count;
    rows_show(input, done);
    return 0;
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

carom_status rows_ask(const rows_query *query, void *subject, const cli_options *options, rows_input *input,
                      uint64_t from, uint64_t count, const rows_field *fields, carom_hit_list *list, carom_stats *stats,
                      carom_error *err)
{
    const query_type *q = query->row;
    const table_column *columns = input->columns;
    float *column[QUERY_COLUMNS_MAX];
    void *out[QUERY_FIELDS_MAX];
    for (int c = 0; c < query_column_count(q); c++)
        column[c] = columns[c].present ? columns[c].data : NULL;
    for (int f = 0; f < query->field_count; f++)
        out[f] = fields[f].memory;
    query_inputs in = query_inputs_of(q, column, from);
    query_call call = {.count = count,
                       .accuracy = options->accuracy,
                       .in = &in,
                       .out = out,
                       .instance = query->instance > 0 ? out[query->instance] : NULL,
                       .query = query->query > 0 ? out[query->query] : NULL,
                       .list = list};
    in.prepare = query->prepare;
    if (!list) /* of a list, records that did not fit are asked for again */
        in.progress = (carom_progress){show_done, input};
    if (!q->mesh.ask)
        return q->ask(subject, &call, stats, err);
    in.cull_back = query->cull_back;
    in.start = query->start;
    in.margin = query->margin;
    in.merge_within = query->merge_within;
    in.ball = query->ball;
    in.flat = query->flat;
    in.sign = query->sign;
    in.allow_open = query->allow_open;
    in.bundle = query->bundle;
    if (!in.scalars[1].data)
        in.scalars[1] = (carom_scalars){query->limit, CAROM_REPEAT};
    if (!query->counts)
        return q->mesh.ask(subject, &call, stats, err);
    const carom_status status = ask_counts(q, subject, &call, fields[0].longs, stats, err);
    for (uint64_t i = 0; i < count && status == CAROM_OK; i++)
        if (!row_is_valid(q, columns, from + i))
            fields[0].longs[i] = QUERY_NO_COUNT;
    return status;
}

int rows_library_error(const rows_input *input, carom_status status, const carom_error *err)
{
    char about[64];
    snprintf(about, sizeof about, "rows %llu to %llu", (unsigned long long)input->from,
             (unsigned long long)(input->from + input->count - 1));
    return cli_library_error(input->from > 0 ? about : NULL, status, err);
}

/* A chunk that is not the last is whole bundles. */
static int check_bundles(const rows_query *query, const rows_input *input)
{
    if (input->count % bundle_of(query) == 0)
        return EXIT_DONE;
    return cli_refuse(EXIT_USAGE, "%s: %llu rows; with --bundle %u their number must be a multiple of that",
                      input->path, (unsigned long long)(input->from + input->count), query->bundle);
}

void rows_emit(const rows_query *query, rows_writer *writer, const rows_field *fields, uint64_t count)
{
    rows_write(writer, fields, count);
    if (query->mesh_columns)
        mesh_columns_add(query->mesh_columns, fields, count);
}

static int run_chunk(const rows_query *query, void *subject, const cli_options *options, rows_input *input,
                     const rows_field *fields, rows_writer *writer)
{
    carom_stats stats = {.size = sizeof stats};
    carom_error err = {0};
    const uint64_t answers = input->count / bundle_of(query);
    if (check_bundles(query, input) != EXIT_DONE)
        return EXIT_USAGE;
    carom_status status = rows_ask(query, subject, options, input, 0, input->count, fields, NULL, &stats, &err);
    if (status != CAROM_OK)
        return rows_library_error(input, status, &err);
    cli_report_fallback(&stats);
    if (input->from == 0)
        cli_report_unused_device(options, &stats);
    for (uint64_t i = 0; query->query > 0 && i < answers; i++) /* counted in the chunk, or -1 */
        fields[query->query].signed_longs[i] += fields[query->query].signed_longs[i] >= 0 ? (int64_t)input->from : 0;
    if (query->point > 0)
        rows_fill_points(query, input, fields, NULL, answers);
    rows_emit(query, writer, fields, answers);
    return EXIT_DONE;
}

/* The first chunk is the largest. */
static int run_chunks(const rows_query *query, void *subject, const cli_options *options, rows_input *input,
                      rows_writer *writer)
{
    const int is_list = query->row->mesh.is_list && !query->counts;
    rows_list list = {.query = query, .subject = subject, .options = options, .writer = writer};
    rows_field fields[QUERY_FIELDS_MAX] = {0};
    int status = EXIT_DONE;
    if (is_list)
        status = rows_list_open(&list, input->count);
    else if (!rows_fields_alloc(query, input->count + 1, fields))
        status = cli_no_memory();
    while (status == EXIT_DONE && input->count > 0 && !writer->out->error) {
        status = is_list ? rows_list_chunk(&list, input) : run_chunk(query, subject, options, input, fields, writer);
        if (status == EXIT_DONE)
            status = rows_next(input, input->chunk);
    }
    rows_list_close(&list);
    rows_fields_free(fields);
    return status;
}

/* Rows of the output; TABLE_UNKNOWN before all are read. */
static uint64_t rows_out(const rows_query *query, const rows_input *input)
{
    const uint64_t rows = table_rows(&input->file);
    if (rows == TABLE_UNKNOWN || (query->row->mesh.is_list && !query->counts))
        return TABLE_UNKNOWN;
    return rows / bundle_of(query);
}

/* Rows, the files of the step before and of the mesh's columns, in this order. */
static int write_files(const rows_query *query, void *subject, const cli_options *options, rows_input *input,
                       output *out)
{
    rows_writer writer;
    int status = rows_writer_open(&writer, rows_format_of(options->output), out, query,
                                  parallel_threads(options->threads), rows_out(query, input));
    if (status == EXIT_DONE) {
        rows_write_header(&writer);
        status = run_chunks(query, subject, options, input, &writer);
    }
    if (status == EXIT_DONE && !out->error)
        status = rows_writer_finish(&writer);
    rows_writer_close(&writer);
    if (status == EXIT_DONE && !out->error && query->finish)
        status = query->finish(query->user);
    if (status == EXIT_DONE && !out->error && query->mesh_columns)
        status = mesh_columns_write(query->mesh_columns);
    return status;
}

int rows_run(const rows_query *query, void *subject, const cli_options *options, rows_input *input)
{
    output out;
    query_field fields[QUERY_FIELDS_MAX];
    const rows_query placed = rows_placed(query, input, options->output, fields);
    int status = check_bundles(query, input); /* of a short file before anything is written */
    if (status == EXIT_DONE && query->mesh_columns)
        status = mesh_columns_open(query->mesh_columns, query);
    if (status == EXIT_DONE)
        status = output_open(&out, options->output);
    if (status == EXIT_DONE)
        status = output_close(&out, write_files(&placed, subject, options, input, &out));
    return query->mesh_columns ? mesh_columns_close(query->mesh_columns, status) : status;
}

int rows_pairs(const query_type *q, const cli_options *options, const char *path)
{
    const rows_query query = rows_query_of(q, 0);
    rows_input input;
    int status = rows_open(&input, q, options, path);
    if (status != EXIT_DONE)
        return status;
    carom_context *context = NULL;
    cli_options usable = *options;
    status = rows_next(&input, CLI_CHUNK);
    if (status == EXIT_DONE)
        status = probe_before_rows(&usable, input.columns, input.column_count, input.count);
    if (status == EXIT_DONE)
        status = cli_context_open(&usable, &context);
    if (status == EXIT_DONE)
        status = rows_run(&query, context, &usable, &input);
    carom_context_destroy(context);
    rows_close(&input);
    return status;
}

/* ---- preparing --------------------------------------------------------------------------------------------------- */

int rows_prepare(const rows_query *query, void *subject, const cli_options *options, uint32_t present)
{
    rows_query prepares = *query;
    rows_input input = {.column_count = (size_t)query_column_count(query->row), .count = 1};
    rows_field fields[QUERY_FIELDS_MAX];
    uint64_t offsets[2];
    carom_list_totals totals = {0};
    carom_hit_list list = {.size = sizeof list, .totals = &totals, .capacity = 1, .offsets = offsets};
    carom_stats stats = {.size = sizeof stats};
    carom_error err = {0};
    prepares.prepare = 1;
    prepares.bundle = 0; /* there is one row */
    columns_of(query->row, input.columns);
    int status = rows_fields_alloc(query, 2, fields) ? EXIT_DONE : cli_no_memory();
    if (status == EXIT_DONE)
        status = probe_columns(input.columns, input.column_count, present);
    if (status == EXIT_DONE) {
        const int is_list = query->row->mesh.is_list && !query->counts;
        const carom_status done =
            rows_ask(&prepares, subject, options, &input, 0, 1, fields, is_list ? &list : NULL, &stats, &err);
        status = done == CAROM_OK ? EXIT_DONE : cli_library_error(NULL, done, &err);
    }
    rows_fields_free(fields);
    table_free(input.columns, input.column_count);
    return status;
}

int rows_prepare_pairs(const query_type *q, const cli_options *options, uint32_t present)
{
    const rows_query query = rows_query_of(q, 0);
    carom_context *context = NULL;
    int status = cli_context_open(options, &context);
    if (status == EXIT_DONE)
        status = rows_prepare(&query, context, options, present);
    carom_context_destroy(context);
    return status;
}
