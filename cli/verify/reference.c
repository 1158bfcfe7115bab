/* SPDX-License-Identifier: MIT */
/* Both modes against the exact reference. Exact mode: every answer must be equal, points within a unit. Fast mode: how
 * often it is wrong, how close to a decision, how far its times are off.
 *
 * Fast mode promises the state for a radius within a margin of the one given. The reference is asked again with the
 * radius moved by that margin: a state that is true for neither radius is wrong. */
#include "verify.h"

#include "reference/judge.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Share of the largest magnitude among positions and radius. */
static const double margin_share = 5e-7;

typedef struct tally {
    uint64_t queries, near, wrong;
    uint64_t exact_wrong, by_integers;
    float *errors; /* of times where states agree, in units of the last place */
    size_t error_count;
} tally;

typedef struct reference_run {
    carom_context *context;
    uint64_t seed, total, count; /* queries of a type, and of the family at work */
    output *out;
    verify_queries queries;
    verify_answers answers, exact; /* of fast mode, of exact mode */
    tally tally;
    size_t family;
    int type, explained[VERIFY_MODES];
    uint64_t wrong;
    verify_progress progress;
} reference_run;

static float float_of(const verify_answers *answers, int field, uint64_t i)
{
    float value;
    memcpy(&value, answers->field[field] + i * sizeof value, sizeof value);
    return value;
}

/* Distance from the time to the true one in units of the last place of the nearest float. */
static void add_error(tally *t, float got, double near)
{
    float nearest = fabsf((float)near);
    if (!isfinite(got) || !isfinite(nearest)) {
        if (!isfinite(got) != !isfinite(nearest))
            t->errors[t->error_count++] = INFINITY;
        return;
    }
    int exponent;
    frexpf(nearest, &exponent);
    double ulp = nearest < FLT_MIN ? 0x1p-149 : ldexp(1.0, exponent - FLT_MANT_DIG);
    t->errors[t->error_count++] = (float)(fabs((double)got - near) / ulp);
}

static double largest(const reference_run *run, const int *columns, int count, uint64_t i)
{
    double scale = 0.0;
    for (int k = 0; k < count; k++)
        scale = fmax(scale, fabs((double)run->queries.column[columns[k]][i]));
    return scale;
}

static double sweep_margin(const reference_run *run, uint64_t i)
{
    static const int columns[] = {0, 1, 2, 3, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    return margin_share * largest(run, columns, 13, i);
}

static void load_sweep(const reference_run *run, uint64_t i, ref_sweep_case *c)
{
    for (int k = 0; k < 3; k++) {
        c->center[k] = run->queries.column[k][i];
        c->velocity[k] = run->queries.column[4 + k][i];
        c->p[0][k] = run->queries.column[7 + k][i];
        c->p[1][k] = run->queries.column[10 + k][i];
        c->p[2][k] = run->queries.column[13 + k][i];
        c->w[k] = run->queries.column[16 + k][i];
    }
    c->radius = (double)run->queries.column[3][i];
}

/* 1 if radii within the margin differ in state, so that the pair lies that near a decision, or have this one; else 2. */
static int verdict_near(int state, int low, int high)
{
    return low != high || state == low ? 1 : 2;
}

static const char *judge_exact_sweep(const reference_run *run, uint64_t i, const ref_sweep_case *c,
                                     const ref_sweep_answer *truth)
{
    const verify_answers *a = &run->exact;
    ref_given_sweep given = {
        a->field[0][i], a->field[5][i], a->field[10][i], float_of(a, 1, i), float_of(a, 6, i), {0}, {0}};
    for (int k = 0; k < 3; k++) {
        given.point_first[k] = float_of(a, 2 + k, i);
        given.point_last[k] = float_of(a, 7 + k, i);
    }
    return ref_judge_sweep(c, truth, &given);
}

static int or_invalid(unsigned char value)
{
    return value == CAROM_OVERLAP_INVALID ? -1 : value;
}

/* Of fast mode: 0 equal, 1 within the margin, 2 wrong; of exact mode: what is wrong, or NULL. */
typedef struct verdict {
    int fast;
    const char *exact;
    char truth[160]; /* words for the message */
} verdict;

static int judge_sweep(reference_run *run, uint64_t i, verdict *v)
{
    ref_sweep_case c;
    ref_sweep_answer exact, low, high;
    int state = run->answers.field[0][i];
    load_sweep(run, i, &c);
    ref_sweep(&c, &exact);
    snprintf(v->truth, sizeof v->truth, "state=%s t_first=%a t_last=%a", carom_state_name((carom_state)exact.state),
             (double)exact.t_first, (double)exact.t_last);
    v->exact = judge_exact_sweep(run, i, &c, &exact);
    if (state == exact.state) {
        if (state != REF_MISS && state != REF_INVALID) {
            add_error(&run->tally, float_of(&run->answers, 1, i), exact.t_first_near);
            add_error(&run->tally, float_of(&run->answers, 6, i), exact.t_last_near);
        }
        return 0;
    }
    if (state == REF_INVALID || exact.state == REF_INVALID)
        return 2;
    double margin = sweep_margin(run, i), radius = c.radius;
    c.radius = radius + margin;
    ref_sweep(&c, &high);
    low.state = REF_MISS; /* a radius below zero touches nothing */
    if (radius >= margin) {
        c.radius = radius - margin;
        ref_sweep(&c, &low);
    }
    return verdict_near(state, low.state, high.state);
}

static int judge_overlap(reference_run *run, uint64_t i, verdict *v)
{
    ref_sweep_case c;
    ref_overlap_answer exact, low = {0, 0}, high;
    int overlap = run->answers.field[0][i], axes = run->answers.field[1][i];
    load_sweep(run, i, &c);
    ref_overlap(&c, &exact);
    snprintf(v->truth, sizeof v->truth, "overlap=%d axes=%d", exact.overlap, exact.axes);
    v->exact = ref_judge_overlap(&exact, or_invalid(run->exact.field[0][i]), or_invalid(run->exact.field[1][i]));
    if (exact.overlap < 0 || overlap == CAROM_OVERLAP_INVALID)
        return exact.overlap < 0 && overlap == CAROM_OVERLAP_INVALID && axes == CAROM_OVERLAP_INVALID ? 0 : 2;
    if ((axes == 0) != (overlap == 1))
        return 2;
    if (overlap == exact.overlap)
        return 0;
    double margin = sweep_margin(run, i), radius = c.radius;
    c.radius = radius + margin;
    ref_overlap(&c, &high);
    if (radius >= margin) {
        c.radius = radius - margin;
        ref_overlap(&c, &low);
    }
    return overlap == low.overlap || overlap == high.overlap ? 1 : 2;
}

static int judge_spheres(reference_run *run, uint64_t i, verdict *v)
{
    static const int columns[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13};
    ref_spheres_case c = {.radius_a = run->queries.column[6][i], .radius_b = run->queries.column[13][i]};
    ref_spheres_answer exact, low, high;
    int state = run->answers.field[0][i];
    for (int k = 0; k < 3; k++) {
        c.a0[k] = run->queries.column[k][i];
        c.a1[k] = run->queries.column[3 + k][i];
        c.b0[k] = run->queries.column[7 + k][i];
        c.b1[k] = run->queries.column[10 + k][i];
    }
    ref_spheres(&c, &exact);
    snprintf(v->truth, sizeof v->truth, "state=%s u_first=%a u_last=%a", carom_state_name((carom_state)exact.state),
             (double)exact.u_first, (double)exact.u_last);
    v->exact =
        ref_judge_spheres(&exact, run->exact.field[0][i], float_of(&run->exact, 1, i), float_of(&run->exact, 2, i));
    if (state == exact.state) {
        if (state != REF_MISS && state != REF_INVALID) {
            add_error(&run->tally, float_of(&run->answers, 1, i), exact.u_first_near);
            add_error(&run->tally, float_of(&run->answers, 2, i), exact.u_last_near);
        }
        return 0;
    }
    if (state == REF_INVALID || exact.state == REF_INVALID)
        return 2;
    c.margin = margin_share * largest(run, columns, 14, i);
    ref_spheres(&c, &high);
    c.margin = -c.margin;
    ref_spheres(&c, &low);
    return verdict_near(state, low.state, high.state);
}

static int compare_errors(const void *a, const void *b)
{
    float x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

static void write_tally(reference_run *run)
{
    tally *t = &run->tally;
    output_format(run->out, "  %-10s %-28s %8llu %8llu %8llu %8llu %8llu", verify_types[run->type].name,
                  ref_family_name(run->family), (unsigned long long)t->queries, (unsigned long long)t->exact_wrong,
                  (unsigned long long)t->by_integers, (unsigned long long)t->wrong, (unsigned long long)t->near);
    qsort(t->errors, t->error_count, sizeof *t->errors, compare_errors);
    if (t->error_count > 0)
        output_format(run->out, " %12.3g %12.3g", (double)t->errors[(t->error_count - 1) * 999 / 1000],
                      (double)t->errors[t->error_count - 1]);
    output_char(run->out, '\n');
}

static void explain_wrong(reference_run *run, int mode, uint64_t i, const char *what, const char *truth)
{
    if (run->explained[mode]++)
        return;
    output_format(run->out, "  first wrong answer of %s mode%s%s, %s, family %s, query %llu:\n",
                  mode == CAROM_ACCURACY_FAST ? "fast" : "exact", what ? ": " : "", what ? what : "",
                  verify_types[run->type].name, ref_family_name(run->family), (unsigned long long)i);
    verify_print_query(run->out, run->type, &run->queries, i);
    verify_print_answer(run->out, run->type, "answer", mode == CAROM_ACCURACY_FAST ? &run->answers : &run->exact, i);
    output_format(run->out, "    reference: %s\n", truth);
}

static void judge(reference_run *run, uint64_t i)
{
    tally *t = &run->tally;
    verdict v;
    v.fast = run->type == VERIFY_SWEEP     ? judge_sweep(run, i, &v)
             : run->type == VERIFY_OVERLAP ? judge_overlap(run, i, &v)
                                           : judge_spheres(run, i, &v);
    t->near += v.fast == 1;
    t->wrong += v.fast == 2;
    t->exact_wrong += v.exact != NULL;
    if (v.fast == 2)
        explain_wrong(run, CAROM_ACCURACY_FAST, i, NULL, v.truth);
    if (v.exact)
        explain_wrong(run, CAROM_ACCURACY_EXACT, i, v.exact, v.truth);
}

static int check_family(reference_run *run, uint64_t done)
{
    carom_stats stats = {0};
    verify_generate_family(run->type, run->family, run->seed, run->count, &run->queries);
    for (int mode = 0; mode < VERIFY_MODES; mode++) {
        const verify_question question = {run->type, 0, (carom_accuracy)mode, run->count};
        carom_error err = {0};
        carom_status status = verify_run(run->context, &question, &run->queries,
                                         mode == CAROM_ACCURACY_FAST ? &run->answers : &run->exact, &stats, &err);
        if (status != CAROM_OK)
            return cli_library_error("the reference check", status, &err);
    }
    run->tally =
        (tally){.queries = run->count, .by_integers = stats.by_integers, .errors = run->tally.errors}; /* exact's */
    memset(run->explained, 0, sizeof run->explained);
    for (uint64_t i = 0; i < run->count; i++) {
        judge(run, i);
        if (i % 256 == 0)
            verify_progress_show(&run->progress, "reference", done + i, VERIFY_TYPES * run->total);
    }
    run->wrong += run->tally.wrong + run->tally.exact_wrong;
    write_tally(run);
    return EXIT_DONE;
}

int verify_reference(carom_context *context, uint64_t count, uint64_t seed, output *out, uint64_t *wrong)
{
    size_t families = ref_family_count();
    reference_run run = {.context = context, .seed = seed, .out = out, .total = count};
    double start = cli_seconds();
    uint64_t room = count / families + 1;
    int status = verify_queries_alloc(&run.queries, room) | verify_answers_alloc(&run.answers, room) |
                 verify_answers_alloc(&run.exact, room);
    run.tally.errors = cli_alloc(room, 2 * sizeof(float));
    if (status != EXIT_DONE || !run.tally.errors)
        status = cli_no_memory();
    run.progress = verify_progress_begin();
    output_format(out,
                  "\nexact reference; exact mode: wrong if anything differs; fast mode: wrong beyond %g of the largest "
                  "magnitude from a decision, time error in ulp\n",
                  margin_share);
    output_format(out, "  %-10s %-28s %8s %17s %17s %12s %12s\n", "", "", "", "exact   ", "fast    ", "", "");
    output_format(out, "  %-10s %-28s %8s %8s %8s %8s %8s %12s %12s\n", "query", "family", "queries", "wrong",
                  "integers", "wrong", "near", "99.9 %", "max");
    for (run.type = 0; run.type < VERIFY_TYPES && status == EXIT_DONE; run.type++) {
        for (run.family = 0; run.family < families && status == EXIT_DONE; run.family++) {
            uint64_t before = count * run.family / families;
            run.count = count * (run.family + 1) / families - before;
            status = check_family(&run, (uint64_t)run.type * count + before);
        }
    }
    verify_progress_end(&run.progress);
    output_format(out, "reference: %llu queries of each type, %llu wrong, %.1f s\n", (unsigned long long)count,
                  (unsigned long long)run.wrong, cli_seconds() - start);
    *wrong += run.wrong;
    free(run.tally.errors);
    verify_queries_free(&run.queries);
    verify_answers_free(&run.answers);
    verify_answers_free(&run.exact);
    return status;
}
