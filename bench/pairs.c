/* SPDX-License-Identifier: MIT */
/* Pair queries on one thread, from cache and from memory: every instruction set of the CPU path against the others,
 * and the best of them against the time that the traffic alone costs. */
#include "question.h"

#include <stdio.h>

/* What the project asks of itself. */
static const double asked_avx512 = 12.0, asked_avx2 = 6.0, asked_both_times_ns = 8.0, asked_traffic = 1.5;

/* The library on every instruction set. */
static int ask_everywhere(bench *b, question q, const scene *s, const answers *out, ask *asks, measure_side *sides)
{
    for (int i = 0; i < b->isa_count; i++) {
        asks[i] = (ask){.backend = &b->isas[i], .question = q, .scene = s, .out = out};
        sides[i] = (measure_side){ask_run, &asks[i]};
    }
    return b->isa_count;
}

static void check_everywhere(bench *b, ask *asks)
{
    const question_shape *shape = &question_shapes[asks[0].question];
    const uint64_t first = ask_check(&asks[0]);
    int same = 1;
    char label[96];

    for (int i = 1; i < b->isa_count; i++)
        same &= ask_check(&asks[i]) == first;
    if (b->isa_count < 2)
        return;
    snprintf(label, sizeof label, "%s: %d instruction sets", shape->name, b->isa_count);
    report_add_same(b->report, label, same);
}

static void report_times(bench *b, question q, const measurement *m, size_t count, int cached)
{
    for (int i = 0; i < b->isa_count; i++) {
        char label[128];
        const int limited = cached && q == QUESTION_TIMES && b->isas[i].isa == CAROM_ISA_AVX512;
        snprintf(label, sizeof label, "%s: %s", question_shapes[q].name, b->isas[i].name);
        report_add_time(b->report, label,
                        &(report_time){measure_median(m, i), measure_best(m, i), (double)count, question_bytes(q),
                                       "ns/pair", limited ? REPORT_AT_MOST : REPORT_NO_BOUND, asked_both_times_ns});
    }
}

/* How many times as fast as scalar each vector path is. The project asks for it on sweeps, from cache. */
static void report_gains(bench *b, question q, const measurement *m, int cached)
{
    const int asked = cached && question_shapes[q].scene == SCENE_SWEEP;

    if (b->isas[0].isa != CAROM_ISA_SCALAR)
        return;
    for (int i = 1; i < b->isa_count; i++) {
        char label[128];
        const carom_isa isa = b->isas[i].isa;
        const double bound = isa == CAROM_ISA_AVX512 ? asked_avx512 : isa == CAROM_ISA_AVX2 ? asked_avx2 : 0.0;
        snprintf(label, sizeof label, "%s: %s over scalar", question_shapes[q].name, b->isas[i].name);
        report_add_ratio(b->report, label, measure_ratio(m, 0, i),
                         asked && bound > 0.0 ? REPORT_AT_LEAST : REPORT_NO_BOUND, bound);
    }
}

static void skip_missing(bench *b)
{
    static const carom_isa wanted[] = {CAROM_ISA_AVX2, CAROM_ISA_AVX512};

    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        if (!bench_find_isa(b, wanted[i])) {
            char label[64];
            snprintf(label, sizeof label, "%s over scalar", carom_isa_name(wanted[i]));
            report_add_skip(b->report, label, "not on this machine or not in this build");
        }
}

void bench_pairs_cache(bench *b)
{
    answers out = answers_alloc(BENCH_CACHED);

    report_section(b->report, "cache", "the same %d pairs again and again, one thread", BENCH_CACHED);
    skip_missing(b);
    for (question q = 0; q < QUESTION_COUNT; q++) {
        scene s = scene_make(question_shapes[q].scene, BENCH_CACHED);
        ask asks[BENCH_ISAS_MAX];
        measure_side sides[BENCH_ISAS_MAX];
        measurement m;
        const int count = ask_everywhere(b, q, &s, &out, asks, sides);
        check_everywhere(b, asks);
        measure(&m, &b->one, sides, count);
        report_times(b, q, &m, s.count, 1);
        report_gains(b, q, &m, 1);
        scene_free(&s);
    }
    answers_free(&out);
}

typedef struct stream_side {
    plain_stream_fn *run;
    plain_columns columns;
} stream_side;

static void stream_run(void *user)
{
    const stream_side *s = user;

    s->run(&s->columns);
}

/* The floor is the faster of two ways to touch the same columns. */
static int report_floor(bench *b, question q, const measurement *m, int rows, size_t count)
{
    const int floor = measure_median(m, rows) <= measure_median(m, rows + 1) ? rows : rows + 1;
    char label[128];

    snprintf(label, sizeof label, "%s: traffic floor, %s", question_shapes[q].name,
             floor == rows ? "by rows" : "by columns");
    report_add_time(b->report, label,
                    &(report_time){.median = measure_median(m, floor),
                                   .best = measure_best(m, floor),
                                   .queries = (double)count,
                                   .bytes = question_bytes(q),
                                   .unit = "ns/pair"});
    return floor;
}

static void measure_from_memory(bench *b, question q, const scene *s, const answers *out)
{
    ask asks[BENCH_ISAS_MAX];
    measure_side sides[BENCH_ISAS_MAX + 2];
    measurement m;
    char label[128];
    const int isas = ask_everywhere(b, q, s, out, asks, sides), best = isas - 1;
    const plain_loops *plain = plain_for_isa((int)b->isas[best].isa);
    int count = isas;

    stream_side rows = {plain ? plain->stream_rows : NULL, question_columns(q, s, out)};
    stream_side by_column = {plain ? plain->stream_columns : NULL, rows.columns};
    if (plain) {
        sides[count++] = (measure_side){stream_run, &rows};
        sides[count++] = (measure_side){stream_run, &by_column};
    }
    check_everywhere(b, asks);
    measure(&m, &b->one, sides, count);
    report_times(b, q, &m, s->count, 0);
    report_gains(b, q, &m, 0);
    if (!plain)
        return;
    const int floor = report_floor(b, q, &m, isas, s->count);
    snprintf(label, sizeof label, "%s: %s over the traffic floor", question_shapes[q].name, b->isas[best].name);
    /* The requirement is about memory: columns that fit the last-level cache do not come from there. */
    const int from_memory = (double)s->count * question_bytes(q) > b->last_cache;
    report_add_ratio(b->report, label, measure_ratio(&m, best, floor),
                     q == QUESTION_FULL && from_memory ? REPORT_AT_MOST : REPORT_NO_BOUND, asked_traffic);
    if (q == QUESTION_FULL && !from_memory)
        report_add_skip(b->report, label, "as a requirement, because these columns fit the last-level cache");
}

void bench_pairs_memory(bench *b)
{
    for (int size = 0; size < b->size_count; size++) {
        const size_t count = b->sizes[size];
        char name[32];
        answers out = answers_alloc(count);
        snprintf(name, sizeof name, "memory-%zuk", count / 1000);
        report_section(b->report, name, "%zu pairs, one thread", count);
        for (scene_kind kind = SCENE_SWEEP; kind <= SCENE_SPHERES; kind++) {
            scene s = scene_make(kind, count);
            for (question q = 0; q < QUESTION_COUNT; q++)
                if (question_shapes[q].scene == kind)
                    measure_from_memory(b, q, &s, &out);
            scene_free(&s);
        }
        answers_free(&out);
    }
}
