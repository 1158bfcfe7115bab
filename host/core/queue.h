/* SPDX-License-Identifier: MIT */
/* The queue of a context's own thread. Its tasks run one after the other: jobs, and the destruction of meshes and
 * buffers that jobs may still use. The thread starts with the first task. */
#ifndef CAROM_HOST_CORE_QUEUE_H
#define CAROM_HOST_CORE_QUEUE_H
#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "context.h"

typedef struct caromi_job_queue {
    pthread_mutex_t lock;
    pthread_cond_t added, ended; /* signalled when a task is added; when a task or a job has ended */
    caromi_task *first, *last;
    uint64_t unfinished; /* number of tasks that have not ended */
    int closing;
    atomic_int has_thread; /* set after `thread`, which any thread may read then */
    pthread_t thread;
    pid_t process; /* process of the thread: a fork()ed child has the memory, but not the thread */
} caromi_job_queue;

/* In a fork()ed child: makes the queue and the lock of the allocator hooks anew. The child has a copy of the parent's
 * queue without its thread, and a lock that the thread held is never released. */
void caromi_queue_adopt(carom_context *context);
/* The context's queue, made at its first use; in a child process a new, empty one. */
carom_status caromi_queue_make(carom_context *context, caromi_job_queue **out, carom_error *err);
/* The same, and starts its thread. */
carom_status caromi_queue_start(carom_context *context, caromi_job_queue **out, carom_error *err);
void caromi_queue_add(caromi_job_queue *queue, caromi_task *task);
/* Whether a task has not ended. */
int caromi_queue_is_busy(caromi_job_queue *queue);
/* Whether the queue is this process's, and whether this is its thread. */
int caromi_queue_is_here(const caromi_job_queue *queue);
int caromi_queue_is_own_thread(const caromi_job_queue *queue);
/* Ends the idle thread, and frees the queue. */
void caromi_queue_close(carom_context *context);
#endif
