/* SPDX-License-Identifier: MIT */
/* Runs a batch on the device or the CPU. */
#ifndef CAROM_HOST_CORE_BATCH_H
#define CAROM_HOST_CORE_BATCH_H
#include "context.h"
#include "cpu/threads/sequencer.h"

/* A checked batch and its two ways to be answered: on a device, queries [*done, end), setting *done to those answered
 * even on failure; on the CPU, queries [first, end). */
/* end == *done: prepares, that is, does all that comes before the first query. */
typedef carom_status caromi_on_device(caromi_device *device, const void *batch, uint64_t end, uint64_t *done,
                                      carom_stats *stats, carom_error *err);
typedef carom_status caromi_on_cpu(const carom_context *context, const void *batch, uint64_t first, uint64_t end,
                                   carom_stats *stats, carom_error *err);
typedef struct caromi_batch {
    const void *batch;
    const void *sample;          /* the batch with which to time the CPU beforehand; NULL: `batch` */
    uint64_t begin, count;       /* queries [begin, count) */
    caromi_on_device *on_device; /* NULL: not worth a device */
    caromi_on_cpu *on_cpu;
    int is_whole; /* no part of it can be answered alone: auto's first batch goes to the CPU, in place of a sample */
    int counts_pairs; /* statistics count queries, but pairs that integers decided */
    /* NULL: several devices may take pieces of it. Else records are delivered in the order of the queries: devices take
     * parts by turns, which `batch` knows too */
    caromi_sequencer *turns;
    uint64_t piece; /* queries between two calls of `progress`, at most */
    /* On the CPU, of the next piece of this call or a later one, 0: `piece`. Fewer where integers decide many, each of
     * which takes some microseconds. NULL: all have `piece` */
    uint64_t *next_piece; /* of a lattice */
    carom_progress progress;
    int prepare; /* answers nothing */
    uint64_t
        slab; /* nodes of a slab of a lattice, which divides begin, count and piece: `progress` counts slabs. Else 0 */
    const char *slab_name; /* NULL: "slab" */
    int exact;
    const char *name;  /* of its kind */
    caromi_pace *pace; /* of its kind */
} caromi_batch;

static inline uint64_t caromi_batch_size(const caromi_batch *batch)
{
    return batch->count - batch->begin;
}

/* Answer a batch on the backend that the context chooses. */
carom_status caromi_run(carom_context *context, const caromi_batch *batch, carom_stats *stats, carom_error *err);
caromi_on_cpu caromi_pairs_on_cpu; /* for a caromi_pair_batch */
carom_status caromi_run_pairs(carom_context *context, const caromi_pair_batch *batch, const carom_batch *asked,
                              carom_stats *stats, carom_error *err);
/* Call the caller's progress function about a batch whose queries before `done` are answered. */
carom_status caromi_report_batch(const caromi_batch *batch, uint64_t done, carom_error *err);
/* Call the caller's progress function; CAROM_ERROR_CANCELLED if it ends the batch, which has `count` of what the word
 * `one` names. */
carom_status caromi_report_progress(const carom_progress *progress, const char *one, uint64_t done, uint64_t count,
                                    carom_error *err);
#endif
