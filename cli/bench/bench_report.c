/* SPDX-License-Identifier: MIT */
#include "bench_report.h"

#include "cli/base/base.h"
#include "html.h"
#include "report_plot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the head ---------------------------------------------------------------------------------------------------- */

static void put_doubts(output *out, const bench_json *json, const char *path)
{
    char text[BENCH_DOUBT], line[BENCH_DOUBT + 256];

    for (int i = 0; bench_doubt(json, i, text) != NULL; i++) {
        snprintf(line, sizeof line, "%.250s%s%s", path != NULL ? path : "", path != NULL ? ": " : "", text);
        html_element(out, "p", "doubt", line);
        output_char(out, '\n');
    }
}

static void put_fact(output *out, const char *words, const char *value, const char *reason)
{
    output_text(out, "<tr>");
    html_element(out, "td", NULL, words);
    if (*value != '\0') {
        html_element(out, "td", NULL, value);
    } else {
        output_text(out, "<td class=\"none\">not known: ");
        html_text(out, *reason != '\0' ? reason : "the file does not say");
        output_text(out, "</td>");
    }
    output_text(out, "</tr>\n");
}

static void put_machine(output *out, const bench_json *json)
{
    char value[256];

    html_element(out, "h2", NULL, "Machine and build");
    output_text(out, "\n<div class=\"wide\"><table class=\"facts\">\n");
    snprintf(value, sizeof value, "%s, %d processors", json->cpu, json->processors);
    put_fact(out, "processor", value, "");
    for (int i = 0; i < MACHINE_KEYS; i++) {
        const machine_fact *fact = &json->machine.facts[i];
        snprintf(value, sizeof value, "%s%s", fact->value, *fact->value != '\0' ? machine_unit((machine_key)i) : "");
        put_fact(out, machine_words((machine_key)i), value, fact->reason);
    }
    put_fact(out, "commit", json->commit, "");
    put_fact(out, "compiler", json->compiler, "");
    put_fact(out, "flags", json->flags, "");
    put_fact(out, "taken", json->date, "");
    for (int i = 0; i < json->device_count; i++) {
        snprintf(value, sizeof value, "%.100s, driver %.100s", json->devices[i].info.name,
                 json->devices[i].info.driver);
        put_fact(out, "OpenCL device", value, "");
    }
    html_table_end(out);
}

static void put_limits(output *out, const bench_json *json)
{
    static const char *const heads[] = {"limits, measured in the same run",
                                        "GB/s (a = b + s c)",
                                        "G multiply-adds/s",
                                        "G divisions/s",
                                        "G roots/s",
                                        NULL};

    if (json->limit_count == 0)
        return;
    html_table_begin(out, heads);
    for (int i = 0; i < json->limit_count; i++) {
        const bench_limits *l = &json->limits[i];
        output_text(out, "<tr>");
        html_cell(out, "%s, %u thread%s", l->isa, l->threads, l->threads == 1 ? "" : "s");
        html_cell(out, "%.1f", l->triad_bytes * 1e-9);
        html_cell(out, "%.1f", l->multiply_adds * 1e-9);
        html_cell(out, "%.2f", l->divisions * 1e-9);
        html_cell(out, "%.2f", l->roots * 1e-9);
        output_text(out, "</tr>\n");
    }
    html_table_end(out);
}

/* ---- scenes ------------------------------------------------------------------------------------------------------ */

/* A number with a unit; an empty cell for none. */
static void put_number(output *out, double value, int digits)
{
    if (isfinite(value))
        html_cell(out, "%.*f", digits, value);
    else
        html_cell(out, "%s", "");
}

static int digits_of(double value)
{
    return value < 100.0 ? 2 : 0;
}

static void put_row(output *out, const bench_row *r)
{
    const double scale = 1e9 / r->queries, median = r->median * scale, cpu = r->cpu * scale;
    const int digits = digits_of(median);

    output_text(out, "<tr>");
    html_cell(out, "%s", report_subject(r));
    put_number(out, median, digits);
    if (isfinite(r->interval.low) && isfinite(r->interval.high))
        html_cell(out, "%.*f to %.*f", digits, r->interval.low * scale, digits, r->interval.high * scale);
    else
        html_cell(out, "%s", "");
    html_cell(out, "%d", r->rounds);
    put_number(out, cpu, digits_of(cpu));
    put_number(out, 1e-6 * r->queries / r->median, 2);
    put_number(out, r->bytes > 0.0 ? r->bytes / median : (double)NAN, 1);
    put_number(out, r->over_fast, 2);
    put_number(out, r->instructions / r->queries, 1);
    put_number(out, r->package_joules * scale, 1);
    put_number(out, r->device_joules * scale, 1);
    if (r->judged > 0)
        html_cell(out, "%llu, %llu, %llu of %llu", (unsigned long long)r->misses, (unsigned long long)r->false_hits,
                  (unsigned long long)r->off, (unsigned long long)r->judged);
    else
        html_cell(out, "%s", "");
    html_element(out, "td", r->same == 0 ? "bad" : NULL, r->same == 0 ? "BITS DIFFER" : r->same > 0 ? "same" : "");
    output_text(out, "</tr>\n");
}

static void put_scene(output *out, const bench_report *report, const bench_row *rows, size_t count)
{
    static const char *const heads[] = {
        "row",           "ns/query", "95 % interval",      "rounds", "CPU ns", "M/s", "GB/s", "x fast", "instructions",
        "nJ processors", "nJ GPUs",  "missed, false, off", "bits",   NULL};

    html_element(out, "h3", NULL, rows->scene);
    html_element(out, "p", "what", report->words(rows->scene));
    output_char(out, '\n');
    if (isfinite(rows->size))
        report_plot_series(out, rows, count);
    else
        report_plot_scene(out, rows, count);
    output_text(out, "<details open=\"open\"><summary>figures</summary>\n");
    html_table_begin(out, heads);
    for (size_t i = 0; i < count; i++)
        put_row(out, &rows[i]);
    html_table_end(out);
    output_text(out, "</details>\n");
}

static void put_scenes(output *out, const bench_report *report)
{
    const bench_json *json = report->json;
    size_t end;

    html_element(out, "h2", NULL, "Scenes");
    output_text(
        out, "<p class=\"small\">Points are medians over the rounds, bars their 95 % confidence intervals by order "
             "statistics, crosses the CPU time of all threads together. Filled: fast mode; hollow: exact mode. Blue: "
             "one thread of the CPU path; purple: several; orange: OpenCL devices; grey: plain loops; green: other "
             "libraries. The axes are logarithmic. missed, false, off: the exact reference's verdict.</p>\n");
    for (size_t begin = 0; begin < json->row_count; begin = end) {
        for (end = begin + 1; end < json->row_count && !strcmp(json->rows[end].scene, json->rows[begin].scene); end++)
            ;
        put_scene(out, report, &json->rows[begin], end - begin);
    }
}

static void put_rooflines(output *out, const bench_json *json)
{
    int any = 0;

    for (int i = 0; i < json->limit_count; i++) {
        const bench_limits *l = &json->limits[i];
        char text[64];
        int rows = 0;
        for (size_t k = 0; k < json->row_count; k++)
            rows += json->rows[k].threads == l->threads && json->rows[k].divisions + json->rows[k].roots > 0.0;
        if (rows == 0)
            continue;
        if (!any++) {
            html_element(out, "h2", NULL, "Roofline");
            output_text(out,
                        "<p class=\"small\">Work is what a query needs at least: its divisions and roots, and its "
                        "columns read and written once. A root counts as the divisions that take as long. Per cent "
                        "are of the roof above the point. Batches in cache may lie above the roof of memory."
                        "</p>\n");
        }
        snprintf(text, sizeof text, "%s, %u thread%s", l->isa, l->threads, l->threads == 1 ? "" : "s");
        html_element(out, "h3", NULL, text);
        output_char(out, '\n');
        if (report_plot_roofline(out, json, l) == 0)
            output_text(out, "<p>No row of this instruction set has counted work.</p>\n");
    }
}

/* ---- comparisons ------------------------------------------------------------------------------------------------- */

static const char *verdict_class(moved_verdict verdict)
{
    return verdict == MOVED_SLOWER ? "slower" : verdict == MOVED_FASTER ? "faster" : NULL;
}

static void put_move(output *out, const bench_moved *row, const moved_row *m)
{
    output_text(out, "<tr>");
    html_cell(out, "%s", row->now->name);
    html_element(out, "td", verdict_class(m->by_time),
                 m->by_time == MOVED_UNKNOWN ? "none"
                 : m->by_time == MOVED_NOT   ? "within noise"
                                             : bench_moved_word(m->by_time, "slower", "faster"));
    html_element(out, "td", verdict_class(m->by_instructions),
                 m->by_instructions == MOVED_UNKNOWN ? "not counted"
                 : m->by_instructions == MOVED_NOT   ? "as many"
                                                     : bench_moved_word(m->by_instructions, "more", "fewer"));
    html_cell(out, "%.2f", row->before);
    html_cell(out, "%.2f", row->after);
    html_cell(out, "%.3f", row->after / row->before);
    if (isfinite(m->shift))
        html_cell(out, "%.3f [%.3f, %.3f]", exp(m->shift), exp(m->low), exp(m->high));
    else
        html_cell(out, "%s", "");
    if (isfinite(m->shift))
        html_cell(out, "%.1e", m->chance);
    else
        html_cell(out, "%s", "");
    put_number(out, isfinite(m->floor) ? fmin(100.0 * expm1(m->floor), 999.9) : m->floor, 1);
    put_number(out, 100.0 * (m->more_instructions - 1.0), 1);
    output_text(out, "</tr>\n");
}

static void put_files(output *out, const bench_comparison *c)
{
    char line[512];

    output_text(out, "<ul>\n");
    for (int side = 0; side < MOVED_SIDES; side++)
        for (int i = 0; i < c->sides[side].count; i++) {
            const bench_json *json = &c->sides[side].results[i];
            const char *path = c->sides[side].paths[i];
            snprintf(line, sizeof line, "%s: %.250s, %s of %s", side == MOVED_OLD ? "before" : "now",
                     path != NULL ? path : "this run", json->commit, json->date);
            html_element(out, "li", NULL, line);
            output_char(out, '\n');
        }
    output_text(out, "</ul>\n");
    for (int side = 0; side < MOVED_SIDES; side++)
        for (int i = 0; i < c->sides[side].count; i++) {
            const char *path = c->sides[side].paths[i] != NULL ? c->sides[side].paths[i] : "this run";
            char text[BENCH_LINE], doubt[BENCH_LINE + 256];
            put_doubts(out, &c->sides[side].results[i], path);
            for (int k = 0; bench_condition(c, (moved_side)side, i, k, text) != NULL; k++) {
                snprintf(doubt, sizeof doubt, "%.250s: %s", path, text);
                html_element(out, "p", "doubt", doubt);
                output_char(out, '\n');
            }
        }
}

static void put_comparison(output *out, const bench_comparison *c)
{
    static const char *const heads[] = {"row",   "by time",    "by instructions", "ns before", "ns now",
                                        "ratio", "own [95 %]", "chance",          "floor, %",  "instructions, %",
                                        NULL};
    char text[BENCH_LINE];

    html_element(out, "h2", NULL, "What moved");
    put_files(out, c);
    for (int i = 0; bench_noise(c, i, text) != NULL; i++) {
        html_element(out, "p", "small", text);
        output_char(out, '\n');
    }
    snprintf(text, sizeof text, "%d rows in both, %d new, %d gone. Grey bands: what runs of one build may differ by.",
             c->row_count, c->added, c->gone);
    html_element(out, "p", "small", text);
    output_char(out, '\n');
    report_plot_moves(out, c);
    output_text(out, "<details open=\"open\"><summary>figures</summary>\n");
    html_table_begin(out, heads);
    for (int i = 0; i < c->row_count; i++)
        put_move(out, &c->rows[i], &c->moved[i]);
    html_table_end(out);
    output_text(out, "</details>\n");
}

/* ---- the report -------------------------------------------------------------------------------------------------- */

static void put_lines(output *out, const char *title, const char *lines)
{
    if (lines == NULL || *lines == '\0')
        return;
    html_element(out, "h2", NULL, title);
    output_text(out, "\n<ul>\n");
    while (*lines != '\0') {
        const size_t length = strcspn(lines, "\n");
        char line[HTML_TEXT];
        snprintf(line, sizeof line, "%.*s", (int)length, lines);
        html_element(out, "li", NULL, line);
        output_char(out, '\n');
        lines += length + (lines[length] == '\n');
    }
    output_text(out, "</ul>\n");
}

int bench_report_write(const bench_report *report, const char *path)
{
    const bench_json *json = report->json;
    char title[256];
    output out;
    const int status = output_open(&out, path);

    if (status != EXIT_DONE)
        return status;
    snprintf(title, sizeof title, "carom bench on %s", json->cpu);
    html_begin(&out, title);
    snprintf(title, sizeof title, "commit %s, %s, %d processors%s", json->commit, json->date, json->processors,
             json->quick ? ", a quick run" : "");
    html_element(&out, "p", "what", title);
    output_char(&out, '\n');
    put_doubts(&out, json, NULL);
    for (int i = 0; i < report->move_count; i++)
        put_comparison(&out, report->moves[i]);
    put_scenes(&out, report);
    put_rooflines(&out, json);
    put_lines(&out, "Found", json->findings);
    put_lines(&out, "Not measured", json->notes);
    put_machine(&out, json);
    put_limits(&out, json);
    html_end(&out);
    return output_close(&out, EXIT_DONE);
}
