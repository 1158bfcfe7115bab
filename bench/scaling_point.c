/* SPDX-License-Identifier: MIT */
/* What all series share: the subjects, and one point of a curve. */
#include "common.h"
#include "scaling.h"

#include "measure.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- words ------------------------------------------------------------------------------------------------------- */

static void say(const scaling *s, void (*listener)(void *user, const char *text), const char *format, va_list list)
{
    char text[768];

    vsnprintf(text, sizeof text, format, list);
    listener(s->listener->user, text);
}

void scaling_note(const scaling *s, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    say(s, s->listener->note, format, list);
    va_end(list);
}

void scaling_finding(const scaling *s, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    say(s, s->listener->finding, format, list);
    va_end(list);
}

const char *scaling_number(double value, char text[32])
{
    const double power = floor(log10(value) + 0.5);

    if (value >= 1000.0 && pow(10.0, power) == value)
        snprintf(text, 32, "10^%.0f", power);
    else
        snprintf(text, 32, "%.0f", value);
    return text;
}

const char *scaling_side_name(const scaling_side *side)
{
    const char *accuracy = strchr(side->row.name, '/');

    return strchr(accuracy + 1, '/') + 1;
}

/* ---- subjects ---------------------------------------------------------------------------------------------------- */

static void add_subjects(scaling *s, const bench_settings *settings)
{
    subjects more;

    subjects_open(&more, settings, s->listener);
    for (int i = 0; i < more.count; i++) {
        if (s->subjects.count < SUBJECTS_MAX)
            s->subjects.list[s->subjects.count++] = more.list[i];
        else
            carom_context_destroy(more.list[i].context);
    }
}

void scaling_open_cpu(scaling *s, uint32_t threads)
{
    bench_settings cpu = *s->settings;

    if (!subjects_on_cpu(s->settings))
        return;
    cpu.backend = CAROM_BACKEND_CPU;
    cpu.isa = s->best;
    if (threads > 0)
        cpu.threads = threads;
    add_subjects(s, &cpu);
}

void scaling_open_devices(scaling *s, const char *device, uint32_t chunk)
{
    bench_settings devices = *s->settings;

    if (!subjects_on_devices(s->settings))
        return;
    devices.backend = CAROM_BACKEND_OPENCL;
    devices.device = device;
    devices.device_chunk = chunk;
    add_subjects(s, &devices);
}

void scaling_open(scaling *s)
{
    scaling_open_cpu(s, 0);
    const double start = measure_now();
    scaling_open_devices(s, s->settings->device, 0);
    s->opening = measure_now() - start;
    scaling_report_devices(s);
}

/* Once per run, although every series opens the devices anew. */
void scaling_report_devices(scaling *s)
{
    carom_device_info unused;
    int devices = 0;

    for (int i = 0; i < s->subjects.count; i++)
        devices += subject_device(&s->subjects.list[i], &unused);
    if (devices > 0 && !s->reported)
        subjects_report_devices(&s->subjects, s->settings->quick, s->listener);
    s->reported |= devices > 0;
}

void scaling_close(scaling *s)
{
    subjects_close(&s->subjects);
    s->count = 0;
}

/* ---- a point ----------------------------------------------------------------------------------------------------- */

void scaling_begin(scaling *s, const char *series, const char *what)
{
    s->series = series;
    s->count = s->subjects.count;
    for (int i = 0; i < s->count; i++) {
        const subject *of = &s->subjects.list[i];
        s->sides[i] = (scaling_side){.subject = of, .fresh = 1};
        s->sides[i].row.threads = of->threads;
        snprintf(s->sides[i].row.scene, sizeof s->sides[i].row.scene, "%s", series);
    }
    if (s->count > 0)
        s->listener->scene(s->listener->user, series, what);
}

void scaling_place(const scaling *s, scaling_side *side, double size, double queries)
{
    bench_row *row = &side->row;

    row->size = size;
    row->queries = queries;
    row->over_fast = row->share = row->upload = row->compute = row->download = row->host = row->overhead =
        row->second_filter = row->integers = row->divisions = row->roots = row->over_each = (double)NAN;
    row->same = -1;
    snprintf(row->name, sizeof row->name, "%s-%.0f/%s/%s/%s/threads:%u", s->series, size,
             s->accuracy == CAROM_ACCURACY_EXACT ? "exact" : "fast", side->subject->backend, side->subject->what,
             side->subject->threads);
}

void scaling_point(scaling *s, double size, double queries)
{
    for (int i = 0; i < s->count; i++)
        scaling_place(s, &s->sides[i], size, queries);
}

void scaling_ask_pairs(scaling *s, const pair_scene *in, const answers *out)
{
    for (int i = 0; i < s->count; i++) {
        scaling_side *side = &s->sides[i];
        side->pairs = (pair_call){
            .subject = side->subject, .task = SWEEP_TIMES, .accuracy = s->accuracy, .scene = in, .out = out};
        side->row.bytes = pair_task_bytes((pair_task)SWEEP_TIMES);
    }
}

static void side_run(void *user)
{
    scaling_side *side = user;

    if (side->pairs.subject != NULL)
        pair_call_run(&side->pairs);
    else
        mesh_call_run(&side->mesh);
}

/* A device is refused late: when the program of a query turns out to be wrong or not to build. */
static void try_side(const scaling *s, scaling_side *side)
{
    carom_error err = {0};

    side->fresh = 0;
    if ((side->pairs.subject != NULL ? pair_call_try(&side->pairs, &err) : mesh_call_try(&side->mesh, &err)) ==
        CAROM_OK)
        return;
    side->stopped = 1;
    scaling_note(s, "%s is not measured: %s", side->row.name, err.message);
}

/* Hands the sides that answer to `going`. */
static int check_bits(scaling *s, scaling_side **going)
{
    uint64_t first = 0;
    int count = 0;

    for (int i = 0; i < s->count; i++) {
        scaling_side *side = &s->sides[i];
        if (!side->stopped && side->fresh)
            try_side(s, side);
        if (side->stopped)
            continue;
        const uint64_t hash =
            side->pairs.subject != NULL ? pair_call_check(&side->pairs) : mesh_call_check(&side->mesh);
        if (count == 0)
            first = hash;
        else
            side->row.same = hash == first;
        going[count++] = side;
    }
    return count;
}

static void fill_row(scaling_side *side, const measurement *m, int place)
{
    const carom_stats *fastest = side->pairs.subject != NULL ? &side->pairs.fastest : &side->mesh.fastest;

    bench_row_take(&side->row, m, place);
    if (fastest->on_device > 0) {
        side->row.upload = fastest->upload;
        side->row.compute = fastest->compute;
        side->row.download = fastest->download;
        side->row.host = fastest->host;
    }
    if (fastest->by_proof > 0) {
        side->row.second_filter = (double)fastest->by_second_filter / (double)fastest->queries;
        side->row.integers = (double)fastest->by_integers / (double)fastest->queries;
    }
}

int scaling_ask(scaling *s)
{
    const double spent = measure_now() - s->begin;

    s->ended |= !s->listener->go_on(s->listener->user, s->done, (s->before + fmin(spent, s->cost)) / s->planned);
    return !s->ended;
}

/* The share is that of a point: how far a series is, time alone tells. */
static int go_on(void *user, double share)
{
    (void)share;
    return scaling_ask(user);
}

void scaling_measure(scaling *s)
{
    const measure_plan plan = {
        .rounds = s->settings->quick ? 3 : 5, .sample = s->settings->quick ? 0.002 : 0.01, .go_on = go_on, .user = s};
    scaling_side *going[SUBJECTS_MAX];
    measure_side runs[SUBJECTS_MAX];
    const int count = check_bits(s, going);
    measurement *m = malloc(sizeof *m);

    if (m == NULL)
        bench_die("no memory for a measurement");
    for (int i = 0; i < count; i++)
        runs[i] = (measure_side){side_run, going[i]};
    const int measured = count > 0 && measure(m, &plan, runs, count) ? count : 0;
    for (int i = 0; i < measured; i++) {
        fill_row(going[i], m, i);
        s->listener->row(s->listener->user, &going[i]->row);
    }
    s->rows += measured;
    free(m);
}

int scaling_go_on(scaling *s, double next_size, double growth)
{
    const double limit = s->settings->quick ? 0.5 : 4.0; /* seconds of a batch */
    char number[32];
    int left = 0;

    if (s->ended)
        return 0;
    for (int i = 0; i < s->count; i++) {
        scaling_side *side = &s->sides[i];
        const double next = side->row.median * growth;
        if (side->stopped)
            continue;
        side->stopped = next > limit;
        left += !side->stopped;
        if (side->stopped)
            scaling_note(s, "%s: %s stops before %s: a batch would take about %.1f s, and %.1f s is the most",
                         s->series, scaling_side_name(side), scaling_number(next_size, number), next, limit);
    }
    return left;
}
