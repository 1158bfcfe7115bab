/* SPDX-License-Identifier: MIT */
/* Progress of a call, and its early end. The thread that made the call looks at the clock between short pieces of work;
 * if a report is due, it calls the caller's function. All threads hear that the function has ended the call: they leave
 * their work unfinished, and the call returns CAROM_ERROR_CANCELLED. */
#ifndef CAROM_CPU_THREADS_WATCH_H
#define CAROM_CPU_THREADS_WATCH_H
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

typedef struct caromi_watch {
    int (*fn)(void *user, uint64_t done, uint64_t count); /* the caller's: not 0 ends the call */
    void *user;
    uint64_t begin, done, count; /* what it gets; [begin, done) is answered */
    uint64_t next;               /* when a report is due, in nanoseconds */
    pthread_t owner;             /* the thread of the call, which alone calls the function */
    int is_paused;               /* no report is due, as devices answer */
    atomic_int ends;
} caromi_watch;

/* Begins to watch a call of this thread. */
void caromi_watch_begin(caromi_watch *watch, int (*fn)(void *, uint64_t, uint64_t), void *user);
/* Calls the caller's function at once, unless it has ended the call. Only on the thread of the call. */
void caromi_watch_report(caromi_watch *watch, uint64_t done);
/* Sets what the next report says, if that is more than the last one said. Only on the thread of the call. */
void caromi_watch_move(caromi_watch *watch, uint64_t done);
/* While it is paused no report is due; the next one is some time after its end. Only on the thread of the call. */
void caromi_watch_pause(caromi_watch *watch, int is_paused);
/* Calls the caller's function if a report is due. */
void caromi_watch_look_at_clock(caromi_watch *watch);

/* Whether this is the thread of the call. */
static inline int caromi_watch_is_own(const caromi_watch *watch)
{
    return pthread_equal(watch->owner, pthread_self());
}

/* Whether the call ends early. NULL: it has no watch. Any thread may call it. */
static inline int caromi_watch_ends(const caromi_watch *watch)
{
    return watch != NULL && atomic_load_explicit(&watch->ends, memory_order_relaxed);
}

/* The same, after a look at the clock. Any thread may call it, about every millisecond. */
static inline int caromi_watch_look(caromi_watch *watch)
{
    if (watch == NULL)
        return 0;
    caromi_watch_look_at_clock(watch);
    return caromi_watch_ends(watch);
}
#endif
