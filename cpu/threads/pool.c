/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_getaffinity */
#endif
#include "pool.h"

#include <stdatomic.h>
#include <unistd.h>
#if defined(__linux__)
#include <sched.h>
#endif

#include "clock.h"
#include "float_mode.h"
#include "thread.h"

/* Nanoseconds of waiting awake before sleep, as much as waking up costs: batches that follow each other closely find
 * the team awake, and an OpenCL driver's own threads get the core soon. */
enum { SPIN_NANOSECONDS = 50000, SPINS_PER_CLOCK = 16 };
enum { MOVES_MAX = 4, STACK = 2 << 20 };
enum { LOOK_EVERY = 10000000 }; /* nanoseconds that the caller waits for workers between looks at the clock */

/* A thread of the pool; the caller's own thread has number 0. */
typedef struct pool_worker {
    caromi_pool *pool;
    pthread_t id;
    uint32_t thread;
} pool_worker;

struct caromi_pool {
    pthread_mutex_t lock;
    pthread_cond_t work, end;
    int closing;
    atomic_uint vacancies; /* workers that may still join the batch */
    atomic_uint working;   /* workers in the batch */
    caromi_task_fn *run;
    void *user;
    uint64_t tasks;
    atomic_uint_fast64_t next;
    int core;            /* core of the caller */
    caromi_watch *watch; /* the call's; only for the caller */
    atomic_flag busy;    /* with a batch */
    pid_t process;       /* a child process has the memory and none of the threads */
    uint32_t threads;
    pool_worker workers[];
};

/* Conditions for spin_until(). */
static int is_zero(const atomic_uint *value)
{
    return atomic_load(value) == 0;
}

static int is_some(const atomic_uint *value)
{
    return atomic_load(value) != 0;
}

/* Spins until `test` holds or SPIN_NANOSECONDS have passed. */
static void spin_until(int (*test)(const atomic_uint *), const atomic_uint *value)
{
    const uint64_t start = caromi_nanoseconds();
    do {
        for (int i = 0; i < SPINS_PER_CLOCK; i++) {
            if (test(value))
                return;
#if defined(__x86_64__)
            __builtin_ia32_pause();
#elif defined(__aarch64__)
            __asm__ volatile("yield");
#endif
        }
    } while (caromi_nanoseconds() - start < SPIN_NANOSECONDS);
}

/* Takes tasks, one after the other, until none is left. */
static void run_tasks(caromi_pool *pool, uint32_t thread)
{
    for (;;) {
        const uint64_t task = atomic_fetch_add(&pool->next, 1);
        if (task >= pool->tasks)
            return;
        pool->run(pool->user, task, thread);
        if (thread == 0)
            (void)caromi_watch_look(pool->watch);
    }
}

#if defined(__linux__)
static int core_of_this_thread(void)
{
    return sched_getcpu();
}

/* The scheduler often wakes a thread on the core of the thread that wakes it, where the caller works: two would share
 * that core for milliseconds, until the load is balanced. Forbidding the core for a moment moves this thread, and
 * afterwards it is woken where it was. So a worker does it a few times at most, and leaves the rest of its life to the
 * scheduler. */
static void leave_core(int core, int *moves)
{
    cpu_set_t mine, others;
    if (*moves == MOVES_MAX || core < 0 || core >= CPU_SETSIZE || core != sched_getcpu() ||
        sched_getaffinity(0, sizeof mine, &mine) != 0)
        return;
    ++*moves;
    others = mine;
    CPU_CLR((unsigned)core, &others);
    if (CPU_COUNT(&others) > 0 && sched_setaffinity(0, sizeof others, &others) == 0)
        (void)sched_setaffinity(0, sizeof mine, &mine);
}
#else
static int core_of_this_thread(void)
{
    return -1;
}

static void leave_core(int core, int *moves)
{
    (void)core, (void)moves;
}
#endif

/* A worker: waits for a batch, joins it if there is a vacancy, works, spins for the next. */
static void *worker_main(void *user)
{
    const pool_worker *self = user;
    caromi_pool *pool = self->pool;
    int moves = 0;
    (void)caromi_float_mode_set();
    (void)pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (is_zero(&pool->vacancies) && !pool->closing)
            (void)pthread_cond_wait(&pool->work, &pool->lock);
        if (pool->closing)
            break;
        atomic_fetch_sub(&pool->vacancies, 1);
        atomic_fetch_add(&pool->working, 1);
        /* Works with the lock released. The last worker to end wakes the caller. */
        const int core = pool->core;
        (void)pthread_mutex_unlock(&pool->lock);
        leave_core(core, &moves);
        run_tasks(pool, self->thread);
        (void)pthread_mutex_lock(&pool->lock);
        if (atomic_fetch_sub(&pool->working, 1) == 1)
            (void)pthread_cond_signal(&pool->end);
        (void)pthread_mutex_unlock(&pool->lock);
        spin_until(is_some, &pool->vacancies);
        (void)pthread_mutex_lock(&pool->lock);
    }
    (void)pthread_mutex_unlock(&pool->lock);
    return NULL;
}

size_t caromi_pool_size(uint32_t threads)
{
    return sizeof(caromi_pool) + (size_t)threads * sizeof(pool_worker);
}

/* Starts workers. If the system allows no more threads, the pool stays smaller. */
static void start_workers(caromi_pool *pool, uint32_t threads)
{
    while (pool->threads < threads) {
        pool_worker *worker = &pool->workers[pool->threads - 1];
        worker->pool = pool;
        worker->thread = pool->threads;
        if (!caromi_thread_start(&worker->id, STACK, worker_main, worker))
            break;
        pool->threads++;
    }
}

/* Makes a condition whose timeouts use the clock of caromi_nanoseconds(). */
static int make_end(pthread_cond_t *end)
{
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0)
        return 0;
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    const int opened = pthread_cond_init(end, &attributes) == 0;
    (void)pthread_condattr_destroy(&attributes);
    return opened;
}

/* Makes a pool in the caller's memory; NULL if a lock cannot be made. */
caromi_pool *caromi_pool_open(void *memory, uint32_t threads)
{
    caromi_pool *pool = memory;
    pool->closing = 0;
    pool->watch = NULL;
    atomic_init(&pool->vacancies, 0);
    pool->threads = 1;
    pool->process = getpid();
    atomic_init(&pool->working, 0);
    atomic_init(&pool->next, 0);
    atomic_flag_clear(&pool->busy);
    if (pthread_mutex_init(&pool->lock, NULL) != 0)
        return NULL;
    if (pthread_cond_init(&pool->work, NULL) != 0) {
        (void)pthread_mutex_destroy(&pool->lock);
        return NULL;
    }
    if (!make_end(&pool->end)) {
        (void)pthread_cond_destroy(&pool->work);
        (void)pthread_mutex_destroy(&pool->lock);
        return NULL;
    }
    start_workers(pool, threads);
    return pool;
}

/* Ends the workers and waits for them. */
void caromi_pool_close(caromi_pool *pool)
{
    if (pool == NULL || pool->process != getpid())
        return;
    (void)pthread_mutex_lock(&pool->lock);
    pool->closing = 1;
    (void)pthread_cond_broadcast(&pool->work);
    (void)pthread_mutex_unlock(&pool->lock);
    for (uint32_t i = 1; i < pool->threads; i++)
        (void)pthread_join(pool->workers[i - 1].id, NULL);
    (void)pthread_cond_destroy(&pool->end);
    (void)pthread_cond_destroy(&pool->work);
    (void)pthread_mutex_destroy(&pool->lock);
}

/* Number of threads; 1 in a child process, which has none of the workers. */
uint32_t caromi_pool_threads(const caromi_pool *pool)
{
    return pool != NULL && pool->process == getpid() ? pool->threads : 1;
}

/* Whether the calling thread belongs to the pool. */
int caromi_pool_is_worker(const caromi_pool *pool)
{
    for (uint32_t i = 1; i < caromi_pool_threads(pool); i++)
        if (pthread_equal(pthread_self(), pool->workers[i - 1].id))
            return 1;
    return 0;
}

/* Offers the tasks to as many workers as can be of use, and wakes them. */
static void start_batch(caromi_pool *pool, uint64_t tasks, caromi_task_fn *run, void *user)
{
    const uint64_t others = tasks - 1 < pool->threads - 1 ? tasks - 1 : pool->threads - 1;
    (void)pthread_mutex_lock(&pool->lock);
    pool->run = run;
    pool->user = user;
    pool->tasks = tasks;
    pool->core = core_of_this_thread();
    atomic_store(&pool->next, 0);
    atomic_store(&pool->vacancies, (uint32_t)others);
    if (others == pool->threads - 1)
        (void)pthread_cond_broadcast(&pool->work);
    else
        for (uint64_t i = 0; i < others; i++)
            (void)pthread_cond_signal(&pool->work);
    (void)pthread_mutex_unlock(&pool->lock);
}

/* Waits until a worker ends the batch; with a watch LOOK_EVERY at most, and then looks at the clock. */
static void await_end(caromi_pool *pool)
{
    if (pool->watch == NULL) {
        (void)pthread_cond_wait(&pool->end, &pool->lock);
        return;
    }
    const uint64_t until = caromi_nanoseconds() + LOOK_EVERY;
    const struct timespec then = {(time_t)(until / 1000000000u), (long)(until % 1000000000u)};
    (void)pthread_cond_timedwait(&pool->end, &pool->lock, &then);
    (void)pthread_mutex_unlock(&pool->lock);
    (void)caromi_watch_look(pool->watch);
    (void)pthread_mutex_lock(&pool->lock);
}

/* A worker that has not woken up by now is too late: the batch does not wait for it. */
static void finish_batch(caromi_pool *pool)
{
    (void)pthread_mutex_lock(&pool->lock);
    atomic_store(&pool->vacancies, 0);
    (void)pthread_mutex_unlock(&pool->lock);
    spin_until(is_zero, &pool->working);
    (void)pthread_mutex_lock(&pool->lock);
    while (is_some(&pool->working))
        await_end(pool);
    (void)pthread_mutex_unlock(&pool->lock);
}

/* Runs all tasks. Without a free pool the caller runs them alone. */
void caromi_parallel(caromi_pool *pool, uint64_t tasks, caromi_task_fn *run, void *user)
{
    if (tasks > 1 && caromi_pool_threads(pool) > 1 && !atomic_flag_test_and_set(&pool->busy)) {
        start_batch(pool, tasks, run, user);
        run_tasks(pool, 0);
        finish_batch(pool);
        atomic_flag_clear(&pool->busy);
    } else {
        for (uint64_t i = 0; i < tasks; i++) {
            run(user, i, 0);
            if (pool != NULL)
                (void)caromi_watch_look(pool->watch);
        }
    }
}

void caromi_pool_watch(caromi_pool *pool, caromi_watch *watch)
{
    if (pool != NULL)
        pool->watch = watch;
}

/* Elements that are worked on in runs of `size`. */
typedef struct runs_job {
    uint64_t count, size;
    caromi_run_fn *run;
    void *user;
} runs_job;

/* A task of caromi_parallel_runs: one run of elements. */
static void run_run(void *user, uint64_t task, uint32_t thread)
{
    const runs_job *job = user;
    const uint64_t begin = task * job->size, left = job->count - begin;
    job->run(job->user, begin, begin + (left < job->size ? left : job->size), thread);
}

/* Runs of `size` elements as tasks. */
void caromi_parallel_runs(caromi_pool *pool, uint64_t count, uint64_t size, caromi_run_fn *run, void *user)
{
    runs_job job = {count, size, run, user};
    caromi_parallel(pool, count / size + (count % size != 0), run_run, &job);
}

uint32_t caromi_cpu_threads(void)
{
#if defined(__linux__)
    cpu_set_t set;
    const int mine = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
    if (mine > 0)
        return (uint32_t)mine;
#endif
    const long all = sysconf(_SC_NPROCESSORS_ONLN);
    return all > 0 ? (uint32_t)all : 1;
}
