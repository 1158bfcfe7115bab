/* SPDX-License-Identifier: MIT */
/* Statistics that assume no distribution of times: order statistics, ranks, medians of differences. Values that are not
 * numbers are no values: the caller leaves them out (statistics_sort). */
#ifndef CAROM_BENCH_STATISTICS_H
#define CAROM_BENCH_STATISTICS_H

/* Values of a side that a test takes at most. */
enum { STATISTICS_VALUES_MAX = 1024 };

/* The numbers among `count` values, in order. Returns how many. */
int statistics_sort(double *sorted, const double *values, int count);
/* Of sorted values; NaN of none. */
double statistics_median(const double *sorted, int count);

typedef struct statistics_interval {
    double low, high;
    double confidence; /* that the interval has, at least */
} statistics_interval;

/* How many of n sorted values to leave out at each end, so that the rest encloses the true median with 95 %: a sign
 * test, for any distribution. 0 where n is less than 9; less than 6 values have less than 95 % even so. */
int statistics_outside(int n);
/* That interval of sorted values, and the confidence that it has. NaN of none. */
statistics_interval statistics_median_interval(const double *sorted, int count);

/* Mann-Whitney test: the chance, on both sides, that ranks are this uneven if both sets of values have one
 * distribution. By all divisions of the ranks for up to 40 values, and for up to 128 with 6 at most on a side, with
 * ties as they are; of more by the normal distribution, corrected for ties and continuity. 1 if a side is empty or
 * memory is short. */
double statistics_rank_test(const double *a, int a_count, const double *b, int b_count);
/* The least that the test can give for so many values without ties. */
double statistics_rank_least(int a_count, int b_count);
/* Chances of `count` tests, adjusted by Holm for all of them together: one is below alpha by chance in that share of
 * families at most. */
int statistics_holm(double *adjusted, const double *p, int count);

/* Hodges-Lehmann: median of all b - a, and its 95 % interval from the distribution of the same test (Moses). Where
 * there are too few values for 95 %, the least and the greatest difference. */
typedef struct statistics_shift {
    double shift;
    statistics_interval interval;
} statistics_shift;
/* Returns 0 if memory is short. */
int statistics_hodges_lehmann(const double *a, int a_count, const double *b, int b_count, statistics_shift *out);

/* The number that a standard normal variable exceeds with this chance, and one of Student's t. 0 < chance <= 0.5. */
double statistics_normal_above(double chance);
double statistics_t_above(double chance, double degrees);

#endif
