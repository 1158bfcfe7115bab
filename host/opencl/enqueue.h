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
/* Events that a command waits for, and where its own goes. */
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
/* Makes room for what calls in the caller's queue check, unless there is room. */
carom_status caromi_enqueue_prepare(const carom_context *context, caromi_device *device, carom_error *err);
/* Notes the values that the call checks from row `begin` on; *to: where two words for each array are to be read. */
struct caromi_values;
carom_status caromi_enqueue_values(const carom_context *context, const struct caromi_values *values, uint32_t count,
                                   uint64_t begin, void **to, carom_error *err);
/* Whether the call that is being enqueued checks this column as limits; the largest value that it allows in an index
 * that it checks. Any other index of it is a list of the library's, in which UINT32_MAX is no element. */
int caromi_enqueue_is_limit(const carom_context *context, const caromi_in_column *column);
/* The call that is being enqueued goes on with columns that begin at this row of its arrays. */
void caromi_enqueue_move(const carom_context *context, uint64_t row);
uint32_t caromi_enqueue_last_index(const carom_context *context, const caromi_index *index);
/* Fails while a call is being enqueued, before work for which the host would have to wait. */
carom_status caromi_enqueue_refuse(const carom_context *context, carom_error *err);
#endif
