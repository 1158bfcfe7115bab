/* SPDX-License-Identifier: MIT */
#include "pieces.h"

#include <stdio.h>
#include <string.h>

#include "choice.h"
#include "devices.h"
#include "fallback.h"
#include "staging.h"
#include "device.h"

enum {
    PIECE_LEAST = 1 << 12, /* least queries of a piece: for fewer, waking a thread takes longer */
    PIECE_ALIGN = 1 << 6,  /* pieces begin at multiples of this, whole groups of lanes */
    PARTS_LEAST = 4,       /* least parts for each device, of a batch whose parts are dealt out in turn */
    SAMPLE = 1 << 15,      /* queries of each device's first piece of a kind of batches, which measures its speed */
    WINDOW = 8 /* queries between two reports of progress: so many times those of a CPU batch, for each device */
};
/* Factor on a device's measured time, each time that it gets no piece: so it is tried again in the end. */
static const float forgiven = 0.98f;

/* Queries [first, end). */
typedef struct query_range {
    uint64_t first, end;
} query_range;

/* A piece of a batch, and how far its device has come. */
typedef struct device_piece {
    const caromi_batch *batch;
    caromi_device *device;
    query_range queries;
    uint64_t done;
    carom_status status;
    carom_error cause;
    carom_stats stats;
    double seconds;
} device_piece;

/* A batch while devices answer it. */
typedef struct spread_batch {
    carom_context *context;
    int is_dealt; /* every device has the same queries, and takes parts of them in turn */
    const caromi_batch *batch;
    carom_stats *stats;
    uint32_t out; /* a bit for each device, by index, that gets no more of this batch */
    query_range left[CAROM_DEVICES_MAX];
    uint32_t left_count;
    carom_status status; /* of the last failure; OK: no device has failed, though some may have declined */
    carom_error cause;
    device_piece piece[CAROM_DEVICES_MAX];
    uint32_t piece_count;
} spread_batch;

/* ---- division among devices -------------------------------------------------------------------------------------- */

/* The measured seconds per query of a device: 0: nothing is known; -1: its first batch has built the program. */
static float *rate_of(const spread_batch *spread, const caromi_device *device)
{
    return &spread->batch->pace->each[caromi_driver.place(device)];
}

static int is_known(const spread_batch *spread, const caromi_device *device)
{
    return *rate_of(spread, device) > 0;
}

/* Lists the devices for a batch. Devices without binary64 are left out of exact batches. Batches with arrays in the
 * caller's cl_mem run on the first device alone, as long as it is in use. */
static uint32_t find_devices(const spread_batch *spread, caromi_device **devices)
{
    const carom_context *context = spread->context;
    const uint32_t indices = caromi_has_residents(context) && context->devices[0] != NULL ? 1 : context->device_count;
    uint32_t count = 0, with_fp64 = 0;
    for (uint32_t i = 0; i < indices; i++)
        if (context->devices[i] != NULL && (spread->out >> i & 1) == 0)
            devices[count++] = context->devices[i];
    for (uint32_t i = 0; spread->batch->exact && i < count; i++)
        if (caromi_driver.has_fp64(devices[i]))
            devices[with_fp64++] = devices[i];
    return with_fp64 > 0 ? with_fp64 : count;
}

/* The fastest device, or one that is not measured yet. */
static caromi_device *best_of(const spread_batch *spread, caromi_device *const *devices, uint32_t count)
{
    caromi_device *best = devices[0];
    for (uint32_t i = 0; i < count; i++) {
        if (!is_known(spread, devices[i]))
            return devices[i];
        if (*rate_of(spread, devices[i]) < *rate_of(spread, best))
            best = devices[i];
    }
    return best;
}

/* Computes the queries of each device such that all end at the same time; equal numbers if speeds are unknown. */
static void share_out(const spread_batch *spread, caromi_device *const *devices, uint32_t count, uint64_t queries,
                      double *share)
{
    double sum = 0;
    int known = 1;
    for (uint32_t i = 0; i < count; i++)
        known &= is_known(spread, devices[i]);
    for (uint32_t i = 0; i < count; i++) {
        share[i] = known ? 1.0 / (double)*rate_of(spread, devices[i]) : 1.0;
        sum += share[i];
    }
    for (uint32_t i = 0; i < count; i++)
        share[i] *= (double)queries / sum;
}

/* Drops the device with the fewest queries if they are not worth a thread. Returns the number of devices left. */
static uint32_t drop_smallest(const spread_batch *spread, caromi_device **devices, uint32_t count, const double *share)
{
    uint32_t least = 0;
    for (uint32_t i = 1; i < count; i++)
        if (share[i] < share[least])
            least = i;
    if (count == 1 || share[least] >= PIECE_LEAST)
        return count;
    if (is_known(spread, devices[least]))
        *rate_of(spread, devices[least]) *= forgiven; /* seconds a query: it is tried again later */
    memmove(&devices[least], &devices[least + 1], (count - least - 1) * sizeof *devices);
    return count - 1;
}

static void add_piece(spread_batch *spread, caromi_device *device, uint64_t first, uint64_t end)
{
    device_piece *piece = &spread->piece[spread->piece_count++];
    *piece = (device_piece){.batch = spread->batch,
                            .device = device,
                            .queries = {first, end},
                            .done = first,
                            .stats = {.size = sizeof piece->stats, .queries = end - first}};
}

/* Deals a batch out in turn, in several parts for each device, so that all end at about the same time. Returns 0 if
 * there is no lock. */
static int deal(spread_batch *spread, caromi_device *const *devices, uint32_t count, const query_range *queries)
{
    uint64_t part = (queries->end - queries->first) / (PARTS_LEAST * (uint64_t)count);
    part = part < PIECE_LEAST ? PIECE_LEAST : (part + PIECE_ALIGN - 1) / PIECE_ALIGN * PIECE_ALIGN;
    spread->is_dealt = caromi_sequencer_open(spread->batch->turns, queries->first, queries->end, part);
    for (uint32_t i = 0; spread->is_dealt && i < count; i++)
        add_piece(spread, devices[i], queries->first, queries->end);
    return spread->is_dealt;
}

/* Cuts queries into consecutive pieces, by the devices' shares; pieces end at whole slabs or groups of lanes. */
static void cut(spread_batch *spread, caromi_device *const *devices, uint32_t count, const query_range *queries,
                const double *share)
{
    const uint64_t unit = spread->batch->slab != 0 ? spread->batch->slab : PIECE_ALIGN;
    uint64_t first = queries->first;
    double end = 0;
    for (uint32_t i = 0; i < count; i++) {
        end += share[i];
        const uint64_t units = (uint64_t)(end / (double)unit + 0.5);
        const uint64_t left = queries->end - queries->first;
        const uint64_t cut_at = i + 1 == count || units > left / unit ? queries->end : queries->first + units * unit;
        if (cut_at > first)
            add_piece(spread, devices[i], first, cut_at);
        first = cut_at > first ? cut_at : first;
    }
}

/* Cuts queries into pieces, one for each device. Returns 0 if there is no device for them. */
static int cut_for_all(spread_batch *spread, const query_range *queries)
{
    caromi_device *devices[CAROM_DEVICES_MAX];
    double share[CAROM_DEVICES_MAX];
    uint32_t count = find_devices(spread, devices);
    spread->piece_count = 0;
    spread->is_dealt = 0;
    if (count == 0)
        return 0;
    /* A list: the devices take parts in turn. Few queries, or a batch that cannot be cut: one device answers all. */
    if (spread->batch->turns != NULL && count > 1 && queries->end - queries->first >= 2 * PIECE_LEAST &&
        deal(spread, devices, count, queries))
        return 1;
    if (spread->batch->is_whole || spread->batch->turns != NULL || queries->end - queries->first < 2 * PIECE_LEAST) {
        add_piece(spread, best_of(spread, devices, count), queries->first, queries->end);
        return 1;
    }
    /* Else each device gets a share by its speed; devices with tiny shares are left out. */
    for (uint32_t before = 0; before != count;) {
        before = count;
        share_out(spread, devices, count, queries->end - queries->first, share);
        count = drop_smallest(spread, devices, count, share);
    }
    cut(spread, devices, count, queries, share);
    return 1;
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

/* Task: a device answers its piece. */
static void run_piece(void *user, uint64_t task, uint32_t thread)
{
    device_piece *piece = &((device_piece *)user)[task];
    const double start = caromi_now();
    (void)thread;
    piece->status = piece->batch->on_device(piece->device, piece->batch->batch, piece->queries.end, &piece->done,
                                            &piece->stats, &piece->cause);
    piece->seconds = caromi_now() - start;
    if (piece->status != CAROM_OK && piece->batch->turns != NULL && piece->batch->turns->is_shared)
        caromi_sequencer_stop(piece->batch->turns); /* other devices may wait for its part */
}

/* Measures the speed of a device. The first piece of a kind is not measured, as it builds a program. */
static void learn(const spread_batch *spread, const device_piece *piece)
{
    float *each = rate_of(spread, piece->device);
    if (spread->batch->prepare) {
        *each = *each == 0 ? -1 : *each;
        return;
    }
    const uint64_t queries = piece->queries.end - piece->queries.first;
    const float now = (float)(piece->seconds / (double)queries);
    if (piece->status != CAROM_OK || piece->done < piece->queries.end ||
        (queries < PIECE_LEAST && !spread->batch->is_whole))
        return;
    if (*each == 0)
        *each = -1;
    else
        *each = *each < 0 ? now : 0.5f * (*each + now);
}

/* Adds the statistics of a piece to the batch's. */
static void count_piece(const spread_batch *spread, const device_piece *piece)
{
    const uint32_t place = caromi_driver.place(piece->device);
    carom_device_share *share = &spread->stats->devices[place];
    const uint64_t queries = piece->done - piece->queries.first;
    spread->stats->on_device += queries;
    spread->stats->by_integers += piece->stats.by_integers;
    spread->stats->by_second_filter += piece->stats.by_second_filter;
    spread->stats->upload += piece->stats.upload;
    spread->stats->compute += piece->stats.compute;
    spread->stats->download += piece->stats.download;
    spread->stats->host += piece->stats.host;
    share->queries += queries;
    share->seconds += piece->seconds;
    if (piece->status != CAROM_OK)
        share->status = piece->status;
}

static void note_reason(const spread_batch *spread, const char *reason)
{
    (void)snprintf(spread->stats->fallback_reason, sizeof spread->stats->fallback_reason, "%.*s",
                   (int)sizeof spread->stats->fallback_reason - 1, reason);
}

/* Notes a range of queries that is still to be answered. */
static void leave(spread_batch *spread, uint64_t first, uint64_t end)
{
    spread->left[spread->left_count++] = (query_range){first, end};
}

/* Excludes the device of an unanswered piece from the rest of the batch. */
static void lose_device(spread_batch *spread, const device_piece *piece, uint64_t left)
{
    carom_context *context = spread->context;
    spread->out |= UINT32_C(1) << caromi_driver.place(piece->device);
    if (piece->status == CAROM_OK) {
        note_reason(spread, piece->stats.fallback_reason);
        return;
    }
    spread->status = piece->status;
    spread->cause = piece->cause;
    note_reason(spread, piece->cause.message);
    caromi_log(context, CAROM_LOG_WARNING, "device %u of %u, %.60s, leaves %llu queries to the others: %s",
               caromi_driver.place(piece->device) + 1, context->device_count, caromi_driver.name(piece->device),
               (unsigned long long)left, piece->cause.message);
    if (piece->status != CAROM_ERROR_OUT_OF_MEMORY)
        caromi_give_up(context, piece->device, piece->status, &piece->cause);
}

/* After pieces were cut: learns speeds, and notes what failed devices have left. */
static void collect_pieces(spread_batch *spread)
{
    for (uint32_t i = 0; i < spread->piece_count; i++) {
        const device_piece *piece = &spread->piece[i];
        learn(spread, piece);
        count_piece(spread, piece);
        if (piece->done == piece->queries.end && piece->status == CAROM_OK)
            continue;
        leave(spread, piece->done, piece->queries.end);
        lose_device(spread, piece, piece->queries.end - piece->done);
    }
}

/* After a batch was dealt out: the end of the answered queries, and the range that is left if a device failed or all
 * declined. */
static void collect_dealt(spread_batch *spread)
{
    const query_range *queries = &spread->piece[0].queries;
    const uint64_t delivered = spread->batch->turns->committed, left = queries->end - delivered;
    caromi_sequencer_close(spread->batch->turns);
    if (left > 0)
        leave(spread, delivered, queries->end);
    for (uint32_t i = 0; i < spread->piece_count; i++) {
        const device_piece *piece = &spread->piece[i];
        count_piece(spread, piece);
        if (piece->status != CAROM_OK ||
            (left == queries->end - queries->first && piece->stats.fallback_reason[0] != '\0'))
            lose_device(spread, piece, left);
    }
}

/* Runs the pieces, each device in a thread of its own. */
static void run_cut(spread_batch *spread)
{
    if (spread->piece_count == 1)
        run_piece(spread->piece, 0, 0);
    else
        caromi_parallel(spread->context->device_pool, spread->piece_count, run_piece, spread->piece);
    if (spread->is_dealt)
        collect_dealt(spread);
    else
        collect_pieces(spread);
}

/* Runs queries [first, end) on the devices. `left` lists the ranges that no device answered: at most one for each
 * device. */
static carom_status run_on_devices(spread_batch *spread, uint64_t first, uint64_t end, carom_error *err)
{
    spread->left[0] = (query_range){first, end};
    spread->left_count = 1;
    while (spread->left_count > 0) {
        const query_range next = spread->left[spread->left_count - 1];
        if (caromi_has_residents(spread->context) && (spread->context->devices[0] == NULL || (spread->out & 1) != 0))
            CHECK(caromi_staging_show_after(spread->context, CAROMI_SOME, err));
        if (!cut_for_all(spread, &next))
            return CAROM_OK;
        spread->left_count--;
        run_cut(spread);
    }
    return CAROM_OK;
}

/* ---- queries for the CPU ----------------------------------------------------------------------------------------- */

/* The number of queries that are left. */
static uint64_t left_of(const spread_batch *spread)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < spread->left_count; i++)
        sum += spread->left[i].end - spread->left[i].first;
    return sum;
}

/* Answers the ranges of a window that no device answered, on the CPU. */
static carom_status finish_on_cpu(spread_batch *spread, carom_error *err)
{
    const double start = caromi_now();
    CHECK(caromi_staging_show_after(spread->context, CAROMI_SOME, err));
    for (uint32_t i = 0; i < spread->left_count; i++) {
        const query_range *range = &spread->left[i];
        CHECK(caromi_run_piece(spread->context, spread->batch, range->first, range->end, spread->stats, err));
        spread->stats->on_cpu += range->end - range->first;
    }
    spread->stats->compute += caromi_now() - start;
    return CAROM_OK;
}

/* Falls back to the CPU as no device is left. rest: queries that are not begun. */
static carom_status fall_back(spread_batch *spread, uint64_t rest, carom_error *err)
{
    const uint64_t left = left_of(spread) + rest;
    if (spread->status != CAROM_OK)
        return caromi_fall_back(spread->context, NULL, spread->status, left, spread->stats, &spread->cause, err);
    spread->stats->fallen_back = left; /* all have declined */
    return CAROM_OK;
}

/* The end of the window (the queries between two reports of progress) that begins at `first`. Windows are short while
 * the speed of a device is unknown. */
static uint64_t window_end(const spread_batch *spread, uint64_t first)
{
    caromi_device *devices[CAROM_DEVICES_MAX];
    const caromi_batch *batch = spread->batch;
    const uint32_t count = find_devices(spread, devices);
    const uint64_t left = batch->count - first, unit = batch->slab != 0 ? batch->slab : PIECE_ALIGN;
    uint64_t queries = !batch->reports ? left : WINDOW * batch->piece * (count > 0 ? count : 1);
    for (uint32_t i = 0; !batch->is_whole && batch->turns == NULL && i < count; i++)
        if (!is_known(spread, devices[i])) {
            const uint64_t sample = (SAMPLE + unit - 1) / unit * unit * count;
            queries = queries < sample ? queries : sample;
        }
    return queries < left ? first + queries : batch->count;
}

/* Begins the statistics of each device. */
static void begin_shares(const carom_context *context, carom_stats *stats, int timed)
{
    stats->device_count = context->device_count;
    for (uint32_t i = 0; i < context->device_count; i++) {
        stats->devices[i] = (carom_device_share){.index = UINT32_MAX, .status = CAROM_ERROR_NO_DEVICE};
        if (context->devices[i] == NULL)
            continue;
        stats->devices[i] = (carom_device_share){.index = caromi_driver.index(context->devices[i])};
        caromi_driver.time(context->devices[i], timed);
    }
}

/* Answers a batch by several devices, window by window; what they leave goes to the CPU. */
carom_status caromi_run_pieces(carom_context *context, const caromi_batch *batch, uint64_t *done, carom_stats *stats,
                               int timed, carom_error *err)
{
    spread_batch spread = {.context = context, .batch = batch, .stats = stats};
    carom_status status = CAROM_OK;
    begin_shares(context, stats, timed);
    while (status == CAROM_OK && *done < batch->count) {
        const uint64_t end = window_end(&spread, *done);
        caromi_pause_watch(context, 1);
        status = run_on_devices(&spread, *done, end, err);
        caromi_pause_watch(context, 0);
        const int is_over = spread.left_count > 0; /* the devices left queries unanswered: none of them goes on */
        if (status == CAROM_OK && is_over)
            status = fall_back(&spread, batch->count - end, err);
        if (status == CAROM_OK && is_over)
            status = finish_on_cpu(&spread, err);
        if (status == CAROM_OK)
            status = caromi_report_batch(context, batch, *done = end, err);
        if (is_over)
            break;
    }
    return status;
}

/* Prepares each device for the batch. */
carom_status caromi_prepare_pieces(carom_context *context, const caromi_batch *batch, carom_stats *stats,
                                   carom_error *err)
{
    spread_batch spread = {.context = context, .batch = batch, .stats = stats};
    caromi_device *devices[CAROM_DEVICES_MAX];
    const uint32_t count = find_devices(&spread, devices);
    begin_shares(context, stats, 0 /* not timed */);
    for (uint32_t i = 0; i < count; i++)
        add_piece(&spread, devices[i], batch->begin, batch->begin);
    run_cut(&spread);
    for (uint32_t i = 0; i < count; i++)
        if (spread.piece[i].status == CAROM_OK) {
            if (stats->fallback_reason[0] == '\0') /* no device has failed; all may have declined */
                note_reason(&spread, spread.piece[i].stats.fallback_reason);
            return CAROM_OK;
        }
    return caromi_fall_back(context, NULL, spread.status, caromi_batch_size(batch), stats, &spread.cause, err);
}
