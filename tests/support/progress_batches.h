/* SPDX-License-Identifier: MIT */
/* Batches of some pieces for the tests of progress: their inputs, and calls that ask for them with a progress function.
 */
#ifndef CAROM_TESTS_SUPPORT_PROGRESS_BATCHES_H
#define CAROM_TESTS_SUPPORT_PROGRESS_BATCHES_H

#include "lists.h"

/* First hits as a list have pieces of another size, of which PROGRESS_COMPACTED are some. */
enum { PROGRESS_FEW = 9, PROGRESS_COMPACTED = (2 << 20) + PROGRESS_FEW, PROGRESS_FILL = 0x55 };

typedef struct progress_room {
    carom_context *context;
    carom_mesh *mesh;
    uint64_t pair_count, ball_count; /* numbers of queries; a list may use more spheres */
    uint32_t *which;
    queries q[QUERY_TYPES];
    swept_spheres swept_spheres;
} progress_room;
extern progress_room room;
/* One context for all tests of a program, for a device compiles its kernels for each. */
void progress_enter(void);
int progress_leave(void **state);
/* Eight triangles. */
carom_mesh *progress_mesh(carom_context *context);
float progress_between(uint64_t *state, float low, float high);

/* ---- calls with an answer for each query ------------------------------------------------------------------------- */

/* A call and the sizes of its output columns in bytes; 0: no more columns. */
enum { PROGRESS_COLUMNS = 5 };
typedef struct call call;
struct call {
    carom_status (*ask)(const call *this, const guarded *to, carom_progress progress, carom_stats *stats,
                        carom_error *err);
    int type; /* of pairs */
    carom_accuracy accuracy;
    size_t size[PROGRESS_COLUMNS];
};
#define ASK(name)                                                                                       \
    carom_status name(const call *this, const guarded *to, carom_progress progress, carom_stats *stats, \
                      carom_error *err)
ASK(ask_pairs);
ASK(ask_first);
ASK(ask_any);
ASK(ask_overlap_any);
ASK(ask_closest);
uint64_t call_count(const call *this);
/* The output columns of `count` queries, filled with PROGRESS_FILL. */
void columns_alloc(const call *this, uint64_t count, guarded *to);
void columns_free(guarded *columns);
/* Checks that the first `done` answers are right, and that the last query's answer is untouched if it is not among
 * them. */
void columns_check(const call *this, const guarded *whole, const guarded *part, uint64_t done);
/* Spheres in motion against the mesh. */
carom_mesh_sweep_desc progress_sweep(carom_accuracy accuracy, uint64_t count, carom_progress progress);

/* ---- lists ------------------------------------------------------------------------------------------------------- */

carom_status ask_list(const list_request *q, hit_list *l, uint64_t count, carom_progress progress, carom_stats *stats,
                      carom_error *err);
/* Checks that `l` is the beginning of the whole list: the hits of `done` queries are counted, and records are written
 * for as many queries as fit. */
void check_beginning(const list_request *q, const hit_list *whole, const hit_list *l, uint64_t done);
#endif
