/* SPDX-License-Identifier: MIT */
/* All spheres of a file among themselves. They are read as a whole, because each may meet every other. Lists go out in
 * pieces, so that memory is bounded by the spheres, however many pairs there are. */
#include "cloud.h"
#include "cli/table/csv.h"
#include "cli/base/progress_watch.h"
#include "cli/rows/rows.h"
#include "cli/probe/probe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- answers ----------------------------------------------------------------------------------------------------- */

enum { FIELD_A, FIELD_B, FIELD_STATE, FIELD_T, FIELD_SHIFT, LIST_FIELDS = FIELD_SHIFT + 3 };
enum { FIELD_OTHER, FIELD_FIRST_STATE, FIELD_FIRST_T, FIRST_FIELDS };

static const query_field list_fields[LIST_FIELDS] = {
    {"a", QUERY_TRIANGLE, 0},  {"b", QUERY_TRIANGLE, 0},  {"state", QUERY_STATE, 0}, {"t", QUERY_TIME, 0},
    {"sx", QUERY_TRIANGLE, 0}, {"sy", QUERY_TRIANGLE, 0}, {"sz", QUERY_TRIANGLE, 0}};
static const query_field first_fields[FIRST_FIELDS] = {
    {"other", QUERY_TRIANGLE, 0}, {"state", QUERY_STATE, 0}, {"t", QUERY_TIME, 0}};
static const query_field any_field = {"hit", QUERY_BITS, 0}, count_field = {"count", QUERY_COUNT, 0};

/* The columns of the output. */
static rows_query fields_of(const spheres_options *options, cloud_hits hits)
{
    const int is_periodic = options->is_period_given;
    rows_query q = {0};
    q.fields = hits == HITS_ALL     ? list_fields
               : hits == HITS_FIRST ? first_fields
               : hits == HITS_ANY   ? &any_field
                                    : &count_field;
    q.field_count = hits == HITS_ALL ? is_periodic ? LIST_FIELDS : FIELD_SHIFT : hits == HITS_FIRST ? FIRST_FIELDS : 1;
    for (int f = 0; f < q.field_count; f++)
        q.order[f] = f;
    return q;
}

/* ---- the spheres ------------------------------------------------------------------------------------------------- */

enum { X, Y, Z, RADIUS, VX, VY, VZ, MASK, T_MAX, COLUMNS };
enum { SPHERES_MAX = INT32_MAX };

typedef struct cloud_job {
    const spheres_options *options;
    cloud_hits hits;
    table_column columns[COLUMNS];
    uint64_t count;
    carom_context *context;
    carom_cloud_desc desc;
    rows_query query;
    rows_writer *writer;
    progress progress; /* of the spheres that are answered */
} cloud_job;

static const table_column columns_of_file[COLUMNS] = {
    {.name = "cx"},
    {.name = "cy"},
    {.name = "cz"},
    {.name = "radius"},
    {.name = "vx", .group = 1},
    {.name = "vy", .group = 1},
    {.name = "vz", .group = 1},
    {.name = "mask", .kind = TABLE_MASK, .group = 2},
    {.name = "t_max", .kind = TABLE_TIME, .group = 3},
};

static int read_rows(cloud_job *job, table_reader *file)
{
    const uint64_t rows = table_rows(file);
    int status = EXIT_DONE;
    job->count = rows != TABLE_UNKNOWN ? rows : 0;
    if (job->count <= SPHERES_MAX)
        status = table_next(file, (uint64_t)SPHERES_MAX + 1, &job->count);
    if (status == EXIT_DONE && job->count > SPHERES_MAX)
        status =
            cli_refuse(EXIT_USAGE, "%s: a cloud has at most 2147483647 spheres, and here are %s%llu",
                       job->options->cloud, rows != TABLE_UNKNOWN ? "" : "at least ", (unsigned long long)job->count);
    return status;
}

static int read_spheres(cloud_job *job)
{
    const spheres_options *options = job->options;
    const table_limits limits = {
        .rows = (uint64_t)SPHERES_MAX + 1, .threads = parallel_threads(options->common.threads), .part = CSV_PART};
    table_reader file;
    memcpy(job->columns, columns_of_file, sizeof columns_of_file);
    if (options->common.rehearsal)
        return rehearsal_rows(&options->common, job->columns, COLUMNS, &job->count);
    int status = table_open(&file, options->cloud, job->columns, COLUMNS, &limits);
    if (status != EXIT_DONE)
        return status;
    status = read_rows(job, &file);
    table_close(&file);
    return status;
}

/* The end of the window of the call is one for each of its spheres. */
static void cut_limits(const spheres_options *options, table_column *limits, uint64_t count)
{
    for (uint64_t i = 0; limits->present && i < count; i++)
        limits->data[i] = limits->data[i] < options->t_max ? limits->data[i] : options->t_max;
}

/* Options that the columns of the file decide about. */
static int check_columns(const cloud_job *job)
{
    const spheres_options *options = job->options;
    if (!job->columns[VX].present)
        return EXIT_DONE;
    if (options->is_margin_given)
        return cli_refuse(EXIT_USAGE, "spheres: --margin is for spheres at rest, and %s has velocities",
                          options->cloud);
    if (!options->is_t_max_given && !job->columns[T_MAX].present)
        return cli_refuse(EXIT_USAGE,
                          "spheres: %s has velocities, so --t-max T or a column t_max must end the time window",
                          options->cloud);
    return EXIT_DONE;
}

static void describe(cloud_job *job)
{
    const spheres_options *options = job->options;
    const table_column *c = job->columns;
    carom_cloud_desc *d = &job->desc;
    *d = (carom_cloud_desc){.batch = {.size = sizeof *d, .count = job->count, .accuracy = options->common.accuracy},
                            .center = carom_soa(c[X].data, c[Y].data, c[Z].data),
                            .radius = carom_scalars_of(c[RADIUS].data),
                            .margin = options->margin,
                            .start = options->start};
    memcpy(d->period, options->period, sizeof d->period);
    if (c[VX].present)
        d->velocity = carom_soa(c[VX].data, c[VY].data, c[VZ].data);
    if (c[MASK].present)
        d->mask = (carom_uints){.data = (const uint32_t *)(const void *)c[MASK].data, .stride = sizeof(uint32_t)};
    if (c[T_MAX].present)
        d->t_max = carom_scalars_of(c[T_MAX].data);
    else if (options->is_t_max_given)
        d->t_max = (carom_scalars){.data = &options->t_max, .stride = CAROM_REPEAT};
}

/* ---- asking ------------------------------------------------------------------------------------------------------ */

static int open_context(cloud_job *job)
{
    cli_options usable = job->options->common;
    const int status = probe_before_rows(&usable, job->columns, COLUMNS, job->count);
    return status == EXIT_DONE ? cli_context_open(&usable, &job->context) : status;
}

/* What the library says of the first call. */
static void report(const cloud_job *job, const carom_stats *stats)
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
    progress_watch watch;
    progress_watch_begin(&watch, &job->progress);
    const carom_status status = ask_each(job, fields, &stats, &err);
    progress_watch_end(&watch);
    if (status == CAROM_OK) {
        progress_show(&job->progress, job->count);
        report(job, &stats);
        rows_write(job->writer, fields, job->count);
    }
    rows_fields_free(fields);
    return status == CAROM_OK ? EXIT_DONE : cli_library_error(job->options->cloud, status, &err);
}

/* ---- lists ------------------------------------------------------------------------------------------------------- */

/* Pairs of a piece, for each sphere and beside a chunk. Each piece costs a search of the whole cloud, so where it would
 * be one of very many, pieces are larger, up to a limit; beyond that only if one sphere has more. */
enum { PAIRS_EACH = 4, PIECES_MANY = 16, PAIRS_MANY = 1 << 24 };

typedef struct cloud_list {
    cloud_job *job;
    rows_field fields[QUERY_FIELDS_MAX];
    int8_t *shift;     /* NULL: not periodic */
    uint64_t *offsets; /* [spheres + 1], once they are known */
    uint64_t room;
} cloud_list;

static void free_room(cloud_list *list)
{
    rows_fields_free(list->fields);
    free(list->shift);
    list->shift = NULL;
}

static int make_room(cloud_list *list, uint64_t pairs)
{
    if (pairs <= list->room)
        return EXIT_DONE;
    free_room(list);
    list->room = pairs;
    if (list->job->query.field_count > FIELD_SHIFT)
        list->shift = cli_alloc(pairs, 3);
    if (rows_fields_alloc(&list->job->query, pairs, list->fields) &&
        (list->job->query.field_count == FIELD_SHIFT || list->shift))
        return EXIT_DONE;
    return cli_refuse(EXIT_WORK, "out of memory for %llu pairs of spheres", (unsigned long long)pairs);
}

/* Ask for the pairs of spheres [begin, end) and write those of all that are complete. */
static int write_piece(cloud_list *list, uint64_t begin, uint64_t end, uint64_t *offsets, uint64_t *complete)
{
    cloud_job *job = list->job;
    carom_list_totals totals = {0};
    const carom_cloud_pair_list to = {.size = sizeof to,
                                      .capacity = list->room,
                                      .offsets = offsets,
                                      .a = list->fields[FIELD_A].integers,
                                      .b = list->fields[FIELD_B].integers,
                                      .state = list->fields[FIELD_STATE].bytes,
                                      .t = list->fields[FIELD_T].floats,
                                      .shift = list->shift,
                                      .totals = &totals};
    carom_stats stats = {.size = sizeof stats};
    carom_error err = {0};
    job->desc.batch.begin = begin;
    job->desc.end = end;
    progress_watch watch;
    progress_watch_begin(&watch, &job->progress);
    const carom_status status = carom_cloud_list(job->context, &job->desc, &to, &stats, &err);
    progress_watch_end(&watch);
    if (status != CAROM_OK)
        return cli_library_error(job->options->cloud, status, &err);
    if (begin == 0)
        report(job, &stats);
    else
        cli_report_fallback(&stats);
    for (uint64_t i = 0; list->shift && i < 3 * totals.stored; i++)
        list->fields[FIELD_SHIFT + i % 3].integers[i / 3] = list->shift[i];
    rows_write(job->writer, list->fields, totals.stored);
    *complete = totals.complete;
    progress_show(&job->progress, totals.complete);
    return EXIT_DONE;
}

/* The spheres from `begin` on whose pairs fit together; at least one. */
static uint64_t end_of_piece(const cloud_list *list, uint64_t begin)
{
    uint64_t end = begin + 1;
    while (end < list->job->count && list->offsets[end + 1] - list->offsets[begin] <= list->room)
        end++;
    return end;
}

/* Pairs of a piece, once all are counted. */
static uint64_t room_for(const cloud_list *list, uint64_t done)
{
    const uint64_t left = list->offsets[list->job->count] - list->offsets[done];
    const uint64_t share = left / PIECES_MANY, most = share < PAIRS_MANY ? share : PAIRS_MANY;
    return most > list->room ? most : list->room;
}

/* The first piece counts all pairs if they do not fit. */
static int write_pieces(cloud_list *list)
{
    const uint64_t count = list->job->count;
    uint64_t done = 0;
    int status = write_piece(list, 0, 0, list->offsets, &done);
    if (status == EXIT_DONE)
        status = make_room(list, room_for(list, done));
    while (status == EXIT_DONE && done < count && !list->job->writer->out->error) {
        const uint64_t end = end_of_piece(list, done);
        uint64_t complete = done;
        status = make_room(list, list->offsets[end] - list->offsets[done]);
        if (status == EXIT_DONE)
            status = write_piece(list, done, end, NULL, &complete);
        if (status == EXIT_DONE && complete != end)
            status = cli_refuse(EXIT_WORK, "sphere %llu has more pairs than it was counted to have",
                                (unsigned long long)complete);
        done = complete;
    }
    return status;
}

static int write_list(cloud_job *job)
{
    cloud_list list = {.job = job, .offsets = cli_alloc(job->count + 1, sizeof *list.offsets)};
    int status = list.offsets ? make_room(&list, PAIRS_EACH * job->count + CLI_CHUNK) : cli_no_memory();
    if (status == EXIT_DONE)
        status = write_pieces(&list);
    free_room(&list);
    free(list.offsets);
    return status;
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
    if (status == EXIT_DONE) {
        rows_write_header(&writer);
        status = job->hits == HITS_ALL ? write_list(job) : write_each(job);
    }
    if (status == EXIT_DONE && !out.error)
        status = rows_writer_finish(&writer);
    rows_writer_close(&writer);
    return output_close(&out, status);
}

int cloud_run(const spheres_options *options, cloud_hits hits)
{
    cloud_job cloud = {.options = options, .hits = hits}, *const job = &cloud;
    int status = read_spheres(job);
    if (status == EXIT_DONE)
        status = check_columns(job);
    if (status == EXIT_DONE)
        status = open_context(job);
    if (status == EXIT_DONE) {
        cut_limits(options, &job->columns[T_MAX], job->count);
        describe(job);
        job->query = fields_of(options, job->hits);
        progress_begin(&job->progress, options->common.command->name, "spheres", 0, job->count);
        status = write_answers(job);
        progress_end(&job->progress);
    }
    carom_context_destroy(job->context);
    table_free(job->columns, COLUMNS);
    return status;
}
