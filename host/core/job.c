/* SPDX-License-Identifier: MIT */
/* Jobs as the program and other jobs see them: waiting for them, cancelling, their state and their end. job_submit.c
 * makes and runs them. */
#include <math.h>
#include <string.h>
#include <time.h>

#include "checks.h"
#include "device.h"
#include "job_state.h"

/* Frees a job, which has no references any more. */
void caromi_job_end(carom_job *job)
{
    carom_context *context = job->context;
    for (uint32_t i = 0; i < job->wait_count; i++)
        caromi_job_release(job->wait[i]);
    if (job->enqueued != NULL)
        caromi_driver.enqueued_release(job->enqueued);
    else
        caromi_driver.event_release(context, job->event);
    caromi_free(context, job);
    caromi_context_release(context);
}

/* ---- waiting ----------------------------------------------------------------------------------------------------- */

/* The first cause in a message, where jobs wait for jobs that wait. */
static const char *cause(const carom_error *error)
{
    const char *separator = "] has failed: ", *behind = strstr(error->message, separator);
    return behind != NULL && strncmp(error->message, "batch.wait[", strlen("batch.wait[")) == 0
               ? behind + strlen(separator)
               : error->message;
}

/* Waits at most so many seconds for the job of an event. */
static carom_status await_event(const carom_job *job, double seconds, carom_error *err)
{
    return job->enqueued != NULL ? caromi_driver.enqueued_wait(job->enqueued, seconds, err)
                                 : caromi_driver.event_wait(job->event, seconds, err);
}

/* Waits until a job has ended, or until the waiting job (NULL: a call) is cancelled. */
static carom_status await(carom_job *job, const carom_job *waiting, carom_error *err)
{
    caromi_job_queue *queue = job->context->jobs;
    if (job->event != NULL)
        return await_event(job, (double)INFINITY, err);
    caromi_job_lock(job);
    while (!job->has_ended && !(waiting != NULL && atomic_load(&waiting->is_cancelled)))
        (void)pthread_cond_wait(&queue->ended, &queue->lock);
    const carom_status status = job->has_ended ? job->status : CAROM_OK;
    if (status != CAROM_OK && err != NULL)
        *err = job->error;
    caromi_job_unlock(job);
    return status;
}

carom_status caromi_job_await_all(carom_job *const *wait, uint32_t count, const carom_job *waiting, carom_error *err)
{
    for (uint32_t i = 0; i < count; i++) {
        carom_error why = {CAROM_OK, 0, ""};
        const carom_status status = await(wait[i], waiting, &why);
        /* Behind batch.wait comes the caller's queue, which has a message of its own. */
        if (status != CAROM_OK && waiting != NULL && i >= waiting->waits_given)
            return caromi_fail(err, status, why.native_code, "%s", why.message);
        if (status != CAROM_OK)
            return caromi_fail(err, status, why.native_code, "batch.wait[%u] has failed: %.200s", i, cause(&why));
    }
    return CAROM_OK;
}

/* Whether this is a fork()ed child of the process that made the job. */
static int is_elsewhere(const carom_job *job)
{
    return job->process != getpid();
}

static carom_status fail_elsewhere(carom_error *err)
{
    return caromi_fail_argument(err, "the job belongs to the process that has made it, not to a child of its");
}

static carom_status fail_own(carom_error *err)
{
    return caromi_fail_argument(err, "a function that a job calls cannot wait for a job of the same context");
}

static carom_status check_wait(const carom_batch *batch, uint32_t i, carom_error *err)
{
    const carom_job *job = batch->wait[i];
    if (job == NULL)
        return caromi_fail_argument(err, "batch.wait[%u] is NULL", i);
    if (is_elsewhere(job))
        return fail_elsewhere(err);
    return batch->job == NULL && caromi_queue_is_own_thread(job->context->jobs) ? fail_own(err) : CAROM_OK;
}

/* Checks batch.wait. A call waits for these jobs now; a job waits for them when it runs. */
static carom_status meet(const carom_batch *batch, carom_error *err)
{
    if (batch->wait_count > 0 && batch->wait == NULL)
        return caromi_fail_argument(err, "batch.wait is NULL, batch.wait_count is %u", batch->wait_count);
    for (uint32_t i = 0; i < batch->wait_count; i++)
        CHECK(check_wait(batch, i, err));
    return batch->job == NULL ? caromi_job_await_all(batch->wait, batch->wait_count, NULL, err) : CAROM_OK;
}

carom_status caromi_meet_jobs(const carom_batch *batch, carom_error *err)
{
    IN_FLOAT_MODE(meet(batch, err));
}

/* ---- for events of OpenCL ---------------------------------------------------------------------------------------- */

carom_status caromi_job_of_event(carom_context *context, void *event, carom_job **out, carom_error *err)
{
    caromi_job_queue *queue; /* for its lock */
    CHECK(caromi_queue_make(context, &queue, err));
    CHECK(caromi_job_make(context, sizeof **out, out, err));
    (*out)->event = event;
    return CAROM_OK;
}

void *caromi_job_event(const carom_job *job)
{
    return job->event;
}

void caromi_job_begin_after(carom_job *job, carom_job *other)
{
    job->wait[job->wait_count++] = other;
}

/* Adds a listener, or calls it at once if the job has ended. */
void caromi_job_listen(carom_job *job, caromi_job_listener *listener)
{
    caromi_job_lock(job);
    const int ended = job->has_ended;
    if (!ended) {
        listener->next = job->listens;
        job->listens = listener;
    }
    caromi_job_unlock(job);
    if (ended)
        listener->hear(listener, job->status);
}

carom_context *caromi_job_context(const carom_job *job)
{
    return job->context;
}

/* ---- public functions -------------------------------------------------------------------------------------------- */

/* The time in so many seconds, limited to the far future. */
static struct timespec time_in(double seconds)
{
    struct timespec time;
    const double whole_seconds = floor(seconds);
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    time.tv_sec += (time_t)whole_seconds;
    time.tv_nsec += (long)(1e9 * (seconds - whole_seconds));
    if (time.tv_nsec >= 1000000000) {
        time.tv_sec++;
        time.tv_nsec -= 1000000000;
    }
    return time;
}

/* Waits at most so many seconds; returns whether the job has ended. The lock is held. */
static int has_ended_in(const carom_job *job, double seconds)
{
    const double for_ever = 1e9;
    caromi_job_queue *queue = job->context->jobs;
    const struct timespec end = time_in(seconds < for_ever ? seconds : for_ever);
    int error = 0;
    while (!job->has_ended && error == 0 && seconds > 0)
        error = seconds < for_ever ? pthread_cond_timedwait(&queue->ended, &queue->lock, &end)
                                   : pthread_cond_wait(&queue->ended, &queue->lock);
    return job->has_ended;
}

/* The error of carom_job_wait for a job that is still running. */
carom_status caromi_fail_running(double seconds, carom_error *err)
{
    return caromi_fail(err, CAROM_ERROR_TIMEOUT, CAROMI_NO_NATIVE_CODE, "the job has not ended after %g s; it goes on",
                       seconds);
}

/* Waits at most so many seconds for a job. */
static carom_status wait_for(carom_job *job, double seconds, carom_error *err)
{
    CHECK_NOT_NULL(job, "job", err);
    if (!(seconds >= 0))
        return caromi_fail_argument(err, "seconds is %g; it must be >= 0", seconds);
    if (is_elsewhere(job))
        return fail_elsewhere(err);
    if (job->event != NULL)
        return await_event(job, seconds, err);
    if (seconds > 0 && caromi_queue_is_own_thread(job->context->jobs))
        return fail_own(err);
    caromi_job_lock(job);
    const int ended = has_ended_in(job, seconds);
    caromi_job_unlock(job);
    if (!ended)
        return caromi_fail_running(seconds, err);
    if (job->status != CAROM_OK && err != NULL)
        *err = job->error;
    return job->status;
}

carom_status carom_job_wait(carom_job *job, double seconds, carom_error *err)
{
    IN_FLOAT_MODE(wait_for(job, seconds, err));
}

/* Job number i that the job waits for; NULL: there are no more. */
static carom_job *waited_for(const carom_job *job, uint32_t i)
{
    caromi_job_lock(job);
    carom_job *other = i < job->wait_count ? job->wait[i] : NULL;
    if (other != NULL)
        atomic_fetch_add(&other->references, 1);
    caromi_job_unlock(job);
    return other;
}

/* Wakes a job that may be waiting for others, after it was cancelled. */
static void wake(const carom_job *job)
{
    carom_job *other;
    for (uint32_t i = 0; (other = waited_for(job, i)) != NULL; i++) {
        caromi_job_lock(other);
        (void)pthread_cond_broadcast(&other->context->jobs->ended);
        caromi_job_unlock(other);
        caromi_job_release(other);
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

/* Fills in the state of a job. */
static carom_status get_info(const carom_job *job, carom_job_info *out, carom_error *err)
{
    CHECK_NOT_NULL(job, "job", err);
    CHECK_NOT_NULL(out, "out", err);
    CHECK(caromi_check_desc(out->size, sizeof *out, "carom_job_info", err));
    if (is_elsewhere(job))
        return fail_elsewhere(err);
    /* The state of an event's job is the event's. */
    if (job->event != NULL) {
        const carom_status status = await_event(job, 0, NULL);
        const int has_ended = status != CAROM_ERROR_TIMEOUT;
        *out = (carom_job_info){.size = sizeof *out,
                                .has_ended = (uint8_t)has_ended,
                                .status = has_ended ? status : CAROM_OK,
                                .done = status == CAROM_OK ? job->count : 0,
                                .count = job->count};
        if (status == CAROM_OK)
            out->stats = job->stats;
        return CAROM_OK;
    }
    caromi_job_lock(job);
    *out = (carom_job_info){.size = sizeof *out,
                            .has_ended = (uint8_t)job->has_ended,
                            .status = job->status,
                            .done = atomic_load(&job->done),
                            .count = job->count,
                            .stats = job->stats};
    caromi_job_unlock(job);
    return CAROM_OK;
}

carom_status carom_job_get_info(const carom_job *job, carom_job_info *out, carom_error *err)
{
    IN_FLOAT_MODE(get_info(job, out, err));
}

void carom_job_destroy(carom_job *job)
{
    if (job == NULL)
        return;
    const caromi_float_mode mode = caromi_float_mode_set();
    caromi_job_release(job);
    caromi_float_mode_restore(mode);
}
