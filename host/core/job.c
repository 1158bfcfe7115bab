/* SPDX-License-Identifier: MIT */
#include "job.h"

#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "checks.h"
#include "device.h"
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
static int drop(carom_job *job)
{
    return atomic_fetch_sub(&job->references, 1) == 1;
}

static void release(carom_job *job);

/* Frees a job, which has no references any more. */
static void end(carom_job *job)
{
    carom_context *context = job->context;
    for (uint32_t i = 0; i < job->wait_count; i++)
        release(job->wait[i]);
    if (job->enqueued != NULL)
        caromi_driver.enqueued_release(job->enqueued);
    else
        caromi_driver.event_release(context, job->event);
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
    lock(job);
    while (!job->has_ended && !(waiting != NULL && atomic_load(&waiting->is_cancelled)))
        (void)pthread_cond_wait(&queue->ended, &queue->lock);
    const carom_status status = job->has_ended ? job->status : CAROM_OK;
    if (status != CAROM_OK && err != NULL)
        *err = job->error;
    unlock(job);
    return status;
}

/* Waits for several jobs; fails with the first failure. `waiting`: as in await(). */
static carom_status await_all(carom_job *const *wait, uint32_t count, const carom_job *waiting, carom_error *err)
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
    return batch->job == NULL ? await_all(batch->wait, batch->wait_count, NULL, err) : CAROM_OK;
}

carom_status caromi_meet_jobs(const carom_batch *batch, carom_error *err)
{
    IN_FLOAT_MODE(meet(batch, err));
}

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
    lock(job);
    const uint32_t count = job->wait_count;
    job->wait_count = 0;
    unlock(job);
    for (uint32_t i = 0; i < count; i++)
        release(job->wait[i]);
}

/* Waits for everything that a job depends on. Even if one of these has failed, it waits for the caller's queue to reach
 * the job: later commands of the queue must not overtake earlier ones, and the queue may be out of order. */
static carom_status may_begin(carom_job *job, carom_error *err)
{
    const carom_status status = await_all(job->wait, job->wait_count, job, err);
    if (status != CAROM_OK)
        (void)await_all(job->wait + job->waits_given, job->wait_count - job->waits_given, NULL, NULL);
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
    const int is_last = drop(job);
    (void)pthread_cond_broadcast(&queue->ended);
    (void)pthread_mutex_unlock(&queue->lock);
    notify(listeners, status);
    if (is_last)
        end(job);
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

/* Makes a job in a memory block of so many bytes. */
static carom_status make_block(carom_context *context, size_t bytes, carom_job **out, carom_error *err)
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
    CHECK(make_block(context, bytes, &job, err));
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
        release(job);
    }
    return status;
}

/* ---- for events of OpenCL ---------------------------------------------------------------------------------------- */

carom_status caromi_job_of_event(carom_context *context, void *event, carom_job **out, carom_error *err)
{
    caromi_job_queue *queue; /* for its lock */
    CHECK(caromi_queue_make(context, &queue, err));
    CHECK(make_block(context, sizeof **out, out, err));
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
    lock(job);
    const int ended = job->has_ended;
    if (!ended) {
        listener->next = job->listens;
        job->listens = listener;
    }
    unlock(job);
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
    lock(job);
    const int ended = has_ended_in(job, seconds);
    unlock(job);
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
    lock(job);
    carom_job *other = i < job->wait_count ? job->wait[i] : NULL;
    if (other != NULL)
        atomic_fetch_add(&other->references, 1);
    unlock(job);
    return other;
}

/* Wakes a job that may be waiting for others, after it was cancelled. */
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

carom_status carom_job_get_info(const carom_job *job, carom_job_info *out, carom_error *err)
{
    IN_FLOAT_MODE(get_info(job, out, err));
}

void carom_job_destroy(carom_job *job)
{
    if (job == NULL)
        return;
    const caromi_float_mode mode = caromi_float_mode_set();
    release(job);
    caromi_float_mode_restore(mode);
}
