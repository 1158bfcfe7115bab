/* SPDX-License-Identifier: MIT */
#include "watch.h"

#include "cpu/cpu.h"

static const double REPORT_EVERY = 0.05; /* seconds */

void caromi_watch_part(caromi_cloud_watch *watch, const caromi_watch_share *whole, uint32_t step, uint32_t steps)
{
    const double each = (whole->to - whole->from) / steps;
    watch->share = (caromi_watch_share){whole->from + step * each, whole->from + (step + 1) * each};
}

void caromi_watch_begin(caromi_cloud_watch *watch, uint64_t tasks)
{
    watch->tasks = tasks;
    atomic_store(&watch->done, 0);
}

void caromi_watch_done(caromi_cloud_watch *watch)
{
    atomic_fetch_add_explicit(&watch->done, 1, memory_order_relaxed);
}

int caromi_watch_ends(const caromi_cloud_watch *watch)
{
    return atomic_load_explicit(&watch->ends, memory_order_relaxed);
}

/* Reports stay below the end: the batch reports the last sphere when all are answered. */
void caromi_watch_report(caromi_cloud_watch *watch)
{
    if (watch->progress.fn == NULL || caromi_watch_ends(watch))
        return;
    const double now = caromi_now(), tasks = (double)atomic_load_explicit(&watch->done, memory_order_relaxed);
    const double done = watch->share.from + (watch->share.to - watch->share.from) * tasks / (double)watch->tasks;
    if (now < watch->next)
        return;
    watch->next = now + REPORT_EVERY;
    const uint64_t spheres = (uint64_t)((double)(watch->end - watch->begin) * (done < 0.99 ? done : 0.99));
    const int enough = watch->progress.fn(watch->progress.user, watch->begin + spheres, watch->end) != 0;
    (void)caromi_float_mode_set(); /* the callback may have changed it */
    if (!enough)
        return;
    watch->status = caromi_fail(&watch->error, CAROM_ERROR_CANCELLED, CAROMI_NO_NATIVE_CODE,
                                "cancelled after %.0f %% of the work; no sphere is answered", 100 * done);
    atomic_store(&watch->ends, 1);
}

/* Adds pairs to the number found. */
void caromi_watch_pairs(caromi_cloud_watch *watch, uint64_t pairs)
{
    if (!watch->counts_pairs || pairs == 0)
        return;
    const uint64_t sum = atomic_fetch_add_explicit(&watch->pairs, pairs, memory_order_relaxed) + pairs;
    if (sum >> CAROMI_PAIRS_BITS != 0)
        atomic_store_explicit(&watch->ends, 1, memory_order_relaxed);
}

/* The error for too many pairs. */
carom_status caromi_refuse_pairs(double pairs, carom_error *err)
{
    return caromi_fail_argument(
        err,
        "so many spheres are in one place, or move without a limit of time, that there are %.2g pairs (N "
        "spheres in one place make N^2/2); a list or a count has at most 2^%d; first and any partners "
        "have no such limit",
        pairs, (int)CAROMI_PAIRS_BITS);
}

/* CAROM_OK, or the reason why the call ends early. */
carom_status caromi_watch_status(const caromi_cloud_watch *watch, carom_error *err)
{
    if (!atomic_load(&watch->ends))
        return CAROM_OK;
    if (watch->status == CAROM_OK)
        return caromi_refuse_pairs((double)atomic_load(&watch->pairs), err);
    if (err != NULL)
        *err = watch->error;
    return watch->status;
}
