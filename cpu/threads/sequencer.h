/* SPDX-License-Identifier: MIT */
/* In-order commit of work on a range by several threads, each at its own speed. A thread claims the next part of the
 * range, and commits its results when all earlier parts are committed. */
#ifndef CAROM_CPU_THREADS_SEQUENCER_H
#define CAROM_CPU_THREADS_SEQUENCER_H
#include <pthread.h>
#include <stdint.h>

typedef struct caromi_sequencer {
    int is_shared; /* several threads work; else results need no order */
    pthread_mutex_t lock;
    pthread_cond_t moved;
    uint64_t next, end; /* the part of the range that is not claimed */
    uint64_t part;      /* largest size of a part */
    uint64_t committed; /* everything before it is committed */
    int is_stopped;
} caromi_sequencer;

/* Returns 0 if the system has no more locks. */
int caromi_sequencer_open(caromi_sequencer *sequencer, uint64_t first, uint64_t end, uint64_t part);
void caromi_sequencer_close(caromi_sequencer *sequencer);
/* Claims the next part, of size `most` at most, which begins at *first. Returns its size; 0: nothing is left. */
uint64_t caromi_sequencer_claim(caromi_sequencer *sequencer, uint64_t most, uint64_t *first);
/* Waits until everything before `first` is committed. Returns 0 if the range was stopped. */
int caromi_sequencer_wait(caromi_sequencer *sequencer, uint64_t first);
/* Commits everything before `end`. */
void caromi_sequencer_commit(caromi_sequencer *sequencer, uint64_t end);
/* Stops after a thread has failed: other threads claim no more parts and stop waiting. */
void caromi_sequencer_stop(caromi_sequencer *sequencer);
#endif
