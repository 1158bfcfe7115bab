/* SPDX-License-Identifier: MIT */
/* The pair queries that are measured: a row of the registry and how much of its answer is asked for. */
#ifndef CAROM_BENCH_PAIR_TASK_H
#define CAROM_BENCH_PAIR_TASK_H

#include "plain.h"
#include "resident.h"
#include "scenes.h"
#include "subjects.h"

typedef struct pair_task {
    const query_type *query;
    int selection;
} pair_task;

/* As initialisers. */
#define SWEEP_FIRST     \
    {                   \
        &query_sweep, 0 \
    }
#define SWEEP_TIMES     \
    {                   \
        &query_sweep, 1 \
    }
#define SWEEP_FULL      \
    {                   \
        &query_sweep, 2 \
    }
#define OVERLAP_BIT       \
    {                     \
        &query_overlap, 0 \
    }
#define OVERLAP_AXES      \
    {                     \
        &query_overlap, 1 \
    }
#define SPHERES_TIMES     \
    {                     \
        &query_spheres, 0 \
    }

const query_selection *pair_task_selection(pair_task t);
/* Output columns of floats, of bytes. */
int pair_task_numbers(pair_task t);
int pair_task_flags(pair_task t);
/* Bytes that a pair must move at least: every input once, every output once. */
double pair_task_bytes(pair_task t);
/* Whether the answer is yes or no, without times. */
int pair_task_is_overlap(pair_task t);

/* Columns of answers: the floats and the bytes among the fields of the row, in its order. */
typedef struct answers {
    columns numbers, bytes;
    size_t count;
} answers;
answers answers_alloc(pair_task t, size_t count);
void answers_free(answers *a);

/* One call of the library. `pair_call_run` takes it as its user and ends the program if it fails. */
typedef struct pair_call {
    const subject *subject;
    pair_task task;
    carom_accuracy accuracy;
    const pair_scene *scene;
    const answers *out;
    resident *resident;         /* of the columns of both, which the call uses in their place; NULL: none */
    carom_stats stats, fastest; /* of the last run; of the run with the smallest total */
} pair_call;
void pair_call_run(void *user);
carom_status pair_call_try(pair_call *call, carom_error *err);
/* Wipe the answers, ask, and return their hash. */
uint64_t pair_call_check(pair_call *call);
/* The hash of the answers of the last run, which are read back from their buffers if they have some. */
uint64_t pair_call_hash(const pair_call *call);
/* Put all columns of the call into buffers. */
carom_status pair_call_settle(pair_call *call, carom_error *err);

/* Seconds that the subject takes for a random sweep from cache, as a measure of its pace; 0: it cannot answer. */
double pair_task_pace(const subject *of, carom_accuracy accuracy);

/* The columns of a task, for the plain loops. */
plain_columns pair_task_columns(pair_task t, const pair_scene *s, const answers *out);

#endif
