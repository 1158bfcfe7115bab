/* SPDX-License-Identifier: MIT */
/* The series over the size of a batch: from how many pairs on does a device pay, or a second thread? */
#include "scaling.h"

#include "measure.h"
#include "memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { POINTS_MAX = 9, DISTINCT = 1 << 20, QUICK_DISTINCT = 1 << 17 };

/* Seconds per batch at each point, NAN where a side was not measured. Of the fastest round, because other load on the
 * machine must not decide which side is faster. */
typedef struct curve {
    double seconds[POINTS_MAX];
} curve;
typedef struct curves {
    double size[POINTS_MAX];
    int points;
    curve of[SUBJECTS_MAX];
} curves;

/* Returns the first point from which `a` is faster than `b` at all further points. Only the leading points at which
 * both were measured count; *common receives their number. */
static int faster_from(const curves *c, int a, int b, int *common)
{
    int from = 0;

    *common = 0;
    while (*common < c->points && isfinite(c->of[a].seconds[*common]) && isfinite(c->of[b].seconds[*common])) {
        if (!(c->of[a].seconds[*common] < c->of[b].seconds[*common]))
            from = *common + 1;
        ++*common;
    }
    return from;
}

/* The size between points k - 1 and k at which both are equally fast: log(ratio) is interpolated linearly over
 * log(size). */
static double crossing(const curves *c, int a, int b, int k)
{
    const double before = log(c->of[a].seconds[k - 1] / c->of[b].seconds[k - 1]);
    const double after = log(c->of[a].seconds[k] / c->of[b].seconds[k]);

    return c->size[k - 1] * pow(c->size[k] / c->size[k - 1], before / (before - after));
}

static double two_digits(double value)
{
    const double unit = pow(10.0, floor(log10(value)) - 1.0);

    return floor(value / unit + 0.5) * unit;
}

static void report_crossover(const scaling *s, const curves *c, int a, int b)
{
    const char *name = scaling_side_name(&s->sides[a]), *other = scaling_side_name(&s->sides[b]);
    char low[32], high[32];
    int common;
    const int from = faster_from(c, a, b, &common);

    if (common == 0)
        return;
    const double last = c->size[common - 1];
    const double ratio = c->of[a].seconds[common - 1] / c->of[b].seconds[common - 1];
    if (from == common)
        scaling_finding(s, "crossover: %s is never faster than %s up to %s pairs, where it takes %.2f times as long",
                        name, other, scaling_number(last, high), ratio);
    else if (from == 0)
        scaling_finding(s, "crossover: %s is faster than %s from %s on; at %s pairs it takes %.2f of the time", name,
                        other, scaling_number(c->size[0], low), scaling_number(last, high), ratio);
    else {
        char about[32], largest[32];
        scaling_finding(s,
                        "crossover: %s is faster than %s from about %s pairs on (between %s and %s); at %s it takes "
                        "%.2f of the time",
                        name, other, scaling_number(two_digits(crossing(c, a, b, from)), about),
                        scaling_number(c->size[from - 1], low), scaling_number(c->size[from], high),
                        scaling_number(last, largest), ratio);
    }
}

/* Every device against the CPU with the most threads, and those against one thread. */
static void report_crossovers(const scaling *s, const curves *c)
{
    int one = -1, most = -1;

    for (int i = 0; i < s->count; i++)
        if (!strcmp(s->sides[i].subject->backend, "cpu")) {
            one = one < 0 ? i : one;
            most = i;
        }
    if (most < 0) {
        scaling_finding(s,
                        "crossover: unknown without the CPU path: measure both, or leave --backend and --device out");
        return;
    }
    if (most != one)
        report_crossover(s, c, most, one);
    for (int i = 0; i < s->count; i++)
        if (strcmp(s->sides[i].subject->backend, "cpu") != 0)
            report_crossover(s, c, i, most);
    if (s->count > most + 1)
        scaling_finding(s,
                        "crossover: not in that: %.2f s, once, to open what devices there are, with the build and the "
                        "bit probe of their first programs",
                        s->opening);
    if (s->count == most + 1)
        scaling_finding(s, "crossover: no device was measured: the CPU path answers every batch");
}

static void measure_point(scaling *s, const pair_scene *base, size_t count, curves *c)
{
    pair_scene in = scene_repeat(base, count);
    answers out = answers_alloc((pair_task)SWEEP_TIMES, count);

    scaling_ask_pairs(s, &in, &out);
    scaling_point(s, (double)count, (double)count);
    for (int i = 0; i < s->count; i++)
        s->sides[i].row.best = (double)NAN;
    scaling_measure(s);
    answers_free(&out);
    scene_free(&in);
    if (s->ended)
        return;
    c->size[c->points] = (double)count;
    for (int i = 0; i < s->count; i++)
        c->of[i].seconds[c->points] = s->sides[i].row.best;
    c->points++;
}

void scaling_batch(scaling *s)
{
    const int points = s->settings->quick ? POINTS_MAX - 2 : POINTS_MAX;
    curves c = {.points = 0};
    char number[32];
    size_t count = 1;

    scaling_open(s);
    scaling_begin(s, "scaling-batch", "sweep: both times and the state, host arrays end to end");
    if (s->count == 0)
        return;
    pair_scene base = scene_make(&query_sweep, "random", s->settings->quick ? QUICK_DISTINCT : DISTINCT);
    for (int k = 0; k < points; k++, count *= 10) {
        const double bytes = pair_task_bytes((pair_task)SWEEP_TIMES) * (double)count;
        if (bytes > memory_to_spare()) {
            scaling_note(
                s, "scaling-batch: %s pairs would take %.0f MB, more than half of the memory that is free (%.0f MB)",
                scaling_number((double)count, number), bytes * 1e-6, 2e-6 * memory_to_spare());
            break;
        }
        measure_point(s, &base, count, &c);
        if (k + 1 < points && scaling_go_on(s, 10.0 * (double)count, 10.0) == 0)
            break;
    }
    if (!s->ended)
        report_crossovers(s, &c);
    scene_free(&base);
    scaling_close(s);
}
