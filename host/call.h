/* SPDX-License-Identifier: MIT */
/* How the public functions run. */
#ifndef CAROM_HOST_CALL_H
#define CAROM_HOST_CALL_H
#include "buffer/shadow.h"
#include "jobs/job.h"

/* Every public function that has arrays, or changes what jobs of its context may use, returns through this: as
 * IN_FLOAT_MODE, after the jobs of the context, and the shadows of its arrays end. A device's probe makes a mesh inside
 * a call, and must leave alone the shadows of that. */
#define IN_CALL(context, err, call)                                         \
    do {                                                                    \
        const caromi_float_mode mode_ = caromi_float_mode_set();            \
        caromi_wait_for_jobs(context);                                      \
        const uint32_t held_ = caromi_shadows_held(context);                \
        carom_status status_ = (call);                                      \
        if (caromi_shadows_held(context) != held_)                          \
            status_ = caromi_shadows_end((context), held_, status_, (err)); \
        caromi_float_mode_restore(mode_);                                   \
        return status_;                                                     \
    } while (0)

/* Every public function with a carom_batch returns through this: as IN_CALL, or with a job. Then `call` only checks
 * what it can check without reading elements (CAROMI_CHECK_CALL). The rest are the members of a caromi_call. */
#define IN_BATCH(context, batch, err, call, ...)                                          \
    do {                                                                                  \
        if ((batch)->job == NULL && (batch)->wait_count == 0)                             \
            IN_CALL(context, err, call);                                                  \
        CHECK(caromi_check_jobs(batch, err));                                             \
        if ((batch)->job == NULL) {                                                       \
            CHECK(caromi_await_jobs(batch, err));                                         \
            IN_CALL(context, err, call);                                                  \
        }                                                                                 \
        const caromi_float_mode mode_ = caromi_float_mode_set();                          \
        carom_status status_ = (call);                                                    \
        if (status_ == CAROM_OK)                                                          \
            status_ = caromi_submit((context), &(const caromi_call){__VA_ARGS__}, (err)); \
        caromi_float_mode_restore(mode_);                                                 \
        return status_;                                                                   \
    } while (0)

/* The public function `name` as a job makes it. */
#define CAROMI_JOB_OF(name)                                                                                         \
    static carom_status job_##name(void *subject, const void *desc, const void *out, int which, carom_stats *stats, \
                                   carom_error *err)                                                                \
    {                                                                                                               \
        (void)which;                                                                                                \
        return name(subject, desc, out, stats, err);                                                                \
    }
/* IN_BATCH of a function with the arguments (subject, desc, out, stats, err), of which CAROMI_JOB_OF has been made. */
#define IN_BATCH_OF(name, context, subject, desc, out, stats, err, call)                                           \
    IN_BATCH(context, &(desc)->batch, err, call, job_##name, subject, desc, sizeof *(desc), out, sizeof *(out), 0, \
             stats)
#endif
