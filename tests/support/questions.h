/* SPDX-License-Identifier: MIT */
/* Every kind of query that the library answers, in both modes, for tests of what becomes of all of them. */
#ifndef CAROM_TESTS_SUPPORT_QUESTIONS_H
#define CAROM_TESTS_SUPPORT_QUESTIONS_H

#include "closest_answers.h"
#include "lists.h"

/* Pairs by their type, then searches of a mesh. */
enum {
    ASK_FIRST = QUERY_TYPES,
    ASK_ALL,
    ASK_COMPACT, /* first hits as a list */
    ASK_ANY,
    ASK_OVERLAPS,
    ASK_ANY_OVERLAP,
    ASK_CLOSEST,
    ASK_KINDS
};
typedef struct question {
    const char *name;
    int kind;
    carom_accuracy accuracy;
} question;

/* All of them, fast and then exact. */
enum { QUESTIONS = 2 * ASK_KINDS };
extern const question questions[QUESTIONS];
static inline int question_needs_mesh(const question *q)
{
    return q->kind >= QUERY_TYPES;
}
static inline int question_is_list(const question *q)
{
    return q->kind == ASK_ALL || q->kind == ASK_COMPACT || q->kind == ASK_OVERLAPS;
}
/* Whether such a device answers it: exact mode needs binary64 for all but overlaps. */
static inline int question_is_for(const question *q, const carom_device_info *device)
{
    return device->fp64 || q->accuracy == CAROM_ACCURACY_FAST || q->kind == OVERLAP || q->kind == ASK_OVERLAPS ||
           q->kind == ASK_ANY_OVERLAP;
}

/* What they are asked about. */
typedef struct material {
    size_t count, some; /* of these, ordinary ones */
    queries q[QUERY_TYPES];
    balls b;
    scene s;
    carom_progress progress; /* who is told how far a batch has come, and may end it; at first nobody */
} material;
/* `count` queries of each kind of which one in `share` is ordinary, the others invalid: they cost nothing. Takes the
 * scene. */
material material_make(uint64_t seed, scene s, size_t count, size_t share);
void material_free(material *m);

/* Answers to a question, every column asked for. */
typedef struct reply {
    answers a;
    hits h;
    hit_list l;
    nears n;
    guarded any;
    carom_stats stats;
} reply;
reply reply_alloc(const question *q, const material *m);
void reply_free(const question *q, reply *r);
/* Nothing beside the columns was written. */
carom_status question_ask(const question *q, carom_context *context, carom_mesh *mesh, const material *m, reply *r,
                          carom_error *err);
/* All that was asked for on the CPU, with success. */
reply question_answer(const question *q, const material *m);
/* Fail unless both are the same in every byte. */
void reply_compare(const question *q, const material *m, const reply *expected, const reply *got, const char *who);
/* The first `count` queries alone, for a batch that has ended early; in a list as many are complete. */
void reply_compare_first(const question *q, const material *m, const reply *expected, const reply *got, size_t count,
                         const char *who);

#endif
