/* SPDX-License-Identifier: MIT */
/* The OpenCL side as the rest of the host sees it. none.c answers in builds without OpenCL. */
#ifndef CAROM_HOST_OPENCL_OPENCL_H
#define CAROM_HOST_OPENCL_OPENCL_H
#include "host/batch.h"
#include "host/mesh_data.h"

/* Open the device that `selector` names (NULL: the best), build and probe its kernels. place: among the context's
 * devices. gpu_only: for auto, which leaves CPU devices to the CPU path. The context must outlive the device. */
carom_status caromi_device_open(const carom_context *context, uint32_t place, const char *selector, int gpu_only,
                                caromi_device **out, carom_error *err);
/* The number of the device that `selector` names. */
carom_status caromi_device_find(const carom_context *context, const char *selector, uint32_t *index, carom_error *err);
/* Open the device of the caller's cl_context at this place of the descriptor, which has so many; share.c.
 * INVALID_ARGUMENT if there is no such device in it. */
struct carom_opencl_desc;
uint32_t caromi_shared_devices(const struct carom_opencl_desc *cl);
carom_status caromi_device_open_shared(carom_context *context, const struct carom_opencl_desc *cl, uint32_t place,
                                       caromi_device **out, carom_error *err);
/* Keeps the caller's OpenCL, which a context has whether or not a device can be used: calls take their turn on the CPU
 * too. Nothing in a child process. */
carom_status caromi_shared_keep(carom_context *context, const struct carom_opencl_desc *cl, carom_error *err);
/* The caller's OpenCL, of a context that has it (context->shared); events.c. With a queue: waits for what the queue
 * has; lets a job take its turn there. Without one: nothing. */
carom_status caromi_shared_await(const carom_context *context, carom_error *err);
carom_status caromi_shared_enter(carom_context *context, carom_job *job, carom_error *err);
void caromi_shared_release(carom_context *context);
/* Waits for an event of the caller, for a time: CAROM_ERROR_TIMEOUT if it has not ended then. */
carom_status caromi_event_wait(void *event, double seconds, carom_error *err);
/* One that has failed is kept as long as the context. NULL is ignored. */
void caromi_event_release(const carom_context *context, void *event);
/* Lets go of a device, which is closed when its buffers have let go too. In a forked child of the process that opened
 * it this does not call the driver, so its objects leak. */
void caromi_device_close(caromi_device *device);
/* Whether OpenCL was called before fork() made this process, and the sentence that says so; process.c. */
int caromi_opencl_is_inherited(void);
carom_status caromi_fail_inherited(carom_error *err);
/* Whether the statistics of the next batches say how long commands take. */
void caromi_device_time(caromi_device *device, int timed);
void caromi_device_describe(const caromi_device *device, carom_device_info *out);
uint32_t caromi_device_place(const caromi_device *device);
uint32_t caromi_device_index(const caromi_device *device);
const char *caromi_device_name(const caromi_device *device);

/* Whether the device computes in the host's memory. */
int caromi_device_is_unified(const caromi_device *device);
/* Memory of a device that has its own, or the caller's; buffer.c. It keeps the device open. Reads and writes wait. */
typedef struct caromi_device_memory caromi_device_memory;
carom_status caromi_device_memory_create(caromi_device *device, uint64_t bytes, caromi_device_memory **out,
                                         carom_error *err);
void caromi_device_memory_destroy(caromi_device_memory *memory);
carom_status caromi_device_memory_read(const caromi_device_memory *memory, uint64_t offset, void *data, uint64_t bytes,
                                       carom_error *err);
carom_status caromi_device_memory_write(const caromi_device_memory *memory, uint64_t offset, const void *data,
                                        uint64_t bytes, carom_error *err);

/* For a caromi_pair_batch, a caromi_mesh_batch, a caromi_list_batch. After any failure but CAROM_ERROR_OUT_OF_MEMORY
 * the device must not be used again. */
caromi_on_device caromi_device_pairs, caromi_device_mesh, caromi_device_list;
/* Frees the copies of a mesh on the devices. */
void caromi_device_mesh_release(carom_mesh *mesh);

/* The spheres of a cloud on a device, in the order of their cells, which must stay while it is open. Opening it builds
 * and probes the programs. Failures are as above. */
struct caromi_cloud;
struct caromi_cloud_cells;
typedef struct caromi_cloud_copy caromi_cloud_copy;
carom_status caromi_cloud_copy_open(caromi_device *device, const struct caromi_cloud *cloud,
                                    const struct caromi_cloud_cells *cells, caromi_cloud_copy **out, carom_stats *stats,
                                    carom_error *err);
/* Builds and probes them alone. */
carom_status caromi_cloud_prepare(caromi_device *device, int exact, carom_error *err);
void caromi_cloud_copy_close(caromi_cloud_copy *copy); /* NULL is fine */

/* Items as kernels/cloud_scan.cl has them, each of a sphere at `place` and 1 to CLOUD_ITEM others, and their bits. */
typedef struct caromi_cloud_items {
    const uint32_t *place, *begin, *length;
    uint32_t *some, *sure, *near;
} caromi_cloud_items;
static inline uint32_t caromi_cloud_item_bits(uint32_t length)
{
    return UINT32_MAX >> (CLOUD_ITEM - length);
}
carom_status caromi_cloud_copy_test(caromi_cloud_copy *copy, const caromi_cloud_items *items, uint64_t count,
                                    carom_stats *stats, carom_error *err);
/* Pairs by place, with the image of b, and what the pair program says of them: in exact mode, which needs binary64, t
 * is NaN where it leaves the pair undecided. */
typedef struct caromi_cloud_open {
    const uint32_t *a, *b, *image;
    float *t;
    uint8_t *state, *parts;
} caromi_cloud_open;
carom_status caromi_cloud_copy_solve(caromi_cloud_copy *copy, const caromi_cloud_open *open, uint64_t count, int exact,
                                     carom_stats *stats, carom_error *err);
int caromi_device_has_fp64(const caromi_device *device);
#endif
