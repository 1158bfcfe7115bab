/* SPDX-License-Identifier: MIT */
#include "subjects.h"

#include <ctype.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "limits.h"

uint32_t subjects_usable_threads(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof set, &set) == 0 ? (uint32_t)CPU_COUNT(&set) : 1;
}

/* Names of benchmarks are split at slashes and read by programs. */
static void slug(char *out, size_t size, const char *text)
{
    size_t used = 0;

    for (; *text && used + 1 < size; text++) {
        if (isalnum((unsigned char)*text) || *text == '.')
            out[used++] = (char)tolower((unsigned char)*text);
        else if (used > 0 && out[used - 1] != '-')
            out[used++] = '-';
    }
    while (used > 0 && out[used - 1] == '-')
        used--;
    out[used] = '\0';
}

static void note_failure(const bench_listener *listener, const char *name, carom_status status, const carom_error *err)
{
    char text[768];

    snprintf(text, sizeof text, "%s is not measured: %s: %s", name, carom_status_name(status), err->message);
    listener->note(listener->user, text);
}

static subject *add(subjects *s, const carom_context_desc *desc, const char *name, const bench_listener *listener)
{
    subject *out = &s->list[s->count];
    carom_error err = {0};

    if (s->count == SUBJECTS_MAX)
        return NULL;
    *out = (subject){0};
    const carom_status status = carom_context_create(desc, &out->context, &err);
    if (status != CAROM_OK) {
        note_failure(listener, name, status, &err);
        return NULL;
    }
    s->count++;
    return out;
}

static void add_cpu(subjects *s, carom_isa isa, uint32_t threads, const bench_listener *listener)
{
    carom_context_desc desc = carom_context_desc_default();
    desc.backend = CAROM_BACKEND_CPU;
    desc.isa = isa;
    desc.threads = threads;
    subject *out = add(s, &desc, carom_isa_name(isa), listener);
    if (out == NULL)
        return;
    out->isa = carom_context_isa(out->context);
    out->threads = carom_context_threads(out->context);
    snprintf(out->backend, sizeof out->backend, "cpu");
    snprintf(out->what, sizeof out->what, "%s", carom_isa_name(out->isa));
}

static void tell_device(subject *s, const carom_device_info *device, int quick, const bench_listener *listener)
{
    bench_device limits = {.info = *device};
    const char *why = limits_of_device(&limits, quick);

    if (why != NULL)
        listener->note(listener->user, why);
    s->copy_bytes = limits.copy_bytes;
    listener->device(listener->user, &limits);
}

static void add_device(subjects *s, const carom_device_info *device, const bench_settings *settings,
                       const bench_listener *listener)
{
    carom_context_desc desc = carom_context_desc_default();
    char index[16];
    snprintf(index, sizeof index, "%u", device->index);
    desc.backend = CAROM_BACKEND_OPENCL;
    desc.device = index;
    desc.device_chunk = settings->device_chunk;
    subject *out = add(s, &desc, device->name, listener);
    if (out == NULL)
        return;
    out->threads = device->compute_units;
    snprintf(out->backend, sizeof out->backend, "opencl");
    slug(out->what, sizeof out->what, device->name);
    if (settings->device_chunk == 0) /* else it was told before */
        tell_device(out, device, settings->quick, listener);
}

static void add_devices(subjects *s, const bench_settings *settings, const bench_listener *listener)
{
    carom_device_info list[DEVICES_MAX];
    carom_error err = {0};
    uint32_t count = 0;

    if (settings->threads != 0) {
        /* PoCL uses all cores unless told, under one name or the other; a user's own choice stays. */
        char threads[16];
        snprintf(threads, sizeof threads, "%u", settings->threads);
        setenv("POCL_MAX_PTHREAD_COUNT", threads, 0);
        setenv("POCL_CPU_MAX_CU_COUNT", threads, 0);
    }
    if (!carom_has_opencl()) {
        listener->note(listener->user, "OpenCL is not measured: not in this build");
        return;
    }
    const carom_status status = carom_device_list(list, DEVICES_MAX, &count, &err);
    if (status != CAROM_OK)
        note_failure(listener, "OpenCL", status, &err);
    if (status == CAROM_OK && count == 0)
        listener->note(listener->user, "OpenCL is not measured: no device");
    for (uint32_t i = 0; status == CAROM_OK && i < count && i < DEVICES_MAX; i++) {
        char index[16];
        snprintf(index, sizeof index, "%u", list[i].index);
        if (settings->device == NULL || !strcmp(settings->device, index) || strstr(list[i].name, settings->device))
            add_device(s, &list[i], settings, listener);
    }
}

void subjects_open(subjects *s, const bench_settings *settings, const bench_listener *listener)
{
    static const carom_isa all[] = {CAROM_ISA_SCALAR, CAROM_ISA_SSE41, CAROM_ISA_AVX2, CAROM_ISA_AVX512,
                                    CAROM_ISA_NEON};
    const int device_only = settings->backend == CAROM_BACKEND_OPENCL || settings->device != NULL;
    const int cpu_only = settings->backend == CAROM_BACKEND_CPU || settings->isa != CAROM_ISA_AUTO;
    const uint32_t usable = subjects_usable_threads();
    carom_isa best = CAROM_ISA_SCALAR;

    s->count = 0;
    for (size_t i = 0; i < sizeof all / sizeof all[0] && !device_only; i++) {
        if (!carom_isa_available(all[i]) || (settings->isa != CAROM_ISA_AUTO && settings->isa != all[i]))
            continue;
        add_cpu(s, all[i], settings->threads ? settings->threads : 1, listener);
        best = all[i];
    }
    if (!device_only && settings->threads == 0 && usable > 1)
        add_cpu(s, best, usable, listener);
    if (!cpu_only)
        add_devices(s, settings, listener);
}

const subject *subjects_best(const subjects *s)
{
    const subject *best = NULL;

    for (int i = 0; i < s->count; i++)
        if (!strcmp(s->list[i].backend, "cpu"))
            best = &s->list[i];
    return best;
}

void subjects_close(subjects *s)
{
    for (int i = 0; i < s->count; i++)
        carom_context_destroy(s->list[i].context);
    s->count = 0;
}
