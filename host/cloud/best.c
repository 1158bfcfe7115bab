/* SPDX-License-Identifier: MIT */
/* First and any partner of each sphere. Slice by slice, the spheres without a partner are searched for one. In dense
 * clouds a search at time 0 comes before the first slice, as spheres in contact end their search at once. */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "best.h"

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

static void offer(const caromi_partners *to, uint32_t sphere, uint32_t other, float t, uint8_t state)
{
    if (!is_better(to, sphere, other, t, state))
        return;
    to->t[sphere] = t;
    to->other[sphere] = other;
    to->state[sphere] = state;
}

static void emit(void *user, uint32_t thread, const caromi_cloud_pair *pairs, uint32_t count)
{
    const best_job *job = user;
    const uint32_t *index = job->cells->index;
    (void)thread;
    for (uint32_t i = 0; i < count; i++) {
        const caromi_cloud_pair *p = &pairs[i];
        const uint32_t own = p->by ? p->b : p->a, other = p->by ? p->a : p->b;
        offer(job->to, index[own], index[other], p->t, p->state);
        if (job->ends_search && index[other] < job->best->partner[own])
            job->best->partner[own] = index[other];
    }
}

/* Spheres that have a hit from an earlier slice are not searched again. */
static void set_done(const caromi_partners *to, const caromi_cloud_cells *cells, uint8_t *is_done)
{
    for (uint64_t p = 0; p < cells->count; p++)
        is_done[p] = to->state[cells->index[p]] != CAROM_MISS;
}

/* Whether all hits of a slice have t = 0: the instant 0, or from 0 to the least positive binary32. */
static int is_start(const caromi_cloud_slice *slice, int is_last)
{
    return caromi_slice_is_instant(slice) || (!is_last && slice->end <= 0x1p-149);
}

/* Stores the partners that the scan found without the solver: all of them certainly overlap at time 0. */
static void emit_certain(const caromi_partners *to, const caromi_cloud_cells *cells, const uint32_t *partner)
{
    for (uint64_t p = 0; p < cells->count; p++)
        if (partner[p] != UINT32_MAX)
            offer(to, cells->index[p], partner[p], 0, CAROM_OVERLAPPING);
}

/* ---- by pairs ---------------------------------------------------------------------------------------------------- */

/* In sparse clouds each pair is tested once and offered to both of its spheres. A sphere's best partner so far is one
 * 64-bit key, and the smaller key is the better: 31 bits of t, 31 of the partner's index, 2 of the state. Up to
 * THREADS_OWN threads have key columns of their own, which are merged at the end; more threads share one by
 * compare-and-swap. */
enum { THREADS_OWN = 4, TASK = 1 << 14, AHEAD = 24 };
typedef struct pairs_job {
    const caromi_cloud_cells *cells;
    const caromi_partners *to;
    uint64_t *key, count, columns; /* key[columns][count]; columns 0: one column that all threads share */
} pairs_job;

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

static uint64_t *keys_of(const pairs_job *job, uint32_t thread)
{
    return thread < job->columns ? job->key + thread * job->count : NULL;
}

static uint64_t key_of(float t, uint32_t other, uint8_t state)
{
    uint32_t bits;
    memcpy(&bits, &t, sizeof bits);
    return (uint64_t)bits << 33 | (uint64_t)other << 2 | state;
}

static void offer_pairs(void *user, uint32_t thread, const caromi_cloud_pair *pairs, uint32_t count)
{
    const pairs_job *job = user;
    const uint32_t *index = job->cells->index;
    uint64_t *const own = keys_of(job, thread);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t a = index[pairs[i].a], b = index[pairs[i].b];
        offer_key(job, own, a, key_of(pairs[i].t, b, pairs[i].state));
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

static void merge_keys(void *user, uint64_t begin, uint64_t end, uint32_t thread)
{
    const pairs_job *job = user;
    (void)thread;
    for (uint64_t i = begin; i < end; i++) {
        uint64_t key = job->key[i];
        for (uint64_t c = 1; c < job->columns; c++)
            key = job->key[c * job->count + i] < key ? job->key[c * job->count + i] : key;
        const uint32_t bits = (uint32_t)(key >> 33);
        float t;
        memcpy(&t, &bits, sizeof t);
        if (key != UINT64_MAX)
            offer(job->to, (uint32_t)i, (uint32_t)(key >> 2) & INT32_MAX, t, key & 3);
    }
}

static void clear_keys(void *user, uint64_t column, uint32_t thread)
{
    const pairs_job *job = user;
    (void)thread;
    memset(job->key + column * job->count, 0xff, job->count * sizeof *job->key);
}

static carom_status search_pairs(const caromi_cloud_scan *of, const caromi_partners *to, carom_stats *stats,
                                 carom_error *err)
{
    const carom_context *c = of->cloud->context;
    caromi_pool *pool = caromi_cloud_pool(of->cloud);
    const uint32_t threads = caromi_pool_threads(pool);
    pairs_job job = {.cells = of->cells, .to = to, .count = of->cloud->count};
    const uint64_t columns = threads <= THREADS_OWN ? threads : 1;
    job.columns = threads <= THREADS_OWN ? threads : 0;
    job.key = caromi_cached_alloc(c, columns * job.count + 1, sizeof *job.key);
    if (job.key == NULL)
        return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory for the partners of %llu spheres",
                           (unsigned long long)job.count);
    caromi_parallel(pool, columns, clear_keys, &job);
    caromi_cloud_scan scan = *of;
    scan.emit = offer_pairs;
    scan.emit_certain = offer_certain_pairs;
    scan.user = &job;
    const carom_status status = caromi_cloud_run(&scan, stats, err);
    if (status == CAROM_OK)
        caromi_parallel_runs(pool, job.count, TASK, merge_keys, &job);
    caromi_cached_free(c, job.key);
    return status;
}

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
    memset(job->to->other + begin, 0xff, (end - begin) * sizeof *job->to->other);
    for (uint64_t i = begin; i < end; i++)
        job->to->t[i] = INFINITY;
}

static void count_each(void *user, uint64_t begin, uint64_t end, uint32_t thread)
{
    each_job *job = user;
    uint64_t has = 0;
    (void)thread;
    for (uint64_t i = begin; i < end; i++)
        has += job->to->state[i] != CAROM_MISS;
    atomic_fetch_add_explicit(&job->has, has, memory_order_relaxed);
}

static uint64_t run_each(const caromi_cloud *cloud, const caromi_partners *to, caromi_run_fn *run)
{
    each_job job = {.to = to};
    caromi_parallel_runs(caromi_cloud_pool(cloud), cloud->count, TASK, run, &job);
    return atomic_load(&job.has);
}

/* An estimate from a sample: how many pairs have a coarse sphere and a sphere of a finer level inside its search box.
 */
static double count_between(const caromi_cloud_cells *cells)
{
    enum { SAMPLE = 32 };
    const caromi_cloud_view *view = &cells->view;
    double sum = 0;
    for (uint32_t l = 0; l + 1 < view->level_count; l++) {
        const caromi_cloud_level *level = &view->levels[l];
        if (level->begin_row == level->end_row)
            continue;
        const uint32_t first = view->rows[level->begin_row].begin;
        const uint64_t count = view->rows[level->end_row - 1].end - first, some = count < SAMPLE ? count : SAMPLE;
        double near = 0;
        for (uint64_t k = 0; k < some; k++)
            near += caromi_cloud_nearby(view, l + 1, first + (uint32_t)caromi_slice_start(count, some, k));
        sum += near * (double)count / (double)some;
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
static int is_by_pairs(const caromi_cloud *cloud, const caromi_cloud_cells *cells, int any, const caromi_partners *to)
{
    if (cells->one_cell != NULL)
        return 1;
    /* A search for any partner ends in the sphere's own cell; at rest, a search for the first one also visits the
     * neighbouring cells. */
    const uint64_t most = any || cloud->is_moving ? 16 : 40;
    return !is_dense(cells, most) && run_each(cloud, to, count_each) <= cloud->count / 2;
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
    for (uint64_t p = 0; p < cells->count; p++)
        slots[cells->index[p]] = (uint32_t)p;
    *slot_of = slots;
    return 1;
}

static carom_status search_each(const caromi_cloud_scan *of, int any, const caromi_partners *to, carom_stats *stats,
                                carom_error *err)
{
    const carom_context *c = of->cloud->context;
    const caromi_cloud_cells *cells = of->cells;
    caromi_cloud_best best = {.any = any};
    best.partner = caromi_alloc(c, cells->count + 1, sizeof *best.partner);
    best.is_done = caromi_alloc(c, cells->count + 1, 1);
    const int ends_search = any || is_start(of->slice, of->is_last);
    uint32_t *slot_of = NULL;
    const int has_slots = !ends_search || of->cloud->device != NULL || find_slots(of->cloud, cells, &slot_of);
    carom_status status = CAROM_OK;
    best.slot_of = slot_of;
    best.count = (uint32_t)of->cloud->count;
    if (best.partner == NULL || best.is_done == NULL || !has_slots)
        status = caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory for the partners of %llu spheres",
                             (unsigned long long)cells->count);
    else {
        best_job job = {to, cells, &best, ends_search};
        memset(best.partner, 0xff, cells->count * sizeof *best.partner);
        set_done(to, cells, best.is_done);
        caromi_cloud_scan scan = *of;
        scan.best = &best;
        scan.emit = emit;
        scan.user = &job;
        status = caromi_cloud_run(&scan, stats, err);
        if (!cells->view.reach_is_bound)
            emit_certain(to, cells, best.partner);
    }
    caromi_free(c, best.partner);
    caromi_free(c, best.is_done);
    caromi_cached_free(c, slot_of);
    return status;
}

typedef struct best_search {
    const caromi_cloud *cloud;
    int any;
    const caromi_partners *to;
} best_search;

/* Finds the hits that begin within the slice; a slice of time 0 has the overlaps at time 0. *is_whole asks for both
 * kinds in one scan of all pairs. If a scan of all pairs does not pay, *is_whole is set to 0 and nothing is searched.
 */
static carom_status search(const best_search *s, const caromi_cloud_slice *slice, int is_last, int *is_whole,
                           carom_stats *stats, carom_error *err)
{
    caromi_cloud_cells cells;
    CHECK(caromi_cloud_build(s->cloud, slice, &cells, err));
    const caromi_cloud_scan scan = {.cloud = s->cloud,
                                    .cells = &cells,
                                    .slice = slice,
                                    .is_first = is_start(slice, is_last) || *is_whole,
                                    .is_last = is_last};
    carom_status status = CAROM_OK;
    if (is_by_pairs(s->cloud, &cells, s->any, s->to))
        status = search_pairs(&scan, s->to, stats, err);
    else if (*is_whole)
        *is_whole = 0;
    else
        status = search_each(&scan, s->any, s->to, stats, err);
    caromi_cloud_free(s->cloud, &cells);
    return status;
}

/* ---- the start --------------------------------------------------------------------------------------------------- */

/* Task: whether a sphere moves by more than the rounding allowance of a scan at time 0 (docs/spheres.md, section 7)
 * before the first time that does not round to 0. Only tiny spheres with enormous velocities do. */
typedef struct start_job {
    const caromi_cloud *cloud;
    _Atomic int is_left;
} start_job;

static void find_left(void *user, uint64_t begin, uint64_t end, uint32_t thread)
{
    start_job *job = user;
    caromi_cloud_block block;
    int is_left = 0;
    (void)thread;
    for (uint64_t first = begin; first < end && !is_left; first += block.count) {
        caromi_cloud_read(job->cloud, first, end, &block);
        for (uint32_t i = 0; i < block.count; i++) {
            const double speed = fabs((double)block.in[CLOUD_VX][i]) + fabs((double)block.in[CLOUD_VY][i]) +
                                 fabs((double)block.in[CLOUD_VZ][i]);
            is_left |= block.is_valid[i] && speed * 0x1p-150 > (double)block.in[CLOUD_R][i] * 0x1p-30;
        }
    }
    if (is_left)
        atomic_store_explicit(&job->is_left, 1, memory_order_relaxed);
}

/* The slice that holds all hits with t = 0. It is the instant 0, unless a hit just after it may round to t = 0: as a
 * first partner, such a hit may have a lower index than the spheres in contact. */
static caromi_cloud_slice start_of(const caromi_cloud *cloud, int any, const caromi_cloud_slices *slices)
{
    caromi_cloud_slice slice = {.begin = 0};
    start_job job = {.cloud = cloud};
    if (any || !cloud->is_moving || !(slices->limit > 0 || !slices->has_end))
        return slice;
    caromi_parallel_runs(caromi_cloud_pool(cloud), cloud->count, TASK, find_left, &job);
    if (atomic_load(&job.is_left)) {
        slice.end = 0x1p-149;
        memcpy(slice.origin, slices->origin, sizeof slice.origin);
    }
    return slice;
}

carom_status caromi_cloud_partners(const caromi_cloud *cloud, int any, const caromi_partners *to, carom_stats *stats,
                                   carom_error *err)
{
    const best_search s = {cloud, any, to};
    caromi_cloud_slices slices;
    (void)run_each(cloud, to, begin_each);
    caromi_cloud_cut(cloud, &slices);
    caromi_cloud_slice slice = caromi_cloud_slice_of(&slices, 0);
    int has_first = cloud->is_moving && !caromi_slice_is_instant(&slice), is_part = 0;
    const caromi_watch_share whole = {0, 1};
    caromi_watch_part(cloud->watch, &whole, 0, slices.count);
    if (has_first)
        CHECK(search(&s, &slice, slices.count == 1, &has_first, stats, err));
    if (!has_first && cloud->start != CAROM_START_SKIP) {
        const caromi_cloud_slice start = start_of(cloud, any, &slices);
        CHECK(search(&s, &start, 0, &is_part, stats, err));
    }
    for (uint32_t k = has_first ? 1 : 0; cloud->is_moving && k < slices.count; k++) {
        slice = caromi_cloud_slice_of(&slices, k);
        caromi_watch_part(cloud->watch, &whole, k, slices.count);
        if (!caromi_slice_is_instant(&slice))
            CHECK(search(&s, &slice, k + 1 == slices.count, &is_part, stats, err));
    }
    return CAROM_OK;
}
