/* SPDX-License-Identifier: MIT */
/* Calls whose commands go straight into the caller's queue, between the caller's own: no thread of the host begins them
 * or waits for them. */
#ifndef CAROM_HOST_OPENCL_ENQUEUE_H
#define CAROM_HOST_OPENCL_ENQUEUE_H
#include <CL/cl.h>

#include "host/core/context.h"
#include "host/base/error.h"

/* The queue of the call that is being enqueued; NULL: none is. */
cl_command_queue caromi_enqueue_queue(const carom_context *context);
/* What a command waits for, and where its event goes. */
typedef struct caromi_links {
    cl_uint wait_count;
    const cl_event *wait;
    cl_event *event;
} caromi_links;
/* Precedes a command of any call. While a call is being enqueued, sets the links such that the command waits for those
 * before it, and that the call keeps its event. */
carom_status caromi_enqueue_command(const carom_context *context, caromi_links *links, carom_error *err);
/* Follows it: the command was enqueued. */
void caromi_enqueue_count(const carom_context *context);
/* Fails while a call is being enqueued, before work for which the host would have to wait. */
carom_status caromi_enqueue_refuse(const carom_context *context, carom_error *err);
#endif
