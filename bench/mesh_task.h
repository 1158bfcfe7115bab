/* SPDX-License-Identifier: MIT */
/* What is measured of a mesh: a build, a refit, each of its queries, and what a lattice asks it. */
#ifndef CAROM_BENCH_MESH_TASK_H
#define CAROM_BENCH_MESH_TASK_H

#include "resident.h"
#include "scenes.h"
#include "subjects.h"

/* Triangle, time and state of so many spheres, or of the hits in a list of theirs; whether there is any has its byte in
 * `state`, the distance of a closest point its number in `time`. */
typedef struct hits {
    columns triangle, time, state, offsets;
    size_t count, capacity;
} hits;
hits hits_alloc(size_t count, size_t capacity);
void hits_free(hits *h);

/* MESH_ASK: ask `mesh` about `spheres`. MESH_ALONE: for first hits, in a batch for each. MESH_BUILD: make the mesh and
 * drop it. MESH_REFIT: give `mesh` its vertices once more, which takes as long as any others. From MESH_VOLUME on:
 * answer `lattice`. A band is unsigned, and signed by winding. */
typedef enum mesh_work {
    MESH_ASK,
    MESH_ALONE,
    MESH_BUILD,
    MESH_REFIT,
    MESH_VOLUME,
    MESH_BAND,
    MESH_SIGNED_BAND,
    MESH_CLEARANCE,
    MESH_DROP
} mesh_work;
typedef struct mesh_task {
    const query_type *query; /* NULL: of none */
    mesh_work work;
    /* The largest distance of closest points, as a share of the mesh's diagonal; 0: any. Of a band in spacings. A
     * radius as a share of the longest side of the mesh's box. */
    float band;
} mesh_task;

/* As initialisers. */
#define NO_TASK           \
    {                     \
        NULL, MESH_ASK, 0 \
    }
#define ASK(query) ASK_WITHIN(query, 0)
#define ASK_WITHIN(query, band)        \
    {                                  \
        &query_##query, MESH_ASK, band \
    }
#define FIRST_HIT_ALONE                  \
    {                                    \
        &query_mesh_first, MESH_ALONE, 0 \
    }

/* `mesh_call_run` takes it as its user and ends the program if it fails. */
typedef struct mesh_call {
    const subject *subject;
    const mesh_scene *shape;
    carom_mesh *mesh;
    const columns *spheres;
    hits *out;
    resident *resident; /* of the columns of spheres and hits, which the call uses in their place; NULL: none */
    carom_accuracy accuracy;
    mesh_task task;
    carom_lattice lattice;
    carom_stats stats, fastest; /* of the last run; of the run with the smallest total */
} mesh_call;
void mesh_call_run(void *user);
carom_status mesh_call_try(mesh_call *a, carom_error *err);
/* Of a list: hits of all spheres in either mode, whichever are more; fewer if the call fails, which it will again. */
size_t mesh_call_count_hits(mesh_call call);
/* As pair_call_check(), pair_call_hash() and pair_call_settle(). */
uint64_t mesh_call_check(mesh_call *a);
uint64_t mesh_call_hash(const mesh_call *a);
carom_status mesh_call_settle(mesh_call *a, carom_error *err);
carom_mesh *mesh_call_create(const mesh_call *a);

#endif
