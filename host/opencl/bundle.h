/* SPDX-License-Identifier: MIT */
/* Bundles whose arrays stay on the device. bundle.c has the path of a call, bundle_rounds.c the commands of a round,
 * bundle_probe.c the probe. */
#ifndef CAROM_HOST_OPENCL_BUNDLE_H
#define CAROM_HOST_OPENCL_BUNDLE_H
#include "device.h"
#include "host/core/buffer.h"
#include "host/mesh/rounds.h"
#include "kernels/bundle.h"

enum { BUNDLE_SHOWN_MEMORIES = CAROMI_BUNDLE_MEMORIES - CAROMI_BUNDLE_SHOWN };

/* The rounds of a call. Memory of a round that its stream reads and writes is shown to it as arrays in buffers of the
 * device, which last as long as the call. */
typedef struct bundle_job {
    caromi_device *device;
    carom_context *context;     /* of the running call, whose staging copies the buffers are among */
    caromi_cl_slot *slot;       /* whose queue runs all commands but those of the streams */
    cl_command_queue own_queue; /* the slot's; a call in the caller's queue runs all commands there */
    const caromi_mesh_batch *batch;
    carom_stats *stats;
    caromi_rounds rounds;
    int has_room_for_all; /* rounds of any hits have room for all bundles: the host does not learn which are left */
    int side;             /* which of two memories lists the bundles that are left */
    uint32_t held;        /* staging copies of the call */
    char *range;          /* reserved addresses */
    uint64_t bytes;       /* of the range */
    int has_declined;     /* the device leaves the batch to the CPU */
    carom_buffer shown[BUNDLE_SHOWN_MEMORIES];
    caromi_device_memory store[BUNDLE_SHOWN_MEMORIES];
} bundle_job;

/* The device's memory of that number. */
static inline const cl_mem *caromi_bundle_memory(const bundle_job *job, uint32_t memory)
{
    return &job->device->bundles[memory].memory;
}
/* The addresses of memory that is shown; NULL: the job has none of it. */
static inline void *caromi_bundle_array(const bundle_job *job, uint32_t memory)
{
    return job->shown[memory - CAROMI_BUNDLE_SHOWN].base;
}

/* Allocates the job's memory; shown: a bit for each memory that is shown. It is closed in any case. */
carom_status caromi_bundle_open(bundle_job *job, uint32_t shown, carom_error *err);
void caromi_bundle_close(bundle_job *job);

/* Enqueue the commands of a round, in this order; the job's `rounds` has its queries.
 * Lists all bundles as left. */
carom_status caromi_bundle_begin(bundle_job *job, carom_error *err);
/* Lists the queries. select: where the batch's selection lies, moved to the first bundle's first query; last: what it
 * may select. */
carom_status caromi_bundle_list(bundle_job *job, const caromi_resident *select, size_t stride, uint32_t last,
                                carom_error *err);
/* Limits their distances. round: with the caller's columns. */
carom_status caromi_bundle_limit(bundle_job *job, const caromi_mesh_batch *round, carom_error *err);
/* Adds answers of any hits, which are in the first column of answers, and takes bundles with a hit from those that are
 * left. Waits for their number, unless rounds have room for all. */
carom_status caromi_bundle_add_hits(bundle_job *job, carom_error *err);
/* Adds closest points; finds the queries whose answers are new. */
carom_status caromi_bundle_add_depths(bundle_job *job, const caromi_mesh_batch *round, carom_error *err);
/* Stores column `answer` of the new ones; to: the element of the first bundle. */
carom_status caromi_bundle_store(bundle_job *job, uint32_t answer, const caromi_resident *to, size_t stride,
                                 carom_error *err);
/* In the end: stores bytes of any hits, or numbers of queries. kind: RESIDENT_BYTES or RESIDENT_WORDS. */
carom_status caromi_bundle_answer(bundle_job *job, uint32_t kind, const caromi_resident *to, carom_error *err);
/* Waits for all commands. */
carom_status caromi_bundle_settle(bundle_job *job, carom_error *err);

/* Builds and probes the programs. */
carom_status caromi_probe_bundles(caromi_device *device, carom_error *err);
#endif
