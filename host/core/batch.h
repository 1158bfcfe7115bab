/* SPDX-License-Identifier: MIT */
/* Runs a batch on the device or the CPU. */
#ifndef CAROM_HOST_CORE_BATCH_H
#define CAROM_HOST_CORE_BATCH_H
#include "context.h"
#include "cpu/threads/sequencer.h"
#include "progress.h"

/* The two functions that answer a checked batch. On a device: queries [*done, end); *done becomes the end of the
 * answered ones, even on failure. On the CPU (caromi_on_cpu): queries [first, end). */
/* With end == *done it only prepares: it does all work that precedes the first query. */
typedef carom_status caromi_on_device(caromi_device *device, const void *batch, uint64_t end, uint64_t *done,
                                      carom_stats *stats, carom_error *err);
/* CAROM_ERROR_CANCELLED: the caller's progress function has ended the call; nothing of [first, end) is answered then.
 */
typedef carom_status caromi_on_cpu(const carom_context *context, const void *batch, uint64_t first, uint64_t end,
                                   carom_stats *stats, carom_error *err);
typedef struct caromi_batch {
    const void *batch;
    const void *sample;          /* the batch whose queries time the CPU beforehand; NULL: `batch` */
    uint64_t begin, count;       /* queries [begin, count) */
    caromi_on_device *on_device; /* NULL: batches of this kind never run on a device */
    /* Makes its subject fit for devices, once one is chosen; NULL: it is. If it fails, the CPU answers. */
    carom_status (*suit_device)(void *subject, carom_error *err);
    void *subject;
    caromi_on_cpu *on_cpu;
    int is_whole; /* it cannot be answered in parts: `auto` times the CPU with the whole first batch instead of a sample
                   */
    int counts_pairs; /* stats.by_integers counts pairs, not queries */
    /* NULL: several devices answer a piece each. Else the output is one list in the order of the queries: devices take
     * small parts in turn, and `batch` refers to these turns too */
    caromi_sequencer *turns;
    carom_list_totals *totals; /* of a list; else NULL */
    int reports;      /* the caller follows it: it is answered in pieces, and progress is reported after each */
    int counts_share; /* what is reported is a share of the work. There is one piece, and no answer before its end */
    /* Most queries of a piece, and least on the CPU. Within these limits pieces follow the CPU's speed. */
    uint64_t piece, piece_least;
    int prepare;   /* only prepares: answers no query */
    uint64_t slab; /* lattices: nodes of a slab, a divisor of begin, count and pieces; progress counts slabs. Else 0 */
    const char *slab_name; /* NULL: "slab" */
    uint32_t bundle;       /* queries of one answer, a divisor of count and piece; 0: one */
    int exact;
    const char *name;  /* of this kind of batches, for messages */
    caromi_pace *pace; /* measured speeds of this kind of batches */
} caromi_batch;

static inline uint64_t caromi_batch_size(const caromi_batch *batch)
{
    return batch->count - batch->begin;
}

/* Adds queries that the later rungs have decided. */
static inline void caromi_count_rungs(carom_stats *stats, caromi_rungs rungs)
{
    stats->by_second_filter += rungs.second_filter;
    stats->by_integers += rungs.integers;
}

/* Answers a batch on the backend that the context chooses. */
carom_status caromi_run(carom_context *context, const caromi_batch *batch, carom_stats *stats, carom_error *err);
caromi_on_cpu caromi_pairs_on_cpu; /* for a caromi_pair_batch */
carom_status caromi_run_pairs(carom_context *context, const caromi_pair_batch *batch, const carom_batch *asked,
                              carom_stats *stats, carom_error *err);
/* Reports that the queries of a batch before `done` are answered, if its caller follows it. */
carom_status caromi_report_batch(const carom_context *context, const caromi_batch *batch, uint64_t done,
                                 carom_error *err);
/* Answers a piece of a batch on the CPU: queries [first, end). If the caller's progress function ends the call
 * meanwhile, statistics and totals are those before the piece. */
carom_status caromi_run_piece(const carom_context *context, const caromi_batch *batch, uint64_t first, uint64_t end,
                              carom_stats *stats, carom_error *err);
#endif
