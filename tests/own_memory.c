/* SPDX-License-Identifier: MIT */
#include "own_memory.h"

#include <dlfcn.h>
#include <string.h>

own_memory device_memory;

void device_memory_begin(void)
{
    const own_memory now = device_memory;
    device_memory =
        (own_memory){.memory = now.memory, .largest = now.largest, .buffers = now.buffers, .held = now.held};
}

/* The loader's own. */
static void find(const char *name, void *function)
{
    void *found = dlsym(RTLD_NEXT, name);
    memcpy(function, &found, sizeof found);
}

static void say(void *value, uint64_t limit)
{
    cl_ulong *const says = value;
    if (limit != 0 && limit < *says)
        *says = limit;
}

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t size, void *value, size_t *used)
{
    cl_int (*next)(cl_device_id, cl_device_info, size_t, void *, size_t *);
    find("clGetDeviceInfo", &next);
    const cl_int code = next(device, what, size, value, used);
    if (code != CL_SUCCESS || value == NULL)
        return code;
    if (what == CL_DEVICE_TYPE)
        *(cl_device_type *)value = CL_DEVICE_TYPE_GPU;
    if (what == CL_DEVICE_HOST_UNIFIED_MEMORY)
        *(cl_bool *)value = CL_FALSE;
    if (what == CL_DEVICE_GLOBAL_MEM_SIZE)
        say(value, device_memory.memory);
    if (what == CL_DEVICE_MAX_MEM_ALLOC_SIZE)
        say(value, device_memory.largest);
    return code;
}

static int is_beyond(uint64_t bytes, uint64_t limit)
{
    return limit != 0 && bytes > limit;
}

/* CL_SUCCESS, or why there is no such buffer. */
static cl_int refusal(cl_mem_flags flags, size_t size)
{
    own_memory *const m = &device_memory;
    const uint64_t then = m->held + (flags & CL_MEM_ALLOC_HOST_PTR ? 0 : size);
    m->asked++;
    if (is_beyond(size, m->largest))
        return CL_INVALID_BUFFER_SIZE;
    if (is_beyond(then, m->memory))
        return CL_MEM_OBJECT_ALLOCATION_FAILURE;
    const int chosen = m->fail_at != 0 && (m->fail_after ? m->asked >= m->fail_at : m->asked == m->fail_at);
    return chosen || is_beyond(size, m->above) || is_beyond(then, m->room) ? m->code : CL_SUCCESS;
}

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *code)
{
    cl_mem (*next)(cl_context, cl_mem_flags, size_t, void *, cl_int *);
    own_memory *const m = &device_memory;
    find("clCreateBuffer", &next);
    *code = refusal(flags, size);
    if (*code != CL_SUCCESS) {
        m->refused++;
        return NULL;
    }
    const cl_mem made = next(context, flags, size, host, code);
    if (*code == CL_SUCCESS) {
        m->buffers++;
        m->held += flags & CL_MEM_ALLOC_HOST_PTR ? 0 : size;
        m->in_place += (flags & CL_MEM_USE_HOST_PTR) != 0;
        m->for_hits += (flags & CL_MEM_WRITE_ONLY) != 0;
    }
    return made;
}

cl_int clReleaseMemObject(cl_mem memory)
{
    cl_int (*next)(cl_mem);
    size_t size = 0;
    cl_mem_flags flags = 0;
    find("clReleaseMemObject", &next);
    if (clGetMemObjectInfo(memory, CL_MEM_SIZE, sizeof size, &size, NULL) == CL_SUCCESS &&
        clGetMemObjectInfo(memory, CL_MEM_FLAGS, sizeof flags, &flags, NULL) == CL_SUCCESS) {
        device_memory.buffers--;
        device_memory.held -= flags & CL_MEM_ALLOC_HOST_PTR ? 0 : size;
    }
    return next(memory);
}

cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem to, cl_bool blocking, size_t offset, size_t size,
                            const void *from, cl_uint waits, const cl_event *wait, cl_event *event)
{
    cl_int (*next)(cl_command_queue, cl_mem, cl_bool, size_t, size_t, const void *, cl_uint, const cl_event *,
                   cl_event *);
    find("clEnqueueWriteBuffer", &next);
    device_memory.sent++;
    device_memory.sent_bytes += size;
    return next(queue, to, blocking, offset, size, from, waits, wait, event);
}

cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem from, cl_bool blocking, size_t offset, size_t size, void *to,
                           cl_uint waits, const cl_event *wait, cl_event *event)
{
    cl_int (*next)(cl_command_queue, cl_mem, cl_bool, size_t, size_t, void *, cl_uint, const cl_event *, cl_event *);
    find("clEnqueueReadBuffer", &next);
    device_memory.fetched++;
    device_memory.fetched_bytes += size;
    return next(queue, from, blocking, offset, size, to, waits, wait, event);
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset,
                              const size_t *global, const size_t *local, cl_uint waits, const cl_event *wait,
                              cl_event *event)
{
    cl_int (*next)(cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *, const size_t *, cl_uint,
                   const cl_event *, cl_event *);
    find("clEnqueueNDRangeKernel", &next);
    device_memory.launches++;
    return next(queue, kernel, dimensions, offset, global, local, waits, wait, event);
}
