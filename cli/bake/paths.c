/* SPDX-License-Identifier: MIT */
#include "paths.h"
#include "bake.h"

#include "cli/base/parallel.h"
#include "cli/base/unfinished.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { ID, X, Y, Z, RADIUS };

/* ---- a file -------------------------------------------------------------------------------------------------------
 */

static void set_columns(table_column columns[PATHS_COLUMNS])
{
    const table_column all[PATHS_COLUMNS] = {{.name = "path", .kind = TABLE_WHOLE},
                                             {.name = "x"},
                                             {.name = "y"},
                                             {.name = "z"},
                                             {.name = "radius", .group = 1}};
    memcpy(columns, all, sizeof all);
}

/* Just one of both. */
static int check_radius(const paths_file *f, const bake_request *o)
{
    const int column = f->columns[RADIUS].present, given = (o->bake.given & BAKE_GIVEN_RADIUS) != 0;
    if (column && given)
        return cli_refuse(EXIT_USAGE, "%s: has a column radius, and so --radius must not be given", f->path);
    if (!column && !given)
        return cli_refuse(EXIT_USAGE, "%s: has no column radius, and so --radius R is needed", f->path);
    return EXIT_DONE;
}

static int open_csv(paths_file *f, const bake_request *o)
{
    const table_limits limits = {.rows = f->room, .threads = parallel_threads(o->common.threads), .part = CSV_PART};
    struct stat info;
    if (!strcmp(f->path, "-") || (stat(f->path, &info) == 0 && !S_ISREG(info.st_mode)))
        return cli_refuse(EXIT_USAGE, "--paths %s: is no regular file, which is needed because it is read twice",
                          f->path);
    return csv_open(&f->csv, f->path, f->columns, PATHS_COLUMNS, &limits);
}

static int open_npy(paths_file *f)
{
    const int status = npy_open(&f->npy, f->path);
    if (status != EXIT_DONE)
        return status;
    if (f->npy.dimensions != 3 || f->npy.shape[2] != 3 || (f->npy.shape[1] == 0 && f->npy.shape[0] > 0))
        return npy_refuse_shape(&f->npy, "[paths][points][3] with at least one point");
    f->points = f->npy.count / 3;
    f->length = f->npy.shape[1];
    return EXIT_DONE;
}

static int alloc_chunk(paths_file *f)
{
    const uint64_t points = f->room;
    f->xyz = cli_alloc(3 * (points + 1), sizeof *f->xyz);
    f->id = cli_alloc(points + 1, sizeof *f->id);
    f->radius = f->columns[RADIUS].present ? cli_alloc(points + 1, sizeof *f->radius) : NULL;
    if (!f->xyz || !f->id || (!f->radius && f->columns[RADIUS].present))
        return cli_no_memory();
    memset(f->xyz, 0, 3 * sizeof *f->xyz); /* there is no point before the first */
    f->id[0] = 0;
    if (f->radius)
        f->radius[0] = 0.0f;
    return EXIT_DONE;
}

int paths_is_hdf5(const char *path)
{
    return cli_is_hdf5(path) || cli_has_suffix(path, "h5md");
}

int paths_open(paths_file *f, const bake_request *o, uint64_t room, uint64_t more)
{
    const char *path = o->bake.paths;
    *f = (paths_file){.path = path, .npy = {.fd = -1}, .room = room};
    set_columns(f->columns);
    const int is_npy = cli_has_suffix(path, "npy");
    int status = paths_is_hdf5(path) ? paths_hdf5_open(f, more) : is_npy ? open_npy(f) : open_csv(f, o);
    if (status == EXIT_DONE)
        status = check_radius(f, o);
    return status == EXIT_DONE ? alloc_chunk(f) : status;
}

void paths_close(paths_file *f)
{
    csv_close(f->csv);
    table_free(f->columns, PATHS_COLUMNS);
    npy_close(&f->npy);
    paths_hdf5_close(f);
    free(f->xyz);
    free(f->radius);
    free(f->id);
}

/* ---- chunks -------------------------------------------------------------------------------------------------------
 */

static int next_csv(paths_file *f, uint64_t most)
{
    const table_column *c = f->columns;
    const int status = csv_next(f->csv, most, &f->count);
    if (status != EXIT_DONE || f->count == 0)
        return status;
    for (uint64_t i = 0; i < f->count; i++)
        for (int k = 0; k < 3; k++)
            f->xyz[3 * (i + 1) + (uint64_t)k] = c[X + k].data[i];
    memcpy(f->id + 1, table_wholes(&c[ID]), (size_t)f->count * sizeof *f->id);
    if (f->radius)
        memcpy(f->radius + 1, c[RADIUS].data, (size_t)f->count * sizeof *f->radius);
    return EXIT_DONE;
}

/* Paths of one length. */
static int next_array(paths_file *f, uint64_t most)
{
    const uint64_t left = f->points - f->from;
    f->count = left < most ? left : most;
    for (uint64_t i = 0; i < f->count; i++)
        f->id[i + 1] = (f->from + i) / f->length;
    return f->hdf5 ? paths_hdf5_next(f) : npy_read(&f->npy, 3 * f->from, 3 * f->count, f->xyz + 3);
}

int paths_next(paths_file *f, uint64_t most)
{
    const uint64_t last = f->count;
    memmove(f->xyz, f->xyz + 3 * last, 3 * sizeof *f->xyz);
    f->id[0] = f->id[last];
    if (f->radius)
        f->radius[0] = f->radius[last];
    f->from += last;
    f->count = 0;
    most = most < f->room ? most : f->room;
    return f->csv ? next_csv(f, most) : next_array(f, most);
}

/* Each point is hashed with its place in the file, so the sum does not depend on how the points are cut into chunks. */
uint64_t paths_hash(const paths_file *f)
{
    uint64_t sum = 0;
    for (uint64_t i = 1; i <= f->count; i++) {
        unsigned char point[3 * sizeof(uint64_t)] = {0};
        memcpy(point, f->id + i, sizeof *f->id);
        memcpy(point + 8, f->xyz + 3 * i, 3 * sizeof *f->xyz);
        if (f->radius)
            memcpy(point + 20, f->radius + i, sizeof *f->radius);
        sum += bake_checksum(point, sizeof point, f->from + i);
    }
    return sum;
}

/* ---- the first reading --------------------------------------------------------------------------------------------
 */

/* One more path, valid so far. */
static int add_path(paths_survey *s, paths_ids *ids, const paths_file *f, uint64_t i)
{
    const int added = f->csv ? paths_ids_add(ids, f->id[i]) : 1;
    if (added == 0)
        return cli_refuse(EXIT_USAGE,
                          "%s:%llu: column path: expected the rows of a path one after the other, got path %llu again",
                          f->path, (unsigned long long)(f->from + i + 1), (unsigned long long)f->id[i]);
    if (s->paths == 8 * s->room) {
        const uint64_t room = s->room ? 2 * s->room : 1024;
        uint8_t *larger = realloc(s->invalid, (size_t)room);
        if (!larger)
            return cli_no_memory();
        memset(larger + s->room, 0, (size_t)(room - s->room));
        s->invalid = larger;
        s->room = room;
    }
    s->paths++;
    s->length = 0;
    return added < 0 ? cli_no_memory() : EXIT_DONE;
}

static int is_finite(const float *p)
{
    return isfinite(p[0]) && isfinite(p[1]) && isfinite(p[2]);
}

/* A segment has the radius of element i. */
static int has_bad_radius(const paths_file *f, uint64_t i)
{
    return f->radius && !(isfinite(f->radius[i]) && f->radius[i] >= 0.0f);
}

static void make_invalid(paths_survey *s)
{
    s->invalid[(s->paths - 1) / 8] |= (uint8_t)(1u << (s->paths - 1) % 8);
}

/* The last path ends with element i. Its last radius is that of no segment, unless it has one point alone. */
static void end_path(paths_survey *s, const paths_file *f, uint64_t i)
{
    if (s->paths > 0 && s->length == 1 && has_bad_radius(f, i))
        make_invalid(s);
}

static int survey_chunk(paths_survey *s, paths_ids *ids, const paths_file *f)
{
    for (uint64_t i = 1; i <= f->count; i++) {
        const int is_first = s->paths == 0 || f->id[i] != f->id[i - 1];
        if (is_first)
            end_path(s, f, i - 1);
        const int status = is_first ? add_path(s, ids, f, i) : EXIT_DONE;
        if (status != EXIT_DONE)
            return status;
        if ((!is_first && has_bad_radius(f, i - 1)) || !is_finite(f->xyz + 3 * i))
            make_invalid(s);
        s->length++;
    }
    return EXIT_DONE;
}

int paths_survey_read(paths_survey *s, const bake_request *o, uint64_t room, uint64_t more)
{
    paths_file f;
    paths_ids ids = {0};
    progress shown;
    *s = (paths_survey){0};
    int status = paths_open(&f, o, room, more);
    if (status == EXIT_DONE && f.hdf5)
        paths_hdf5_warn(&f);
    progress_begin(&shown, "bake path: checking", "points", 0, f.points);
    while (status == EXIT_DONE) {
        status = unfinished_asked() ? EXIT_STOPPED : paths_next(&f, room);
        if (status != EXIT_DONE || f.count == 0)
            break;
        status = survey_chunk(s, &ids, &f);
        s->hash += paths_hash(&f);
        s->points = f.from + f.count;
        if (f.csv)
            progress_show_share(&shown, s->points, csv_share(f.csv));
        else
            progress_show(&shown, s->points);
    }
    progress_end(&shown);
    if (status == EXIT_DONE)
        end_path(s, &f, 0);
    if (status == EXIT_STOPPED)
        cli_message("%s: nothing is done yet", o->common.output);
    paths_ids_free(&ids);
    paths_close(&f);
    return status;
}

void paths_survey_free(paths_survey *s)
{
    free(s->invalid);
    *s = (paths_survey){0};
}

int paths_is_invalid(const paths_survey *s, uint64_t path)
{
    return s->invalid[path / 8] >> path % 8 & 1;
}
