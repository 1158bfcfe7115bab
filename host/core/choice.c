/* SPDX-License-Identifier: MIT */
/* Chooses the backend of a batch, and handles failures of devices. `auto` keeps small batches on the CPU. For larger
 * ones it uses a device that the caller named; a device that it found itself is used as long as it is faster than the
 * CPU. Both give the same bits, so these measurements affect only speed. */
#include <stdio.h>
#include <string.h>

#include "choice.h"
#include "devices.h"
#include "fallback.h"
#include "staging.h"
#include "device.h"

/* ---- auto ------------------------------------------------------------------------------------------------------ */

/* The least number of queries of a batch for a device. */
static unsigned long long least_batch(const carom_context *context)
{
    return context->desc.auto_from > 0 ? context->desc.auto_from : CAROM_AUTO_MIN_QUERIES;
}

/* Whether the caller chose the device, by a selector or by sharing its OpenCL context. */
static int is_named(const carom_context *context)
{
    return context->device_selector != NULL || context->is_on_shared;
}

/* Logs why `auto` has no device: a warning if the caller named one, or if one was found but cannot be used. A machine
 * without devices is normal. */
static void log_for_auto(carom_context *context, carom_status status, const carom_error *why)
{
    for (uint32_t i = 0; status == CAROM_OK && i < context->device_count; i++)
        if (context->devices[i] != NULL)
            caromi_log(context, CAROM_LOG_INFO, "auto: batches from %llu queries go to %s, %s", least_batch(context),
                       caromi_driver.name(context->devices[i]),
                       is_named(context) ? "which was named" : "unless it turns out to be slower than the CPU");
    if (status == CAROM_OK)
        return;
    const int absent =
        !is_named(context) && !caromi_driver.is_inherited() && (status == CAROM_ERROR_NO_DEVICE || !carom_has_opencl());
    caromi_log(context, absent ? CAROM_LOG_INFO : CAROM_LOG_WARNING, "auto stays on the CPU: %s", why->message);
    if (!absent)
        context->device_lacking = *why;
}

/* Opens the devices of `auto`; if there is none, it stays on the CPU. */
static void open_for_auto(carom_context *context)
{
    carom_error why = {CAROM_OK, 0, ""};
    context->device_tried = 1;
    const carom_status status = caromi_devices_open(context, context->device_selector == NULL, &why);
    log_for_auto(context, status, &why);
}

/* Opens the devices of the caller's OpenCL context. */
carom_status caromi_open_shared(carom_context *context, const struct carom_opencl_desc *cl, carom_error *err)
{
    carom_error why = {CAROM_OK, 0, ""};
    context->is_on_shared = context->device_tried = 1;
    CHECK(caromi_driver.shared_retain(context, cl, err));
    const carom_status status = caromi_devices_open_shared(context, cl, &why);
    if (status != CAROM_OK && (status == CAROM_ERROR_INVALID_ARGUMENT || context->desc.backend == CAROM_BACKEND_OPENCL))
        return caromi_fail(err, status, why.native_code, "%s", why.message);
    if (context->desc.backend == CAROM_BACKEND_AUTO)
        log_for_auto(context, status, &why);
    return CAROM_OK;
}

/* The CPU's speed is measured on the last queries of the first batch of a kind: SAMPLE_OF_THREAD for each thread, at
 * least SAMPLE; the device answers these queries again. */
enum { SAMPLE = CAROM_AUTO_MIN_QUERIES / 16, SAMPLE_OF_THREAD = 1 << 14 };
/* Batches that a device answers before its fastest one is compared with the CPU. The first batch is not counted, as it
 * builds a program. */
enum { TRIALS = 3 };

/* Measures the CPU's seconds per query on a sample. */
static void sample_cpu(const carom_context *context, const caromi_batch *batch)
{
    const uint64_t wanted = (uint64_t)SAMPLE_OF_THREAD * caromi_pool_threads(context->pool),
                   least = wanted > SAMPLE ? wanted : SAMPLE;
    const uint64_t sample = least < caromi_batch_size(batch) ? least : caromi_batch_size(batch);
    carom_stats unused;
    memset(&unused, 0, sizeof unused);
    for (int pass = 0; pass < 2; pass++) { /* the first pass wakes the threads and touches the memory */
        const double start = caromi_now();
        if (batch->on_cpu(context, batch->sample ? batch->sample : batch->batch, batch->count - sample, batch->count,
                          &unused, NULL) != CAROM_OK)
            return;
        batch->pace->cpu = pass == 0 ? 0 : (caromi_now() - start) / (double)sample;
    }
}

/* Whether the CPU is known to be faster at batches of this kind than the device that `auto` found. A change is logged.
 */
static int is_cpu_faster(const carom_context *context, const caromi_batch *batch)
{
    caromi_pace *pace = batch->pace;
    const int faster = pace->trials > TRIALS && pace->cpu > 0 && pace->cpu < pace->device;
    if (faster != pace->on_cpu)
        caromi_log(context, CAROM_LOG_INFO,
                   "auto: %s goes to the %s from here: %.3g ns a query on the CPU, %.3g on the device", batch->name,
                   faster ? "CPU" : "device", 1e9 * pace->cpu, 1e9 * pace->device);
    pace->on_cpu = faster;
    return faster;
}

/* Notes the time of a batch on the device: the least seconds per query of all batches but the first. */
void caromi_learn_device(const caromi_batch *batch, double seconds)
{
    caromi_pace *pace = batch->pace;
    const double each = seconds / (double)caromi_batch_size(batch);
    pace->trials += pace->trials <= TRIALS;
    if (pace->trials > 1 && (pace->device == 0 || each < pace->device))
        pace->device = each;
}

/* The first time of a whole batch replaces the time of a sample, as it is more reliable. */
void caromi_learn_cpu(const carom_context *context, const caromi_batch *batch, double seconds)
{
    caromi_pace *pace = batch->pace;
    const double each = seconds / (double)caromi_batch_size(batch);
    if (caromi_batch_size(batch) < least_batch(context))
        return;
    if (!pace->cpu_is_whole || each < pace->cpu)
        pace->cpu = each;
    pace->cpu_is_whole = 1;
}

static void log_small(carom_context *context, uint64_t count)
{
    if (!context->small_logged)
        caromi_log(context, CAROM_LOG_INFO, "auto: %llu queries stay on the CPU, as all batches below %llu do",
                   (unsigned long long)count, least_batch(context));
    context->small_logged = 1;
}

/* In a fork()ed child of the process that opened the devices: drops the devices, which it cannot use. */
static void leave_inherited(carom_context *context)
{
    if (caromi_first_device(context) == NULL || !caromi_driver.is_inherited())
        return;
    caromi_devices_close(context);
    (void)caromi_driver.fail_inherited(&context->device_lacking);
    caromi_log(context, CAROM_LOG_WARNING, "%s", context->device_lacking.message);
}

/* Gives up a device on which an enqueued call has failed. */
static void leave_lost(carom_context *context)
{
    carom_error cause = {CAROM_OK, 0, ""};
    if (context->shared == NULL || context->devices[0] == NULL ||
        caromi_driver.enqueued_settle(context, &cause) == CAROM_OK)
        return;
    caromi_log(context, CAROM_LOG_WARNING, "OpenCL failed in a call that was enqueued: %s", cause.message);
    caromi_give_up(context, context->devices[0], cause.status, &cause);
}

/* For `auto`: opens the device at the first batch. Returns 0 if the CPU should answer the batch. */
static int auto_wants_device(carom_context *context, const caromi_batch *batch)
{
    if (!context->device_tried)
        open_for_auto(context);
    if (is_named(context) || caromi_first_device(context) == NULL)
        return 1;
    if (batch->prepare) /* without measurements */
        return !batch->pace->on_cpu;
    if (batch->pace->cpu == 0 && batch->is_whole)
        return 0;
    if (batch->pace->cpu == 0)
        sample_cpu(context, batch);
    return !is_cpu_faster(context, batch);
}

static carom_status fail_given_up(const carom_context *context, carom_error *err)
{
    return caromi_fail(err, context->device_lacking.status, context->device_lacking.native_code,
                       "the OpenCL device of this context was given up: %s", context->device_lacking.message);
}

/* The device whose memory a buffer may use; NULL: none. */
carom_status caromi_pick_memory(carom_context *context, caromi_device **out, carom_error *err)
{
    *out = NULL;
    if (context->desc.backend == CAROM_BACKEND_CPU)
        return CAROM_OK;
    leave_inherited(context);
    leave_lost(context);
    if (!context->device_tried)
        open_for_auto(context);
    *out = caromi_first_device(context);
    return *out == NULL && context->desc.backend == CAROM_BACKEND_OPENCL ? fail_given_up(context, err) : CAROM_OK;
}

carom_status caromi_pick_shared(carom_context *context, caromi_device **out, carom_error *err)
{
    leave_inherited(context);
    leave_lost(context);
    *out = context->devices[0];
    return *out != NULL ? CAROM_OK : fail_given_up(context, err);
}

/* The device that answers a batch; NULL: the CPU does. */
carom_status caromi_pick_device(carom_context *context, const caromi_batch *batch, caromi_device **out,
                                carom_stats *stats, carom_error *err)
{
    *out = NULL;
    if (context->desc.backend == CAROM_BACKEND_CPU || batch->on_device == NULL)
        return CAROM_OK;
    const int stays = caromi_has_residents(context); /* bringing the arrays to the CPU would cost more than the batch */
    if (context->desc.backend == CAROM_BACKEND_AUTO && !stays && caromi_batch_size(batch) < least_batch(context)) {
        log_small(context, caromi_batch_size(batch));
        return CAROM_OK;
    }
    leave_inherited(context);
    leave_lost(context);
    if (context->desc.backend == CAROM_BACKEND_AUTO && !stays && !auto_wants_device(context, batch))
        return CAROM_OK;
    *out = caromi_first_device(context);
    if (*out != NULL || context->device_lacking.status == CAROM_OK)
        return CAROM_OK;
    if (context->desc.backend == CAROM_BACKEND_OPENCL)
        return fail_given_up(context, err);
    caromi_explain_fall_back(stats, stats->queries, &context->device_lacking);
    return CAROM_OK;
}

/* ---- failures -------------------------------------------------------------------------------------------------- */

/* A lack of memory ends only this batch on the device; after any other failure the device is closed. */
carom_status caromi_fall_back(carom_context *context, caromi_device *device, carom_status status, uint64_t left,
                              carom_stats *stats, const carom_error *cause, carom_error *err)
{
    if (status != CAROM_ERROR_OUT_OF_MEMORY && device != NULL)
        caromi_give_up(context, device, status, cause);
    if (context->desc.backend == CAROM_BACKEND_OPENCL)
        return caromi_fail(err, status, cause->native_code, "%s", cause->message);
    caromi_log(context, CAROM_LOG_WARNING, "OpenCL failed, the CPU answers the %llu queries left: %s",
               (unsigned long long)left, cause->message);
    caromi_explain_fall_back(stats, left, cause);
    return CAROM_OK;
}
