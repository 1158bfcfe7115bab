/* SPDX-License-Identifier: MIT */
/* Timing of rivals side by side: every round runs each of them once, so that whatever else the machine does hits all
 * of them alike, and a ratio is the median over rounds of the ratio within a round. Who takes long runs in every second
 * round only: the others then get more rounds in the same time. Ratios that the rounds leave open get further ones. */
#ifndef CAROM_BENCH_MEASURE_H
#define CAROM_BENCH_MEASURE_H

#include "counters.h"
#include "statistics.h"

enum { MEASURE_SIDES_MAX = 48, MEASURE_ROUNDS_MAX = 64 };

typedef struct measure_side {
    void (*run)(void *user);
    void *user;
} measure_side;

typedef struct measure_plan {
    int rounds;
    double sample;                          /* seconds that a sample lasts at least; a run is repeated until it does */
    int (*go_on)(void *user, double share); /* asked between samples, with the share of these rounds; 0: no more of
                                             * them. NULL: all */
    void *user;
} measure_plan;

/* A side in one round, per run; NaN in one that was left out, and for what cannot be read. */
typedef struct measure_round {
    double wall, cpu; /* seconds; cpu: of all threads together */
    counters_values used;
} measure_round;

/* Seconds per run; NaN in a round that was left out. */
typedef struct measurement {
    const measure_plan *plan; /* NULL in one that is made up */
    int sides, rounds;
    int repeat[MEASURE_SIDES_MAX]; /* runs per sample; 0: one, a long one */
    double seconds[MEASURE_SIDES_MAX][MEASURE_ROUNDS_MAX];
    double cpu[MEASURE_SIDES_MAX][MEASURE_ROUNDS_MAX]; /* of all threads together */
    measure_round round[MEASURE_SIDES_MAX][MEASURE_ROUNDS_MAX];
} measurement;

typedef struct measure_pair {
    int over, under; /* sides whose ratio is wanted */
} measure_pair;

double measure_now(void);
/* Returns 0 if the plan did not go on to the end: there are no rounds then. The measurement keeps the plan. */
int measure(measurement *out, const measure_plan *plan, const measure_side *sides, int count);
/* Further rounds of the same sides: of those pairs alone whose ratio is not settled, until all are, until there is no
 * room for rounds, until the plan does not go on, or until `budget` seconds are spent, which the last round may exceed.
 * Returns the seconds that they took. */
double measure_more(measurement *m, const measure_side *sides, const measure_pair *pairs, int count, double budget);
int measure_rounds(const measurement *m, int side); /* that it took part in */
double measure_median(const measurement *m, int side);
/* Half the way from the 16th to the 84th percentile: one standard deviation, if times were normal. */
double measure_spread(const measurement *m, int side);
/* The 95 % confidence interval of the median. */
statistics_interval measure_interval(const measurement *m, int side);
double measure_cpu(const measurement *m, int side); /* median of CPU seconds per run */
double measure_best(const measurement *m, int side);
/* Median over rounds of the time of side `over` divided by that of side `under`. */
double measure_ratio(const measurement *m, int over, int under);
/* Half the width of a 95 % confidence interval of that median, as a share of it. The interval ends at the ratios of
 * two rounds (a sign test: any distribution will do); of fewer than nine rounds, at the least and the greatest. */
double measure_uncertainty(const measurement *m, int over, int under);

#endif
