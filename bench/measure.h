/* SPDX-License-Identifier: MIT */
/* Timing of rivals side by side: every round runs each of them once, so that whatever else the machine does hits all
 * of them alike, and a ratio is the median over rounds of the ratio within a round. */
#ifndef CAROM_BENCH_MEASURE_H
#define CAROM_BENCH_MEASURE_H

enum { MEASURE_SIDES_MAX = 12, MEASURE_ROUNDS_MAX = 64 };

typedef struct measure_side {
    void (*run)(void *user);
    void *user;
} measure_side;

typedef struct measure_plan {
    int rounds;
    double sample; /* seconds that a sample lasts at least; a run is repeated until it does */
    double settle; /* seconds of rest before each sample, followed by a run that is not counted */
} measure_plan;

/* Seconds per run. */
typedef struct measurement {
    int sides, rounds;
    double seconds[MEASURE_SIDES_MAX][MEASURE_ROUNDS_MAX];
} measurement;

double measure_now(void);
void measure(measurement *out, const measure_plan *plan, const measure_side *sides, int count);
double measure_median(const measurement *m, int side);
double measure_best(const measurement *m, int side);
/* Median over rounds of the time of side `over` divided by that of side `under`. */
double measure_ratio(const measurement *m, int over, int under);

#endif
