/* SPDX-License-Identifier: MIT */
#include "queue.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cpu/threads/thread.h"
#include "device.h"

int caromi_queue_is_here(const caromi_job_queue *queue)
{
    return queue != NULL && queue->process == getpid();
}

int caromi_queue_is_own_thread(const caromi_job_queue *queue)
{
    return atomic_load_explicit(&queue->has_thread, memory_order_acquire) &&
           pthread_equal(pthread_self(), queue->thread);
}

/* ---- the thread -------------------------------------------------------------------------------------------------- */

/* The queue's thread: runs tasks in order until the queue is closed. */
static void *run_tasks(void *user)
{
    caromi_job_queue *queue = user;
    (void)caromi_float_mode_set();
    (void)pthread_mutex_lock(&queue->lock);
    for (;;) {
        while (queue->first == NULL && !queue->closing)
            (void)pthread_cond_wait(&queue->added, &queue->lock);
        caromi_task *task = queue->first;
        if (task == NULL)
            break;
        queue->first = task->next;
        (void)pthread_mutex_unlock(&queue->lock);
        task->run(task);
        (void)pthread_mutex_lock(&queue->lock);
        if (--queue->unfinished == 0)
            (void)pthread_cond_broadcast(&queue->ended);
    }
    (void)pthread_mutex_unlock(&queue->lock);
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

/* Initializes the lock and the conditions. Returns 0 if the system lacks memory. */
static int open_queue(caromi_job_queue *queue)
{
    memset(queue, 0, sizeof *queue);
    if (pthread_mutex_init(&queue->lock, NULL) != 0)
        return 0;
    if (open_condition(&queue->added)) {
        if (open_condition(&queue->ended)) {
            queue->process = getpid();
            return 1;
        }
        (void)pthread_cond_destroy(&queue->added);
    }
    (void)pthread_mutex_destroy(&queue->lock);
    return 0;
}

/* In a fork()ed child: makes the queue and the lock of the allocator hooks anew. */
void caromi_queue_adopt(carom_context *context)
{
    if (!caromi_queue_is_here(context->jobs) && open_queue(context->jobs))
        (void)pthread_mutex_init(&context->hooks.lock, NULL);
}

/* Makes the context's queue, without a thread, if it has none. */
carom_status caromi_queue_make(carom_context *context, caromi_job_queue **out, carom_error *err)
{
    if (context->jobs == NULL) {
        caromi_job_queue *queue = caromi_alloc(context, 1, sizeof *queue);
        if (queue == NULL)
            return caromi_fail_memory(err, "no memory for the queue of jobs (%zu bytes)", sizeof *queue);
        memset(queue, 0, sizeof *queue);
        context->jobs = queue;
        context->hooks.adopt = caromi_queue_adopt;
    }
    caromi_queue_adopt(context);
    *out = context->jobs;
    return caromi_queue_is_here(context->jobs) ? CAROM_OK
                                               : caromi_fail_memory(err, "the system makes no lock for jobs");
}

/* Starts the queue's thread, if it has none. */
carom_status caromi_queue_start(carom_context *context, caromi_job_queue **out, carom_error *err)
{
    CHECK(caromi_queue_make(context, out, err));
    caromi_job_queue *queue = *out;
    if (atomic_load(&queue->has_thread))
        return CAROM_OK;
    (void)pthread_mutex_lock(&queue->lock); /* held until queue->thread is set: the new thread needs it */
    const int started = caromi_thread_start(&queue->thread, 0, run_tasks, queue);
    atomic_store(&queue->has_thread, started);
    (void)pthread_mutex_unlock(&queue->lock);
    return started ? CAROM_OK : caromi_fail_memory(err, "the system starts no thread for jobs");
}

/* Ends the thread after its last task, and frees the queue. */
void caromi_queue_close(carom_context *context)
{
    caromi_job_queue *queue = context->jobs;
    if (queue == NULL)
        return;
    caromi_queue_adopt(context);
    if (caromi_queue_is_here(queue)) {
        (void)pthread_mutex_lock(&queue->lock);
        queue->closing = 1;
        (void)pthread_cond_broadcast(&queue->added);
        (void)pthread_mutex_unlock(&queue->lock);
        if (atomic_load(&queue->has_thread))
            (void)pthread_join(queue->thread, NULL);
        (void)pthread_cond_destroy(&queue->ended);
        (void)pthread_cond_destroy(&queue->added);
        (void)pthread_mutex_destroy(&queue->lock);
    }
    context->hooks.adopt = NULL;
    context->jobs = NULL;
    caromi_free(context, queue);
}

/* ---- tasks ------------------------------------------------------------------------------------------------------- */

/* Appends a task. */
void caromi_queue_add(caromi_job_queue *queue, caromi_task *task)
{
    task->next = NULL;
    (void)pthread_mutex_lock(&queue->lock);
    if (queue->first == NULL)
        queue->first = task;
    else
        queue->last->next = task;
    queue->last = task;
    queue->unfinished++;
    (void)pthread_cond_signal(&queue->added);
    (void)pthread_mutex_unlock(&queue->lock);
}

/* Whether the present thread works for the running call, as the threads of devices do: the call has waited already. */
static int works_for(const carom_context *context)
{
    return caromi_queue_is_own_thread(context->jobs) || caromi_pool_is_worker(context->device_pool);
}

/* Waits until all tasks have ended. */
void caromi_finish_jobs(const carom_context *context)
{
    caromi_job_queue *queue = context->jobs;
    if (!caromi_queue_is_here(queue) || works_for(context))
        return;
    (void)pthread_mutex_lock(&queue->lock);
    while (queue->unfinished > 0)
        (void)pthread_cond_wait(&queue->ended, &queue->lock);
    (void)pthread_mutex_unlock(&queue->lock);
}

carom_status caromi_await_turn(const carom_context *context, carom_error *err)
{
    if (context->enqueued != NULL) /* the device keeps the order */
        return CAROM_OK;
    caromi_finish_jobs(context);
    return context->shared != NULL && !works_for(context) ? caromi_driver.shared_await(context, err) : CAROM_OK;
}

/* Whether a call is enqueued in the caller's queue. Only if no task runs: its thread may look at these calls too. */
static int has_enqueued(const carom_context *context)
{
    return context->shared != NULL && caromi_driver.enqueued_in_flight(context);
}

void caromi_finish_enqueued(const carom_context *context)
{
    if (context->shared != NULL)
        caromi_driver.enqueued_finish(context);
}

int caromi_queue_is_busy(caromi_job_queue *queue)
{
    (void)pthread_mutex_lock(&queue->lock);
    const int busy = queue->unfinished > 0;
    (void)pthread_mutex_unlock(&queue->lock);
    return busy;
}

/* Appends a task if others are running; else the caller runs it itself. */
int caromi_leave_to_jobs(carom_context *context, caromi_task *task)
{
    caromi_job_queue *queue = context->jobs;
    if (!caromi_queue_is_here(queue) || works_for(context))
        return 0;
    if (context->is_destroyed) { /* the task's object may hold the last reference to the context, which this thread must
                              free then */
        caromi_finish_jobs(context);
        return 0;
    }
    if (!caromi_queue_is_busy(queue) &&
        !(has_enqueued(context) && caromi_queue_start(context, &queue, NULL) == CAROM_OK))
        return 0;
    caromi_queue_add(queue, task);
    return 1;
}
