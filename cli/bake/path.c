/* SPDX-License-Identifier: MIT */
/* carom bake path: points a chunk at a time, in memory that does not depend on their number. A path may be longer than
 * a chunk; what is carried over is its last point, its number of segments and whether it has been hit. */
#include "path.h"
#include "path_file.h"

#include "cli/rows/rows_format.h"
#include "cli/table/hdf5.h"

#include "cli/base/parallel.h"
#include "cli/base/unfinished.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Bytes of a point in a file, in CSV about. */
enum { NPY_POINT = 12, CSV_POINT = 32 };

/* ---- before any work ----------------------------------------------------------------------------------------------
 */

const char *path_format_of(const char *name)
{
    const char *suffix = rows_format_of(name)->suffix;
    return suffix ? suffix : "csv";
}

int path_check_suffix(const char *name)
{
    if (cli_has_suffix(name, "csv"))
        return EXIT_DONE;
    if (!path_is_columns(name))
        return cli_refuse(EXIT_USAGE, "%s: the suffix names the format: expected .csv, .h5, .npy, .vtp or .xyz", name);
    return rows_format_check(name, 1);
}

static int check_options(const bake_request *o, path_hits *hits)
{
    *hits = PATH_FIRST;
    if (bake_mesh_named(o) != EXIT_DONE)
        return EXIT_USAGE;
    if (!o->bake.paths)
        return cli_refuse(EXIT_USAGE, "bake path: --paths FILE is missing");
    if (!o->common.output)
        return cli_refuse(EXIT_USAGE, "bake path: -o OUT.csv is missing");
    if (o->common.more_output_count > 0)
        return cli_refuse(EXIT_USAGE, "bake path: has one output, and -o names %d", o->common.more_output_count + 1);
    if (!o->bake.is_part && path_check_suffix(o->common.output) != EXIT_DONE)
        return EXIT_USAGE;
    int word = *hits;
    const int status = o->hits ? cli_read_word("hits", o->hits, path_hits_words, &word) : -1;
    *hits = (path_hits)word;
    if (status < 0 && *hits == PATH_ANY && !o->bake.is_part && rows_needs_points(o->common.output))
        return cli_refuse(EXIT_USAGE, "%s: rows of --hits any have no points: expected .csv, .h5 or .npy",
                          o->common.output);
    return status < 0 ? EXIT_DONE : status;
}

/* A reading, its sections, and what becomes of them. */
typedef struct path_run {
    const bake_request *options;
    const paths_survey *survey;
    char mesh[BAKE_NAME]; /* its content */
    paths_file file;
    path_section *sections; /* [room of the file + 1] */
    path_current open;
    path_asker asker;
    path_writer writer;
} path_run;

/* ---- the fingerprint ----------------------------------------------------------------------------------------------
 */

/* All that decides about the bytes of the output, a line for each item. */
static void describe(const path_run *r, path_hits hits, char text[BAKE_TEXT])
{
    const bake_request *o = r->options;
    char radius[32] = "column";
    if (o->bake.given & BAKE_GIVEN_RADIUS)
        snprintf(radius, sizeof radius, "%.9g", (double)o->bake.parameters.radius);
    snprintf(text, BAKE_TEXT,
             "carom %s\nwhat path\nmesh %s\npaths %016llx\npoints %llu\nradius %s\nhits %s\nstart %s\ncull-back %s\n"
             "accuracy %s\npart %llu/%llu\nformat %s\n",
             carom_version(), r->mesh, (unsigned long long)r->survey->hash, (unsigned long long)r->survey->points,
             radius, path_hits_words[hits], path_start_words[o->start], o->cull_back ? "yes" : "no",
             o->common.accuracy == CAROM_ACCURACY_EXACT ? "exact" : "fast", (unsigned long long)o->bake.part,
             (unsigned long long)o->bake.parts, o->bake.is_part ? "part" : path_format_of(o->common.output));
}

/* ---- chunks -------------------------------------------------------------------------------------------------------
 */

static int do_chunk(path_run *r)
{
    const bake_options *o = &r->options->bake;
    const uint64_t count = path_cut(&r->file, r->survey, &r->open, r->sections);
    uint64_t first = 0, end = count;
    while (first < end && !path_is_of_part(o, r->survey, &r->sections[first]))
        first++;
    while (first < end && !path_is_of_part(o, r->survey, &r->sections[end - 1]))
        end--;
    const int status = path_ask(&r->asker, &r->file, r->sections + first, end - first, &r->writer);
    if (count > 0)
        r->open.is_hit = r->sections[count - 1].is_hit;
    return status;
}

static int refuse_changed(const path_run *r)
{
    return cli_refuse(EXIT_WORK, "%s: has changed while it was read", r->file.path);
}

/* Read the points that an earlier run has done, for the path that goes on and for the hash. */
static int skip_done(path_run *r, const path_file *to, uint64_t *hash)
{
    const path_done *done = &to->done;
    int status = EXIT_DONE;
    while (status == EXIT_DONE && r->file.from + r->file.count < done->points) {
        const uint64_t left = done->points - r->file.from - r->file.count;
        status = unfinished_asked() ? EXIT_STOPPED : paths_next(&r->file, left);
        if (status == EXIT_STOPPED)
            return bake_growing_stopped(&to->file, status);
        if (status == EXIT_DONE && r->file.count == 0)
            status = refuse_changed(r);
        (void)path_cut(&r->file, r->survey, &r->open, r->sections);
        *hash += paths_hash(&r->file);
    }
    r->open.is_hit = done->is_hit;
    return status;
}

static int do_chunks(path_run *r, path_file *to)
{
    progress shown;
    uint64_t chunk = PATH_CHUNK_FIRST;
    uint64_t hash = 0;
    int status = skip_done(r, to, &hash), at_end = 0;
    progress_begin(&shown, "bake path", "points", to->done.points, r->survey->points);
    while (status == EXIT_DONE && !at_end) {
        status = unfinished_asked() ? EXIT_STOPPED : paths_next(&r->file, chunk);
        if (status == EXIT_STOPPED) {
            bake_growing_stopped(&to->file, status);
            break;
        }
        const double began = cli_seconds(); /* what is read may be read for several chunks */
        at_end = r->file.count == 0;
        hash += paths_hash(&r->file);
        if (status == EXIT_DONE && at_end && hash != r->survey->hash)
            status = refuse_changed(r);
        if (status == EXIT_DONE)
            status = do_chunk(r);
        path_writer_flush(&r->writer);
        if (status == EXIT_DONE)
            /* At the end a path without a hit has its row too: what goes on from there writes none. */
            status = path_file_put(to, r->file.from + r->file.count, r->open.is_hit || at_end);
        progress_show(&shown, r->file.from + r->file.count);
        chunk = path_next_chunk(chunk < r->file.room ? chunk : r->file.room, cli_seconds() - began);
    }
    progress_end(&shown);
    if (status == EXIT_DONE && r->asker.stats.queries > 0)
        cli_report_unused_device(&r->options->common, &r->asker.stats);
    return status;
}

static int write_file(path_run *r, path_hits hits)
{
    path_file to;
    char text[BAKE_TEXT];
    describe(r, hits, text);
    int status = path_file_open(&to, r->options, text);
    if (status == EXIT_DONE)
        status = path_writer_open(&r->writer, &to.out, hits, path_file_is_packed(&to) ? text : NULL,
                                  parallel_threads(r->options->common.threads));
    if (status == EXIT_DONE && to.done.chunks == 0)
        path_writer_header(&r->writer);
    if (status == EXIT_DONE && !to.file.is_finished)
        status = do_chunks(r, &to);
    if (status == EXIT_DONE)
        status = bake_growing_end(&to.file);
    path_writer_close(&r->writer);
    path_file_close(&to);
    return status;
}

static int open_run(path_run *r, path_hits hits, const bake_mesh *mesh, uint64_t points)
{
    r->sections = cli_alloc(points + 1, sizeof *r->sections);
    return r->sections ? path_asker_open(&r->asker, r->options, mesh->mesh, hits, points) : cli_no_memory();
}

/* What threads take for reading and writing text. */
static uint64_t text_bytes(unsigned threads)
{
    return path_writer_bytes(threads) + (uint64_t)threads * CSV_PART;
}

/* Points of a chunk as --max-memory allows them, bytes for windows, and threads for text, fewer where not even the
 * first chunk would fit. */
static int find_room(bake_request *o, const bake_mesh *mesh, uint64_t *room, uint64_t *more)
{
    uint64_t bytes;
    const uint64_t most = o->bake.max_memory, first = PATH_CHUNK_FIRST * PATH_POINT_BYTES;
    unsigned threads = parallel_threads(o->common.threads);
    const int status = bake_mesh_bytes(mesh, &bytes);
    if (status != EXIT_DONE)
        return status;
    while (threads > 1 && most < bytes + text_bytes(threads) + first)
        threads--;
    bytes += text_bytes(threads);
    if (most < bytes + PATH_POINT_BYTES)
        return cli_refuse(EXIT_USAGE, "--max-memory %llu: %llu bytes are needed", (unsigned long long)most,
                          (unsigned long long)(bytes + PATH_POINT_BYTES));
    *room = (most - bytes) / PATH_POINT_BYTES;
    *room = paths_is_hdf5(o->bake.paths) ? *room - *room / 2 : *room;
    *room = *room < PATH_CHUNK ? *room : PATH_CHUNK;
    *more = most - bytes - *room * PATH_POINT_BYTES;
    o->common.threads = threads;
    return EXIT_DONE;
}

/* Points of the file, from its size, because it is read later. */
static uint64_t points_about(const bake_request *o)
{
    struct stat info;
    if (stat(o->bake.paths, &info) != 0 || !S_ISREG(info.st_mode))
        return 0;
    const int is_binary = paths_is_hdf5(o->bake.paths) || cli_has_suffix(o->bake.paths, "npy");
    return (uint64_t)info.st_size / (is_binary ? NPY_POINT : CSV_POINT);
}

/* o: of the bake, whose threads may become fewer. */
static int run(path_run *r, bake_request *o, path_hits hits, paths_survey *survey, bake_mesh *mesh)
{
    uint64_t room = PATH_CHUNK, more = 0;
    /* The importer may run in a process of its own, so it goes before anything starts threads. */
    int status = bake_mesh_read(o, mesh);
    if (status == EXIT_DONE)
        status = bake_mesh_open(o, points_about(o), mesh);
    if (status == EXIT_DONE)
        status = find_room(o, mesh, &room, &more);
    if (status == EXIT_DONE)
        status = paths_survey_read(survey, o, room, more);
    if (status == EXIT_DONE)
        status = paths_open(&r->file, o, room, more);
    if (r->file.csv)
        csv_read_again(r->file.csv);
    r->survey = survey;
    bake_mesh_name(mesh, r->mesh);
    if (status == EXIT_DONE)
        status = open_run(r, hits, mesh, room);
    return status == EXIT_DONE ? write_file(r, hits) : status;
}

int run_bake_path(const void *options)
{
    path_hits hits;
    paths_survey survey = {0};
    bake_mesh mesh = {0};
    bake_request own = *(const bake_request *)options;
    path_run r = {.options = &own, .file = {.npy = {.fd = -1}}};
    int status = check_options(&own, &hits);
    if (status == EXIT_DONE)
        unfinished_hold();
    if (status == EXIT_DONE)
        status = run(&r, &own, hits, &survey, &mesh);
    path_asker_close(&r.asker);
    free(r.sections);
    paths_close(&r.file);
    paths_survey_free(&survey);
    bake_mesh_free(&mesh);
    return status;
}

int prepare_bake_path(const void *options, uint32_t present)
{
    path_hits hits;
    (void)present;
    const int status = check_options(options, &hits);
    return status == EXIT_DONE ? path_prepare(options, hits) : status;
}
