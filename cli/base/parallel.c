/* SPDX-License-Identifier: MIT */
#include "parallel.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

enum { STACK = 1 << 18 }; /* the usual size would count towards a limit of address space */

typedef struct share {
    parallel_fn *run;
    void *user;
    unsigned i;
    pthread_t thread;
    int started;
} share;

static void *begin(void *mine)
{
    share *s = mine;
    s->run(s->user, s->i);
    return NULL;
}

void parallel_run(unsigned count, parallel_fn *run, void *user)
{
    share shares[PARALLEL_MAX];
    pthread_attr_t attributes;
    const int usable = count > 1 && pthread_attr_init(&attributes) == 0;
    if (usable)
        pthread_attr_setstacksize(&attributes, STACK);
    for (unsigned i = 1; i < count; i++) {
        share *s = &shares[i];
        *s = (share){.run = run, .user = user, .i = i};
        s->started = usable && pthread_create(&s->thread, &attributes, begin, s) == 0;
    }
    if (count > 0)
        run(user, 0);
    for (unsigned i = 1; i < count; i++)
        if (shares[i].started)
            pthread_join(shares[i].thread, NULL);
        else
            run(user, i);
    if (usable)
        pthread_attr_destroy(&attributes);
}

unsigned parallel_threads(uint32_t asked)
{
    cpu_set_t set;
    long count = asked;
    if (count == 0)
        count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : count > PARALLEL_MAX ? PARALLEL_MAX : (unsigned)count;
}
