/* SPDX-License-Identifier: MIT */
#include "progress_watch.h"

#include <signal.h>
#include <time.h>

enum { WAKE_NS = 100 * 1000 * 1000 };

static void *watch(void *user)
{
    progress_watch *w = user;
    const uint64_t done = w->progress->done;
    pthread_mutex_lock(&w->lock);
    while (!w->has_ended) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += WAKE_NS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        (void)pthread_cond_timedwait(&w->changed, &w->lock, &until);
        if (!w->has_ended)
            progress_show(w->progress, done);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

void progress_watch_begin(progress_watch *w, progress *p)
{
    sigset_t all, old;
    w->progress = p;
    w->has_ended = 0;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
    sigfillset(&all); /* signals are for the thread that works */
    pthread_sigmask(SIG_SETMASK, &all, &old);
    w->is_running = pthread_create(&w->thread, NULL, watch, w) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

void progress_watch_end(progress_watch *w)
{
    pthread_mutex_lock(&w->lock);
    w->has_ended = 1;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
    if (w->is_running)
        pthread_join(w->thread, NULL);
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
}
