/* SPDX-License-Identifier: MIT */
/* Work on a range by several threads, each at its own speed, whose results are delivered in order: the range is dealt
 * out in parts, and a part is delivered when all before it are. */
#ifndef CAROM_CPU_THREADS_SEQUENCER_H
#define CAROM_CPU_THREADS_SEQUENCER_H
#include <pthread.h>
#include <stdint.h>

typedef struct caromi_sequencer {
    int is_open; /* several threads work; else there are no turns to wait for */
    pthread_mutex_t lock;
    pthread_cond_t moved;
    uint64_t next, end; /* what is not dealt out */
    uint64_t part;      /* most of a part */
    uint64_t committed; /* all before it is */
    int is_stopped;
} caromi_sequencer;

/* 0: the system has no lock. */
int caromi_sequencer_open(caromi_sequencer *turns, uint64_t first, uint64_t end, uint64_t part);
void caromi_sequencer_close(caromi_sequencer *turns);
/* Takes the next part, of at most so much, which begins at *first. Returns its size; 0: nothing is left. */
uint64_t caromi_sequencer_claim(caromi_sequencer *turns, uint64_t most, uint64_t *first);
/* Waits until all before `first` is delivered. 0: that will not be. */
int caromi_sequencer_wait(caromi_sequencer *turns, uint64_t first);
/* All before `end` is delivered. */
void caromi_sequencer_commit(caromi_sequencer *turns, uint64_t end);
/* A thread cannot deliver its part: the others take no more, and wait no more. */
void caromi_sequencer_stop(caromi_sequencer *turns);
#endif
