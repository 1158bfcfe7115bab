/* SPDX-License-Identifier: MIT */
#include "watch.h"

#include "cpu/cpu.h"

void caromi_cloud_watch_part(caromi_cloud_watch *watch, const caromi_cloud_share *whole, uint32_t step, uint32_t steps)
{
    const double each = (whole->to - whole->from) / steps;
    watch->share = (caromi_cloud_share){whole->from + step * each, whole->from + (step + 1) * each};
}

void caromi_cloud_watch_begin(caromi_cloud_watch *watch, uint64_t tasks)
{
    watch->tasks = tasks;
    atomic_store(&watch->done, 0);
}

void caromi_cloud_watch_done(caromi_cloud_watch *watch)
{
    atomic_fetch_add_explicit(&watch->done, 1, memory_order_relaxed);
}

int caromi_cloud_watch_ends(const caromi_cloud_watch *watch)
{
    return atomic_load_explicit(&watch->has_too_many, memory_order_relaxed) || caromi_watch_ends(watch->call);
}

/* Reports stay below the end: the batch reports the last sphere when all are answered. */
void caromi_cloud_watch_look(caromi_cloud_watch *watch)
{
    const double tasks = (double)atomic_load_explicit(&watch->done, memory_order_relaxed),
                 done = watch->share.from + (watch->share.to - watch->share.from) * tasks / (double)watch->tasks;
    if (watch->call == NULL)
        return;
    caromi_watch_move(watch->call,
                      watch->begin + (uint64_t)((double)(watch->end - watch->begin) * (done < 0.99 ? done : 0.99)));
    if (!watch->has_reported)
        caromi_watch_report(watch->call, watch->call->done);
    watch->has_reported = 1;
    (void)caromi_watch_look(watch->call);
}

/* Adds pairs to the number found. */
void caromi_cloud_watch_pairs(caromi_cloud_watch *watch, uint64_t pairs)
{
    if (!watch->counts_pairs || pairs == 0)
        return;
    const uint64_t sum = atomic_fetch_add_explicit(&watch->pairs, pairs, memory_order_relaxed) + pairs;
    if (sum >> CAROMI_PAIRS_BITS != 0)
        atomic_store_explicit(&watch->has_too_many, 1, memory_order_relaxed);
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
carom_status caromi_cloud_watch_status(const caromi_cloud_watch *watch, carom_error *err)
{
    if (caromi_watch_ends(watch->call))
        return CAROM_ERROR_CANCELLED;
    return atomic_load(&watch->has_too_many) ? caromi_refuse_pairs((double)atomic_load(&watch->pairs), err) : CAROM_OK;
}
