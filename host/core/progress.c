/* SPDX-License-Identifier: MIT */
#include "progress.h"

#include "cpu/threads/clock.h"
#include "handler.h"

carom_status caromi_run_watched(const caromi_handler *handler, carom_context *context, const caromi_request *request,
                                carom_error *err)
{
    const carom_batch *batch = caromi_batch_of(request->desc);
    caromi_watch watch;
    caromi_watch_begin(&watch, batch->progress.fn, batch->progress.user);
    watch.begin = watch.done = batch->begin;
    watch.count = batch->count;
    context->watch = &watch;
    caromi_pool_watch(context->pool, &watch);
    const carom_status status = handler->run(request, err);
    caromi_pool_watch(context->pool, NULL);
    context->watch = NULL;
    return status;
}

carom_status caromi_went_on_between(const carom_context *context)
{
    caromi_watch *watch = context->watch;
    if (watch == NULL || context->device_count != 1 || !caromi_watch_is_own(watch))
        return CAROM_OK;
    if (caromi_nanoseconds() >= watch->next)
        caromi_watch_report(watch, watch->done);
    return caromi_went_on(context);
}

carom_status caromi_report(const carom_context *context, const char *one, uint64_t done, carom_error *err)
{
    if (context->watch == NULL)
        return CAROM_OK;
    const int is_over = caromi_watch_ends(context->watch) && done == context->watch->count;
    caromi_watch_report(context->watch, done);
    if (is_over) /* all is answered although it was to end earlier */
        return CAROM_OK;
    return caromi_watch_ends(context->watch) ? caromi_fail_cancelled(context, one, err) : CAROM_OK;
}

carom_status caromi_fail_cancelled(const carom_context *context, const char *one, carom_error *err)
{
    const caromi_watch *watch = context->watch;
    const double all = (double)(watch->count - watch->begin), done = (double)(watch->done - watch->begin);
    if (one == NULL && watch->done < watch->count)
        return caromi_fail(err, CAROM_ERROR_CANCELLED, CAROMI_NO_NATIVE_CODE,
                           "cancelled after %.0f %% of the work; no sphere is answered", 100 * done / all);
    return caromi_fail(err, CAROM_ERROR_CANCELLED, CAROMI_NO_NATIVE_CODE,
                       "cancelled at %s %llu of %llu; those before it are answered", one != NULL ? one : "sphere",
                       (unsigned long long)watch->done, (unsigned long long)watch->count);
}
