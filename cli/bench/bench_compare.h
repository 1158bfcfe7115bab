/* SPDX-License-Identifier: MIT */
#ifndef CAROM_CLI_BENCH_BENCH_COMPARE_H
#define CAROM_CLI_BENCH_BENCH_COMPARE_H

#include "bench/moved.h"
#include "bench_json.h"

/* Results of one build, a run each. */
typedef struct bench_side {
    const bench_json *results; /* [count] */
    const char *const *paths;  /* [count] as they are shown; NULL: the run that has just been measured */
    int count;
} bench_side;

/* A row that both sides have. */
typedef struct bench_moved {
    const bench_row *old, *now; /* of the first file that has it */
    double before, after;       /* nanoseconds per query: medians over the files */
    int is_other_batch;         /* more than twice as long or as short */
} bench_moved;

typedef struct bench_comparison {
    bench_side sides[MOVED_SIDES];
    bench_moved *rows;
    moved_row *moved; /* [row_count] */
    moved_run *runs;
    int row_count, added, gone;
    moved_summary summary;
} bench_comparison;

/* Returns an exit status with the message printed. The files must live as long as the comparison. */
int bench_compare(const bench_side *old, const bench_side *now, bench_comparison *out);
void bench_compare_show(const bench_comparison *c, output *out);
/* What makes the figures of a file doubtful, for a line each; NULL beyond the last. */
enum { BENCH_DOUBT = 256, BENCH_LINE = 2048 };
const char *bench_doubt(const bench_json *json, int which, char text[BENCH_DOUBT]);
/* In what a file differs from the first old one beside its build's speed, and what verdicts rest on; likewise. */
const char *bench_condition(const bench_comparison *c, moved_side side, int file, int which, char text[BENCH_LINE]);
const char *bench_noise(const bench_comparison *c, int which, char text[BENCH_LINE]);
const char *bench_moved_word(moved_verdict verdict, const char *slower, const char *faster);
void bench_compare_end(bench_comparison *c);

#endif
