/* SPDX-License-Identifier: MIT */
#include "moved.h"

#include <math.h>
#include <stdlib.h>

/* Timers, caches and the placement of code move a row by so much without any reason in its source: of one run on a
 * side, and of several, which have some of that in their noise. */
static const double LEAST_OF_ONE = 0.02, LEAST_OF_RUNS = 0.01;
/* Runs differ by less than their rounds do, but for what lasts as long as a run. */
static const double SHARE_OF_ROUNDS = 0.5;
/* A query that takes longer by its own work takes CPU time: this share of the longer time at least. */
static const double SHARE_OF_CPU = 0.5;

static int is_testable(const moved_row *row)
{
    for (int side = 0; side < MOVED_SIDES; side++) {
        if (row->counts[side] == 0)
            return 0;
        for (int i = 0; i < row->counts[side]; i++)
            if (row->runs[side][i].count == 0)
                return 0;
    }
    return 1;
}

static int is_of_runs(const moved_row *row)
{
    return row->counts[MOVED_OLD] + row->counts[MOVED_NEW] > MOVED_SIDES;
}

/* ---- beside a control -------------------------------------------------------------------------------------------- */

/* Neighbours slow a row and its control alike, so their ratio differs less between runs. The choice looks at the noise
 * alone, not at what has moved. With less than ten runs on a side the lesser of two variances would be too small. */
enum { BESIDE_FREEDOM = 18 };
static const double BESIDE_VARIANCE = 0.5; /* of the row's own, at most */

static double center_of(const moved_row *row, const moved_run *run)
{
    return row->is_beside ? run->center_beside : run->center;
}

static double cpu_of(const moved_row *row, const moved_run *run)
{
    return row->is_beside ? run->cpu_beside : run->cpu;
}

/* ---- values that are ranked -------------------------------------------------------------------------------------- */

/* Runs, where a side has several: rounds of a run share what is particular to it, so they are no independent values. */
static int values_of(const moved_row *row, moved_side side, double *values)
{
    const moved_run *runs = row->runs[side];

    if (!is_of_runs(row)) {
        for (int i = 0; i < runs->count; i++)
            values[i] = runs->rounds[i];
        return runs->count;
    }
    for (int i = 0; i < row->counts[side]; i++)
        values[i] = center_of(row, &runs[i]);
    return row->counts[side];
}

static int rank(moved_row *row, double together, double *least)
{
    enum { MOST = (int)MOVED_RUNS_MAX > (int)MEASURE_ROUNDS_MAX ? (int)MOVED_RUNS_MAX : (int)MEASURE_ROUNDS_MAX };
    double old[MOST], now[MOST];
    const int old_count = values_of(row, MOVED_OLD, old), now_count = values_of(row, MOVED_NEW, now);
    statistics_shift shift;

    for (int i = 0; i < now_count; i++)
        now[i] -= together;
    if (!statistics_hodges_lehmann(old, old_count, now, now_count, &shift))
        return 0;
    row->shift = shift.shift;
    row->low = shift.interval.low;
    row->high = shift.interval.high;
    row->chance = statistics_rank_test(old, old_count, now, now_count);
    *least = statistics_rank_least(old_count, now_count);
    return 1;
}

/* ---- noise between runs ------------------------------------------------------------------------------------------ */

static int degrees(const moved_row *row)
{
    return row->counts[MOVED_OLD] + row->counts[MOVED_NEW] - MOVED_SIDES;
}

static double mean_of(const moved_row *row, moved_side side)
{
    double mean = 0.0;

    for (int i = 0; i < row->counts[side]; i++)
        mean += center_of(row, &row->runs[side][i]) / row->counts[side];
    return mean;
}

/* Variance of a row's runs around the means of their sides. */
static double own_variance(const moved_row *row)
{
    double sum = 0.0;

    for (int side = 0; side < MOVED_SIDES; side++) {
        const double mean = mean_of(row, (moved_side)side);
        for (int i = 0; i < row->counts[side]; i++) {
            const double apart = center_of(row, &row->runs[side][i]) - mean;
            sum += apart * apart;
        }
    }
    return sum / degrees(row);
}

/* Chooses what is judged: the row, or its ratio to the control. */
static void choose_control(moved_row *row)
{
    row->is_beside = 0;
    if (!is_testable(row) || degrees(row) < BESIDE_FREEDOM)
        return;
    for (int side = 0; side < MOVED_SIDES; side++)
        for (int i = 0; i < row->counts[side]; i++)
            if (!isfinite(row->runs[side][i].center_beside))
                return;
    const double alone = own_variance(row);
    row->is_beside = 1;
    row->is_beside = own_variance(row) <= BESIDE_VARIANCE * alone;
}

/* Medians, so that rows that have moved, or were disturbed, do not count for more than others. A row's variance is
 * held against the median of a chi-squared variable over its mean (Wilson and Hilferty). `scratch` has two places for
 * each row. */
static double find_noise_of_runs(const moved_row *rows, int count, double *scratch)
{
    double *sorted = scratch + count;
    int n = 0;

    for (int i = 0; i < count; i++)
        if (is_testable(&rows[i]) && is_of_runs(&rows[i]) && !rows[i].is_beside)
            scratch[n++] = own_variance(&rows[i]) / pow(1.0 - 2.0 / (9.0 * degrees(&rows[i])), 3.0);
    return sqrt(statistics_median(sorted, statistics_sort(sorted, scratch, n)));
}

static double find_noise_of_one(const moved_row *rows, int count, double *scratch, double *together)
{
    double *sorted = scratch + count;
    int n = 0;

    for (int i = 0; i < count; i++)
        if (is_testable(&rows[i]) && !is_of_runs(&rows[i]))
            scratch[n++] = rows[i].runs[MOVED_NEW]->center - rows[i].runs[MOVED_OLD]->center;
    if (n < MOVED_ROWS)
        return (double)NAN;
    const double middle = statistics_median(sorted, statistics_sort(sorted, scratch, n));
    *together = middle;
    for (int i = 0; i < n; i++)
        scratch[i] = fabs(scratch[i] - middle);
    /* Of a normal variable the median distance from the median is 0.6745 deviations; two runs differ by sqrt(2). */
    return statistics_median(sorted, statistics_sort(sorted, scratch, n)) / (0.6745 * sqrt(2.0));
}

/* One run on a side has nothing but its rounds to tell how much this row differs between runs; where they are quiet,
 * rows together tell more. Half the way from the 16th to the 84th percentile is a deviation. */
static double noise_of_one(const moved_row *row, double noise)
{
    double sorted[MEASURE_ROUNDS_MAX];

    for (int side = 0; side < MOVED_SIDES; side++) {
        const moved_run *run = row->runs[side];
        const int last = statistics_sort(sorted, run->rounds, run->count) - 1, low = (int)(0.16 * last + 0.5);
        noise = fmax(noise, SHARE_OF_ROUNDS * 0.5 * (sorted[last - low] - sorted[low]));
    }
    return noise;
}

/* Quantiles by which rows are judged, with the chance for all rows shared out among them. Most rows have as many runs,
 * so the last of Student's t is kept. */
typedef struct quantiles {
    double chance, normal, t;
    int freedom; /* of `t` */
} quantiles;

/* The difference that a row may have without a reason. With several runs its own noise counts, by Student's t with its
 * own degrees of freedom, so a row that is noisier than the others is not called more often; where its runs happened to
 * agree, that of the median row counts. (Rows beside a control have runs enough.) */
static double floor_of(const moved_row *row, const moved_summary *all, quantiles *q)
{
    const double runs = 1.0 / row->counts[MOVED_OLD] + 1.0 / row->counts[MOVED_NEW];

    if (!is_of_runs(row))
        return fmax(LEAST_OF_ONE, MOVED_TAILS_OF_ONE * q->normal * noise_of_one(row, all->noise_of_one) * sqrt(runs));
    if (q->freedom != degrees(row)) {
        q->freedom = degrees(row);
        q->t = statistics_t_above(q->chance, q->freedom);
    }
    const double others = row->is_beside ? 0.0 : all->noise_of_runs;
    return fmax(LEAST_OF_RUNS, q->t * fmax(sqrt(own_variance(row)), others) * sqrt(runs));
}

/* The test by Student's t is one of means; ranks are of medians: the lesser of both, in logarithms. */
static double least_shift(const moved_row *row)
{
    const double means = mean_of(row, MOVED_NEW) - mean_of(row, MOVED_OLD);

    return is_of_runs(row) ? fmin(fabs(row->shift), fabs(means)) : fabs(row->shift);
}

/* ---- verdicts ---------------------------------------------------------------------------------------------------- */

static moved_verdict verdict_of(double shift)
{
    return shift > 0.0 ? MOVED_SLOWER : MOVED_FASTER;
}

static double middle_cpu(const moved_row *row, moved_side side)
{
    double values[MOVED_RUNS_MAX], sorted[MOVED_RUNS_MAX];

    for (int i = 0; i < row->counts[side]; i++)
        values[i] = cpu_of(row, &row->runs[side][i]);
    return statistics_median(sorted, statistics_sort(sorted, values, row->counts[side]));
}

/* Has CPU time moved with it? A query that only waited longer, for a processor that others had, has not. */
static int has_moved_in_cpu(const moved_row *row)
{
    const double moved = middle_cpu(row, MOVED_NEW) - middle_cpu(row, MOVED_OLD);

    return isnan(moved) || moved / row->shift >= SHARE_OF_CPU;
}

/* Few values cannot have ranks that are rare enough for many rows: then all of one side must be beyond all of the
 * other. */
static void judge_time(moved_row *row, const moved_summary *all, quantiles *q, double adjusted, double least)
{
    const int is_rare =
        adjusted <= MOVED_CHANCE || (least * all->tested > MOVED_CHANCE && row->chance <= least * (1.0 + 1e-9));

    row->chance = adjusted;
    if (!row->is_beside && !isfinite(is_of_runs(row) ? all->noise_of_runs : all->noise_of_one))
        return;
    row->floor = floor_of(row, all, q);
    if (!is_of_runs(row)) { /* the rounds know nothing of what differs between runs */
        const double wider = 1.959964 * noise_of_one(row, all->noise_of_one) * sqrt(2.0), low = row->shift - row->low;
        const double high = row->high - row->shift;
        row->low = row->shift - hypot(low, wider);
        row->high = row->shift + hypot(high, wider);
    }
    /* Of many runs ranks alone are as rare as it takes, whatever the noise: half of the chance is theirs, the floor has
     * the other half. */
    const int is_sure = is_of_runs(row) && adjusted <= 0.5 * MOVED_CHANCE && fabs(row->shift) > LEAST_OF_RUNS;
    const int is_beyond = (is_sure || least_shift(row) > row->floor) && (row->low > 0.0 || row->high < 0.0);
    row->by_time = is_rare && is_beyond && has_moved_in_cpu(row) ? verdict_of(row->shift) : MOVED_NOT;
}

static double median_instructions(const moved_row *row, moved_side side)
{
    double values[MOVED_RUNS_MAX], sorted[MOVED_RUNS_MAX];
    int all = row->counts[side];

    for (int i = 0; i < row->counts[side]; i++) {
        values[i] = row->runs[side][i].instructions;
        all -= isfinite(values[i]) != 0;
    }
    return all > 0 ? (double)NAN : statistics_median(sorted, statistics_sort(sorted, values, row->counts[side]));
}

static void judge_instructions(moved_row *row)
{
    row->more_instructions = median_instructions(row, MOVED_NEW) / median_instructions(row, MOVED_OLD);
    if (isfinite(row->more_instructions))
        row->by_instructions = fabs(log(row->more_instructions)) > log1p(MOVED_INSTRUCTIONS)
                                   ? verdict_of(log(row->more_instructions))
                                   : MOVED_NOT;
}

int moved_judge(moved_row *rows, int count, moved_summary *out)
{
    double *scratch = calloc(3 * (size_t)count + 1, sizeof *scratch),
           *chances = calloc((size_t)count + 1, sizeof *chances);
    double *least = calloc((size_t)count + 1, sizeof *least);
    int done = scratch != NULL && chances != NULL && least != NULL;

    *out = (moved_summary){.noise_of_runs = (double)NAN, .noise_of_one = (double)NAN};
    for (int i = 0; i < count && done; i++) {
        moved_row *row = &rows[i];
        row->shift = row->low = row->high = row->floor = row->more_instructions = (double)NAN;
        row->chance = 1.0;
        row->by_time = row->by_instructions = MOVED_UNKNOWN;
        judge_instructions(row);
        choose_control(row);
        out->by_runs += is_testable(row) && is_of_runs(row);
        out->beside += row->is_beside;
    }
    if (done) {
        out->noise_of_runs = find_noise_of_runs(rows, count, scratch);
        out->noise_of_one = find_noise_of_one(rows, count, scratch, &out->together);
    }
    for (int i = 0; i < count && done; i++)
        if (is_testable(&rows[i])) {
            done = rank(&rows[i], is_of_runs(&rows[i]) ? 0.0 : out->together, &least[i]);
            chances[out->tested++] = rows[i].chance;
        }
    if (done)
        done = statistics_holm(scratch, chances, out->tested);
    quantiles q = {.chance = 0.5 * MOVED_CHANCE / fmax(out->tested, 1.0)};
    q.normal = statistics_normal_above(q.chance);
    for (int i = 0, at = 0; i < count && done; i++)
        if (is_testable(&rows[i]))
            judge_time(&rows[i], out, &q, scratch[at++], least[i]);
    free(scratch);
    free(chances);
    free(least);
    return done;
}
