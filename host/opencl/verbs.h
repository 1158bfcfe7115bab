/* SPDX-License-Identifier: MIT */
/* What the library asks of a device: each verb is one or two OpenCL calls, and turns their codes into a status and a
 * sentence. Only select.c, device.c and share.c, which find and open devices and check objects of the caller, and
 * program.c, which builds programs, call OpenCL besides.
 *
 * `what` names a command's data in the sentence; with NULL the call's name is enough. `event`, if not NULL, receives
 * the command's event. Commands of a queue run in order. */
#ifndef CAROM_HOST_OPENCL_VERBS_H
#define CAROM_HOST_OPENCL_VERBS_H
#include <CL/cl.h>

#include "host/core/context.h"
#include "host/base/error.h"

/* Turn an OpenCL code into a status and a sentence. */
carom_status caromi_cl_fail(const caromi_device *device, cl_int code, const char *call, carom_error *err);

/* A buffer for `what`; *out is NULL on failure. However a driver says that memory is short, it is OUT_OF_MEMORY. */
carom_status caromi_make_buffer(caromi_device *device, const char *what, cl_mem_flags flags, uint64_t bytes, void *data,
                                cl_mem *out, carom_error *err);
/* The caller's array as a buffer, or NULL where the device does not take it. */
cl_mem caromi_wrap_array(const caromi_device *device, cl_mem_flags access, void *array, size_t bytes);
/* The caller's buffer, to be released as others. */
carom_status caromi_retain_buffer(const caromi_device *device, cl_mem buffer, carom_error *err);
/* *buffer is NULL afterwards; NULL is fine. */
void caromi_release_buffer(cl_mem *buffer);

/* The first `bytes` of a buffer as memory of the host. wait: it can be used at once, else when the event has ended. */
carom_status caromi_map(const caromi_device *device, cl_command_queue queue, cl_mem buffer, cl_map_flags access,
                        size_t bytes, int wait, void **host, cl_event *event, const char *what, carom_error *err);
carom_status caromi_unmap(const caromi_device *device, cl_command_queue queue, cl_mem buffer, void *host,
                          cl_event *event, carom_error *err);
/* From the host's memory, which must stay until the command has ended, to the beginning of a buffer. */
carom_status caromi_write(const caromi_device *device, cl_command_queue queue, cl_mem buffer, const void *data,
                          size_t bytes, cl_event *event, const char *what, carom_error *err);
/* The same to any place in it, and waits. */
carom_status caromi_write_at(const caromi_device *device, cl_command_queue queue, cl_mem buffer, size_t offset,
                             const void *data, size_t bytes, const char *what, carom_error *err);
carom_status caromi_read(const caromi_device *device, cl_command_queue queue, cl_mem buffer, size_t offset, void *data,
                         size_t bytes, int wait, cl_event *event, const char *what, carom_error *err);
carom_status caromi_copy(const caromi_device *device, cl_command_queue queue, cl_mem from, cl_mem to, size_t bytes,
                         carom_error *err);

/* A kernel's arguments, set one after another. After a failure nothing is set; the launch reports it. */
typedef struct caromi_arguments {
    cl_kernel kernel;
    cl_uint next;
    cl_int code;
} caromi_arguments;
void caromi_set_argument(caromi_arguments *arguments, const void *value, size_t bytes);
/* With `items` as the last argument, in groups of `local` work-items or less. */
carom_status caromi_launch(const caromi_device *device, cl_command_queue queue, caromi_arguments *arguments,
                           uint64_t items, size_t local, cl_event *event, carom_error *err);

/* A device's context, for objects that may outlive the device. */
cl_context caromi_retain_context(const caromi_device *device);
void caromi_release_context(cl_context context);

/* Begin the commands of a queue; wait for all. */
carom_status caromi_flush(const caromi_device *device, cl_command_queue queue, carom_error *err);
carom_status caromi_finish(const caromi_device *device, cl_command_queue queue, carom_error *err);
void caromi_wait(cl_event event);
/* Wait for commands and fail if one failed. */
carom_status caromi_check_events(const caromi_device *device, const cl_event *events, uint32_t count, carom_error *err);
/* The times that ended commands took are added to *seconds. */
void caromi_add_durations(const cl_event *events, uint32_t count, double *seconds);
void caromi_release_event(cl_event event);
#endif
