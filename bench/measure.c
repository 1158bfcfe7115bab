/* SPDX-License-Identifier: MIT */
/* Interleaved timing; see measure.h. */
#include "measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
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

/* Runs per sample. The first run warms caches, page tables and thread pools up: its time tells something only if it
 * is far beyond a sample. */
static int calibrate(const measure_side *side, double sample)
{
    double start = measure_now(), once;

    side->run(side->user);
    once = measure_now() - start;
    if (once > 10.0 * sample)
        return 1;
    start = measure_now();
    side->run(side->user);
    once = measure_now() - start;
    const double repeat = ceil(sample / (once > 1e-7 ? once : 1e-7));
    return repeat > 1e6 ? 1000000 : repeat < 1.0 ? 1 : (int)repeat;
}

void measure(measurement *out, const measure_plan *plan, const measure_side *sides, int count)
{
    int repeat[MEASURE_SIDES_MAX];

    out->sides = count < MEASURE_SIDES_MAX ? count : MEASURE_SIDES_MAX;
    out->rounds = plan->rounds < MEASURE_ROUNDS_MAX ? plan->rounds : MEASURE_ROUNDS_MAX;
    for (int s = 0; s < out->sides; s++)
        repeat[s] = calibrate(&sides[s], plan->sample);
    for (int round = 0; round < out->rounds; round++) {
        for (int s = 0; s < out->sides; s++) {
            const double start = measure_now(), cpu = cpu_now();
            for (int i = 0; i < repeat[s]; i++)
                sides[s].run(sides[s].user);
            out->seconds[s][round] = (measure_now() - start) / repeat[s];
            out->cpu[s][round] = (cpu_now() - cpu) / repeat[s];
        }
    }
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    return count % 2 ? values[count / 2] : 0.5 * (values[count / 2 - 1] + values[count / 2]);
}

double measure_median(const measurement *m, int side)
{
    double values[MEASURE_ROUNDS_MAX];

    memcpy(values, m->seconds[side], sizeof values);
    return median(values, m->rounds);
}

double measure_cpu(const measurement *m, int side)
{
    double values[MEASURE_ROUNDS_MAX];

    memcpy(values, m->cpu[side], sizeof values);
    return median(values, m->rounds);
}

double measure_spread(const measurement *m, int side)
{
    double values[MEASURE_ROUNDS_MAX];
    const int last = m->rounds - 1, low = (int)(0.16 * last + 0.5), high = last - low;

    memcpy(values, m->seconds[side], sizeof values);
    qsort(values, (size_t)m->rounds, sizeof *values, compare);
    return 0.5 * (values[high] - values[low]);
}

double measure_best(const measurement *m, int side)
{
    double best = m->seconds[side][0];

    for (int round = 1; round < m->rounds; round++)
        best = m->seconds[side][round] < best ? m->seconds[side][round] : best;
    return best;
}

double measure_ratio(const measurement *m, int over, int under)
{
    double values[MEASURE_ROUNDS_MAX];

    for (int round = 0; round < m->rounds; round++)
        values[round] = m->seconds[over][round] / m->seconds[under][round];
    return median(values, m->rounds);
}
