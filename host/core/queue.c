/* SPDX-License-Identifier: MIT */
#include "queue.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cpu/threads/thread.h"
#include "device.h"

int caromi_queue_is_here(const caromi_job_queue *q)
{
    return q != NULL && q->process == getpid();
}

int caromi_queue_is_own_thread(const caromi_job_queue *q)
{
    return atomic_load_explicit(&q->has_thread, memory_order_acquire) && pthread_equal(pthread_self(), q->thread);
}

/* ---- the thread -------------------------------------------------------------------------------------------------- */

static void *run_tasks(void *user)
{
    caromi_job_queue *q = user;
    (void)caromi_float_mode_set();
    (void)pthread_mutex_lock(&q->lock);
    for (;;) {
        while (q->first == NULL && !q->closing)
            (void)pthread_cond_wait(&q->added, &q->lock);
        caromi_task *task = q->first;
        if (task == NULL)
            break;
        q->first = task->next;
        (void)pthread_mutex_unlock(&q->lock);
        task->run(task);
        (void)pthread_mutex_lock(&q->lock);
        if (--q->unfinished == 0)
            (void)pthread_cond_broadcast(&q->ended);
    }
    (void)pthread_mutex_unlock(&q->lock);
    return NULL;
}

/* ---- making and ending ------------------------------------------------------------------------------------------- */

/* Makes a condition whose timeouts use the monotonic clock. */
static int open_condition(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0)
        return 0;
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    const int opened = pthread_cond_init(condition, &attributes) == 0;
    (void)pthread_condattr_destroy(&attributes);
    return opened;
}

static int open_queue(caromi_job_queue *q)
{
    memset(q, 0, sizeof *q);
    if (pthread_mutex_init(&q->lock, NULL) != 0)
        return 0;
    if (open_condition(&q->added)) {
        if (open_condition(&q->ended)) {
            q->process = getpid();
            return 1;
        }
        (void)pthread_cond_destroy(&q->added);
    }
    (void)pthread_mutex_destroy(&q->lock);
    return 0;
}

void caromi_queue_adopt(carom_context *c)
{
    if (!caromi_queue_is_here(c->jobs) && open_queue(c->jobs))
        (void)pthread_mutex_init(&c->hooks.lock, NULL);
}

carom_status caromi_queue_make(carom_context *c, caromi_job_queue **out, carom_error *err)
{
    if (c->jobs == NULL) {
        caromi_job_queue *q = caromi_alloc(c, 1, sizeof *q);
        if (q == NULL)
            return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory for the queue of jobs (%zu bytes)",
                               sizeof *q);
        memset(q, 0, sizeof *q);
        c->jobs = q;
        c->hooks.adopt = caromi_queue_adopt;
    }
    caromi_queue_adopt(c);
    *out = c->jobs;
    return caromi_queue_is_here(c->jobs)
               ? CAROM_OK
               : caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "the system makes no lock for jobs");
}

carom_status caromi_queue_start(carom_context *c, caromi_job_queue **out, carom_error *err)
{
    CHECK(caromi_queue_make(c, out, err));
    caromi_job_queue *q = *out;
    if (atomic_load(&q->has_thread))
        return CAROM_OK;
    (void)pthread_mutex_lock(&q->lock); /* held until q->thread is set: the new thread needs it */
    const int started = caromi_thread_start(&q->thread, 0, run_tasks, q);
    atomic_store(&q->has_thread, started);
    (void)pthread_mutex_unlock(&q->lock);
    return started ? CAROM_OK : caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "the system starts no thread for jobs");
}

void caromi_queue_close(carom_context *c)
{
    caromi_job_queue *q = c->jobs;
    if (q == NULL)
        return;
    caromi_queue_adopt(c);
    if (caromi_queue_is_here(q)) {
        (void)pthread_mutex_lock(&q->lock);
        q->closing = 1;
        (void)pthread_cond_broadcast(&q->added);
        (void)pthread_mutex_unlock(&q->lock);
        if (atomic_load(&q->has_thread))
            (void)pthread_join(q->thread, NULL);
        (void)pthread_cond_destroy(&q->ended);
        (void)pthread_cond_destroy(&q->added);
        (void)pthread_mutex_destroy(&q->lock);
    }
    c->hooks.adopt = NULL;
    c->jobs = NULL;
    caromi_free(c, q);
}

/* ---- tasks ------------------------------------------------------------------------------------------------------- */

void caromi_queue_add(caromi_job_queue *q, caromi_task *task)
{
    task->next = NULL;
    (void)pthread_mutex_lock(&q->lock);
    if (q->first == NULL)
        q->first = task;
    else
        q->last->next = task;
    q->last = task;
    q->unfinished++;
    (void)pthread_cond_signal(&q->added);
    (void)pthread_mutex_unlock(&q->lock);
}

/* Whether the present thread works for the running call, as the threads of devices do: the call has waited already. */
static int works_for(const carom_context *c)
{
    return caromi_queue_is_own_thread(c->jobs) || caromi_pool_is_worker(c->device_pool);
}

void caromi_finish_jobs(const carom_context *c)
{
    caromi_job_queue *q = c->jobs;
    if (!caromi_queue_is_here(q) || works_for(c))
        return;
    (void)pthread_mutex_lock(&q->lock);
    while (q->unfinished > 0)
        (void)pthread_cond_wait(&q->ended, &q->lock);
    (void)pthread_mutex_unlock(&q->lock);
}

carom_status caromi_await_turn(const carom_context *c, carom_error *err)
{
    caromi_finish_jobs(c);
    return c->shared != NULL && !works_for(c) ? caromi_driver.shared_await(c, err) : CAROM_OK;
}

int caromi_leave_to_jobs(const carom_context *c, caromi_task *task)
{
    caromi_job_queue *q = c->jobs;
    if (!caromi_queue_is_here(q) || works_for(c))
        return 0;
    if (c->is_destroyed) { /* the task's object may hold the last reference to the context, which this thread must free
                              then */
        caromi_finish_jobs(c);
        return 0;
    }
    (void)pthread_mutex_lock(&q->lock);
    const int busy = q->unfinished > 0;
    (void)pthread_mutex_unlock(&q->lock);
    if (busy)
        caromi_queue_add(q, task);
    return busy;
}
