/* SPDX-License-Identifier: MIT */
/* A thread pool whose workers sleep between batches. The caller of a batch works too. */
#ifndef CAROM_CPU_THREADS_POOL_H
#define CAROM_CPU_THREADS_POOL_H

#include <stddef.h>
#include <stdint.h>

#include "watch.h"

typedef struct caromi_pool caromi_pool;

enum { CAROMI_THREADS_MAX = 1024 };

/* Threads that the process may use. */
uint32_t caromi_cpu_threads(void);

/* Memory that a pool of so many threads needs, aligned as malloc does. */
size_t caromi_pool_size(uint32_t threads);
/* Start the threads, the caller's aside; fewer if the system starts no more. The memory stays the caller's. */
caromi_pool *caromi_pool_open(void *memory, uint32_t threads);
/* Ends the threads. A NULL pool is ignored. */
void caromi_pool_close(caromi_pool *pool);
/* At least 1; a pool that is NULL, or of a parent process, is the caller alone. */
uint32_t caromi_pool_threads(const caromi_pool *pool);

/* The watch of the call that uses the pool from now on, which the caller looks at between tasks and while it waits;
 * NULL: none. It ends no task by itself. */
void caromi_pool_watch(caromi_pool *pool, caromi_watch *watch);

/* Whether this thread is one that the pool has started. */
int caromi_pool_is_worker(const caromi_pool *pool);

/* Run tasks 0 .. tasks-1, each once; `thread` < caromi_pool_threads() tells on which. The caller is in the float mode
 * of float_mode.h, as the workers are. A call that finds the pool busy runs on its caller alone. */
typedef void caromi_task_fn(void *user, uint64_t task, uint32_t thread);
void caromi_parallel(caromi_pool *pool, uint64_t tasks, caromi_task_fn *run, void *user);

/* Runs `count` elements in tasks of `size`: each call gets elements [begin, end). */
typedef void caromi_run_fn(void *user, uint64_t begin, uint64_t end, uint32_t thread);
void caromi_parallel_runs(caromi_pool *pool, uint64_t count, uint64_t size, caromi_run_fn *run, void *user);

/* First element of slice number `slice`, if `count` elements are cut into `slices`; the slice ends where the next one
 * begins. Sizes differ by at most one, and no product overflows. */
static inline uint64_t caromi_slice_start(uint64_t count, uint64_t slices, uint64_t slice)
{
    const uint64_t extra = count % slices;
    return count / slices * slice + (slice < extra ? slice : extra);
}

#endif
