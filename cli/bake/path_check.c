/* SPDX-License-Identifier: MIT */
/* carom bake check of the rows of paths: random paths are asked for anew, in the accuracy of the file, whose bytes must
 * be the same, and in exact mode, whose rows the reference judges. All three become files of rows in the order of the
 * paths, so that memory does not depend on how many hits there are. */
#include "part.h"
#include "path_compare.h"
#include "path_file.h"

#include "cli/base/parallel.h"
#include "reference/mesh.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Triangles that the reference may look at in all. */
enum { REFERENCE_TRIANGLES = 10000000 };

typedef struct path_check {
    bake_request options; /* of the bake */
    path_rows rows;
    int fd;
    char text[BAKE_TEXT]; /* its fingerprint */
    int is_known;
    int is_columns; /* the file has columns, which become rows as those of a part */
    bake_mesh mesh;
    paths_survey survey;
    uint8_t *chosen;         /* a bit for each path */
    uint64_t judged, budget; /* paths by the reference; triangles that it may still look at */
    uint64_t random;
} path_check;

/* ---- what the file is ---------------------------------------------------------------------------------------------
 */

static int take(const path_check *c, const char *name, char value[BAKE_NAME])
{
    char line[BAKE_NAME];
    snprintf(line, sizeof line, "\n%s ", name);
    const char *at = strstr(c->text, line);
    at = at ? at + 1 : "";
    return bake_text_take(&at, name, value);
}

/* The options of the bake. Returns 0 if it is of another version. */
static int take_options(path_check *c)
{
    char hits[BAKE_NAME], start[BAKE_NAME], cull[BAKE_NAME], accuracy[BAKE_NAME], radius[BAKE_NAME], format[BAKE_NAME],
        value[BAKE_NAME];
    bake_request *o = &c->options;
    if (!take(c, "hits", hits) || !take(c, "start", start) || !take(c, "cull-back", cull) ||
        !take(c, "accuracy", accuracy) || !take(c, "radius", radius) || !take(c, "format", format))
        return 0;
    unsigned long long part = 0, parts = 0;
    if (!take(c, "part", value) || sscanf(value, "%llu/%llu", &part, &parts) != 2 || part < 1 || part > parts)
        return 0;
    const int word = bake_word_of(hits, path_hits_words, PATH_HITS), policy = bake_word_of(start, path_start_words, 3);
    if (word < 0 || policy < 0)
        return 0;
    c->rows.hits = (path_hits)word;
    o->start = (carom_start)policy;
    o->cull_back = strcmp(cull, "yes") == 0;
    o->common.accuracy = strcmp(accuracy, "exact") == 0 ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST;
    o->bake.given &= ~(uint32_t)BAKE_GIVEN_RADIUS;
    if (strcmp(radius, "column") != 0) {
        o->bake.parameters.radius = strtof(radius, NULL);
        o->bake.given |= BAKE_GIVEN_RADIUS;
    }
    c->rows.is_packed = strcmp(format, "part") == 0;
    o->bake.part = part;
    o->bake.parts = parts;
    return 1;
}

static int find_options(path_check *c)
{
    const bake_request *o = &c->options;
    if (!o->bake.paths)
        return cli_refuse(EXIT_USAGE, "%s: holds rows of paths: --paths FILE is missing", c->rows.shown);
    const int is_given =
        o->hits || o->bake.given != 0 || o->common.is_accuracy_given || o->is_start_given || o->cull_back;
    c->is_known = path_text(c->fd, c->text);
    if (c->is_known && !take_options(c))
        return cli_refuse(EXIT_USAGE, "%s: is of another version of carom: %.*s", c->rows.shown,
                          (int)strcspn(c->text, "\n"), c->text);
    c->is_columns = !c->rows.is_packed && cli_is_hdf5(c->rows.shown);
    if (!c->rows.is_packed && !c->is_columns && path_is_columns(c->rows.shown))
        return cli_refuse(EXIT_USAGE, "%s: bake check reads rows of paths as .csv, .h5 and parts", c->rows.shown);
    c->rows.is_packed |= c->is_columns;
    if (c->is_known) {
        if (is_given)
            cli_message("%s: says how it was made, so these options are not used", c->rows.shown);
        return EXIT_DONE;
    }
    cli_message("%s: does not say how it was made: taken as from the options here", c->rows.shown);
    int word = PATH_FIRST;
    const int status = o->hits ? cli_read_word("hits", o->hits, path_hits_words, &word) : -1;
    c->rows.hits = (path_hits)word;
    return status < 0 ? EXIT_DONE : status;
}

/* Mesh and points must be those of the bake. */
static int check_inputs(path_check *c)
{
    char mesh[BAKE_NAME], value[BAKE_NAME], points[BAKE_NAME];
    if (!c->is_known)
        return EXIT_DONE;
    bake_mesh_name(&c->mesh, mesh);
    if (!take(c, "mesh", value) || strcmp(mesh, value) != 0)
        return path_differs(&c->rows, "was baked from another mesh or scene: hash and triangles differ");
    snprintf(points, sizeof points, "%016llx", (unsigned long long)c->survey.hash);
    if (!take(c, "paths", value) || strcmp(points, value) != 0)
        return path_differs(&c->rows, "was baked from other paths: their hash differs");
    return EXIT_DONE;
}

/* ---- which paths --------------------------------------------------------------------------------------------------
 */

static int is_chosen(const path_check *c, uint64_t path)
{
    return c->chosen[path / 8] >> path % 8 & 1;
}

static int choose(path_check *c)
{
    const uint64_t paths = c->survey.paths, wanted = c->options.bake.samples;
    c->chosen = cli_alloc(paths / 8 + 1, 1);
    if (!c->chosen)
        return cli_no_memory();
    memset(c->chosen, 0, (size_t)(paths / 8 + 1));
    for (uint64_t i = 0; i < wanted && paths > 0; i++) {
        const uint64_t path = wanted >= paths ? i % paths : bake_draw(&c->random, paths);
        c->chosen[path / 8] |= (uint8_t)(1u << path % 8);
    }
    return EXIT_DONE;
}

/* ---- rows anew ----------------------------------------------------------------------------------------------------
 */

/* A reading of the paths, and the sections of those that are chosen. */
typedef struct reading {
    path_check *check;
    paths_file file;
    path_current current;
    path_section *sections, *wanted;
    path_asker asker;
    path_writer writer;
    output out;
    FILE *truth; /* rows of the reference, unless NULL */
    FILE *ids;   /* those of all paths of the part in their order, unless NULL */
} reading;

static void judge(reading *r, const path_section *s);

/* Where a path begins. */
static void put_id(reading *r, const path_section *s)
{
    const uint64_t id = s->id | (is_chosen(r->check, s->number) ? PATH_CHOSEN : 0);
    if (r->ids && s->begin > 0)
        (void)fwrite(&id, sizeof id, 1, r->ids);
}

static int ask_chunk(reading *r)
{
    path_check *c = r->check;
    const uint64_t count = path_cut(&r->file, &c->survey, &r->current, r->sections);
    uint64_t wanted = 0;
    for (uint64_t i = 0; i < count; i++) {
        const path_section *s = &r->sections[i];
        if (!path_is_of_part(&c->options.bake, &c->survey, s))
            continue;
        put_id(r, s);
        if (!is_chosen(c, s->number))
            continue;
        if (r->truth)
            judge(r, s);
        r->wanted[wanted++] = *s;
    }
    const int status = path_ask(&r->asker, &r->file, r->wanted, wanted, &r->writer);
    if (count > 0)
        r->current.is_hit =
            wanted > 0 && r->wanted[wanted - 1].number == r->sections[count - 1].number && r->wanted[wanted - 1].is_hit;
    path_writer_flush(&r->writer);
    return status;
}

static int ask_all(reading *r)
{
    const path_check *c = r->check;
    int status = paths_open(&r->file, &c->options, PATH_CHUNK, PATHS_HDF5_MORE);
    if (r->file.csv)
        csv_read_again(r->file.csv);
    r->sections = cli_alloc(PATH_CHUNK + 1, sizeof *r->sections);
    r->wanted = cli_alloc(PATH_CHUNK + 1, sizeof *r->wanted);
    if (status == EXIT_DONE && (!r->sections || !r->wanted))
        status = cli_no_memory();
    if (status == EXIT_DONE)
        status = path_asker_open(&r->asker, &c->options, c->mesh.mesh, c->rows.hits, PATH_CHUNK);
    for (int at_end = 0; status == EXIT_DONE && !at_end;) {
        status = paths_next(&r->file, PATH_CHUNK);
        at_end = r->file.count == 0;
        if (status == EXIT_DONE)
            status = ask_chunk(r);
    }
    if (status == EXIT_DONE && r->out.error)
        status = cli_refuse(EXIT_WORK, "a temporary file: cannot be written: %s", strerror(r->out.error));
    return status;
}

/* The rows of the chosen paths in a file without a name, as in an output or in a part of one. */
static int write_rows(path_check *c, carom_accuracy accuracy, int as_part, FILE *rows, FILE *truth, FILE *ids)
{
    reading r = {.check = c, .file = {.npy = {.fd = -1}}, .truth = truth, .ids = ids};
    const carom_accuracy own = c->options.common.accuracy;
    c->options.common.accuracy = accuracy;
    int status = output_on(&r.out, fileno(rows), "a temporary file");
    if (status == EXIT_DONE)
        status = path_writer_open(&r.writer, &r.out, c->rows.hits, as_part ? c->text : NULL, 1);
    if (status == EXIT_DONE)
        status = ask_all(&r);
    if (status == EXIT_DONE)
        output_flush(&r.out);
    c->options.common.accuracy = own;
    path_asker_close(&r.asker);
    path_writer_close(&r.writer);
    paths_close(&r.file);
    free(r.sections);
    free(r.wanted);
    free(r.out.buffer);
    return status;
}

/* ---- the reference ------------------------------------------------------------------------------------------------
 */

/* What the reference says of a section that is a whole path: all its hits. Returns 0 if it has no answer. */
static int find_truth(const reading *r, const path_section *s, ref_mesh_list *lists)
{
    const path_check *c = r->check;
    const mesh_data *data = &c->mesh.data;
    const ref_mesh mesh = {data->xyz, data->indices, (size_t)data->triangle_count, data->masks};
    ref_mesh_options options = ref_mesh_no_options;
    options.cull_back = c->options.cull_back != 0;
    options.start = (int)c->options.start;
    int known = 1;
    for (uint32_t e = s->begin; e < s->end && known; e++) {
        const float radius = r->file.radius ? r->file.radius[e] : c->options.bake.parameters.radius;
        ref_sweep_case ball = {.radius = (double)radius};
        memcpy(ball.center, r->file.xyz + 3 * (size_t)e, sizeof ball.center);
        memcpy(ball.w, ball.center, sizeof ball.w);
        memcpy(ball.velocity, r->file.xyz + 3 * ((size_t)e + !s->is_point), sizeof ball.velocity);
        known = ref_mesh_all(&mesh, &ball, 1.0f, &options, &lists[e - s->begin]) == NULL;
    }
    return known;
}

static void put_truth(const reading *r, const path_section *s, const ref_mesh_list *lists)
{
    const path_hits hits = r->check->rows.hits;
    const unsigned long long id = s->id;
    size_t count = 0;
    for (uint32_t e = 0; e < s->end - s->begin && !s->is_invalid; e++)
        for (size_t i = 0; i < lists[e].count; i++) {
            const ref_mesh_hit *hit = &lists[e].hits[i];
            if (hits == PATH_ALL || (hits == PATH_FIRST && count == 0))
                fprintf(r->truth, "%llu,%u,%.9g,%d,%s,%s\n", id, e, (double)hit->t, hit->triangle,
                        carom_state_name((carom_state)hit->state), carom_feature_name((carom_feature)hit->feature));
            count++;
        }
    if (hits == PATH_ANY)
        fprintf(r->truth, s->is_invalid ? "%llu,\n" : "%llu,%d\n", id, count > 0);
    else if (count == 0)
        fprintf(r->truth, "%llu,-1,inf,-1,%s,\n", id, s->is_invalid ? "invalid" : "miss");
}

/* If the section is a whole path, and not too much work. The chunk without points ends a path that has been judged,
 * unless it has one point. */
static void judge(reading *r, const path_section *s)
{
    path_check *c = r->check;
    const uint32_t segments = s->end - s->begin;
    const uint64_t triangles = c->mesh.data.triangle_count, cost = segments * (triangles > 0 ? triangles : 1);
    const int ends = s->is_last || r->file.from + r->file.count == c->survey.points;
    if ((r->file.count == 0 && !s->is_point) || s->segment > 0 || segments == 0 || !ends || cost > c->budget)
        return;
    ref_mesh_list *lists = calloc((size_t)segments + 1, sizeof *lists);
    if (!lists)
        return;
    c->budget -= cost;
    if (s->is_invalid || find_truth(r, s, lists)) {
        put_truth(r, s, lists);
        c->judged++;
    }
    for (uint32_t e = 0; e < segments; e++)
        free(lists[e].hits);
    free(lists);
}

/* ---- comparing ---------------------------------------------------------------------------------------------------
 */

/* What a part ends with is of all its bytes, whatever paths are chosen. */
static int check_sum(path_check *c)
{
    unsigned char bytes[8];
    struct stat info;
    uint64_t sum;
    const int is_part = c->rows.is_packed && !c->is_columns;
    int error = !is_part ? 0 : fstat(c->fd, &info) != 0 ? errno : 0;
    if (!is_part || (!error && info.st_size < (off_t)sizeof bytes))
        return EXIT_DONE;
    const uint64_t end = error ? 0 : (uint64_t)info.st_size - sizeof bytes;
    if (!error)
        error = path_file_sum(c->fd, end, &sum);
    if (!error)
        error = cli_read_at(c->fd, bytes, sizeof bytes, end);
    if (error)
        return cli_refuse(EXIT_USAGE, "%s: cannot be read: %s", c->rows.shown, strerror(error));
    return bake_get64(bytes) == sum ? EXIT_DONE
                                    : path_differs(&c->rows, "does not have its checksum: the file is damaged");
}

/* Go to the first row: behind what stands in front of them, or to rows made of columns. */
static int find_rows(path_check *c, FILE *file)
{
    char names[256];
    unsigned char header[BAKE_PART_HEADER];
    if (c->is_columns)
        return path_columns_read(&c->rows, file);
    if (c->rows.is_packed)
        return fseek(file, (long)bake_part_header(c->text, header), SEEK_SET) == 0
                   ? EXIT_DONE
                   : cli_refuse(EXIT_USAGE, "%s: cannot be read: %s", c->rows.shown, strerror(errno));
    if (!fgets(names, sizeof names, file) || strcmp(names, path_names(c->rows.hits)) != 0)
        return path_differs(&c->rows, "the header is not that of such rows");
    return EXIT_DONE;
}

static int compare_all(path_check *c, FILE *file, FILE *own, FILE *exact, FILE *truth, FILE *ids)
{
    const carom_accuracy accuracy = c->options.common.accuracy;
    int status = find_rows(c, file);
    if (c->rows.is_stopped)
        return status;
    if (status == EXIT_DONE)
        status = write_rows(c, accuracy, c->rows.is_packed, own, NULL, ids);
    if (status == EXIT_DONE && fflush(ids) != 0)
        status = cli_refuse(EXIT_WORK, "a temporary file: cannot be written: %s", strerror(errno));
    if (status == EXIT_DONE)
        status = path_compare(&c->rows, file, own, ids);
    if (status == EXIT_DONE)
        status = check_sum(c);
    if (c->rows.is_stopped)
        return status;
    if (status == EXIT_DONE)
        status = write_rows(c, CAROM_ACCURACY_EXACT, 0, exact, truth, NULL);
    rewind(exact);
    if (status == EXIT_DONE && fflush(truth) == 0)
        status = path_compare(&c->rows, exact, truth, NULL);
    return status;
}

static int compare_with(path_check *c)
{
    FILE *file = c->is_columns ? tmpfile() : fdopen(dup(c->fd), "rb"), *own = tmpfile(), *exact = tmpfile(),
         *truth = tmpfile(), *ids = tmpfile();
    int status = file && own && exact && truth && ids
                     ? compare_all(c, file, own, exact, truth, ids)
                     : cli_refuse(EXIT_WORK, "a temporary file: cannot be opened: %s", strerror(errno));
    FILE *const all[] = {file, own, exact, truth, ids};
    for (int i = 0; i < 5; i++)
        if (all[i])
            fclose(all[i]);
    return status;
}

/* ---- all ----------------------------------------------------------------------------------------------------------
 */

static int print_result(const path_check *c)
{
    output out;
    const int status = output_open(&out, NULL);
    if (status != EXIT_DONE)
        return status;
    output_format(&out, "%llu of %llu paths, %llu of them by the reference: %llu difference%s\n",
                  (unsigned long long)c->rows.compared, (unsigned long long)c->survey.paths,
                  (unsigned long long)c->judged, (unsigned long long)c->rows.differences,
                  c->rows.differences == 1 ? "" : "s");
    return output_close(&out, c->rows.differences > 0 ? EXIT_WORK : EXIT_DONE);
}

int path_check_run(const bake_request *options, int fd)
{
    path_check c = {.options = *options,
                    .rows = {.shown = options->common.operands[0]},
                    .fd = fd,
                    .budget = REFERENCE_TRIANGLES,
                    .random = options->seed};
    int status = find_options(&c);
    if (status == EXIT_DONE)
        status = bake_mesh_read(&c.options, &c.mesh);
    if (status == EXIT_DONE)
        status = paths_survey_read(&c.survey, &c.options, PATH_CHUNK, PATHS_HDF5_MORE);
    if (status == EXIT_DONE)
        status = check_inputs(&c);
    if (status == EXIT_DONE)
        status = bake_mesh_open(&c.options, 1, &c.mesh);
    if (status == EXIT_DONE)
        status = choose(&c);
    if (status == EXIT_DONE)
        status = compare_with(&c);
    if (status == EXIT_DONE)
        status = print_result(&c);
    free(c.chosen);
    paths_survey_free(&c.survey);
    bake_mesh_free(&c.mesh);
    return status;
}

/* Paths are asked for with the options of the bake, or with those here where the file does not say, and in exact mode.
 * A file that is no good is refused by the command itself. */
int path_check_prepare(const bake_request *options, int fd)
{
    path_check c = {.options = *options, .fd = fd};
    c.is_known = path_text(fd, c.text);
    const int word = options->hits ? bake_word_of(options->hits, path_hits_words, PATH_HITS) : PATH_FIRST;
    if (c.is_known ? !take_options(&c) : word < 0)
        return EXIT_DONE;
    const path_hits hits = c.is_known ? c.rows.hits : (path_hits)word;
    const int status = path_prepare(&c.options, hits);
    c.options.common.accuracy = CAROM_ACCURACY_EXACT;
    return status == EXIT_DONE ? path_prepare(&c.options, hits) : status;
}
