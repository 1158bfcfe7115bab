/* SPDX-License-Identifier: MIT */
/* What a context holds. */
#ifndef CAROM_HOST_CORE_CONTEXT_H
#define CAROM_HOST_CORE_CONTEXT_H
#include <stdatomic.h>

#include "cpu/cpu.h"
#include "host/base/clock.h"
#include "host/base/error.h"
#include "host/base/memory.h"

typedef struct caromi_device caromi_device; /* an open OpenCL device; opencl/device.c */

/* What auto has learnt of one kind of batch: seconds a query, 0 while unknown; choice.c */
typedef struct caromi_pace {
    double cpu, device;
    int trials;                    /* batches that the device has answered, counted until it is judged */
    int cpu_is_whole;              /* `cpu` is from a whole batch, not a sample */
    int on_cpu;                    /* auto has found the CPU to be faster */
    float each[CAROM_DEVICES_MAX]; /* of several devices: seconds a query, 0: not used yet, -1: not measured yet */
} caromi_pace;

/* What the context's own thread has to do; a member of what it is done to. queue.h */
typedef struct caromi_task {
    struct caromi_task *next;
    void (*run)(struct caromi_task *task);
} caromi_task;

/* Bytes and seconds of the way of a call's arrays in buffers to the host and back. */
typedef struct caromi_traffic {
    uint64_t brought, returned;
    double bringing, returning;
} caromi_traffic;

struct carom_context {
    caromi_hooks hooks;     /* first: base/memory.h */
    atomic_uint references; /* the caller's and one per mesh, buffer and job */
    int is_destroyed;       /* by the caller */
    carom_context_desc desc;
    char *device_selector;        /* copy of desc.device */
    int is_on_shared;             /* the devices are of the caller's cl_context */
    struct caromi_shared *shared; /* the caller's OpenCL, once it has been checked; opencl/shared.h */
    const caromi_isa_table *isa;
    int isa_id;
    caromi_pool *pool; /* NULL: one thread */
    /* In the order of the list that names them, one without a list. NULL: not opened, refused or given up */
    caromi_device *devices[CAROM_DEVICES_MAX];
    uint32_t device_count;      /* places of the list; 0: not opened */
    pthread_mutex_t finding;    /* held by the device that finds what a mesh or a batch keeps for all */
    caromi_pool *device_pool;   /* a thread for each of several devices; NULL: one device, or none */
    int device_tried;           /* auto has looked for a device already */
    carom_error device_lacking; /* why the device that was found or named cannot be used; of several the last one */
    int small_logged;           /* the log has that auto keeps small batches on the CPU */
    caromi_pace paces[CAROMI_PAIR_KERNEL_COUNT];
    caromi_pace cloud_paces[4][2][2];    /* counts, lists, first, any; at rest, moving; fast, exact */
    carom_buffer *buffers;               /* all of the context's; buffer.h */
    struct caromi_staging_copy *staging; /* of the call that is running; staging.h */
    uint32_t staging_count;
    caromi_traffic staging_traffic; /* of that call */
    int staging_is_on_host;         /* all of them */
    int staging_is_unused;          /* the call prepares: none of them is to be shown */
    struct caromi_job_queue *jobs;  /* NULL: there has been none; queue.h */
};

/* What makes every context. cl: its device is there; NULL: its device is found. */
struct carom_opencl_desc;
carom_status caromi_context_make(const carom_context_desc *desc, const struct carom_opencl_desc *cl,
                                 carom_context **out, carom_error *err);
void caromi_context_release(carom_context *context);

/* Waits until the context's thread has done all that was left to it; at once on that thread. */
void caromi_finish_jobs(const carom_context *context);
static inline void caromi_wait_for_jobs(const carom_context *context)
{
    if (context != NULL && context->jobs != NULL)
        caromi_finish_jobs(context);
}
/* The same, and for what a queue of the caller has. */
carom_status caromi_await_turn(const carom_context *context, carom_error *err);
static inline carom_status caromi_wait_for_turn(const carom_context *context, carom_error *err)
{
    return context != NULL && context->jobs != NULL ? caromi_await_turn(context, err) : CAROM_OK;
}
/* Leaves a task to the context's thread, behind the jobs that go on; 0: there are none. */
int caromi_leave_to_jobs(const carom_context *context, caromi_task *task);
#endif
