/* SPDX-License-Identifier: MIT */
/* The configurations of this machine that carom verify compares: each instruction set with one thread and with several,
 * and each device. */
#include "configs.h"

#include <stdio.h>

static config *add_config(verification *v, const char *name, const carom_context_desc *desc)
{
    carom_error err = {0};
    if (v->count == CONFIGS_MAX)
        return NULL;
    config *c = &v->configs[v->count];
    *c = (config){.is_cpu = desc->backend == CAROM_BACKEND_CPU, .per_block = VERIFY_BLOCK, .stride = 1};
    snprintf(c->name, sizeof c->name, "%s", name);
    c->refused = carom_context_create(desc, &c->context, &err);
    if (c->refused != CAROM_OK) {
        c->context = NULL;
        snprintf(c->refusal, sizeof c->refusal, "%s: %s", carom_status_name(c->refused), err.message);
    }
    v->count++;
    return c;
}

/* One instruction set, on one thread or (threads == 0) on as many as the options allow. */
static void add_cpu(verification *v, carom_isa isa, uint32_t threads)
{
    char name[64];
    carom_context_desc desc = cli_context_desc(&v->options->common);
    desc.backend = CAROM_BACKEND_CPU;
    desc.device = NULL;
    desc.isa = isa;
    desc.threads = threads ? threads : v->options->common.threads;
    config *c = add_config(v, carom_isa_name(isa), &desc);
    if (!c || !c->context)
        return;
    uint32_t made = carom_context_threads(c->context);
    if (threads == 0 && made == 1) { /* one thread has been added already */
        carom_context_destroy(c->context);
        v->count--;
        return;
    }
    snprintf(name, sizeof name, "%s, %u thread%s", carom_isa_name(isa), made, made == 1 ? "" : "s");
    snprintf(c->name, sizeof c->name, "%s", name);
}

void verify_add_cpus(verification *v)
{
    static const carom_isa isas[] = {CAROM_ISA_SCALAR, CAROM_ISA_SSE41, CAROM_ISA_AVX2, CAROM_ISA_AVX512,
                                     CAROM_ISA_NEON};
    const verify_options *o = v->options;
    int only_device = o->common.is_device_given || o->common.backend == CAROM_BACKEND_OPENCL;
    add_cpu(v, CAROM_ISA_SCALAR, 1);
    for (size_t i = 0; i < sizeof isas / sizeof isas[0] && !only_device; i++) {
        if (!carom_isa_available(isas[i]) || (o->common.isa != CAROM_ISA_AUTO && o->common.isa != isas[i]))
            continue;
        if (isas[i] != CAROM_ISA_SCALAR)
            add_cpu(v, isas[i], 1);
        add_cpu(v, isas[i], 0);
    }
}

static void add_device(verification *v, const char *device, const char *shown)
{
    char name[160];
    carom_context_desc desc = cli_context_desc(&v->options->common);
    carom_device_info opened = {.size = sizeof opened};
    desc.backend = CAROM_BACKEND_OPENCL;
    desc.device = device;
    desc.isa = CAROM_ISA_AUTO;
    desc.log = NULL; /* a refusal is printed in the matrix */
    config *c = add_config(v, shown, &desc);
    if (c && c->context && carom_context_get_device(c->context, &opened, NULL) == CAROM_OK) {
        snprintf(name, sizeof name, "device %u, %.100s, %u lane%s", opened.index, opened.name, opened.lanes,
                 opened.lanes == 1 ? "" : "s");
        uint32_t count = 0;
        if (carom_context_get_devices(c->context, NULL, 0, &count, NULL) == CAROM_OK && count > 1)
            snprintf(name, sizeof name, "devices %.100s, which share each batch", device);
        snprintf(c->name, sizeof c->name, "%s", name);
    }
}

void verify_add_devices(verification *v)
{
    carom_device_info devices[CONFIGS_MAX];
    carom_error err = {0};
    uint32_t count = 0;
    const verify_options *o = v->options;
    int cpu_only = o->common.backend == CAROM_BACKEND_CPU ||
                   (o->common.isa != CAROM_ISA_AUTO && o->common.backend == CAROM_BACKEND_AUTO);
    if (o->common.is_device_given) {
        add_device(v, o->common.device, o->common.device);
        return;
    }
    if (cpu_only)
        return;
    devices[0].size = sizeof devices[0];
    carom_status status = carom_device_list(devices, CONFIGS_MAX, &count, &err);
    if (status != CAROM_OK) {
        snprintf(v->unlisted, sizeof v->unlisted, "%s", err.message[0] ? err.message : carom_status_name(status));
        output_format(v->out, "no OpenCL: %s\n", v->unlisted);
        return;
    }
    if (count == 0)
        output_text(v->out, "no OpenCL device found\n");
    for (uint32_t i = 0; i < count && i < CONFIGS_MAX; i++) {
        char number[16], shown[160];
        snprintf(number, sizeof number, "%u", devices[i].index);
        snprintf(shown, sizeof shown, "device %u, %s", devices[i].index, devices[i].name);
        add_device(v, number, shown);
    }
}

int verify_has_device(const verification *v)
{
    for (size_t i = 0; i < v->count; i++)
        if (!v->configs[i].is_cpu && v->configs[i].context)
            return 1;
    return 0;
}

/* Without a usable device, the first that was refused says why. */
int verify_refuse_devices(const verification *v)
{
    for (size_t i = 0; i < v->count; i++)
        if (!v->configs[i].is_cpu)
            return cli_refuse(v->configs[i].refused == CAROM_ERROR_INVALID_ARGUMENT ? EXIT_USAGE : EXIT_WORK,
                              "no usable OpenCL device: %s", v->configs[i].refusal);
    return cli_refuse(EXIT_WORK, "no usable OpenCL device: %s", v->unlisted[0] ? v->unlisted : "none found");
}
