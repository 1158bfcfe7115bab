/* SPDX-License-Identifier: MIT */
/* The device memory of a carom_buffer. It holds a reference to the device, whose queue its transfers need: after a
 * failure, a device that is no longer used can often still return the contents. */
#include <string.h>

#include "device.h"
#include "mesh_copy.h"

int caromi_device_is_unified(const caromi_device *device)
{
    return device->unified;
}

/* Allocates memory. If that fails, frees the idle slots' memory and tries again. */
static carom_status make_memory(caromi_device *device, uint64_t bytes, cl_mem *out, carom_error *err)
{
    const carom_status status = caromi_make_buffer(device, "a buffer", CL_MEM_READ_WRITE, bytes, NULL, out, err);
    if (status != CAROM_ERROR_OUT_OF_MEMORY)
        return status;
    caromi_release_idle(device);
    return caromi_make_buffer(device, "a buffer", CL_MEM_READ_WRITE, bytes, NULL, out, err);
}

/* Wraps `memory`, whose reference it takes over even on failure. */
static carom_status retain(caromi_device *device, cl_mem memory, uint64_t offset, caromi_device_memory **out,
                           carom_error *err)
{
    caromi_device_memory *m = caromi_alloc(device->context, 1, sizeof *m);
    if (m == NULL) {
        caromi_release_buffer(&memory);
        return caromi_fail_memory(err, "no memory for a buffer (%zu bytes)", sizeof *m);
    }
    *m = (caromi_device_memory){device, memory, offset};
    device->references++;
    *out = m;
    return CAROM_OK;
}

carom_status caromi_device_memory_create(caromi_device *device, uint64_t bytes, caromi_device_memory **out,
                                         carom_error *err)
{
    cl_mem memory;
    CHECK(make_memory(device, bytes, &memory, err));
    return retain(device, memory, 0, out, err);
}

/* Wraps memory of the caller, which is retained. */
carom_status caromi_device_memory_wrap(caromi_device *device, cl_mem memory, uint64_t offset,
                                       caromi_device_memory **out, carom_error *err)
{
    CHECK(caromi_retain_buffer(device, memory, err));
    return retain(device, memory, offset, out, err);
}

void caromi_device_memory_destroy(caromi_device_memory *memory)
{
    const carom_context *context = memory->device->context;
    if (!caromi_opencl_is_inherited())
        caromi_release_buffer(&memory->memory);
    caromi_device_close(memory->device);
    caromi_free(context, memory);
}

carom_status caromi_device_memory_read(const caromi_device_memory *memory, uint64_t offset, void *data, uint64_t bytes,
                                       carom_error *err)
{
    if (caromi_opencl_is_inherited())
        return caromi_fail_inherited(err);
    return caromi_read(memory->device, memory->device->slots[0].queue, memory->memory,
                       (size_t)(memory->offset + offset), data, (size_t)bytes, CAROMI_WAIT, NULL, "a buffer", err);
}

carom_status caromi_device_memory_write(const caromi_device_memory *memory, uint64_t offset, const void *data,
                                        uint64_t bytes, carom_error *err)
{
    if (caromi_opencl_is_inherited())
        return caromi_fail_inherited(err);
    return caromi_write_at(memory->device, memory->device->slots[0].queue, memory->memory,
                           (size_t)(memory->offset + offset), data, (size_t)bytes, "a buffer", err);
}
