/* SPDX-License-Identifier: MIT */
/* What a context's own thread does for the program, one task after the other: the calls that are jobs, and the ends of
 * meshes and buffers that such calls may still use. The thread starts with the first task. */
#ifndef CAROM_HOST_CORE_QUEUE_H
#define CAROM_HOST_CORE_QUEUE_H
#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "context.h"

typedef struct caromi_job_queue {
    pthread_mutex_t lock;
    pthread_cond_t added, ended; /* a task; a task, or a job of the context */
    caromi_task *first, *last;
    uint64_t unfinished; /* tasks that were added and have not ended */
    int closing;
    atomic_int has_thread; /* set behind `thread`, which any thread may read then */
    pthread_t thread;
    pid_t process; /* a child process has the memory and not the thread */
} caromi_job_queue;

/* A child process has the queue of its parent, and not the thread: what that held is held for ever. Makes the queue and
 * the lock of the allocator hooks anew there. */
void caromi_queue_adopt(carom_context *context);
/* The context's queue, made when it is first asked for; in a child process made anew, empty. */
carom_status caromi_queue_make(carom_context *context, caromi_job_queue **out, carom_error *err);
/* The same with its thread. */
carom_status caromi_queue_start(carom_context *context, caromi_job_queue **out, carom_error *err);
void caromi_queue_add(caromi_job_queue *queue, caromi_task *task);
/* Whether the queue is this process's, and whether this is its thread. */
int caromi_queue_is_here(const caromi_job_queue *queue);
int caromi_queue_is_own_thread(const caromi_job_queue *queue);
/* Ends the thread, which has nothing to do, and frees the queue. */
void caromi_queue_close(carom_context *context);
#endif
