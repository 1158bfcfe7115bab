/* SPDX-License-Identifier: MIT */
/* A program that has OpenCL of its own, and carom between its commands. */
#ifndef CAROM_TESTS_SUPPORT_CALLER_SIMULATION_H
#define CAROM_TESTS_SUPPORT_CALLER_SIMULATION_H

#include "cl_caller.h"

enum { COUNT = 3008 /* balls: whole groups of lanes */, BYTES = 4 * COUNT };
enum { SIMULATION_SIDES = 6 }; /* of the mesh: scene_sphere(SIMULATION_SIDES) */

/* Balls over a mesh. The kernel `rise` raises them, carom sweeps them down, `fall` takes the time to contact from their
 * heights. */
typedef struct simulation {
    caller cl;
    cl_program program;
    cl_kernel rise, fall;
    cl_mem z_memory, t_memory;
    carom_context *context;
    carom_mesh *mesh;
    carom_buffer *z, *t;
    float x[COUNT], y[COUNT], radius;
} simulation;

/* The caller's queue, and whether calls take their turn in it. */
enum { NO_TURNS, TURNS, TURNS_OUT_OF_ORDER };
simulation *open_simulation(void **state, int order);
/* Fails if the library holds an object of OpenCL then. */
void close_simulation(simulation *s);

/* A launch of `rise` or `fall`. */
void launch(const simulation *s, cl_kernel k, cl_uint waits, const cl_event *wait, cl_event *event);
/* x and y lie with the program: the balls stay in place but for their height. */
carom_mesh_sweep_desc sweep_of(const simulation *s, const float *z, uint64_t count);
/* The sweep as a job; count 0 is an empty batch. */
carom_job *sweep(const simulation *s, uint64_t count, carom_job *const *wait, uint32_t waits);
/* Waits for the job, which must succeed, and destroys it. */
void ends_well(carom_job *job);
/* Waits for all that is in the caller's queue. */
void finish(const simulation *s);
/* The heights after so many steps, by the CPU and C. */
void expect_heights(const simulation *s, int steps, const char *what);

/* The job's event; the caller releases it. */
cl_event event_of(carom_job *job);
cl_int state_of(cl_event event);
/* Fails unless the event ends so; releases it. */
void expect_event(cl_event event, cl_int expected);
#endif
