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
    LEAST = 1 << 12,  /* least queries of a piece: for fewer, waking a thread takes longer */
    ALIGN = 1 << 6,   /* pieces begin at multiples of this, whole groups of lanes */
    PARTS = 4,        /* least parts for each device, of a batch whose parts are dealt out in turn */
    SAMPLE = 1 << 15, /* queries of each device's first piece of a kind of batches, which measures its speed */
    WINDOW = 8        /* queries between two reports of progress: so many times those of a CPU batch, for each device */
};
static const float forgiven =
    0.98f; /* factor on a device's measured time, each time that it gets no piece: so it is tried again in the end */

typedef struct range {
    uint64_t first, end;
} range;

typedef struct piece {
    const caromi_batch *batch;
    caromi_device *device;
    range queries;
    uint64_t done;
    carom_status status;
    carom_error cause;
    carom_stats stats;
    double seconds;
} piece;

/* A batch while devices answer it. */
typedef struct spread {
    carom_context *context;
    int is_dealt; /* every device has the same queries, and takes parts of them in turn */
    const caromi_batch *batch;
    carom_stats *stats;
    uint32_t out; /* a bit for each device, by index, that gets no more of this batch */
    range left[CAROM_DEVICES_MAX];
    uint32_t left_count;
    carom_status status; /* of the last failure; OK: no device has failed, though some may have declined */
    carom_error cause;
    piece piece[CAROM_DEVICES_MAX];
    uint32_t piece_count;
} spread;

/* ---- division among devices -------------------------------------------------------------------------------------- */

static float *rate_of(const spread *s, const caromi_device *device)
{
    return &s->batch->pace->each[caromi_driver.place(device)];
}

static int is_known(const spread *s, const caromi_device *device)
{
    return *rate_of(s, device) > 0;
}

/* Lists the devices for a batch. Devices without binary64 are left out of exact batches. Batches with arrays in the
 * caller's cl_mem run on the first device alone, as long as it is in use. */
static uint32_t find_devices(const spread *s, caromi_device **team)
{
    const carom_context *c = s->context;
    const uint32_t places = caromi_has_residents(c) && c->devices[0] != NULL ? 1 : c->device_count;
    uint32_t count = 0, with_fp64 = 0;
    for (uint32_t i = 0; i < places; i++)
        if (c->devices[i] != NULL && (s->out >> i & 1) == 0)
            team[count++] = c->devices[i];
    for (uint32_t i = 0; s->batch->exact && i < count; i++)
        if (caromi_driver.has_fp64(team[i]))
            team[with_fp64++] = team[i];
    return with_fp64 > 0 ? with_fp64 : count;
}

/* The fastest device, or one that is not measured yet. */
static caromi_device *best_of(const spread *s, caromi_device *const *team, uint32_t count)
{
    caromi_device *best = team[0];
    for (uint32_t i = 0; i < count; i++) {
        if (!is_known(s, team[i]))
            return team[i];
        if (*rate_of(s, team[i]) < *rate_of(s, best))
            best = team[i];
    }
    return best;
}

/* Computes the queries of each device such that all end at the same time; equal numbers if speeds are unknown. */
static void share_out(const spread *s, caromi_device *const *team, uint32_t count, uint64_t queries, double *share)
{
    double sum = 0;
    int known = 1;
    for (uint32_t i = 0; i < count; i++)
        known &= is_known(s, team[i]);
    for (uint32_t i = 0; i < count; i++) {
        share[i] = known ? 1.0 / (double)*rate_of(s, team[i]) : 1.0;
        sum += share[i];
    }
    for (uint32_t i = 0; i < count; i++)
        share[i] *= (double)queries / sum;
}

/* Drops the device with the fewest queries if they are not worth a thread. Returns the number of devices left. */
static uint32_t drop_smallest(const spread *s, caromi_device **team, uint32_t count, const double *share)
{
    uint32_t least = 0;
    for (uint32_t i = 1; i < count; i++)
        if (share[i] < share[least])
            least = i;
    if (count == 1 || share[least] >= LEAST)
        return count;
    if (is_known(s, team[least]))
        *rate_of(s, team[least]) *= forgiven;
    memmove(&team[least], &team[least + 1], (count - least - 1) * sizeof *team);
    return count - 1;
}

static void add_piece(spread *s, caromi_device *device, uint64_t first, uint64_t end)
{
    piece *p = &s->piece[s->piece_count++];
    *p = (piece){.batch = s->batch,
                 .device = device,
                 .queries = {first, end},
                 .done = first,
                 .stats = {.size = sizeof p->stats, .queries = end - first}};
}

/* Deals a batch out in turn, in several parts for each device, so that all end at about the same time. Returns 0 if
 * there is no lock. */
static int deal(spread *s, caromi_device *const *team, uint32_t count, const range *queries)
{
    uint64_t part = (queries->end - queries->first) / (PARTS * (uint64_t)count);
    part = part < LEAST ? LEAST : (part + ALIGN - 1) / ALIGN * ALIGN;
    s->is_dealt = caromi_sequencer_open(s->batch->turns, queries->first, queries->end, part);
    for (uint32_t i = 0; s->is_dealt && i < count; i++)
        add_piece(s, team[i], queries->first, queries->end);
    return s->is_dealt;
}

static void cut(spread *s, caromi_device *const *team, uint32_t count, const range *queries, const double *share)
{
    const uint64_t unit = s->batch->slab != 0 ? s->batch->slab : ALIGN;
    uint64_t first = queries->first;
    double end = 0;
    for (uint32_t i = 0; i < count; i++) {
        end += share[i];
        const uint64_t units = (uint64_t)(end / (double)unit + 0.5);
        const uint64_t left = queries->end - queries->first;
        const uint64_t cut_at = i + 1 == count || units > left / unit ? queries->end : queries->first + units * unit;
        if (cut_at > first)
            add_piece(s, team[i], first, cut_at);
        first = cut_at > first ? cut_at : first;
    }
}

/* Cuts queries into pieces, one for each device. Returns 0 if there is no device for them. */
static int cut_for_all(spread *s, const range *queries)
{
    caromi_device *team[CAROM_DEVICES_MAX];
    double share[CAROM_DEVICES_MAX];
    uint32_t count = find_devices(s, team);
    s->piece_count = 0;
    s->is_dealt = 0;
    if (count == 0)
        return 0;
    if (s->batch->turns != NULL && count > 1 && queries->end - queries->first >= 2 * LEAST &&
        deal(s, team, count, queries))
        return 1;
    if (s->batch->is_whole || s->batch->turns != NULL || queries->end - queries->first < 2 * LEAST) {
        add_piece(s, best_of(s, team, count), queries->first, queries->end);
        return 1;
    }
    for (uint32_t before = 0; before != count;) {
        before = count;
        share_out(s, team, count, queries->end - queries->first, share);
        count = drop_smallest(s, team, count, share);
    }
    cut(s, team, count, queries, share);
    return 1;
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

static void run_piece(void *user, uint64_t task, uint32_t thread)
{
    piece *p = &((piece *)user)[task];
    const double start = caromi_now();
    (void)thread;
    p->status = p->batch->on_device(p->device, p->batch->batch, p->queries.end, &p->done, &p->stats, &p->cause);
    p->seconds = caromi_now() - start;
    if (p->status != CAROM_OK && p->batch->turns != NULL && p->batch->turns->is_shared)
        caromi_sequencer_stop(p->batch->turns); /* other devices may wait for its part */
}

/* Measures the speed of a device. The first piece of a kind is not measured, as it builds a program. */
static void learn(const spread *s, const piece *p)
{
    float *each = rate_of(s, p->device);
    if (s->batch->prepare) {
        *each = *each == 0 ? -1 : *each;
        return;
    }
    const uint64_t queries = p->queries.end - p->queries.first;
    const float now = (float)(p->seconds / (double)queries);
    if (p->status != CAROM_OK || p->done < p->queries.end || (queries < LEAST && !s->batch->is_whole))
        return;
    if (*each == 0)
        *each = -1;
    else
        *each = *each < 0 ? now : 0.5f * (*each + now);
}

static void count_piece(const spread *s, const piece *p)
{
    const uint32_t place = caromi_driver.place(p->device);
    carom_device_share *share = &s->stats->devices[place];
    const uint64_t queries = p->done - p->queries.first;
    s->stats->on_device += queries;
    s->stats->by_integers += p->stats.by_integers;
    s->stats->upload += p->stats.upload;
    s->stats->compute += p->stats.compute;
    s->stats->download += p->stats.download;
    s->stats->host += p->stats.host;
    share->queries += queries;
    share->seconds += p->seconds;
    if (p->status != CAROM_OK)
        share->status = p->status;
}

static void note_reason(const spread *s, const char *reason)
{
    (void)snprintf(s->stats->fallback_reason, sizeof s->stats->fallback_reason, "%.*s",
                   (int)sizeof s->stats->fallback_reason - 1, reason);
}

static void leave(spread *s, uint64_t first, uint64_t end)
{
    s->left[s->left_count++] = (range){first, end};
}

/* Excludes the device of an unanswered piece from the rest of the batch. */
static void lose_device(spread *s, const piece *p, uint64_t left)
{
    carom_context *c = s->context;
    s->out |= UINT32_C(1) << caromi_driver.place(p->device);
    if (p->status == CAROM_OK) {
        note_reason(s, p->stats.fallback_reason);
        return;
    }
    s->status = p->status;
    s->cause = p->cause;
    note_reason(s, p->cause.message);
    caromi_log(c, CAROM_LOG_WARNING, "device %u of %u, %.60s, leaves %llu queries to the others: %s",
               caromi_driver.place(p->device) + 1, c->device_count, caromi_driver.name(p->device),
               (unsigned long long)left, p->cause.message);
    if (p->status != CAROM_ERROR_OUT_OF_MEMORY)
        caromi_give_up(c, p->device, p->status, &p->cause);
}

static void collect_pieces(spread *s)
{
    for (uint32_t i = 0; i < s->piece_count; i++) {
        const piece *p = &s->piece[i];
        learn(s, p);
        count_piece(s, p);
        if (p->done == p->queries.end && p->status == CAROM_OK)
            continue;
        leave(s, p->done, p->queries.end);
        lose_device(s, p, p->queries.end - p->done);
    }
}

/* After a batch was dealt out: the end of the answered queries, and the range that is left if a device failed or all
 * declined. */
static void collect_dealt(spread *s)
{
    const range *queries = &s->piece[0].queries;
    const uint64_t delivered = s->batch->turns->committed, left = queries->end - delivered;
    caromi_sequencer_close(s->batch->turns);
    if (left > 0)
        leave(s, delivered, queries->end);
    for (uint32_t i = 0; i < s->piece_count; i++) {
        const piece *p = &s->piece[i];
        count_piece(s, p);
        if (p->status != CAROM_OK || (left == queries->end - queries->first && p->stats.fallback_reason[0] != '\0'))
            lose_device(s, p, left);
    }
}

static void run_cut(spread *s)
{
    if (s->piece_count == 1)
        run_piece(s->piece, 0, 0);
    else
        caromi_parallel(s->context->device_pool, s->piece_count, run_piece, s->piece);
    if (s->is_dealt)
        collect_dealt(s);
    else
        collect_pieces(s);
}

/* Runs queries [first, end) on the devices. `left` lists the ranges that no device answered: at most one for each
 * device. */
static carom_status run_on_devices(spread *s, uint64_t first, uint64_t end, carom_error *err)
{
    s->left[0] = (range){first, end};
    s->left_count = 1;
    while (s->left_count > 0) {
        const range next = s->left[s->left_count - 1];
        if (caromi_has_residents(s->context) && (s->context->devices[0] == NULL || (s->out & 1) != 0))
            CHECK(caromi_staging_show(s->context, err));
        if (!cut_for_all(s, &next))
            return CAROM_OK;
        s->left_count--;
        run_cut(s);
    }
    return CAROM_OK;
}

/* ---- queries for the CPU ----------------------------------------------------------------------------------------- */

static uint64_t left_of(const spread *s)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < s->left_count; i++)
        sum += s->left[i].end - s->left[i].first;
    return sum;
}

/* Answers the ranges of a window that no device answered, on the CPU. */
static carom_status finish_on_cpu(spread *s, carom_error *err)
{
    const double start = caromi_now();
    CHECK(caromi_staging_show(s->context, err));
    for (uint32_t i = 0; i < s->left_count; i++) {
        const range *r = &s->left[i];
        CHECK(s->batch->on_cpu(s->context, s->batch->batch, r->first, r->end, s->stats, err));
        s->stats->on_cpu += r->end - r->first;
    }
    s->stats->compute += caromi_now() - start;
    return CAROM_OK;
}

/* Falls back to the CPU as no device is left. rest: queries that are not begun. */
static carom_status fall_back(spread *s, uint64_t rest, carom_error *err)
{
    const uint64_t left = left_of(s) + rest;
    if (s->status != CAROM_OK)
        return caromi_fall_back(s->context, NULL, s->status, left, s->stats, &s->cause, err);
    s->stats->fallen_back = left; /* all have declined */
    return CAROM_OK;
}

/* The end of the window (the queries between two reports of progress) that begins at `first`. Windows are short while
 * the speed of a device is unknown. */
static uint64_t window_end(const spread *s, uint64_t first)
{
    caromi_device *team[CAROM_DEVICES_MAX];
    const caromi_batch *batch = s->batch;
    const uint32_t count = find_devices(s, team);
    const uint64_t left = batch->count - first, unit = batch->slab != 0 ? batch->slab : ALIGN;
    uint64_t queries = batch->progress.fn == NULL ? left : WINDOW * batch->piece * (count > 0 ? count : 1);
    for (uint32_t i = 0; !batch->is_whole && batch->turns == NULL && i < count; i++)
        if (!is_known(s, team[i])) {
            const uint64_t sample = (SAMPLE + unit - 1) / unit * unit * count;
            queries = queries < sample ? queries : sample;
        }
    return queries < left ? first + queries : batch->count;
}

static void begin_shares(const carom_context *c, carom_stats *stats, int timed)
{
    stats->device_count = c->device_count;
    for (uint32_t i = 0; i < c->device_count; i++) {
        stats->devices[i] = (carom_device_share){.index = UINT32_MAX, .status = CAROM_ERROR_NO_DEVICE};
        if (c->devices[i] == NULL)
            continue;
        stats->devices[i] = (carom_device_share){.index = caromi_driver.index(c->devices[i])};
        caromi_driver.time(c->devices[i], timed);
    }
}

carom_status caromi_run_pieces(carom_context *c, const caromi_batch *batch, uint64_t *done, carom_stats *stats,
                               int timed, carom_error *err)
{
    spread s = {.context = c, .batch = batch, .stats = stats};
    carom_status status = CAROM_OK;
    begin_shares(c, stats, timed);
    while (status == CAROM_OK && *done < batch->count) {
        const uint64_t end = window_end(&s, *done);
        status = run_on_devices(&s, *done, end, err);
        const int is_over = s.left_count > 0; /* the devices left queries unanswered: none of them goes on */
        if (status == CAROM_OK && is_over)
            status = fall_back(&s, batch->count - end, err);
        if (status == CAROM_OK && is_over)
            status = finish_on_cpu(&s, err);
        if (status == CAROM_OK)
            status = caromi_report_batch(batch, *done = end, err);
        if (is_over)
            break;
    }
    return status;
}

carom_status caromi_prepare_pieces(carom_context *c, const caromi_batch *batch, carom_stats *stats, carom_error *err)
{
    spread s = {.context = c, .batch = batch, .stats = stats};
    caromi_device *team[CAROM_DEVICES_MAX];
    const uint32_t count = find_devices(&s, team);
    begin_shares(c, stats, 0);
    for (uint32_t i = 0; i < count; i++)
        add_piece(&s, team[i], batch->begin, batch->begin);
    run_cut(&s);
    for (uint32_t i = 0; i < count; i++)
        if (s.piece[i].status == CAROM_OK) {
            if (stats->fallback_reason[0] == '\0') /* no device has failed; all may have declined */
                note_reason(&s, s.piece[i].stats.fallback_reason);
            return CAROM_OK;
        }
    return caromi_fall_back(c, NULL, s.status, caromi_batch_size(batch), stats, &s.cause, err);
}
