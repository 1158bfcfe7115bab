/* SPDX-License-Identifier: MIT */
/* The child of probe.h: list devices, open one, prepare queries; with a report before each step that may crash. */
#include "probe.h"
#include "cli/base/child.h"
#include "cli/base/memory.h"

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
    int is_whole; /* the command's own options are behind them */
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
static void put_on_device(cli_options *options, const carom_device_info *device, char number[16])
{
    snprintf(number, 16, "%u", device->index);
    options->backend = CAROM_BACKEND_OPENCL;
    options->device = number;
}

/* The library's own probe is part of opening. */
static carom_status open_one(const job *j, const carom_device_info *device)
{
    char number[16];
    cli_options options = *j->options;
    put_on_device(&options, device, number);
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

/* The command's calls, which build and probe the kernels that it needs, and no others. */
static int prepare(const job *j, const carom_device_info *device, uint32_t present)
{
    const cli_command *command = j->options->command;
    char number[16];
    cli_options *options = cli_alloc(1, command->size);
    if (!options)
        return cli_no_memory();
    memcpy(options, j->options, command->size);
    put_on_device(options, device, number);
    const int status = command->prepare(options, present);
    free(options);
    return status;
}

static void ask(const job *j, const carom_device_info *device, uint32_t present)
{
    if (!j->is_whole || !j->options->command->prepare)
        return;
    say(j, PROBE_ASKING, 0, device, NULL);
    /* What fails without dying fails again in the parent, with its sentence. */
    say(j, PROBE_ASKED, prepare(j, device, present), device, NULL);
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

static void do_job(const job *j, const char *what)
{
    carom_device_info devices[PROBE_DEVICES];
    const char *argument = strchr(what, ':');
    const uint32_t number = argument ? (uint32_t)strtoul(argument + 1, NULL, 10) : 0;
    const uint32_t count = list(j, devices);
    const int all = !strcmp(what, "all");
    for (uint32_t i = 0; i < count; i++) {
        if (!strncmp(what, "open:", 5) && devices[i].index == number)
            (void)open_one(j, &devices[i]);
        if (all && probe_is_asked_for(j->options, &devices[i]) && open_one(j, &devices[i]) == CAROM_OK)
            ask(j, &devices[i], 0);
    }
    if (!strncmp(what, "rows:", 5))
        ask_chosen(j, devices, count, number);
    say(j, PROBE_END, 0, NULL, NULL);
}

void probe_do(const cli_options *options, const char *what, probe_report_fn *report, void *user)
{
    const job j = {.options = options, .report = report, .user = user};
    do_job(&j, what);
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
    held += ANSWER_BYTES * (count < CLI_CHUNK ? count : CLI_CHUNK);
    if (held <= own || getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return;
    limit.rlim_cur = limit.rlim_cur > held ? limit.rlim_cur - (held - own) : own;
    setrlimit(RLIMIT_AS, &limit);
}

const char *probe_child_command(int argc, char **argv)
{
    return argc > 5 ? argv[5] : "";
}

int probe_child(const cli_command *command, int argc, char **argv)
{
    cli_options *options;
    if (!command)
        return cli_refuse(EXIT_USAGE, "%s is for carom itself; see carom --help", PROBE_COMMAND);
    take_on_limit(argv[2], strtoull(argv[4], NULL, 10));
    if (!child_begin((pid_t)strtol(argv[3], NULL, 10)))
        return EXIT_WORK;
    /* What a driver prints must not get between the reports. */
    reports = fcntl(REPORTS_FD, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (reports < 0 || dup2(STDERR_FILENO, REPORTS_FD) < 0)
        return EXIT_WORK;
    const int status = options_parse(command, argc - 5, argv + 5, &options);
    progress_choose(PROGRESS_NONE);
    if (status >= 0)
        return status;
    const job j = {.options = options, .is_whole = 1, .report = send};
    do_job(&j, argv[2]);
    free(options);
    return EXIT_DONE;
}
