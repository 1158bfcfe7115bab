/* SPDX-License-Identifier: MIT */
/* carom bench: the table as it is measured, and the same rows for programs. */
#include "bench/bench.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench_json.h"
#include "cli.h"
#include "output.h"

typedef struct session {
    output *out;
    bench_json json;
    int differ, short_of_memory;
    int rows;
} session;

static void tell_limits(void *user, const bench_limits *l)
{
    session *s = user;
    output_format(s->out,
                  "one core, %s: %.1f GB/s (a = b + s c), %.1f G multiply-adds/s, %.2f G divisions/s, %.2f G roots/s\n",
                  l->isa, l->triad_bytes * 1e-9, l->multiply_adds * 1e-9, l->divisions * 1e-9, l->roots * 1e-9);
    bench_json_limits(&s->json, l);
}

static void tell_note(void *user, const char *text)
{
    session *s = user;
    output_format(s->out, "%s\n", text);
    s->short_of_memory |= !bench_json_note(&s->json, text);
}

static void tell_finding(void *user, const char *text)
{
    session *s = user;
    output_format(s->out, "%s\n", text);
    s->short_of_memory |= !bench_json_finding(&s->json, text);
}

static void tell_scene(void *user, const char *name, const char *what)
{
    session *s = user;
    output_format(s->out, "\n%s: %s\n  %-58s %10s %6s %9s %7s %7s  %s\n", name, what, "", "ns/query", "+-", "M/s",
                  "GB/s", "x fast", "");
}

static void cell(output *out, double value, int width, int digits, const char *unit)
{
    if (isfinite(value))
        output_format(out, " %*.*f%s", width - (int)strlen(unit), digits, value, unit);
    else
        output_format(out, " %*s", width, "");
}

static void tell_row(void *user, const bench_row *r)
{
    session *s = user;
    const double each = r->median / r->queries * 1e9;
    output_format(s->out, "  %-58s", r->name + strlen(r->scene) + 1);
    cell(s->out, each, 10, each < 100.0 ? 2 : 0, "");
    cell(s->out, 100.0 * r->spread / r->median, 6, 1, "%");
    cell(s->out, 1e3 / each, 9, 2, "");
    cell(s->out, r->bytes > 0.0 ? r->bytes / each : (double)NAN, 7, 1, "");
    cell(s->out, r->over_fast, 7, 2, "");
    if (r->limit != NULL)
        output_format(s->out, "  %.0f %% of the %s", 100.0 * r->share, r->limit);
    if (isfinite(r->compute))
        output_format(s->out, "  up %.2f, compute %.2f, down %.2f ns", r->upload / r->queries * 1e9,
                      r->compute / r->queries * 1e9, r->download / r->queries * 1e9);
    if (r->integers > 0.0)
        output_format(s->out, "  %.2f %% in integers", 100.0 * r->integers);
    if (r->other > 0)
        output_format(s->out, "  %llu answers are others", (unsigned long long)r->other);
    output_text(s->out, r->same == 0 ? "  BITS DIFFER\n" : "\n");
    s->rows++;
    s->differ |= r->same == 0;
    s->short_of_memory |= !bench_json_row(&s->json, r);
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r%-70.70s", r->name);
}

/* What --scene chooses from. */
static bench_name_fn *names_of(const cli_options *options)
{
    return options->given & OPTION_SCALING ? scaling_series_name : bench_scene_name;
}

static int list_scenes(const cli_options *options)
{
    output out;
    int status = output_open(&out, options->output);
    if (status != EXIT_DONE)
        return status;
    const char *what, *name;
    for (size_t i = 0; (name = names_of(options)(i, &what)) != NULL; i++)
        output_format(&out, "%-24s %s\n", name, what);
    return output_close(&out, EXIT_DONE);
}

/* Whether a file can be written is known before minutes are spent. */
static int check_writable(const char *path)
{
    output out;
    int status = output_open(&out, path);
    if (status != EXIT_DONE)
        return status;
    output_close(&out, EXIT_WORK);
    return EXIT_DONE;
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

static bench_settings settings_of(const cli_options *o)
{
    return (bench_settings){
        .scenes = o->scenes,
        .quick = (o->given & OPTION_QUICK) != 0,
        .backend = o->backend,
        .device = o->device,
        .isa = o->isa,
        .threads = o->threads,
        .accuracies = o->given & OPTION_ACCURACY ? 1u << o->accuracy : 3,
    };
}

int command_bench(const cli_options *options)
{
    const char *unknown = NULL;
    const int scaling = (options->given & OPTION_SCALING) != 0;
    if (options->scenes != NULL && !strcmp(options->scenes, "list"))
        return list_scenes(options);
    if (!bench_knows(options->scenes, names_of(options), &unknown))
        return cli_refuse(EXIT_USAGE, "--scene: no %s begins with '%.*s'; carom bench%s --scene list names them",
                          scaling ? "series" : "scene", (int)strcspn(unknown, ","), unknown,
                          scaling ? " --scaling" : "");
    output out;
    int status = options->json != NULL ? check_writable(options->json) : EXIT_DONE;
    if (status == EXIT_DONE)
        status = output_open(&out, options->output);
    if (status != EXIT_DONE)
        return status;
    session s = {.out = &out};
    const bench_settings settings = settings_of(options);
    const bench_listener listener = {&s, tell_limits, tell_note, tell_scene, tell_row, tell_finding};
    bench_json_begin(&s.json, &settings, &out);
    const int measured = (scaling ? scaling_run : bench_run)(&settings, &listener);
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r%-70s\r", "");
    output_format(&out, "\n%d rows. %s\n", s.rows,
                  s.differ ? "ANSWERS DIFFER." : "All subjects of a scene and accuracy gave the same bits.");
    status = output_close(&out, EXIT_DONE);
    if (status == EXIT_DONE && options->json != NULL && !s.short_of_memory)
        status = write_json(&s.json, options->json);
    bench_json_end(&s.json);
    if (!measured)
        return cli_refuse(EXIT_WORK, "nothing could be measured");
    if (s.short_of_memory)
        return cli_no_memory();
    return s.differ ? EXIT_WORK : status;
}
