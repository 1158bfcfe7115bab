/* SPDX-License-Identifier: MIT */
/* First and any partner of each sphere. Slice by slice, the spheres without a partner are searched for one. In dense
 * clouds a search at time 0 comes before the first slice, as spheres in contact end their search at once. */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "best.h"

/* The callback's user of a search. */
typedef struct best_job {
    const caromi_partners *to;
    const caromi_cloud_cells *cells;
    caromi_cloud_best *best;
    int ends_search; /* a hit ends the search of higher indices: at time 0 only a lower index is better, and "any" takes
                        every hit */
} best_job;

/* Two images of one partner may have the same t but different states: the lower state counts, as in key_of. */
static int is_better(const caromi_partners *to, uint32_t sphere, uint32_t other, float t, uint8_t state)
{
    if (t < to->t[sphere] || t > to->t[sphere])
        return t < to->t[sphere];
    return other != to->other[sphere] ? other < to->other[sphere] : state < to->state[sphere];
}

/* Stores a partner of a sphere if it is better than the one so far. */
static void offer(const caromi_partners *to, uint32_t sphere, uint32_t other, float t, uint8_t state)
{
    if (!is_better(to, sphere, other, t, state))
        return;
    to->t[sphere] = t;
    to->other[sphere] = other;
    to->state[sphere] = state;
}

/* The scan's callback in searches: each hit is offered to the sphere that searches. */
static void emit(void *user, uint32_t thread, const caromi_cloud_pair *pairs, uint32_t count)
{
    const best_job *job = user;
    const uint32_t *index = job->cells->index;
    (void)thread;
    for (uint32_t i = 0; i < count; i++) {
        const caromi_cloud_pair *pair = &pairs[i];
        const uint32_t own = pair->by ? pair->b : pair->a, other = pair->by ? pair->a : pair->b;
        offer(job->to, index[own], index[other], pair->t, pair->state);
        if (job->ends_search && index[other] < job->best->partner[own])
            job->best->partner[own] = index[other];
    }
}

/* Spheres that have a hit from an earlier slice are not searched again, and those of a second cloud not at all. */
static void set_done(const caromi_cloud *cloud, const caromi_partners *to, const caromi_cloud_cells *cells,
                     uint8_t *is_done)
{
    const uint64_t asked = caromi_cloud_asked(cloud);
    for (uint64_t slot = 0; slot < cells->count; slot++)
        is_done[slot] = cells->index[slot] >= asked || to->state[cells->index[slot]] != CAROM_MISS;
}

/* Whether all hits of a slice have t = 0: the instant 0, or from 0 to the least positive binary32. */
static int is_start(const caromi_cloud_slice *slice, int is_last)
{
    return caromi_slice_is_instant(slice) || (!is_last && slice->end <= 0x1p-149);
}

/* Stores the partners that the scan found without the solver: all of them certainly overlap at time 0. */
static void emit_certain(const caromi_partners *to, const caromi_cloud_cells *cells, const uint32_t *partner)
{
    for (uint64_t slot = 0; slot < cells->count; slot++)
        if (partner[slot] != UINT32_MAX)
            offer(to, cells->index[slot], partner[slot], 0, CAROM_OVERLAPPING);
}

/* ---- by pairs ---------------------------------------------------------------------------------------------------- */

/* In sparse clouds each pair is tested once and offered to both of its spheres. A sphere's best partner so far is one
 * 64-bit key, and the smaller key is the better: 31 bits of t, 31 of the partner's index, 2 of the state. Up to
 * THREADS_OWN threads have key columns of their own, which are merged at the end; more threads share one by
 * compare-and-swap. */
enum { THREADS_OWN = 4, TASK = 1 << 14, AHEAD = 24 };
/* The callback's user of a scan of all pairs. */
typedef struct pairs_job {
    const caromi_cloud_cells *cells;
    const caromi_partners *to;
    uint64_t *key, count, columns; /* key[columns][count]; columns 0: one column that all threads share. Of two clouds
                                      only the first one's spheres, [0, count), have keys */
} pairs_job;

/* Stores the lesser of two keys of a sphere: in the thread's own column, or in the shared one. */
static inline void offer_key(const pairs_job *job, uint64_t *own, uint32_t sphere, uint64_t key)
{
    if (own != NULL) {
        own[sphere] = key < own[sphere] ? key : own[sphere];
        return;
    }
    _Atomic uint64_t *best = (_Atomic uint64_t *)&job->key[sphere];
    uint64_t had = atomic_load_explicit(best, memory_order_relaxed);
    while (key < had &&
           !atomic_compare_exchange_weak_explicit(best, &had, key, memory_order_relaxed, memory_order_relaxed))
        ;
}

/* The thread's own column of keys; NULL: the threads share one. */
static uint64_t *keys_of(const pairs_job *job, uint32_t thread)
{
    return thread < job->columns ? job->key + thread * job->count : NULL;
}

/* A hit as a key: the lesser time, then the lower partner is better. */
static uint64_t key_of(float t, uint32_t other, uint8_t state)
{
    uint32_t time_bits;
    memcpy(&time_bits, &t, sizeof time_bits);
    return (uint64_t)time_bits << 33 | (uint64_t)other << 2 | state;
}

/* The scan's callback for all pairs: each hit is offered to both spheres. */
static void offer_pairs(void *user, uint32_t thread, const caromi_cloud_pair *pairs, uint32_t count)
{
    const pairs_job *job = user;
    const uint32_t *index = job->cells->index;
    uint64_t *const own = keys_of(job, thread);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t a = index[pairs[i].a], b = index[pairs[i].b];
        offer_key(job, own, a, key_of(pairs[i].t, b, pairs[i].state));
        if (b < job->count)
            offer_key(job, own, b, key_of(pairs[i].t, a, pairs[i].state));
    }
}

/* Prefetches the keys of a later pair: they are scattered in memory, and each update would wait for its cache line. */
static inline void fetch_keys(const uint64_t *own, const caromi_cloud_pairs *pairs, uint32_t i)
{
    if (own == NULL || i >= pairs->count)
        return;
    __builtin_prefetch(&own[pairs->a[i]], 1);
    __builtin_prefetch(&own[pairs->b[i]], 1);
}

/* The same for pairs that the filter has proven to overlap at time 0. */
static void offer_certain_pairs(void *user, uint32_t thread, const caromi_cloud_pairs *pairs, int image, uint8_t state)
{
    const pairs_job *job = user;
    uint64_t *const own = keys_of(job, thread);
    (void)image;
    for (uint32_t i = 0; i < pairs->count; i++) {
        fetch_keys(own, pairs, i + AHEAD);
        offer_key(job, own, pairs->a[i], key_of(0, pairs->b[i], state));
        offer_key(job, own, pairs->b[i], key_of(0, pairs->a[i], state));
    }
}

/* The same for pairs of two clouds: each is offered to the sphere of the first one, which has the lower index. */
static void offer_certain_to_first(void *user, uint32_t thread, const caromi_cloud_pairs *pairs, int image,
                                   uint8_t state)
{
    const pairs_job *job = user;
    uint64_t *const own = keys_of(job, thread);
    (void)image;
    for (uint32_t i = 0; i < pairs->count; i++) {
        const uint32_t a = pairs->a[i], b = pairs->b[i];
        offer_key(job, own, a < b ? a : b, key_of(0, a < b ? b : a, state));
    }
}

/* Task: the least key of some spheres in all columns becomes their partner. */
static void merge_keys(void *user, uint64_t begin, uint64_t end, uint32_t thread)
{
    const pairs_job *job = user;
    (void)thread;
    for (uint64_t sphere = begin; sphere < end; sphere++) {
        uint64_t key = job->key[sphere];
        for (uint64_t column = 1; column < job->columns; column++)
            key = job->key[column * job->count + sphere] < key ? job->key[column * job->count + sphere] : key;
        const uint32_t time_bits = (uint32_t)(key >> 33);
        float t;
        memcpy(&t, &time_bits, sizeof t);
        if (key != UINT64_MAX)
            offer(job->to, (uint32_t)sphere, (uint32_t)(key >> 2) & INT32_MAX, t, key & 3);
    }
}

/* Task: sets a column to UINT64_MAX, which stands for no partner. */
static void clear_keys(void *user, uint64_t column, uint32_t thread)
{
    const pairs_job *job = user;
    (void)thread;
    memset(job->key + column * job->count, 0xff, job->count * sizeof *job->key);
}

/* Tests all pairs of a slice, and offers each hit to both of its spheres. */
static carom_status search_pairs(const caromi_cloud_scan *of, const caromi_partners *to, carom_stats *stats,
                                 carom_error *err)
{
    const carom_context *context = of->cloud->context;
    caromi_pool *pool = caromi_cloud_pool(of->cloud);
    const uint32_t threads = caromi_pool_threads(pool);
    pairs_job job = {.cells = of->cells, .to = to, .count = caromi_cloud_asked(of->cloud)};
    /* A column of keys for each of few threads, or one that all share. */
    const uint64_t columns = threads <= THREADS_OWN ? threads : 1;
    job.columns = threads <= THREADS_OWN ? threads : 0;
    job.key = caromi_cached_alloc(context, columns * job.count + 1, sizeof *job.key);
    if (job.key == NULL)
        return caromi_fail_memory(err, "no memory for the partners of %llu spheres", (unsigned long long)job.count);
    caromi_parallel(pool, columns, clear_keys, &job);
    caromi_cloud_scan scan = *of;
    scan.emit = offer_pairs;
    scan.emit_certain = of->cloud->is_split ? offer_certain_to_first : offer_certain_pairs;
    scan.user = &job;
    const carom_status status = caromi_cloud_run(&scan, stats, err);
    if (status == CAROM_OK)
        caromi_parallel_runs(pool, job.count, TASK, merge_keys, &job);
    caromi_cached_free(context, job.key);
    return status;
}

/* A task on all spheres. */
typedef struct each_job {
    const caromi_partners *to;
    _Atomic uint64_t has; /* number of spheres with a partner */
} each_job;

/* Task: marks some spheres as without a partner. */
static void begin_each(void *user, uint64_t begin, uint64_t end, uint32_t thread)
{
    const each_job *job = user;
    (void)thread;
    memset(job->to->state + begin, CAROM_MISS, end - begin);
    memset(job->to->other + begin, 0xff /* index -1: no partner */, (end - begin) * sizeof *job->to->other);
    for (uint64_t i = begin; i < end; i++)
        job->to->t[i] = INFINITY;
}

/* Task: counts the spheres with a partner. */
static void count_each(void *user, uint64_t begin, uint64_t end, uint32_t thread)
{
    each_job *job = user;
    uint64_t with_partner = 0;
    (void)thread;
    for (uint64_t i = begin; i < end; i++)
        with_partner += job->to->state[i] != CAROM_MISS;
    atomic_fetch_add_explicit(&job->has, with_partner, memory_order_relaxed);
}

/* Runs a task on all spheres; returns the number of spheres with a partner if the task counts them. */
static uint64_t run_each(const caromi_cloud *cloud, const caromi_partners *to, caromi_run_fn *run)
{
    each_job job = {.to = to};
    caromi_parallel_runs(caromi_cloud_pool(cloud), caromi_cloud_asked(cloud), TASK, run, &job);
    return atomic_load(&job.has);
}

/* An estimate from a sample: how many pairs have a coarse sphere and a sphere of a finer level inside its search box.
 */
static double count_between(const caromi_cloud_cells *cells)
{
    enum { SAMPLE = 32 };
    const caromi_cloud_view *view = &cells->view;
    double sum = 0;
    for (uint32_t coarse = 0; coarse + 1 < view->level_count; coarse++) {
        const caromi_cloud_level *level = &view->levels[coarse];
        if (level->begin_row == level->end_row)
            continue;
        const uint32_t first = view->rows[level->begin_row].begin;
        const uint64_t count = view->rows[level->end_row - 1].end - first, samples = count < SAMPLE ? count : SAMPLE;
        double sampled_pairs = 0;
        for (uint64_t k = 0; k < samples; k++)
            sampled_pairs +=
                caromi_cloud_nearby(view, coarse + 1, coarse, first + (uint32_t)caromi_slice_start(count, samples, k));
        sum += sampled_pairs * (double)count / (double)samples;
    }
    return sum;
}

/* Whether large spheres reach very many small ones. Searches are shorter then: the search of a small sphere ends at a
 * large one. */
static int is_covered(const caromi_cloud_cells *cells)
{
    return count_between(cells) > 256.0 * (double)cells->count;
}

/* Whether more than `most` pairs per sphere share a cell, or large spheres cover the small ones. */
static int is_dense(const caromi_cloud_cells *cells, uint64_t most)
{
    return cells->doubled > most * cells->count || is_covered(cells);
}

/* Testing all pairs pays for tiny clouds, and where at least half of the spheres have no partner yet and the cloud is
 * sparse. */
static int is_by_pairs(const caromi_cloud *cloud, const caromi_cloud_cells *cells, int any_partner,
                       const caromi_partners *to)
{
    if (cells->one_cell != NULL)
        return 1;
    /* A search for any partner ends in the sphere's own cell; at rest, a search for the first one also visits the
     * neighbouring cells. */
    const uint64_t most = any_partner || cloud->is_moving ? 16 : 40;
    return !is_dense(cells, most) && run_each(cloud, to, count_each) <= caromi_cloud_asked(cloud) / 2;
}

/* ---- by searches ------------------------------------------------------------------------------------------------- */

/* The inverse of cells->index: *slot_of[i] is the slot of sphere i. Only for clouds with spheres that reach most
 * others; else *slot_of is NULL. Returns 0 if there is no memory. */
static int find_slots(const caromi_cloud *cloud, const caromi_cloud_cells *cells, uint32_t **slot_of)
{
    *slot_of = NULL;
    if (!is_covered(cells))
        return 1;
    uint32_t *slots = caromi_cached_alloc(cloud->context, cloud->count, sizeof *slots);
    if (slots == NULL)
        return 0;
    memset(slots, 0xff, cloud->count * sizeof *slots); /* CAROMI_NO_SLOT */
    for (uint64_t slot = 0; slot < cells->count; slot++)
        slots[cells->index[slot]] = (uint32_t)slot;
    *slot_of = slots;
    return 1;
}

/* Searches a partner of each sphere that has none. */
static carom_status search_each(const caromi_cloud_scan *of, int any_partner, const caromi_partners *to,
                                carom_stats *stats, carom_error *err)
{
    const carom_context *context = of->cloud->context;
    const caromi_cloud_cells *cells = of->cells;
    caromi_cloud_best best = {.any = any_partner};
    best.partner = caromi_alloc(context, cells->count + 1, sizeof *best.partner);
    best.is_done = caromi_alloc(context, cells->count + 1, 1);
    /* A hit at time 0 ends the search of all higher indices. */
    const int ends_search = any_partner || is_start(of->slice, of->is_last);
    uint32_t *slot_of = NULL;
    const int has_slots = !ends_search || of->cloud->device != NULL || find_slots(of->cloud, cells, &slot_of);
    carom_status status = CAROM_OK;
    best.slot_of = slot_of;
    best.first = of->cloud->is_split ? (uint32_t)of->cloud->split : 0;
    best.count = (uint32_t)of->cloud->count;
    if (best.partner == NULL || best.is_done == NULL || !has_slots)
        status =
            caromi_fail_memory(err, "no memory for the partners of %llu spheres", (unsigned long long)cells->count);
    else {
        /* Scans with the callback for searches; the scan stores certain partners itself. */
        best_job job = {to, cells, &best, ends_search};
        memset(best.partner, 0xff, cells->count * sizeof *best.partner);
        set_done(of->cloud, to, cells, best.is_done);
        caromi_cloud_scan scan = *of;
        scan.best = &best;
        scan.emit = emit;
        scan.user = &job;
        status = caromi_cloud_run(&scan, stats, err);
        if (!cells->view.reach_is_bound)
            emit_certain(to, cells, best.partner);
    }
    caromi_free(context, best.partner);
    caromi_free(context, best.is_done);
    caromi_cached_free(context, slot_of);
    return status;
}

/* A call for partners: of which cloud, first or any, and where the results go. */
typedef struct best_search {
    const caromi_cloud *cloud;
    int any;
    const caromi_partners *to;
} best_search;

/* Finds the hits that begin within the slice; a slice of time 0 has the overlaps at time 0. *is_whole asks for both
 * kinds in one scan of all pairs. If a scan of all pairs does not pay, *is_whole is set to 0 and nothing is searched.
 */
static carom_status search(const best_search *for_best, const caromi_cloud_slice *slice, int is_last, int *is_whole,
                           carom_stats *stats, carom_error *err)
{
    caromi_cloud_cells cells;
    CHECK(caromi_cloud_build(for_best->cloud, slice, &cells, err));
    const caromi_cloud_scan scan = {.cloud = for_best->cloud,
                                    .cells = &cells,
                                    .slice = slice,
                                    .is_first = is_start(slice, is_last) || *is_whole,
                                    .is_last = is_last};
    carom_status status = CAROM_OK;
    if (is_by_pairs(for_best->cloud, &cells, for_best->any, for_best->to))
        status = search_pairs(&scan, for_best->to, stats, err);
    else if (*is_whole)
        *is_whole = 0;
    else
        status = search_each(&scan, for_best->any, for_best->to, stats, err);
    caromi_cloud_free(for_best->cloud, &cells);
    return status;
}

/* ---- time 0 --------------------------------------------------------------------------------------------------- */

/* The slice that holds all hits with t = 0. It is the instant 0, unless a hit just after it may round to t = 0: as a
 * first partner, such a hit may have a lower index than the spheres in contact. */
static caromi_cloud_slice start_of(const caromi_cloud *cloud, int any_partner, const caromi_cloud_slices *slices)
{
    caromi_cloud_slice slice = {.begin = 0};
    if (any_partner || !cloud->is_moving || !(slices->limit > 0 || !slices->has_end))
        return slice;
    if (caromi_cloud_leaves_start(cloud)) {
        slice.end = 0x1p-149;
        memcpy(slice.origin, slices->origin, sizeof slice.origin);
    }
    return slice;
}

/* Finds the first or any partner of each sphere: time 0 first, then slice by slice. */
carom_status caromi_cloud_partners(const caromi_cloud *cloud, int any_partner, const caromi_partners *to,
                                   carom_stats *stats, carom_error *err)
{
    const best_search for_best = {cloud, any_partner, to};
    caromi_cloud_slices slices;
    (void)run_each(cloud, to, begin_each);
    caromi_cloud_cut(cloud, &slices);
    caromi_cloud_slice slice = caromi_cloud_slice_of(&slices, 0);
    int has_first = cloud->is_moving && !caromi_slice_is_instant(&slice), one_kind = 0;
    const caromi_cloud_share all_of_call = {0, 1};
    caromi_cloud_watch_part(cloud->watch, &all_of_call, 0 /* first slice */, slices.count);
    /* One scan of all pairs may answer the first slice and time 0 together. Else time 0 comes first. */
    if (has_first)
        CHECK(search(&for_best, &slice, slices.count == 1, &has_first, stats, err));
    if (!has_first && cloud->start != CAROM_START_SKIP) {
        const caromi_cloud_slice start = start_of(cloud, any_partner, &slices);
        CHECK(search(&for_best, &start, 0, &one_kind, stats, err));
    }
    for (uint32_t number = has_first ? 1 : 0; cloud->is_moving && number < slices.count; number++) {
        slice = caromi_cloud_slice_of(&slices, number);
        caromi_cloud_watch_part(cloud->watch, &all_of_call, number, slices.count);
        if (!caromi_slice_is_instant(&slice))
            CHECK(search(&for_best, &slice, number + 1 == slices.count, &one_kind, stats, err));
    }
    return CAROM_OK;
}
