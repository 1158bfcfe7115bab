/* SPDX-License-Identifier: MIT */
#include "bench_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void bench_table_head(output *out, const bench_json *json)
{
    output_format(out, "%s, %d processors; carom %s of %s; %s\n", json->cpu, json->processors, carom_version(),
                  json->commit, json->compiler);
    if (json->warning[0] != '\0')
        output_format(out, "%s\n", json->warning);
}

/* Facts that are not known have their reasons in the JSON and the report. */
void bench_table_machine(output *out, const machine *m)
{
    const char *separator = "";

    for (int i = 0; i < MACHINE_KEYS; i++) {
        if (m->facts[i].value[0] == '\0')
            continue;
        output_format(out, "%s%s: %s%s", separator, machine_words((machine_key)i), m->facts[i].value,
                      machine_unit((machine_key)i));
        separator = "; ";
    }
    output_text(out, *separator != '\0' ? "\n" : "");
}

void bench_table_scene(output *out, const char *name, const char *what)
{
    output_format(out, "\n%s: %s\n  %-58s %10s %-20s %6s %10s %9s %7s %7s %7s %7s %7s\n", name, what, "", "ns/query",
                  "[95 %]", "+-", "CPU ns", "M/s", "GB/s", "x fast", "misses", "false", "off");
    output_flush(out);
}

void bench_table_limits(output *out, const bench_limits *l)
{
    output_format(
        out, "%u thread%s, %s: %.1f GB/s (a = b + s c), %.1f G multiply-adds/s, %.2f G divisions/s, %.2f G roots/s\n",
        l->threads, l->threads == 1 ? "" : "s", l->isa, l->triad_bytes * 1e-9, l->multiply_adds * 1e-9,
        l->divisions * 1e-9, l->roots * 1e-9);
}

void bench_table_device(output *out, const bench_device *d)
{
    output_format(out, "device %u: %s, driver %s", d->info.index, d->info.name, d->info.driver);
    if (d->write_bytes > 0.0 && d->read_bytes > 0.0 && d->copy_bytes > 0.0)
        output_format(out, ": %.1f GB/s from the host, %.1f to it, %.1f for copies within", d->write_bytes * 1e-9,
                      d->read_bytes * 1e-9, d->copy_bytes * 1e-9);
    output_char(out, '\n');
}

/* Lines of a file, or none; a line is shown without what is not printable in it. */
void bench_table_lines(output *out, const char *lines)
{
    while (lines != NULL && *lines != '\0') {
        const size_t length = strcspn(lines, "\n");
        output_shown(out, lines, length);
        output_char(out, '\n');
        lines += length + (lines[length] == '\n');
    }
}

static void cell(output *out, double value, int width, int digits, const char *unit)
{
    if (isfinite(value))
        output_format(out, " %*.*f%s", width - (int)strlen(unit), digits, value, unit);
    else
        output_format(out, " %*s", width, "");
}

/* Counts of the exact reference's verdict; blank for a subject that was not judged. */
static void verdict(output *out, const bench_row *r)
{
    const uint64_t counts[3] = {r->misses, r->false_hits, r->off};
    for (int i = 0; i < 3; i++)
        cell(out, r->judged > 0 ? (double)counts[i] : (double)NAN, 7, 0, "");
    if (r->judged > 0)
        output_format(out, " of %llu", (unsigned long long)r->judged);
}

static void show_device_times(output *out, const bench_row *r)
{
    if (isfinite(r->compute))
        output_format(out, "  up %.2f, compute %.2f, down %.2f ns", r->upload / r->queries * 1e9,
                      r->compute / r->queries * 1e9, r->download / r->queries * 1e9);
    if (isfinite(r->host))
        output_format(out, ", host %.2f", r->host / r->queries * 1e9);
    if (isfinite(r->overhead))
        output_format(out, ", overhead %.2f", r->overhead / r->queries * 1e9);
}

static void show_counted(output *out, const bench_row *r)
{
    if (isfinite(r->instructions))
        output_format(out, "  %.1f instructions", r->instructions / r->queries);
    if (isfinite(r->package_joules))
        output_format(out, "  %.3g nJ", r->package_joules / r->queries * 1e9);
    if (isfinite(r->device_joules))
        output_format(out, "  %.3g nJ by GPUs", r->device_joules / r->queries * 1e9);
}

static int digits_of(double each)
{
    return each < 100.0 ? 2 : 0;
}

void bench_table_row(output *out, const bench_row *r)
{
    const double each = r->median / r->queries * 1e9, scale = 1e9 / r->queries, cpu = r->cpu * scale;
    char interval[48] = "";

    if (isfinite(r->interval.low) && isfinite(r->interval.high))
        snprintf(interval, sizeof interval, "[%.*f, %.*f]", digits_of(each), r->interval.low * scale, digits_of(each),
                 r->interval.high * scale);
    output_format(out, "  %-58s", r->name + strlen(r->scene) + 1);
    cell(out, each, 10, digits_of(each), "");
    output_format(out, " %-20s", interval);
    cell(out, 100.0 * r->spread / r->median, 6, 1, "%");
    cell(out, cpu, 10, digits_of(cpu), "");
    cell(out, 1e3 / each, 9, 2, "");
    cell(out, r->bytes > 0.0 ? r->bytes / each : (double)NAN, 7, 1, "");
    cell(out, r->over_fast, 7, 2, "");
    verdict(out, r);
    if (isfinite(r->over_each))
        output_format(out, "  %.2f times as fast as one by one", r->over_each);
    if (r->limit != NULL)
        output_format(out, "  %.0f %% of the %s", 100.0 * r->share, r->limit);
    show_device_times(out, r);
    show_counted(out, r);
    if (r->second_filter > 0.0)
        output_format(out, "  %.2f %% by the second filter", 100.0 * r->second_filter);
    if (r->integers > 0.0)
        output_format(out, "  %.2f %% in integers", 100.0 * r->integers);
    if (r->other > 0)
        output_format(out, "  %llu answers are others", (unsigned long long)r->other);
    output_text(out, r->same == 0 ? "  BITS DIFFER\n" : "\n");
}
