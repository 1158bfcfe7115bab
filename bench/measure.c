/* SPDX-License-Identifier: MIT */
/* Interleaved timing; see measure.h. */
#include "measure.h"

#include "statistics.h"

#include <math.h>
#include <time.h>

double measure_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double cpu_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

enum { LONG = 4 }; /* samples that a run takes at least to be left out of every second round */

/* Runs per sample, 0 if one run is a long one. The first run warms caches, page tables and thread pools up: its time
 * tells something only if it is far beyond a sample. */
static int calibrate(const measure_side *side, double sample)
{
    double start = measure_now(), once;

    side->run(side->user);
    once = measure_now() - start;
    if (once > 10.0 * sample)
        return 0;
    start = measure_now();
    side->run(side->user);
    once = measure_now() - start;
    if (once > LONG * sample)
        return 0;
    const double repeat = ceil(sample / (once > 1e-7 ? once : 1e-7));
    return repeat > 1e6 ? 1000000 : repeat < 1.0 ? 1 : (int)repeat;
}

static void sample(measurement *m, const measure_side *side, int s, int round, int runs)
{
    measure_round *r = &m->round[s][round];
    const counters_values before = counters_read();
    const double cpu = cpu_now(), start = measure_now();

    for (int i = 0; i < runs; i++)
        side->run(side->user);
    const double end = measure_now(), spent = cpu_now() - cpu, per_run = runs > 0 ? 1.0 / runs : (double)NAN;
    m->seconds[s][round] = r->wall = (end - start) * per_run;
    m->cpu[s][round] = r->cpu = spent * per_run;
    r->used = counters_between(&before, per_run);
}

static int goes_on(const measurement *m, double share)
{
    return m->plan == NULL || m->plan->go_on == NULL || m->plan->go_on(m->plan->user, share);
}

int measure(measurement *out, const measure_plan *plan, const measure_side *sides, int count)
{
    out->plan = plan;
    out->sides = count < MEASURE_SIDES_MAX ? count : MEASURE_SIDES_MAX;
    out->rounds = plan->rounds < MEASURE_ROUNDS_MAX ? plan->rounds : MEASURE_ROUNDS_MAX;
    const double turns = (double)out->sides * (out->rounds + 1); /* the first turn of a side calibrates it */
    for (int round = -1; round < out->rounds; round++)
        for (int s = 0; s < out->sides; s++) {
            if (!goes_on(out, ((double)out->sides * (round + 1) + s) / turns)) {
                out->rounds = 0;
                return 0;
            }
            if (round < 0)
                out->repeat[s] = calibrate(&sides[s], plan->sample);
            else
                sample(out, &sides[s], s, round, out->repeat[s] > 0 ? out->repeat[s] : round % 2 == 0);
        }
    return 1;
}

static double median(const double *values, int count)
{
    double sorted[MEASURE_ROUNDS_MAX];

    return statistics_median(sorted, statistics_sort(sorted, values, count));
}

int measure_rounds(const measurement *m, int side)
{
    double sorted[MEASURE_ROUNDS_MAX];

    return statistics_sort(sorted, m->seconds[side], m->rounds);
}

double measure_median(const measurement *m, int side)
{
    return median(m->seconds[side], m->rounds);
}

statistics_interval measure_interval(const measurement *m, int side)
{
    double sorted[MEASURE_ROUNDS_MAX];

    return statistics_median_interval(sorted, statistics_sort(sorted, m->seconds[side], m->rounds));
}

double measure_cpu(const measurement *m, int side)
{
    return median(m->cpu[side], m->rounds);
}

double measure_spread(const measurement *m, int side)
{
    double sorted[MEASURE_ROUNDS_MAX];
    const int last = statistics_sort(sorted, m->seconds[side], m->rounds) - 1;
    const int low = (int)(0.16 * last + 0.5), high = last - low;

    return 0.5 * (sorted[high] - sorted[low]);
}

double measure_best(const measurement *m, int side)
{
    double sorted[MEASURE_ROUNDS_MAX];

    (void)statistics_sort(sorted, m->seconds[side], m->rounds);
    return sorted[0];
}

static void ratios(double *values, const measurement *m, int over, int under)
{
    for (int round = 0; round < m->rounds; round++)
        values[round] = m->seconds[over][round] / m->seconds[under][round];
}

double measure_ratio(const measurement *m, int over, int under)
{
    double values[MEASURE_ROUNDS_MAX];

    ratios(values, m, over, under);
    return median(values, m->rounds);
}

double measure_uncertainty(const measurement *m, int over, int under)
{
    double values[MEASURE_ROUNDS_MAX], sorted[MEASURE_ROUNDS_MAX];

    ratios(values, m, over, under);
    const int n = statistics_sort(sorted, values, m->rounds), outside = statistics_outside(n);
    return n > 1 ? 0.5 * (sorted[n - 1 - outside] - sorted[outside]) / median(values, m->rounds) : (double)INFINITY;
}

static const double SETTLED = 0.03; /* two runs then differ by 4 % in one of twenty ratios, by 10 % in next to none */

double measure_more(measurement *m, const measure_side *sides, const measure_pair *pairs, int count, double budget)
{
    const double start = measure_now();
    double spent = 0.0;

    while (m->rounds < MEASURE_ROUNDS_MAX && spent < budget && goes_on(m, 1.0)) {
        int wanted[MEASURE_SIDES_MAX] = {0}, open = 0;
        for (int i = 0; i < count; i++)
            if (measure_uncertainty(m, pairs[i].over, pairs[i].under) > SETTLED)
                open = wanted[pairs[i].over] = wanted[pairs[i].under] = 1;
        if (!open)
            break;
        const int round = m->rounds++;
        for (int s = 0; s < m->sides; s++)
            sample(m, &sides[s], s, round, !wanted[s] ? 0 : m->repeat[s] > 0 ? m->repeat[s] : 1);
        spent = measure_now() - start;
    }
    return spent;
}
