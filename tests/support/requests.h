/* SPDX-License-Identifier: MIT */
/* Every kind of query that the library answers, in both modes, for tests of what becomes of all of them. */
#ifndef CAROM_TESTS_SUPPORT_REQUESTS_H
#define CAROM_TESTS_SUPPORT_REQUESTS_H

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
typedef struct request {
    const char *name;
    int kind;
    carom_accuracy accuracy;
} request;

/* All of them, fast and then exact. */
enum { REQUESTS = 2 * ASK_KINDS };
extern const request requests[REQUESTS];
static inline int request_needs_mesh(const request *q)
{
    return q->kind >= QUERY_TYPES;
}
static inline int request_is_list(const request *q)
{
    return q->kind == ASK_ALL || q->kind == ASK_COMPACT || q->kind == ASK_OVERLAPS;
}
/* Whether such a device answers it: exact mode needs binary64 for all but overlaps. */
static inline int request_is_for(const request *q, const carom_device_info *device)
{
    return device->fp64 || q->accuracy == CAROM_ACCURACY_FAST || q->kind == OVERLAP || q->kind == ASK_OVERLAPS ||
           q->kind == ASK_ANY_OVERLAP;
}

/* What they are asked about. */
typedef struct fixture {
    size_t count, some; /* of these, ordinary ones */
    queries q[QUERY_TYPES];
    swept_spheres b;
    scene s;
    carom_progress progress; /* reports how far a batch has come, and may end it; at first without a function */
} fixture;
/* `count` queries of each kind of which one in `share` is ordinary, the others invalid: they cost nothing. Takes the
 * scene. */
fixture fixture_make(uint64_t seed, scene s, size_t count, size_t share);
void fixture_free(fixture *m);

/* Answers to a request, every column asked for. */
typedef struct batch_result {
    answers a;
    hits h;
    hit_list l;
    closest_results n;
    guarded any;
    carom_stats stats;
} batch_result;
batch_result batch_result_alloc(const request *q, const fixture *m);
void batch_result_free(const request *q, batch_result *r);
/* Nothing beside the columns was written. */
carom_status request_ask(const request *q, carom_context *context, carom_mesh *mesh, const fixture *m, batch_result *r,
                         carom_error *err);
/* All that was asked for on the CPU, with success. */
batch_result request_answer(const request *q, const fixture *m);
/* Fail unless both are the same in every byte. */
void batch_result_compare(const request *q, const fixture *m, const batch_result *expected, const batch_result *got,
                          const char *who);
/* The first `count` queries alone, for a batch that has ended early; in a list as many are complete. */
void batch_result_compare_first(const request *q, const fixture *m, const batch_result *expected,
                                const batch_result *got, size_t count, const char *who);

#endif
