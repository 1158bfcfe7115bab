/* SPDX-License-Identifier: MIT */
/* The members of a context. */
#ifndef CAROM_HOST_CORE_CONTEXT_H
#define CAROM_HOST_CORE_CONTEXT_H
#include <stdatomic.h>

#include "cpu/cpu.h"
#include "host/base/clock.h"
#include "host/base/error.h"
#include "host/base/memory.h"

typedef struct caromi_device caromi_device;     /* an open OpenCL device; opencl/device.c */
typedef struct caromi_enqueued caromi_enqueued; /* a call in the caller's OpenCL queue; opencl/enqueue.c */

/* The speeds that `auto` has measured for one kind of batches: seconds per query, 0: unknown. choice.c */
typedef struct caromi_pace {
    double cpu, device;
    int trials;       /* batches that the device has answered, counted up to TRIALS */
    int cpu_is_whole; /* `cpu` is from a whole batch, not a sample */
    int on_cpu;       /* the CPU is faster: `auto` uses it */
    uint64_t piece;   /* queries that the CPU answers between two reports of progress; 0: not known yet. batch.c */
    float each[CAROM_DEVICES_MAX]; /* of several devices: seconds per query; 0: not used yet, -1: not measured yet */
} caromi_pace;

/* A task of the context's own thread, as a member of the object that it works on. queue.h */
typedef struct caromi_task {
    struct caromi_task *next;
    void (*run)(struct caromi_task *task);
} caromi_task;

/* Bytes and seconds of a call's staging copies: from buffers to the host and back. */
typedef struct caromi_traffic {
    uint64_t brought, returned;
    double bringing, returning;
} caromi_traffic;

struct carom_context {
    caromi_hooks hooks;     /* first member: base/memory.h casts the context to it */
    atomic_uint references; /* the caller's, and one for each mesh, buffer and job */
    int is_destroyed;       /* the caller has destroyed it; it lives on until the last reference is released */
    carom_context_desc desc;
    char *device_selector;        /* copy of desc.device */
    int is_on_shared;             /* the devices are of the caller's cl_context */
    struct caromi_shared *shared; /* the checked objects of the caller's OpenCL. opencl/shared.h */
    /* The call that is being enqueued in the caller's queue, so that nothing may wait; NULL: none is. enqueue.h */
    caromi_enqueued *enqueued;
    const caromi_isa_table *isa;
    int isa_id;
    caromi_pool *pool;                 /* NULL: one thread */
    caromi_watch *watch;               /* of the running call; NULL: it has no progress function. progress.h */
    atomic_uint_fast64_t mesh_changes; /* of vertices, masks, hierarchies of all meshes; devices build some, to probe */
    /* In the order of the list that names them; one if there is no list. NULL: not opened, refused or closed after a
     * failure */
    caromi_device *devices[CAROM_DEVICES_MAX];
    uint32_t device_count; /* devices in the list; 0: not opened */
    /* Held by the device that computes a table which a mesh or a batch caches for all devices. */
    pthread_mutex_t finding;
    caromi_pool *device_pool;   /* a thread for each of several devices; NULL: one device, or none */
    int device_tried;           /* `auto` has searched for a device already */
    carom_error device_lacking; /* why the found or named device cannot be used; of several devices, the last one */
    int small_logged;           /* it is logged that `auto` keeps small batches on the CPU */
    caromi_pace paces[CAROMI_PAIR_KERNEL_COUNT];
    /* By kind (counts, lists, first, any, order), one cloud or two, at rest or moving, fast or exact */
    caromi_pace cloud_paces[5][2][2][2];
    carom_buffer *buffers;               /* list of the context's buffers. buffer.h */
    struct caromi_staging_copy *staging; /* staging copies of the running call. staging.h */
    uint32_t staging_count;
    caromi_traffic staging_traffic; /* of the running call */
    int staging_is_on_host;         /* all staging copies are on the host */
    uint64_t staging_from;          /* the first answer that goes back from there */
    uint64_t staging_answered;      /* answers that the call has; UINT64_MAX: unknown */
    int staging_is_unused;          /* the call prepares: no copy is brought to the host */
    struct caromi_job_queue *jobs;  /* NULL: no job so far. queue.h */
};

/* Makes a context. cl: the caller's OpenCL with the devices; NULL: devices are found by name. */
struct carom_opencl_desc;
carom_status caromi_context_make(const carom_context_desc *desc, const struct carom_opencl_desc *cl,
                                 carom_context **out, carom_error *err);
void caromi_context_release(carom_context *context);

/* Waits until the context's thread has done all its tasks; on that thread returns at once. */
void caromi_finish_jobs(const carom_context *context);
static inline void caromi_wait_for_jobs(const carom_context *context)
{
    if (context != NULL && context->jobs != NULL)
        caromi_finish_jobs(context);
}
/* The same, and waits for the present commands of the caller's queue. */
carom_status caromi_await_turn(const carom_context *context, carom_error *err);
static inline carom_status caromi_wait_for_turn(const carom_context *context, carom_error *err)
{
    return context != NULL && context->jobs != NULL ? caromi_await_turn(context, err) : CAROM_OK;
}
/* Leaves a task to the context's thread, behind the running jobs and calls in the caller's queue. Returns 0 if there
 * are none, and the task is not taken. */
int caromi_leave_to_jobs(carom_context *context, caromi_task *task);
/* Waits until the calls that are enqueued in the caller's queue have ended. */
void caromi_finish_enqueued(const carom_context *context);
#endif
