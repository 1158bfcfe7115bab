/* SPDX-License-Identifier: MIT */
/* Progress of a call. A call with a progress function has a watch (cpu/threads/watch.h) in its context. It reports at
 * the end of each piece of a batch, and while a piece lasts every 50 ms, by each caromi_watch_look(). */
#ifndef CAROM_HOST_CORE_PROGRESS_H
#define CAROM_HOST_CORE_PROGRESS_H
#include "context.h"

/* Reports that the answers before `done` are there. CAROM_ERROR_CANCELLED if the caller's function ends the call, or
 * has. one: as of caromi_fail_cancelled. */
carom_status caromi_report(const carom_context *context, const char *one, uint64_t done, carom_error *err);
/* The error of a call that its caller's function has ended. one: the word for one of what the function counts; NULL:
 * it gets the share of the work, and there are no answers before the end. */
carom_status caromi_fail_cancelled(const carom_context *context, const char *one, carom_error *err);

/* CAROM_ERROR_CANCELLED, without a sentence, if the caller's function has ended the call: what the call was doing is
 * unfinished. */
static inline carom_status caromi_went_on(const carom_context *context)
{
    return caromi_watch_ends(context->watch) ? CAROM_ERROR_CANCELLED : CAROM_OK;
}

/* For long loops without blocks and tasks, as of tables that a mesh keeps: element `number` is next. Progress is
 * reported. Returns whether the call ends early; a table that cannot be left unfinished goes on. */
static inline int caromi_look_at_times(const carom_context *context, uint64_t number)
{
    return context->watch != NULL && number % (1 << 14) == 0 && caromi_watch_look(context->watch);
}

/* The same between the rounds of bundles on a device, where the watch is paused: progress is reported if a report is
 * due. Several devices finish their pieces. */
carom_status caromi_went_on_between(const carom_context *context);

/* While devices answer, reports come at the ends of their pieces, and between the rounds of bundles. */
static inline void caromi_pause_watch(const carom_context *context, int is_paused)
{
    if (context->watch != NULL)
        caromi_watch_pause(context->watch, is_paused);
}
#endif
