/* SPDX-License-Identifier: MIT */
#include "watch.h"

#include "clock.h"
#include "float_mode.h"

enum { REPORT_EVERY = 50000000 }; /* nanoseconds */

void caromi_watch_begin(caromi_watch *watch, int (*fn)(void *, uint64_t, uint64_t), void *user)
{
    *watch = (caromi_watch){.fn = fn, .user = user, .owner = pthread_self()};
    watch->next = caromi_nanoseconds() + REPORT_EVERY;
}

void caromi_watch_report(caromi_watch *watch, uint64_t done)
{
    watch->done = done;
    if (caromi_watch_ends(watch))
        return;
    watch->next = caromi_nanoseconds() + REPORT_EVERY;
    if (watch->fn(watch->user, done, watch->count) != 0)
        atomic_store(&watch->ends, 1);
    (void)caromi_float_mode_set(); /* the function may have changed it */
}

void caromi_watch_move(caromi_watch *watch, uint64_t done)
{
    watch->done = done > watch->done ? done : watch->done;
}

void caromi_watch_pause(caromi_watch *watch, int is_paused)
{
    watch->is_paused = is_paused;
    watch->next = caromi_nanoseconds() + REPORT_EVERY;
}

void caromi_watch_look_at_clock(caromi_watch *watch)
{
    if (!caromi_watch_is_own(watch) || watch->is_paused || caromi_nanoseconds() < watch->next)
        return;
    caromi_watch_report(watch, watch->done);
}
