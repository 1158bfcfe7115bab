/* SPDX-License-Identifier: MIT */
/* How a call becomes a job: a copy of its arguments, which the context's thread runs, or commands in the caller's
 * queue. */
#include <string.h>

#include "device.h"
#include "job_state.h"

/* ---- running ----------------------------------------------------------------------------------------------------- */

/* The progress function of every job: calls the caller's, and cancels the job if that is asked for. */
static int on_progress(void *user, uint64_t done, uint64_t count)
{
    carom_job *job = user;
    const carom_progress *own = &job->progress;
    atomic_store(&job->done, done);
    const int enough = own->fn != NULL && own->fn(own->user, done, count) != 0;
    return enough || (done < count && atomic_load(&job->is_cancelled));
}

/* Releases the jobs that a job has waited for. Otherwise a chain of jobs would live until its last one ends. */
static void forget_waits(carom_job *job)
{
    caromi_job_lock(job);
    const uint32_t count = job->wait_count;
    job->wait_count = 0;
    caromi_job_unlock(job);
    for (uint32_t i = 0; i < count; i++)
        caromi_job_release(job->wait[i]);
}

/* Waits for everything that a job depends on. Even if one of these has failed, it waits for the caller's queue to reach
 * the job: later commands of the queue must not overtake earlier ones, and the queue may be out of order. */
static carom_status may_begin(carom_job *job, carom_error *err)
{
    const carom_status status = caromi_job_await_all(job->wait, job->wait_count, job, err);
    if (status != CAROM_OK)
        (void)caromi_job_await_all(job->wait + job->waits_given, job->wait_count - job->waits_given, NULL, NULL);
    forget_waits(job);
    CHECK(status);
    return !atomic_load(&job->is_cancelled) ? CAROM_OK
                                            : caromi_fail(err, CAROM_ERROR_CANCELLED, CAROMI_NO_NATIVE_CODE,
                                                          "cancelled before it began; nothing is answered");
}

/* Calls all listeners of a job that has ended. */
static void notify(caromi_job_listener *next, carom_status status)
{
    while (next != NULL) {
        caromi_job_listener *listener = next;
        next = listener->next;
        listener->hear(listener, status);
    }
}

/* Marks a job as ended. The queue's reference is released first, so that a program which has waited for the job frees
 * it by carom_job_destroy. */
static void set_ended(carom_job *job, carom_status status, const carom_error *error, const carom_stats *stats)
{
    caromi_job_queue *queue = job->context->jobs;
    (void)pthread_mutex_lock(&queue->lock);
    job->status = status;
    job->error = *error;
    if (stats != NULL)
        job->stats = *stats;
    job->has_ended = 1;
    caromi_job_listener *listeners = job->listens;
    job->listens = NULL;
    const int is_last = caromi_job_drop(job);
    (void)pthread_cond_broadcast(&queue->ended);
    (void)pthread_mutex_unlock(&queue->lock);
    notify(listeners, status);
    if (is_last)
        caromi_job_end(job);
}

/* Runs a job, on the queue's thread. */
static void run(caromi_task *task)
{
    carom_job *job = (carom_job *)(void *)task;
    const caromi_call *call = &job->call;
    carom_error error = {CAROM_OK, 0, ""};
    carom_status status = may_begin(job, &error);
    const int has_begun = status == CAROM_OK;
    if (has_begun)
        status = call->call(call->subject, call->desc, call->out, call->which, call->stats, &error);
    const int has_stats = has_begun && (status == CAROM_OK || status == CAROM_ERROR_CANCELLED);
    set_ended(job, status, &error, has_stats ? call->stats : NULL);
}

/* ---- making ------------------------------------------------------------------------------------------------------ */

enum { ALIGNMENT = 64 };

static size_t rounded(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Copies an argument into the job's memory block; *at moves behind the copy. */
static void *copy_to(char **at, const void *from, size_t bytes)
{
    char *to = *at;
    memcpy(to, from, bytes);
    *at += rounded(bytes);
    return to;
}

carom_status caromi_job_make(carom_context *context, size_t bytes, carom_job **out, carom_error *err)
{
    carom_job *job = caromi_alloc(context, 1, bytes);
    if (job == NULL)
        return caromi_fail_memory(err, "no memory for a job (%zu bytes)", bytes);
    memset(job, 0, bytes);
    job->context = context;
    job->process = getpid();
    atomic_fetch_add(&context->references, 1);
    atomic_init(&job->references, 1);
    atomic_init(&job->done, 0);
    atomic_init(&job->is_cancelled, 0);
    *out = job;
    return CAROM_OK;
}

/* Makes a job for a call. The job and the copies of its arguments are one memory block. */
static carom_status make(carom_context *context, const caromi_call *call, carom_job **out, carom_error *err)
{
    const carom_batch *given = call->desc;
    const size_t waits = ((size_t)given->wait_count + 1) * sizeof(carom_job *);
    const size_t bytes = rounded(sizeof **out) + rounded(call->desc_size) + rounded(call->out_size) + rounded(waits);
    carom_job *job = NULL;
    CHECK(caromi_job_make(context, bytes, &job, err));
    /* Copies of the arguments lie behind the job, and then the list of jobs that it waits for. */
    char *at = (char *)job + rounded(sizeof *job);
    job->task.run = run;
    job->call = *call;
    carom_batch *batch = copy_to(&at, call->desc, call->desc_size);
    job->call.desc = batch;
    if (call->out_size > 0)
        job->call.out = copy_to(&at, call->out, call->out_size);
    job->wait = (carom_job **)(void *)at;
    job->wait_count = job->waits_given = given->wait_count;
    for (uint32_t i = 0; i < job->wait_count; i++) {
        job->wait[i] = given->wait[i];
        atomic_fetch_add(&job->wait[i]->references, 1);
    }
    /* The copied batch is an ordinary call, which waits for nothing. */
    job->progress = given->progress;
    job->count = given->count;
    atomic_store(&job->done, given->begin);
    batch->job = NULL;
    batch->wait = NULL;
    batch->wait_count = 0;
    *out = job;
    return CAROM_OK;
}

/* ---- calls in the caller's queue --------------------------------------------------------------------------------- */

enum { WAITS_MAX = 16 };
/* The events that a call has to wait for. Returns 0 if it waits for more than commands of the caller's OpenCL. */
static int events_of(const carom_job *job, void **events)
{
    for (uint32_t i = 0; i < job->wait_count; i++) {
        const carom_job *other = job->wait[i];
        if (i == WAITS_MAX || other->event == NULL || !caromi_driver.event_serves(job->context, other->event) ||
            (other->enqueued != NULL && !caromi_driver.enqueued_is_settled(other->enqueued)))
            return 0;
        events[i] = other->event;
    }
    return 1;
}

/* Whether a device may answer a call without the host. */
static int may_enqueue(const carom_context *context, const carom_job *job)
{
    const carom_batch *batch = job->call.desc;
    return job->call.enqueues && batch->accuracy == CAROM_ACCURACY_FAST && !batch->prepare &&
           batch->progress.fn == NULL && context->shared != NULL && context->device_count == 1 &&
           !caromi_queue_is_busy(context->jobs);
}

/* Enqueues a call in the caller's queue, if its arrays are on the device and nothing has to be built for it. The job is
 * one of the last command's event then. Returns whether. */
static int enqueue(carom_context *context, carom_job *job)
{
    const caromi_call *call = &job->call;
    void *events[WAITS_MAX];
    if (!may_enqueue(context, job) || !events_of(job, events) ||
        !caromi_driver.enqueue_begin(context, events, job->wait_count))
        return 0;
    if (call->stats != NULL)
        job->stats.size = sizeof job->stats;
    const carom_status status =
        call->call(call->subject, call->desc, call->out, call->which, call->stats != NULL ? &job->stats : NULL, NULL);
    job->enqueued = caromi_driver.enqueue_end(context, status);
    if (job->enqueued == NULL)
        return 0;
    job->event = caromi_driver.enqueued_event(job->enqueued);
    job->stats.total = job->stats.host = 0; /* the host does not wait, so it knows no times */
    if (call->stats != NULL)
        *call->stats = job->stats;
    forget_waits(job);
    return 1;
}

/* Leaves a job to the context's thread; *out is set before it can run. */
static carom_status add(carom_context *context, carom_job *job, carom_job **out, carom_error *err)
{
    caromi_job_queue *queue;
    union {
        const void *given;
        carom_batch *copy; /* the job's own */
    } batch = {job->call.desc};
    batch.copy->progress = (carom_progress){on_progress, job};
    job->stats = (carom_stats){0};
    CHECK(caromi_queue_start(context, &queue, err));
    if (context->shared != NULL)
        CHECK(caromi_driver.shared_enter(context, job, err));
    atomic_fetch_add(&job->references, 1); /* for the queue */
    *out = job;
    caromi_queue_add(queue, &job->task);
    return CAROM_OK;
}

/* Makes a job of a call, in the caller's queue or in the context's. */
carom_status caromi_submit(carom_context *context, const caromi_call *call, carom_error *err)
{
    const carom_batch *batch = call->desc;
    caromi_job_queue *queue; /* for its lock */
    carom_job *job = NULL;
    CHECK(caromi_queue_make(context, &queue, err));
    CHECK(make(context, call, &job, err));
    if (enqueue(context, job)) {
        *batch->job = job;
        return CAROM_OK;
    }
    const carom_status status = add(context, job, batch->job, err);
    if (status != CAROM_OK) {
        notify(job->listens, CAROM_OK); /* the caller's queue continues */
        caromi_job_release(job);
    }
    return status;
}
