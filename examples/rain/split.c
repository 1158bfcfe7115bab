/* SPDX-License-Identifier: MIT */
/* Loops on threads. Each part of a loop writes what belongs to its own elements, so the number of parts does not
 * matter for what comes out. */
#include "rain.h"

#include <pthread.h>

typedef struct part {
    pthread_t thread;
    int started;
    rain_loop *loop;
    void *user;
    unsigned number;
    uint64_t from, to;
} part;

static void *run_part(void *at)
{
    const part *p = at;
    p->loop(p->user, p->number, p->from, p->to);
    return NULL;
}

unsigned rain_parts(const rain_world *world, uint64_t elements)
{
    const unsigned most = world->threads < RAIN_PARTS ? world->threads : RAIN_PARTS;
    return elements < 1 << 15 || most < 1 ? 1 : most; /* few are done before a thread has started */
}

/* A thread that cannot be started is no loss: the caller does its part. */
void rain_split(unsigned parts, uint64_t count, rain_loop *loop, void *user)
{
    part all[RAIN_PARTS];
    for (unsigned i = 0; i < parts; i++) {
        all[i] =
            (part){.loop = loop, .user = user, .number = i, .from = count * i / parts, .to = count * (i + 1) / parts};
        all[i].started = i + 1 < parts && pthread_create(&all[i].thread, NULL, run_part, &all[i]) == 0;
    }
    for (unsigned i = parts; i-- > 0;)
        if (!all[i].started)
            run_part(&all[i]);
    for (unsigned i = 0; i < parts; i++)
        if (all[i].started)
            pthread_join(all[i].thread, NULL);
}
