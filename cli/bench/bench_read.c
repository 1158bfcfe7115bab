/* SPDX-License-Identifier: MIT */
/* An earlier result of carom bench, read back. */
#include "bench_json.h"
#include "cli/command/command.h"
#include "cli/base/text.h"

#ifndef CAROM_HAVE_JANSSON

int bench_json_read(bench_json *json, const char *path)
{
    (void)json;
    return cli_refuse(EXIT_USAGE, "%s: this build cannot read JSON (no jansson; Debian: libjansson-dev)", path);
}

#else

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static double number(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);

    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

/* A number above 0; NAN where there is none. */
static double positive(const json_t *object, const char *name)
{
    const double value = number(object, name);

    return value > 0.0 && value < 1e18 ? value : (double)NAN;
}

/* A number of things; 1 where a file says what cannot be. */
static uint32_t whole(const json_t *object, const char *name)
{
    const double value = number(object, name);

    return value >= 1.0 && value < 1e6 ? (uint32_t)value : 1;
}

/* A count; 0 where there is none. */
static uint64_t count(const json_t *object, const char *name)
{
    const double value = number(object, name);

    return value > 0.0 && value < 0x1p53 ? (uint64_t)value : 0;
}

static void text(char *out, size_t size, const json_t *object, const char *name)
{
    const char *value = json_string_value(json_object_get(object, name));

    value = value != NULL ? value : "unknown";
    text_show(out, size, value, strlen(value)); /* names go to terminals */
}

/* One of the words that rows point at. */
static const char *limit_word(const json_t *row)
{
    static const char *const words[] = {"memory", "divider", "device memory"};
    const char *value = json_string_value(json_object_get(row, "limit"));

    for (size_t i = 0; value != NULL && i < sizeof words / sizeof words[0]; i++)
        if (!strcmp(value, words[i]))
            return words[i];
    return NULL;
}

/* Names go to terminals and into pictures. */
static int is_printable(const char *name)
{
    for (; *name != '\0'; name++)
        if (!isprint((unsigned char)*name))
            return 0;
    return 1;
}

/* A value of a round; NAN for null. -1 is no value. */
static double round_value(const json_t *list, size_t i)
{
    const json_t *value = json_array_get(list, i);
    const double number = json_is_number(value) ? json_number_value(value) : -1.0;

    return value == NULL || json_is_null(value) ? (double)NAN : number >= 0.0 && number < 1e18 ? number : -1.0;
}

/* Returns -1 if a list is none of numbers or has another length, or if a round took no time; else how many rounds there
 * are. */
static int read_rounds(const json_t *from, measure_round rounds[MEASURE_ROUNDS_MAX])
{
    const json_t *lists[BENCH_COLUMNS], *object = json_object_get(from, "rounds");
    const size_t count = json_array_size(json_object_get(object, bench_columns[0].name));

    for (int c = 0; c < BENCH_COLUMNS; c++) {
        lists[c] = json_object_get(object, bench_columns[c].name);
        if (count > MEASURE_ROUNDS_MAX || (lists[c] != NULL && json_array_size(lists[c]) != count))
            return -1;
    }
    for (size_t i = 0; i < count; i++) {
        double value[BENCH_COLUMNS];
        for (int c = 0; c < BENCH_COLUMNS; c++) {
            value[c] = round_value(lists[c], i);
            if (value[c] < 0.0 || (c == 0 && value[c] <= 0.0))
                return -1;
        }
        rounds[i] = (measure_round){value[0] * 1e-9, value[1] * 1e-9, {value[2], value[3], value[4]}};
    }
    return (int)count;
}

/* A row without a name or a time is none: another program's. */
static int read_row(const json_t *from, bench_row *out, measure_round rounds[MEASURE_ROUNDS_MAX])
{
    const json_t *same = json_object_get(from, "same_bits");
    const double each = number(from, "ns_per_query"), batch = number(from, "real_time");
    const char *name = json_string_value(json_object_get(from, "name"));

    if (name == NULL || strlen(name) >= sizeof out->name || !is_printable(name))
        return 0;
    if (!(each > 1e-9 && each < 1e18) || !(batch > 1e-9 && batch < 1e18))
        return 0;
    const double queries = batch / each, per_query = queries * 1e-9, size = number(from, "scaling_size");
    const char *scene = json_string_value(json_object_get(from, "scene"));
    if (scene == NULL || strlen(scene) >= sizeof out->scene || strncmp(scene, name, strlen(scene)) != 0)
        scene = NULL;
    const double bytes = number(from, "bytes_per_second");
    *out = (bench_row){
        .threads = whole(from, "threads"),
        .rounds = (int)whole(from, "repetitions"),
        .queries = queries,
        .bytes = isfinite(bytes) ? bytes * each * 1e-9 : 0.0,
        .median = batch * 1e-9,
        .cpu = number(from, "cpu_time") * 1e-9,
        .best = number(from, "best_ns_per_query") * per_query,
        .spread = number(from, "spread") * batch * 1e-9,
        .interval = {positive(from, "median_low") * 1e-9, positive(from, "median_high") * 1e-9,
                     positive(from, "median_confidence")},
        .instructions = positive(from, "instructions_per_query") * queries,
        .package_joules = number(from, "package_joules_per_query") * queries,
        .device_joules = number(from, "device_joules_per_query") * queries,
        .divisions = number(from, "divisions_per_query"),
        .roots = number(from, "roots_per_query"),
        .over_fast = number(from, "over_fast"),
        .over_each = number(from, "over_each"),
        .upload = number(from, "upload_ns_per_query") * per_query,
        .compute = number(from, "compute_ns_per_query") * per_query,
        .download = number(from, "download_ns_per_query") * per_query,
        .host = number(from, "host_ns_per_query") * per_query,
        .overhead = number(from, "overhead_ns_per_query") * per_query,
        .share = number(from, "share_of_limit"),
        .limit = limit_word(from),
        .second_filter = number(from, "by_second_filter"),
        .integers = number(from, "in_integers"),
        .same = json_is_boolean(same) ? json_is_true(same) : -1,
        .other = count(from, "other_answers"),
        .size = size > 0.0 && size < 1e18 ? size : (double)NAN,
        .judged = count(from, "judged"),
        .misses = count(from, "misses"),
        .false_hits = count(from, "false_hits"),
        .off = count(from, "off"),
        .samples = rounds,
        .sample_count = read_rounds(from, rounds),
    };
    if (out->sample_count < 0)
        return 0;
    snprintf(out->name, sizeof out->name, "%s", name);
    snprintf(out->scene, sizeof out->scene, "%.*s", (int)(scene != NULL ? strlen(scene) : strcspn(name, "/")), name);
    return 1;
}

static int read_rows(bench_json *json, const json_t *rows, const char *path)
{
    size_t i;
    const json_t *row;

    json_array_foreach(rows, i, row)
    {
        bench_row r;
        measure_round rounds[MEASURE_ROUNDS_MAX];
        if (!read_row(row, &r, rounds))
            return cli_refuse(EXIT_USAGE,
                              "%s: benchmark %zu has no usable name, ns_per_query or rounds (at most %d): not from "
                              "carom bench",
                              path, i + 1, MEASURE_ROUNDS_MAX);
        if (!bench_json_row(json, &r))
            return cli_no_memory();
    }
    return EXIT_DONE;
}

static void read_machine(machine *m, const json_t *context)
{
    const json_t *values = json_object_get(context, "machine"), *reasons = json_object_get(context, "machine_unknown");

    for (int i = 0; i < MACHINE_KEYS; i++) {
        const char *name = machine_name((machine_key)i);
        machine_fact *fact = &m->facts[i];
        if (json_is_number(json_object_get(values, name)) && machine_is_number((machine_key)i))
            snprintf(fact->value, sizeof fact->value, "%.9g", number(values, name));
        else if (json_is_string(json_object_get(values, name)) && !machine_is_number((machine_key)i))
            text(fact->value, sizeof fact->value, values, name);
        else if (json_is_string(json_object_get(reasons, name)))
            text(fact->reason, sizeof fact->reason, reasons, name);
        else
            snprintf(fact->reason, sizeof fact->reason, "the file does not say");
    }
}

static int read_context(bench_json *json, const json_t *context, const char *path)
{
    const json_t *core;
    size_t i;
    const char *notes = json_string_value(json_object_get(context, "not_measured"));
    const char *found = json_string_value(json_object_get(context, "found"));

    if (!json_is_object(context))
        return cli_refuse(EXIT_USAGE, "%s: no context: not from carom bench", path);
    const json_t *schema = json_object_get(context, "schema");
    const json_int_t version = schema == NULL ? 1 : json_integer_value(schema);
    if (version < 1 || version > BENCH_SCHEMA)
        return cli_refuse(EXIT_USAGE, "%s: its schema is %lld, and this command reads 1 (not named) to %d", path,
                          (long long)version, BENCH_SCHEMA);
    json->schema = (int)version;
    read_machine(&json->machine, context);
    text(json->cpu, sizeof json->cpu, context, "cpu");
    text(json->commit, sizeof json->commit, context, "commit");
    text(json->compiler, sizeof json->compiler, context, "compiler");
    text(json->flags, sizeof json->flags, context, "flags");
    text(json->date, sizeof json->date, context, "date");
    json->quick = json_is_true(json_object_get(context, "quick"));
    json->partial = json_is_true(json_object_get(context, "partial"));
    if (json_object_get(context, "load_warning") != NULL)
        text(json->warning, sizeof json->warning, context, "load_warning");
    json->processors = (int)whole(context, "num_cpus");
    json_array_foreach(json_object_get(context, "limits"), i, core)
    {
        bench_limits l = {.threads = whole(core, "threads"),
                          .triad_bytes = number(core, "triad_bytes_per_second"),
                          .multiply_adds = number(core, "multiply_adds_per_second"),
                          .divisions = number(core, "divisions_per_second"),
                          .roots = number(core, "roots_per_second")};
        text(l.isa, sizeof l.isa, core, "isa");
        if (l.triad_bytes > 0.0 && l.multiply_adds > 0.0 && l.divisions > 0.0 && l.roots > 0.0)
            bench_json_limits(json, &l);
    }
    json_array_foreach(json_object_get(context, "devices"), i, core)
    {
        const double index = number(core, "index");
        bench_device d = {.info.index = index >= 0.0 && index < 1e6 ? (uint32_t)index : (uint32_t)i,
                          .write_bytes = number(core, "write_bytes_per_second"),
                          .read_bytes = number(core, "read_bytes_per_second"),
                          .copy_bytes = number(core, "copy_bytes_per_second")};
        text(d.info.name, sizeof d.info.name, core, "name");
        text(d.info.platform, sizeof d.info.platform, core, "platform");
        text(d.info.driver, sizeof d.info.driver, core, "driver");
        bench_json_device(json, &d);
    }
    if (found != NULL && !bench_json_finding(json, found))
        return cli_no_memory();
    return notes == NULL || *notes == '\0' || bench_json_note(json, notes) ? EXIT_DONE : cli_no_memory();
}

/* Returns an exit status; *root is the caller's. */
static int load(const char *path, json_t **root)
{
    json_error_t why;
    struct stat info;
    FILE *file = fopen(path, "re");

    if (file == NULL)
        return cli_refuse(EXIT_USAGE, "%s: cannot be opened: %s", path, strerror(errno));
    if (fstat(fileno(file), &info) == 0 && S_ISDIR(info.st_mode)) {
        fclose(file);
        return cli_refuse(EXIT_USAGE, "%s: is a folder", path);
    }
    *root = json_loadf(file, JSON_REJECT_DUPLICATES, &why);
    fclose(file);
    return *root != NULL ? EXIT_DONE : cli_refuse(EXIT_USAGE, "%s:%d: %s", path, why.line, why.text);
}

int bench_json_read(bench_json *json, const char *path)
{
    json_t *root = NULL;
    int status = load(path, &root);

    *json = (bench_json){0};
    if (status != EXIT_DONE)
        return status;
    status = read_context(json, json_object_get(root, "context"), path);
    const json_t *rows = json_object_get(root, "benchmarks");
    if (status == EXIT_DONE && !json_is_array(rows))
        status = cli_refuse(EXIT_USAGE, "%s: no list of benchmarks: not from carom bench", path);
    if (status == EXIT_DONE)
        status = read_rows(json, rows, path);
    if (status == EXIT_DONE && json->row_count == 0)
        status = cli_refuse(EXIT_USAGE, "%s: the list of benchmarks is empty", path);
    json_decref(root);
    if (status != EXIT_DONE)
        bench_json_end(json);
    return status;
}

#endif
