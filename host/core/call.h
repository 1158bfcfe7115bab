/* SPDX-License-Identifier: MIT */
/* The frame in which public functions run. */
#ifndef CAROM_HOST_CORE_CALL_H
#define CAROM_HOST_CORE_CALL_H
#include "checks.h"
#include "staging.h"
#include "job.h"

/* Evaluates and returns `call`, a call expression: waits for the context's jobs first, and sets the floating-point mode
 * (IN_FLOAT_MODE). For public functions that change objects that jobs may use. */
#define IN_TURN(context, call)                                   \
    do {                                                         \
        const caromi_float_mode mode_ = caromi_float_mode_set(); \
        caromi_wait_for_jobs(context);                           \
        const carom_status status_ = (call);                     \
        caromi_float_mode_restore(mode_);                        \
        return status_;                                          \
    } while (0)

/* The common frame of calls with arrays. It waits for the context's jobs and for the present commands of the caller's
 * queue, evaluates `call` (a call expression), ends the staging copies, then evaluates the statement `then`. Without a
 * context it waits for nothing and ends no copies. */
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

/* Evaluates and returns `call` in that frame. */
#define IN_CALL(context, err, call) CAROMI_CALL(context, NULL, err, call, (void)0)
#endif
