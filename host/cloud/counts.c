/* SPDX-License-Identifier: MIT */
#include "counts.h"

#include <string.h>

enum {
    SUMS = 8,            /* at most so many columns of sums; more threads share them and add atomically */
    RUN = 1 << 14,       /* spheres of a task */
    SLOTS_AT_ONCE = 1024 /* slots whose owner is looked up at a time */
};

/* Task: sets the counts of some spheres to 0. */
static void begin_run(void *user, uint64_t begin, uint64_t end, uint32_t thread)
{
    const caromi_counts *tally = user;
    const uint64_t asked = caromi_cloud_asked(tally->cloud), own_end = end < asked ? end : asked;
    (void)thread;
    if (begin < own_end)
        memset(tally->counts + begin, 0, (own_end - begin) * sizeof *tally->counts);
    for (uint64_t i = begin; tally->is_by_slot && i < end; i++)
        tally->slots[i] = (uint32_t)i;
}

/* Task: sets the sums of some spheres to 0, before a slice. */
static void clear_run(void *user, uint64_t begin, uint64_t end, uint32_t thread)
{
    const caromi_counts *tally = user;
    const uint64_t spheres = tally->cloud->count;
    (void)thread;
    for (uint32_t column = 0; column < tally->sum_count; column++)
        memset(tally->sums + column * spheres + begin, 0, (end - begin) * sizeof *tally->sums);
}

/* Runs a task on all spheres. */
static void run_all(caromi_counts *tally, caromi_run_fn *run)
{
    caromi_parallel_runs(caromi_cloud_pool(tally->cloud), tally->cloud->count, RUN, run, tally);
}

/* Allocates the sums, and sets the counts to 0. */
carom_status caromi_counts_begin(caromi_counts *tally, const caromi_cloud *cloud, int full, uint32_t *counts,
                                 carom_error *err)
{
    const uint64_t spheres = cloud->count;
    *tally = (caromi_counts){.cloud = cloud, .full = full, .counts = counts};
    tally->threads = caromi_pool_threads(caromi_cloud_pool(cloud));
    tally->sum_count = tally->threads < SUMS ? tally->threads : SUMS;
    tally->is_by_slot = full && cloud->begin == 0 && cloud->end == caromi_cloud_asked(cloud);
    tally->sums = caromi_cached_alloc(cloud->context, tally->sum_count * spheres + 1, sizeof *tally->sums);
    tally->slots = tally->is_by_slot
                       ? caromi_cached_alloc(cloud->context, spheres + CAROMI_CLOUD_PADDING, sizeof *tally->slots)
                       : NULL;
    if (tally->sums == NULL || (tally->is_by_slot && tally->slots == NULL)) {
        caromi_counts_end(tally);
        return caromi_fail_memory(err, "no memory to count pairs of spheres");
    }
    run_all(tally, begin_run);
    for (uint64_t i = spheres; tally->is_by_slot && i < spheres + CAROMI_CLOUD_PADDING; i++)
        tally->slots[i] = (uint32_t)i;
    return CAROM_OK;
}

void caromi_counts_end(caromi_counts *tally)
{
    caromi_cached_free(tally->cloud->context, tally->sums);
    caromi_cached_free(tally->cloud->context, tally->slots);
}

void caromi_counts_enter(caromi_counts *tally, caromi_cloud_cells *cells)
{
    tally->cells = cells;
    run_all(tally, clear_run);
    if (tally->is_by_slot)
        cells->view.index = tally->slots;
}

/* ---- adding ------------------------------------------------------------------------------------------------------ */

/* Counts one pair for sphere a, if that is asked for. */
static void add(const caromi_counts *tally, uint32_t *sums, uint32_t a)
{
    if (!tally->is_by_slot && (a < tally->cloud->begin || a >= tally->cloud->end))
        return;
    if (tally->threads > tally->sum_count)
        atomic_fetch_add_explicit((_Atomic uint32_t *)&sums[a], 1, memory_order_relaxed);
    else
        sums[a]++;
}

/* The column that a thread adds to. */
static uint32_t *sums_of(const caromi_counts *tally, uint32_t thread)
{
    return tally->sums + thread % tally->sum_count * tally->cloud->count;
}

/* The scan's callback for hits: each counts for sphere a and, with `full`, for sphere b. */
void caromi_counts_add(void *user, uint32_t thread, const caromi_cloud_pair *pairs, uint32_t count)
{
    const caromi_counts *tally = user;
    const uint32_t *index = tally->is_by_slot ? tally->slots : tally->cells->index;
    uint32_t *sums = sums_of(tally, thread);
    for (uint32_t i = 0; i < count; i++) {
        add(tally, sums, index[pairs[i].a]);
        if (tally->full)
            add(tally, sums, index[pairs[i].b]);
    }
}

/* The scan's callback for proven pairs, which come in either order. */
void caromi_counts_add_certain(void *user, uint32_t thread, const caromi_cloud_pairs *pairs, int image, uint8_t state)
{
    const caromi_counts *tally = user;
    uint32_t *sums = sums_of(tally, thread);
    (void)image, (void)state;
    if (tally->is_by_slot && tally->threads <= tally->sum_count) {
        for (uint32_t i = 0; i < pairs->count; i++) {
            sums[pairs->a[i]]++;
            sums[pairs->b[i]]++;
        }
        return;
    }
    for (uint32_t i = 0; i < pairs->count; i++) {
        const uint32_t a = pairs->a[i], b = pairs->b[i];
        add(tally, sums, a < b ? a : b);
        if (tally->full)
            add(tally, sums, a < b ? b : a);
    }
}

/* ---- joining ----------------------------------------------------------------------------------------------------- */

/* Number i of the columns of all threads, added up. */
static inline uint32_t sum_of(const caromi_counts *tally, uint64_t i)
{
    uint32_t sum = 0;
    for (uint32_t column = 0; column < tally->sum_count; column++)
        sum += tally->sums[column * tally->cloud->count + i];
    return sum;
}

/* Task: adds the sums of some spheres, or of some slots, to the counts. */
static void join_run(void *user, uint64_t begin, uint64_t end, uint32_t thread)
{
    const caromi_counts *tally = user;
    const uint64_t filled = end < tally->cells->count ? end : tally->cells->count;
    const uint64_t asked = caromi_cloud_asked(tally->cloud);
    (void)thread;
    for (uint64_t i = begin; !tally->is_by_slot && i < end && i < asked; i++)
        tally->counts[i] += sum_of(tally, i);
    for (uint64_t i = begin; tally->is_by_slot && i < filled; i++)
        if (tally->cells->index[i] < asked)
            tally->counts[tally->cells->index[i]] += sum_of(tally, i);
}

/* Task: adds the sums of the spheres of a range of indices to their counts. Sums are by slot, so indices come in no
 * order. Each task therefore walks through all slots and picks its own spheres: threads that write to the same cache
 * lines would wait for each other. */
static void join_own(void *user, uint64_t task, uint32_t thread)
{
    const caromi_counts *tally = user;
    const uint32_t *index = tally->cells->index, filled = (uint32_t)tally->cells->count;
    const uint64_t asked = caromi_cloud_asked(tally->cloud); /* of two clouds the first one's spheres have counts */
    const uint32_t first = (uint32_t)caromi_slice_start(asked, tally->sum_count, task);
    const uint32_t range = (uint32_t)caromi_slice_start(asked, tally->sum_count, task + 1) - first;
    uint32_t own[SLOTS_AT_ONCE];
    (void)thread;
    for (uint32_t begin = 0, end; begin < filled; begin = end) {
        uint32_t count = 0;
        end = filled - begin < SLOTS_AT_ONCE ? filled : begin + SLOTS_AT_ONCE;
        for (uint32_t slot = begin; slot < end; slot++) {
            own[count] = slot;
            count += index[slot] - first < range;
        }
        for (uint32_t number = 0; number < count; number++)
            tally->counts[index[own[number]]] += sum_of(tally, own[number]);
    }
}

/* Ends a slice: adds its sums to the counts. */
void caromi_counts_join(caromi_counts *tally)
{
    if (tally->is_by_slot && tally->sum_count > 1)
        caromi_parallel(caromi_cloud_pool(tally->cloud), tally->sum_count, join_own, tally);
    else
        run_all(tally, join_run);
}
