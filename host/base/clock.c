/* SPDX-License-Identifier: MIT */
#include "clock.h"

#include <time.h>

/* Seconds of a clock that does not jump when the time is set. */
double caromi_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
