/* SPDX-License-Identifier: MIT */
#include "job.h"

#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "queue.h"

struct carom_job {
    caromi_task task;
    carom_context *context;
    pid_t process;          /* that has made it; a child of its may have a queue again */
    atomic_uint references; /* the caller's, the queue's, and those of jobs that wait for this one */
    caromi_call call;       /* of copies behind the job */
    carom_job **wait;
    uint32_t wait_count;
    carom_progress progress; /* the caller's */
    uint64_t count;
    atomic_uint_fast64_t done;
    atomic_int is_cancelled;
    /* Under the queue's lock: */
    int has_ended;
    carom_status status;
    carom_error error;
    carom_stats stats;
};

static int drop(carom_job *job)
{
    return atomic_fetch_sub(&job->references, 1) == 1;
}

static void release(carom_job *job);

static void end(carom_job *job)
{
    carom_context *context = job->context;
    for (uint32_t i = 0; i < job->wait_count; i++)
        release(job->wait[i]);
    caromi_free(context, job);
    caromi_context_release(context);
}

static void release(carom_job *job)
{
    if (drop(job))
        end(job);
}

/* ---- waiting ----------------------------------------------------------------------------------------------------- */

static void lock(const carom_job *job)
{
    (void)pthread_mutex_lock(&job->context->jobs->lock);
}

static void unlock(const carom_job *job)
{
    (void)pthread_mutex_unlock(&job->context->jobs->lock);
}

/* What has failed at first, where jobs wait for jobs that wait. */
static const char *cause(const carom_error *error)
{
    const char *behind = strstr(error->message, "] has failed: ");
    return behind != NULL && strncmp(error->message, "batch.wait[", 11) == 0 ? behind + 14 : error->message;
}

/* Until a job has ended, or the one that waits for it (NULL: a call) is cancelled. */
static carom_status await(carom_job *job, uint32_t place, const carom_job *waiting, carom_error *err)
{
    caromi_job_queue *q = job->context->jobs;
    lock(job);
    while (!job->has_ended && !(waiting != NULL && atomic_load(&waiting->is_cancelled)))
        (void)pthread_cond_wait(&q->ended, &q->lock);
    const carom_status status = job->has_ended ? job->status : CAROM_OK;
    unlock(job);
    return status == CAROM_OK ? CAROM_OK
                              : caromi_fail(err, status, job->error.native_code, "batch.wait[%u] has failed: %.200s",
                                            place, cause(&job->error));
}

static carom_status await_all(carom_job *const *wait, uint32_t count, const carom_job *waiting, carom_error *err)
{
    for (uint32_t i = 0; i < count; i++)
        CHECK(await(wait[i], i, waiting, err));
    return CAROM_OK;
}

static int is_elsewhere(const carom_job *job)
{
    return job->process != getpid();
}

static carom_status fail_elsewhere(carom_error *err)
{
    return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0,
                       "the job belongs to the process that has made it, not to a child of its");
}

static carom_status fail_own(carom_error *err)
{
    return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0,
                       "a function that a job calls cannot wait for a job of the same context");
}

static carom_status check_wait(const carom_batch *b, uint32_t i, carom_error *err)
{
    const carom_job *job = b->wait[i];
    if (job == NULL)
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "batch.wait[%u] is NULL", i);
    if (is_elsewhere(job))
        return fail_elsewhere(err);
    return b->job == NULL && caromi_queue_is_own_thread(job->context->jobs) ? fail_own(err) : CAROM_OK;
}

carom_status caromi_meet_jobs(const carom_batch *b, carom_error *err)
{
    if (b->wait_count > 0 && b->wait == NULL)
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "batch.wait is NULL, batch.wait_count is %u",
                           b->wait_count);
    for (uint32_t i = 0; i < b->wait_count; i++)
        CHECK(check_wait(b, i, err));
    return b->job == NULL ? await_all(b->wait, b->wait_count, NULL, err) : CAROM_OK;
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

static int on_progress(void *user, uint64_t done, uint64_t count)
{
    carom_job *job = user;
    const carom_progress *own = &job->progress;
    atomic_store(&job->done, done);
    const int enough = own->fn != NULL && own->fn(own->user, done, count) != 0;
    return enough || (done < count && atomic_load(&job->is_cancelled));
}

/* A chain of jobs, each of which waits for the one before, would else live until its last one ends. */
static void forget_waits(carom_job *job)
{
    lock(job);
    const uint32_t count = job->wait_count;
    job->wait_count = 0;
    unlock(job);
    for (uint32_t i = 0; i < count; i++)
        release(job->wait[i]);
}

/* Once all is there that the job waits for. */
static carom_status may_begin(carom_job *job, carom_error *err)
{
    const carom_status status = await_all(job->wait, job->wait_count, job, err);
    forget_waits(job);
    CHECK(status);
    return !atomic_load(&job->is_cancelled)
               ? CAROM_OK
               : caromi_fail(err, CAROM_ERROR_CANCELLED, 0, "cancelled before it began; nothing is answered");
}

static void run(caromi_task *task)
{
    carom_job *job = (carom_job *)(void *)task;
    carom_error error = {CAROM_OK, 0, ""};
    const caromi_call *c = &job->call;
    caromi_job_queue *q = job->context->jobs;
    carom_status status = may_begin(job, &error);
    const int has_begun = status == CAROM_OK;
    if (has_begun)
        status = c->call(c->subject, c->desc, c->out, c->which, c->stats, &error);
    const int has_stats = has_begun && (status == CAROM_OK || status == CAROM_ERROR_CANCELLED);
    lock(job);
    job->status = status;
    job->error = error;
    if (has_stats && c->stats != NULL)
        job->stats = *c->stats;
    job->has_ended = 1;
    const int is_last = drop(job); /* here, so that a program that has waited frees it by carom_job_destroy */
    (void)pthread_cond_broadcast(&q->ended);
    (void)pthread_mutex_unlock(&q->lock);
    if (is_last)
        end(job);
}

/* ---- making ------------------------------------------------------------------------------------------------------ */

enum { ALIGNMENT = 64 };

static size_t rounded(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static void *copy_to(char **at, const void *from, size_t bytes)
{
    char *to = *at;
    memcpy(to, from, bytes);
    *at += rounded(bytes);
    return to;
}

/* The job and all its copies are one block of memory. */
static carom_status make(carom_context *c, const caromi_call *call, carom_job **out, carom_error *err)
{
    const carom_batch *given = call->desc;
    const size_t waits = given->wait_count * sizeof(carom_job *);
    const size_t bytes = rounded(sizeof **out) + rounded(call->desc_size) + rounded(call->out_size) + rounded(waits);
    char *at = caromi_alloc(c, 1, bytes);
    carom_job *job = (carom_job *)(void *)at;
    if (at == NULL)
        return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory for a job (%zu bytes)", bytes);
    memset(at, 0, bytes);
    at += rounded(sizeof *job);
    job->task.run = run;
    job->context = c;
    job->process = getpid();
    atomic_fetch_add(&c->references, 1);
    atomic_init(&job->references, 2);
    job->call = *call;
    carom_batch *batch = copy_to(&at, call->desc, call->desc_size);
    job->call.desc = batch;
    if (call->out_size > 0)
        job->call.out = copy_to(&at, call->out, call->out_size);
    job->wait_count = given->wait_count;
    if (waits > 0)
        job->wait = copy_to(&at, given->wait, waits);
    for (uint32_t i = 0; i < job->wait_count; i++)
        atomic_fetch_add(&job->wait[i]->references, 1);
    job->progress = given->progress;
    job->count = given->count;
    atomic_init(&job->done, given->begin);
    atomic_init(&job->is_cancelled, 0);
    batch->progress = (carom_progress){on_progress, job};
    batch->job = NULL;
    batch->wait = NULL;
    batch->wait_count = 0;
    *out = job;
    return CAROM_OK;
}

carom_status caromi_submit(carom_context *c, const caromi_call *call, carom_error *err)
{
    const carom_batch *batch = call->desc;
    caromi_job_queue *q;
    carom_job *job = NULL;
    CHECK(caromi_queue_start(c, &q, err));
    CHECK(make(c, call, &job, err));
    *batch->job = job;
    caromi_queue_add(q, &job->task);
    return CAROM_OK;
}

/* ---- the program's side ------------------------------------------------------------------------------------------ */

/* When so many seconds from now are over; far ones are never. */
static struct timespec time_in(double seconds)
{
    struct timespec t;
    const double whole = floor(seconds);
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += (time_t)whole;
    t.tv_nsec += (long)(1e9 * (seconds - whole));
    if (t.tv_nsec >= 1000000000) {
        t.tv_sec++;
        t.tv_nsec -= 1000000000;
    }
    return t;
}

/* Whether the job has ended within the time; the lock is held. */
static int has_ended_in(const carom_job *job, double seconds)
{
    const double for_ever = 1e9;
    caromi_job_queue *q = job->context->jobs;
    const struct timespec end = time_in(seconds < for_ever ? seconds : for_ever);
    int error = 0;
    while (!job->has_ended && error == 0 && seconds > 0)
        error = seconds < for_ever ? pthread_cond_timedwait(&q->ended, &q->lock, &end)
                                   : pthread_cond_wait(&q->ended, &q->lock);
    return job->has_ended;
}

carom_status carom_job_wait(carom_job *job, double seconds, carom_error *err)
{
    CHECK_NOT_NULL(job, "job", err);
    if (!(seconds >= 0))
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "seconds is %g; it must be >= 0", seconds);
    if (is_elsewhere(job))
        return fail_elsewhere(err);
    if (seconds > 0 && caromi_queue_is_own_thread(job->context->jobs))
        return fail_own(err);
    lock(job);
    const int ended = has_ended_in(job, seconds);
    unlock(job);
    if (!ended)
        return caromi_fail(err, CAROM_ERROR_TIMEOUT, 0, "the job has not ended after %g s; it goes on", seconds);
    if (job->status != CAROM_OK && err != NULL)
        *err = job->error;
    return job->status;
}

/* One of those that the job waits for; NULL: there are no more. */
static carom_job *waited_for(const carom_job *job, uint32_t i)
{
    lock(job);
    carom_job *other = i < job->wait_count ? job->wait[i] : NULL;
    if (other != NULL)
        atomic_fetch_add(&other->references, 1);
    unlock(job);
    return other;
}

/* The job may be waiting for others. */
static void wake(const carom_job *job)
{
    carom_job *other;
    for (uint32_t i = 0; (other = waited_for(job, i)) != NULL; i++) {
        lock(other);
        (void)pthread_cond_broadcast(&other->context->jobs->ended);
        unlock(other);
        release(other);
    }
}

void carom_job_cancel(carom_job *job)
{
    if (job == NULL || is_elsewhere(job))
        return;
    const caromi_float_mode mode = caromi_float_mode_set();
    atomic_store(&job->is_cancelled, 1);
    wake(job);
    caromi_float_mode_restore(mode);
}

carom_status carom_job_get_info(const carom_job *job, carom_job_info *out, carom_error *err)
{
    CHECK_NOT_NULL(job, "job", err);
    CHECK_NOT_NULL(out, "out", err);
    CHECK(caromi_check_desc(out->size, sizeof *out, "carom_job_info", err));
    if (is_elsewhere(job))
        return fail_elsewhere(err);
    lock(job);
    *out = (carom_job_info){.size = sizeof *out,
                            .has_ended = (uint8_t)job->has_ended,
                            .status = job->status,
                            .done = atomic_load(&job->done),
                            .count = job->count,
                            .stats = job->stats};
    unlock(job);
    return CAROM_OK;
}

void carom_job_destroy(carom_job *job)
{
    if (job == NULL)
        return;
    const caromi_float_mode mode = caromi_float_mode_set();
    release(job);
    caromi_float_mode_restore(mode);
}
