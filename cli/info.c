/* SPDX-License-Identifier: MIT */
/* carom info: the head of a bug report, and what a mesh holds. */
#include "cli.h"
#include "mesh_import.h"
#include "output.h"
#include "text.h"

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

/* Open the device: the probe is part of that. Returns 1 if it passed. */
static int probe(const cli_options *options, uint32_t index, output *out)
{
    char number[16];
    carom_context_desc desc = cli_context_desc(options);
    carom_context *context = NULL;
    carom_error err = {0};
    snprintf(number, sizeof number, "%u", index);
    desc.backend = CAROM_BACKEND_OPENCL;
    desc.device = number;
    desc.log = NULL; /* the sentence is printed below */
    carom_status status = carom_context_create(&desc, &context, &err);
    if (status == CAROM_OK)
        output_text(out, "  bit probe: passed\n");
    else
        output_format(out, "  bit probe: refused (%s): %s\n", carom_status_name(status), err.message);
    carom_context_destroy(context);
    return status == CAROM_OK;
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

/* A device number as the whole text, or a part of a name, as the library reads it. */
static int is_asked_for(const cli_options *options, const carom_device_info *d)
{
    char *end;
    if (!options->device)
        return 1;
    unsigned long number = strtoul(options->device, &end, 10);
    if (*end == '\0' && options->device[0] >= '0' && options->device[0] <= '9')
        return number == d->index;
    return strcasestr(d->name, options->device) || strcasestr(d->platform, options->device);
}

static void make_printable(char *text, size_t size)
{
    char raw[256];
    snprintf(raw, sizeof raw, "%s", text);
    text_show(text, size, raw, strlen(raw));
}

static carom_status list_devices(carom_device_info **devices, uint32_t *count, carom_error *err)
{
    *devices = NULL;
    *count = 0;
    carom_status status = carom_device_list(NULL, 0, count, err);
    if (status != CAROM_OK || *count == 0)
        return status;
    uint32_t room = *count;
    *devices = cli_alloc(room, sizeof **devices);
    if (!*devices)
        return CAROM_ERROR_OUT_OF_MEMORY;
    status = carom_device_list(*devices, room, count, err);
    *count = *count < room ? *count : room;
    for (uint32_t i = 0; i < *count && status == CAROM_OK; i++) { /* a driver may call itself anything */
        carom_device_info *d = &(*devices)[i];
        make_printable(d->name, sizeof d->name);
        make_printable(d->platform, sizeof d->platform);
        make_printable(d->driver, sizeof d->driver);
        make_printable(d->version, sizeof d->version);
    }
    return status;
}

/* What `auto` does, a line for each of its rules. */
static void write_choice(output *out, const cli_options *options, const carom_device_info *chosen, uint32_t count,
                         uint32_t gpus, const char *cpu)
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
                      count == 0        ? "there is no OpenCL device"
                      : options->device ? "the device that was named is absent or did not pass"
                      : gpus > 0        ? "no GPU passed the bit probe"
                                        : "no OpenCL device is a GPU; --device or --backend opencl takes any that "
                                          "passed");
}

static int write_devices(output *out, const cli_options *options, const char *cpu)
{
    carom_device_info *devices;
    const carom_device_info *chosen = NULL;
    uint32_t count, gpus = 0, passed = 0;
    carom_error err = {0};
    carom_status listed = list_devices(&devices, &count, &err);
    if (listed != CAROM_OK)
        output_format(out, "opencl: %s\n", err.message[0] ? err.message : carom_status_name(listed));
    else if (count == 0)
        output_text(out, "opencl: no device found\n");
    for (uint32_t i = 0; i < count && listed == CAROM_OK; i++) {
        int is_gpu = !strcmp(devices[i].kind, "gpu");
        if (!is_asked_for(options, &devices[i]))
            continue;
        write_claims(out, &devices[i]);
        int good = probe(options, devices[i].index, out);
        passed += (uint32_t)good;
        gpus += (uint32_t)is_gpu;
        if (good && (is_gpu || options->device) && !chosen)
            chosen = &devices[i];
    }
    write_choice(out, options, chosen, count, gpus, cpu);
    free(devices);
    if (passed == 0 && options->backend == CAROM_BACKEND_OPENCL)
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
