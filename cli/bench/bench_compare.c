/* SPDX-License-Identifier: MIT */
#include "bench_compare.h"
#include "cli/base/base.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- rows of both sides ------------------------------------------------------------------------------------------ */

static const bench_row *row_named(const bench_json *json, const char *name)
{
    for (size_t i = 0; i < json->row_count; i++)
        if (!strcmp(json->rows[i].name, name))
            return &json->rows[i];
    return NULL;
}

/* The row of the first of so many files that has it. */
static const bench_row *first_named(const bench_side *side, int files, const char *name)
{
    for (int i = 0; i < files; i++) {
        const bench_row *row = row_named(&side->results[i], name);
        if (row != NULL)
            return row;
    }
    return NULL;
}

/* Instructions and CPU time of several threads depend on who waits for whom, and those of a device's driver are not its
 * work. */
static int is_one_thread(const bench_row *r)
{
    return r->threads == 1 && strstr(r->name, "/opencl/") == NULL;
}

static int is_built_alike(const bench_json *a, const bench_json *b)
{
    return !strcmp(a->compiler, b->compiler) && !strcmp(a->flags, b->flags);
}

/* Code that no build of the library changes: the scene's plain loop that computes; NULL: it has none. */
static const bench_row *control_of(const bench_json *json, const bench_row *r)
{
    for (size_t i = 0; i < json->row_count; i++) {
        const bench_row *plain = &json->rows[i];
        if (!strcmp(plain->scene, r->scene) && plain->threads == 1 && strstr(plain->name, "/plain/") != NULL &&
            strstr(plain->name, "/traffic-") == NULL)
            return plain == r ? NULL : plain;
    }
    return NULL;
}

/* Medians of the ratios to the control, in the rounds that have both. */
static void find_beside(const bench_row *r, const bench_row *control, moved_run *run)
{
    double wall[MEASURE_ROUNDS_MAX], cpu[MEASURE_ROUNDS_MAX], sorted[MEASURE_ROUNDS_MAX];
    int count = 0;

    for (int i = 0; i < r->sample_count && i < control->sample_count; i++) {
        const measure_round *own = &r->samples[i], *other = &control->samples[i];
        if (!isfinite(own->wall) || !isfinite(other->wall))
            continue;
        wall[count] = log(own->wall / r->queries) - log(other->wall / control->queries);
        cpu[count++] = log(own->cpu / r->queries) - log(other->cpu / control->queries);
    }
    run->center_beside = statistics_median(sorted, statistics_sort(sorted, wall, count));
    if (is_one_thread(r))
        run->cpu_beside = statistics_median(sorted, statistics_sort(sorted, cpu, count));
}

static moved_run run_of(const bench_row *r, const bench_row *control)
{
    moved_run run = {.center = log(r->median / r->queries),
                     .instructions = (double)NAN,
                     .cpu = (double)NAN,
                     .center_beside = (double)NAN,
                     .cpu_beside = (double)NAN};

    if (is_one_thread(r)) {
        run.instructions = r->instructions / r->queries;
        run.cpu = log(r->cpu / r->queries);
    }
    if (control != NULL)
        find_beside(r, control, &run);
    double seconds[MEASURE_ROUNDS_MAX], sorted[MEASURE_ROUNDS_MAX];
    for (int i = 0; i < r->sample_count; i++)
        if (isfinite(r->samples[i].wall)) {
            seconds[run.count] = r->samples[i].wall;
            run.rounds[run.count++] = log(r->samples[i].wall / r->queries);
        }
    if (run.count > 0) /* with all digits */
        run.center = log(statistics_median(sorted, statistics_sort(sorted, seconds, run.count)) / r->queries);
    return run;
}

/* The runs of a row, one behind the other; returns how many files have it. */
static int take_runs(const bench_comparison *c, int side, const char *name, moved_run *runs)
{
    const bench_json *first = &c->sides[MOVED_OLD].results[0];
    int count = 0;

    for (int i = 0; i < c->sides[side].count; i++) {
        const bench_json *json = &c->sides[side].results[i];
        const bench_row *row = row_named(json, name);
        if (row != NULL)
            runs[count++] = run_of(row, is_built_alike(first, json) ? control_of(json, row) : NULL);
    }
    return count;
}

/* As the table and the JSON file have it, in nanoseconds per query. */
static double middle_ns(const bench_side *side, const char *name)
{
    double values[MOVED_RUNS_MAX], sorted[MOVED_RUNS_MAX];
    int count = 0;

    for (int i = 0; i < side->count; i++) {
        const bench_row *row = row_named(&side->results[i], name);
        if (row != NULL)
            values[count++] = row->median / row->queries * 1e9;
    }
    return statistics_median(sorted, statistics_sort(sorted, values, count));
}

static void take_row(bench_comparison *c, const bench_row *now, moved_run **runs)
{
    const bench_row *old = first_named(&c->sides[MOVED_OLD], c->sides[MOVED_OLD].count, now->name);
    moved_row *moved = &c->moved[c->row_count];
    bench_moved *row = &c->rows[c->row_count];

    if (old == NULL) {
        c->added++;
        return;
    }
    c->row_count++;
    for (int side = 0; side < MOVED_SIDES; side++) {
        moved->runs[side] = *runs;
        moved->counts[side] = take_runs(c, side, now->name, *runs);
        *runs += moved->counts[side];
    }
    *row =
        (bench_moved){old, now, middle_ns(&c->sides[MOVED_OLD], now->name), middle_ns(&c->sides[MOVED_NEW], now->name),
                      fabs(log(now->queries / old->queries)) > log(2.0)}; /* peers are asked what their time allows */
}

/* Has the other file what this one was measured as: a copy, or the file itself by another name? */
static int is_same_run(const bench_json *a, const bench_json *b)
{
    int same = a->row_count == b->row_count && !strcmp(a->date, b->date) && !strcmp(a->commit, b->commit);

    for (size_t i = 0; same && i < a->row_count; i++) {
        const bench_row *x = &a->rows[i], *y = &b->rows[i];
        same = !strcmp(x->name, y->name) && fabs(x->median - y->median) <= 1e-12 * x->median &&
               x->sample_count == y->sample_count;
        for (int k = 0; same && k < x->sample_count; k++)
            same = !(fabs(x->samples[k].wall - y->samples[k].wall) > 1e-12 * x->median);
    }
    return same;
}

static const char *path_of(const bench_side *side, int i)
{
    return side->paths[i] != NULL ? side->paths[i] : "this run";
}

/* A run that is counted twice would make the noise look small. */
static int check_side(const bench_side *side)
{
    for (int i = 0; i < side->count; i++)
        for (int k = 0; k < i; k++)
            if (is_same_run(&side->results[k], &side->results[i]))
                return cli_refuse(EXIT_USAGE, "%s: is the same run as %s: each run is given once", path_of(side, i),
                                  path_of(side, k));
    return EXIT_DONE;
}

int bench_compare(const bench_side *old, const bench_side *now, bench_comparison *out)
{
    size_t rows = 0;

    *out = (bench_comparison){.sides = {*old, *now}};
    if (check_side(old) != EXIT_DONE || check_side(now) != EXIT_DONE)
        return EXIT_USAGE;
    for (int i = 0; i < now->count; i++)
        rows += now->results[i].row_count;
    out->rows = cli_alloc(rows, sizeof *out->rows);
    out->moved = cli_alloc(rows, sizeof *out->moved);
    out->runs = cli_alloc(rows * (size_t)(old->count + now->count), sizeof *out->runs);
    if (out->rows == NULL || out->moved == NULL || out->runs == NULL)
        return cli_no_memory();
    memset(out->moved, 0, rows * sizeof *out->moved);
    moved_run *runs = out->runs;
    for (int i = 0; i < now->count; i++)
        for (size_t k = 0; k < now->results[i].row_count; k++)
            if (first_named(now, i, now->results[i].rows[k].name) == NULL)
                take_row(out, &now->results[i].rows[k], &runs);
    for (int i = 0; i < old->count; i++)
        for (size_t k = 0; k < old->results[i].row_count; k++) {
            const char *name = old->results[i].rows[k].name;
            out->gone += first_named(old, i, name) == NULL && first_named(now, now->count, name) == NULL;
        }
    return moved_judge(out->moved, out->row_count, &out->summary) ? EXIT_DONE : cli_no_memory();
}

void bench_compare_end(bench_comparison *c)
{
    free(c->rows);
    free(c->moved);
    free(c->runs);
    *c = (bench_comparison){0};
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

const char *bench_doubt(const bench_json *json, int which, char text[BENCH_DOUBT])
{
    const char *others = json->machine.facts[MACHINE_others].value;
    const double most = 0.25; /* processors */
    int at = 0;

    if (json->warning[0] != '\0' && which == at++)
        snprintf(text, BENCH_DOUBT, "%s", json->warning);
    else if (strtod(others, NULL) > most && which == at++)
        snprintf(text, BENCH_DOUBT, "other programs kept %.16s of %d processors busy during the run", others,
                 json->processors);
    else if (json->partial && which == at++)
        snprintf(text, BENCH_DOUBT, "a partial result");
    else if (json->schema < 2 && which == at++)
        snprintf(text, BENCH_DOUBT, "schema 1, without rounds: its rows get no verdict");
    else
        return NULL;
    return text;
}

/* Each file is held against the first of the old ones, a new one against each for being the same. */
const char *bench_condition(const bench_comparison *c, moved_side side, int file, int which, char text[BENCH_LINE])
{
    const bench_side *before = &c->sides[MOVED_OLD];
    const bench_json *old = &before->results[0], *now = &c->sides[side].results[file];
    int at = 0;

    for (int i = 0; side == MOVED_NEW && i < before->count; i++)
        if (is_same_run(&before->results[i], now) && which == at++) {
            snprintf(text, BENCH_LINE, "the same run as %s: nothing can have moved between them", path_of(before, i));
            return text;
        }
    if ((strcmp(old->cpu, now->cpu) != 0 || old->processors != now->processors) && which == at++) {
        snprintf(text, BENCH_LINE, "another machine: %s, %d processors, before; %s, %d, now", old->cpu, old->processors,
                 now->cpu, now->processors);
        return text;
    }
    for (int i = 0; i <= MACHINE_affinity; i++) { /* what does not change by itself */
        const char *was = old->machine.facts[i].value, *is = now->machine.facts[i].value;
        if (*was != '\0' && *is != '\0' && strcmp(was, is) != 0 && which == at++) {
            snprintf(text, BENCH_LINE, "another %s: %s before, %s now", machine_words((machine_key)i), was, is);
            return text;
        }
    }
    if (!is_built_alike(old, now) && which == at++)
        snprintf(text, BENCH_LINE, "another build: %s, %s, before; %s, %s, now", old->compiler, old->flags,
                 now->compiler, now->flags);
    else if (old->quick != now->quick && which == at++)
        snprintf(text, BENCH_LINE, "one of the two is a quick run: its batches are smaller");
    else
        return NULL;
    return text;
}

static void show_file(const bench_comparison *c, moved_side side, int i, output *out)
{
    const bench_json *json = &c->sides[side].results[i];
    const char *path = path_of(&c->sides[side], i);
    char text[BENCH_DOUBT], line[BENCH_LINE];

    output_format(out, "%s: ", side == MOVED_OLD ? "before" : "now");
    output_shown(out, path, strlen(path));
    output_format(out, ", %s of %s\n", json->commit, json->date);
    for (int k = 0; bench_doubt(json, k, text) != NULL; k++)
        output_format(out, "  %s\n", text);
    for (int k = 0; bench_condition(c, side, i, k, line) != NULL; k++) {
        output_shown(out, line, strlen(line));
        output_char(out, '\n');
    }
}

const char *bench_moved_word(moved_verdict verdict, const char *slower, const char *faster)
{
    return verdict == MOVED_SLOWER ? slower : verdict == MOVED_FASTER ? faster : "";
}

static void show_row(const bench_moved *row, const moved_row *m, output *out)
{
    output_format(out, "  %-70s %10.2f %10.2f %8.3f", row->now->name, row->before, row->after,
                  row->after / row->before);
    if (isfinite(m->shift))
        output_format(out, " %8.3f [%.3f, %.3f] %8.1e", exp(m->shift), exp(m->low), exp(m->high), m->chance);
    else
        output_format(out, " %8s %-14s %8s", "", "", "");
    if (isfinite(m->floor)) /* two runs alone may have one beyond all sense */
        output_format(out, " %s%5.1f%%", expm1(m->floor) > 9.999 ? ">" : "", fmin(100.0 * expm1(m->floor), 999.9));
    else
        output_format(out, " %6s", "");
    output_text(out, bench_moved_word(m->by_time, "  SLOWER", "  faster"));
    if (m->by_instructions == MOVED_SLOWER || m->by_instructions == MOVED_FASTER)
        output_format(out, "  %s (%+.1f %%)",
                      bench_moved_word(m->by_instructions, "MORE INSTRUCTIONS", "fewer instructions"),
                      100.0 * (m->more_instructions - 1.0));
    output_text(out, m->is_beside ? "  beside the plain loop" : "");
    output_text(out, row->is_other_batch ? "  (another batch)\n" : "\n");
}

/* The noise that verdicts rest on, of rows that several files of a side have and of those that one has. */
const char *bench_noise(const bench_comparison *c, int which, char text[BENCH_LINE])
{
    const moved_summary *s = &c->summary;
    const int of_one = s->tested - s->by_runs, has_one = of_one > 0 && isfinite(s->noise_of_one);
    int at = 0;

    if (s->tested == 0 && which == at++)
        snprintf(text, BENCH_LINE, "No row has rounds in all files: no verdict.");
    else if (s->by_runs > s->beside && which == at++)
        snprintf(text, BENCH_LINE,
                 "Between runs of one build a row differs by %.2f %% (standard deviation of the median row, from the "
                 "runs of each side). One in 100 comparisons at most has a false verdict by time, if runs of one build "
                 "differ on both sides alike.",
                 100.0 * s->noise_of_runs);
    else if (s->beside > 0 && which == at++)
        snprintf(
            text, BENCH_LINE,
            "%d rows are judged beside the plain loop of their scene, which differs between runs as they do: `own`, "
            "chance and floor are of their ratio to it, in the same rounds.",
            s->beside);
    else if (of_one > 0 && !has_one && which == at++)
        snprintf(text, BENCH_LINE,
                 "No verdict by time of %d rows with one run on each side: how much runs differ is told from %d such "
                 "rows or more. Give several runs: --compare OLD... -- NEW...",
                 of_one, MOVED_ROWS);
    else if (has_one && which == at++)
        snprintf(
            text, BENCH_LINE,
            "Between runs of one build a row differs by %.2f %% (standard deviation of the median row, from how "
            "unevenly %d rows moved, with one run on each side). The floor is wide: it allows for rows that differ "
            "by %.0f times as much. Several runs tell smaller differences: --compare OLD... -- NEW...",
            100.0 * s->noise_of_one, of_one, MOVED_TAILS_OF_ONE);
    else if (has_one && which == at++)
        snprintf(text, BENCH_LINE,
                 "All rows together moved by %+.1f %%, which one run on a side cannot tell from the machine's state: "
                 "`own` is without it.",
                 100.0 * expm1(s->together));
    else
        return NULL;
    return text;
}

void bench_compare_show(const bench_comparison *c, output *out)
{
    int slower = 0, faster = 0, more = 0, fewer = 0, counted = 0;
    double logs = 0.0;
    char line[BENCH_LINE];

    output_char(out, '\n');
    for (int side = 0; side < MOVED_SIDES; side++)
        for (int i = 0; i < c->sides[side].count; i++)
            show_file(c, (moved_side)side, i, out);
    output_format(out, "  %-70s %10s %10s %8s %8s %-14s %8s %6s\n", "ns/query", "before", "now", "ratio", "own",
                  "[95 %]", "chance", "floor");
    for (int i = 0; i < c->row_count; i++) {
        const moved_row *m = &c->moved[i];
        show_row(&c->rows[i], m, out);
        slower += m->by_time == MOVED_SLOWER;
        faster += m->by_time == MOVED_FASTER;
        more += m->by_instructions == MOVED_SLOWER;
        fewer += m->by_instructions == MOVED_FASTER;
        counted += m->by_instructions != MOVED_UNKNOWN;
        logs += log(c->rows[i].after / c->rows[i].before);
    }
    for (int i = 0; bench_noise(c, i, line) != NULL; i++)
        output_format(out, "%s\n", line);
    output_format(out, "%d rows in both: %d slower and %d faster beyond noise", c->row_count, slower, faster);
    if (c->row_count > 0)
        output_format(out, ", geometric mean of the ratios %.3f", exp(logs / c->row_count));
    output_format(out, ". New: %d. Gone: %d.\n", c->added, c->gone);
    if (counted > 0)
        output_format(out, "Instructions, %d rows: %d with more and %d with fewer, by 1 %% at least.\n", counted, more,
                      fewer);
}
