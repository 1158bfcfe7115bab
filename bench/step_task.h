/* SPDX-License-Identifier: MIT */
/* Measurement of a step of a simulation: spheres among triangles that move, and the calls of a step. */
#ifndef CAROM_BENCH_STEP_TASK_H
#define CAROM_BENCH_STEP_TASK_H

#include "resident.h"
#include "scenes.h"
#include "subjects.h"

/* In the order of the calls. */
typedef enum step_part {
    STEP_REFIT,
    STEP_FIRST_HITS,
    STEP_NEIGHBOURS,
    STEP_CONTACTS,
    STEP_MATCH,
    STEP_PARTS
} step_part;
const char *step_part_name(step_part part);

/* Inputs and answers of a step. Spheres have equal radii and six neighbours on average, anywhere in the box of the
 * mesh; ways of a half to one radius. */
typedef struct step_arrays {
    size_t count, pairs, contacts, old_contacts;
    columns spheres;  /* centre, velocity, radius */
    columns vertices; /* x y z of each */
    columns hits;     /* triangle, time, normal */
    columns pair_offsets, partner;
    columns contact_offsets, contact_query, contact; /* patch, distance, normal, point */
    columns old_query, old_contact;                  /* patch, point: of the spheres a tenth of their ways before */
    columns previous;
} step_arrays;

/* `step_call_run` takes it as its user and ends the program if it fails. */
typedef struct step_call {
    const subject *subject;
    carom_accuracy accuracy;
    const mesh_scene *shape;
    carom_mesh *mesh;
    const step_arrays *arrays;
    resident *resident;         /* of the arrays, which the calls use in their place; NULL: none */
    carom_stats stats, fastest; /* sums over the calls that have them, of the last step and of the fastest */
    double part[STEP_PARTS], fastest_part[STEP_PARTS]; /* seconds */
} step_call;

/* The arrays, with room for the records that `of` counts. */
step_arrays step_arrays_make(const mesh_scene *shape, size_t count, const subject *of, carom_mesh *mesh);
void step_arrays_free(step_arrays *a);

void step_call_run(void *user);
carom_status step_call_try(step_call *a, carom_error *err);
/* As pair_call_check(), pair_call_hash() and pair_call_settle(). */
uint64_t step_call_check(step_call *a);
uint64_t step_call_hash(const step_call *a);
carom_status step_call_settle(step_call *a, carom_error *err);

#endif
