/* SPDX-License-Identifier: MIT */
/* The shim's commands, and their events. */
#include <pthread.h>

#include "cl_shim_parts.h"

static _Atomic(cl_event) failed_command; /* every wait for it fails */
static _Atomic(cl_event) last_unmap;     /* does not fail: nothing may be left that needs it */

static void watch(cl_command_queue queue)
{
    cl_watched_calls += queue == cl_watched;
}

static cl_int hold_event(cl_int code, const cl_event *event)
{
    cl_held[HELD_EVENTS] += code == CL_SUCCESS && event != NULL && *event != NULL;
    return code;
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset,
                              const size_t *global, const size_t *local, cl_uint waits, const cl_event *wait,
                              cl_event *event)
{
    NEXT(clEnqueueNDRangeKernel);
    watch(queue);
    if (cl_before_launch != NULL)
        cl_before_launch();
    shim_be_slow(queue, global[0]);
    const int is_refused = cl_refused_group != 0 && local != NULL && local[0] == cl_refused_group;
    return shim_fails_on(queue, CALL_LAUNCH) || is_refused
               ? cl_call_code(CALL_LAUNCH)
               : hold_event(next(queue, kernel, dimensions, offset, global, local, waits, wait, event), event);
}

/* Mapped buffers, as the host sees them. */
typedef struct mapped_range {
    const char *at;
    size_t size;
} mapped_range;
static mapped_range mapped[256];
static pthread_mutex_t mapped_lock = PTHREAD_MUTEX_INITIALIZER;

/* Replaces a range by another: none is {NULL, 0}. */
static void change_mapped(const void *from, mapped_range to)
{
    pthread_mutex_lock(&mapped_lock);
    size_t i = 0;
    while (i < COUNT_OF(mapped) && mapped[i].at != from)
        i++;
    if (i < COUNT_OF(mapped))
        mapped[i] = to;
    pthread_mutex_unlock(&mapped_lock);
}

static void count_pageable(cl_bool blocking, const void *host, size_t size)
{
    const char *at = host;
    int pinned = blocking;
    pthread_mutex_lock(&mapped_lock);
    for (size_t i = 0; i < COUNT_OF(mapped); i++)
        pinned |= mapped[i].at != NULL && mapped[i].at <= at && at + size <= mapped[i].at + mapped[i].size;
    cl_pageable += !pinned;
    pthread_mutex_unlock(&mapped_lock);
}

cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem memory, cl_bool blocking, size_t offset, size_t size,
                            const void *from, cl_uint waits, const cl_event *wait, cl_event *event)
{
    NEXT(clEnqueueWriteBuffer);
    watch(queue);
    cl_sent += size;
    count_pageable(blocking, from, size);
    return shim_fails_on(queue, CALL_WRITE)
               ? cl_call_code(CALL_WRITE)
               : hold_event(next(queue, memory, blocking, offset, size, from, waits, wait, event), event);
}

cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem memory, cl_bool blocking, size_t offset, size_t size,
                           void *to, cl_uint waits, const cl_event *wait, cl_event *event)
{
    NEXT(clEnqueueReadBuffer);
    watch(queue);
    cl_fetched += size;
    count_pageable(blocking, to, size);
    return shim_fails_on(queue, CALL_READ)
               ? cl_call_code(CALL_READ)
               : hold_event(next(queue, memory, blocking, offset, size, to, waits, wait, event), event);
}

void *clEnqueueMapBuffer(cl_command_queue queue, cl_mem memory, cl_bool blocking, cl_map_flags flags, size_t offset,
                         size_t size, cl_uint waits, const cl_event *wait, cl_event *event, cl_int *code)
{
    NEXT(clEnqueueMapBuffer);
    watch(queue);
    cl_fetched += flags & CL_MAP_READ ? size : 0;
    if (shim_fails_on(queue, CALL_MAP))
        return shim_refuse(CALL_MAP, code);
    void *at = next(queue, memory, blocking, flags, offset, size, waits, wait, event, code);
    if (at != NULL) {
        (void)hold_event(CL_SUCCESS, event);
        change_mapped(NULL, (mapped_range){at, size});
    }
    return shim_hold(HELD_MAPS, at);
}

cl_int clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem memory, void *at, cl_uint waits, const cl_event *wait,
                               cl_event *event)
{
    NEXT(clEnqueueUnmapMemObject);
    watch(queue);
    change_mapped(at, (mapped_range){NULL, 0});
    if (shim_fails_on(queue, CALL_UNMAP))
        return cl_call_code(CALL_UNMAP);
    const cl_int code = shim_let_go(HELD_MAPS, hold_event(next(queue, memory, at, waits, wait, event), event));
    last_unmap = event != NULL ? *event : last_unmap;
    return code;
}

cl_int clFlush(cl_command_queue queue)
{
    NEXT(clFlush);
    watch(queue);
    return shim_fails_on(queue, CALL_FLUSH) ? cl_call_code(CALL_FLUSH) : next(queue);
}

/* It waits all the same, as for a queue whose last command has ended badly. */
cl_int clFinish(cl_command_queue queue)
{
    NEXT(clFinish);
    watch(queue);
    const cl_int code = next(queue);
    return shim_fails_on(queue, CALL_FINISH) ? cl_call_code(CALL_FINISH) : code;
}

cl_int clWaitForEvents(cl_uint count, const cl_event *events)
{
    NEXT(clWaitForEvents);
    cl_int code = next(count, events);
    for (cl_uint i = 0; i < count; i++) {
        if (events[i] != last_unmap && shim_fails(CALL_COMMAND))
            failed_command = events[i];
        if (events[i] == failed_command)
            code = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    }
    return shim_fails(CALL_WAIT) ? cl_call_code(CALL_WAIT) : code;
}

cl_int clGetEventInfo(cl_event event, cl_event_info what, size_t size, void *value, size_t *used)
{
    NEXT(clGetEventInfo);
    const cl_int code = next(event, what, size, value, used);
    if (what == CL_EVENT_COMMAND_EXECUTION_STATUS && event == failed_command)
        *(cl_int *)value = cl_call_code(CALL_COMMAND);
    return code;
}

cl_ulong cl_lasts;

cl_int clGetEventProfilingInfo(cl_event event, cl_profiling_info what, size_t size, void *value, size_t *used)
{
    NEXT(clGetEventProfilingInfo);
    const cl_int code = next(event, what, size, value, used);
    if (cl_lasts != 0 && (what == CL_PROFILING_COMMAND_START || what == CL_PROFILING_COMMAND_END))
        *(cl_ulong *)value = what == CL_PROFILING_COMMAND_END ? cl_lasts : 0;
    return code;
}

cl_int clReleaseEvent(cl_event event)
{
    NEXT(clReleaseEvent);
    if (event == failed_command)
        failed_command = NULL;
    if (event == last_unmap)
        last_unmap = NULL; /* a later event may have its address */
    return shim_let_go(HELD_EVENTS, next(event));
}

cl_int clRetainEvent(cl_event event)
{
    NEXT(clRetainEvent);
    return shim_retain(HELD_EVENTS, next(event));
}

cl_event clCreateUserEvent(cl_context context, cl_int *code)
{
    NEXT(clCreateUserEvent);
    return shim_fails(CALL_USER_EVENT) ? shim_refuse(CALL_USER_EVENT, code)
                                       : shim_hold(HELD_EVENTS, next(context, code));
}

cl_int clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint waits, const cl_event *wait, cl_event *event)
{
    NEXT(clEnqueueMarkerWithWaitList);
    watch(queue);
    return shim_fails(CALL_MARKER) ? cl_call_code(CALL_MARKER) : hold_event(next(queue, waits, wait, event), event);
}

cl_int clEnqueueBarrierWithWaitList(cl_command_queue queue, cl_uint waits, const cl_event *wait, cl_event *event)
{
    NEXT(clEnqueueBarrierWithWaitList);
    watch(queue);
    return shim_fails(CALL_BARRIER) ? cl_call_code(CALL_BARRIER) : hold_event(next(queue, waits, wait, event), event);
}
