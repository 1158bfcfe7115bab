/* SPDX-License-Identifier: MIT */
/* Calls whose arrays lie in an arena: memory of the test, or a buffer of a device, or a buffer for each array. For the
 * tests of buffers; a program that uses it is linked with cl_shim.c. */
#ifndef CAROM_TESTS_SUPPORT_ARENAS_H
#define CAROM_TESTS_SUPPORT_ARENAS_H

#include "cl_shim.h"
#include "scenes.h"

enum { SEED = 32, QUERIES = 3001, SIDES = 6, ROOM = 1 << 22, FILL = 0xa5, OWN = 48 };

/* ---- arenas ------------------------------------------------------------------------------------------------------ */

typedef struct arena {
    carom_buffer *buffer; /* NULL: the test's memory */
    unsigned char *base;
    size_t used;
    int is_laid; /* the arrays are there already */
    /* Or each array has a buffer of its own, whose bytes are those of an arena from `start` on. */
    carom_context *apart;
    carom_buffer *own[OWN];
    size_t start[OWN];
    uint32_t count;
} arena;

/* where: -1 for the test's memory. */
arena arena_make(carom_context *context, int where);
void arena_free(arena *a);
/* Room for an array, `skew` bytes behind a multiple of 64. */
void *room_for(arena *a, size_t bytes, size_t skew);
/* The same, with `data` in it. */
void *put(arena *a, const void *data, size_t bytes, size_t skew);
/* Fail unless all bytes are the same: of both arenas, or of all buffers of `got`, which has one for each array. */
void arena_compare(const arena *expected, const arena *got, const char *what);
void arena_compare_apart(const arena *expected, const arena *got, const char *what);

/* ---- views ------------------------------------------------------------------------------------------------------- */

/* How arrays lie: bytes from one element to the next, how they are aligned, and whether queries select elements. */
typedef struct layout {
    const char *name;
    size_t step, skew;
    int selects;
} layout;
enum { LAYOUTS = 4 };
extern const layout layouts[LAYOUTS];

/* Arrays of `count` elements that lie so. */
carom_points put_points(arena *a, const layout *l, float *const *xyz, size_t count);
carom_scalars put_scalars(arena *a, const layout *l, float *data, size_t count);
carom_uints put_uints(arena *a, const layout *l, uint32_t *data, size_t count);
carom_points_out room_for_points(arena *a, const layout *l, size_t count);

/* ---- calls ------------------------------------------------------------------------------------------------------- */

/* The inputs of all calls; make_data and free_data are the setup and teardown of a group. */
extern scene walls;
extern swept_spheres spheres;
extern uint32_t order[QUERIES];
int make_data(void **state);
int free_data(void **state);

/* A call's context and mesh, and how its arrays lie in which arena. */
typedef struct call {
    carom_context *context;
    carom_mesh *mesh;
    arena *a;
    const layout *l;
    carom_accuracy accuracy;
    uint32_t chunk; /* most queries of a chunk; 0: all */
} call;

extern cl_call failing_call; /* number failing_at of these fails in a batch of pairs; 0: none */
extern int failing_at;
carom_status ask_pairs(const call *c, int type, carom_stats *stats, carom_error *err);
carom_status pair_sweeps(const call *c, carom_stats *stats, carom_error *err);
#endif
