/* SPDX-License-Identifier: MIT */
/* Runs a batch: on the device as far as it succeeds, the rest on the CPU. */
#include <stddef.h>
#include <string.h>

#include "batch.h"
#include "choice.h"
#include "devices.h"
#include "staging.h"
#include "device.h"
#include "pieces.h"

enum { PAIRS_PIECE = 1 << 20 }; /* most pairs of a piece, about 10 ms */
/* The bytes of carom_stats before the statistics of devices, which small batches do not clear. */
enum { BYTES_BEFORE_DEVICES = offsetof(carom_stats, devices) };
enum { STACK_PAIRS = 64, STACK_BYTES = 2 * COLUMNS_MAX * STACK_PAIRS * sizeof(float) };

/* ---- progress ---------------------------------------------------------------------------------------------------- */

/* The word for one of what a batch's progress counts; NULL: it is a share of the work. */
static const char *unit_name(const caromi_batch *batch)
{
    const char *slab_name = batch->slab_name != NULL ? batch->slab_name : "slab";
    return batch->counts_share ? NULL : batch->slab != 0 ? slab_name : "query";
}

static uint64_t unit_of(const caromi_batch *batch)
{
    return batch->slab != 0 ? batch->slab : 1;
}

/* What the batch's reports say from now on. */
static void begin_reports(const carom_context *context, const caromi_batch *batch)
{
    caromi_watch *watch = context->watch;
    if (!batch->reports || watch == NULL)
        return;
    watch->begin = watch->done = batch->begin / unit_of(batch);
    watch->count = batch->count / unit_of(batch);
}

carom_status caromi_report_batch(const carom_context *context, const caromi_batch *batch, uint64_t done,
                                 carom_error *err)
{
    return batch->reports ? caromi_report(context, unit_name(batch), done / unit_of(batch), err)
                          : caromi_went_on(context);
}

/* The end of the piece of a batch, between two reports of progress, that begins at `first`. */
static uint64_t piece_end(const caromi_batch *batch, uint64_t first, uint64_t piece)
{
    return !batch->reports || batch->count - first < piece ? batch->count : first + piece;
}

/* Answers queries from *done on, piece by piece, until the device fails or declines. */
static carom_status run_on_device(const carom_context *context, caromi_device *device, const caromi_batch *batch,
                                  uint64_t *done, carom_stats *stats, carom_error *cause, carom_error *err)
{
    carom_status status = CAROM_OK;
    while (status == CAROM_OK && *done < batch->count) {
        enum { CHUNKS = 8 }; /* larger pieces than on the CPU, so that several chunks are in flight */
        const uint64_t first = *done, end = piece_end(batch, first, CHUNKS * batch->piece);
        caromi_pause_watch(context, 1);
        status = batch->on_device(device, batch->batch, end, done, stats, cause);
        caromi_pause_watch(context, 0);
        if (status == CAROM_ERROR_CANCELLED)
            return caromi_fail_cancelled(context, unit_name(batch), err);
        if (status == CAROM_OK && *done == first) /* the device declines the batch */
            return CAROM_OK;
        if (status == CAROM_OK)
            status = caromi_report_batch(context, batch, *done, err);
    }
    return status;
}

/* ---- pieces on the CPU ------------------------------------------------------------------------------------------- */

enum { GROWTH = 8, FIRST_OF = 1 << 10 }; /* most growth from piece to piece; part of the largest piece that is first */
static const double PIECE_SECONDS = 0.5;

/* What earlier pieces have told, also those of earlier calls. */
static uint64_t known_piece(const caromi_batch *batch)
{
    return batch->pace->piece > 0 ? batch->pace->piece : batch->piece / FIRST_OF;
}

/* The queries of the next piece: whole slabs of a lattice, whole bundles. */
static uint64_t piece_of(const caromi_batch *batch)
{
    const uint64_t unit = batch->slab > 0     ? batch->slab
                          : batch->bundle > 1 ? batch->bundle
                                              : 1,
                   known = known_piece(batch), piece = known > batch->piece_least ? known : batch->piece_least;
    if (piece >= batch->piece || batch->counts_share)
        return batch->piece;
    return piece > unit ? piece / unit * unit : unit;
}

/* Adapts the next piece to the time of this one. Short times, which threads that wake up make longer, let it grow
 * alone. */
static void learn_piece(const caromi_batch *batch, uint64_t queries, double seconds)
{
    const double fits = (double)queries * (PIECE_SECONDS / (seconds > 0 ? seconds : 1e-9)),
                 most = (double)(queries < batch->piece ? queries : batch->piece) * GROWTH,
                 next = fits < most ? fits : most;
    if (next > (double)known_piece(batch) || seconds > PIECE_SECONDS)
        batch->pace->piece = next >= (double)batch->piece ? batch->piece : next > 1 ? (uint64_t)next : 1;
}

carom_status caromi_run_piece(const carom_context *context, const caromi_batch *batch, uint64_t first, uint64_t end,
                              carom_stats *stats, carom_error *err)
{
    if (context->watch == NULL)
        return batch->on_cpu(context, batch->batch, first, end, stats, err);
    const uint64_t by_integers = stats->by_integers, by_second_filter = stats->by_second_filter;
    const carom_list_totals totals = batch->totals != NULL ? *batch->totals : (carom_list_totals){0};
    carom_status status = caromi_went_on(context);
    if (status == CAROM_OK)
        status = batch->on_cpu(context, batch->batch, first, end, stats, err);
    if (status == CAROM_OK && end < batch->count)
        status = caromi_went_on(context); /* answers that no report has told of do not count */
    if (status != CAROM_ERROR_CANCELLED)
        return status;
    stats->by_integers = by_integers;
    stats->by_second_filter = by_second_filter;
    if (batch->totals != NULL)
        *batch->totals = totals;
    return caromi_fail_cancelled(context, unit_name(batch), err);
}

/* Answers queries from *done on, piece by piece. */
static carom_status run_on_cpu(const carom_context *context, const caromi_batch *batch, uint64_t *done,
                               carom_stats *stats, carom_error *err)
{
    carom_status status = CAROM_OK;
    while (status == CAROM_OK && *done < batch->count) {
        const uint64_t end = piece_end(batch, *done, piece_of(batch));
        const double start = batch->reports ? caromi_now() : 0;
        status = caromi_run_piece(context, batch, *done, end, stats, err);
        if (status == CAROM_OK && batch->reports && !batch->counts_share)
            learn_piece(batch, end - *done, caromi_now() - start);
        if (status == CAROM_OK)
            status = caromi_report_batch(context, batch, *done = end, err);
    }
    return status;
}

/* ---- the batch --------------------------------------------------------------------------------------------------- */

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
    carom_status status = run_on_device(context, device, batch, done, stats, &cause, err);
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
        return caromi_went_on(context) == CAROM_OK ? prepare(context, batch, stats, err)
                                                   : caromi_fail_cancelled(context, unit_name(batch), err);
    const double start = caromi_now(), brought = context->staging_traffic.bringing;
    uint64_t done = batch->begin;
    carom_stats local;
    memset(&local, 0, BYTES_BEFORE_DEVICES);
    local.host = 0.0;
    local.brought = local.returned = local.by_second_filter = 0;
    local.size = sizeof local;
    local.queries = caromi_batch_size(batch);
    caromi_device *device = NULL;
    begin_reports(context, batch);
    carom_status status = choose(context, batch, &device, &local, err);
    if (context->enqueued != NULL && device == NULL)
        return CAROM_ERROR_UNSUPPORTED;
    if (status == CAROM_OK && caromi_went_on(context) != CAROM_OK) /* while the CPU's speed was measured */
        status = caromi_fail_cancelled(context, unit_name(batch), err);
    if (status == CAROM_OK && device != NULL && caromi_has_several(context))
        status = caromi_run_pieces(context, batch, &done, &local, stats != NULL, err);
    else if (status == CAROM_OK && device != NULL) {
        caromi_driver.time(device, stats != NULL);
        status = run_on_one(context, device, batch, &done, &local, err);
    }
    if (batch->reports && context->watch != NULL)
        caromi_watch_move(context->watch, done / unit_of(batch));
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
    caromi_count_rungs(
        stats, caromi_cpu_pairs(context->isa, context->pool, scratch, pairs, first, end - first, context->watch));
    if (scratch != stack_memory)
        caromi_free(context, scratch);
    return caromi_went_on(context);
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
                              .reports = asked->progress.fn != NULL,
                              .prepare = asked->prepare,
                              .exact = caromi_is_exact(batch->kernel),
                              .name = caromi_pair_shapes[batch->kernel].name,
                              .pace = &context->paces[batch->kernel]};
    return caromi_run(context, &run, stats, err);
}
