/* SPDX-License-Identifier: MIT */
/* All spheres of a file among themselves, or against those of another file. They are read as a whole, because each may
 * meet every other. Lists go out in pieces, so that memory is bounded by the spheres, however many pairs there are. */
#include "cloud_job.h"
#include "cli/table/csv.h"
#include "cli/base/progress_watch.h"
#include "cli/rows/rows.h"
#include "cli/probe/probe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- answers ----------------------------------------------------------------------------------------------------- */

enum { FIELD_OTHER, FIELD_FIRST_STATE, FIELD_FIRST_T, FIRST_FIELDS };

static const query_field list_fields[CLOUD_LIST_FIELDS] = {
    {"a", QUERY_TRIANGLE, 0}, {"b", QUERY_TRIANGLE, 0}, {"state", QUERY_STATE, 0}, {"t", QUERY_TIME, 0}};
static const query_field shift_fields[] = {
    {"sx", QUERY_TRIANGLE, 0}, {"sy", QUERY_TRIANGLE, 0}, {"sz", QUERY_TRIANGLE, 0}};
#define CLOUD_NUMBERS(member, numbers, x, y, z, what) numbers,
static const int added_numbers[] = {CLOUD_ADDED(CLOUD_NUMBERS)};
#define CLOUD_FIELDS(member, numbers, x, y, z, what) {{x, QUERY_TIME, 0}, {y, QUERY_TIME, 0}, {z, QUERY_TIME, 0}},
static const query_field added_fields[CLOUD_ADDED_COLUMNS][3] = {CLOUD_ADDED(CLOUD_FIELDS)};
static const query_field previous_field = {"previous", QUERY_NUMBER, 0};
static const query_field first_fields[FIRST_FIELDS] = {
    {"other", QUERY_TRIANGLE, 0}, {"state", QUERY_STATE, 0}, {"t", QUERY_TIME, 0}};
static const query_field any_field = {"hit", QUERY_BITS, 0}, count_field = {"count", QUERY_COUNT, 0};

/* Returns the first of these columns of the output. */
static int add_fields(cloud_job *job, const query_field *fields, int count)
{
    const int first = job->query.field_count;
    for (int i = 0; i < count; i++) {
        job->query.order[first + i] = first + i;
        job->fields[first + i] = fields[i];
    }
    job->query.fields = job->fields;
    job->query.field_count += count;
    return first;
}

/* The columns of the output. */
static void choose_fields(cloud_job *job)
{
    const spheres_options *options = job->options;
    if (job->hits == HITS_FIRST)
        add_fields(job, first_fields, FIRST_FIELDS);
    else if (job->hits != HITS_ALL)
        add_fields(job, job->hits == HITS_ANY ? &any_field : &count_field, 1);
    else
        add_fields(job, list_fields, CLOUD_LIST_FIELDS);
    if (options->is_period_given && job->hits == HITS_ALL)
        job->shift = add_fields(job, shift_fields, 3);
    for (int i = 0; i < CLOUD_ADDED_COLUMNS; i++)
        if (options->adds[i])
            job->added[i] = add_fields(job, added_fields[i], added_numbers[i]);
    if (options->previous)
        job->previous = add_fields(job, &previous_field, 1);
    if (rows_needs_points(options->common.output))
        job->query = rows_with_points(&job->query, job->fields);
    if (options->is_period_given)
        job->query.period = options->period;
}

/* ---- the spheres ------------------------------------------------------------------------------------------------- */

enum { SPHERES_MAX = INT32_MAX };

static const table_column columns_of_file[CLOUD_COLUMNS] = {
    {.name = "cx"},
    {.name = "cy"},
    {.name = "cz"},
    {.name = "radius"},
    {.name = "vx", .group = 1},
    {.name = "vy", .group = 1},
    {.name = "vz", .group = 1},
    {.name = "mask", .kind = TABLE_MASK, .group = 2},
    {.name = "group", .kind = TABLE_MASK, .group = 3},
    {.name = "t_max", .kind = TABLE_TIME, .group = 4},
};

static int read_rows(const char *path, table_reader *file, uint64_t *count)
{
    const uint64_t rows = table_rows(file);
    int status = EXIT_DONE;
    *count = rows != TABLE_UNKNOWN ? rows : 0;
    if (*count <= SPHERES_MAX)
        status = table_next(file, (uint64_t)SPHERES_MAX + 1, count);
    if (status == EXIT_DONE && *count > SPHERES_MAX)
        status = cli_refuse(EXIT_USAGE, "%s: a cloud has at most 2147483647 spheres, and here are %s%llu", path,
                            rows != TABLE_UNKNOWN ? "" : "at least ", (unsigned long long)*count);
    return status;
}

static int read_spheres(const spheres_options *options, const char *path, table_column columns[CLOUD_COLUMNS],
                        uint64_t *count)
{
    const table_limits limits = {
        .rows = (uint64_t)SPHERES_MAX + 1, .threads = parallel_threads(options->common.threads), .part = CSV_PART};
    table_reader file;
    memcpy(columns, columns_of_file, sizeof columns_of_file);
    int status = table_open(&file, path, columns, CLOUD_COLUMNS, &limits);
    if (status != EXIT_DONE)
        return status;
    status = read_rows(path, &file, count);
    table_close(&file);
    return status;
}

/* Both files, or the only one. */
static int read_clouds(cloud_job *job)
{
    const spheres_options *options = job->options;
    const int status = read_spheres(options, options->cloud, job->columns, &job->count);
    return status == EXIT_DONE && options->against
               ? read_spheres(options, options->against, job->against_columns, &job->against_count)
               : status;
}

/* The end of the window of the call is one for each of its spheres. */
static void cut_limits(const spheres_options *options, table_column *limits, uint64_t count)
{
    for (uint64_t i = 0; limits->present && i < count; i++)
        limits->data[i] = limits->data[i] < options->t_max ? limits->data[i] : options->t_max;
}

/* Options that the columns of the files decide about. */
static int check_columns(const cloud_job *job)
{
    const spheres_options *options = job->options;
    const table_column *own = job->columns, *other = job->against_columns;
    const char *moving = own[CLOUD_VX].present ? options->cloud : options->against;
    if (!own[CLOUD_VX].present && !other[CLOUD_VX].present)
        return EXIT_DONE;
    if (options->is_margin_given)
        return cli_refuse(EXIT_USAGE, "spheres: --margin is for spheres at rest, and %s has velocities", moving);
    if (!options->is_t_max_given && !own[CLOUD_T_MAX].present && !other[CLOUD_T_MAX].present)
        return cli_refuse(
            EXIT_USAGE, "spheres: %s has velocities, so --t-max T or a column t_max must end the time window", moving);
    return EXIT_DONE;
}

/* A column of 32 bits, if the file has it. */
static carom_uints bits_of(const table_column *column)
{
    return column->present ? carom_uints_of((const uint32_t *)(const void *)column->data) : (carom_uints){0};
}

/* The limits of a file's spheres: its column, or one for all. */
static carom_scalars limits_of(const spheres_options *options, const table_column *column)
{
    if (column->present)
        return carom_scalars_of(column->data);
    return options->is_t_max_given ? (carom_scalars){.data = &options->t_max, .stride = CAROM_REPEAT}
                                   : (carom_scalars){0};
}

static carom_points velocities_of(const table_column *c)
{
    return c[CLOUD_VX].present ? carom_soa(c[CLOUD_VX].data, c[CLOUD_VY].data, c[CLOUD_VZ].data) : (carom_points){0};
}

static void describe_against(cloud_job *job)
{
    const table_column *c = job->against_columns;
    job->against = (carom_cloud_against){.size = sizeof job->against,
                                         .count = job->against_count,
                                         .center = carom_soa(c[CLOUD_X].data, c[CLOUD_Y].data, c[CLOUD_Z].data),
                                         .velocity = velocities_of(c),
                                         .radius = carom_scalars_of(c[CLOUD_RADIUS].data),
                                         .mask = bits_of(&c[CLOUD_MASK]),
                                         .group = bits_of(&c[CLOUD_GROUP]),
                                         .t_max = limits_of(job->options, &c[CLOUD_T_MAX])};
    job->desc.against = &job->against;
}

static void describe(cloud_job *job)
{
    const spheres_options *options = job->options;
    const table_column *c = job->columns;
    carom_cloud_desc *d = &job->desc;
    *d = (carom_cloud_desc){.batch = {.size = sizeof *d, .count = job->count, .accuracy = options->common.accuracy},
                            .center = carom_soa(c[CLOUD_X].data, c[CLOUD_Y].data, c[CLOUD_Z].data),
                            .velocity = velocities_of(c),
                            .radius = carom_scalars_of(c[CLOUD_RADIUS].data),
                            .mask = bits_of(&c[CLOUD_MASK]),
                            .group = bits_of(&c[CLOUD_GROUP]),
                            .t_max = limits_of(options, &c[CLOUD_T_MAX]),
                            .margin = options->margin,
                            .start = options->start};
    memcpy(d->period, options->period, sizeof d->period);
}

/* ---- asking ------------------------------------------------------------------------------------------------------ */

static int open_context(cloud_job *job)
{
    cli_options usable = job->options->common;
    const int status = probe_before_rows(&usable, job->columns, CLOUD_COLUMNS, job->count);
    return status == EXIT_DONE ? cli_context_open(&usable, &job->context) : status;
}

void cloud_report(const cloud_job *job, const carom_stats *stats)
{
    cli_report_fallback(stats);
    cli_report_unused_device(&job->options->common, stats);
}

/* Answers for each sphere. */
static carom_status ask_each(cloud_job *job, rows_field *fields, carom_stats *stats, carom_error *err)
{
    if (job->hits == HITS_FIRST) {
        const carom_cloud_partner_result out = {.size = sizeof out,
                                                .other = fields[FIELD_OTHER].integers,
                                                .state = fields[FIELD_FIRST_STATE].bytes,
                                                .t = fields[FIELD_FIRST_T].floats};
        return carom_cloud_first(job->context, &job->desc, &out, stats, err);
    }
    if (job->hits == HITS_ANY) {
        const carom_any_result out = {.size = sizeof out, .hit = fields[0].bytes};
        return carom_cloud_any(job->context, &job->desc, &out, stats, err);
    }
    uint32_t *partners = (uint32_t *)(void *)fields[0].longs;
    const carom_cloud_count_result out = {.size = sizeof out, .partners = partners};
    const carom_status status = carom_cloud_count(job->context, &job->desc, &out, stats, err);
    for (uint64_t i = job->count; i > 0 && status == CAROM_OK; i--) { /* counts widen in place */
        uint32_t count;
        memcpy(&count, &partners[i - 1], sizeof count);
        fields[0].longs[i - 1] = count != CAROM_COUNT_INVALID ? count : QUERY_NO_COUNT;
    }
    return status;
}

static int write_each(cloud_job *job)
{
    rows_field fields[QUERY_FIELDS_MAX];
    carom_stats stats = {.size = sizeof stats};
    carom_error err = {0};
    if (!rows_fields_alloc(&job->query, job->count, fields))
        return cli_no_memory();
    rows_write_header(job->writer);
    progress_watch watch;
    progress_watch_begin(&watch, &job->progress);
    const carom_status status = ask_each(job, fields, &stats, &err);
    progress_watch_end(&watch);
    if (status == CAROM_OK) {
        progress_show(&job->progress, job->count);
        cloud_report(job, &stats);
        for (int c = 0; job->query.point > 0 && c < 3; c++)
            memcpy(fields[job->query.point + c].memory, job->columns[CLOUD_X + c].data, job->count * sizeof(float));
        rows_write(job->writer, fields, job->count);
    }
    rows_fields_free(fields);
    return status == CAROM_OK ? EXIT_DONE : cli_library_error(job->options->cloud, status, &err);
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

static int write_answers(cloud_job *job)
{
    const spheres_options *options = job->options;
    output out;
    rows_writer writer;
    int status = output_open(&out, options->common.output);
    if (status != EXIT_DONE)
        return status;
    job->writer = &writer;
    status =
        rows_writer_open(&writer, rows_format_of(options->common.output), &out, &job->query,
                         parallel_threads(options->common.threads), job->hits == HITS_ALL ? TABLE_UNKNOWN : job->count);
    if (status == EXIT_DONE)
        status = job->hits == HITS_ALL ? cloud_list_write(job) : write_each(job);
    if (status == EXIT_DONE && !out.error)
        status = rows_writer_finish(&writer);
    rows_writer_close(&writer);
    return output_close(&out, status);
}

int cloud_run(const spheres_options *options, cloud_hits hits)
{
    cloud_job cloud = {.options = options, .hits = hits}, *const job = &cloud;
    int status = read_clouds(job);
    if (status == EXIT_DONE)
        status = check_columns(job);
    if (status == EXIT_DONE)
        status = open_context(job);
    if (status == EXIT_DONE) {
        cut_limits(options, &job->columns[CLOUD_T_MAX], job->count);
        cut_limits(options, &job->against_columns[CLOUD_T_MAX], job->against_count);
        describe(job);
        if (options->against)
            describe_against(job);
        choose_fields(job);
        progress_begin(&job->progress, options->common.command->name, "spheres", 0, job->count);
        status = write_answers(job);
        progress_end(&job->progress);
    }
    carom_context_destroy(job->context);
    table_free(job->columns, CLOUD_COLUMNS);
    table_free(job->against_columns, CLOUD_COLUMNS);
    return status;
}

int cloud_prepare(const spheres_options *options, cloud_hits hits, uint32_t present)
{
    cloud_job cloud = {.options = options, .hits = hits, .count = 1, .against_count = 1}, *const job = &cloud;
    rows_field fields[QUERY_FIELDS_MAX] = {{NULL}};
    carom_stats stats = {.size = sizeof stats};
    carom_error err = {0};
    memcpy(job->columns, columns_of_file, sizeof columns_of_file);
    memcpy(job->against_columns, columns_of_file, sizeof columns_of_file);
    int status = probe_columns(job->columns, CLOUD_COLUMNS, present);
    if (status == EXIT_DONE && options->against)
        status = probe_columns(job->against_columns, CLOUD_COLUMNS, 0);
    if (status == EXIT_DONE)
        status = cli_context_open(&options->common, &job->context);
    if (status == EXIT_DONE) {
        describe(job);
        if (options->against)
            describe_against(job);
        choose_fields(job);
        job->desc.batch.prepare = 1;
        status = rows_fields_alloc(&job->query, 1, fields) ? EXIT_DONE : cli_no_memory();
    }
    if (status == EXIT_DONE) {
        const carom_status done =
            hits == HITS_ALL ? cloud_list_prepare(job, fields, &err) : ask_each(job, fields, &stats, &err);
        status = done == CAROM_OK ? EXIT_DONE : cli_library_error(NULL, done, &err);
    }
    rows_fields_free(fields);
    carom_context_destroy(job->context);
    table_free(job->columns, CLOUD_COLUMNS);
    table_free(job->against_columns, CLOUD_COLUMNS);
    return status;
}
