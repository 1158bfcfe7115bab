/* SPDX-License-Identifier: MIT */
/* How far a call for a cloud has come, for its caller, and whether it is to end early. */
#ifndef CAROM_HOST_CLOUD_WATCH_H
#define CAROM_HOST_CLOUD_WATCH_H
#include <stdatomic.h>

#include "host/core/context.h"

enum { CAROMI_PAIRS_BITS = 36 }; /* pairs of a list or a count: so many take some twenty seconds to find */

/* The share of the whole call that a part of it is. */
typedef struct caromi_watch_share {
    double from, to;
} caromi_watch_share;

typedef struct caromi_cloud_watch {
    carom_progress progress;
    uint64_t begin, end;      /* spheres, as the caller has them reported */
    caromi_watch_share share; /* of the scan under way */
    uint64_t tasks;           /* of that scan */
    _Atomic uint64_t done;    /* tasks */
    double next;              /* time of the next report */
    _Atomic uint64_t pairs;   /* found, by scans of all pairs; */
    int counts_pairs;         /* which is limited */
    _Atomic int ends;         /* as the caller wants it, or there are too many pairs */
    carom_status status;      /* why */
    carom_error error;
} caromi_cloud_watch;

/* The scan that begins is step `step` of `steps` of the whole. */
void caromi_watch_part(caromi_cloud_watch *watch, const caromi_watch_share *whole, uint32_t step, uint32_t steps);
/* A scan of so many tasks begins, or one of them has ended; from any thread. */
void caromi_watch_begin(caromi_cloud_watch *watch, uint64_t tasks);
void caromi_watch_done(caromi_cloud_watch *watch);
/* On the thread of the call: asks the caller, if it is time, whether to go on. */
void caromi_watch_report(caromi_cloud_watch *watch);
int caromi_watch_ends(const caromi_cloud_watch *watch);
/* So many more pairs are found; from any thread. */
void caromi_watch_pairs(caromi_cloud_watch *watch, uint64_t pairs);
/* CAROM_OK, or why the call ends early. */
carom_status caromi_watch_status(const caromi_cloud_watch *watch, carom_error *err);
/* Refusal of so many pairs. */
carom_status caromi_refuse_pairs(double pairs, carom_error *err);

#endif
