/* SPDX-License-Identifier: MIT */
#include "limits.h"

#include "measure.h"
#include "plain.h"
#include "scenes.h"

enum { STREAM = 1 << 24, CACHED = 1 << 11, REPEATS = 64 };

typedef struct limit_side {
    plain_rate_fn *run;
    float *a, *b, *c;
    size_t count;
    int repeats;
} limit_side;

static void limit_run(void *user)
{
    const limit_side *s = user;

    for (int i = 0; i < s->repeats; i++)
        s->run(s->a, s->b, s->c, s->count);
}

static void fill(float *to, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = 1.0f + (float)(i % 1000) * 0.001f;
}

/* The best of the rounds: a limit is what the core can do, not what it did on average. */
bench_limits limits_measure(carom_isa isa, int quick)
{
    bench_limits out = {.isa = carom_isa_name(isa)};
    const plain_loops *plain = plain_for_isa((int)isa);
    const measure_plan plan = {quick ? 3 : 7, 0.02, 0.0};
    const size_t stream = quick ? STREAM / 4 : STREAM;
    columns c;
    measurement m;

    if (plain == NULL)
        return out;
    c = columns_alloc(3, stream, sizeof(float));
    float *const a = c.column[0], *const b = c.column[1], *const d = c.column[2];
    fill(b, stream);
    fill(d, stream);
    limit_side sides[4] = {{plain->triad, a, b, d, stream, 1},
                           {plain->multiply_add, a, b, d, CACHED, REPEATS},
                           {plain->divide, a, b, d, CACHED, REPEATS},
                           {plain->root, a, b, d, CACHED, REPEATS}};
    measure_side runs[4];
    for (int i = 0; i < 4; i++)
        runs[i] = (measure_side){limit_run, &sides[i], 0};
    measure(&m, &plan, runs, 4);
    const double cached = (double)CACHED * REPEATS;
    /* A store reads its line first: two reads, that read and a write. */
    out.triad_bytes = 16.0 * (double)stream / measure_best(&m, 0);
    out.multiply_adds = PLAIN_MULTIPLY_ADDS * cached / measure_best(&m, 1);
    out.divisions = cached / measure_best(&m, 2);
    out.roots = cached / measure_best(&m, 3);
    columns_free(&c);
    return out;
}
