/* SPDX-License-Identifier: MIT */
/* Overlap pairs against Ericson's published test, vectorised by the compiler for the same instruction set: bit against
 * bit, and bit with mask against bit with mask. */
#include "question.h"

#include <stdio.h>
#include <string.h>

static const double asked_memory = 1.1, asked_cache = 1.5;

typedef struct ericson_side {
    plain_ericson_fn *run;
    const scene *scene;
    const answers *out;
} ericson_side;

static void ericson_run(void *user)
{
    const ericson_side *e = user;

    e->run(scene_in(e->scene), e->out->bytes.column[0], e->out->bytes.column[1], e->scene->count);
}

/* Two formulas in binary32: they may differ where a distance rounds to the radius, and nowhere else. */
static void report_agreement(bench *b, ask *ours, ericson_side *theirs)
{
    const size_t count = ours->scene->count;
    const uint8_t *overlap = ours->out->bytes.column[0], *axes = ours->out->bytes.column[1];
    columns copy = columns_alloc(2, count, 1);
    size_t overlapping = 0, other = 0, other_axes = 0;

    ask_run(ours);
    memcpy(copy.column[0], overlap, count);
    memcpy(copy.column[1], axes, count);
    theirs->run(scene_in(theirs->scene), ours->out->bytes.column[0], ours->out->bytes.column[1], count);
    for (size_t i = 0; i < count; i++) {
        overlapping += ((uint8_t *)copy.column[0])[i] == 1;
        other += ((uint8_t *)copy.column[0])[i] != overlap[i];
        other_axes += ((uint8_t *)copy.column[1])[i] != axes[i];
    }
    columns_free(&copy);
    report_add_value(b->report, "overlapping pairs", 100.0 * (double)overlapping / (double)count, "%");
    report_add_value(b->report, "pairs where Ericson's answer is another", (double)other, "pairs");
    report_add_value(b->report, "pairs where Ericson's mask is another", (double)other_axes, "pairs");
}

static void compare(bench *b, question q, bench_backend *isa, const plain_loops *plain, const scene *s,
                    const answers *out, double asked)
{
    ask ours = {.backend = isa, .question = q, .scene = s, .out = out};
    ericson_side theirs = {q == QUESTION_AXES ? plain->ericson_axes : plain->ericson_overlap, s, out};
    const measure_side sides[2] = {{ask_run, &ours}, {ericson_run, &theirs}};
    const char *name = question_shapes[q].name;
    const int best = isa == bench_best(b);
    char label[128];
    measurement m;

    if (q == QUESTION_AXES && best)
        report_agreement(b, &ours, &theirs);
    measure(&m, &b->one, sides, 2);
    for (int side = 0; side < 2; side++) {
        snprintf(label, sizeof label, "%s: %s, %s", name, side ? "Ericson" : "carom", side ? plain->name : isa->name);
        report_add_time(b->report, label,
                        &(report_time){.median = measure_median(&m, side),
                                       .best = measure_best(&m, side),
                                       .queries = (double)s->count,
                                       .bytes = question_bytes(q),
                                       .unit = "ns/pair"});
    }
    snprintf(label, sizeof label, "%s: %s over Ericson's time", name, isa->name);
    report_add_ratio(b->report, label, measure_ratio(&m, 0, 1), best ? REPORT_AT_MOST : REPORT_NO_BOUND, asked);
}

static void compare_all(bench *b, size_t count, double asked)
{
    scene s = scene_make(SCENE_OVERLAP, count);
    answers out = answers_alloc(count);

    for (int i = b->isa_count - 1; i >= 0; i--) {
        const plain_loops *plain = plain_for_isa((int)b->isas[i].isa);
        if (!plain)
            continue;
        compare(b, QUESTION_OVERLAP, &b->isas[i], plain, &s, &out, asked);
        compare(b, QUESTION_AXES, &b->isas[i], plain, &s, &out, asked);
    }
    scene_free(&s);
    answers_free(&out);
}

void bench_overlap(bench *b)
{
    report_section(b->report, "ericson-cache", "overlap against Ericson's test, %d pairs, one thread", BENCH_CACHED);
    compare_all(b, BENCH_CACHED, asked_cache);
    for (int size = 0; size < b->size_count; size++) {
        char name[32];
        snprintf(name, sizeof name, "ericson-%zuk", b->sizes[size] / 1000);
        report_section(b->report, name, "overlap against Ericson's test, %zu pairs from memory, one thread",
                       b->sizes[size]);
        compare_all(b, b->sizes[size], asked_memory);
    }
}
