/* SPDX-License-Identifier: MIT */
/* How fast a device's bytes move: into it, out of it, within it. */
#include "limits.h"

#ifndef CAROM_HAVE_OPENCL

const char *limits_of_device(bench_device *device, int quick)
{
    (void)device, (void)quick;
    return "copies are not measured: no OpenCL in this build";
}

#else

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"

enum { PLATFORMS = 16, ROUNDS = 5, LARGEST = 1 << 28, SMALLEST = 1 << 20 };

typedef struct copies {
    cl_context context;
    cl_command_queue queue;
    cl_mem from, to, pinned;
    void *host; /* of the pinned buffer */
    size_t bytes;
} copies;

/* The library numbers devices as the platforms list them. */
static cl_device_id device_numbered(uint32_t number)
{
    cl_platform_id platforms[PLATFORMS];
    cl_device_id devices[PLATFORMS];
    cl_uint count = 0, here = 0;

    if (clGetPlatformIDs(PLATFORMS, platforms, &count) != CL_SUCCESS)
        return NULL;
    for (cl_uint p = 0; p < count && p < PLATFORMS; p++) {
        if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, PLATFORMS, devices, &here) != CL_SUCCESS)
            continue;
        if (number < here)
            return number < PLATFORMS ? devices[number] : NULL;
        number -= here;
    }
    return NULL;
}

static int has_name(cl_device_id device, const char *name)
{
    char text[sizeof((carom_device_info *)0)->name] = "";

    return device != NULL && clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof text, text, NULL) == CL_SUCCESS &&
           !strncmp(text, name, sizeof text - 1);
}

static void release(copies *c)
{
    if (c->host != NULL)
        (void)clEnqueueUnmapMemObject(c->queue, c->pinned, c->host, 0, NULL, NULL);
    if (c->queue != NULL)
        (void)clFinish(c->queue);
    cl_mem const buffers[3] = {c->from, c->to, c->pinned};
    for (int i = 0; i < 3; i++)
        if (buffers[i] != NULL)
            (void)clReleaseMemObject(buffers[i]);
    if (c->queue != NULL)
        (void)clReleaseCommandQueue(c->queue);
    if (c->context != NULL)
        (void)clReleaseContext(c->context);
}

static int open_copies(copies *c, cl_device_id device)
{
    cl_int code = CL_SUCCESS;

    c->context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    if (c->context == NULL)
        return 0;
    c->queue = clCreateCommandQueue(c->context, device, 0, &code);
    c->from = clCreateBuffer(c->context, CL_MEM_READ_WRITE, c->bytes, NULL, &code);
    c->to = clCreateBuffer(c->context, CL_MEM_READ_WRITE, c->bytes, NULL, &code);
    c->pinned = clCreateBuffer(c->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, c->bytes, NULL, &code);
    if (c->queue == NULL || c->from == NULL || c->to == NULL || c->pinned == NULL)
        return 0;
    c->host =
        clEnqueueMapBuffer(c->queue, c->pinned, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, c->bytes, 0, NULL, NULL, &code);
    if (c->host == NULL)
        return 0;
    memset(c->host, 1, c->bytes);
    return 1;
}

typedef enum direction { INTO, OUT_OF, WITHIN } direction;

/* Seconds of the fastest of some rounds; 0 if one failed. */
static double fastest(const copies *c, direction way)
{
    double best = 0.0;

    for (int round = 0; round <= ROUNDS; round++) {
        const double start = measure_now();
        cl_int code =
            way == INTO     ? clEnqueueWriteBuffer(c->queue, c->from, CL_TRUE, 0, c->bytes, c->host, 0, NULL, NULL)
            : way == OUT_OF ? clEnqueueReadBuffer(c->queue, c->from, CL_TRUE, 0, c->bytes, c->host, 0, NULL, NULL)
                            : clEnqueueCopyBuffer(c->queue, c->from, c->to, 0, 0, c->bytes, 0, NULL, NULL);
        if (code != CL_SUCCESS || clFinish(c->queue) != CL_SUCCESS)
            return 0.0;
        const double took = measure_now() - start;
        if (round == 1 || (round > 1 && took < best)) /* the first one touches the memory */
            best = took;
    }
    return best;
}

static double rate(const copies *c, direction way, double moved)
{
    const double seconds = fastest(c, way);

    return seconds > 0.0 ? moved * (double)c->bytes / seconds : 0.0;
}

const char *limits_of_device(bench_device *device, int quick)
{
    const cl_device_id id = device_numbered(device->info.index);
    copies c = {.bytes = quick ? LARGEST / 8 : LARGEST};

    if (!has_name(id, device->info.name))
        return "a device's copies are not measured: the platforms list other devices now";
    while (c.bytes > SMALLEST && (c.bytes > device->info.memory / 16 || c.bytes > device->info.max_allocation))
        c.bytes /= 2;
    const int opened = open_copies(&c, id);
    if (opened) {
        device->write_bytes = rate(&c, INTO, 1.0);
        device->read_bytes = rate(&c, OUT_OF, 1.0);
        device->copy_bytes = rate(&c, WITHIN, 2.0);
    }
    release(&c);
    return opened ? NULL : "a device's copies are not measured: it has no memory for them";
}

#endif
