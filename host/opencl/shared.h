/* SPDX-License-Identifier: MIT */
/* The objects of the caller's OpenCL that a context keeps. */
#ifndef CAROM_HOST_OPENCL_SHARED_H
#define CAROM_HOST_OPENCL_SHARED_H
#include <CL/cl.h>

#include <stdatomic.h>

#include "host/core/queue.h"

typedef struct caromi_failed_event caromi_failed_event;
typedef struct caromi_notes caromi_notes;

/* The caller's OpenCL objects. */
typedef struct caromi_shared {
    cl_context context;
    cl_command_queue queue;                /* calls take part in its order; NULL: none */
    _Atomic(caromi_failed_event *) failed; /* events of failed commands, kept as long as the context */
    _Atomic(caromi_failed_event *) running;
    /* Calls in the queue that may not have ended, in its order (enqueue.c); why the device is lost, if one has failed
     */
    caromi_enqueued *first, *last;
    struct caromi_notes *notes; /* NULL: none so far */
    carom_error lost;
} caromi_shared;

/* Retains the caller's objects, which have been checked. */
struct carom_opencl_desc;
carom_status caromi_shared_make(carom_context *context, const struct carom_opencl_desc *cl, carom_error *err);
/* Forgets the calls that were enqueued. enqueue.c */
void caromi_enqueued_forget(carom_context *context);
#endif
