/* SPDX-License-Identifier: MIT */
/* All cores, and the floating-point mode that the bits depend on. */
#if defined(_OPENMP)
#include <omp.h>
#endif
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "cpu.h"

uint64_t caromi_float_mode_set(void)
{
#if defined(__x86_64__)
    const uint64_t mode = _mm_getcsr();
    _mm_setcsr(0x1f80);
#elif defined(__aarch64__)
    uint64_t mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)0));
#else
    const uint64_t mode = 0;
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
    (void)mode;
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
#endif
    const uint64_t mode = caromi_float_mode_set();
    for (uint64_t i = 0; i < tasks; i++)
        run(user, i, 0);
    caromi_float_mode_restore(mode);
}
