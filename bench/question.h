/* SPDX-License-Identifier: MIT */
/* The pair queries that are measured: which inputs, which outputs are asked for, and one call of the library. */
#ifndef CAROM_BENCH_QUESTION_H
#define CAROM_BENCH_QUESTION_H

#include "subjects.h"
#include "plain.h"
#include "scenes.h"

typedef enum question {
    QUESTION_FIRST,   /* sweep: first time */
    QUESTION_TIMES,   /* sweep: state, first and last time */
    QUESTION_FULL,    /* sweep: all of that, contact points and features */
    QUESTION_OVERLAP, /* overlap: yes or no */
    QUESTION_AXES,    /* overlap: and the mask of separating axes */
    QUESTION_SPHERES, /* sphere/sphere: state, first and last u */
    QUESTION_COUNT
} question;

typedef struct question_shape {
    const char *name;
    scene_kind scene;
    int numbers, bytes;   /* output columns of floats, of bytes */
    int divisions, roots; /* per pair, in fast mode */
} question_shape;
extern const question_shape question_shapes[QUESTION_COUNT];

/* Bytes that a pair must move at least: every input once, every output once. */
double question_bytes(question q);

/* Room for the answers to any question. */
typedef struct answers {
    columns numbers, bytes;
    size_t count;
} answers;
answers answers_alloc(size_t count);
void answers_free(answers *a);
uint64_t answers_hash(const answers *a, question q);

/* One call of the library. `ask_run` takes it as its user and ends the program if it fails. */
typedef struct ask {
    const subject *subject;
    question question;
    carom_accuracy accuracy;
    const pair_scene *scene;
    const answers *out;
    carom_stats stats, fastest; /* of the last run; of the run with the smallest total */
} ask;
void ask_run(void *user);
carom_status ask_try(ask *a, carom_error *err);
/* Wipe the answers, ask, and return their hash. */
uint64_t ask_check(ask *a);

/* The columns of a question, for the plain loops. */
plain_columns question_columns(question q, const pair_scene *s, const answers *out);

#endif
