/* SPDX-License-Identifier: MIT */
/* Progress of a long job on standard error: a bar on a terminal, lines in a log, JSON objects for programs. A job of
 * less than a second shows nothing. Any thread may call these functions. */
#ifndef CAROM_CLI_BASE_PROGRESS_H
#define CAROM_CLI_BASE_PROGRESS_H

#include <stdint.h>

/* PROGRESS_AUTO: a bar if standard error is a terminal, else as PROGRESS_PLAIN. PROGRESS_PLAIN: a line every 10 s.
 * PROGRESS_JSON: an object on a line of its own every second, and one at the end. */
typedef enum progress_form { PROGRESS_AUTO, PROGRESS_PLAIN, PROGRESS_JSON, PROGRESS_NONE } progress_form;

/* One job at a time shows a bar. The members belong to progress.c. */
typedef struct progress {
    const char *job, *unit;
    progress_form form;
    uint64_t first, done, total;
    double share;              /* of the work that is done; NaN: not known */
    double begin, next, every; /* seconds: of the start, of the next report; between reports */
    int reports;
    struct progress *whole; /* the job of which this one is a unit */
} progress;

/* The form of all jobs that begin later; PROGRESS_AUTO before the first call. */
void progress_choose(progress_form form);
/* Start the clock of a job. job, unit: borrowed until the end, and any characters may be in them; unit: its plural, or
 * NULL if only time is counted. done: units that an earlier run has done. total: 0 if it is not known. */
void progress_begin(progress *p, const char *job, const char *unit, uint64_t done, uint64_t total);
/* Report if it is time. Reads a clock, which takes some 30 ns: call it once for a chunk of work. */
void progress_show(progress *p, uint64_t done);
/* The same for a job of unknown total, of which the share in [0, 1] is known, as the bytes read of a file's. */
void progress_show_share(progress *p, uint64_t done, double share);
/* The same where the last units were done by an earlier run: they do not count for the rate. */
void progress_found(progress *p, uint64_t done);
/* The bar goes; if there were reports, the last line says how far the job came. */
void progress_end(progress *p);

/* From here on, jobs that begin show nothing, and `whole` goes on: a job with many units that are jobs. NULL: no more.
 */
void progress_gather(progress *whole);
/* A job that has begun since then: its share is that of the unit in work of the whole. */
void progress_is_unit(progress *p);

/* Take the bar off the terminal until the next report: before anything else is written there. */
void progress_clear(void);
/* The same in a handler of a signal that ends the process: the bar stays, and what follows has a line of its own. */
void progress_leave(void);

#endif
