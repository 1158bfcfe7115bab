/* SPDX-License-Identifier: MIT */
#include "common.h"
#include "limits.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "measure.h"
#include "plain.h"

enum { STREAM = 1 << 24, CACHED = 1 << 11, REPEATS = 1 << 10, THREADS_MAX = 1024, LINE = 64 };

/* What one thread does of it: its part of the arrays, again and again. */
typedef struct limit_part {
    plain_rate_fn *run;
    float *a, *b, *c;
    size_t count;
    int repeats;
} limit_part;

typedef struct limit_side {
    limit_part parts[THREADS_MAX];
    uint32_t threads;
} limit_side;

static void *run_part(void *user)
{
    const limit_part *p = user;

    for (int i = 0; i < p->repeats; i++)
        p->run(p->a, p->b, p->c, p->count);
    return NULL;
}

/* A thread that cannot be started leaves its part to this one: slower, and as right. */
static void limit_run(void *user)
{
    limit_side *s = user;
    pthread_t id[THREADS_MAX];
    int started[THREADS_MAX];

    for (uint32_t i = 1; i < s->threads; i++)
        started[i] = pthread_create(&id[i], NULL, run_part, &s->parts[i]) == 0;
    run_part(&s->parts[0]);
    for (uint32_t i = 1; i < s->threads; i++) {
        if (started[i])
            pthread_join(id[i], NULL);
        else
            run_part(&s->parts[i]);
    }
}

static void fill(float *a, const float *b, const float *c, size_t count)
{
    (void)b, (void)c;
    for (size_t i = 0; i < count; i++)
        a[i] = 1.0f + (float)(i % 1000) * 0.001f;
}

/* Threads share the arrays out between them; from cache each has the beginning of its share. */
static void divide_work(limit_side *s, uint32_t threads, plain_rate_fn *run, float *const at[3], size_t rows,
                        int cached)
{
    const size_t share = rows / threads / PLAIN_BLOCK * PLAIN_BLOCK;

    s->threads = threads;
    for (uint32_t i = 0; i < threads; i++)
        s->parts[i] = (limit_part){run,
                                   at[0] + i * share,
                                   at[1] + i * share,
                                   at[2] + i * share,
                                   cached ? CACHED : share,
                                   cached ? REPEATS : 1};
}

/* The best of the rounds: a limit is what a core can do, not what it did on average. */
bench_limits limits_measure(carom_isa isa, uint32_t threads, int quick)
{
    bench_limits out = {.threads = threads};
    const plain_loops *plain = plain_for_isa((int)isa);
    const measure_plan plan = {.rounds = quick ? 3 : 7, .sample = 0.02};
    const size_t least = (size_t)threads * CACHED, rows = quick ? STREAM / 4 : STREAM;
    const size_t stream = rows > least ? rows : least;
    static limit_side sides[4]; /* too large for a stack */
    measure_side runs[4];
    measurement m;

    if (plain == NULL || threads > THREADS_MAX)
        return out;
    snprintf(out.isa, sizeof out.isa, "%s", carom_isa_name(isa));
    float *c[3];
    for (int i = 0; i < 3; i++) { /* where a thread writes first, its memory is */
        c[i] = aligned_alloc(LINE, stream * sizeof **c);
        if (c[i] == NULL)
            bench_die("no memory to measure what memory can do");
        divide_work(&sides[0], threads, fill, (float *const[3]){c[i], c[i], c[i]}, stream, 0);
        limit_run(&sides[0]);
    }
    plain_rate_fn *const run[4] = {plain->triad, plain->multiply_add, plain->divide, plain->root};
    for (int i = 0; i < 4; i++) {
        divide_work(&sides[i], threads, run[i], c, stream, i > 0);
        runs[i] = (measure_side){limit_run, &sides[i]};
    }
    measure(&m, &plan, runs, 4);
    const double cached = (double)CACHED * REPEATS * threads;
    /* A store reads its line first: two reads, that read and a write. */
    out.triad_bytes = 16.0 * (double)sides[0].parts[0].count * threads / measure_best(&m, 0);
    out.multiply_adds = PLAIN_MULTIPLY_ADDS * cached / measure_best(&m, 1);
    out.divisions = cached / measure_best(&m, 2);
    out.roots = cached / measure_best(&m, 3);
    for (int i = 0; i < 3; i++)
        free(c[i]);
    return out;
}
