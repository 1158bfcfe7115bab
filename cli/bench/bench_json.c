/* SPDX-License-Identifier: MIT */
#include "bench_json.h"
#include "cli/base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifndef CAROM_BENCH_COMPILER /* cmake/cli.cmake gives these */
#define CAROM_BENCH_COMPILER "unknown"
#define CAROM_BENCH_FLAGS "unknown"
#define CAROM_BENCH_COMMIT "unknown"
#endif

static void cpu_name(char *out, size_t size)
{
    char line[256];
    FILE *from = fopen("/proc/cpuinfo", "r");

    snprintf(out, size, "unknown");
    while (from != NULL && fgets(line, sizeof line, from) != NULL) {
        const char *value = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || value == NULL)
            continue;
        snprintf(out, size, "%.*s", (int)strcspn(value + 2, "\n"), value + 2);
        break;
    }
    if (from != NULL)
        fclose(from);
}

void bench_json_begin(bench_json *json, const bench_settings *settings)
{
    const time_t now = time(NULL);
    struct tm utc;

    *json = (bench_json){.schema = BENCH_SCHEMA,
                         .quick = settings->quick,
                         .processors = (int)sysconf(_SC_NPROCESSORS_ONLN),
                         .partial = 1};
    if (getloadavg(json->load, 3) == 3)
        bench_load_warning(settings, json->load[0], json->processors, json->warning);
    else
        json->load[0] = -1.0;
    machine_begin(&json->machine);
    cpu_name(json->cpu, sizeof json->cpu);
    snprintf(json->commit, sizeof json->commit, "%s", CAROM_BENCH_COMMIT);
    snprintf(json->compiler, sizeof json->compiler, "%s", CAROM_BENCH_COMPILER);
    snprintf(json->flags, sizeof json->flags, "%s", CAROM_BENCH_FLAGS);
    strftime(json->date, sizeof json->date, "%Y-%m-%dT%H:%M:%S+00:00", gmtime_r(&now, &utc));
}

void bench_json_device(bench_json *json, const bench_device *device)
{
    if (json->device_count < BENCH_DEVICES)
        json->devices[json->device_count++] = *device;
}

void bench_json_limits(bench_json *json, const bench_limits *limits)
{
    if (json->limit_count < BENCH_LIMITS)
        json->limits[json->limit_count++] = *limits;
}

static int add_line(char **lines, const char *text)
{
    const size_t used = *lines != NULL ? strlen(*lines) : 0, more = strlen(text);
    char *longer = realloc(*lines, used + more + 2);

    if (longer == NULL)
        return 0;
    *lines = longer;
    if (used > 0)
        longer[used] = '\n';
    memcpy(longer + used + (used > 0), text, more + 1);
    return 1;
}

int bench_json_note(bench_json *json, const char *text)
{
    return add_line(&json->notes, text);
}

int bench_json_finding(bench_json *json, const char *text)
{
    return add_line(&json->findings, text);
}

int bench_json_row(bench_json *json, const bench_row *row)
{
    if (json->row_count == json->row_room) {
        const size_t room = json->row_room > 0 ? 2 * json->row_room : 64;
        bench_row *rows = realloc(json->rows, room * sizeof *rows);
        if (rows == NULL)
            return 0;
        json->rows = rows;
        json->row_room = room;
    }
    bench_row *kept = &json->rows[json->row_count];
    *kept = *row;
    kept->samples = NULL;
    if (row->sample_count > 0) {
        measure_round *samples = malloc((size_t)row->sample_count * sizeof *samples);
        if (samples == NULL)
            return 0;
        memcpy(samples, row->samples, (size_t)row->sample_count * sizeof *samples);
        kept->samples = samples;
    }
    json->row_count++;
    return 1;
}

static void put_string(output *out, const char *name, const char *text)
{
    output_format(out, "\"%s\": ", name);
    json_quoted(out, text);
}

/* JSON has no word for what is not a number: it is left out. */
static void put_number(output *out, const char *name, double value)
{
    if (isfinite(value))
        output_format(out, ", \"%s\": %.9g", name, value);
}

static void put_line(output *out, const char *name, const char *text)
{
    output_text(out, "    ");
    put_string(out, name, text);
    output_text(out, ",\n");
}

static void put_devices(output *out, const bench_json *json)
{
    output_text(out, "    \"devices\": [");
    for (int i = 0; i < json->device_count; i++) {
        const bench_device *d = &json->devices[i];
        output_text(out, i > 0 ? ", {" : "{");
        put_string(out, "name", d->info.name);
        output_text(out, ", ");
        put_string(out, "platform", d->info.platform);
        output_text(out, ", ");
        put_string(out, "driver", d->info.driver);
        output_format(out, ", \"index\": %u", d->info.index);
        put_number(out, "write_bytes_per_second", d->write_bytes);
        put_number(out, "read_bytes_per_second", d->read_bytes);
        put_number(out, "copy_bytes_per_second", d->copy_bytes);
        output_char(out, '}');
    }
    output_text(out, "],\n");
}

static void put_machine(output *out, const machine *m)
{
    output_text(out, "    \"machine\": {");
    for (int i = 0; i < MACHINE_KEYS; i++) {
        const machine_fact *fact = &m->facts[i];
        output_text(out, i > 0 ? ", " : "");
        if (fact->value[0] == '\0')
            output_format(out, "\"%s\": null", machine_name((machine_key)i));
        else if (machine_is_number((machine_key)i))
            output_format(out, "\"%s\": %s", machine_name((machine_key)i), fact->value);
        else
            put_string(out, machine_name((machine_key)i), fact->value);
    }
    output_text(out, "},\n    \"machine_unknown\": {");
    for (int i = 0, some = 0; i < MACHINE_KEYS; i++) {
        if (m->facts[i].value[0] != '\0')
            continue;
        output_text(out, some++ ? ", " : "");
        put_string(out, machine_name((machine_key)i), m->facts[i].reason);
    }
    output_text(out, "},\n");
}

static void put_context(output *out, const bench_json *json)
{
    const double *load = json->load;

    output_text(out, "{\n  \"context\": {\n");
    output_format(out, "    \"schema\": %d,\n", json->schema);
    put_line(out, "date", json->date);
    put_line(out, "executable", "carom bench");
    output_format(out, "    \"num_cpus\": %d,\n", json->processors);
    put_line(out, "cpu", json->cpu);
    if (load[0] >= 0.0)
        output_format(out, "    \"load_avg\": [%.2f, %.2f, %.2f],\n", load[0], load[1], load[2]);
    if (json->warning[0] != '\0')
        put_line(out, "load_warning", json->warning);
    put_machine(out, &json->machine);
    put_devices(out, json);
    put_line(out, "library_version", carom_version());
    put_line(out, "commit", json->commit);
    put_line(out, "compiler", json->compiler);
    put_line(out, "flags", json->flags);
    output_format(out, "    \"quick\": %s,\n    \"partial\": %s,\n    ", json->quick ? "true" : "false",
                  json->partial ? "true" : "false");
    put_string(out, "not_measured", json->notes != NULL ? json->notes : "");
    if (json->findings != NULL) {
        output_text(out, ",\n    ");
        put_string(out, "found", json->findings);
    }
    output_text(out, ",\n    \"limits\": [");
    for (int i = 0; i < json->limit_count; i++) {
        const bench_limits *l = &json->limits[i];
        output_format(out, "%s{\"threads\": %u, ", i > 0 ? ", " : "", l->threads);
        put_string(out, "isa", l->isa);
        put_number(out, "triad_bytes_per_second", l->triad_bytes);
        put_number(out, "multiply_adds_per_second", l->multiply_adds);
        put_number(out, "divisions_per_second", l->divisions);
        put_number(out, "roots_per_second", l->roots);
        output_char(out, '}');
    }
    output_text(out, "]\n  },\n  \"benchmarks\": [\n");
}

static double wall_ns(const measure_round *r)
{
    return r->wall * 1e9;
}

static double cpu_ns(const measure_round *r)
{
    return r->cpu * 1e9;
}

static double instructions(const measure_round *r)
{
    return r->used.instructions;
}

static double package_joules(const measure_round *r)
{
    return r->used.package_joules;
}

static double device_joules(const measure_round *r)
{
    return r->used.device_joules;
}

const bench_column bench_columns[BENCH_COLUMNS] = {{"wall_ns", wall_ns},
                                                   {"cpu_ns", cpu_ns},
                                                   {"instructions", instructions},
                                                   {"package_joules", package_joules},
                                                   {"device_joules", device_joules}};

/* Per batch, by round; null in a round that the row had no part in. What no round has is left out. */
static void put_rounds(output *out, const bench_row *r)
{
    output_text(out, ", \"rounds\": {");
    for (int c = 0, some = 0; c < BENCH_COLUMNS; c++) {
        int known = 0;
        for (int i = 0; i < r->sample_count; i++)
            known |= isfinite(bench_columns[c].of(&r->samples[i])) != 0;
        if (!known)
            continue;
        output_format(out, "%s\"%s\": [", some++ ? ", " : "", bench_columns[c].name);
        for (int i = 0; i < r->sample_count; i++) {
            const double value = bench_columns[c].of(&r->samples[i]);
            output_text(out, i > 0 ? ", " : "");
            if (isfinite(value))
                output_format(out, "%.12g", value);
            else
                output_text(out, "null");
        }
        output_char(out, ']');
    }
    output_char(out, '}');
}

static void put_row(output *out, const bench_row *r)
{
    output_text(out, "    {");
    put_string(out, "name", r->name);
    output_text(out, ", ");
    put_string(out, "run_name", r->name);
    output_text(out, ", ");
    put_string(out, "scene", r->scene);
    output_format(out, ", \"run_type\": \"iteration\", \"repetitions\": %d, \"repetition_index\": 0, \"threads\": %u",
                  r->rounds, r->threads);
    output_format(out, ", \"iterations\": %d, \"time_unit\": \"ns\"", r->rounds);
    put_number(out, "real_time", r->median * 1e9);
    put_number(out, "cpu_time", r->cpu * 1e9);
    put_number(out, "items_per_second", r->queries / r->median);
    if (r->bytes > 0.0)
        put_number(out, "bytes_per_second", r->bytes * r->queries / r->median);
    put_number(out, "ns_per_query", r->median / r->queries * 1e9);
    put_number(out, "best_ns_per_query", r->best / r->queries * 1e9);
    put_number(out, "spread", r->spread / r->median);
    put_number(out, "median_low", r->interval.low * 1e9);
    put_number(out, "median_high", r->interval.high * 1e9);
    put_number(out, "median_confidence", r->interval.confidence);
    put_number(out, "instructions_per_query", r->instructions / r->queries);
    put_number(out, "package_joules_per_query", r->package_joules / r->queries);
    put_number(out, "device_joules_per_query", r->device_joules / r->queries);
    put_number(out, "divisions_per_query", r->divisions);
    put_number(out, "roots_per_query", r->roots);
    put_number(out, "over_fast", r->over_fast);
    put_number(out, "over_each", r->over_each);
    put_number(out, "upload_ns_per_query", r->upload / r->queries * 1e9);
    put_number(out, "compute_ns_per_query", r->compute / r->queries * 1e9);
    put_number(out, "download_ns_per_query", r->download / r->queries * 1e9);
    put_number(out, "host_ns_per_query", r->host / r->queries * 1e9);
    put_number(out, "overhead_ns_per_query", r->overhead / r->queries * 1e9);
    put_number(out, "share_of_limit", r->share);
    put_number(out, "by_second_filter", r->second_filter);
    put_number(out, "in_integers", r->integers);
    put_number(out, "scaling_size", r->size);
    if (r->limit != NULL) {
        output_text(out, ", ");
        put_string(out, "limit", r->limit);
    }
    if (r->same >= 0)
        output_format(out, ", \"same_bits\": %s", r->same ? "true" : "false");
    if (r->other > 0)
        output_format(out, ", \"other_answers\": %llu", (unsigned long long)r->other);
    if (r->judged > 0)
        output_format(out, ", \"judged\": %llu, \"misses\": %llu, \"false_hits\": %llu, \"off\": %llu",
                      (unsigned long long)r->judged, (unsigned long long)r->misses, (unsigned long long)r->false_hits,
                      (unsigned long long)r->off);
    put_rounds(out, r);
    output_char(out, '}');
}

void bench_json_write(const bench_json *json, output *out)
{
    put_context(out, json);
    for (size_t i = 0; i < json->row_count; i++) {
        put_row(out, &json->rows[i]);
        output_text(out, i + 1 < json->row_count ? ",\n" : "\n");
    }
    output_text(out, "  ]\n}\n");
}

void bench_json_end(bench_json *json)
{
    for (size_t i = 0; i < json->row_count; i++)
        free((void *)(uintptr_t)json->rows[i].samples);
    free(json->rows);
    free(json->notes);
    free(json->findings);
    *json = (bench_json){0};
}
