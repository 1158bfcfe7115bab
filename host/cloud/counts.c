/* SPDX-License-Identifier: MIT */
#include "counts.h"

#include <string.h>

enum {
    SUMS = 8,      /* at most so many columns of sums; more threads share them and add atomically */
    RUN = 1 << 14, /* spheres of a task */
    LOOK = 1024    /* slots whose owner is looked up at a time */
};

/* Task: sets the counts of some spheres to 0. */
static void begin_run(void *user, uint64_t begin, uint64_t end, uint32_t thread)
{
    const caromi_counts *c = user;
    (void)thread;
    memset(c->counts + begin, 0, (end - begin) * sizeof *c->counts);
    for (uint64_t i = begin; c->is_by_slot && i < end; i++)
        c->slots[i] = (uint32_t)i;
}

/* Task: sets the sums of some spheres to 0, before a slice. */
static void clear_run(void *user, uint64_t begin, uint64_t end, uint32_t thread)
{
    const caromi_counts *c = user;
    const uint64_t n = c->cloud->count;
    (void)thread;
    for (uint32_t s = 0; s < c->sum_count; s++)
        memset(c->sums + s * n + begin, 0, (end - begin) * sizeof *c->sums);
}

static void run_all(caromi_counts *c, caromi_run_fn *run)
{
    caromi_parallel_runs(caromi_cloud_pool(c->cloud), c->cloud->count, RUN, run, c);
}

carom_status caromi_counts_begin(caromi_counts *c, const caromi_cloud *cloud, int full, uint32_t *counts,
                                 carom_error *err)
{
    const uint64_t n = cloud->count;
    *c = (caromi_counts){.cloud = cloud, .full = full, .counts = counts};
    c->threads = caromi_pool_threads(caromi_cloud_pool(cloud));
    c->sum_count = c->threads < SUMS ? c->threads : SUMS;
    c->is_by_slot = full && cloud->begin == 0 && cloud->end == n;
    c->sums = caromi_cached_alloc(cloud->context, c->sum_count * n + 1, sizeof *c->sums);
    c->slots = c->is_by_slot ? caromi_cached_alloc(cloud->context, n + CAROMI_CLOUD_PADDING, sizeof *c->slots) : NULL;
    if (c->sums == NULL || (c->is_by_slot && c->slots == NULL)) {
        caromi_counts_end(c);
        return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory to count pairs of spheres");
    }
    run_all(c, begin_run);
    for (uint64_t i = n; c->is_by_slot && i < n + CAROMI_CLOUD_PADDING; i++)
        c->slots[i] = (uint32_t)i;
    return CAROM_OK;
}

void caromi_counts_end(caromi_counts *c)
{
    caromi_cached_free(c->cloud->context, c->sums);
    caromi_cached_free(c->cloud->context, c->slots);
}

void caromi_counts_enter(caromi_counts *c, caromi_cloud_cells *cells)
{
    c->cells = cells;
    run_all(c, clear_run);
    if (c->is_by_slot)
        cells->view.index = c->slots;
}

/* ---- adding ------------------------------------------------------------------------------------------------------ */

static void add(const caromi_counts *c, uint32_t *sums, uint32_t a)
{
    if (!c->is_by_slot && (a < c->cloud->begin || a >= c->cloud->end))
        return;
    if (c->threads > c->sum_count)
        atomic_fetch_add_explicit((_Atomic uint32_t *)&sums[a], 1, memory_order_relaxed);
    else
        sums[a]++;
}

static uint32_t *sums_of(const caromi_counts *c, uint32_t thread)
{
    return c->sums + thread % c->sum_count * c->cloud->count;
}

void caromi_counts_add(void *user, uint32_t thread, const caromi_cloud_pair *pairs, uint32_t count)
{
    const caromi_counts *c = user;
    const uint32_t *index = c->is_by_slot ? c->slots : c->cells->index;
    uint32_t *sums = sums_of(c, thread);
    for (uint32_t i = 0; i < count; i++) {
        add(c, sums, index[pairs[i].a]);
        if (c->full)
            add(c, sums, index[pairs[i].b]);
    }
}

void caromi_counts_add_certain(void *user, uint32_t thread, const caromi_cloud_pairs *pairs, int image, uint8_t state)
{
    const caromi_counts *c = user;
    uint32_t *sums = sums_of(c, thread);
    (void)image, (void)state;
    if (c->is_by_slot && c->threads <= c->sum_count) {
        for (uint32_t i = 0; i < pairs->count; i++) {
            sums[pairs->a[i]]++;
            sums[pairs->b[i]]++;
        }
        return;
    }
    for (uint32_t i = 0; i < pairs->count; i++) {
        const uint32_t a = pairs->a[i], b = pairs->b[i];
        add(c, sums, a < b ? a : b);
        if (c->full)
            add(c, sums, a < b ? b : a);
    }
}

/* ---- joining ----------------------------------------------------------------------------------------------------- */

/* Number i of the columns of all threads, added up. */
static inline uint32_t sum_of(const caromi_counts *c, uint64_t i)
{
    uint32_t sum = 0;
    for (uint32_t s = 0; s < c->sum_count; s++)
        sum += c->sums[s * c->cloud->count + i];
    return sum;
}

/* Task: adds the sums of some spheres, or of some slots, to the counts. */
static void join_run(void *user, uint64_t begin, uint64_t end, uint32_t thread)
{
    const caromi_counts *c = user;
    const uint64_t filled = end < c->cells->count ? end : c->cells->count;
    (void)thread;
    for (uint64_t i = begin; !c->is_by_slot && i < end; i++)
        c->counts[i] += sum_of(c, i);
    for (uint64_t i = begin; c->is_by_slot && i < filled; i++)
        c->counts[c->cells->index[i]] += sum_of(c, i);
}

/* Task: adds the sums of the spheres of a range of indices to their counts. Sums are by slot, so indices come in no
 * order. Each task therefore walks through all slots and picks its own spheres: threads that write to the same cache
 * lines would wait for each other. */
static void join_own(void *user, uint64_t task, uint32_t thread)
{
    const caromi_counts *c = user;
    const uint32_t *index = c->cells->index, filled = (uint32_t)c->cells->count;
    const uint32_t first = (uint32_t)caromi_slice_start(c->cloud->count, c->sum_count, task);
    const uint32_t some = (uint32_t)caromi_slice_start(c->cloud->count, c->sum_count, task + 1) - first;
    uint32_t own[LOOK];
    (void)thread;
    for (uint32_t begin = 0, end; begin < filled; begin = end) {
        uint32_t count = 0;
        end = filled - begin < LOOK ? filled : begin + LOOK;
        for (uint32_t p = begin; p < end; p++) {
            own[count] = p;
            count += index[p] - first < some;
        }
        for (uint32_t k = 0; k < count; k++)
            c->counts[index[own[k]]] += sum_of(c, own[k]);
    }
}

void caromi_counts_join(caromi_counts *c)
{
    if (c->is_by_slot && c->sum_count > 1)
        caromi_parallel(caromi_cloud_pool(c->cloud), c->sum_count, join_own, c);
    else
        run_all(c, join_run);
}
