/* SPDX-License-Identifier: MIT */
/* What is measured: every instruction set of the CPU path, the CPU path on all threads, every OpenCL device. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>

/* 0 and a line that says why, if it cannot be measured. */
static int open_one(bench *b, const carom_context_desc *desc, const char *name, bench_backend *out)
{
    carom_error err = {0};
    const carom_status status = carom_context_create(desc, &out->context, &err);

    snprintf(out->name, sizeof out->name, "%s", name);
    if (status == CAROM_OK) {
        out->isa = carom_context_isa(out->context);
        return 1;
    }
    report_fact(b->report, "not measured", "%s: %s: %s", name, carom_status_name(status), err.message);
    return 0;
}

bench_backend *bench_best(bench *b)
{
    return &b->isas[b->isa_count - 1];
}

bench_backend *bench_find_isa(bench *b, carom_isa isa)
{
    for (int i = 0; i < b->isa_count; i++)
        if (b->isas[i].isa == isa)
            return &b->isas[i];
    return NULL;
}

void bench_open_cpu(bench *b)
{
    static const carom_isa all[BENCH_ISAS_MAX] = {CAROM_ISA_SCALAR, CAROM_ISA_SSE41, CAROM_ISA_AVX2, CAROM_ISA_AVX512,
                                                  CAROM_ISA_NEON};
    carom_context_desc desc = carom_context_desc_default();

    desc.backend = CAROM_BACKEND_CPU;
    desc.threads = 1;
    for (int i = 0; i < BENCH_ISAS_MAX; i++) {
        desc.isa = all[i];
        if (carom_isa_available(all[i]))
            b->isa_count += open_one(b, &desc, carom_isa_name(all[i]), &b->isas[b->isa_count]);
    }
    desc.isa = CAROM_ISA_AUTO;
    desc.threads = b->threads;
    if (b->isa_count == 0 || !open_one(b, &desc, "CPU path", &b->cpu))
        bench_die("no CPU path");
}

void bench_open_devices(bench *b)
{
    carom_device_info list[BENCH_DEVICES_MAX];
    carom_error err = {0};
    uint32_t count = 0;

    /* PoCL uses all cores unless told, under one name or the other; a user's own choice stays. */
    char threads[16];
    snprintf(threads, sizeof threads, "%u", b->threads);
    setenv("POCL_MAX_PTHREAD_COUNT", threads, 0);
    setenv("POCL_CPU_MAX_CU_COUNT", threads, 0);
    if (!carom_has_opencl() || carom_device_list(list, BENCH_DEVICES_MAX, &count, &err) != CAROM_OK) {
        report_fact(b->report, "not measured", "OpenCL: %s", carom_has_opencl() ? err.message : "not in this build");
        return;
    }
    for (uint32_t i = 0; i < count && i < BENCH_DEVICES_MAX; i++) {
        carom_context_desc desc = carom_context_desc_default();
        char index[16], name[32];
        snprintf(index, sizeof index, "%u", list[i].index);
        snprintf(name, sizeof name, "device %u", list[i].index);
        report_fact(b->report, name, "%s: %s, driver %s", list[i].platform, list[i].name, list[i].driver);
        desc.backend = CAROM_BACKEND_OPENCL;
        desc.device = index;
        b->devices[b->device_count].device = list[i];
        b->device_count += open_one(b, &desc, name, &b->devices[b->device_count]);
    }
}

void bench_close(bench *b)
{
    for (int i = 0; i < b->isa_count; i++)
        carom_context_destroy(b->isas[i].context);
    for (int i = 0; i < b->device_count; i++)
        carom_context_destroy(b->devices[i].context);
    carom_context_destroy(b->cpu.context);
}
