/* SPDX-License-Identifier: MIT */
/* Creates and destroys contexts. */
#include <string.h>

#include "checks.h"
#include "choice.h"
#include "context.h"
#include "devices.h"
#include "device.h"
#include "queue.h"

carom_context_desc carom_context_desc_default(void)
{
    carom_context_desc d;
    memset(&d, 0, sizeof d);
    d.size = sizeof d;
    d.log_level = CAROM_LOG_WARNING;
    return d;
}

static carom_status check_desc(const carom_context_desc *d, carom_error *err)
{
    const carom_status status = caromi_check_desc(d->size, sizeof *d, "carom_context_desc", err);
    if (status != CAROM_OK)
        return status;
    if ((int)d->backend < CAROM_BACKEND_AUTO || (int)d->backend > CAROM_BACKEND_OPENCL)
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0,
                           "backend is %d; it must be 0 (auto), 1 (cpu) or 2 (opencl)", (int)d->backend);
    if ((int)d->isa < CAROM_ISA_AUTO || (int)d->isa > CAROM_ISA_NEON)
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "isa is %d; it must be within 0..%d", (int)d->isa,
                           (int)CAROM_ISA_NEON);
    if (d->threads > CAROMI_THREADS_MAX)
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "threads is %u; at most %d", d->threads,
                           (int)CAROMI_THREADS_MAX);
    if (d->device_lanes != 0 && d->device_lanes != 1 && d->device_lanes != 4 && d->device_lanes != 8 &&
        d->device_lanes != 16)
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "device_lanes is %u; it must be 0, 1, 4, 8 or 16",
                           d->device_lanes);
    if ((d->allocator.alloc == NULL) != (d->allocator.free == NULL))
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "allocator: give both alloc and free, or neither");
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
static carom_status open_pool(carom_context *c, carom_error *err)
{
    const uint32_t processors = caromi_cpu_threads();
    const uint32_t useful = processors < CAROMI_THREADS_MAX ? processors : CAROMI_THREADS_MAX;
    const uint32_t wanted = c->desc.threads > 0 && c->desc.threads < useful ? c->desc.threads : useful;
    if (c->desc.threads >
        wanted) /* more threads than cores would only alternate, and every call would cut its work for all of them */
        caromi_log(c, CAROM_LOG_INFO, "%u threads instead of %u: the process may use %u processors", wanted,
                   c->desc.threads, processors);
    if (wanted == 1)
        return CAROM_OK;
    void *memory = caromi_alloc(c, 1, caromi_pool_size(wanted));
    if (memory == NULL)
        return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory for %u threads (%zu bytes)", wanted,
                           caromi_pool_size(wanted));
    c->pool = caromi_pool_open(memory, wanted);
    if (c->pool == NULL)
        caromi_free(c, memory);
    const uint32_t started = caromi_pool_threads(c->pool);
    if (started < wanted)
        caromi_log(c, CAROM_LOG_WARNING, "%u threads instead of %u: the system starts no more", started, wanted);
    return CAROM_OK;
}

/* Opens devices that the descriptor requires at creation. */
static carom_status open_device(carom_context *c, const struct carom_opencl_desc *cl, carom_error *err)
{
    if (cl != NULL)
        return caromi_open_shared(c, cl, err);
    if (c->desc.backend != CAROM_BACKEND_OPENCL)
        return CAROM_OK;
    c->device_tried = 1;
    return caromi_devices_open(c, 0, err);
}

carom_status caromi_context_make(const carom_context_desc *desc, const struct carom_opencl_desc *cl,
                                 carom_context **out, carom_error *err)
{
    const carom_context_desc defaults = carom_context_desc_default();
    if (out == NULL)
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "out must not be NULL");
    if (desc == NULL)
        desc = &defaults;
    carom_status status = check_desc(desc, err);
    if (status != CAROM_OK)
        return status;
    int isa_id;
    const caromi_isa_table *isa = caromi_isa_select((int)desc->isa, &isa_id);
    if (isa == NULL)
        return caromi_fail(err, CAROM_ERROR_UNSUPPORTED, 0, "this machine cannot run %s", carom_isa_name(desc->isa));

    const carom_context seed = {.hooks = caromi_hooks_of_desc(desc)};
    carom_context *c = caromi_alloc(&seed, 1, sizeof *c);
    if (c == NULL)
        return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory for a context (%zu bytes)", sizeof *c);
    memset(c, 0, sizeof *c);
    atomic_init(&c->references, 1);
    c->hooks = seed.hooks;
    atomic_flag_clear(&c->hooks.kept.is_busy);
    (void)pthread_mutex_init(&c->hooks.lock, NULL);
    (void)pthread_mutex_init(&c->finding, NULL);
    c->desc = *desc;
    c->isa = isa;
    c->isa_id = isa_id;
    status = open_pool(c, err);
    if (status != CAROM_OK) {
        caromi_context_release(c);
        return status;
    }
    if (desc->device != NULL && (c->device_selector = copy_string(c, desc->device)) == NULL) {
        caromi_context_release(c);
        return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory for the device name");
    }
    c->desc.device = c->device_selector;
    status = open_device(c, cl, err);
    if (status != CAROM_OK) {
        caromi_context_release(c);
        return status;
    }
    *out = c;
    return CAROM_OK;
}

carom_status carom_context_create(const carom_context_desc *desc, carom_context **out, carom_error *err)
{
    IN_FLOAT_MODE(caromi_context_make(desc, NULL, out, err));
}

void caromi_context_release(carom_context *c)
{
    if (atomic_fetch_sub(&c->references, 1) != 1)
        return;
    caromi_queue_close(c);
    caromi_driver.shared_release(c);
    caromi_devices_close(c);
    caromi_pool_close(c->device_pool);
    caromi_free(c, c->device_pool);
    caromi_pool_close(c->pool);
    caromi_free(c, c->pool);
    caromi_free(c, c->device_selector);
    caromi_free(c, c->staging);
    caromi_cached_release(c);
    (void)pthread_mutex_destroy(&c->finding);
    (void)pthread_mutex_destroy(&c->hooks.lock);
    const carom_context last = {.hooks = caromi_hooks_of_desc(&c->desc)};
    caromi_free(&last, c);
}

void carom_context_destroy(carom_context *context)
{
    if (context == NULL)
        return;
    const caromi_float_mode mode = caromi_float_mode_set();
    caromi_wait_for_jobs(context);
    context->is_destroyed = 1;
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
        return caromi_fail(err, CAROM_ERROR_NO_DEVICE, 0, "no OpenCL device is open in this context");
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
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "out is NULL, but capacity is %u", capacity);
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
