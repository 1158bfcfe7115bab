/* SPDX-License-Identifier: MIT */
/* The device memory of a carom_buffer. It holds a reference to the device, whose queue its transfers need: after a
 * failure, a device that is no longer used can often still return the contents. */
#include <string.h>

#include "device.h"

int caromi_device_is_unified(const caromi_device *device)
{
    return device->unified;
}

/* Allocates memory. If that fails, frees the idle slots' memory and tries again. */
static carom_status make_memory(caromi_device *d, uint64_t bytes, cl_mem *out, carom_error *err)
{
    const carom_status status = caromi_make_buffer(d, "a buffer", CL_MEM_READ_WRITE, bytes, NULL, out, err);
    if (status != CAROM_ERROR_OUT_OF_MEMORY)
        return status;
    caromi_columns_release(d);
    caromi_inline_hits_release(d);
    return caromi_make_buffer(d, "a buffer", CL_MEM_READ_WRITE, bytes, NULL, out, err);
}

/* Wraps `memory`, whose reference it takes over even on failure. */
static carom_status retain(caromi_device *d, cl_mem memory, uint64_t offset, caromi_device_memory **out,
                           carom_error *err)
{
    caromi_device_memory *m = caromi_alloc(d->context, 1, sizeof *m);
    if (m == NULL) {
        caromi_release_buffer(&memory);
        return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory for a buffer (%zu bytes)", sizeof *m);
    }
    *m = (caromi_device_memory){d, memory, offset};
    d->references++;
    *out = m;
    return CAROM_OK;
}

carom_status caromi_device_memory_create(caromi_device *d, uint64_t bytes, caromi_device_memory **out, carom_error *err)
{
    cl_mem memory;
    CHECK(make_memory(d, bytes, &memory, err));
    return retain(d, memory, 0, out, err);
}

carom_status caromi_device_memory_wrap(caromi_device *d, cl_mem memory, uint64_t offset, caromi_device_memory **out,
                                       carom_error *err)
{
    CHECK(caromi_retain_buffer(d, memory, err));
    return retain(d, memory, offset, out, err);
}

void caromi_device_memory_destroy(caromi_device_memory *m)
{
    const carom_context *context = m->device->context;
    if (!caromi_opencl_is_inherited())
        caromi_release_buffer(&m->memory);
    caromi_device_close(m->device);
    caromi_free(context, m);
}

carom_status caromi_device_memory_read(const caromi_device_memory *m, uint64_t offset, void *data, uint64_t bytes,
                                       carom_error *err)
{
    if (caromi_opencl_is_inherited())
        return caromi_fail_inherited(err);
    return caromi_read(m->device, m->device->slots[0].queue, m->memory, (size_t)(m->offset + offset), data,
                       (size_t)bytes, 1, NULL, "a buffer", err);
}

carom_status caromi_device_memory_write(const caromi_device_memory *m, uint64_t offset, const void *data,
                                        uint64_t bytes, carom_error *err)
{
    if (caromi_opencl_is_inherited())
        return caromi_fail_inherited(err);
    return caromi_write_at(m->device, m->device->slots[0].queue, m->memory, (size_t)(m->offset + offset), data,
                           (size_t)bytes, "a buffer", err);
}
