/* SPDX-License-Identifier: MIT */
#include "sequencer.h"

/* Begins a sequence over [first, end); parts have the size `part`. */
int caromi_sequencer_open(caromi_sequencer *sequencer, uint64_t first, uint64_t end, uint64_t part)
{
    if (pthread_mutex_init(&sequencer->lock, NULL) != 0)
        return 0;
    if (pthread_cond_init(&sequencer->moved, NULL) != 0) {
        (void)pthread_mutex_destroy(&sequencer->lock);
        return 0;
    }
    sequencer->next = sequencer->committed = first;
    sequencer->end = end;
    sequencer->part = part;
    sequencer->is_stopped = 0;
    sequencer->is_shared = 1;
    return 1;
}

void caromi_sequencer_close(caromi_sequencer *sequencer)
{
    sequencer->is_shared = 0;
    (void)pthread_cond_destroy(&sequencer->moved);
    (void)pthread_mutex_destroy(&sequencer->lock);
}

uint64_t caromi_sequencer_claim(caromi_sequencer *sequencer, uint64_t most, uint64_t *first)
{
    (void)pthread_mutex_lock(&sequencer->lock);
    const uint64_t left = sequencer->is_stopped ? 0 : sequencer->end - sequencer->next;
    uint64_t count = most < sequencer->part ? most : sequencer->part;
    count = count < left ? count : left;
    *first = sequencer->next;
    sequencer->next += count;
    (void)pthread_mutex_unlock(&sequencer->lock);
    return count;
}

/* Waits until the part that begins at `first` may commit; 0 if the sequence is stopped. */
int caromi_sequencer_wait(caromi_sequencer *sequencer, uint64_t first)
{
    (void)pthread_mutex_lock(&sequencer->lock);
    while (sequencer->committed != first && !sequencer->is_stopped)
        (void)pthread_cond_wait(&sequencer->moved, &sequencer->lock);
    const int is_next = sequencer->committed == first;
    (void)pthread_mutex_unlock(&sequencer->lock);
    return is_next;
}

void caromi_sequencer_commit(caromi_sequencer *sequencer, uint64_t end)
{
    (void)pthread_mutex_lock(&sequencer->lock);
    sequencer->committed = end;
    (void)pthread_cond_broadcast(&sequencer->moved);
    (void)pthread_mutex_unlock(&sequencer->lock);
}

void caromi_sequencer_stop(caromi_sequencer *sequencer)
{
    (void)pthread_mutex_lock(&sequencer->lock);
    sequencer->is_stopped = 1;
    (void)pthread_cond_broadcast(&sequencer->moved);
    (void)pthread_mutex_unlock(&sequencer->lock);
}
