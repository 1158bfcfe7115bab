/* SPDX-License-Identifier: MIT */
/* A row of figures from the rounds of its side. */
#include "bench.h"

#include <math.h>

/* Energy counters move in steps that a round may miss, so that a median would lose it. */
static double mean_joules(const measure_round *rounds, int count, int of_device)
{
    double sum = 0.0;
    int used = 0;

    for (int i = 0; i < count; i++) {
        const double joules = of_device ? rounds[i].used.device_joules : rounds[i].used.package_joules;
        if (isnan(joules))
            continue;
        sum += joules;
        used++;
    }
    return used > 0 ? sum / used : (double)NAN;
}

static double median_instructions(const measure_round *rounds, int count)
{
    double values[MEASURE_ROUNDS_MAX], sorted[MEASURE_ROUNDS_MAX];

    for (int i = 0; i < count; i++)
        values[i] = rounds[i].used.instructions;
    return statistics_median(sorted, statistics_sort(sorted, values, count));
}

void bench_row_take(bench_row *row, const measurement *m, int side)
{
    row->rounds = measure_rounds(m, side);
    row->median = measure_median(m, side);
    row->cpu = measure_cpu(m, side);
    row->best = measure_best(m, side);
    row->spread = measure_spread(m, side);
    row->interval = measure_interval(m, side);
    row->samples = m->round[side];
    row->sample_count = m->rounds;
    row->instructions = median_instructions(row->samples, row->sample_count);
    row->package_joules = mean_joules(row->samples, row->sample_count, 0);
    row->device_joules = mean_joules(row->samples, row->sample_count, 1);
}
