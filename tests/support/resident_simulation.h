/* SPDX-License-Identifier: MIT */
/* The simulation of caller_simulation.h with all arrays in the caller's memory: a call of it can go straight into the
 * caller's queue. */
#ifndef CAROM_TESTS_SUPPORT_RESIDENT_SIMULATION_H
#define CAROM_TESTS_SUPPORT_RESIDENT_SIMULATION_H

#include "caller_simulation.h"

typedef struct resident {
    simulation *s;
    cl_mem x_memory, y_memory;
    carom_buffer *x, *y;
} resident;

resident open_resident(void **state, int order);
void close_resident(resident *r);

/* A first hit of all balls; how: options of the batch, with a count of 0 for all. */
carom_status try_call(const resident *r, carom_batch how, carom_stats *stats, carom_error *err);
/* The same as a blocking call, and as a job. */
void call_now(const resident *r);
carom_job *submit(const resident *r, carom_job *const *wait, uint32_t waits, carom_stats *stats);

/* Counts calls of OpenCL from now on; *before: threads of the process. */
void begin_step(int *before);
/* Fails unless the calls since then were enqueued, with nothing for the host to do. */
void expect_enqueued(const char *what, int before);
/* Fails unless one of them was an ordinary job. */
void expect_ordinary(const char *what);
#endif
