/* SPDX-License-Identifier: MIT */
/* First and any partner of each sphere. First those in contact at time 0, where a search ends at once among many; then,
 * slice by slice, of the spheres that have none yet. */
#include <math.h>
#include <string.h>

#include "best.h"

typedef struct best_job {
    const caromi_partners *to;
    const caromi_cloud_cells *cells;
    caromi_cloud_best *best;
    int ends_search; /* a hit that is found: at time 0 only a lower index is better; any hit is as good */
} best_job;

static void offer(const caromi_partners *to, uint32_t sphere, uint32_t other, float t, uint8_t state)
{
    if (t > to->t[sphere] || (t >= to->t[sphere] && other >= to->other[sphere]))
        return;
    to->t[sphere] = t;
    to->other[sphere] = other;
    to->state[sphere] = state;
}

static void take(void *user, uint32_t thread, const caromi_cloud_pair *pairs, uint32_t count)
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

/* Images are not searched for, nor spheres whose hit begins before the slice. */
static void set_done(const caromi_partners *to, const caromi_cloud_cells *cells, uint8_t *is_done)
{
    for (uint64_t p = 0; p < cells->count; p++)
        is_done[p] =
            to->state[cells->index[p]] != CAROM_MISS || (cells->image != NULL && cells->image[p] != CAROMI_IMAGE_OWN);
}

/* Partners that the scan itself has found. One that is better than what was asked for overlaps at time 0. */
static void take_sure(const caromi_partners *to, const caromi_cloud_cells *cells, const uint32_t *partner)
{
    for (uint64_t p = 0; p < cells->count; p++)
        if (partner[p] != UINT32_MAX)
            offer(to, cells->index[p], partner[p], 0, CAROM_OVERLAPPING);
}

/* ---- by pairs ---------------------------------------------------------------------------------------------------- */

/* Where spheres are not many in one place, all pairs are looked at, each once, and offered to both. What a sphere has
 * is a number, the smallest the best: 31 bits of t, 31 of the partner, 2 of the state. */
typedef struct pairs_job {
    const caromi_cloud_cells *cells;
    uint64_t *key;
    int is_alone; /* one thread */
} pairs_job;

static void offer_key(const pairs_job *job, uint32_t sphere, uint64_t key)
{
    if (job->is_alone) {
        job->key[sphere] = key < job->key[sphere] ? key : job->key[sphere];
        return;
    }
    _Atomic uint64_t *best = (_Atomic uint64_t *)&job->key[sphere];
    uint64_t had = atomic_load_explicit(best, memory_order_relaxed);
    while (key < had &&
           !atomic_compare_exchange_weak_explicit(best, &had, key, memory_order_relaxed, memory_order_relaxed))
        ;
}

static uint64_t key_of(float t, uint32_t other, uint8_t state)
{
    uint32_t bits;
    memcpy(&bits, &t, sizeof bits);
    return (uint64_t)bits << 33 | (uint64_t)other << 2 | state;
}

static void take_pairs(void *user, uint32_t thread, const caromi_cloud_pair *pairs, uint32_t count)
{
    const pairs_job *job = user;
    const uint32_t *index = job->cells->index;
    (void)thread;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t a = index[pairs[i].a], b = index[pairs[i].b];
        offer_key(job, a, key_of(pairs[i].t, b, pairs[i].state));
        offer_key(job, b, key_of(pairs[i].t, a, pairs[i].state));
    }
}

static void take_sure_pairs(void *user, uint32_t thread, const caromi_cloud_pairs *pairs, uint8_t state)
{
    const pairs_job *job = user;
    (void)thread;
    for (uint32_t i = 0; i < pairs->count; i++) {
        offer_key(job, pairs->a[i], key_of(0, pairs->b[i], state));
        offer_key(job, pairs->b[i], key_of(0, pairs->a[i], state));
    }
}

static void take_keys(const caromi_partners *to, const uint64_t *key, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        const uint32_t bits = (uint32_t)(key[i] >> 33);
        float t;
        memcpy(&t, &bits, sizeof t);
        if (key[i] != UINT64_MAX)
            offer(to, (uint32_t)i, (uint32_t)(key[i] >> 2) & INT32_MAX, t, key[i] & 3);
    }
}

static carom_status search_pairs(const caromi_cloud_scan *of, const caromi_partners *to, carom_stats *stats,
                                 carom_error *err)
{
    const carom_context *c = of->cloud->context;
    const uint64_t count = of->cloud->count;
    pairs_job job = {.cells = of->cells, .is_alone = caromi_pool_threads(c->pool) == 1};
    job.key = caromi_kept_alloc(c, count + 1, sizeof *job.key);
    if (job.key == NULL)
        return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory for the partners of %llu spheres",
                           (unsigned long long)count);
    memset(job.key, 0xff, count * sizeof *job.key);
    caromi_cloud_scan scan = *of;
    scan.take = take_pairs;
    scan.take_sure = take_sure_pairs;
    scan.user = &job;
    const carom_status status = caromi_cloud_run(&scan, stats, err);
    if (status == CAROM_OK)
        take_keys(to, job.key, count);
    caromi_kept_free(c, job.key);
    return status;
}

/* That pays if most spheres have no partner yet, and few others in their cells. */
static int is_by_pairs(const caromi_cloud_cells *cells, const caromi_partners *to, uint64_t count)
{
    uint64_t has = 0;
    for (uint64_t i = 0; i < count; i++)
        has += to->state[i] != CAROM_MISS;
    return has <= count / 2 && cells->doubled <= 16 * cells->count;
}

/* ---- by searches ------------------------------------------------------------------------------------------------- */

static carom_status search_each(const caromi_cloud_scan *of, int any, const caromi_partners *to, carom_stats *stats,
                                carom_error *err)
{
    const carom_context *c = of->cloud->context;
    const caromi_cloud_cells *cells = of->cells;
    caromi_cloud_best best = {.any = any};
    best.partner = caromi_alloc(c, cells->count + 1, sizeof *best.partner);
    best.is_done = caromi_alloc(c, cells->count + 1, 1);
    carom_status status = CAROM_OK;
    if (best.partner == NULL || best.is_done == NULL)
        status = caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory for the partners of %llu spheres",
                             (unsigned long long)cells->count);
    else {
        best_job job = {to, cells, &best, any || caromi_slice_is_instant(of->slice)};
        memset(best.partner, 0xff, cells->count * sizeof *best.partner);
        set_done(to, cells, best.is_done);
        caromi_cloud_scan scan = *of;
        scan.best = &best;
        scan.take = take;
        scan.user = &job;
        status = caromi_cloud_run(&scan, stats, err);
        if (!cells->view.reach_is_bound && of->cloud->start != CAROM_START_SKIP)
            take_sure(to, cells, best.partner);
    }
    caromi_free(c, best.partner);
    caromi_free(c, best.is_done);
    return status;
}

/* Hits that begin in the slice; of time 0, if it is that. */
static carom_status search(const caromi_cloud *cloud, const caromi_cloud_slice *slice, int is_last, int any,
                           const caromi_partners *to, carom_stats *stats, carom_error *err)
{
    caromi_cloud_cells cells;
    CHECK(caromi_cloud_build(cloud, slice, &cells, err));
    const caromi_cloud_scan scan = {.cloud = cloud,
                                    .cells = &cells,
                                    .slice = slice,
                                    .is_first = caromi_slice_is_instant(slice),
                                    .is_last = is_last};
    const carom_status status = is_by_pairs(&cells, to, cloud->count) ? search_pairs(&scan, to, stats, err)
                                                                      : search_each(&scan, any, to, stats, err);
    caromi_cloud_free(cloud, &cells);
    return status;
}

carom_status caromi_cloud_partners(const caromi_cloud *cloud, int any, const caromi_partners *to, carom_stats *stats,
                                   carom_error *err)
{
    const caromi_cloud_slice instant = {.begin = 0};
    caromi_cloud_slices slices;
    memset(to->state, CAROM_MISS, cloud->count);
    memset(to->other, 0xff, cloud->count * sizeof *to->other);
    for (uint64_t i = 0; i < cloud->count; i++)
        to->t[i] = INFINITY;
    if (cloud->start != CAROM_START_SKIP)
        CHECK(search(cloud, &instant, 0, any, to, stats, err));
    caromi_cloud_cut(cloud, &slices);
    for (uint32_t k = 0; cloud->is_moving && k < slices.count; k++) {
        const caromi_cloud_slice slice = caromi_cloud_slice_of(&slices, k);
        if (!caromi_slice_is_instant(&slice))
            CHECK(search(cloud, &slice, k + 1 == slices.count, any, to, stats, err));
    }
    return CAROM_OK;
}
