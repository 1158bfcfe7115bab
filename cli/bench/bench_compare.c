/* SPDX-License-Identifier: MIT */
#include "bench_compare.h"

#include <math.h>
#include <string.h>

typedef struct tally {
    int both, slower, faster, gone;
    double logs;
} tally;

static const bench_row *row_named(const bench_json *json, const char *name)
{
    for (size_t i = 0; i < json->row_count; i++)
        if (!strcmp(json->rows[i].name, name))
            return &json->rows[i];
    return NULL;
}

static void print_conditions(const bench_json *old, const bench_json *now, output *out)
{
    if (strcmp(old->cpu, now->cpu) != 0 || old->processors != now->processors)
        output_format(out, "another machine: %s, %d processors, before; %s, %d, now\n", old->cpu, old->processors,
                      now->cpu, now->processors);
    if (strcmp(old->compiler, now->compiler) != 0 || strcmp(old->flags, now->flags) != 0)
        output_format(out, "another build: %s, %s, before; %s, %s, now\n", old->compiler, old->flags, now->compiler,
                      now->flags);
    if (old->quick != now->quick)
        output_text(out, "one of the two is a quick run: its batches are smaller\n");
}

/* Twice the spread of a ratio, as a logarithm. A row of few rounds may show none: timers and caches have 2 % at
 * least. */
static double margin(const bench_row *old, const bench_row *now)
{
    const double a = old->spread / old->median, b = now->spread / now->median;
    const double both = 2.0 * sqrt((isfinite(a) ? a * a : 0.0) + (isfinite(b) ? b * b : 0.0));

    return both > 0.02 ? both : 0.02;
}

static void compare_row(const bench_row *old, const bench_row *now, tally *t, output *out)
{
    const double before = old->median / old->queries * 1e9, after = now->median / now->queries * 1e9;
    const double moved = log(after / before);
    const int slower = moved > margin(old, now), faster = -moved > margin(old, now);
    const int is_other = fabs(log(now->queries / old->queries)) > log(2.0); /* peers are asked what their time allows */

    t->both++;
    t->slower += slower;
    t->faster += faster;
    t->logs += moved;
    output_format(out, "  %-70s %10.2f %10.2f %8.3f%s%s\n", now->name, before, after, after / before,
                  slower   ? "  SLOWER"
                  : faster ? "  faster"
                           : "",
                  is_other ? "  (another batch)" : "");
}

void bench_compare(const bench_json *old, const bench_json *now, const char *old_path, output *out)
{
    tally t = {0};

    output_format(out, "\nagainst %s, %s of %s\n", old_path, old->commit, old->date);
    print_conditions(old, now, out);
    output_format(out, "  %-70s %10s %10s %8s\n", "ns/query", "before", "now", "ratio");
    for (size_t i = 0; i < now->row_count; i++) {
        const bench_row *before = row_named(old, now->rows[i].name);
        if (before != NULL)
            compare_row(before, &now->rows[i], &t, out);
    }
    for (size_t i = 0; i < old->row_count; i++)
        t.gone += row_named(now, old->rows[i].name) == NULL;
    output_format(out, "%d rows in both: %d slower and %d faster beyond twice their spread", t.both, t.slower,
                  t.faster);
    if (t.both > 0)
        output_format(out, ", geometric mean of the ratios %.3f", exp(t.logs / t.both));
    output_format(out, ". New: %zu. Gone: %d.\n", now->row_count - (size_t)t.both, t.gone);
}
