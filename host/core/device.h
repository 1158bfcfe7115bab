/* SPDX-License-Identifier: MIT */
/* The interface of devices, as one table of functions. host/opencl/driver.c fills it; no_driver.c is for builds without
 * OpenCL. No file outside host/opencl includes a header from there. */
#ifndef CAROM_HOST_CORE_DEVICE_H
#define CAROM_HOST_CORE_DEVICE_H
#include "batch.h"

struct carom_opencl_desc;
struct caromi_values;
struct caromi_cloud;
struct caromi_cloud_cells;
struct caromi_cloud_items;
struct caromi_cloud_undecided;
struct caromi_grid_result;
struct refit_result;
typedef struct caromi_device_memory caromi_device_memory;
typedef struct caromi_cloud_copy caromi_cloud_copy;

typedef struct caromi_device_driver {
    /* Whether OpenCL was called before fork() made this process; the error for that. */
    int (*is_inherited)(void);
    carom_status (*fail_inherited)(carom_error *err);

    /* The number of the device that `selector` names (NULL: the best). */
    carom_status (*find)(const carom_context *context, const char *selector, uint32_t *index, carom_error *err);
    /* Opens that device, and builds and probes its kernels. place: its index among the context's devices. gpu_only: for
     * `auto`, which uses the CPU code instead of CPU devices. The context must outlive the device. */
    carom_status (*open)(const carom_context *context, uint32_t place, const char *selector, int gpu_only,
                         caromi_device **out, carom_error *err);
    /* Releases a device, which is closed when its buffers are released too. In a fork()ed child of the process that
     * opened it this does not call the driver, so its objects leak. */
    void (*close)(caromi_device *device);
    void (*describe)(const caromi_device *device, carom_device_info *out);
    uint32_t (*place)(const caromi_device *device);
    uint32_t (*index)(const caromi_device *device);
    const char *(*name)(const caromi_device *device);
    int (*is_unified)(const caromi_device *device); /* it shares the host's memory */
    int (*has_fp64)(const caromi_device *device);
    /* Switches the timing of commands, for the statistics of the next batches. */
    void (*time)(caromi_device *device, int timed);

    /* Memory of a discrete device, or the caller's. It keeps the device open. Reads and writes wait until they are
     * done. */
    carom_status (*memory_create)(caromi_device *device, uint64_t bytes, caromi_device_memory **out, carom_error *err);
    void (*memory_destroy)(caromi_device_memory *memory);
    carom_status (*memory_read)(const caromi_device_memory *memory, uint64_t offset, void *data, uint64_t bytes,
                                carom_error *err);
    carom_status (*memory_write)(const caromi_device_memory *memory, uint64_t offset, const void *data, uint64_t bytes,
                                 carom_error *err);

    /* Answer a caromi_pair_batch, a caromi_mesh_batch, a caromi_list_batch. After any failure except
     * CAROM_ERROR_OUT_OF_MEMORY the device must not be used again. */
    caromi_on_device *pairs, *mesh, *list;
    /* Whether a list's arrays may stay where they lie on the device. */
    int (*list_stays)(const caromi_device *device, int is_of_contacts);
    /* Answer bundles of a caromi_list_batch with `any`, and of a caromi_mesh_batch of closest points, whose arrays all
     * lie on the device, as above. *done does not move if the arrays are left to come to the host. */
    caromi_on_device *any_bundles, *closest_bundles;
    /* Matches contacts whose arrays all lie on the device. *answered is 0 if the device leaves that to the host. */
    carom_status (*match)(caromi_device *device, const carom_contact_records *previous,
                          const carom_contact_records *now, const carom_contact_match *out, int *answered,
                          carom_error *err);
    /* Whether the device answers lattices by tiles; answers a caromi_lattice_batch, or caromi_cubes, so, as
     * above. */
    int (*lattice_serves)(const caromi_device *device);
    caromi_on_device *lattice, *cubes;
    /* Frees the copies of a mesh on the devices. */
    void (*mesh_release)(carom_mesh *mesh);
    /* Whether a device refits meshes to these vertices, which lie in its memory. Refits its copy of a mesh to them:
     * `to` receives them, and *result what the host has to know. If a vertex is refused, the copy is unchanged; after
     * an error it is undefined. */
    int (*refit_serves)(const caromi_device *device, const carom_points *vertices);
    carom_status (*refit)(caromi_device *device, carom_mesh *mesh, const carom_points *vertices,
                          caromi_device_memory *to, struct refit_result *result, carom_error *err);
    /* After a refit: updates what contacts know of edges and corners on the device. *follows is 0 if the host must find
     * it anew, because other corners coincide now. Frees what the devices know of them. */
    carom_status (*refit_contacts)(caromi_device *device, carom_mesh *mesh, int have_masks, int *follows,
                                   carom_error *err);
    void (*edges_release)(carom_mesh *mesh);

    /* Copies the spheres of a cloud to a device, in the order of their cells, which must outlive the copy. Builds and
     * probes the programs. Failures as above. */
    carom_status (*cloud_open)(caromi_device *device, const struct caromi_cloud *cloud,
                               const struct caromi_cloud_cells *cells, caromi_cloud_copy **out, carom_stats *stats,
                               carom_error *err);
    void (*cloud_close)(caromi_cloud_copy *copy); /* may be NULL */
    /* Only builds and probes the programs. */
    carom_status (*cloud_prepare)(caromi_device *device, int exact, carom_error *err);
    carom_status (*cloud_test)(caromi_cloud_copy *copy, const struct caromi_cloud_items *items, uint64_t count,
                               carom_stats *stats, carom_error *err);
    carom_status (*cloud_solve)(caromi_cloud_copy *copy, const struct caromi_cloud_undecided *open, uint64_t count,
                                int exact, carom_stats *stats, carom_error *err);

    /* Clouds without the host's work: whether the device can do that; builds and probes the programs, those of an order
     * or of all other answers; answers a call, whose arrays may lie on the device. *answered is 0 if the device leaves
     * the cloud to others, because it has too many pairs: docs/spheres.md, section 11. */
    int (*grid_serves)(const caromi_device *device);
    carom_status (*grid_prepare)(caromi_device *device, const struct caromi_cloud *cloud, int is_order,
                                 carom_error *err);
    carom_status (*grid_answer)(caromi_device *device, const struct caromi_cloud *cloud,
                                const struct caromi_grid_result *result, int *answered, carom_stats *stats,
                                carom_error *err);

    /* Checks rows [begin, end) of arrays on the device: fails if a value is refused. While a call is being enqueued,
     * its job fails instead. */
    carom_status (*values_check)(caromi_device *device, const struct caromi_values *values, uint32_t count,
                                 uint64_t begin, uint64_t end, carom_error *err);

    /* The caller's OpenCL (carom_opencl.h). The number of devices in its descriptor; opens device number `place` of it:
     * INVALID_ARGUMENT if the caller's cl_context has no such device. */
    uint32_t (*shared_devices)(const struct carom_opencl_desc *cl);
    carom_status (*open_shared)(carom_context *context, const struct carom_opencl_desc *cl, uint32_t place,
                                caromi_device **out, carom_error *err);
    /* Retains the caller's objects. A context has them even if no device can be used: calls on the CPU take part in the
     * order of the caller's queue too. Does nothing in a child process. */
    carom_status (*shared_retain)(carom_context *context, const struct carom_opencl_desc *cl, carom_error *err);
    /* For a context with these objects and a queue: waits for the queue's present commands; puts a job into the order
     * of the queue. Without a queue they do nothing. */
    carom_status (*shared_await)(const carom_context *context, carom_error *err);
    carom_status (*shared_enter)(carom_context *context, carom_job *job, carom_error *err);
    void (*shared_release)(carom_context *context);
    /* Calls that are enqueued straight in that queue. From enqueue_begin, which returns 0 if that cannot be, to
     * enqueue_end each command goes there, and everything else fails. events: the commands that the call begins behind.
     * enqueue_end takes the status so far; it returns NULL if the call has failed. */
    int (*enqueue_begin)(carom_context *context, void *const *events, uint32_t count);
    caromi_enqueued *(*enqueue_end)(carom_context *context, carom_status status);
    void *(*enqueued_event)(const caromi_enqueued *call);                                   /* of its last command */
    carom_status (*enqueued_wait)(caromi_enqueued *call, double seconds, carom_error *err); /* as event_wait */
    void (*enqueued_release)(caromi_enqueued *call);
    int (*enqueued_is_settled)(caromi_enqueued *call); /* it has ended well, or can only fail with its event */
    /* Forgets the calls that have ended; fails if a command of one has failed, so that the device is lost. */
    carom_status (*enqueued_settle)(const carom_context *context, carom_error *err);
    int (*enqueued_in_flight)(const carom_context *context); /* whether one has not ended */
    void (*enqueued_finish)(const carom_context *context);   /* waits for all */
    /* Whether a command's event can be in a wait list of this context's queue without the host's help. */
    int (*event_serves)(const carom_context *context, void *event);
    /* Waits for an event of the caller, at most so many seconds; then CAROM_ERROR_TIMEOUT. */
    carom_status (*event_wait)(void *event, double seconds, carom_error *err);
    /* Releases an event; a failed one is kept as long as the context. NULL is ignored. */
    void (*event_release)(const carom_context *context, void *event);
} caromi_device_driver;

extern const caromi_device_driver caromi_driver;
#endif
