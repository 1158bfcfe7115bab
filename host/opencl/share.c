/* SPDX-License-Identifier: MIT */
/* Objects of the caller's OpenCL: devices in the caller's cl_context, buffers around the caller's cl_mem. OpenCL itself
 * would report a wrong object only in a later command, so all objects are checked when carom receives them. */
#include "carom/carom_opencl.h"

#include "device.h"
#include "shared.h"
#include "host/core/buffer.h"
#include "host/core/call.h"
#include "host/core/choice.h"

/* ---- contexts ---------------------------------------------------------------------------------------------------- */

/* Whether a device is in a list; PoCL lists the parent of a sub-device. */
static int is_listed(cl_device_id device, const cl_device_id *devices, size_t count)
{
    while (device != NULL) {
        cl_device_id whole = NULL;
        for (size_t i = 0; i < count; i++)
            if (devices[i] == device)
                return 1;
        if (clGetDeviceInfo(device, CL_DEVICE_PARENT_DEVICE, sizeof whole, &whole, NULL) != CL_SUCCESS)
            return 0;
        device = whole;
    }
    return 0;
}

uint32_t caromi_shared_devices(const carom_opencl_desc *cl)
{
    return cl->devices != NULL ? cl->device_count : 1;
}

static carom_status check_member(const carom_context *context, const carom_opencl_desc *cl, cl_device_id device,
                                 carom_error *err)
{
    size_t bytes = 0;
    int is_member = 0;
    cl_int code = clGetContextInfo(cl->context, CL_CONTEXT_DEVICES, 0, NULL, &bytes);
    cl_device_id *devices = code == CL_SUCCESS && bytes > 0 ? caromi_alloc(context, 1, bytes) : NULL;
    if (code == CL_SUCCESS && bytes > 0 && devices == NULL)
        return caromi_fail_memory(err, "no memory for the devices of cl.context (%zu bytes)", bytes);
    if (devices != NULL)
        code = clGetContextInfo(cl->context, CL_CONTEXT_DEVICES, bytes, devices, NULL);
    if (code == CL_SUCCESS && devices != NULL)
        is_member = is_listed(device, devices, bytes / sizeof *devices);
    caromi_free(context, devices);
    if (code != CL_SUCCESS)
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, code, "cl.context: clGetContextInfo says %d", code);
    return is_member ? CAROM_OK
                     : caromi_fail_argument(err, "%s is none of the devices of cl.context, which has %zu",
                                            cl->devices == NULL     ? "cl.device"
                                            : cl->device_count == 1 ? "cl.devices[0]"
                                                                    : "it",
                                            bytes / sizeof *devices);
}

static carom_status check_queue(const carom_opencl_desc *cl, carom_error *err)
{
    cl_context context = NULL;
    if (cl->queue == NULL)
        return CAROM_OK;
    const cl_int code = clGetCommandQueueInfo(cl->queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
    if (code != CL_SUCCESS)
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, code, "cl.queue: clGetCommandQueueInfo says %d", code);
    return context == cl->context ? CAROM_OK
                                  : caromi_fail_argument(err, "cl.queue belongs to another context than cl.context");
}

carom_status caromi_shared_retain(carom_context *context, const carom_opencl_desc *cl, carom_error *err)
{
    if (caromi_claim_opencl(NULL) != CAROM_OK)
        return CAROM_OK; /* without the caller's OpenCL objects; opening the device reports the error */
    CHECK(check_queue(cl, err));
    return caromi_shared_make(context, cl, err);
}

carom_status caromi_device_open_shared(carom_context *context, const carom_opencl_desc *cl, uint32_t place,
                                       caromi_device **out, carom_error *err)
{
    const cl_device_id device = cl->devices != NULL ? cl->devices[place] : cl->device;
    caromi_cl_found found;
    *out = NULL;
    CHECK(caromi_claim_opencl(err));
    CHECK(check_member(context, cl, device, err));
    caromi_describe_device(device, &found);
    if (!found.info.available)
        return caromi_fail(err, CAROM_ERROR_NO_DEVICE, CL_DEVICE_NOT_AVAILABLE,
                           "%s%s is not available or has no compiler",
                           cl->devices != NULL ? "" : "cl.device: ", found.info.name);
    return caromi_device_start(context, place, &found, cl->context, out, err);
}

/* Checks that there is at least one device, and none twice. */
static carom_status check_devices(const carom_opencl_desc *cl, carom_error *err)
{
    if (cl->devices == NULL && cl->device_count != 0)
        return caromi_fail_argument(err, "cl.devices is NULL, but cl.device_count is %u", cl->device_count);
    if (cl->devices == NULL) {
        CHECK_NOT_NULL(cl->device, "cl.device", err);
        return CAROM_OK;
    }
    if (cl->device != NULL)
        return caromi_fail_argument(err, "cl.device and cl.devices are both given; one of them must be NULL");
    if (cl->device_count == 0 || cl->device_count > CAROM_DEVICES_MAX)
        return caromi_fail_argument(err, "cl.device_count is %u; it must be within 1..%d", cl->device_count,
                                    CAROM_DEVICES_MAX);
    for (uint32_t i = 0; i < cl->device_count; i++)
        for (uint32_t k = 0; k <= i; k++)
            if (cl->devices[i] == NULL || (k < i && cl->devices[k] == cl->devices[i]))
                return caromi_fail_argument(err, "cl.devices[%u] is %s", i,
                                            cl->devices[i] == NULL ? "NULL" : "the same as another before it");
    return CAROM_OK;
}

static carom_status create(const carom_context_desc *desc, const carom_opencl_desc *cl, carom_context **out,
                           carom_error *err)
{
    CHECK_NOT_NULL(cl, "cl", err);
    CHECK(caromi_check_desc(cl->size, sizeof *cl, "carom_opencl_desc", err));
    CHECK_NOT_NULL(cl->context, "cl.context", err);
    CHECK(check_devices(cl, err));
    if (desc == NULL)
        return caromi_context_make(NULL, cl, out, err);
    CHECK(caromi_check_desc(desc->size, sizeof *desc, "carom_context_desc", err));
    if (desc->backend == CAROM_BACKEND_CPU)
        return caromi_fail_argument(err,
                                    "backend is cpu (1); on the caller's OpenCL it must be auto (0) or opencl (2)");
    if (desc->device != NULL)
        return caromi_fail_argument(err, "device is '%.100s'; it must be NULL, because cl.device is the device",
                                    desc->device);
    return caromi_context_make(desc, cl, out, err);
}

carom_status carom_context_create_opencl(const carom_context_desc *desc, const carom_opencl_desc *cl,
                                         carom_context **out, carom_error *err)
{
    IN_FLOAT_MODE(create(desc, cl, out, err));
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static carom_status query_memory(cl_mem memory, cl_mem_info what, size_t size, void *value, carom_error *err)
{
    const cl_int code = clGetMemObjectInfo(memory, what, size, value, NULL);
    return code == CL_SUCCESS
               ? CAROM_OK
               : caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, code, "memory: clGetMemObjectInfo says %d", code);
}

/* Uses of memory with these flags by calls: as an input kernels and the host read it, as an output kernels write
 * it, and the host does both. 0: nothing. */
static unsigned use_of(cl_mem_flags flags)
{
    const unsigned reads = (flags & (CL_MEM_WRITE_ONLY | CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS)) == 0;
    const unsigned writes =
        (flags & (CL_MEM_READ_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS)) == 0;
    return reads * CAROM_ACCESS_READ | writes * CAROM_ACCESS_WRITE;
}

static carom_status check_flags(cl_mem_flags flags, carom_error *err)
{
    const char *name = (flags & CL_MEM_HOST_NO_ACCESS) != 0    ? "CL_MEM_HOST_NO_ACCESS"
                       : (flags & CL_MEM_HOST_WRITE_ONLY) != 0 ? "CL_MEM_HOST_WRITE_ONLY"
                                                               : "CL_MEM_WRITE_ONLY and CL_MEM_HOST_READ_ONLY";
    return use_of(flags) != 0 ? CAROM_OK
                              : caromi_fail_argument(err,
                                                     "memory was made with %s; the host must be allowed to read it, "
                                                     "and to write what kernels write",
                                                     name);
}

static carom_status check_memory(const caromi_device *device, cl_mem memory, uint64_t offset, uint64_t bytes,
                                 cl_mem_flags *flags, carom_error *err)
{
    cl_mem_object_type type = 0;
    cl_context context = NULL;
    cl_mem whole = NULL;
    size_t size = 0;
    CHECK_NOT_NULL(memory, "memory", err);
    CHECK(query_memory(memory, CL_MEM_TYPE, sizeof type, &type, err));
    CHECK(query_memory(memory, CL_MEM_CONTEXT, sizeof context, &context, err));
    CHECK(query_memory(memory, CL_MEM_FLAGS, sizeof *flags, flags, err));
    CHECK(query_memory(memory, CL_MEM_SIZE, sizeof size, &size, err));
    CHECK(query_memory(memory, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof whole, &whole, err));
    if (type != CL_MEM_OBJECT_BUFFER)
        return caromi_fail_argument(err, "memory is an image or a pipe (0x%x), not a buffer", (unsigned)type);
    if (context != device->cl)
        return caromi_fail_argument(err, "memory belongs to another cl_context than this context");
    if (whole != NULL)
        return caromi_fail_argument(
            err, "memory is a sub-buffer; give the buffer that it is a part of, and its place as offset");
    CHECK(check_flags(*flags, err));
    if (bytes == 0)
        return caromi_fail_argument(err, "bytes is 0; a buffer has at least 1");
    if (offset > size || bytes > size - offset)
        return caromi_fail_argument(err,
                                    "offset %llu and bytes %llu reach beyond the end of memory, which has %zu bytes",
                                    (unsigned long long)offset, (unsigned long long)bytes, size);
    return CAROM_OK;
}

/* Checks that memory is in no other buffer: overlapping arrays are found by their addresses, and each buffer has
 * addresses of its own. */
static carom_status check_alone(const carom_context *context, cl_mem memory, uint64_t offset, uint64_t bytes,
                                carom_error *err)
{
    for (const carom_buffer *buffer = context->buffers; buffer != NULL; buffer = buffer->next) {
        const uint64_t other = buffer->store != NULL ? buffer->store->offset : 0;
        if (buffer->store != NULL && buffer->store->memory == memory && offset < other + buffer->bytes &&
            other < offset + bytes)
            return caromi_fail_argument(
                err, "memory: another buffer of this context has some of the %llu bytes from offset %llu on",
                (unsigned long long)bytes, (unsigned long long)offset);
    }
    return CAROM_OK;
}

static carom_status wrap(carom_context *context, cl_mem memory, uint64_t offset, uint64_t bytes, carom_buffer **out,
                         carom_error *err)
{
    caromi_device *device;
    caromi_device_memory *store;
    cl_mem_flags flags = 0;
    CHECK_NOT_NULL(context, "context", err);
    CHECK_NOT_NULL(out, "out", err);
    if (!context->is_on_shared)
        return caromi_fail_argument(
            err, "context was not made by carom_context_create_opencl, so it has no cl_context of the "
                 "caller, to which memory could belong");
    CHECK(caromi_pick_shared(context, &device, err));
    CHECK(check_memory(device, memory, offset, bytes, &flags, err));
    CHECK(check_alone(context, memory, offset, bytes, err));
    CHECK(caromi_device_memory_wrap(device, memory, offset, &store, err));
    const carom_status status = caromi_buffer_around(context, store, bytes, out, err);
    if (status != CAROM_OK) {
        caromi_device_memory_destroy(store);
        return status;
    }
    (*out)->use = (carom_access)use_of(flags);
    (*out)->is_host_read_only = (flags & CL_MEM_HOST_READ_ONLY) != 0;
    return CAROM_OK;
}

carom_status carom_buffer_wrap_opencl(carom_context *context, cl_mem memory, uint64_t offset, uint64_t bytes,
                                      carom_buffer **out, carom_error *err)
{
    IN_TURN(context, wrap(context, memory, offset, bytes, out, err));
}
