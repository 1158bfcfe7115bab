/* SPDX-License-Identifier: MIT */
/* Creates and destroys contexts. */
#include <string.h>

#include "buffer.h"
#include "checks.h"
#include "choice.h"
#include "context.h"
#include "devices.h"
#include "device.h"
#include "queue.h"

carom_context_desc carom_context_desc_default(void)
{
    carom_context_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.size = sizeof desc;
    desc.log_level = CAROM_LOG_WARNING;
    return desc;
}

/* Checks the numbers of a descriptor. */
static carom_status check_desc(const carom_context_desc *desc, carom_error *err)
{
    const carom_status status = caromi_check_desc(desc->size, sizeof *desc, "carom_context_desc", err);
    if (status != CAROM_OK)
        return status;
    if ((int)desc->backend < CAROM_BACKEND_AUTO || (int)desc->backend > CAROM_BACKEND_OPENCL)
        return caromi_fail_argument(err, "backend is %d; it must be 0 (auto), 1 (cpu) or 2 (opencl)",
                                    (int)desc->backend);
    if ((int)desc->isa < CAROM_ISA_AUTO || (int)desc->isa > CAROM_ISA_NEON)
        return caromi_fail_argument(err, "isa is %d; it must be within 0..%d", (int)desc->isa, (int)CAROM_ISA_NEON);
    if (desc->threads > CAROMI_THREADS_MAX)
        return caromi_fail_argument(err, "threads is %u; at most %d", desc->threads, (int)CAROMI_THREADS_MAX);
    if (desc->device_lanes != 0 && desc->device_lanes != 1 && desc->device_lanes != 4 && desc->device_lanes != 8 &&
        desc->device_lanes != 16)
        return caromi_fail_argument(err, "device_lanes is %u; it must be 0, 1, 4, 8 or 16", desc->device_lanes);
    if ((desc->allocator.alloc == NULL) != (desc->allocator.free == NULL))
        return caromi_fail_argument(err, "allocator: give both alloc and free, or neither");
    return CAROM_OK;
}

int carom_isa_available(carom_isa isa)
{
    int chosen;
    return caromi_isa_select((int)isa, &chosen) != NULL;
}

static char *copy_string(const carom_context *context, const char *text)
{
    const size_t size = strlen(text) + 1;
    char *copy = caromi_alloc(context, size, 1);
    if (copy != NULL)
        memcpy(copy, text, size);
    return copy;
}

/* Opens the thread pool; a single thread needs none. */
static carom_status open_pool(carom_context *context, carom_error *err)
{
    const uint32_t processors = caromi_cpu_threads();
    const uint32_t useful = processors < CAROMI_THREADS_MAX ? processors : CAROMI_THREADS_MAX;
    const uint32_t wanted =
        context->desc.threads > 0 && context->desc.threads < useful ? context->desc.threads : useful;
    /* More threads than cores would only alternate, and every call would cut its work for all of them. */
    if (context->desc.threads > wanted)
        caromi_log(context, CAROM_LOG_INFO, "%u threads instead of %u: the process may use %u processors", wanted,
                   context->desc.threads, processors);
    if (wanted == 1)
        return CAROM_OK;
    void *memory = caromi_alloc(context, 1, caromi_pool_size(wanted));
    if (memory == NULL)
        return caromi_fail_memory(err, "no memory for %u threads (%zu bytes)", wanted, caromi_pool_size(wanted));
    context->pool = caromi_pool_open(memory, wanted);
    if (context->pool == NULL)
        caromi_free(context, memory);
    const uint32_t started = caromi_pool_threads(context->pool);
    if (started < wanted)
        caromi_log(context, CAROM_LOG_WARNING, "%u threads instead of %u: the system starts no more", started, wanted);
    return CAROM_OK;
}

/* Opens devices that the descriptor requires at creation. */
static carom_status open_device(carom_context *context, const struct carom_opencl_desc *cl, carom_error *err)
{
    if (cl != NULL)
        return caromi_open_shared(context, cl, err);
    if (context->desc.backend != CAROM_BACKEND_OPENCL)
        return CAROM_OK;
    context->device_tried = 1;
    return caromi_devices_open(context, 0 /* also CPU devices */, err);
}

/* Makes a context: thread pools, the CPU code for the highest instruction set, and devices. */
carom_status caromi_context_make(const carom_context_desc *desc, const struct carom_opencl_desc *cl,
                                 carom_context **out, carom_error *err)
{
    const carom_context_desc defaults = carom_context_desc_default();
    if (out == NULL)
        return caromi_fail_argument(err, "out must not be NULL");
    if (desc == NULL)
        desc = &defaults;
    carom_status status = check_desc(desc, err);
    if (status != CAROM_OK)
        return status;
    /* The CPU code for the highest instruction set allowed. */
    int isa_id;
    const caromi_isa_table *isa = caromi_isa_select((int)desc->isa, &isa_id);
    if (isa == NULL)
        return caromi_fail(err, CAROM_ERROR_UNSUPPORTED, CAROMI_NO_NATIVE_CODE, "this machine cannot run %s",
                           carom_isa_name(desc->isa));

    const carom_context seed = {.hooks = caromi_hooks_of_desc(desc)};
    carom_context *context = caromi_alloc(&seed, 1, sizeof *context);
    if (context == NULL)
        return caromi_fail_memory(err, "no memory for a context (%zu bytes)", sizeof *context);
    /* The members; then thread pool, device name and device, of which each may fail. */
    memset(context, 0, sizeof *context);
    atomic_init(&context->references, 1);
    context->hooks = seed.hooks;
    atomic_flag_clear(&context->hooks.kept.is_busy);
    (void)pthread_mutex_init(&context->hooks.lock, NULL);
    (void)pthread_mutex_init(&context->finding, NULL);
    context->desc = *desc;
    context->isa = isa;
    context->isa_id = isa_id;
    status = open_pool(context, err);
    if (status != CAROM_OK) {
        caromi_context_release(context);
        return status;
    }
    if (desc->device != NULL && (context->device_selector = copy_string(context, desc->device)) == NULL) {
        caromi_context_release(context);
        return caromi_fail_memory(err, "no memory for the device name");
    }
    context->desc.device = context->device_selector;
    status = open_device(context, cl, err);
    if (status != CAROM_OK) {
        caromi_context_release(context);
        return status;
    }
    *out = context;
    return CAROM_OK;
}

carom_status carom_context_create(const carom_context_desc *desc, carom_context **out, carom_error *err)
{
    IN_FLOAT_MODE(caromi_context_make(desc, NULL, out, err));
}

void caromi_context_release(carom_context *context)
{
    if (atomic_fetch_sub(&context->references, 1) != 1)
        return;
    caromi_queue_close(context);
    caromi_driver.shared_release(context);
    caromi_devices_close(context);
    caromi_pool_close(context->device_pool);
    caromi_free(context, context->device_pool);
    caromi_pool_close(context->pool);
    caromi_free(context, context->pool);
    caromi_free(context, context->device_selector);
    caromi_free(context, context->staging);
    caromi_cached_release(context);
    (void)pthread_mutex_destroy(&context->finding);
    (void)pthread_mutex_destroy(&context->hooks.lock);
    const carom_context last = {.hooks = caromi_hooks_of_desc(&context->desc)};
    caromi_free(&last, context);
}

void carom_context_destroy(carom_context *context)
{
    if (context == NULL)
        return;
    const caromi_float_mode mode = caromi_float_mode_set();
    caromi_wait_for_jobs(context);
    caromi_finish_enqueued(context);
    context->is_destroyed = 1;
    caromi_buffers_trim(context, 0);
    caromi_context_release(context);
    caromi_float_mode_restore(mode);
}

carom_isa carom_context_isa(const carom_context *context)
{
    return (carom_isa)context->isa_id;
}
uint32_t carom_context_threads(const carom_context *context)
{
    return caromi_pool_threads(context->pool);
}

carom_status carom_context_get_device(const carom_context *context, carom_device_info *out, carom_error *err)
{
    CHECK_NOT_NULL(context, "context", err);
    CHECK_NOT_NULL(out, "out", err);
    CHECK(caromi_check_desc(out->size, sizeof *out, "carom_device_info", err));
    caromi_wait_for_jobs(context); /* jobs may open or close devices */
    const caromi_device *device = caromi_first_device(context);
    if (device == NULL)
        return caromi_fail(err, CAROM_ERROR_NO_DEVICE, CAROMI_NO_NATIVE_CODE,
                           "no OpenCL device is open in this context");
    if (caromi_driver.is_inherited())
        return caromi_driver.fail_inherited(err);
    caromi_driver.describe(device, out);
    return CAROM_OK;
}

carom_status carom_context_get_devices(const carom_context *context, carom_device_info *out, uint32_t capacity,
                                       uint32_t *count, carom_error *err)
{
    CHECK_NOT_NULL(context, "context", err);
    CHECK_NOT_NULL(count, "count", err);
    if (out == NULL && capacity != 0)
        return caromi_fail_argument(err, "out is NULL, but capacity is %u", capacity);
    if (capacity != 0)
        CHECK(caromi_check_desc(out->size, sizeof *out, "carom_device_info", err));
    caromi_wait_for_jobs(context);
    if (context->device_count > 0 && caromi_driver.is_inherited())
        return caromi_driver.fail_inherited(err);
    *count = context->device_count;
    for (uint32_t i = 0; i < context->device_count && i < capacity; i++) {
        out[i] = (carom_device_info){.size = sizeof *out, .index = UINT32_MAX};
        if (context->devices[i] != NULL)
            caromi_driver.describe(context->devices[i], &out[i]);
    }
    return CAROM_OK;
}
