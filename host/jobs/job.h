/* SPDX-License-Identifier: MIT */
/* Jobs: calls that go on after they have returned to the program. A job is the public call itself, made once more by
 * the context's own thread with copies of its descriptor and its result structure. */
#ifndef CAROM_HOST_JOBS_JOB_H
#define CAROM_HOST_JOBS_JOB_H
#include "host/context.h"

/* A public call by its arguments; `which` is for those that have one more. */
typedef carom_status caromi_job_call(void *subject, const void *desc, const void *out, int which, carom_stats *stats,
                                     carom_error *err);
typedef struct caromi_call {
    caromi_job_call *call;
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
#endif
