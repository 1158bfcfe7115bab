/* SPDX-License-Identifier: MIT */
/* The verbs of verbs.h in OpenCL calls, and the names of OpenCL error codes. */
#include "verbs.h"

#include <stdio.h>

#include "device.h"
#include "enqueue.h"

static const char *code_name(cl_int code)
{
    switch (code) {
    case CL_DEVICE_NOT_AVAILABLE: return "device not available";
    case CL_COMPILER_NOT_AVAILABLE: return "compiler not available";
    case CL_MEM_OBJECT_ALLOCATION_FAILURE: return "no device memory";
    case CL_OUT_OF_RESOURCES: return "out of resources";
    case CL_OUT_OF_HOST_MEMORY: return "no host memory";
    case CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST: return "a command failed";
    case CL_INVALID_BUFFER_SIZE: return "invalid buffer size";
    case CL_INVALID_WORK_GROUP_SIZE: return "invalid work-group size";
    default: return "OpenCL error";
    }
}

static carom_status fail_with(const caromi_device *device, carom_status status, cl_int code, const char *call,
                              carom_error *err)
{
    return caromi_fail(err, status, code, "%s on %s: %s (%d)", call, device->info.name, code_name(code), code);
}

/* Turns an OpenCL code into a status and an error message. */
carom_status caromi_cl_fail(const caromi_device *device, cl_int code, const char *call, carom_error *err)
{
    const int memory =
        code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_INVALID_BUFFER_SIZE || code == CL_OUT_OF_HOST_MEMORY;
    return fail_with(device, memory ? CAROM_ERROR_OUT_OF_MEMORY : CAROM_ERROR_DEVICE_LOST, code, call, err);
}

/* Creates a buffer. CL_OUT_OF_RESOURCES here means out of memory, as NVIDIA's drivers return it. Of a command, it may
 * also mean a kernel that was stopped, after which NVIDIA's contexts fail all calls: the device counts as lost. A lost
 * device that refuses a buffer costs each batch this one call; the CPU answers. */
carom_status caromi_make_buffer(caromi_device *device, const char *what, cl_mem_flags flags, uint64_t bytes, void *data,
                                cl_mem *out, carom_error *err)
{
    const uint64_t most = device->info.max_allocation; /* 0: the device does not say */
    cl_int code;
    *out = NULL;
    if (bytes > most && most != 0)
        return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, CL_INVALID_BUFFER_SIZE,
                           "%s: %llu bytes; a buffer on %s holds at most %llu", what, (unsigned long long)bytes,
                           device->info.name, (unsigned long long)most);
    const cl_mem made = clCreateBuffer(device->cl, flags, (size_t)bytes, data, &code);
    if (made != NULL && code == CL_SUCCESS) {
        *out = made;
        return CAROM_OK;
    }
    char call[64];
    (void)snprintf(call, sizeof call, "clCreateBuffer (%s)", what);
    return code == CL_OUT_OF_RESOURCES ? fail_with(device, CAROM_ERROR_OUT_OF_MEMORY, code, call, err)
                                       : caromi_cl_fail(device, code, call, err);
}

cl_mem caromi_wrap_array(const caromi_device *device, cl_mem_flags access, void *array, size_t bytes)
{
    cl_int code;
    const cl_mem made = clCreateBuffer(device->cl, CL_MEM_USE_HOST_PTR | access, bytes, array, &code);
    return code == CL_SUCCESS ? made : NULL;
}

void caromi_release_buffer(cl_mem *buffer)
{
    if (*buffer != NULL)
        (void)clReleaseMemObject(*buffer);
    *buffer = NULL;
}

/* Retains the caller's buffer, which is then released like any other. */
carom_status caromi_retain_buffer(const caromi_device *device, cl_mem buffer, carom_error *err)
{
    const cl_int code = clRetainMemObject(buffer);
    return code == CL_SUCCESS ? CAROM_OK : caromi_cl_fail(device, code, "clRetainMemObject", err);
}

/* Retains a device's context, for objects that may outlive the device. */
cl_context caromi_retain_context(const caromi_device *device)
{
    (void)clRetainContext(device->cl);
    return device->cl;
}

void caromi_release_context(cl_context context)
{
    (void)clReleaseContext(context);
}

/* ---------------------------------------------------------------- commands on buffers */

/* The status of an OpenCL call; the error message names the call and its data. */
static carom_status outcome(const caromi_device *device, cl_int code, const char *call, const char *what,
                            carom_error *err)
{
    char sentence[64];
    if (code == CL_SUCCESS)
        return CAROM_OK;
    if (what == NULL)
        return caromi_cl_fail(device, code, call, err);
    (void)snprintf(sentence, sizeof sentence, "%s (%s)", call, what);
    return caromi_cl_fail(device, code, sentence, err);
}

/* Maps the first `bytes` of a buffer to host memory. */
carom_status caromi_map(const caromi_device *device, cl_command_queue queue, cl_mem buffer, cl_map_flags access,
                        size_t bytes, enum caromi_blocking wait, void **host, cl_event *event, const char *what,
                        carom_error *err)
{
    cl_int code;
    *host = clEnqueueMapBuffer(queue, buffer, wait ? CL_TRUE : CL_FALSE, access, 0, bytes, 0, NULL, event, &code);
    if (*host == NULL && wait && code == CL_SUCCESS)
        code = CL_MAP_FAILURE;
    return outcome(device, code, "clEnqueueMapBuffer", what, err);
}

carom_status caromi_unmap(const caromi_device *device, cl_command_queue queue, cl_mem buffer, void *host,
                          cl_event *event, carom_error *err)
{
    return outcome(device, clEnqueueUnmapMemObject(queue, buffer, host, 0, NULL, event), "clEnqueueUnmapMemObject",
                   NULL, err);
}

carom_status caromi_write(const caromi_device *device, cl_command_queue queue, cl_mem buffer, const void *data,
                          size_t bytes, cl_event *event, const char *what, carom_error *err)
{
    return outcome(device, clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, bytes, data, 0, NULL, event),
                   "clEnqueueWriteBuffer", what, err);
}

/* Writes at an offset of a buffer, and waits. */
carom_status caromi_write_at(const caromi_device *device, cl_command_queue queue, cl_mem buffer, size_t offset,
                             const void *data, size_t bytes, const char *what, carom_error *err)
{
    return outcome(device, clEnqueueWriteBuffer(queue, buffer, CL_TRUE, offset, bytes, data, 0, NULL, NULL),
                   "clEnqueueWriteBuffer", what, err);
}

carom_status caromi_read(const caromi_device *device, cl_command_queue queue, cl_mem buffer, size_t offset, void *data,
                         size_t bytes, enum caromi_blocking wait, cl_event *event, const char *what, carom_error *err)
{
    caromi_links links = {0, NULL, event};
    if (wait)
        CHECK(caromi_enqueue_refuse(device->context, err));
    CHECK(caromi_enqueue_command(device->context, &links, err));
    CHECK(outcome(device,
                  clEnqueueReadBuffer(queue, buffer, wait ? CL_TRUE : CL_FALSE, offset, bytes, data, links.wait_count,
                                      links.wait, links.event),
                  "clEnqueueReadBuffer", what, err));
    caromi_enqueue_count(device->context);
    return CAROM_OK;
}

carom_status caromi_copy_range(const caromi_device *device, cl_command_queue queue, cl_mem from, size_t from_at,
                               cl_mem to, size_t to_at, size_t bytes, carom_error *err)
{
    caromi_links links = {0};
    CHECK(caromi_enqueue_command(device->context, &links, err));
    CHECK(outcome(
        device, clEnqueueCopyBuffer(queue, from, to, from_at, to_at, bytes, links.wait_count, links.wait, links.event),
        "clEnqueueCopyBuffer", NULL, err));
    caromi_enqueue_count(device->context);
    return CAROM_OK;
}

carom_status caromi_copy(const caromi_device *device, cl_command_queue queue, cl_mem from, cl_mem to, size_t bytes,
                         carom_error *err)
{
    return caromi_copy_range(device, queue, from, 0, to, 0, bytes, err);
}

/* ---------------------------------------------------------------- launches */

void caromi_set_argument(caromi_arguments *arguments, const void *value, size_t bytes)
{
    if (arguments->code == CL_SUCCESS)
        arguments->code = clSetKernelArg(arguments->kernel, arguments->next++, bytes, value);
}

void caromi_set_int(caromi_arguments *arguments, cl_int value)
{
    caromi_set_argument(arguments, &value, sizeof value);
}

void caromi_set_uint(caromi_arguments *arguments, uint64_t value)
{
    const cl_uint argument = (cl_uint)value;
    caromi_set_argument(arguments, &argument, sizeof argument);
}

void caromi_set_ulong(caromi_arguments *arguments, uint64_t value)
{
    const cl_ulong argument = value;
    caromi_set_argument(arguments, &argument, sizeof argument);
}

void caromi_set_real(caromi_arguments *arguments, float value)
{
    const cl_float argument = value;
    caromi_set_argument(arguments, &argument, sizeof argument);
}

/* Launches a kernel. A kernel always gets the same group size, as some compilers build it again for each size. */
carom_status caromi_launch(const caromi_device *device, cl_command_queue queue, caromi_arguments *arguments,
                           uint64_t items, size_t local, cl_event *event, carom_error *err)
{
    size_t most = 0;
    const cl_uint live = (cl_uint)items;
    caromi_set_argument(arguments, &live, sizeof live);
    CHECK(outcome(device, arguments->code, "clSetKernelArg", NULL, err));
    if (clGetKernelWorkGroupInfo(arguments->kernel, device->id, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, NULL) ==
            CL_SUCCESS &&
        most > 0)
        while (local > most)
            local /= 2;
    const size_t global = ((size_t)items + local - 1) / local * local;
    caromi_links links = {0, NULL, event};
    CHECK(caromi_enqueue_command(device->context, &links, err));
    CHECK(outcome(device,
                  clEnqueueNDRangeKernel(queue, arguments->kernel, 1, NULL, &global, &local, links.wait_count,
                                         links.wait, links.event),
                  "clEnqueueNDRangeKernel", NULL, err));
    caromi_enqueue_count(device->context);
    return CAROM_OK;
}

/* ---------------------------------------------------------------- waiting */

carom_status caromi_flush(const caromi_device *device, cl_command_queue queue, carom_error *err)
{
    return outcome(device, clFlush(queue), "clFlush", NULL, err);
}

carom_status caromi_finish(const caromi_device *device, cl_command_queue queue, carom_error *err)
{
    return outcome(device, clFinish(queue), "clFinish", NULL, err);
}

void caromi_wait(cl_event event)
{
    (void)clWaitForEvents(1, &event);
}

/* Waits for all events at once, as each query of an event costs up to 1.5 microseconds in a driver. Only after a
 * failure are events queried one by one. */
carom_status caromi_check_events(const caromi_device *device, const cl_event *events, uint32_t count, carom_error *err)
{
    const cl_int code = clWaitForEvents(count, events);
    for (uint32_t i = 0; code == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST && i < count; i++) {
        cl_int state = CL_COMPLETE;
        const cl_int asked = clGetEventInfo(events[i], CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
        if (asked != CL_SUCCESS || state < 0)
            return caromi_cl_fail(device, asked != CL_SUCCESS ? asked : state, "a command", err);
    }
    return outcome(device, code, "clWaitForEvents", NULL, err);
}

/* Adds the durations of finished commands to *seconds. */
void caromi_add_durations(const cl_event *events, uint32_t count, double *seconds)
{
    for (uint32_t i = 0; i < count; i++) {
        cl_ulong start = 0, end = 0;
        if (clGetEventProfilingInfo(events[i], CL_PROFILING_COMMAND_START, sizeof start, &start, NULL) == CL_SUCCESS &&
            clGetEventProfilingInfo(events[i], CL_PROFILING_COMMAND_END, sizeof end, &end, NULL) == CL_SUCCESS &&
            end > start)
            *seconds += 1e-9 * (double)(end - start);
    }
}

void caromi_release_event(cl_event event)
{
    (void)clReleaseEvent(event);
}
