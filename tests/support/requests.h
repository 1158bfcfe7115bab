/* SPDX-License-Identifier: MIT */
/* Every kind of request to the library, in both modes, for tests that must hold for all of them. */
#ifndef CAROM_TESTS_SUPPORT_REQUESTS_H
#define CAROM_TESTS_SUPPORT_REQUESTS_H

#include "scenes.h"

/* Kinds of requests: pair queries by their type, then mesh queries. */
#define ASK(name, title) ASK_##name = QUERY_TYPES + QUERY_##name,
enum { QUERY_MESHES(ASK) QUERY_MESH_FORMS(ASK) ASK_KINDS = QUERY_TYPES + QUERY_MESH_COUNT };
#undef ASK
typedef struct request {
    const char *name;
    int kind;
    carom_accuracy accuracy;
} request;

/* All kinds, in fast mode and then in exact mode. */
enum { REQUESTS = 2 * ASK_KINDS };
extern const request requests[REQUESTS];
static inline int request_needs_mesh(const request *q)
{
    return q->kind >= QUERY_TYPES;
}
int request_is_list(const request *q);
/* 1 if this device answers the request: exact mode needs binary64 for everything but overlaps. */
static inline int request_is_for(const request *q, const carom_device_info *device)
{
    return device->fp64 || q->accuracy == CAROM_ACCURACY_FAST || q->kind == OVERLAP || q->kind == ASK_mesh_overlaps ||
           q->kind == ASK_mesh_any_still;
}

/* The inputs of all requests. */
typedef struct fixture {
    size_t count, some; /* queries, and how many of them are ordinary */
    queries q[QUERY_TYPES];
    swept_spheres b;
    scene s;
    carom_uints select; /* selects spheres, out of `elements`; empty: no selection */
    uint64_t elements;
    carom_progress progress; /* may cancel a batch; fixture_make sets no function */
    uint8_t prepare;
} fixture;
/* `count` queries of each kind. One in `share` is ordinary; the others are invalid, which costs almost no time. Takes
 * ownership of the scene. */
fixture fixture_make(uint64_t seed, scene s, size_t count, size_t share);
void fixture_free(fixture *m);

/* The answers to a request, in every column; of a list its records, offsets and totals. */
typedef struct batch_result {
    answers a;
    guarded offsets;
    uint64_t total, complete, stored;
    carom_stats stats;
} batch_result;
batch_result batch_result_alloc(const request *q, const fixture *m);
void batch_result_free(batch_result *r);
/* Offset i of a list: the number of records of the queries before i. */
uint64_t batch_result_offset(const batch_result *r, size_t i);
/* Runs the request. Fails the test if the library wrote outside the columns. */
carom_status request_ask(const request *q, carom_context *context, carom_mesh *mesh, const fixture *m, batch_result *r,
                         carom_error *err);
/* The answers of the CPU, which must succeed. */
batch_result request_answer(const request *q, const fixture *m);
/* Fail unless both are the same in every byte. */
void batch_result_compare(const request *q, const fixture *m, const batch_result *expected, const batch_result *got,
                          const char *who);
/* The same for the first `count` queries only, for a batch that ended early. In a list so many queries are complete. */
void batch_result_compare_first(const request *q, const fixture *m, const batch_result *expected,
                                const batch_result *got, size_t count, const char *who);

#endif
