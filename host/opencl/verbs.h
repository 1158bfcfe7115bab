/* SPDX-License-Identifier: MIT */
/* Wrappers of OpenCL calls: each makes one or two calls, and turns their codes into a status and an error message. Only
 * four files call OpenCL directly: select.c, device.c and share.c find and open devices and check the caller's objects,
 * program.c builds programs.
 *
 * what: names a command's data in the error message; NULL: only the call is named. event: receives the command's event,
 * if not NULL. Commands of a queue run in order. */
#ifndef CAROM_HOST_OPENCL_VERBS_H
#define CAROM_HOST_OPENCL_VERBS_H
#include <CL/cl.h>

#include "host/core/context.h"
#include "host/base/error.h"

/* Turns an OpenCL code into a status and an error message. */
carom_status caromi_cl_fail(const caromi_device *device, cl_int code, const char *call, carom_error *err);

/* Creates a buffer; *out is NULL on failure. All of the drivers' codes for lack of memory become
 * CAROM_ERROR_OUT_OF_MEMORY. */
carom_status caromi_make_buffer(caromi_device *device, const char *what, cl_mem_flags flags, uint64_t bytes, void *data,
                                cl_mem *out, carom_error *err);
/* Wraps the caller's array as a buffer; NULL if the device refuses it. */
cl_mem caromi_wrap_array(const caromi_device *device, cl_mem_flags access, void *array, size_t bytes);
/* Retains the caller's buffer, which is then released like any other. */
carom_status caromi_retain_buffer(const caromi_device *device, cl_mem buffer, carom_error *err);
/* Releases a buffer and sets *buffer to NULL; it may be NULL before. */
void caromi_release_buffer(cl_mem *buffer);

/* Whether a call returns when its command has ended, or at once: the command has ended when its event has. */
enum caromi_blocking { CAROMI_NO_WAIT, CAROMI_WAIT };
enum { CAROMI_BEGIN = 0 }; /* offset of a transfer, in bytes */
/* Maps the first `bytes` of a buffer to host memory. */
carom_status caromi_map(const caromi_device *device, cl_command_queue queue, cl_mem buffer, cl_map_flags access,
                        size_t bytes, enum caromi_blocking wait, void **host, cl_event *event, const char *what,
                        carom_error *err);
carom_status caromi_unmap(const caromi_device *device, cl_command_queue queue, cl_mem buffer, void *host,
                          cl_event *event, carom_error *err);
/* Enqueues a write to the beginning of a buffer; `data` must stay valid until the command has ended. */
carom_status caromi_write(const caromi_device *device, cl_command_queue queue, cl_mem buffer, const void *data,
                          size_t bytes, cl_event *event, const char *what, carom_error *err);
/* Writes at an offset of a buffer, and waits. */
carom_status caromi_write_at(const caromi_device *device, cl_command_queue queue, cl_mem buffer, size_t offset,
                             const void *data, size_t bytes, const char *what, carom_error *err);
carom_status caromi_read(const caromi_device *device, cl_command_queue queue, cl_mem buffer, size_t offset, void *data,
                         size_t bytes, enum caromi_blocking wait, cl_event *event, const char *what, carom_error *err);
carom_status caromi_copy(const caromi_device *device, cl_command_queue queue, cl_mem from, cl_mem to, size_t bytes,
                         carom_error *err);
/* The same for a part of each buffer. */
carom_status caromi_copy_range(const caromi_device *device, cl_command_queue queue, cl_mem from, size_t from_at,
                               cl_mem to, size_t to_at, size_t bytes, carom_error *err);

/* A kernel's arguments, set one after another. After a failure no further argument is set; the launch reports the
 * failure. */
typedef struct caromi_arguments {
    cl_kernel kernel;
    cl_uint next;
    cl_int code;
} caromi_arguments;
void caromi_set_argument(caromi_arguments *arguments, const void *value, size_t bytes);
void caromi_set_int(caromi_arguments *arguments, cl_int value);
void caromi_set_uint(caromi_arguments *arguments, uint64_t value); /* below 2^32 */
void caromi_set_ulong(caromi_arguments *arguments, uint64_t value);
void caromi_set_real(caromi_arguments *arguments, float value);
/* Launches a kernel with `items` as its last argument, in groups of at most `local` work-items. Of a call that is being
 * enqueued *event stays as it is: the call keeps the event. */
carom_status caromi_launch(const caromi_device *device, cl_command_queue queue, caromi_arguments *arguments,
                           uint64_t items, size_t local, cl_event *event, carom_error *err);

/* Retains a device's context, for objects that may outlive the device. */
cl_context caromi_retain_context(const caromi_device *device);
void caromi_release_context(cl_context context);

/* Submits the commands of a queue to the device; waits for all of them. */
carom_status caromi_flush(const caromi_device *device, cl_command_queue queue, carom_error *err);
carom_status caromi_finish(const caromi_device *device, cl_command_queue queue, carom_error *err);
void caromi_wait(cl_event event);
/* Waits for commands; fails if one failed. */
carom_status caromi_check_events(const caromi_device *device, const cl_event *events, uint32_t count, carom_error *err);
/* Adds the durations of finished commands to *seconds. */
void caromi_add_durations(const cl_event *events, uint32_t count, double *seconds);
void caromi_release_event(cl_event event);
#endif
