/* SPDX-License-Identifier: MIT */
/* Runs a batch: on the device as far as it succeeds, the rest on the CPU. */
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "batch.h"
#include "choice.h"
#include "devices.h"
#include "staging.h"
#include "device.h"
#include "pieces.h"

enum { PAIRS_PIECE = 1 << 20 }; /* pairs between two reports of progress, about 10 ms */
/* The bytes of carom_stats before the statistics of devices, which small batches do not clear. */
enum { BYTES_BEFORE_DEVICES = offsetof(carom_stats, devices) };
enum { STACK_PAIRS = 64, STACK_BYTES = 2 * COLUMNS_MAX * STACK_PAIRS * sizeof(float) };

/* Reports progress, and fails if the caller's function ends the call. */
carom_status caromi_report_progress(const carom_progress *progress, const char *one, uint64_t done, uint64_t count,
                                    carom_error *err)
{
    if (progress->fn == NULL)
        return CAROM_OK;
    const int enough = progress->fn(progress->user, done, count) != 0;
    (void)caromi_float_mode_set(); /* the callback may have changed it */
    if (!enough)
        return CAROM_OK;
    return caromi_fail(err, CAROM_ERROR_CANCELLED, CAROMI_NO_NATIVE_CODE,
                       "cancelled at %s %llu of %llu; those before it are answered", one, (unsigned long long)done,
                       (unsigned long long)count);
}

/* Calls the caller's progress function for a batch whose queries before `done` are answered. */
carom_status caromi_report_batch(const caromi_batch *batch, uint64_t done, carom_error *err)
{
    const uint64_t unit = batch->slab != 0 ? batch->slab : 1;
    const char *slab_name = batch->slab_name != NULL ? batch->slab_name : "slab";
    return caromi_report_progress(&batch->progress, batch->slab != 0 ? slab_name : "query", done / unit,
                                  batch->count / unit, err);
}

/* The end of the piece of a batch, between two reports of progress, that begins at `first`. */
static uint64_t piece_end(const caromi_batch *batch, uint64_t first, uint64_t piece)
{
    return batch->progress.fn == NULL || batch->count - first < piece ? batch->count : first + piece;
}

/* Answers queries from *done on, piece by piece, until the device fails or declines. */
static carom_status run_on_device(caromi_device *device, const caromi_batch *batch, uint64_t *done, carom_stats *stats,
                                  carom_error *cause, carom_error *err)
{
    carom_status status = CAROM_OK;
    while (status == CAROM_OK && *done < batch->count) {
        enum { CHUNKS = 8 }; /* larger pieces than on the CPU, so that several chunks are in flight */
        const uint64_t first = *done, end = piece_end(batch, first, CHUNKS * batch->piece);
        status = batch->on_device(device, batch->batch, end, done, stats, cause);
        if (status == CAROM_OK && *done == first) /* the device declines the batch */
            return CAROM_OK;
        if (status == CAROM_OK)
            status = caromi_report_batch(batch, *done, err);
    }
    return status;
}

enum {
    UNDECIDED = 1 << 16, /* most queries of a piece that the first filter leaves undecided */
    WORK = 1 << 20,      /* most work of a piece for each thread: some ten milliseconds */
    GROWTH = 8           /* most growth from piece to piece */
};

/* The queries of the next piece on the CPU; whole slabs of a lattice, whole bundles. */
static uint64_t piece_of(const caromi_batch *batch)
{
    const uint64_t wanted = batch->next_piece != NULL ? *batch->next_piece : 0, slab = batch->slab > 0 ? batch->slab
                                                                                       : batch->bundle > 1
                                                                                           ? batch->bundle
                                                                                           : 1;
    if (wanted == 0 || wanted >= batch->piece)
        return batch->piece;
    return wanted > slab ? wanted / slab * slab : slab;
}

/* Adapts the size of the next piece to the work of this one, of which a piece should have at most `most`. It does not
 * use a clock, so that the same call has the same pieces whatever else the machine does. */
static void learn_piece(const caromi_batch *batch, uint64_t queries, uint64_t work, uint64_t most)
{
    uint64_t *next = batch->next_piece;
    if (work > most) {
        const uint64_t fewer = (uint64_t)((double)queries * (double)most / (double)work);
        *next = fewer > 0 ? fewer : 1; /* 0 would be a whole piece */
    } else if (work < most / GROWTH) {
        *next = *next < batch->piece / GROWTH ? *next * GROWTH : 0;
    }
}

/* The work so far: what on_cpu has noted, or the queries that the first filter has left undecided. */
static uint64_t work_of(const caromi_batch *batch, const carom_stats *stats)
{
    return batch->work != NULL ? atomic_load(batch->work) : stats->by_second_filter + stats->by_integers;
}

/* Answers queries from *done on, piece by piece. */
static carom_status run_on_cpu(const carom_context *context, const caromi_batch *batch, uint64_t *done,
                               carom_stats *stats, carom_error *err)
{
    carom_status status = CAROM_OK;
    const uint64_t most = batch->work != NULL ? (uint64_t)WORK * caromi_pool_threads(context->pool) : UNDECIDED;
    while (status == CAROM_OK && *done < batch->count) {
        const uint64_t end = piece_end(batch, *done, piece_of(batch)), before = work_of(batch, stats);
        status = batch->on_cpu(context, batch->batch, *done, end, stats, err);
        if (batch->next_piece != NULL)
            learn_piece(batch, end - *done, work_of(batch, stats) - before, most);
        if (status == CAROM_OK)
            status = caromi_report_batch(batch, *done = end, err);
    }
    return status;
}

/* The device that answers a batch, whose subject fits it then; NULL with CAROM_OK: the CPU does. */
static carom_status choose(carom_context *context, const caromi_batch *batch, caromi_device **device,
                           carom_stats *stats, carom_error *err)
{
    carom_error cause = {CAROM_OK, 0, ""};
    CHECK(caromi_pick_device(context, batch, device, stats, err));
    if (*device == NULL || batch->suit_device == NULL)
        return CAROM_OK;
    const carom_status status = batch->suit_device(batch->subject, &cause);
    if (status == CAROM_OK)
        return CAROM_OK;
    *device = NULL;
    return caromi_fall_back(context, NULL, status, caromi_batch_size(batch), stats, &cause, err);
}

/* Does all work that precedes the first query, on the backend that the batch would use. */
static carom_status prepare(carom_context *context, const caromi_batch *batch, carom_stats *stats, carom_error *err)
{
    const double start = caromi_now();
    uint64_t done = batch->begin;
    caromi_device *device = NULL;
    carom_error cause = {CAROM_OK, 0, ""};
    carom_stats local;
    memset(&local, 0, sizeof local);
    local.size = sizeof local;
    carom_status status = CAROM_OK;
    /* The device or devices; without one there is nothing to prepare. */
    if (batch->count > batch->begin)
        CHECK(choose(context, batch, &device, &local, err));
    if (device != NULL && caromi_has_several(context))
        CHECK(caromi_prepare_pieces(context, batch, &local, err));
    else if (device != NULL)
        status = batch->on_device(device, batch->batch, done, &done, &local, &cause);
    if (status != CAROM_OK)
        status = caromi_fall_back(context, device, status, caromi_batch_size(batch), &local, &cause, err);
    local.fallen_back = 0;
    local.total = caromi_now() - start;
    if (status == CAROM_OK && stats != NULL)
        *stats = local;
    return status;
}

/* Runs a batch on the context's single device, as far as it succeeds. */
static carom_status run_on_one(carom_context *context, caromi_device *device, const caromi_batch *batch, uint64_t *done,
                               carom_stats *stats, carom_error *err)
{
    carom_error cause = {CAROM_OK, 0, ""};
    const double start = caromi_now();
    carom_status status = run_on_device(device, batch, done, stats, &cause, err);
    if (context->enqueued != NULL && status == CAROM_OK && *done < batch->count)
        status = CAROM_ERROR_UNSUPPORTED; /* it becomes an ordinary job */
    const double seconds = context->enqueued == NULL ? caromi_now() - start : 0;
    stats->on_device = *done - batch->begin;
    stats->device_count = 1;
    stats->devices[0] = (carom_device_share){.index = caromi_driver.index(device),
                                             .status = status == CAROM_ERROR_CANCELLED ? CAROM_OK : status,
                                             .queries = stats->on_device,
                                             .seconds = seconds};
    if (context->enqueued != NULL)
        return status;
    if (status != CAROM_OK && status != CAROM_ERROR_CANCELLED)
        status = caromi_fall_back(context, device, status, batch->count - *done, stats, &cause, err);
    else if (*done == batch->count && *done > batch->begin)
        caromi_learn_device(batch, seconds);
    return status;
}

/* Copies the statistics to the caller. */
static void give_stats(carom_stats *stats, const carom_stats *local)
{
    memcpy(stats, local, BYTES_BEFORE_DEVICES + local->device_count * sizeof *local->devices);
    stats->host = local->host;
    stats->brought = local->brought;
    stats->returned = local->returned;
    stats->by_second_filter = local->by_second_filter;
}

/* Answers a batch: on the device or devices as far as they succeed, the rest on the CPU. */
carom_status caromi_run(carom_context *context, const caromi_batch *batch, carom_stats *stats, carom_error *err)
{
    if (batch->prepare)
        return prepare(context, batch, stats, err);
    const double start = caromi_now(), brought = context->staging_traffic.bringing;
    uint64_t done = batch->begin;
    carom_stats local;
    memset(&local, 0, BYTES_BEFORE_DEVICES);
    local.host = 0.0;
    local.brought = local.returned = local.by_second_filter = 0;
    local.size = sizeof local;
    local.queries = caromi_batch_size(batch);
    caromi_device *device = NULL;
    carom_status status = choose(context, batch, &device, &local, err);
    if (context->enqueued != NULL && device == NULL)
        return CAROM_ERROR_UNSUPPORTED;
    if (status == CAROM_OK && device != NULL && caromi_has_several(context))
        status = caromi_run_pieces(context, batch, &done, &local, stats != NULL, err);
    else if (status == CAROM_OK && device != NULL) {
        caromi_driver.time(device, stats != NULL);
        status = run_on_one(context, device, batch, &done, &local, err);
    }
    /* Queries that no device has answered: the CPU needs the caller's arrays in host memory. */
    if (status == CAROM_OK && done < batch->count)
        status = caromi_staging_show_after(context, done - batch->begin, err);
    if (status == CAROM_OK && done < batch->count) {
        const double cpu_start = caromi_now();
        const uint64_t first = done;
        status = run_on_cpu(context, batch, &done, &local, err);
        const double seconds = caromi_now() - cpu_start;
        local.on_cpu += done - first;
        local.compute += seconds;
        if (first == batch->begin && status == CAROM_OK)
            caromi_learn_cpu(context, batch, seconds);
    }
    /* Statistics of all answered queries. */
    const uint64_t answered = done - batch->begin;
    caromi_staging_note_answers(context, batch->bundle > 1 ? answered / batch->bundle : answered);
    if (batch->exact && !batch->counts_pairs && answered > local.by_integers)
        local.by_proof = answered - local.by_integers;
    if (local.fallen_back > local.on_cpu)
        local.fallen_back = local.on_cpu; /* cancelled before the CPU answered the rest */
    /* Without the time of staging copies, which the end of the call adds. */
    local.total = caromi_now() - start - (context->staging_traffic.bringing - brought);
    if ((status == CAROM_OK || status == CAROM_ERROR_CANCELLED) && stats != NULL)
        give_stats(stats, &local);
    return status;
}

/* Answers pairs [first, end) on the CPU. */
carom_status caromi_pairs_on_cpu(const carom_context *context, const void *batch, uint64_t first, uint64_t end,
                                 carom_stats *stats, carom_error *err)
{
    const caromi_pair_batch *pairs = batch;
    const size_t bytes_each = caromi_cpu_scratch_size(end - first);
    const uint32_t threads = end - first > STACK_PAIRS ? caromi_pool_threads(context->pool) : 1;
    /* On the stack: an allocation would dominate the time of a single query. */
    _Alignas(64) char stack_memory[STACK_BYTES];
    void *scratch =
        threads == 1 && bytes_each <= STACK_BYTES ? stack_memory : caromi_alloc(context, threads, bytes_each);
    if (scratch == NULL)
        return caromi_fail_memory(err, "no memory to stage a batch (%u threads x %zu bytes)", threads, bytes_each);
    caromi_count_rungs(stats, caromi_cpu_pairs(context->isa, context->pool, scratch, pairs, first, end - first));
    if (scratch != stack_memory)
        caromi_free(context, scratch);
    return CAROM_OK;
}

/* Describes a batch of pairs for caromi_run(). */
carom_status caromi_run_pairs(carom_context *context, const caromi_pair_batch *batch, const carom_batch *asked,
                              carom_stats *stats, carom_error *err)
{
    const caromi_batch run = {.batch = batch,
                              .count = batch->count,
                              .on_device = caromi_driver.pairs,
                              .on_cpu = caromi_pairs_on_cpu,
                              .piece = PAIRS_PIECE,
                              .progress = asked->progress,
                              .prepare = asked->prepare,
                              .exact = caromi_is_exact(batch->kernel),
                              .name = caromi_pair_shapes[batch->kernel].name,
                              .pace = &context->paces[batch->kernel]};
    return caromi_run(context, &run, stats, err);
}
