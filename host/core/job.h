/* SPDX-License-Identifier: MIT */
/* Jobs: asynchronous calls. A job is the public call itself, repeated on the context's own thread with copies of its
 * descriptor and its result structure. */
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
    size_t out_size; /* 0: the result is an array of the caller, which is not copied */
    int which;
    carom_stats *stats;
    int enqueues; /* a device may answer it without the host */
} caromi_call;

/* Checks the jobs that a batch waits for; a blocking call waits here. */
carom_status caromi_meet_jobs(const carom_batch *batch, carom_error *err);
/* Makes a checked call a job, and stores the job in the caller's variable that its batch names. */
carom_status caromi_submit(carom_context *context, const caromi_call *call, carom_error *err);

/* ---- for events of OpenCL (host/opencl/events.c) ----------------------------------------------------------------- */

/* Makes a job that ends with an event of the caller; it takes over the event's reference unless this fails. */
carom_status caromi_job_of_event(carom_context *context, void *event, carom_job **out, carom_error *err);
/* The event of a job; NULL: the job is a call. */
void *caromi_job_event(const carom_job *job);
/* The error of carom_job_wait for a job that is still running. */
carom_status caromi_fail_running(double seconds, carom_error *err);
/* Makes a job, which is not in its queue yet, wait for another one, whose reference it takes over. */
void caromi_job_begin_after(carom_job *job, carom_job *other);
/* A callback for the end of a job; it is called at once if the job has ended. The listener then frees itself. */
typedef struct caromi_job_listener {
    struct caromi_job_listener *next;
    void (*hear)(struct caromi_job_listener *listener, carom_status status);
} caromi_job_listener;
void caromi_job_listen(carom_job *job, caromi_job_listener *listener);
carom_context *caromi_job_context(const carom_job *job);
#endif
