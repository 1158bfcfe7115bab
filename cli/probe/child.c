/* SPDX-License-Identifier: MIT */
/* The child of probe.h: list devices, open one, run queries; with a report before each step that may crash. */
#include "probe.h"
#include "cli/base/child.h"
#include "cli/base/memory.h"
#include "cli/rows/rows.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Bytes for the answers to a row: columns and what a driver keeps beside them. */
enum { REPORTS_FD = STDOUT_FILENO, ANSWER_BYTES = 128, NAME_BYTES = 256 };

typedef struct job {
    const cli_options *options;
    probe_report_fn *report;
    void *user;
} job;

static void say(const job *j, probe_step step, int status, const carom_device_info *device, const char *sentence)
{
    probe_report report = {.step = step, .status = status};
    if (device)
        report.device = *device;
    if (sentence)
        snprintf(report.sentence, sizeof report.sentence, "%s", sentence);
    j->report(j->user, &report);
}

static int is_called(const carom_device_info *device, const char *name)
{
    char *end;
    unsigned long number = strtoul(name, &end, 10);
    if (*end == '\0' && name[0] >= '0' && name[0] <= '9')
        return number == device->index;
    return strcasestr(device->name, name) || strcasestr(device->platform, name);
}

/* Copies the next name of a list, without the spaces around it; returns where the list goes on, NULL: it is over. */
static const char *next_name(const char *list, char *name, size_t size)
{
    const size_t length = strcspn(list, ",");
    size_t first = strspn(list, " "), end = length;
    while (end > first && list[end - 1] == ' ')
        end--;
    snprintf(name, size, "%.*s", first < end ? (int)(end - first) : 0, list + first);
    return list[length] == ',' ? list + length + 1 : NULL;
}

int probe_is_asked_for(const cli_options *options, const carom_device_info *device)
{
    char name[NAME_BYTES];
    if (!options->device || is_called(device, options->device))
        return 1;
    for (const char *at = strchr(options->device, ',') ? options->device : NULL; at;) {
        at = next_name(at, name, sizeof name);
        if (name[0] && is_called(device, name))
            return 1;
    }
    return 0;
}

static uint32_t list(const job *j, carom_device_info devices[PROBE_DEVICES])
{
    carom_error err = {0};
    uint32_t count = 0;
    say(j, PROBE_LOADING, 0, NULL, NULL);
    devices[0].size = sizeof devices[0];
    carom_status status = carom_device_list(devices, PROBE_DEVICES, &count, &err);
    count = status != CAROM_OK ? 0 : count < PROBE_DEVICES ? count : PROBE_DEVICES;
    for (uint32_t i = 0; i < count; i++)
        say(j, PROBE_FOUND, 0, &devices[i], NULL);
    say(j, PROBE_LISTED, status, NULL, err.message);
    return count;
}

/* `number` has room for the device's. */
static cli_options on_device(const job *j, const carom_device_info *device, char number[16])
{
    cli_options options = *j->options;
    snprintf(number, 16, "%u", device->index);
    options.backend = CAROM_BACKEND_OPENCL;
    options.device = number;
    return options;
}

/* The library's own probe is part of opening. */
static carom_status open_one(const job *j, const carom_device_info *device)
{
    char number[16];
    const cli_options options = on_device(j, device, number);
    carom_context_desc desc = cli_context_desc(&options);
    carom_context *context = NULL;
    carom_error err = {0};
    desc.log = NULL; /* the sentence is reported */
    say(j, PROBE_OPENING, 0, device, NULL);
    carom_status status = carom_context_create(&desc, &context, &err);
    carom_context_destroy(context);
    say(j, PROBE_OPENED, status, device, err.message);
    return status;
}

/* Made-up input has lengths and times of its own: by those of the user all of it might meet all of it. */
static void forget_lengths(cli_options *options)
{
    options->cloud.margin = 0.0f;
    memset(options->cloud.period, 0, sizeof options->cloud.period);
    options->contacts.margin = options->contacts.merge_within = 0.0f;
    if (options->given & OPTION_T_MAX)
        options->t_max = REHEARSAL_TIME;
}

/* The command itself, on made-up input: it builds and probes the kernels that it needs, and no others. */
static void ask(const job *j, const carom_device_info *device, uint32_t present)
{
    char number[16];
    cli_options options = on_device(j, device, number);
    options.rehearsal = 1;
    options.present = present;
    options.queries = 1;
    options.output = "/dev/null";
    forget_lengths(&options);
    say(j, PROBE_ASKING, 0, device, NULL);
    /* What fails without dying fails again in the parent, with its sentence. */
    say(j, PROBE_ASKED, options.command->run(&options), device, NULL);
}

/* The device that the library would take: `auto` takes GPUs only, unless one is named. */
static const carom_device_info *choose(const cli_options *options, const char *name, const carom_device_info *devices,
                                       uint32_t count)
{
    const carom_device_info *chosen = NULL;
    for (uint32_t i = 0; i < count; i++) {
        int gpu = !strcmp(devices[i].kind, "gpu");
        if (name ? is_called(&devices[i], name) && !chosen
                 : devices[i].available && (gpu ? !chosen || strcmp(chosen->kind, "gpu") != 0
                                                : options->backend == CAROM_BACKEND_OPENCL && !chosen))
            chosen = &devices[i];
    }
    return chosen;
}

/* The device that is chosen, or each of a list. */
static void ask_chosen(const job *j, const carom_device_info *devices, uint32_t count, uint32_t present)
{
    char name[NAME_BYTES];
    const carom_device_info *chosen = choose(j->options, j->options->device, devices, count);
    if (chosen || !j->options->device || !strchr(j->options->device, ',')) {
        if (chosen)
            ask(j, chosen, present);
        return;
    }
    for (const char *at = j->options->device; at;) {
        at = next_name(at, name, sizeof name);
        chosen = name[0] ? choose(j->options, name, devices, count) : NULL;
        if (chosen)
            ask(j, chosen, present);
    }
}

void probe_do(const cli_options *options, const char *what, probe_report_fn *report, void *user)
{
    const job j = {options, report, user};
    carom_device_info devices[PROBE_DEVICES];
    const char *argument = strchr(what, ':');
    const uint32_t number = argument ? (uint32_t)strtoul(argument + 1, NULL, 10) : 0;
    const uint32_t count = list(&j, devices);
    const int all = !strcmp(what, "all");
    for (uint32_t i = 0; i < count; i++) {
        if (!strncmp(what, "open:", 5) && devices[i].index == number)
            (void)open_one(&j, &devices[i]);
        if (all && probe_is_asked_for(options, &devices[i]) && open_one(&j, &devices[i]) == CAROM_OK &&
            options->command->run == command_verify)
            ask(&j, &devices[i], 0);
    }
    if (!strncmp(what, "rows:", 5))
        ask_chosen(&j, devices, count, number);
    say(&j, PROBE_END, 0, NULL, NULL);
}

static int reports;

static void send(void *user, const probe_report *report)
{
    (void)user;
    if (write(reports, report, sizeof *report) != (ssize_t)sizeof *report)
        _exit(EXIT_WORK); /* the parent is gone */
}

/* The parent has less address space left than this process: it holds its input, and will hold answers. A driver that
 * has enough here must not run short there. */
static void take_on_limit(const char *what, uint64_t held)
{
    struct rlimit limit;
    const char *rows = strrchr(what, ':');
    uint64_t count = strncmp(what, "rows:", 5) ? 0 : strtoull(rows + 1, NULL, 10), own = memory_mapped();
    held += ANSWER_BYTES * (count < ROWS_CHUNK ? count : ROWS_CHUNK);
    if (held <= own || getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return;
    limit.rlim_cur = limit.rlim_cur > held ? limit.rlim_cur - (held - own) : own;
    setrlimit(RLIMIT_AS, &limit);
}

int probe_child(int argc, char **argv)
{
    cli_options options;
    const cli_command *command = argc > 5 ? cli_command_named(argv[5]) : NULL;
    if (!command)
        return cli_refuse(EXIT_USAGE, "%s is for carom itself; see carom --help", PROBE_COMMAND);
    take_on_limit(argv[2], strtoull(argv[4], NULL, 10));
    if (!child_begin((pid_t)strtol(argv[3], NULL, 10)))
        return EXIT_WORK;
    /* What a driver prints must not get between the reports. */
    reports = fcntl(REPORTS_FD, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (reports < 0 || dup2(STDERR_FILENO, REPORTS_FD) < 0)
        return EXIT_WORK;
    int status = options_parse(command, argc - 5, argv + 5, &options);
    progress_choose(PROGRESS_NONE);
    if (status < 0)
        probe_do(&options, argv[2], send, NULL);
    return status < 0 ? EXIT_DONE : status;
}
