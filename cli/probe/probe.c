/* SPDX-License-Identifier: MIT */
/* Starting, watching and ending the process of probe.h. */
#include "probe.h"
#include "cli/base/child.h"
#include "cli/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NOISE = 4096, IDLE_LIMIT = 30, TICK_MS = 100 };

typedef struct probe {
    pid_t process;
    int reports, errors; /* ends of pipes, -1 when at their end */
    probe_outcome *out;
    char partial[sizeof(probe_report)]; /* a report that has not come whole */
    size_t partial_used;
    char noise[NOISE]; /* the last that was printed */
    size_t noise_used;
    double step_began, busy_since, busy;
    const char *ended; /* by us, and why; NULL if not */
} probe;

/* ---- what comes out of it ------------------------------------------------------------------------------------ */

static void take(void *user, const probe_report *report)
{
    probe_outcome *out = user;
    out->last = *report;
    if (report->step == PROBE_FOUND && out->count < PROBE_DEVICES)
        out->devices[out->count++] = report->device;
    if (report->step == PROBE_LISTED) {
        out->listed = (carom_status)report->status;
        snprintf(out->list_sentence, sizeof out->list_sentence, "%s", report->sentence);
    }
    if (report->step == PROBE_OPENED) {
        out->opened = (carom_status)report->status;
        snprintf(out->open_sentence, sizeof out->open_sentence, "%s", report->sentence);
    }
    out->asked += report->step == PROBE_ASKED;
    out->answered += report->step == PROBE_ASKED && report->status == EXIT_DONE;
}

/* What there is to be read now. Returns 0 at the end. */
static int read_reports(probe *p)
{
    ssize_t n = read(p->reports, p->partial + p->partial_used, sizeof p->partial - p->partial_used);
    if (n <= 0)
        return n < 0 && (errno == EINTR || errno == EAGAIN);
    p->partial_used += (size_t)n;
    if (p->partial_used == sizeof p->partial) {
        probe_report report;
        memcpy(&report, p->partial, sizeof report);
        take(p->out, &report);
        p->partial_used = 0;
        p->step_began = cli_seconds();
    }
    return 1;
}

static int read_noise(probe *p)
{
    if (p->noise_used == NOISE) {
        memmove(p->noise, p->noise + NOISE / 2, NOISE / 2);
        p->noise_used = NOISE / 2;
    }
    ssize_t n = read(p->errors, p->noise + p->noise_used, NOISE - p->noise_used);
    if (n <= 0)
        return n < 0 && (errno == EINTR || errno == EAGAIN);
    p->noise_used += (size_t)n;
    return 1;
}

/* ---- watching ------------------------------------------------------------------------------------------------ */

/* A hung driver uses no processor, a working one does: so a hang is detected early. */
static void end_if_hung(probe *p, uint32_t limit)
{
    clockid_t clock;
    struct timespec used;
    const double now = cli_seconds();
    if (clock_getcpuclockid(p->process, &clock) == 0 && clock_gettime(clock, &used) == 0) {
        const double busy = (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
        if (busy > p->busy + 0.01)
            p->busy_since = now;
        p->busy = busy > p->busy + 0.01 ? busy : p->busy;
    }
    if (now - p->step_began > limit)
        p->ended = "it took longer than --probe-limit";
    else if (now - p->busy_since > IDLE_LIMIT)
        p->ended = "it hung: for 30 seconds it used no processor";
    if (p->ended)
        kill(-p->process, SIGKILL);
}

static int watch(probe *p, uint32_t limit)
{
    int status = 0;
    p->step_began = p->busy_since = cli_seconds();
    for (;;) {
        struct pollfd ends[2] = {{p->reports, POLLIN, 0}, {p->errors, POLLIN, 0}};
        poll(ends, 2, p->reports < 0 && p->errors < 0 ? 1 : TICK_MS);
        int over = waitpid(p->process, &status, WNOHANG) == p->process;
        do { /* what is left in the pipes, once it is over: a child of its own may hold their other ends */
            if (ends[0].revents && !read_reports(p))
                p->reports = -1;
            if (ends[1].revents && !read_noise(p))
                p->errors = -1;
            ends[0] = (struct pollfd){p->reports, POLLIN, 0};
            ends[1] = (struct pollfd){p->errors, POLLIN, 0};
        } while (over && poll(ends, 2, 0) > 0);
        if (over)
            return status;
        if (!p->ended)
            end_if_hung(p, limit);
    }
}

/* ---- starting ------------------------------------------------------------------------------------------------ */

static int spawn(const cli_options *options, const char *job, int reports, int errors, pid_t *process)
{
    char parent[24], held[24];
    char **argv = cli_alloc((uint64_t)options->argc + 6, sizeof *argv);
    if (!argv)
        return ENOMEM;
    snprintf(parent, sizeof parent, "%ld", (long)getpid());
    snprintf(held, sizeof held, "%llu", (unsigned long long)memory_mapped());
    char name[] = "carom", hidden[] = PROBE_COMMAND;
    argv[0] = name;
    argv[1] = hidden;
    argv[2] = (char *)(uintptr_t)job;
    argv[3] = parent;
    argv[4] = held;
    argv[5] = (char *)(uintptr_t)options->command->name;
    for (int i = 1; i <= options->argc; i++) /* with the NULL at its end */
        argv[5 + i] = options->argv[i];
    const int error = child_start(argv, (const int[3]){-1, reports, errors}, process);
    free(argv);
    return error;
}

/* Pipes whose ends are closed in children, and whose reading ends do not block. */
static int open_pipe(int ends[2])
{
    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    return fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0 ? 0 : errno;
}

static void close_all(const int *ends, int count)
{
    for (int i = 0; i < count; i++)
        if (ends[i] >= 0)
            close(ends[i]);
}

int probe_run(const cli_options *options, const char *job, probe_outcome *out)
{
    probe p = {.reports = -1, .errors = -1, .out = out};
    int ends[4] = {-1, -1, -1, -1}, status = 0;
    *out = (probe_outcome){.last = {.step = PROBE_LOADING}};
    if (options->probe_limit == 0 || !carom_has_opencl()) {
        probe_do(options, job, take, out);
        return 1;
    }
    int error = open_pipe(ends);
    error = error ? error : open_pipe(ends + 2);
    error = error ? error : spawn(options, job, ends[1], ends[3], &p.process);
    if (error) {
        snprintf(out->subject, sizeof out->subject, "OpenCL");
        snprintf(out->death, sizeof out->death, "no process to try its drivers in could be started: %s",
                 strerror(error));
        close_all(ends, 4);
        return 0;
    }
    close_all((int[]){ends[1], ends[3]}, 2);
    p.reports = ends[0];
    p.errors = ends[2];
    status = watch(&p, options->probe_limit);
    close_all((int[]){ends[0], ends[2]}, 2);
    if (out->last.step == PROBE_END && WIFEXITED(status) && !p.ended)
        return 1;
    probe_explain(out, status, p.ended, p.noise, p.noise_used);
    return 0;
}

/* ---- before a command ---------------------------------------------------------------------------------------- */

/* With little address space a driver may find no device in one process and die in another, which has not quite the same
 * space: only a device that has answered is opened then. Returns 1 if there is such a limit. */
static int is_too_tight(probe_outcome *out)
{
    struct rlimit limit;
    if (out->answered > 0 || getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return 0;
    snprintf(out->subject, sizeof out->subject, "OpenCL");
    snprintf(out->death, sizeof out->death,
             "no device works in what is left of the address space; the limit is %llu KiB (ulimit -v)",
             (unsigned long long)limit.rlim_cur / 1024);
    return 1;
}

/* `asks`: the job prepares queries on a device. */
static int survive(cli_options *options, const char *job, int asks)
{
    probe_outcome *out = cli_alloc(1, sizeof *out);
    int status = EXIT_DONE;
    if (!out)
        return cli_no_memory();
    const int survived = probe_run(options, job, out);
    /* auto takes no device that it finds itself, unless it is a GPU: then there is nothing to load here. */
    const int needless =
        survived && asks && out->asked == 0 && options->backend == CAROM_BACKEND_AUTO && !options->device;
    const int lost = !survived || (asks && !needless && is_too_tight(out));
    if (lost && options->backend == CAROM_BACKEND_OPENCL)
        status = cli_refuse(EXIT_WORK, "%s: %s; carom info tries each device alone", out->subject, out->death);
    else if (lost)
        cli_message("warning: the CPU answers: %s: %s", out->subject, out->death);
    if (lost || needless) {
        options->backend = CAROM_BACKEND_CPU;
        options->device = NULL;
    }
    free(out);
    return status;
}

/* Nothing to try: no device is opened, it is tried already, or the user wants it so. */
static int is_off(const cli_options *options)
{
    return options->probe_limit == 0 || options->backend == CAROM_BACKEND_CPU || !carom_has_opencl();
}

int probe_before_rows(cli_options *options, const table_column *columns, size_t column_count, uint64_t rows)
{
    char job[PROBE_JOB];
    uint32_t present = 0;
    if (is_off(options) || (options->backend == CAROM_BACKEND_AUTO && rows < CAROM_AUTO_MIN_QUERIES))
        return EXIT_DONE;
    for (size_t c = 0; c < column_count; c++)
        if (columns[c].present)
            present |= 1u << c;
    snprintf(job, sizeof job, "rows:%u:%llu", present, (unsigned long long)rows);
    return survive(options, job, 1);
}

int probe_before_all(cli_options *options)
{
    if (is_off(options) ||
        (options->backend == CAROM_BACKEND_AUTO && options->isa != CAROM_ISA_AUTO && !options->device))
        return EXIT_DONE;
    return survive(options, "all", 0);
}
