/* SPDX-License-Identifier: MIT */
/* What is measured of spheres among themselves: the clouds, and a call of the library. */
#ifndef CAROM_BENCH_CLOUD_TASK_H
#define CAROM_BENCH_CLOUD_TASK_H

#include "resident.h"

/* EQUAL    radii of 1, anywhere in a cube
 * DOUBLE   radii of 1 to 2
 * TENFOLD  radii of 1 to 10, each tenth of the logarithm with as much volume
 * PILE     as EQUAL, nineteen twentieths of them in a twentieth of the cube
 * At rest a sphere has about four partners, in a pile on average. */
typedef enum cloud_set { CLOUD_EQUAL, CLOUD_DOUBLE, CLOUD_TENFOLD, CLOUD_PILE } cloud_set;
typedef enum cloud_work { CLOUD_LIST, CLOUD_COUNT, CLOUD_FIRST } cloud_work;

typedef struct cloud_task {
    cloud_set set;
    cloud_work work;
    float radii; /* ways in the window [0, 1], in the least radius; 0: at rest */
} cloud_task;

/* As an initialiser. */
#define NO_CLOUD                   \
    {                              \
        CLOUD_EQUAL, CLOUD_LIST, 0 \
    }

/* Seven columns as those of spheres_make(): centre, velocity, radius; in no order of places. */
columns cloud_make(const cloud_task *task, size_t count);
/* Times of a sphere in times of a random sweep. */
double cloud_task_weight(const cloud_task *task);

/* Of `count` spheres: a list, how many partners each has, or the first. Columns that a task does not write are empty.
 */
typedef struct cloud_answers {
    cloud_work work;
    int is_moving;
    size_t count, capacity;
    columns offsets, b, partners, other, t; /* b: [capacity]; t: as b in a list, else as other */
} cloud_answers;
cloud_answers cloud_answers_alloc(const cloud_task *task, size_t count, size_t capacity);
void cloud_answers_free(cloud_answers *a);

/* `cloud_call_run` takes it as its user and ends the program if it fails. */
typedef struct cloud_call {
    const subject *subject;
    carom_accuracy accuracy;
    cloud_task task;
    const columns *spheres;
    cloud_answers *out;
    resident *resident;         /* of the columns of both, which the call uses in their place; NULL: none */
    carom_stats stats, fastest; /* of the last run; of the run with the smallest total */
    carom_list_totals totals;   /* of the last list */
} cloud_call;
void cloud_call_run(void *user);
carom_status cloud_call_try(cloud_call *a, carom_error *err);
/* As pair_call_check(), pair_call_hash() and pair_call_settle(). */
uint64_t cloud_call_check(cloud_call *a);
uint64_t cloud_call_hash(const cloud_call *a);
carom_status cloud_call_settle(cloud_call *a, carom_error *err);

#endif
