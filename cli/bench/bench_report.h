/* SPDX-License-Identifier: MIT */
#ifndef CAROM_CLI_BENCH_BENCH_REPORT_H
#define CAROM_CLI_BENCH_BENCH_REPORT_H

#include "bench_compare.h"

/* What a scene or series of this name asks; "" if it is not known. */
typedef const char *bench_words_fn(const char *scene);

typedef struct bench_report {
    const bench_json *json;               /* whose rows are shown */
    const bench_comparison *const *moves; /* [move_count] */
    int move_count;
    bench_words_fn *words;
} bench_report;

/* One HTML file that needs no other: tables, pictures, the machine, verdicts. Returns an exit status with the message
 * printed. */
int bench_report_write(const bench_report *report, const char *path);

#endif
