/* SPDX-License-Identifier: MIT */
/* Jobs: calls that go on after they have returned to the program. A job is the public call itself, made once more by
 * the context's own thread with copies of its descriptor and its result structure. */
#ifndef CAROM_HOST_CORE_JOB_H
#define CAROM_HOST_CORE_JOB_H
#include "calls/type.h"
#include "context.h"

/* A public call by its arguments. */
typedef struct caromi_call {
    caromi_call_function *call;
    void *subject; /* a context or a mesh */
    const void *desc;
    size_t desc_size;
    const void *out;
    size_t out_size; /* 0: an array of the caller, which is not copied */
    int which;
    carom_stats *stats;
} caromi_call;

/* Checks the jobs of a batch; a blocking call waits for them. */
carom_status caromi_meet_jobs(const carom_batch *batch, carom_error *err);
/* Makes a job of a call that has been checked, and stores it where its batch says. */
carom_status caromi_submit(carom_context *context, const caromi_call *call, carom_error *err);

/* ---- for events of OpenCL (host/opencl/events.c) ----------------------------------------------------------------- */

/* A job that is an event of the caller, whose reference it takes; not on failure. */
carom_status caromi_job_of_event(carom_context *context, void *event, carom_job **out, carom_error *err);
/* The event that a job is; NULL: it is a call. */
void *caromi_job_event(const carom_job *job);
/* What carom_job_wait says of a job that goes on. */
carom_status caromi_fail_running(double seconds, carom_error *err);
/* Lets a job that is not in its queue yet begin after another, whose reference it takes. */
void caromi_job_begin_after(carom_job *job, carom_job *other);
/* What hears when a call that is a job has ended; at once if it has. It belongs to itself then. */
typedef struct caromi_job_listener {
    struct caromi_job_listener *next;
    void (*hear)(struct caromi_job_listener *listener, carom_status status);
} caromi_job_listener;
void caromi_job_listen(carom_job *job, caromi_job_listener *listener);
carom_context *caromi_job_context(const carom_job *job);
#endif
