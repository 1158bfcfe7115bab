/* SPDX-License-Identifier: MIT */
/* Progress of a call for a cloud, and the reasons to end it early. */
#ifndef CAROM_HOST_CLOUD_WATCH_H
#define CAROM_HOST_CLOUD_WATCH_H
#include <stdatomic.h>

#include "host/core/context.h"

enum { CAROMI_PAIRS_BITS = 36 }; /* limit of 2^36 pairs of a list or a count, which take about twenty seconds to find */

/* The part of a call, 0 to 1, that one scan is. */
typedef struct caromi_cloud_share {
    double from, to;
} caromi_cloud_share;

typedef struct caromi_cloud_watch {
    caromi_watch *call;       /* of the call; NULL: the caller does not follow it */
    uint64_t begin, end;      /* range of spheres in which progress is reported */
    caromi_cloud_share share; /* of the current scan */
    uint64_t tasks;           /* number of the current scan's tasks */
    _Atomic uint64_t done;    /* tasks that have ended */
    _Atomic uint64_t pairs;   /* pairs found so far */
    int has_reported;         /* the first report comes at once */
    int counts_pairs;         /* whether `pairs` is limited: in a list or a count */
    _Atomic int has_too_many; /* pairs: the scan shall end */
} caromi_cloud_watch;

/* Announces that the next scan is step `step` of `steps` of a part of the call. */
void caromi_cloud_watch_part(caromi_cloud_watch *watch, const caromi_cloud_share *whole, uint32_t step, uint32_t steps);
/* Announces that a scan of so many tasks begins, that one of its tasks has ended. Any thread may call them. */
void caromi_cloud_watch_begin(caromi_cloud_watch *watch, uint64_t tasks);
void caromi_cloud_watch_done(caromi_cloud_watch *watch);
/* Calls the caller's progress function if a report is due, with the share of the tasks that have ended. Only on the
 * thread of the call. */
void caromi_cloud_watch_look(caromi_cloud_watch *watch);
int caromi_cloud_watch_ends(const caromi_cloud_watch *watch);
/* Adds pairs to the number found. Any thread may call it. */
void caromi_cloud_watch_pairs(caromi_cloud_watch *watch, uint64_t pairs);
/* CAROM_OK, or the reason why the call ends early; CAROM_ERROR_CANCELLED without a sentence. */
carom_status caromi_cloud_watch_status(const caromi_cloud_watch *watch, carom_error *err);
/* The error for too many pairs. */
carom_status caromi_refuse_pairs(double pairs, carom_error *err);

#endif
