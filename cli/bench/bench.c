/* SPDX-License-Identifier: MIT */
/* carom bench: the table as it is measured, and the same rows for programs. */
#include "bench/bench.h"
#include "bench/counters.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench_compare.h"
#include "bench_csv.h"
#include "bench_files.h"
#include "bench_json.h"
#include "bench_plot.h"
#include "bench_report.h"
#include "bench_table.h"
#include "command.h"
#include "cli/import/import.h"
#include "cli/base/output.h"
#include "cli/base/unfinished.h"
#include "cli/probe/probe.h"

typedef struct bench_options {
    cli_options common;
    const char *scenes, *mesh, *json, *csv, *from, *compare, *plot, *report;
    int quick, scaling;
    uint64_t queries;
    int is_queries_given;
} bench_options;

typedef struct session {
    output *out;
    const bench_options *options;
    bench_json json;
    progress progress;
    int grows; /* the JSON file is replaced after each scene */
    int differ, short_of_memory;
    int rows, scenes;     /* shown: so many, of so many scenes */
    char scene[48];       /* the last that has rows */
    carom_status refused; /* of the first subject that cannot answer; CAROM_OK: none */
    char refusal[sizeof((carom_error *)0)->message];
} session;

static void print_device(void *user, const bench_device *device)
{
    session *s = user;
    bench_table_device(s->out, device);
    bench_json_device(&s->json, device);
}

static void print_limits(void *user, const bench_limits *l)
{
    session *s = user;
    bench_table_limits(s->out, l);
    bench_json_limits(&s->json, l);
}

static void print_note(void *user, const char *text)
{
    session *s = user;
    output_format(s->out, "%s\n", text);
    s->short_of_memory |= !bench_json_note(&s->json, text);
}

/* Without any subject the first refusal is the reason. */
static void print_refused(void *user, const char *name, carom_status status, const char *sentence)
{
    session *s = user;
    char text[768];
    snprintf(text, sizeof text, "%s is not measured: %s: %s", name, carom_status_name(status), sentence);
    print_note(s, text);
    if (s->refused != CAROM_OK)
        return;
    s->refused = status;
    snprintf(s->refusal, sizeof s->refusal, "%s", sentence);
}

static void print_finding(void *user, const char *text)
{
    session *s = user;
    output_format(s->out, "%s\n", text);
    s->short_of_memory |= !bench_json_finding(&s->json, text);
}

/* Seconds as a guess is said. */
static const char *about(double seconds, char text[32])
{
    if (seconds < 5.0)
        snprintf(text, 32, "a few seconds");
    else if (seconds < 90.0)
        snprintf(text, 32, "about %.0f seconds", 5.0 * ceil(seconds / 5.0));
    else if (seconds < 5400.0)
        snprintf(text, 32, "about %.0f minutes", ceil(seconds / 60.0));
    else
        snprintf(text, 32, "about %.1f hours", seconds / 3600.0);
    return text;
}

static void print_plan(void *user, const char *unit, size_t count, double seconds)
{
    session *s = user;
    char text[32];
    if (count > 0 && s->options->common.progress != PROGRESS_NONE)
        cli_message("bench: %zu %s, %s; SIGINT (Ctrl-C) ends it and keeps what is measured", count,
                    count == 1 && !strcmp(unit, "scenes") ? "scene" : unit, about(seconds, text));
    progress_begin(&s->progress, "bench", unit, 0, count);
}

static int go_on(void *user, size_t done, double share)
{
    session *s = user;
    progress_show_share(&s->progress, done, share);
    return unfinished_asked() == 0;
}

static int write_json(const bench_json *json, const char *path)
{
    output out;
    int status = output_open(&out, path);
    if (status != EXIT_DONE)
        return status;
    bench_json_write(json, &out);
    return output_close(&out, EXIT_DONE);
}

/* The result so far, whole, in the place of that of the scene before: an end by any means loses one scene at most. */
static void keep_json(session *s)
{
    if (s->grows && s->rows > 0 && write_json(&s->json, s->options->json) != EXIT_DONE)
        s->grows = 0; /* the reason is said; the end of the run tries again */
}

static void print_scene(void *user, const char *name, const char *what)
{
    session *s = user;
    keep_json(s);
    bench_table_scene(s->out, name, what);
    output_flush(s->out);
}

static void show_row(session *s, const bench_row *r)
{
    bench_table_row(s->out, r);
    s->scenes += strcmp(s->scene, r->scene) != 0;
    snprintf(s->scene, sizeof s->scene, "%s", r->scene);
    s->rows++;
    s->differ |= r->same == 0;
}

static void print_row(void *user, const bench_row *r)
{
    session *s = user;
    show_row(s, r);
    s->short_of_memory |= !bench_json_row(&s->json, r);
    output_flush(s->out);
}

/* What --scene chooses from. */
static bench_name_fn *names_of(const bench_options *options)
{
    return options->scaling ? scaling_series_name : bench_scene_name;
}

static int list_scenes(const bench_options *options)
{
    output out;
    int status = output_open(&out, options->common.output);
    if (status != EXIT_DONE)
        return status;
    char name[BENCH_NAME];
    const char *what;
    for (size_t i = 0; names_of(options)(i, name, &what); i++)
        output_format(&out, "%-31s %s\n", name, what);
    return output_close(&out, EXIT_DONE);
}

static bench_settings settings_of(const bench_options *o, const mesh_data *mesh)
{
    return (bench_settings){
        .scenes = o->scenes,
        .quick = o->quick,
        .queries = o->is_queries_given ? o->queries : 0,
        .backend = o->common.backend,
        .device = o->common.device,
        .isa = o->common.isa,
        .threads = o->common.threads,
        .accuracies = o->common.is_accuracy_given ? 1u << o->common.accuracy : 3,
        .mesh = {mesh->xyz, mesh->indices, (size_t)mesh->vertex_count, (size_t)mesh->triangle_count},
    };
}

/* Can the file be replaced while the run goes on? What is no regular file is written once. */
static int is_replaceable(const char *path)
{
    output_place place;
    if (output_place_find(&place, path) != EXIT_DONE)
        return 0;
    const int regular = place.folder >= 0;
    output_place_free(&place);
    return regular;
}

/* Returns an exit status; what is measured goes to the table at once, and is kept. */
static int take_run(session *s, const mesh_data *mesh)
{
    bench_options usable = *s->options;
    const int status = probe_before_all(&usable.common);
    if (status != EXIT_DONE)
        return status;
    const bench_settings settings = settings_of(&usable, mesh);
    const bench_listener listener = {s,          print_device, print_limits, print_refused, print_note,
                                     print_plan, go_on,        print_scene,  print_row,     print_finding};

    bench_json_begin(&s->json, &settings);
    machine_open_counters(&s->json.machine); /* before any thread is started that is to be counted */
    bench_table_head(s->out, &s->json);
    bench_table_machine(s->out, &s->json.machine);
    s->grows = usable.json != NULL && is_replaceable(usable.json);
    unfinished_hold();
    const int measured = (usable.scaling ? scaling_run : bench_run)(&settings, &listener);
    progress_end(&s->progress);
    machine_end(&s->json.machine);
    counters_close();
    s->json.partial = unfinished_asked() != 0;
    if (s->json.partial)
        return s->rows > 0 ? EXIT_DONE : cli_refuse(EXIT_INTERRUPTED, "interrupted before anything was measured");
    if (!measured || s->rows == 0)
        return cli_refuse(s->refused == CAROM_ERROR_INVALID_ARGUMENT ? EXIT_USAGE : EXIT_WORK,
                          "nothing could be measured%s%s", s->refusal[0] ? ": " : "", s->refusal);
    return s->short_of_memory ? cli_no_memory() : EXIT_DONE;
}

static const char *scene_words(const char *name)
{
    char known[BENCH_NAME];
    const char *what;
    for (size_t i = 0; bench_scene_name(i, known, &what); i++)
        if (!strcmp(known, name))
            return what;
    for (size_t i = 0; scaling_series_name(i, known, &what); i++)
        if (!strncmp(name, "scaling-", 8) && !strcmp(known, name + 8))
            return what;
    return "";
}

/* The table of a result that was taken before. */
static int take_file(session *s, const char *path)
{
    const int status = bench_json_read(&s->json, path);
    if (status != EXIT_DONE)
        return status;
    output_shown(s->out, path, strlen(path));
    output_format(s->out, ", taken %s\n", s->json.date);
    bench_table_head(s->out, &s->json);
    bench_table_machine(s->out, &s->json.machine);
    for (int i = 0; i < s->json.device_count; i++)
        bench_table_device(s->out, &s->json.devices[i]);
    for (int i = 0; i < s->json.limit_count; i++)
        bench_table_limits(s->out, &s->json.limits[i]);
    if (s->json.partial)
        output_text(s->out, "partial: the run was interrupted\n");
    bench_table_lines(s->out, s->json.notes);
    for (size_t i = 0; i < s->json.row_count; i++) {
        const bench_row *r = &s->json.rows[i];
        if (strcmp(s->scene, r->scene) != 0)
            print_scene(s, r->scene, scene_words(r->scene));
        show_row(s, r);
    }
    bench_table_lines(s->out, s->json.findings);
    return EXIT_DONE;
}

/* Is there an option that says how to measure, or where results go? */
static int measures(const bench_options *o)
{
    const cli_options *c = &o->common;
    return o->mesh || o->scenes || o->quick || o->is_queries_given || o->scaling || o->json || c->is_device_given ||
           c->is_accuracy_given || c->is_other_given;
}

/* What would fail in the end fails before minutes are spent. */
static int check_files(const bench_options *o, bench_json *old)
{
    const int scaling = o->scaling;
    const char *unknown = NULL;
    int status = EXIT_DONE;

    if (o->from != NULL && measures(o))
        return cli_refuse(EXIT_USAGE,
                          "--from measures nothing: it takes --compare, --plot, --csv, --report and --output only");
    if (o->mesh != NULL && scaling)
        return cli_refuse(EXIT_USAGE, "--scaling makes its own meshes: --mesh has no meaning there");
    if (o->is_queries_given && scaling)
        return cli_refuse(EXIT_USAGE, "--scaling has batches of its own: --queries has no meaning there");
    if (!bench_knows(o->scenes, names_of(o), &unknown))
        return cli_refuse(EXIT_USAGE, "--scene: no %s begins with '%.*s'; carom bench%s --scene list names them",
                          scaling ? "series" : "scene", (int)strcspn(unknown, ","), unknown,
                          scaling ? " --scaling" : "");
    if (o->report != NULL && !cli_has_suffix(o->report, "html"))
        return cli_refuse(EXIT_USAGE, "--report: expected a name that ends in .html, got '%s'", o->report);
    if (o->plot != NULL)
        status = bench_plot_check(o->plot);
    if (status == EXIT_DONE && o->compare != NULL)
        status = cli_check_named_input(&o->common, o->compare);
    return status == EXIT_DONE && o->compare != NULL ? bench_json_read(old, o->compare) : status;
}

/* Would the library take it? Known before minutes are spent. */
static int check_mesh(const char *path, const mesh_data *data)
{
    carom_context_desc desc = carom_context_desc_default();
    carom_context *context = NULL;
    carom_mesh *mesh = NULL;
    carom_error err = {0};
    desc.backend = CAROM_BACKEND_CPU;
    const carom_mesh_desc shape = {
        .size = sizeof shape,
        .vertices = carom_xyz(data->xyz),
        .vertex_count = data->vertex_count,
        .indices = {data->indices, sizeof(uint32_t)},
        .triangle_count = data->triangle_count,
    };
    carom_status status = carom_context_create(&desc, &context, &err);
    if (status == CAROM_OK)
        status = carom_mesh_create(context, &shape, &mesh, &err);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    return status == CAROM_OK ? EXIT_DONE : cli_library_error(path, status, &err);
}

static int read_mesh(const char *path, mesh_data *mesh)
{
    int status = mesh_import(path, mesh);
    if (status == EXIT_DONE)
        status = check_mesh(path, mesh);
    if (status != EXIT_DONE)
        mesh_free(mesh);
    return status;
}

static void show_end(session *s, const bench_comparison *moves)
{
    output_format(s->out, "\n%d rows%s. %s\n", s->rows, s->json.partial ? ", a partial result" : "",
                  s->differ     ? "ANSWERS DIFFER."
                  : s->rows > 0 ? "All subjects of a scene and accuracy gave the same bits."
                                : "Nothing was measured.");
    if (s->options->compare != NULL)
        bench_compare_show(moves, s->out);
}

/* The files of a result: one that cannot be written costs none of the others. They come before the end of the table:
 * who reads that from a pipe may be gone after an interruption, and the process ends with the pipe. */
static int keep_result(const session *s, const bench_comparison *moves)
{
    const bench_options *o = s->options;
    int status = EXIT_DONE, other;
    if (s->json.partial && o->from == NULL)
        cli_message("interrupted: the rows of %d scene%s are kept%s", s->scenes, s->scenes == 1 ? "" : "s",
                    o->json != NULL ? ", marked as a partial result" : "");
    if (o->json != NULL)
        status = write_json(&s->json, o->json);
    if (o->plot != NULL && (other = bench_plot(&s->json, o->plot)) != EXIT_DONE)
        status = status == EXIT_DONE ? other : status;
    if (o->csv != NULL && (other = bench_csv(&s->json, o->csv)) != EXIT_DONE)
        status = status == EXIT_DONE ? other : status;
    const bench_report report = {&s->json, &moves, o->compare != NULL, scene_words};
    if (o->report != NULL && (other = bench_report_write(&report, o->report)) != EXIT_DONE)
        status = status == EXIT_DONE ? other : status;
    return status;
}

/* --compare OLD NEW...: nothing is measured. */
static int compare_files(const bench_options *o)
{
    if (o->compare == NULL)
        return cli_refuse(EXIT_USAGE, "bench: unexpected argument '%s': files are compared by --compare OLD NEW",
                          o->common.operands[0]);
    if (o->from != NULL || o->plot != NULL || o->csv != NULL || measures(o))
        return cli_refuse(EXIT_USAGE,
                          "--compare with several files measures nothing: it takes --report and --output only");
    return bench_files_compare(&(bench_files){&o->common, o->compare, o->report, scene_words});
}

static int run(const void *own)
{
    const bench_options *options = own;
    if (options->scenes != NULL && !strcmp(options->scenes, "list"))
        return list_scenes(options);
    if (options->common.operand_count > 0 || (options->compare != NULL && options->common.operands_apart == 0))
        return compare_files(options);
    bench_json old = {0};
    mesh_data mesh = {0};
    output out;
    session s = {.out = &out, .options = options};
    int status = check_files(options, &old);
    if (status == EXIT_DONE && options->mesh != NULL)
        status = read_mesh(options->mesh, &mesh);
    if (status == EXIT_DONE)
        status = output_open(&out, options->common.output);
    if (status == EXIT_DONE) {
        bench_comparison moves = {0};
        status = options->from != NULL ? take_file(&s, options->from) : take_run(&s, &mesh);
        if (status == EXIT_DONE && options->compare != NULL)
            status = bench_compare(&(bench_side){&old, &options->compare, 1}, &(bench_side){&s.json, &options->from, 1},
                                   &moves);
        const int kept = status == EXIT_DONE ? keep_result(&s, &moves) : status;
        if (status == EXIT_DONE)
            show_end(&s, &moves);
        bench_compare_end(&moves);
        status = output_close(&out, status);
        status = status == EXIT_DONE ? kept : status;
    }
    const int interrupted = options->from == NULL && s.json.partial;
    bench_json_end(&s.json);
    bench_json_end(&old);
    mesh_free(&mesh);
    if (status == EXIT_DONE && interrupted)
        return EXIT_INTERRUPTED;
    return status == EXIT_DONE && s.differ ? EXIT_WORK : status;
}

#define AT(member) offsetof(bench_options, member)
static const cli_option own_options[] = {
    CLI_MESH(bench_options),
    CLI_QUERIES(bench_options),
    {"scene", "NAME", "scenes whose names begin so, separated by commas; list names all (default all)", cli_read_name,
     AT(scenes), 0, CLI_NO_FILE},
    {"quick", NULL, "fewer rounds and smaller batches, no mesh of a million triangles", NULL, 0, AT(quick),
     CLI_NO_FILE},
    {"scaling", NULL, "series instead of scenes: batch size, triangles, threads, chunk; --scene names some of them",
     NULL, 0, AT(scaling), CLI_NO_FILE},
    {"json", "FILE", "the same rows for programs, in the shape of Google Benchmark", cli_read_name, AT(json), 0,
     CLI_WRITES},
    {"csv", "FILE", "each round of each row on a line, for programs that test by methods of their own", cli_read_name,
     AT(csv), 0, CLI_WRITES_TEXT},
    {"report", "FILE.html", "tables, pictures and the machine in one HTML file that needs no other", cli_read_name,
     AT(report), 0, CLI_WRITES},
    {"from", "FILE", "show an earlier --json FILE instead of measuring", cli_read_name, AT(from), 0, CLI_READS},
    {"compare", "FILE",
     "what moved since an earlier --json FILE, beyond noise; with files behind it, these are compared", cli_read_name,
     AT(compare), 0, CLI_NO_FILE},
    {"plot", "FILE", "a picture by gnuplot; the name ends in .svg or .png", cli_read_name, AT(plot), 0, CLI_WRITES},
};

const cli_command bench_command = {
    .name = "bench",
    .summary = "how fast every backend answers named scenes",
    .synopsis = "carom bench [--quick] [--scaling] [--scene NAME[,NAME...]] [options]\n"
                "carom bench --from FILE [--compare FILE] [--plot FILE] [options]\n"
                "carom bench --compare OLD NEW [NEW...] [--report FILE.html] [-o FILE]\n"
                "carom bench --compare OLD [OLD...] [--report FILE.html] [-o FILE] -- NEW [NEW...]",
    .details =
        "Every instruction set with one thread, the best with all, every OpenCL device, in fast and exact mode,\n"
        "and loops that only move the same bytes, in turns. Times are medians with a 95 % confidence interval; +- is\n"
        "the spread of the rounds, CPU ns the time of all threads together. Close other programs first.\n"
        "--compare OLD NEW NEW holds each new file against the old one. With -- in between, files in front are runs "
        "of\n"
        "one build and files behind are runs of another: several runs tell smaller differences.\n"
        "Exit status 1 if answers that should have the same bits do not. SIGINT or SIGTERM ends the run and keeps\n"
        "what is measured, marked as partial: exit status 130.\n",
    .run = run,
    .size = sizeof(bench_options),
    .options = own_options,
    .option_count = CLI_COUNT(own_options),
    .computes = 1,
    .output = &cli_output_text,
    .operands_max = INT_MAX,
    .operands = "results to compare",
};
