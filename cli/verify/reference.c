/* SPDX-License-Identifier: MIT */
/* Both modes against the exact reference. Exact mode: every answer must be equal, points within a unit. Fast mode: how
 * often it is wrong, how close to a decision, how far its times are off.
 *
 * Fast mode promises the state for a radius within a margin of the one given. The reference is asked again with the
 * radius moved by that margin: a state that is true for neither radius is wrong. */
#include "verify.h"

#include "reference/reference.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Share of the largest magnitude among positions and radius. */
static const double margin_share = 5e-7;

typedef struct tally {
    uint64_t queries, near, wrong;
    uint64_t exact_wrong, by_second_filter, by_integers;
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
    progress progress;
} reference_run;

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

/* Of fast mode: 0 equal, 1 within the margin, 2 wrong. Within the margin: radii that far off differ in their decision,
 * so that the pair lies that near to one, or have this one. */
static int judge_fast(reference_run *run, const float *row, const query_truth *truth, const query_value *answer)
{
    const query_type *q = query_pairs[run->type];
    const uint8_t decision = answer[0].byte, exact = truth->value[0].byte;
    query_truth low, high;
    if (q->contradiction && q->contradiction(answer))
        return 2;
    if (decision == exact) {
        for (int f = 0; f < query_field_count(q); f++)
            if (truth->times >> f & 1)
                add_error(&run->tally, answer[f].number, truth->near[f]);
        return 0;
    }
    if (decision == q->invalid || exact == q->invalid)
        return 2;
    const double margin = margin_share * query_largest(q, row);
    q->truth(row, margin, &high);
    q->truth(row, -margin, &low);
    return low.value[0].byte != high.value[0].byte || decision == low.value[0].byte ? 1 : 2;
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
    output_format(run->out, "  %-10s %-28s %8llu %8llu %8llu %8llu %8llu %8llu", query_pairs[run->type]->name,
                  ref_family_name(run->family), (unsigned long long)t->queries, (unsigned long long)t->exact_wrong,
                  (unsigned long long)t->by_second_filter, (unsigned long long)t->by_integers,
                  (unsigned long long)t->wrong, (unsigned long long)t->near);
    qsort(t->errors, t->error_count, sizeof *t->errors, compare_errors);
    if (t->error_count > 0)
        output_format(run->out, " %12.3g %12.3g", (double)t->errors[(t->error_count - 1) * 999 / 1000],
                      (double)t->errors[t->error_count - 1]);
    output_char(run->out, '\n');
}

static void explain_wrong(reference_run *run, int mode, uint64_t i, const char *what, const query_truth *truth)
{
    if (run->explained[mode]++)
        return;
    output_format(run->out, "  first wrong answer of %s mode%s%s, %s, family %s, query %llu:\n",
                  mode == CAROM_ACCURACY_FAST ? "fast" : "exact", what ? ": " : "", what ? what : "",
                  query_pairs[run->type]->name, ref_family_name(run->family), (unsigned long long)i);
    verify_print_query(run->out, run->type, &run->queries, i);
    verify_print_answer(run->out, run->type, "answer", mode == CAROM_ACCURACY_FAST ? &run->answers : &run->exact, i);
    output_text(run->out, "    reference:");
    verify_print_values(run->out, run->type, truth->value, truth->fields);
}

static void judge(reference_run *run, uint64_t i)
{
    const query_type *q = query_pairs[run->type];
    tally *t = &run->tally;
    float row[QUERY_COLUMNS_MAX];
    query_truth truth;
    query_value answer[QUERY_FIELDS_MAX];
    query_load_row(q, run->queries.column, i, row);
    q->truth(row, 0.0, &truth);
    query_load_answer(q, run->answers.field, i, answer);
    const int fast = judge_fast(run, row, &truth, answer);
    query_load_answer(q, run->exact.field, i, answer);
    const char *wrong = q->judge(row, &truth, answer);
    t->near += fast == 1;
    t->wrong += fast == 2;
    t->exact_wrong += wrong != NULL;
    if (fast == 2)
        explain_wrong(run, CAROM_ACCURACY_FAST, i, NULL, &truth);
    if (wrong)
        explain_wrong(run, CAROM_ACCURACY_EXACT, i, wrong, &truth);
}

static int check_family(reference_run *run, uint64_t done)
{
    carom_stats stats = {0};
    verify_generate_family(run->type, run->family, run->seed, run->count, &run->queries);
    for (int mode = 0; mode < VERIFY_MODES; mode++) {
        const verify_request request = {run->type, 0, (carom_accuracy)mode, run->count};
        carom_error err = {0};
        carom_status status = verify_run(run->context, &request, &run->queries,
                                         mode == CAROM_ACCURACY_FAST ? &run->answers : &run->exact, &stats, &err);
        if (status != CAROM_OK)
            return cli_library_error("the reference check", status, &err);
    }
    run->tally = (tally){.queries = run->count, /* the rungs are those of exact mode, which ran last */
                         .by_second_filter = stats.by_second_filter,
                         .by_integers = stats.by_integers,
                         .errors = run->tally.errors};
    memset(run->explained, 0, sizeof run->explained);
    for (uint64_t i = 0; i < run->count; i++) {
        judge(run, i);
        if (i % 256 == 0)
            progress_show(&run->progress, done + i);
    }
    progress_show(&run->progress, done + run->count);
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
    progress_begin(&run.progress, "verify reference", "queries", 0, QUERY_PAIR_COUNT * count);
    output_format(out,
                  "\nexact reference; exact mode: wrong if anything differs; fast mode: wrong beyond %g of the largest "
                  "magnitude from a decision, time error in ulp\n",
                  margin_share);
    output_format(out, "  %-10s %-28s %8s %26s %17s %12s %12s\n", "", "", "", "exact      ", "fast    ", "", "");
    output_format(out, "  %-10s %-28s %8s %8s %8s %8s %8s %8s %12s %12s\n", "query", "family", "queries", "wrong",
                  "second", "integers", "wrong", "near", "99.9 %", "max");
    for (run.type = 0; run.type < QUERY_PAIR_COUNT && status == EXIT_DONE; run.type++) {
        for (run.family = 0; run.family < families && status == EXIT_DONE; run.family++) {
            uint64_t before = count * run.family / families;
            run.count = count * (run.family + 1) / families - before;
            status = check_family(&run, (uint64_t)run.type * count + before);
        }
    }
    progress_end(&run.progress);
    output_format(out, "reference: %llu queries of each type, %llu wrong, %.1f s\n", (unsigned long long)count,
                  (unsigned long long)run.wrong, cli_seconds() - start);
    *wrong += run.wrong;
    free(run.tally.errors);
    verify_queries_free(&run.queries);
    verify_answers_free(&run.answers);
    verify_answers_free(&run.exact);
    return status;
}
