/* SPDX-License-Identifier: MIT */
#include "watch.h"

#include "cpu/cpu.h"

static const double REPORT_EVERY = 0.05; /* seconds */

void caromi_watch_part(caromi_cloud_watch *w, const caromi_watch_share *whole, uint32_t step, uint32_t steps)
{
    const double each = (whole->to - whole->from) / steps;
    w->share = (caromi_watch_share){whole->from + step * each, whole->from + (step + 1) * each};
}

void caromi_watch_begin(caromi_cloud_watch *w, uint64_t tasks)
{
    w->tasks = tasks;
    atomic_store(&w->done, 0);
}

void caromi_watch_done(caromi_cloud_watch *w)
{
    atomic_fetch_add_explicit(&w->done, 1, memory_order_relaxed);
}

int caromi_watch_ends(const caromi_cloud_watch *w)
{
    return atomic_load_explicit(&w->ends, memory_order_relaxed);
}

/* Reports stay below the end: the batch reports the last sphere when all are answered. */
void caromi_watch_report(caromi_cloud_watch *w)
{
    if (w->progress.fn == NULL || caromi_watch_ends(w))
        return;
    const double now = caromi_now(), tasks = (double)atomic_load_explicit(&w->done, memory_order_relaxed);
    const double done = w->share.from + (w->share.to - w->share.from) * tasks / (double)w->tasks;
    if (now < w->next)
        return;
    w->next = now + REPORT_EVERY;
    const uint64_t spheres = (uint64_t)((double)(w->end - w->begin) * (done < 0.99 ? done : 0.99));
    const int enough = w->progress.fn(w->progress.user, w->begin + spheres, w->end) != 0;
    (void)caromi_float_mode_set(); /* the callback may have changed it */
    if (!enough)
        return;
    w->status = caromi_fail(&w->error, CAROM_ERROR_CANCELLED, 0,
                            "cancelled after %.0f %% of the work; no sphere is answered", 100 * done);
    atomic_store(&w->ends, 1);
}

void caromi_watch_pairs(caromi_cloud_watch *w, uint64_t pairs)
{
    if (!w->counts_pairs || pairs == 0)
        return;
    const uint64_t sum = atomic_fetch_add_explicit(&w->pairs, pairs, memory_order_relaxed) + pairs;
    if (sum >> CAROMI_PAIRS_BITS != 0)
        atomic_store_explicit(&w->ends, 1, memory_order_relaxed);
}

carom_status caromi_refuse_pairs(double pairs, carom_error *err)
{
    return caromi_fail(
        err, CAROM_ERROR_INVALID_ARGUMENT, 0,
        "so many spheres are in one place, or move without a limit of time, that there are %.2g pairs (N "
        "spheres in one place make N^2/2); a list or a count has at most 2^%d; first and any partners "
        "have no such limit",
        pairs, (int)CAROMI_PAIRS_BITS);
}

carom_status caromi_watch_status(const caromi_cloud_watch *w, carom_error *err)
{
    if (!atomic_load(&w->ends))
        return CAROM_OK;
    if (w->status == CAROM_OK)
        return caromi_refuse_pairs((double)atomic_load(&w->pairs), err);
    if (err != NULL)
        *err = w->error;
    return w->status;
}
