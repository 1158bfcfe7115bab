/* SPDX-License-Identifier: MIT */
#include "subjects.h"

#include <ctype.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static subject *add(subjects *s, const carom_context_desc *desc, const char *name, const bench_listener *listener)
{
    subject *out = &s->list[s->count];
    carom_error err = {0};

    if (s->count == SUBJECTS_MAX)
        return NULL;
    *out = (subject){0};
    const carom_status status = carom_context_create(desc, &out->context, &err);
    if (status != CAROM_OK) {
        listener->refused(listener->user, name, status, err.message);
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

static int has_memory(const subject *s)
{
    const carom_buffer_desc desc = {.size = sizeof desc, .bytes = 1, .where = CAROM_BUFFER_DEVICE};
    carom_buffer_info info = {.size = sizeof info, .reachable = 1};
    carom_buffer *buffer = NULL;

    if (carom_buffer_create(s->context, &desc, &buffer, NULL) == CAROM_OK)
        carom_buffer_get_info(buffer, &info, NULL);
    carom_buffer_destroy(buffer);
    return !info.reachable;
}

/* Two devices of one name differ in their numbers. */
static void name_device(const subjects *s, subject *out, const carom_device_info *device)
{
    slug(out->what, sizeof out->what - 4, device->name);
    for (int i = 0; i < s->count; i++)
        if (&s->list[i] != out && !strcmp(s->list[i].what, out->what) && s->list[i].device != device->index)
            snprintf(out->what + strlen(out->what), 5, "-%u", device->index % 1000);
}

/* `selector` as the library understands it: a number, or part of a name. */
static void add_device(subjects *s, const char *selector, const bench_settings *settings,
                       const bench_listener *listener)
{
    carom_context_desc desc = carom_context_desc_default();
    carom_device_info device;
    desc.backend = CAROM_BACKEND_OPENCL;
    desc.device = selector;
    desc.device_chunk = settings->device_chunk;
    subject *out = add(s, &desc, selector, listener);
    if (out == NULL || !subject_device(out, &device))
        return;
    out->device = device.index;
    out->threads = device.compute_units;
    out->has_memory = has_memory(out);
    snprintf(out->backend, sizeof out->backend, "opencl");
    name_device(s, out, &device);
}

void subjects_report_devices(subjects *s, int quick, const bench_listener *listener)
{
    for (int i = 0; i < s->count; i++) {
        bench_device limits = {.write_bytes = 0.0};
        if (!subject_device(&s->list[i], &limits.info))
            continue;
        const char *why = limits_of_device(&limits, quick);
        if (why != NULL)
            listener->note(listener->user, why);
        s->list[i].copy_bytes = limits.copy_bytes;
        listener->device(listener->user, &limits);
    }
}

/* PoCL uses all cores unless an environment variable, under one name or the other, limits it; a user's own choice
 * stays. And its threads, as many as processors, get one each: they sleep between batches, and a system that wakes them
 * on the same processor may leave them there, so that a batch takes once or twice its time by chance. Not where a
 * processor is out of bounds: PoCL would fail. */
static void settle_pocl(uint32_t threads)
{
    const long processors = sysconf(_SC_NPROCESSORS_CONF);
    char text[16];
    cpu_set_t set;

    if (threads != 0) {
        snprintf(text, sizeof text, "%u", threads);
        setenv("POCL_MAX_PTHREAD_COUNT", text, 0);
        setenv("POCL_CPU_MAX_CU_COUNT", text, 0);
    }
    if (getenv("POCL_MAX_PTHREAD_COUNT") != NULL || getenv("POCL_CPU_MAX_CU_COUNT") != NULL ||
        sched_getaffinity(0, sizeof set, &set) != 0)
        return;
    for (long i = 0; i < processors; i++)
        if (i >= CPU_SETSIZE || !CPU_ISSET((size_t)i, &set))
            return;
    setenv("POCL_AFFINITY", "1", 0);
}

static void add_devices(subjects *s, const bench_settings *settings, const bench_listener *listener)
{
    carom_error err = {0};
    uint32_t count = 0;

    settle_pocl(settings->threads);
    if (!carom_has_opencl()) {
        listener->refused(listener->user, "OpenCL", CAROM_ERROR_NO_DEVICE, "this build has no OpenCL");
        return;
    }
    if (settings->device != NULL) {
        add_device(s, settings->device, settings, listener);
        return;
    }
    const carom_status status = carom_device_list(NULL, 0, &count, &err);
    if (status != CAROM_OK)
        listener->refused(listener->user, "OpenCL", status, err.message);
    if (status == CAROM_OK && count == 0)
        listener->refused(listener->user, "OpenCL", CAROM_ERROR_NO_DEVICE, "no driver lists a device");
    for (uint32_t i = 0; status == CAROM_OK && i < count && i < DEVICES_MAX; i++) {
        char index[16];
        snprintf(index, sizeof index, "%u", i);
        add_device(s, index, settings, listener);
    }
}

int subjects_on_cpu(const bench_settings *settings)
{
    return settings->backend == CAROM_BACKEND_CPU ||
           (settings->backend == CAROM_BACKEND_AUTO && (settings->device == NULL || settings->isa != CAROM_ISA_AUTO));
}

int subjects_on_devices(const bench_settings *settings)
{
    return settings->backend == CAROM_BACKEND_OPENCL ||
           (settings->backend == CAROM_BACKEND_AUTO && (settings->device != NULL || settings->isa == CAROM_ISA_AUTO));
}

void subjects_open(subjects *s, const bench_settings *settings, const bench_listener *listener)
{
    static const carom_isa all[] = {CAROM_ISA_SCALAR, CAROM_ISA_SSE41, CAROM_ISA_AVX2, CAROM_ISA_AVX512,
                                    CAROM_ISA_NEON};
    const int on_cpu = subjects_on_cpu(settings);
    const uint32_t usable = subjects_usable_threads();
    carom_isa best = CAROM_ISA_SCALAR;

    s->count = 0;
    for (size_t i = 0; i < sizeof all / sizeof all[0] && on_cpu; i++) {
        if (!carom_isa_available(all[i]) || (settings->isa != CAROM_ISA_AUTO && settings->isa != all[i]))
            continue;
        add_cpu(s, all[i], settings->threads ? settings->threads : 1, listener);
        best = all[i];
    }
    if (on_cpu && settings->threads == 0 && usable > 1)
        add_cpu(s, best, usable, listener);
    if (subjects_on_devices(settings))
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

int subject_device(const subject *s, carom_device_info *info)
{
    info->size = sizeof *info;
    return carom_context_get_device(s->context, info, NULL) == CAROM_OK;
}

void subjects_close(subjects *s)
{
    for (int i = 0; i < s->count; i++)
        carom_context_destroy(s->list[i].context);
    s->count = 0;
}
