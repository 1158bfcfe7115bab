/* SPDX-License-Identifier: MIT */
/* The state of a job, which job.c and job_submit.c share. */
#ifndef CAROM_HOST_CORE_JOB_STATE_H
#define CAROM_HOST_CORE_JOB_STATE_H
#include <unistd.h>

#include "job.h"
#include "queue.h"

struct carom_job {
    caromi_task task;
    carom_context *context;
    pid_t process;          /* the process that made it; in a fork()ed child the job never ends */
    atomic_uint references; /* the caller's, the queue's, and one for each job that waits for this one */
    caromi_call call;       /* its arguments are copies, in the job's memory block */
    carom_job **wait;       /* jobs that it waits for: the ones in batch.wait, and the caller's queue */
    uint32_t wait_count;
    uint32_t waits_given;         /* number of the caller's jobs in `wait` */
    caromi_job_listener *listens; /* list, under the queue's lock */
    void *event;                  /* of a command: the job ends with it; NULL: the job is a call */
    caromi_enqueued *enqueued;    /* the call whose last command has this event; NULL: it is an event of the caller */
    carom_progress progress;      /* the caller's function */
    uint64_t count;               /* queries */
    atomic_uint_fast64_t done;
    atomic_int is_cancelled;
    /* Under the queue's lock: */
    int has_ended;
    carom_status status;
    carom_error error;
    carom_stats stats;
};

/* Gives up a reference; returns whether it was the last. */
static inline int caromi_job_drop(carom_job *job)
{
    return atomic_fetch_sub(&job->references, 1) == 1;
}
/* Frees a job, which has no references any more. */
void caromi_job_end(carom_job *job);
static inline void caromi_job_release(carom_job *job)
{
    if (caromi_job_drop(job))
        caromi_job_end(job);
}

/* The lock of its context's queue. */
static inline void caromi_job_lock(const carom_job *job)
{
    (void)pthread_mutex_lock(&job->context->jobs->lock);
}
static inline void caromi_job_unlock(const carom_job *job)
{
    (void)pthread_mutex_unlock(&job->context->jobs->lock);
}

/* Waits for several jobs; fails with the first failure. waiting: the job that waits for them, which may be cancelled
 * meanwhile; NULL: a call. */
carom_status caromi_job_await_all(carom_job *const *wait, uint32_t count, const carom_job *waiting, carom_error *err);
/* Makes a job in a memory block of so many bytes. job_submit.c */
carom_status caromi_job_make(carom_context *context, size_t bytes, carom_job **out, carom_error *err);
#endif
