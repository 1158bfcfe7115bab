/* SPDX-License-Identifier: MIT */
/* carom info: the head of a bug report. Here it is gathered; info_text.c and info_json.c write it. */
#include "command.h"
#include "info.h"
#include "cli/table/hdf5.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- this build and this CPU ---------------------------------------------------------------------------------- */

static const char *compiler(void)
{
#if defined(__clang__)
    return "clang " __clang_version__;
#elif defined(__GNUC__)
    return "gcc " __VERSION__;
#else
    return "an unknown compiler";
#endif
}

static const char *importer(void)
{
#if defined(CAROM_HAVE_ASSIMP) && defined(CAROM_HAVE_JANSSON)
    return "PLY, STL, OBJ, OFF, glTF, and by assimp all others";
#elif defined(CAROM_HAVE_ASSIMP)
    return "PLY, STL, OBJ, OFF, and by assimp all others but glTF (built without jansson)";
#elif defined(CAROM_HAVE_JANSSON)
    return "PLY, STL, OBJ, OFF, glTF (built without assimp)";
#else
    return "PLY, STL, OBJ, OFF (built without assimp, without jansson)";
#endif
}

static int find_cpu(info *i)
{
    static const carom_isa isas[INFO_ISAS] = {CAROM_ISA_SCALAR, CAROM_ISA_SSE41, CAROM_ISA_AVX2, CAROM_ISA_AVX512,
                                              CAROM_ISA_NEON};
    carom_context_desc desc = cli_context_desc(i->options);
    carom_context *context = NULL;
    carom_error err = {0};
    desc.backend = CAROM_BACKEND_CPU;
    desc.device = NULL;
    carom_status status = carom_context_create(&desc, &context, &err);
    if (status != CAROM_OK)
        return cli_library_error(NULL, status, &err);
    i->compiler = compiler();
    i->meshes = importer();
    i->hdf5 = hdf5_version();
    for (int k = 0; k < INFO_ISAS; k++)
        if (carom_isa_available(isas[k]))
            i->isas[i->isa_count++] = isas[k];
    i->isa = carom_context_isa(context);
    i->threads = carom_context_threads(context);
    carom_context_destroy(context);
    return EXIT_DONE;
}

/* ---- devices -------------------------------------------------------------------------------------------------- */

/* Open the device, in a process of its own: the bit probe is part of that. */
static void try_device(const cli_options *options, info_device *device, probe_outcome *opened)
{
    char job[PROBE_JOB], advice[PROBE_WORDS] = "";
    snprintf(job, sizeof job, "open:%u", device->is.index);
    if (!probe_run(options, job, opened)) {
        device->verdict = INFO_DIED;
        snprintf(device->why, sizeof device->why, "%s", opened->death);
        return;
    }
    device->status = opened->opened;
    device->verdict = opened->opened == CAROM_OK ? INFO_PASSED : INFO_REFUSED;
    if (opened->opened == CAROM_OK)
        return;
    if (opened->opened == CAROM_ERROR_KERNEL_BUILD)
        (void)cli_advise(advice, sizeof advice, device->is.platform);
    const int used = snprintf(device->why, sizeof device->why, "%s", opened->open_sentence);
    if (advice[0] && used >= 0 && (size_t)used < sizeof device->why &&
        snprintf(device->why + used, sizeof device->why - (size_t)used, " %s", advice) < 0)
        device->why[used] = '\0';
}

/* Try those devices of a list that the options ask for. Returns 0 if there is no memory. */
static int try_list(info *i, const probe_outcome *list, probe_outcome *opened)
{
    for (uint32_t k = 0; k < list->count; k++) {
        if (!probe_is_asked_for(i->options, &list->devices[k]))
            continue;
        info_device *longer = realloc(i->devices, (i->device_count + 1) * sizeof *longer);
        if (!longer)
            return 0;
        i->devices = longer;
        longer[i->device_count] = (info_device){.is = list->devices[k]};
        try_device(i->options, &longer[i->device_count++], opened);
    }
    return 1;
}

/* One driver, which the environment chooses. */
static int try_driver(info *i, const char *path, probe_outcome *list, probe_outcome *opened)
{
    info_driver *longer = realloc(i->drivers, (i->driver_count + 1) * sizeof *longer);
    if (!longer)
        return 0;
    i->drivers = longer;
    info_driver *driver = &longer[i->driver_count];
    *driver = (info_driver){.path = strdup(path), .first = i->device_count};
    if (!driver->path)
        return 0;
    i->driver_count++;
    driver->lives = probe_run(i->options, "list", list);
    if (!driver->lives)
        return 1;
    driver->listed = list->count;
    const int complete = try_list(i, list, opened);
    driver->count = i->device_count - driver->first;
    return complete;
}

/* Several drivers could not be listed because one of them died: each is listed alone, under the setting that chooses
 * it. Other commands can use their devices under that setting only. */
static int try_drivers(info *i, probe_outcome *list, probe_outcome *opened)
{
    static const char variable[] = "OCL_ICD_VENDORS";
    const char *folder = getenv(variable);
    char pattern[1024], *before = folder ? strdup(folder) : NULL;
    int complete = 1;
    glob_t drivers;
    snprintf(pattern, sizeof pattern, "%s/*.icd", folder ? folder : "/etc/OpenCL/vendors");
    if (glob(pattern, 0, NULL, &drivers) == 0) {
        for (size_t k = 0; k < drivers.gl_pathc && drivers.gl_pathc > 1 && complete; k++) {
            setenv(variable, drivers.gl_pathv[k], 1);
            complete = try_driver(i, drivers.gl_pathv[k], list, opened);
        }
        globfree(&drivers);
    }
    if (before)
        setenv(variable, before, 1);
    else
        unsetenv(variable);
    free(before);
    return complete;
}

/* Of the devices that can be used together, the one that auto takes for large batches. */
static void choose(info *i, uint32_t listed, int unlisted)
{
    const size_t alone = i->driver_count > 0 ? i->drivers[0].first : i->device_count;
    const int named = i->options->device != NULL;
    int gpus = 0, passed = 0;
    i->chosen = i->device_count;
    for (size_t k = 0; k < alone; k++) {
        const int is_gpu = !strcmp(i->devices[k].is.kind, "gpu");
        gpus += is_gpu;
        passed += i->devices[k].verdict == INFO_PASSED;
        if (i->chosen == i->device_count && i->devices[k].verdict == INFO_PASSED && (is_gpu || named))
            i->chosen = k;
    }
    snprintf(i->why, sizeof i->why, "%s",
             i->chosen < i->device_count
                 ? (named && passed > 1 && strchr(i->options->device, ',') ? "and to the others that were named"
                    : named                                                ? "because it was named"
                                                                           : "the first GPU that passed the bit probe")
             : unlisted    ? "the OpenCL drivers fail together"
             : listed == 0 ? "there is no OpenCL device"
             : named       ? "the device that was named is absent or did not pass"
             : gpus > 0    ? "no GPU passed the bit probe"
                           : "no OpenCL device is a GPU; --device or --backend opencl takes any that passed");
}

static int find_devices(info *i)
{
    probe_outcome *both = cli_alloc(2, sizeof *both), *list = both, *opened = both + 1;
    uint32_t listed = 0;
    int complete = both != NULL, unlisted = 0;
    if (complete && !probe_run(i->options, "list", list)) {
        unlisted = 1;
        snprintf(i->opencl, sizeof i->opencl, "%s: %s", list->subject, list->death);
        complete = try_drivers(i, list, opened);
    } else if (complete && list->listed != CAROM_OK) {
        snprintf(i->opencl, sizeof i->opencl, "%s",
                 list->list_sentence[0] ? list->list_sentence : carom_status_name(list->listed));
    } else if (complete) {
        listed = list->count;
        if (listed == 0)
            snprintf(i->opencl, sizeof i->opencl, "no device found");
        complete = try_list(i, list, opened);
    }
    choose(i, listed, unlisted);
    i->touched = 1;
    free(both);
    return complete ? EXIT_DONE : cli_no_memory();
}

static int has_usable_device(const info *i)
{
    const size_t alone = i->driver_count > 0 ? i->drivers[0].first : i->device_count;
    for (size_t k = 0; k < alone; k++)
        if (i->devices[k].verdict == INFO_PASSED)
            return 1;
    return 0;
}

/* ---- the command ---------------------------------------------------------------------------------------------- */

static int write_info(const info *i, int json)
{
    output out;
    const int status = output_open(&out, i->options->output);
    if (status != EXIT_DONE)
        return status;
    (json ? info_write_json : info_write_text)(i, &out);
    return output_close(&out, EXIT_DONE);
}

static int run(const void *own)
{
    const info_options *o = own;
    const cli_options *options = &o->common;
    info i = {.options = options, .opencl = "not touched (--backend cpu)"};
    if (o->mesh)
        return info_mesh(o);
    int status = find_cpu(&i);
    if (status == EXIT_DONE && options->backend != CAROM_BACKEND_CPU) {
        i.opencl[0] = '\0';
        status = find_devices(&i);
    }
    if (status == EXIT_DONE)
        status = write_info(&i, o->json);
    if (status == EXIT_DONE && options->backend == CAROM_BACKEND_OPENCL && !has_usable_device(&i))
        status = cli_refuse(EXIT_WORK, "--backend opencl has no usable device");
    for (size_t k = 0; k < i.driver_count; k++)
        free(i.drivers[k].path);
    free(i.drivers);
    free(i.devices);
    return status;
}

static const cli_option own_options[] = {
    CLI_MESH(info_options),
    {"json", NULL, "as JSON, for programs", NULL, 0, offsetof(info_options, json), CLI_NO_FILE},
};

const cli_command info_command = {
    .name = "info",
    .summary = "what this build and this machine can do, or what a mesh holds",
    .synopsis = "carom info [--backend B] [--mesh M] [--json]",
    .details =
        "Prints version, instruction sets, OpenCL devices, whether each passed the bit probe, and which is chosen.\n"
        "With --mesh it prints the parts, counts and bounds of the mesh and what the import changed.\n",
    .run = run,
    .size = sizeof(info_options),
    .options = own_options,
    .option_count = CLI_COUNT(own_options),
    .computes = 1,
    .output = &cli_output_text,
};
