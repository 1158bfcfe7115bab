/* SPDX-License-Identifier: MIT */
/* A program that has OpenCL of its own, in which carom computes (carom_opencl.h). */
#ifndef CAROM_TESTS_SUPPORT_CL_CALLER_H
#define CAROM_TESTS_SUPPORT_CL_CALLER_H

#include "cl_shim.h"

#include "carom/carom_opencl.h"

enum { CALLER_PLATFORMS = 16, CALLER_DEVICES = 64 };

typedef struct caller {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
} caller;

/* The device of this run, by its number: the loader lists devices in the same order. */
static inline cl_device_id find_device(uint32_t index)
{
    cl_platform_id platforms[CALLER_PLATFORMS];
    cl_device_id devices[CALLER_DEVICES];
    cl_uint platform_count = 0;
    assert_int_equal(clGetPlatformIDs(CALLER_PLATFORMS, platforms, &platform_count), CL_SUCCESS);
    for (cl_uint p = 0; p < platform_count; p++) {
        cl_uint count = 0;
        if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, CALLER_DEVICES, devices, &count) != CL_SUCCESS)
            continue;
        if (index < count)
            return devices[index];
        index -= count;
    }
    fail_msg("no OpenCL device has this number");
    return NULL;
}

static inline caller caller_on(cl_device_id device)
{
    caller c = {.device = device};
    cl_int code;
    c.context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    assert_int_equal(code, CL_SUCCESS);
    c.queue = clCreateCommandQueue(c.context, device, 0, &code);
    assert_int_equal(code, CL_SUCCESS);
    cl_watched = c.queue;
    return c;
}

/* state: whether the device is seen as discrete. */
static inline caller caller_open(void **state)
{
    cl_seen_as = (cl_disguise){.discrete = **(int **)state};
    cl_relieve();
    return caller_on(find_device(test_need_device().index));
}

static inline void caller_close(caller *c)
{
    assert_int_equal(clReleaseCommandQueue(c->queue), CL_SUCCESS);
    assert_int_equal(clReleaseContext(c->context), CL_SUCCESS);
}

static inline cl_mem memory_of(const caller *c, cl_mem_flags flags, size_t bytes)
{
    cl_int code;
    const cl_mem made = clCreateBuffer(c->context, flags, bytes, NULL, &code);
    assert_int_equal(code, CL_SUCCESS);
    return made;
}

static inline void put(const caller *c, cl_mem memory, const void *data, size_t bytes)
{
    assert_int_equal(clEnqueueWriteBuffer(c->queue, memory, CL_TRUE, 0, bytes, data, 0, NULL, NULL), CL_SUCCESS);
}

static inline void get(const caller *c, cl_mem memory, void *data, size_t bytes)
{
    assert_int_equal(clEnqueueReadBuffer(c->queue, memory, CL_TRUE, 0, bytes, data, 0, NULL, NULL), CL_SUCCESS);
}

static inline carom_status share_as(const caller *c, carom_context_desc *desc, carom_context **out, carom_error *err)
{
    const carom_opencl_desc cl = {.size = sizeof cl, .context = c->context, .device = c->device};
    desc->device = NULL;
    return carom_context_create_opencl(desc, &cl, out, err);
}

static inline carom_context *share(const caller *c, carom_backend backend, uint64_t auto_from)
{
    carom_context_desc desc = test_desc(backend);
    carom_context *context = NULL;
    carom_error err = {0};
    desc.auto_from = auto_from;
    test_ok("carom_context_create_opencl", share_as(c, &desc, &context, &err), &err);
    return context;
}

static inline carom_buffer *wrap(carom_context *context, cl_mem memory, uint64_t offset, uint64_t bytes)
{
    carom_buffer *buffer = NULL;
    carom_error err = {0};
    test_ok("carom_buffer_wrap_opencl", carom_buffer_wrap_opencl(context, memory, offset, bytes, &buffer, &err), &err);
    return buffer;
}

/* The state that caller_open takes. */
static inline int *seen_discrete(int discrete)
{
    static int states[2] = {0, 1};
    return &states[discrete];
}

/* A test on the device as it is, and once more seen as discrete. */
#define AS_IS(test)                               \
    {                                             \
#test, test, NULL, NULL, seen_discrete(0) \
    }
#define DISCRETE(test)                                         \
    {                                                          \
#test ", discrete", test, NULL, NULL, seen_discrete(1) \
    }
#define ON_BOTH(test) AS_IS(test), DISCRETE(test)
#endif
