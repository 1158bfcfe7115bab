/* SPDX-License-Identifier: MIT */
/* How the public functions run. */
#ifndef CAROM_HOST_CORE_CALL_H
#define CAROM_HOST_CORE_CALL_H
#include "checks.h"
#include "staging.h"
#include "job.h"

/* Every public function that changes what jobs of its context may use returns through this: as IN_FLOAT_MODE, after the
 * jobs. */
#define IN_TURN(context, call)                                   \
    do {                                                         \
        const caromi_float_mode mode_ = caromi_float_mode_set(); \
        caromi_wait_for_jobs(context);                           \
        const carom_status status_ = (call);                     \
        caromi_float_mode_restore(mode_);                        \
        return status_;                                          \
    } while (0)

/* What calls with arrays have in common: they begin as IN_TURN does, also after what a queue of the caller has, and the
 * staging copies of their arrays end. Those of jobs are gone only then. `then` is the last thing that happens. Without
 * a context nothing is waited for, and nothing ends. */
#define CAROMI_CALL(context, stats, err, call, then)                      \
    do {                                                                  \
        carom_context *const used_ = (context);                           \
        const caromi_float_mode mode_ = caromi_float_mode_set();          \
        carom_status status_ = caromi_wait_for_turn(used_, (err));        \
        if (status_ == CAROM_OK)                                          \
            status_ = (call);                                             \
        if (caromi_staging_held(used_) > 0)                               \
            status_ = caromi_staging_end(used_, status_, (stats), (err)); \
        then;                                                             \
        caromi_float_mode_restore(mode_);                                 \
        return status_;                                                   \
    } while (0)

/* Every public function that has arrays returns through this. */
#define IN_CALL(context, err, call) CAROMI_CALL(context, NULL, err, call, (void)0)
#endif
