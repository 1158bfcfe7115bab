/* SPDX-License-Identifier: MIT */
/* OpenCL devices are opened first in a process of its own: a driver that aborts, crashes or hangs there costs a
 * sentence, not the command. That process is the command again, spawned anew with a hidden first argument, because a
 * driver may have started threads and a fork of them cannot be used. */
#ifndef CAROM_CLI_PROBE_PROBE_H
#define CAROM_CLI_PROBE_PROBE_H

#include "cli/command/command.h"
#include "cli/table/table.h"

#define PROBE_COMMAND "probe-device"

enum { PROBE_DEVICES = 64, PROBE_WORDS = CLI_ADVICE, PROBE_JOB = 48 };

/* How far a process has come. Each step is a report; what follows the last one is what died. */
typedef enum probe_step {
    PROBE_LOADING, /* drivers are loaded and asked for their devices */
    PROBE_FOUND,   /* a device */
    PROBE_LISTED,  /* status and sentence of the list */
    PROBE_OPENING, /* a device is opened: its first kernel is built and probed */
    PROBE_OPENED,  /* status and sentence of that */
    PROBE_ASKING,  /* a device builds and probes the programs of the command's queries */
    PROBE_ASKED,   /* the exit status of that */
    PROBE_END
} probe_step;

/* Sent whole: less than PIPE_BUF. */
typedef struct probe_report {
    probe_step step;
    int status; /* of the library, or of the command */
    carom_device_info device;
    char sentence[sizeof((carom_error *)0)->message];
} probe_report;

/* What a process found, as far as it got. */
typedef struct probe_outcome {
    probe_report last; /* with PROBE_END it survived */
    carom_device_info devices[PROBE_DEVICES];
    uint32_t count;
    carom_status listed, opened;
    int asked, answered; /* devices that were to prepare, and of these, that did without an error */
    char list_sentence[sizeof((carom_error *)0)->message], open_sentence[sizeof((carom_error *)0)->message];
    char subject[512];       /* if it died: of what */
    char death[PROBE_WORDS]; /* and how: where, its last words, what to try */
} probe_outcome;

typedef void probe_report_fn(void *user, const probe_report *report);

/* Jobs: "list"; "open:N", the device of that number; "all", each device that the options ask for; "rows:PRESENT:N", the
 * device that a query command would take for N rows with the optional columns of that set. */

/* Do a job in a process of its own. Returns 1 if that survived; else out->subject and out->death say what died, and
 * how. With --probe-limit 0 the job is done here. */
int probe_run(const cli_options *options, const char *job, probe_outcome *out);
/* The job itself; child.c. */
void probe_do(const cli_options *options, const char *job, probe_report_fn *report, void *user);
/* `carom probe-device JOB PARENT HELD COMMAND ...`: the whole of that process. PARENT is a process, HELD the address
 * space that it takes, in bytes. command: the one of that name; NULL: there is none. */
int probe_child(const cli_command *command, int argc, char **argv);
/* The name in such arguments; empty if they are too few. */
const char *probe_child_command(int argc, char **argv);

/* Before a command's first opening of a device. If the process dies: an exit status with the message printed for
 * --backend opencl; a warning and the CPU from here on for auto. */
int probe_before_rows(cli_options *options, const table_column *columns, size_t column_count, uint64_t rows);
int probe_before_all(cli_options *options);

/* Does --device mean this one, if it was given? A whole number, or a part of a name, as the library reads it. */
int probe_is_asked_for(const cli_options *options, const carom_device_info *device);

/* Fill out->death from how the process ended (waitpid's status, or the reason why we ended it) and what it printed
 * last; words.c. */
void probe_explain(probe_outcome *out, int status, const char *ended, const char *noise, size_t length);

/* ---- prepare.c: what commands prepare in that process ------------------------------------------------------------ */

/* A context on the device, and a mesh, for calls with `batch.prepare`. The caller destroys both in any case. */
int probe_mesh(const cli_options *options, carom_context **context, carom_mesh **mesh);
/* Room for one row in the required columns and those of the set `present`. table_free in any case. */
int probe_columns(table_column *columns, size_t count, uint32_t present);

#endif
