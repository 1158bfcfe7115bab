/* SPDX-License-Identifier: MIT */
#ifndef CAROM_CPU_THREADS_CLOCK_H
#define CAROM_CPU_THREADS_CLOCK_H
#include <stdint.h>
#include <time.h>

/* Nanoseconds of a clock that does not jump when the time is set. */
static inline uint64_t caromi_nanoseconds(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
#endif
