/* SPDX-License-Identifier: MIT */
/* OpenCL devices against the CPU path with as many threads, a million pairs in separate arrays. */
#include "question.h"

#include <stdio.h>
#include <string.h>

static const double asked_cpu_device = 0.9;

enum { PAIRS = 1000000 };

/* The project asks for it only where both sides use the same cores. */
static int is_same_cores(const bench *b, const bench_backend *device)
{
    return !strcmp(device->device.kind, "cpu") && device->device.compute_units == b->threads;
}

/* Of the fastest run. Launches and transfers overlap, so these are sums that may exceed the whole. */
static void report_shares(bench *b, const char *label, const carom_stats *stats)
{
    static const char *const names[3] = {"upload", "compute", "download"};
    const double seconds[3] = {stats->upload, stats->compute, stats->download};

    for (int i = 0; i < 3; i++) {
        char text[192];
        snprintf(text, sizeof text, "%s, of it %s", label, names[i]);
        report_add_value(b->report, text, seconds[i] / (double)stats->queries * 1e9, "ns/pair");
    }
}

static void compare(bench *b, question q, bench_backend *device, const scene *s, const answers *out)
{
    ask asks[2] = {{.backend = &b->cpu, .question = q, .scene = s, .out = out},
                   {.backend = device, .question = q, .scene = s, .out = out}};
    const measure_side sides[2] = {{ask_run, &asks[0]}, {ask_run, &asks[1]}};
    const char *name = question_shapes[q].name;
    char label[160];
    measurement m;

    /* A device is also refused late, when the program of a query turns out to be wrong or not to build. */
    carom_error err = {0};
    if (ask_try(&asks[1], &err) != CAROM_OK) {
        report_add_skip(b->report, name, err.message);
        return;
    }
    snprintf(label, sizeof label, "%s: CPU path and device", name);
    const uint64_t first = ask_check(&asks[0]);
    report_add_same(b->report, label, ask_check(&asks[1]) == first);
    if (asks[1].stats.on_device != asks[1].stats.queries)
        report_add_skip(b->report, name, "the device did not answer all of it");
    measure(&m, &b->many, sides, 2);
    for (int side = 0; side < 2; side++) {
        snprintf(label, sizeof label, "%s: %s", name, side ? "device" : b->cpu.name);
        report_add_time(b->report, label,
                        &(report_time){.median = measure_median(&m, side),
                                       .best = measure_best(&m, side),
                                       .queries = (double)s->count,
                                       .bytes = question_bytes(q),
                                       .unit = "ns/pair"});
    }
    report_shares(b, name, &asks[1].fastest);
    snprintf(label, sizeof label, "%s: device over CPU path", name);
    report_add_ratio(b->report, label, measure_ratio(&m, 0, 1),
                     is_same_cores(b, device) ? REPORT_AT_LEAST : REPORT_NO_BOUND, asked_cpu_device);
}

void bench_devices(bench *b)
{
    if (b->device_count == 0) {
        report_section(b->report, "devices", "OpenCL devices against the CPU path");
        report_add_skip(b->report, "device over CPU path", "no usable OpenCL device");
        return;
    }
    answers out = answers_alloc(PAIRS);
    for (int d = 0; d < b->device_count; d++) {
        bench_backend *device = &b->devices[d];
        char name[32];
        snprintf(name, sizeof name, "device-%u", device->device.index);
        report_section(b->report, name, "%s (%s, %u units, %u lanes) against the CPU path, %u threads, %d pairs",
                       device->device.name, device->device.kind, device->device.compute_units, device->device.lanes,
                       b->threads, PAIRS);
        if (!is_same_cores(b, device))
            report_add_skip(b->report, "device over CPU path", "not a CPU device with as many units as threads");
        for (scene_kind kind = SCENE_SWEEP; kind <= SCENE_SPHERES; kind++) {
            scene s = scene_make(kind, PAIRS);
            for (question q = 0; q < QUESTION_COUNT; q++)
                if (question_shapes[q].scene == kind)
                    compare(b, q, device, &s, &out);
            scene_free(&s);
        }
    }
    answers_free(&out);
}
