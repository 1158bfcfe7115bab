/* SPDX-License-Identifier: MIT */
/* Preloaded in front of the OpenCL loader: counts the bytes that cross between host and device by reads, writes and
 * maps, and prints the sum to TRANSFERS at the end. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atomic_ullong bytes;

__attribute__((destructor)) static void report(void)
{
    const char *name = getenv("TRANSFERS");
    FILE *out = name != NULL ? fopen(name, "w") : NULL;
    if (out == NULL)
        return;
    (void)fprintf(out, "%llu\n", atomic_load(&bytes));
    (void)fclose(out);
}

static void find(const char *name, void *function)
{
    void *const found = dlsym(RTLD_NEXT, name);
    if (found == NULL)
        abort();
    memcpy(function, &found, sizeof found);
}

cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem memory, cl_bool wait, size_t offset, size_t size, void *to,
                           cl_uint count, const cl_event *list, cl_event *event)
{
    cl_int (*call)(cl_command_queue, cl_mem, cl_bool, size_t, size_t, void *, cl_uint, const cl_event *, cl_event *);
    find("clEnqueueReadBuffer", &call);
    bytes += size;
    return call(queue, memory, wait, offset, size, to, count, list, event);
}

cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem memory, cl_bool wait, size_t offset, size_t size,
                            const void *from, cl_uint count, const cl_event *list, cl_event *event)
{
    cl_int (*call)(cl_command_queue, cl_mem, cl_bool, size_t, size_t, const void *, cl_uint, const cl_event *,
                   cl_event *);
    find("clEnqueueWriteBuffer", &call);
    bytes += size;
    return call(queue, memory, wait, offset, size, from, count, list, event);
}

void *clEnqueueMapBuffer(cl_command_queue queue, cl_mem memory, cl_bool wait, cl_map_flags flags, size_t offset,
                         size_t size, cl_uint count, const cl_event *list, cl_event *event, cl_int *code)
{
    void *(*call)(cl_command_queue, cl_mem, cl_bool, cl_map_flags, size_t, size_t, cl_uint, const cl_event *,
                  cl_event *, cl_int *);
    find("clEnqueueMapBuffer", &call);
    bytes += size;
    return call(queue, memory, wait, flags, offset, size, count, list, event, code);
}
