/* SPDX-License-Identifier: MIT */
/* Between the commands and the library: a context made from the options, and the library's reports as messages. */
#include "command.h"
#include "cli/import/import.h"

#include <stdio.h>
#include <string.h>

/* A sentence of the library, in which options of the command stand for fields of its descriptions. */
static void name_options(const char *sentence, char *out, size_t size)
{
    static const char *const names[][2] = {
        {"sign parity", "--sign parity"},
        {"sign winding", "--sign winding"},
        {"sign robust", "--sign robust"},
        {"allow_open", "--allow-open"},
        {"lattice: ", "the lattice of --origin, --spacing, --dims and --margin: "},
    };
    size_t used = 0;
    for (const char *at = sentence; *at && used + 1 < size;) {
        size_t i = 0;
        while (i < sizeof names / sizeof names[0] && strncmp(at, names[i][0], strlen(names[i][0])) != 0)
            i++;
        const int is_name = i < sizeof names / sizeof names[0];
        const int n = is_name ? snprintf(out + used, size - used, "%s", names[i][1])
                              : snprintf(out + used, size - used, "%c", *at);
        used += (size_t)n;
        at += is_name ? strlen(names[i][0]) : 1;
    }
    out[used < size ? used : size - 1] = '\0';
}

int cli_library_error(const char *about, carom_status status, const carom_error *err)
{
    char sentence[2 * sizeof err->message];
    name_options(err->message[0] ? err->message : carom_status_name(status), sentence, sizeof sentence);
    cli_message("%s%s%s", about ? about : "", about ? ": " : "", sentence);
    if (status == CAROM_ERROR_KERNEL_BUILD) { /* drivers give a bare number where their cache is damaged */
        char advice[CLI_ADVICE];
        (void)cli_advise(advice, sizeof advice, "");
        cli_message("%s", advice);
    }
    return status == CAROM_ERROR_INVALID_ARGUMENT ? EXIT_USAGE : EXIT_WORK;
}

void cli_report_fallback(const carom_stats *stats)
{
    if (stats->fallen_back > 0)
        cli_message("%llu of %llu queries fell back from the device to the CPU: %s",
                    (unsigned long long)stats->fallen_back, (unsigned long long)stats->queries, stats->fallback_reason);
}

void cli_report_unused_device(const cli_options *options, const carom_stats *stats)
{
    if (options->is_device_given && options->backend == CAROM_BACKEND_AUTO && stats->on_device == 0 &&
        stats->fallen_back == 0)
        cli_message(
            "--device %s was not asked: --backend auto answers few queries on the CPU; --backend opencl asks it",
            options->device);
}

static void log_to_stderr(void *user, carom_log_level level, const char *message)
{
    (void)user;
    cli_message("%s%s", level == CAROM_LOG_WARNING ? "warning: " : "", message);
}

carom_context_desc cli_context_desc(const cli_options *options)
{
    carom_context_desc desc = carom_context_desc_default();
    desc.backend = options->backend;
    desc.device = options->device;
    desc.isa = options->isa;
    desc.threads = options->threads;
    desc.auto_from = options->auto_from;
    desc.log = log_to_stderr;
    desc.log_level = CAROM_LOG_WARNING;
    return desc;
}

int cli_context_open(const cli_options *options, carom_context **out)
{
    carom_context_desc desc = cli_context_desc(options);
    carom_error err = {0};
    carom_status status = carom_context_create(&desc, out, &err);
    if (status == CAROM_OK)
        return EXIT_DONE;
    char asked[128] = "--backend opencl";
    if (options->device)
        snprintf(asked, sizeof asked, "--device %s", options->device);
    return cli_library_error(status == CAROM_ERROR_NO_DEVICE ? asked : NULL, status, &err);
}

int cli_mesh_make(carom_context *context, const char *path, const mesh_data *data, carom_mesh **mesh)
{
    const carom_mesh_desc desc = {
        .size = sizeof desc,
        .vertices = carom_xyz(data->xyz),
        .vertex_count = data->vertex_count,
        .indices = carom_uints_of(data->indices),
        .triangle_count = data->triangle_count,
        .masks = {.data = data->masks, .stride = sizeof *data->masks},
    };
    carom_error err = {0};
    const carom_status made = carom_mesh_create(context, &desc, mesh, &err);
    return made == CAROM_OK ? EXIT_DONE : cli_library_error(path, made, &err);
}

int cli_mesh_open(const cli_options *options, const char *path, const mesh_data *data, carom_context **context,
                  carom_mesh **mesh)
{
    const int status = cli_context_open(options, context);
    return status == EXIT_DONE ? cli_mesh_make(*context, path, data, mesh) : status;
}
