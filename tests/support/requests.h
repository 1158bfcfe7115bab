/* SPDX-License-Identifier: MIT */
/* Every kind of query that the library answers, in both modes, for tests of what becomes of all of them. */
#ifndef CAROM_TESTS_SUPPORT_REQUESTS_H
#define CAROM_TESTS_SUPPORT_REQUESTS_H

#include "scenes.h"

/* Pairs by their type, then queries of a mesh. */
#define ASK(name, title) ASK_##name = QUERY_TYPES + QUERY_##name,
enum { QUERY_MESHES(ASK) QUERY_MESH_FORMS(ASK) ASK_KINDS = QUERY_TYPES + QUERY_MESH_COUNT };
#undef ASK
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
int request_is_list(const request *q);
/* Whether such a device answers it: exact mode needs binary64 for all but overlaps. */
static inline int request_is_for(const request *q, const carom_device_info *device)
{
    return device->fp64 || q->accuracy == CAROM_ACCURACY_FAST || q->kind == OVERLAP || q->kind == ASK_mesh_overlaps ||
           q->kind == ASK_mesh_any_still;
}

/* What they are asked about. */
typedef struct fixture {
    size_t count, some; /* of these, ordinary ones */
    queries q[QUERY_TYPES];
    swept_spheres b;
    scene s;
    carom_uints select; /* of the spheres on a mesh, `elements` of them; empty: none */
    uint64_t elements;
    carom_progress progress; /* reports how far a batch has come, and may end it; at first without a function */
} fixture;
/* `count` queries of each kind of which one in `share` is ordinary, the others invalid: they cost nothing. Takes the
 * scene. */
fixture fixture_make(uint64_t seed, scene s, size_t count, size_t share);
void fixture_free(fixture *m);

/* Answers to a request, every column asked for; of a list its records, offsets and totals. */
typedef struct batch_result {
    answers a;
    guarded offsets;
    uint64_t total, complete, stored;
    carom_stats stats;
} batch_result;
batch_result batch_result_alloc(const request *q, const fixture *m);
void batch_result_free(batch_result *r);
/* Records of queries 0 .. i of a list. */
uint64_t batch_result_offset(const batch_result *r, size_t i);
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
