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

/* Hits that begin in the slice; of time 0, if it is that. */
static carom_status search(const caromi_cloud *cloud, const caromi_cloud_slice *slice, int is_last, int any,
                           const caromi_partners *to, carom_stats *stats, carom_error *err)
{
    const carom_context *c = cloud->context;
    caromi_cloud_cells cells;
    CHECK(caromi_cloud_build(cloud, slice, &cells, err));
    caromi_cloud_best best = {.any = any};
    best.partner = caromi_alloc(c, cells.count + 1, sizeof *best.partner);
    best.is_done = caromi_alloc(c, cells.count + 1, 1);
    carom_status status = CAROM_OK;
    if (best.partner == NULL || best.is_done == NULL)
        status = caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory for the partners of %llu spheres",
                             (unsigned long long)cells.count);
    else {
        best_job job = {to, &cells, &best, any || caromi_slice_is_instant(slice)};
        memset(best.partner, 0xff, cells.count * sizeof *best.partner);
        set_done(to, &cells, best.is_done);
        const caromi_cloud_scan scan = {.cloud = cloud,
                                        .cells = &cells,
                                        .slice = slice,
                                        .is_first = caromi_slice_is_instant(slice),
                                        .is_last = is_last,
                                        .best = &best,
                                        .take = take,
                                        .user = &job};
        status = caromi_cloud_run(&scan, stats, err);
        if (!cells.view.reach_is_bound && cloud->start != CAROM_START_SKIP)
            take_sure(to, &cells, best.partner);
    }
    caromi_free(c, best.partner);
    caromi_free(c, best.is_done);
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
