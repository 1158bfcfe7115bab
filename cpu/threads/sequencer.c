/* SPDX-License-Identifier: MIT */
#include "sequencer.h"

int caromi_sequencer_open(caromi_sequencer *t, uint64_t first, uint64_t end, uint64_t part)
{
    if (pthread_mutex_init(&t->lock, NULL) != 0)
        return 0;
    if (pthread_cond_init(&t->moved, NULL) != 0) {
        (void)pthread_mutex_destroy(&t->lock);
        return 0;
    }
    t->next = t->committed = first;
    t->end = end;
    t->part = part;
    t->is_stopped = 0;
    t->is_shared = 1;
    return 1;
}

void caromi_sequencer_close(caromi_sequencer *t)
{
    t->is_shared = 0;
    (void)pthread_cond_destroy(&t->moved);
    (void)pthread_mutex_destroy(&t->lock);
}

uint64_t caromi_sequencer_claim(caromi_sequencer *t, uint64_t most, uint64_t *first)
{
    (void)pthread_mutex_lock(&t->lock);
    const uint64_t left = t->is_stopped ? 0 : t->end - t->next;
    uint64_t count = most < t->part ? most : t->part;
    count = count < left ? count : left;
    *first = t->next;
    t->next += count;
    (void)pthread_mutex_unlock(&t->lock);
    return count;
}

int caromi_sequencer_wait(caromi_sequencer *t, uint64_t first)
{
    (void)pthread_mutex_lock(&t->lock);
    while (t->committed != first && !t->is_stopped)
        (void)pthread_cond_wait(&t->moved, &t->lock);
    const int is_next = t->committed == first;
    (void)pthread_mutex_unlock(&t->lock);
    return is_next;
}

void caromi_sequencer_commit(caromi_sequencer *t, uint64_t end)
{
    (void)pthread_mutex_lock(&t->lock);
    t->committed = end;
    (void)pthread_cond_broadcast(&t->moved);
    (void)pthread_mutex_unlock(&t->lock);
}

void caromi_sequencer_stop(caromi_sequencer *t)
{
    (void)pthread_mutex_lock(&t->lock);
    t->is_stopped = 1;
    (void)pthread_cond_broadcast(&t->moved);
    (void)pthread_mutex_unlock(&t->lock);
}
