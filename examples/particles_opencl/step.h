/* SPDX-License-Identifier: MIT */
/* The step of a simulation: what it asks carom, and which kernels run between. Its arrays are addresses, so they may
 * lie in buffers of carom, around memory of OpenCL, or in ordinary memory. */
#ifndef STEP_H
#define STEP_H

#include <carom/carom.h>

/* Particles and the wall, which the host fills at the start; first hits; neighbours; contacts; old contacts. */
enum array {
    CENTER,
    VELOCITY,
    ACCELERATION,
    RADIUS,
    CORNER,
    WAY,
    HIT_TRIANGLE,
    HIT_TIME,
    HIT_NORMAL,
    NEIGHBOURS_FIRST,
    NEIGHBOUR,
    CONTACTS_FIRST,
    CONTACT_DISTANCE,
    CONTACT_NORMAL,
    CONTACT_PREVIOUS,
    CONTACT_QUERY,
    CONTACT_PATCH,
    CONTACT_POINT,
    CONTACT_SPRING,
    OLD_QUERY,
    OLD_PATCH,
    OLD_POINT,
    OLD_SPRING,
    ARRAYS,
    HOST_ARRAYS = CORNER + 1
};
enum kernel { PRESS, INTEGRATE, BOUNCE, COLLIDE, TOUCH, KERNELS };
enum { GRID = 76, CORNERS = 36 * GRID * GRID }; /* of the wall: a box, GRID squares along each edge */

/* Bytes that cross between host and device in a call, as its statistics say. */
enum { FIRST_HITS, NEIGHBOURS, CONTACTS, CALLS };
typedef struct crossing {
    uint64_t brought, returned;
} crossing;

typedef struct simulation simulation;
struct simulation {
    uint64_t count;
    void *at[ARRAYS];     /* for carom */
    void *handle[ARRAYS]; /* for kernels: what the program has the array by */
    /* Runs a kernel over so many work-items, with these arrays. Returns 0 after a failure, with its sentence in `err`.
     */
    int (*launch)(simulation *s, enum kernel kernel, uint64_t items, const enum array *arrays, int array_count,
                  carom_error *err);
    carom_context *context;
    carom_mesh *wall;
    uint64_t contacts, old_contacts;
    crossing crossed[CALLS]; /* in the last step */
};

/* Of an array, for so many particles. */
uint64_t step_bytes(enum array array, uint64_t count);
/* Fills arrays of the host, which hold zeros: particles that touch nothing, and the wall. */
void step_begin(uint64_t count, float *const host[HOST_ARRAYS]);
/* Makes the wall of the arrays' corners. */
int step_make_wall(simulation *s, carom_error *err);
/* One step. Returns 0 after a failure. */
int step_run(simulation *s, carom_error *err);
/* Prints where the particles are, and what crossed in the last step. Returns how many are not in the box. */
uint64_t step_report(const simulation *s, int steps, float *const host[HOST_ARRAYS]);

#endif
