/* SPDX-License-Identifier: MIT */
/* All cores, and the floating-point mode that the bits depend on. */
#include <float.h>
#if defined(_OPENMP)
#include <omp.h>
#include <pthread.h>
#endif
#if defined(__x86_64__)
#include <xmmintrin.h>
#elif !defined(__aarch64__)
#include <fenv.h>
#endif

#include "cpu.h"

_Static_assert(FLT_EVAL_METHOD == 0, "every operation must round to binary32");

uint64_t caromi_float_mode_set(void)
{
#if defined(__x86_64__)
    const uint64_t mode = _mm_getcsr();
    _mm_setcsr(0x1f80);
#elif defined(__aarch64__)
    uint64_t mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)0));
#else /* no portable word for flushing; a fresh thread does not flush */
    const uint64_t mode = (uint64_t)fegetround();
    (void)fesetround(FE_TONEAREST);
#endif
    return mode;
}

void caromi_float_mode_restore(uint64_t mode)
{
#if defined(__x86_64__)
    _mm_setcsr((unsigned)mode);
#elif defined(__aarch64__)
    __asm__ volatile("msr fpcr, %0" : : "r"(mode));
#else
    (void)fesetround((int)mode);
#endif
}

uint32_t caromi_cpu_threads(void)
{
#if defined(_OPENMP)
    const int n = omp_get_num_procs();
    return n > 0 ? (uint32_t)n : 1;
#else
    return 1;
#endif
}

#if defined(_OPENMP)
static void *wait_at(void *gate)
{
    (void)pthread_mutex_lock(gate);
    (void)pthread_mutex_unlock(gate);
    return NULL;
}

uint32_t caromi_cpu_threads_startable(uint32_t wanted)
{
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    pthread_t team[CAROMI_THREADS_MAX];
    uint32_t started = 0;
    wanted = wanted < CAROMI_THREADS_MAX ? wanted : CAROMI_THREADS_MAX;
    (void)pthread_mutex_lock(&gate);
    while (started + 1 < wanted && pthread_create(&team[started], NULL, wait_at, &gate) == 0)
        started++;
    (void)pthread_mutex_unlock(&gate);
    for (uint32_t i = 0; i < started; i++)
        (void)pthread_join(team[i], NULL);
    return started + 1 == wanted ? wanted : started / 2 + 1;
}
#else
uint32_t caromi_cpu_threads_startable(uint32_t wanted)
{
    (void)wanted;
    return 1;
}
#endif

void caromi_parallel(uint32_t threads, uint64_t tasks, caromi_task_fn *run, void *user)
{
#if defined(_OPENMP)
    if (threads > 1 && tasks > 1) {
        const int team = (int)(tasks < threads ? tasks : threads);
#pragma omp parallel num_threads(team)
        {
            const uint64_t mode = caromi_float_mode_set();
            const uint32_t self = (uint32_t)omp_get_thread_num();
#pragma omp for schedule(dynamic, 1)
            for (uint64_t i = 0; i < tasks; i++)
                run(user, i, self);
            caromi_float_mode_restore(mode);
        }
        return;
    }
#else
    (void)threads;
#endif
    const uint64_t mode = caromi_float_mode_set();
    for (uint64_t i = 0; i < tasks; i++)
        run(user, i, 0);
    caromi_float_mode_restore(mode);
}
