/* SPDX-License-Identifier: MIT */
/* carom info: the head of a bug report, and what a mesh holds. */
#include "cli.h"
#include "cli/import/import.h"
#include "output.h"
#include "text.h"
#include "cli/probe/probe.h"

#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- mesh --------------------------------------------------------------------------------------------------- */

static void mesh_bounds(const mesh_data *mesh, float low[3], float high[3], uint64_t *not_finite)
{
    *not_finite = 0;
    for (int k = 0; k < 3; k++) {
        low[k] = INFINITY;
        high[k] = -INFINITY;
    }
    for (uint64_t i = 0; i < 3 * mesh->triangle_count; i++) {
        const float *v = mesh->xyz + 3 * (uint64_t)mesh->indices[i];
        *not_finite += !(isfinite(v[0]) && isfinite(v[1]) && isfinite(v[2]));
        for (int k = 0; k < 3; k++) {
            low[k] = v[k] < low[k] ? v[k] : low[k];
            high[k] = v[k] > high[k] ? v[k] : high[k];
        }
    }
}

static void write_vector(output *out, const char *name, const float v[3])
{
    output_text(out, name);
    for (int k = 0; k < 3; k++) {
        output_char(out, ' ');
        output_float(out, v[k]);
    }
    output_char(out, '\n');
}

static void write_mesh(output *out, const char *path, const mesh_data *mesh)
{
    float low[3], high[3];
    uint64_t not_finite;
    mesh_bounds(mesh, low, high, &not_finite);
    output_text(out, "mesh: ");
    output_shown(out, path, strlen(path));
    output_format(out, "\nreader: %s\n", mesh->reader);
    output_format(out, "triangles: %llu\nvertices: %llu\nparts: %llu\n", (unsigned long long)mesh->triangle_count,
                  (unsigned long long)mesh->vertex_count, (unsigned long long)mesh->part_count);
    uint64_t first = 0;
    for (uint64_t i = 0; i < mesh->part_count; i++) {
        const mesh_part *part = &mesh->parts[i];
        output_format(out, "  part %llu: %llu triangles from %llu%s", (unsigned long long)i,
                      (unsigned long long)part->triangle_count, (unsigned long long)first, part->name[0] ? ", " : "");
        output_shown(out, part->name, strlen(part->name));
        output_char(out, '\n');
        first += part->triangle_count;
    }
    write_vector(out, "lower:", low);
    write_vector(out, "upper:", high);
    for (const char *note = mesh->notes; *note;) {
        size_t length = strcspn(note, "\n");
        output_format(out, "changed: %.*s\n", (int)length, note);
        note += length + (note[length] == '\n');
    }
    if (!mesh->notes[0])
        output_text(out, "changed: nothing\n");
    if (not_finite)
        output_format(out, "not usable: %llu corners are not finite\n", (unsigned long long)not_finite);
}

static int info_mesh(const cli_options *options)
{
    mesh_data mesh;
    output out;
    int status = mesh_import(options->mesh, &mesh);
    if (status != EXIT_DONE)
        return status;
    status = output_open(&out, options->output);
    if (status == EXIT_DONE) {
        write_mesh(&out, options->mesh, &mesh);
        status = output_close(&out, EXIT_DONE);
    }
    mesh_free(&mesh);
    return status;
}

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

static int write_cpu(output *out, const cli_options *options, char *chosen, size_t size)
{
    static const carom_isa isas[] = {CAROM_ISA_SCALAR, CAROM_ISA_SSE41, CAROM_ISA_AVX2, CAROM_ISA_AVX512,
                                     CAROM_ISA_NEON};
    carom_context_desc desc = cli_context_desc(options);
    carom_context *context = NULL;
    carom_error err = {0};
    desc.backend = CAROM_BACKEND_CPU;
    desc.device = NULL;
    carom_status status = carom_context_create(&desc, &context, &err);
    if (status != CAROM_OK)
        return cli_library_error(NULL, status, &err);
    output_format(out, "version: %s\nbuild: %s, OpenCL %s\nmeshes: %s\n", carom_version(), compiler(),
                  carom_has_opencl() ? "yes" : "no", importer());
    output_text(out, "instruction sets:");
    for (size_t i = 0; i < sizeof isas / sizeof isas[0]; i++)
        if (carom_isa_available(isas[i]))
            output_format(out, " %s", carom_isa_name(isas[i]));
    uint32_t threads = carom_context_threads(context);
    snprintf(chosen, size, "%s, %u thread%s", carom_isa_name(carom_context_isa(context)), threads,
             threads == 1 ? "" : "s");
    output_format(out, "\ncpu path: %s\n", chosen);
    carom_context_destroy(context);
    return EXIT_DONE;
}

/* ---- devices -------------------------------------------------------------------------------------------------- */

static const char *yes_no(uint8_t claim)
{
    return claim ? "yes" : "no";
}

static void write_claims(output *out, const carom_device_info *d)
{
    output_format(out, "device %u: %s\n  platform: %s\n  kind: %s, driver %s, %s%s\n", d->index, d->name, d->platform,
                  d->kind, d->driver, d->version, d->available ? "" : " (not available)");
    output_format(out, "  compute units: %u, lanes per work-item: %u, memory: %llu MiB, largest buffer: %llu MiB\n",
                  d->compute_units, d->lanes, (unsigned long long)(d->memory >> 20),
                  (unsigned long long)(d->max_allocation >> 20));
    output_format(out, "  claims: binary64 %s, correctly rounded division and root %s, denormals %s\n", yes_no(d->fp64),
                  yes_no(d->correctly_rounded), yes_no(d->denormals));
}

static void write_refusal(output *out, const char *platform, const probe_outcome *opened)
{
    char advice[PROBE_WORDS] = "";
    if (opened->opened == CAROM_ERROR_KERNEL_BUILD)
        probe_advise(advice, sizeof advice, platform);
    output_format(out, "  bit probe: refused (%s): %s%s%s\n", carom_status_name(opened->opened), opened->open_sentence,
                  advice[0] ? " " : "", advice);
}

/* Open the device, in a process of its own: the bit probe is part of that. Returns 1 if it passed. */
static int write_probe(output *out, const cli_options *options, const carom_device_info *device, probe_outcome *opened)
{
    const char *platform = device->platform;
    char job[PROBE_JOB];
    snprintf(job, sizeof job, "open:%u", device->index);
    int survived = probe_run(options, job, opened);
    if (survived && opened->opened == CAROM_OK)
        output_text(out, "  bit probe: passed\n");
    else if (survived)
        write_refusal(out, platform, opened);
    else
        output_format(out, "  bit probe: %s\n", opened->death);
    return survived && opened->opened == CAROM_OK;
}

static void make_printable(char *text, size_t size)
{
    char raw[256];
    snprintf(raw, sizeof raw, "%s", text);
    text_show(text, size, raw, strlen(raw));
}

/* A driver may call itself anything. */
static void make_names_printable(carom_device_info *d)
{
    make_printable(d->name, sizeof d->name);
    make_printable(d->platform, sizeof d->platform);
    make_printable(d->driver, sizeof d->driver);
    make_printable(d->version, sizeof d->version);
}

typedef struct device_counts {
    uint32_t all, gpus, passed;
    int unlisted; /* the drivers died before they named their devices */
} device_counts;

/* What `auto` does, a line for each of its rules. */
static void write_choice(output *out, const cli_options *options, const carom_device_info *chosen,
                         const device_counts *counts, const char *cpu)
{
    output_format(out,
                  "auto: batches below %u queries stay on the cpu path (%s): to open a device and build a program "
                  "takes longer\n",
                  CAROM_AUTO_MIN_QUERIES, cpu);
    if (chosen && options->device)
        output_format(out, "auto: larger ones go to device %u (%s), because it was named\n", chosen->index,
                      chosen->name);
    else if (chosen)
        output_format(out,
                      "auto: larger ones go to device %u (%s), the first GPU that passed the bit probe; after four of "
                      "a kind the faster of it and the cpu path has the rest\n",
                      chosen->index, chosen->name);
    else
        output_format(out, "auto: larger ones stay there too, because %s\n",
                      counts->unlisted   ? "the OpenCL drivers fail together"
                      : counts->all == 0 ? "there is no OpenCL device"
                      : options->device  ? "the device that was named is absent or did not pass"
                      : counts->gpus > 0 ? "no GPU passed the bit probe"
                                         : "no OpenCL device is a GPU; --device or --backend opencl takes any that "
                                           "passed");
}

/* Try each device of a list. Returns the device that auto takes for large batches, NULL if none. */
static const carom_device_info *write_list(output *out, const cli_options *options, probe_outcome *list,
                                           probe_outcome *opened, device_counts *counts)
{
    const carom_device_info *chosen = NULL;
    for (uint32_t i = 0; i < list->count; i++) {
        carom_device_info *device = &list->devices[i];
        int is_gpu = !strcmp(device->kind, "gpu");
        counts->all++;
        if (!probe_is_asked_for(options, device))
            continue;
        make_names_printable(device);
        write_claims(out, device);
        int good = write_probe(out, options, device, opened);
        counts->passed += (uint32_t)good;
        counts->gpus += (uint32_t)is_gpu;
        if (good && (is_gpu || options->device) && !chosen)
            chosen = device;
    }
    return chosen;
}

/* Several drivers could not be listed because one of them died: each is listed alone, under the setting that chooses
 * it. Other commands can use their devices under that setting only. */
static void write_drivers(output *out, const cli_options *options, probe_outcome *list, probe_outcome *opened)
{
    static const char variable[] = "OCL_ICD_VENDORS";
    const char *folder = getenv(variable);
    char pattern[1024], *before = folder ? strdup(folder) : NULL;
    device_counts unused = {0};
    glob_t drivers;
    snprintf(pattern, sizeof pattern, "%s/*.icd", folder ? folder : "/etc/OpenCL/vendors");
    if (glob(pattern, 0, NULL, &drivers) != 0 || drivers.gl_pathc < 2)
        return;
    for (size_t i = 0; i < drivers.gl_pathc; i++) {
        setenv(variable, drivers.gl_pathv[i], 1);
        if (!probe_run(options, "list", list)) {
            output_format(out, "driver %s: fails alone too; to leave it out, move it away\n", drivers.gl_pathv[i]);
            continue;
        }
        output_format(out, "driver %s: %u device%s; to use it alone, set %s=%s\n", drivers.gl_pathv[i], list->count,
                      list->count == 1 ? "" : "s", variable, drivers.gl_pathv[i]);
        (void)write_list(out, options, list, opened, &unused);
    }
    globfree(&drivers);
    if (before)
        setenv(variable, before, 1);
    else
        unsetenv(variable);
    free(before);
}

static int write_devices(output *out, const cli_options *options, const char *cpu)
{
    probe_outcome *both = cli_alloc(2, sizeof *both), *list = both, *opened = both + 1;
    const carom_device_info *chosen = NULL;
    device_counts counts = {0};
    if (!both)
        return cli_no_memory();
    if (!probe_run(options, "list", list)) {
        counts.unlisted = 1;
        output_format(out, "opencl: %s: %s\n", list->subject, list->death);
        write_drivers(out, options, list, opened);
    } else if (list->listed != CAROM_OK) {
        output_format(out, "opencl: %s\n",
                      list->list_sentence[0] ? list->list_sentence : carom_status_name(list->listed));
    } else if (list->count == 0) {
        output_text(out, "opencl: no device found\n");
    } else {
        chosen = write_list(out, options, list, opened, &counts);
    }
    write_choice(out, options, chosen, &counts, cpu);
    free(both);
    if (counts.passed == 0 && options->backend == CAROM_BACKEND_OPENCL)
        return cli_refuse(EXIT_WORK, "--backend opencl has no usable device");
    return EXIT_DONE;
}

int command_info(const cli_options *options)
{
    char cpu[64];
    output out;
    if (options->mesh)
        return info_mesh(options);
    int status = output_open(&out, options->output);
    if (status != EXIT_DONE)
        return status;
    status = write_cpu(&out, options, cpu, sizeof cpu);
    int usable = EXIT_DONE;
    if (status == EXIT_DONE && options->backend != CAROM_BACKEND_CPU)
        usable = write_devices(&out, options, cpu);
    else if (status == EXIT_DONE)
        output_format(&out, "opencl: not touched (--backend cpu)\n");
    status = output_close(&out, status);
    return status != EXIT_DONE ? status : usable;
}
