/* SPDX-License-Identifier: MIT */
/* The segments of a chunk are one batch: center and end are views of the same points, one of them a point later (a copy
 * of them where a path has one point), and `select` leaves out what joins two paths. First and any hits are asked for
 * in rounds, each of twice as many segments of a path as the round before, so that a path that is hit early is not
 * asked to its end. */
#include "path.h"

#include "cli/probe/probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROUND = 4 };

/* Queries of a call, or records of a list. */
static int alloc_answers(path_asker *a, uint64_t room)
{
    a->room = room;
    a->query = cli_alloc(room, sizeof *a->query);
    a->triangle = cli_alloc(room, sizeof *a->triangle);
    a->t = cli_alloc(room, sizeof *a->t);
    a->point = cli_alloc(room, 3 * sizeof *a->point);
    a->normal = cli_alloc(room, 3 * sizeof *a->normal);
    a->state = cli_alloc(room, 1);
    a->feature = cli_alloc(room, 1);
    return a->query && a->triangle && a->t && a->point && a->normal && a->state && a->feature;
}

static void free_answers(path_asker *a)
{
    void *const all[] = {a->query, a->triangle, a->t, a->point, a->normal, a->state, a->feature};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free(all[i]);
}

int path_asker_open(path_asker *a, const bake_request *options, carom_mesh *mesh, path_hits hits, uint64_t points)
{
    *a = (path_asker){.options = options,
                      .mesh = mesh,
                      .hits = hits,
                      .select = cli_alloc(points, sizeof *a->select),
                      .active = cli_alloc(points, sizeof *a->active),
                      .first = cli_alloc(points + 1, sizeof *a->first),
                      .end = cli_alloc(points, 3 * sizeof *a->end),
                      .offsets = cli_alloc(points + 1, sizeof *a->offsets),
                      .stats = {.size = sizeof a->stats}};
    const int complete = alloc_answers(a, points);
    return complete && a->select && a->active && a->first && a->end && a->offsets ? EXIT_DONE : cli_no_memory();
}

void path_asker_close(path_asker *a)
{
    free_answers(a);
    free(a->select);
    free(a->active);
    free(a->first);
    free(a->end);
    free(a->offsets);
}

/* ---- calls of the library ------------------------------------------------------------------------------------------
 */

/* A path of one point ends where it begins. */
static void find_ends(path_asker *a, const paths_file *f, const path_section *sections, uint64_t count)
{
    a->has_points = 0;
    for (uint64_t i = 0; i < count; i++) {
        const size_t at = 3 * (size_t)sections[i].begin;
        if (!sections[i].is_point)
            continue;
        if (!a->has_points)
            memcpy(a->end, f->xyz + 3, 3 * sizeof *a->end * (size_t)f->count);
        memcpy(a->end + at, f->xyz + at, 3 * sizeof *a->end);
        a->has_points = 1;
    }
}

/* Queries [begin, count) of the selection. */
static carom_mesh_sweep_desc describe(const path_asker *a, const paths_file *f, uint64_t begin, uint64_t count)
{
    const bake_request *o = a->options;
    return (carom_mesh_sweep_desc){
        .batch = {.size = sizeof(carom_mesh_sweep_desc),
                  .count = count,
                  .begin = begin,
                  .prepare = a->only_prepares != 0,
                  .accuracy = o->common.accuracy,
                  .select = carom_uints_of(a->select),
                  .elements = f->count > 0 ? f->count : 1},
        .center = carom_xyz(f->xyz),
        .end = carom_xyz(a->has_points ? a->end : f->xyz + 3),
        .radius = f->radius ? carom_scalars_of(f->radius) : (carom_scalars){&o->bake.parameters.radius, CAROM_REPEAT},
        .cull_back = o->cull_back != 0,
        .start = o->start,
    };
}

static int take_stats(path_asker *a, const paths_file *f, carom_status status, const carom_stats *s,
                      const carom_error *err)
{
    char about[96];
    a->stats.queries += s->queries;
    a->stats.on_device += s->on_device;
    a->stats.fallen_back += s->fallen_back;
    if (s->fallen_back > 0)
        memcpy(a->stats.fallback_reason, s->fallback_reason, sizeof s->fallback_reason);
    snprintf(about, sizeof about, "points %llu to %llu", (unsigned long long)f->from,
             (unsigned long long)(f->from + f->count - 1));
    return status == CAROM_OK ? EXIT_DONE : cli_library_error(about, status, err);
}

static int ask_once(path_asker *a, const paths_file *f, uint64_t count)
{
    const carom_mesh_sweep_desc desc = describe(a, f, 0, count);
    const carom_mesh_hit_result hit = {.size = sizeof hit,
                                       .triangle = a->triangle,
                                       .state = a->state,
                                       .t = a->t,
                                       .point = carom_xyz_out(a->point),
                                       .normal = carom_xyz_out(a->normal),
                                       .feature = a->feature};
    const carom_any_result any = {sizeof any, a->state};
    carom_stats stats = {.size = sizeof stats};
    carom_error err = {0};
    const carom_status status = a->hits == PATH_ANY ? carom_mesh_sweep_any(a->mesh, &desc, &any, &stats, &err)
                                                    : carom_mesh_sweep_first(a->mesh, &desc, &hit, &stats, &err);
    return take_stats(a, f, status, &stats, &err);
}

/* Hits of queries [begin, count), as many as there is room for; offsets: of all these queries, or NULL. */
static int ask_list(path_asker *a, const paths_file *f, uint64_t begin, uint64_t count, uint64_t *offsets,
                    carom_list_totals *totals)
{
    const carom_mesh_sweep_desc desc = describe(a, f, begin, count);
    const carom_hit_list list = {.size = sizeof list,
                                 .capacity = a->room,
                                 .offsets = offsets,
                                 .query = a->query,
                                 .triangle = a->triangle,
                                 .state = a->state,
                                 .t = a->t,
                                 .point = carom_xyz_out(a->point),
                                 .normal = carom_xyz_out(a->normal),
                                 .feature = a->feature,
                                 .totals = totals};
    carom_stats stats = {.size = sizeof stats};
    carom_error err = {0};
    *totals = (carom_list_totals){0};
    const carom_status status = carom_mesh_sweep_list(a->mesh, &desc, CAROM_HITS_ALL, &list, &stats, &err);
    return take_stats(a, f, status, &stats, &err);
}

/* Record or query i of the last call. */
static path_hit hit_at(const path_asker *a, uint64_t i, uint32_t element)
{
    path_hit hit = {.element = element};
    if (a->hits == PATH_ANY)
        return hit;
    hit.t = a->t[i];
    hit.triangle = a->triangle[i];
    hit.state = a->state[i];
    hit.feature = a->feature[i];
    memcpy(hit.point, a->point + 3 * i, sizeof hit.point);
    memcpy(hit.normal, a->normal + 3 * i, sizeof hit.normal);
    return hit;
}

/* ---- first and any hits, in rounds ---------------------------------------------------------------------------------
 */

/* Segments that a section is asked for in a round that comes to `from`. */
static uint32_t share(const path_section *s, uint32_t from, uint32_t step)
{
    const uint32_t left = s->end - s->begin - from;
    return left < step ? left : step;
}

/* The first segment with a hit of a section whose queries are from .. from + count. */
static int find_hit(path_asker *a, path_section *s, uint32_t section, uint64_t from, uint32_t count)
{
    for (uint64_t i = from; i < from + count; i++)
        if (a->hits == PATH_ANY ? a->state[i] == 1 : a->triangle[i] >= 0) {
            a->first[section] = hit_at(a, i, a->select[i]);
            s->is_hit = 1;
            return 1;
        }
    return 0;
}

static int ask_round(path_asker *a, const paths_file *f, path_section *sections, uint64_t *active, uint32_t from,
                     uint32_t step)
{
    uint64_t count = 0, left = 0;
    for (uint64_t i = 0; i < *active; i++) {
        const path_section *s = &sections[a->active[i]];
        for (uint32_t k = 0, n = share(s, from, step); k < n; k++)
            a->select[count++] = s->begin + from + k;
    }
    const int status = ask_once(a, f, count);
    if (status != EXIT_DONE)
        return status;
    count = 0;
    for (uint64_t i = 0; i < *active; i++) {
        const uint32_t section = a->active[i];
        path_section *s = &sections[section];
        const uint32_t n = share(s, from, step);
        if (!find_hit(a, s, section, count, n) && s->end - s->begin > from + n)
            a->active[left++] = section;
        count += n;
    }
    *active = left;
    return EXIT_DONE;
}

static int ask_rounds(path_asker *a, const paths_file *f, path_section *sections, uint64_t count, path_writer *writer)
{
    uint64_t active = 0;
    int status = EXIT_DONE;
    const int was_hit = count > 0 && sections[0].is_hit; /* before this chunk */
    for (uint64_t i = 0; i < count; i++)
        if (!sections[i].is_invalid && !sections[i].is_hit && sections[i].end > sections[i].begin)
            a->active[active++] = (uint32_t)i;
    for (uint32_t from = 0, step = FIRST_ROUND; active > 0 && status == EXIT_DONE; from += step, step *= 2)
        status = ask_round(a, f, sections, &active, from, step);
    for (uint64_t i = 0; i < count && status == EXIT_DONE; i++) {
        if (sections[i].is_hit && !(i == 0 && was_hit))
            path_write_hit(writer, &sections[i], &a->first[i]);
        path_write_end(writer, &sections[i]);
    }
    return status;
}

/* ---- all hits ------------------------------------------------------------------------------------------------------
 */

/* The sections of a chunk, and the first of them that has not got all its rows. */
typedef struct all_rows {
    path_section *sections;
    uint64_t at;
    path_writer *writer;
} all_rows;

static void write_records(const path_asker *a, uint64_t count, all_rows *rows)
{
    for (uint64_t i = 0; i < count; i++) {
        const path_hit hit = hit_at(a, i, a->select[a->query[i]]);
        while (hit.element >= rows->sections[rows->at].end)
            path_write_end(rows->writer, &rows->sections[rows->at++]);
        rows->sections[rows->at].is_hit = 1;
        path_write_hit(rows->writer, &rows->sections[rows->at], &hit);
    }
}

/* The queries from `first` on whose records fit together, at least one. If the records of one do not, the arrays grow;
 * what they hold has been written. Returns the query behind them, 0 with the message printed if memory is short. */
static uint64_t end_of_fitting(path_asker *a, uint64_t first, uint64_t count)
{
    uint64_t end = first + 1;
    while (end < count && a->offsets[end + 1] - a->offsets[first] <= a->room)
        end++;
    const uint64_t records = a->offsets[end] - a->offsets[first];
    if (records <= a->room)
        return end;
    free_answers(a);
    if (alloc_answers(a, records))
        return end;
    cli_message("out of memory for the %llu hits of one segment", (unsigned long long)records);
    return 0;
}

/* The first call counts the hits of all queries, and the counts say how to cut those that are left. */
static int ask_all(path_asker *a, const paths_file *f, path_section *sections, uint64_t count, path_writer *writer)
{
    all_rows rows = {sections, 0, writer};
    carom_list_totals totals = {0};
    uint64_t queries = 0, done = 0;
    for (uint64_t i = 0; i < count; i++)
        for (uint32_t e = sections[i].begin; !sections[i].is_invalid && e < sections[i].end; e++)
            a->select[queries++] = e;
    int status = queries > 0 ? ask_list(a, f, 0, queries, a->offsets, &totals) : EXIT_DONE;
    while (status == EXIT_DONE) {
        write_records(a, totals.stored, &rows);
        done = queries > 0 ? totals.complete : 0;
        if (done == queries)
            break;
        const uint64_t end = end_of_fitting(a, done, queries);
        status = end > 0 ? ask_list(a, f, done, end, NULL, &totals) : EXIT_WORK;
        if (status == EXIT_DONE && totals.complete == done)
            status = cli_refuse(EXIT_WORK, "a segment has more hits than it was counted to have");
    }
    while (rows.at < count && status == EXIT_DONE)
        path_write_end(writer, &sections[rows.at++]);
    return status;
}

int path_ask(path_asker *a, const paths_file *f, path_section *sections, uint64_t count, path_writer *writer)
{
    const uint64_t queries = a->stats.queries, fallen_back = a->stats.fallen_back;
    find_ends(a, f, sections, count);
    const int status =
        a->hits == PATH_ALL ? ask_all(a, f, sections, count, writer) : ask_rounds(a, f, sections, count, writer);
    carom_stats chunk = a->stats; /* the asker's are of all chunks */
    chunk.queries -= queries;
    chunk.fallen_back -= fallen_back;
    cli_report_fallback(&chunk);
    return status;
}

int path_prepare(const bake_request *options, path_hits hits)
{
    float xyz[6] = {0}, radius = 0.0f;
    const paths_file f = {.xyz = xyz, .radius = options->bake.given & BAKE_GIVEN_RADIUS ? NULL : &radius, .count = 1};
    carom_list_totals totals;
    carom_context *context = NULL;
    carom_mesh *mesh = NULL;
    path_asker a = {0};
    int status = probe_mesh(&options->common, &context, &mesh);
    if (status == EXIT_DONE)
        status = path_asker_open(&a, options, mesh, hits, 1);
    a.only_prepares = 1;
    if (status == EXIT_DONE)
        status = hits == PATH_ALL ? ask_list(&a, &f, 0, 1, a.offsets, &totals) : ask_once(&a, &f, 1);
    path_asker_close(&a);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    return status;
}
