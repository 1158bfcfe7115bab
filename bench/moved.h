/* SPDX-License-Identifier: MIT */
/* Which rows of results have moved between two builds: by ranks, and beyond what runs of one build differ. The method
 * and its sources stand in docs/benchmarks.md. */
#ifndef CAROM_BENCH_MOVED_H
#define CAROM_BENCH_MOVED_H

#include "measure.h"

/* Of all rows of a comparison together, so often at most is one called slower or faster that is not: with several runs
 * on a side whatever the rows' noise, with one under the condition of MOVED_TAILS_OF_ONE. */
#define MOVED_CHANCE 0.01
/* One run on each side tells nothing of how much noisier a row is than the others. Rows that differ between runs by so
 * many times as much as the median row are not called. */
#define MOVED_TAILS_OF_ONE 5.0
/* Instructions of a query that differ by more have moved. */
#define MOVED_INSTRUCTIONS 0.01

/* Rows from which the difference between runs can be told if each side has one run alone. */
enum { MOVED_ROWS = 10, MOVED_RUNS_MAX = 64 };

/* A row in one run. Logarithms of seconds per query. */
typedef struct moved_run {
    double center; /* of the median */
    double rounds[MEASURE_ROUNDS_MAX];
    int count;           /* of rounds; 0: not known */
    double instructions; /* of a query; NAN: not known */
    double cpu;          /* logarithm of CPU seconds per query; NAN where a query that is slower need not use more */
    /* The same over a row that no build changes, its control, in the same rounds; NAN: there is none. */
    double center_beside, cpu_beside;
} moved_run;

typedef enum moved_verdict { MOVED_UNKNOWN, MOVED_NOT, MOVED_SLOWER, MOVED_FASTER } moved_verdict;
typedef enum moved_side { MOVED_OLD, MOVED_NEW, MOVED_SIDES } moved_side;

typedef struct moved_row {
    const moved_run *runs[MOVED_SIDES]; /* [counts] */
    int counts[MOVED_SIDES];
    int is_beside; /* the answer is of the ratios to the control, because these are less noisy */
    /* The answer; logarithms of ratios of new to old. */
    double shift, low, high; /* with a 95 % confidence interval */
    double chance;           /* of such ranks, if nothing has moved; adjusted for all rows */
    double floor;            /* what runs of one build may differ by */
    moved_verdict by_time, by_instructions;
    double more_instructions; /* ratio of medians */
} moved_row;

typedef struct moved_summary {
    int tested;  /* rows */
    int by_runs; /* of these, rows that several files of a side have: runs are ranked, not rounds of one run */
    int beside;  /* of these, rows that are judged beside their control */
    /* Standard deviations of a row's logarithm between runs of one build, of the median row; NAN: not known. */
    double noise_of_runs, noise_of_one; /* of rows by runs without a control, and of the others */
    double together;                    /* what those others have moved by as a whole, which is no row's own movement */
} moved_summary;

/* Returns 0 if memory is short. */
int moved_judge(moved_row *rows, int count, moved_summary *out);

#endif
