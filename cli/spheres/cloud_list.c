/* SPDX-License-Identifier: MIT */
/* Lists of pairs, in pieces of whole spheres a. */
#include "cloud_before.h"
#include "cloud_job.h"
#include "cli/base/progress_watch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Pairs of a piece, for each sphere and beside a chunk. Each piece costs a search of the whole cloud, so where it would
 * be one of very many, pieces are larger, up to a limit; beyond that only if one sphere has more. */
enum { PAIRS_EACH = 4, PIECES_MANY = 16, PAIRS_MANY = 1 << 24 };

typedef struct cloud_list {
    cloud_job *job;
    rows_field fields[QUERY_FIELDS_MAX];
    int8_t *shift;       /* NULL: not periodic */
    uint64_t *offsets;   /* [spheres + 1], once they are known */
    uint64_t room;       /* pairs */
    cloud_before before; /* of the column `previous` */
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
    if (list->job->shift)
        list->shift = cli_alloc(pairs, 3);
    if (rows_fields_alloc(&list->job->query, pairs, list->fields) && (!list->job->shift || list->shift))
        return EXIT_DONE;
    return cli_refuse(EXIT_WORK, "out of memory for %llu pairs of spheres", (unsigned long long)pairs);
}

#define CLOUD_OFFSET(member, numbers, x, y, z, what) {offsetof(carom_cloud_pair_list, member), numbers},
static const struct {
    size_t offset;
    int numbers;
} added_members[] = {CLOUD_ADDED(CLOUD_OFFSET)};

static void add_column(carom_cloud_pair_list *to, int i, const rows_field *fields, int is_asked)
{
    char *member = (char *)to + added_members[i].offset;
    if (is_asked && added_members[i].numbers == 3)
        *(carom_points_out *)(void *)member =
            (carom_points_out){fields[0].floats, fields[1].floats, fields[2].floats, sizeof(float)};
    else if (is_asked)
        *(float **)(void *)member = fields[0].floats;
}

/* The arrays of a list; columns that are not asked for are NULL. */
static carom_cloud_pair_list arrays_of(const cloud_list *list)
{
    const cloud_job *job = list->job;
    const rows_field *fields = list->fields;
    carom_cloud_pair_list to = {.size = sizeof to,
                                .capacity = list->room,
                                .a = fields[CLOUD_A].integers,
                                .b = fields[CLOUD_B].integers,
                                .state = fields[CLOUD_STATE].bytes,
                                .t = fields[CLOUD_T].floats,
                                .shift = list->shift};
    for (int i = 0; i < CLOUD_ADDED_COLUMNS; i++)
        add_column(&to, i, &fields[job->added[i]], job->added[i] != 0);
    if (job->previous)
        to.previous = (int64_t *)fields[job->previous].longs;
    return to;
}

/* The sphere's centre at that time. */
static void put_center(const table_column *c, int32_t sphere, double t, double out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = (double)c[CLOUD_X + k].data[sphere] +
                 (c[CLOUD_VX].present && t > 0.0 ? t * (double)c[CLOUD_VX + k].data[sphere] : 0.0);
}

/* A pair is where contact begins, or at time 0 if there is none within a margin. */
static void put_point(const cloud_list *list, uint64_t i)
{
    const cloud_job *job = list->job;
    const table_column *other = job->options->against ? job->against_columns : job->columns;
    const rows_field *fields = list->fields;
    const int32_t a = fields[CLOUD_A].integers[i], b = fields[CLOUD_B].integers[i];
    const float time = fields[CLOUD_T].floats[i];
    const double t = isfinite(time) ? (double)time : 0.0;
    rows_pair pair = {.ra = (double)job->columns[CLOUD_RADIUS].data[a], .rb = (double)other[CLOUD_RADIUS].data[b]};
    float point[3];
    put_center(job->columns, a, t, pair.a);
    put_center(other, b, t, pair.b);
    for (int k = 0; list->shift && k < 3; k++)
        pair.b[k] += list->shift[3 * i + (uint64_t)k] * (double)job->options->period[k];
    rows_put_pair_point(&pair, point);
    for (int k = 0; k < 3; k++)
        fields[job->query.point + k].floats[i] = point[k];
}

static void write_pairs(cloud_list *list, uint64_t count)
{
    cloud_job *job = list->job;
    for (uint64_t i = 0; list->shift && i < 3 * count; i++)
        list->fields[(uint64_t)job->shift + i % 3].integers[i / 3] = list->shift[i];
    int64_t *previous = job->previous ? (int64_t *)list->fields[job->previous].longs : NULL;
    for (uint64_t i = 0; previous && i < count; i++)
        previous[i] += previous[i] >= 0 ? (int64_t)list->before.first : 0;
    for (uint64_t i = 0; job->query.point > 0 && i < count; i++)
        put_point(list, i);
    rows_write(job->writer, list->fields, count);
}

/* Ask for the pairs of spheres [begin, end) and write those of all that are complete. With offsets, which the first
 * call has, the pairs of all spheres are counted. */
static int write_piece(cloud_list *list, uint64_t begin, uint64_t end, uint64_t *offsets, uint64_t *complete)
{
    cloud_job *job = list->job;
    carom_list_totals totals = {0};
    carom_cloud_pair_list to = arrays_of(list);
    const carom_cloud_pairs_before before = cloud_before_pairs(&list->before);
    carom_stats stats = {.size = sizeof stats};
    carom_error err = {0};
    to.before = &before;
    to.offsets = offsets;
    to.totals = &totals;
    job->desc.batch.begin = begin;
    job->desc.a_end = offsets ? job->count : end;
    progress_watch watch;
    progress_watch_begin(&watch, &job->progress);
    const carom_status status = carom_cloud_list(job->context, &job->desc, &to, &stats, &err);
    progress_watch_end(&watch);
    if (status != CAROM_OK)
        return cli_library_error(job->options->cloud, status, &err);
    if (offsets)
        cloud_report(job, &stats);
    else
        cli_report_fallback(&stats);
    *complete = totals.complete < end ? totals.complete : end;
    write_pairs(list, offsets ? offsets[*complete] : totals.stored);
    progress_show(&job->progress, *complete);
    return EXIT_DONE;
}

/* The earlier pairs of spheres [begin, *end), or of fewer where these are many. */
static int read_before(cloud_list *list, uint64_t begin, uint64_t *end)
{
    return list->job->previous ? cloud_before_read(&list->before, begin, end, list->room) : EXIT_DONE;
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
    uint64_t done = 0, end = count;
    int status = read_before(list, 0, &end);
    if (status == EXIT_DONE)
        status = write_piece(list, 0, end, list->offsets, &done);
    if (status == EXIT_DONE)
        status = make_room(list, room_for(list, done));
    while (status == EXIT_DONE && done < count && !list->job->writer->out->error) {
        uint64_t complete = done;
        end = end_of_piece(list, done);
        status = read_before(list, done, &end);
        if (status == EXIT_DONE)
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

int cloud_list_write(cloud_job *job)
{
    cloud_list list = {.job = job, .offsets = cli_alloc(job->count + 1, sizeof *list.offsets)};
    int status = list.offsets ? make_room(&list, PAIRS_EACH * job->count + CLI_CHUNK) : cli_no_memory();
    if (status == EXIT_DONE && job->previous)
        status = cloud_before_open(&list.before, &job->options->common, job->options->previous);
    if (status == EXIT_DONE) {
        rows_write_header(job->writer); /* not before an earlier list is known to be there */
        status = write_pieces(&list);
    }
    if (status == EXIT_DONE && job->previous)
        status = cloud_before_finish(&list.before);
    cloud_before_close(&list.before);
    free_room(&list);
    free(list.offsets);
    return status;
}

carom_status cloud_list_prepare(cloud_job *job, const rows_field *fields, carom_error *err)
{
    int8_t shift[3];
    carom_list_totals totals = {0};
    cloud_list list = {.job = job, .shift = job->shift ? shift : NULL, .room = 1};
    memcpy(list.fields, fields, sizeof list.fields);
    carom_cloud_pair_list to = arrays_of(&list);
    to.totals = &totals;
    return carom_cloud_list(job->context, &job->desc, &to, NULL, err);
}
