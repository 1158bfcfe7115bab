/* SPDX-License-Identifier: MIT */
/* The mesh queries that are measured: a build, and the first hit of swept spheres. */
#ifndef CAROM_BENCH_MESH_QUESTION_H
#define CAROM_BENCH_MESH_QUESTION_H

#include "scenes.h"
#include "subjects.h"

/* Triangle, time and state of so many spheres. */
typedef struct hits {
    columns triangle, time, state;
    size_t count;
} hits;
hits hits_alloc(size_t count);
void hits_free(hits *h);

/* `build`: make the mesh and drop it. Else sweep `spheres` over `mesh`. `mesh_ask_run` takes it as its user and ends
 * the program if it fails. */
typedef struct mesh_ask {
    const subject *subject;
    const mesh_scene *shape;
    carom_mesh *mesh;
    const columns *spheres;
    const hits *out;
    carom_accuracy accuracy;
    int build;
    carom_stats stats, fastest; /* of the last run; of the run with the smallest total */
} mesh_ask;
void mesh_ask_run(void *user);
carom_status mesh_ask_try(mesh_ask *a, carom_error *err);
uint64_t mesh_ask_check(mesh_ask *a);
carom_mesh *mesh_ask_create(const mesh_ask *a);

#endif
