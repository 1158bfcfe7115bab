/* SPDX-License-Identifier: MIT */
/* What the host files share. Nothing here is visible outside the library. */
#ifndef CAROM_INTERNAL_H
#define CAROM_INTERNAL_H

#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "cpu/cpu.h"
#include "cpu/mesh.h"
#include "cpu/settle.h"
#include "carom/carom.h"

typedef struct caromi_device caromi_device; /* an open OpenCL device; opencl/device.c */

/* What auto has learnt of one kind of batch: seconds a query, 0 as long as it is not known; choice.c */
typedef struct caromi_pace {
    double cpu, device;
    int trials;       /* batches that the device has answered, up to as many as it takes to judge it */
    int cpu_is_whole; /* from a whole batch, not a sample */
    int left;         /* the CPU has this kind */
} caromi_pace;

struct carom_context {
    atomic_uint references; /* the caller's and one per mesh */
    carom_context_desc desc;
    char *device_selector; /* copy of desc.device */
    const caromi_isa_table *isa;
    int isa_id;
    caromi_pool *pool;          /* NULL: one thread */
    caromi_device *device;      /* NULL: not opened, or given up */
    int device_tried;           /* auto has looked for a device already */
    carom_error device_lacking; /* why there is none, if one was there and cannot be used */
    int told_small;             /* that auto keeps small batches on the CPU */
    caromi_pace paces[CAROMI_PAIR_KERNEL_COUNT];
};

struct carom_mesh {
    carom_context *context;
    caromi_mesh_view view;
    carom_mesh_info info;
    float *vertices;   /* [3 * vertex_count] the caller's vertices */
    uint32_t *indices; /* [3 * triangle_count] */
    mesh_node *nodes;
    mesh_leaf *leaves;
    struct mesh_clearance *clearance; /* memory for it, with its cubes; clearance.c */
    uint64_t asked;                   /* queries that would have liked to know it, since it was last unknown */
    int clearance_known;
    int32_t *masks;                    /* [leaf_count][MESH_WIDTH] of the leaves' triangles; NULL: all bits are set */
    uint64_t vertex_count, leaf_count; /* a loose leaf counts twice */
    float built_cost;                  /* info.cost after the last build */
    int stack;                         /* entries that a traversal may need */
    caromi_pace paces[CAROMI_MESH_SEARCHES][2]; /* fast, exact */
    void *device_copy; /* its buffers on a device, which may be closed before they are released; opencl/mesh.c */
};

/* Whether an index that a device gives can be followed; -1 is no triangle. */
static inline int caromi_can_be(const carom_mesh *mesh, int32_t triangle)
{
    return triangle == -1 || (uint32_t)triangle < mesh->info.triangle_count;
}

static inline const float *caromi_corner(const carom_mesh *mesh, uint32_t triangle, int corner)
{
    return mesh->vertices + 3 * (size_t)mesh->indices[3 * (size_t)triangle + (size_t)corner];
}

/* Fill `err`, if there is one, and return `status`. */
carom_status caromi_fail(carom_error *err, carom_status status, int native_code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void caromi_log(const carom_context *context, carom_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The context's allocator; NULL when there is no memory or the size overflows. Aligned to 64 bytes. */
void *caromi_alloc(const carom_context *context, uint64_t count, size_t size);
void caromi_free(const carom_context *context, void *memory);
/* The same from a task: the hooks are never called by two threads of a context at once. */
void *caromi_task_alloc(const carom_context *context, uint64_t count, size_t size);
void caromi_task_free(const carom_context *context, void *memory);
void caromi_context_release(carom_context *context);

double caromi_now(void);

/* Checks in order; the first that fails is the answer. */
#define CHECK(call)                               \
    do {                                          \
        const carom_status check_status = (call); \
        if (check_status != CAROM_OK)             \
            return check_status;                  \
    } while (0)
#define CHECK_NOT_NULL(argument, name, err)                                                     \
    do {                                                                                        \
        if ((argument) == NULL)                                                                 \
            return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, name " must not be NULL"); \
    } while (0)

/* Every public function that computes or calls a driver returns through this: the caller may round otherwise, flush
 * denormals or trap on exceptions, and gets its floating-point environment back as it was, sticky flags included. */
#define IN_FLOAT_MODE(call)                                      \
    do {                                                         \
        const caromi_float_mode mode_ = caromi_float_mode_set(); \
        const carom_status status_ = (call);                     \
        caromi_float_mode_restore(mode_);                        \
        return status_;                                          \
    } while (0)

/* Argument checks that every batch shares. */
carom_status caromi_check_desc(size_t given, size_t expected, const char *name, carom_error *err);
carom_status caromi_check_stats(const carom_stats *stats, carom_error *err);
carom_status caromi_check_points(const carom_points *p, const char *name, carom_error *err);
carom_status caromi_check_scalars(const carom_scalars *s, const char *name, carom_error *err);
carom_status caromi_check_points_out(const carom_points_out *p, const char *name, carom_error *err);
carom_status caromi_check_accuracy(carom_accuracy accuracy, carom_error *err);

/* A checked batch and its two ways to be answered: on a device, queries [*done, end), setting *done to those answered even
 * on failure; on the CPU, queries [first, end). */
typedef carom_status caromi_on_device(caromi_device *device, const void *batch, uint64_t end, uint64_t *done,
                                      carom_stats *stats, carom_error *err);
typedef carom_status caromi_on_cpu(const carom_context *context, const void *batch, uint64_t first, uint64_t end,
                                   carom_stats *stats, carom_error *err);
typedef struct caromi_batch {
    const void *batch;
    const void *sample; /* one that the CPU may be timed with beforehand; NULL: the batch itself */
    uint64_t count;
    caromi_on_device *on_device; /* NULL: not worth a device */
    caromi_on_cpu *on_cpu;
    uint32_t piece; /* queries between two calls of `progress` */
    carom_progress progress;
    int exact;
    const char *name;  /* of its kind */
    caromi_pace *pace; /* of its kind */
} caromi_batch;

/* Answer a batch where the context says; batch.c. */
carom_status caromi_run(carom_context *context, const caromi_batch *batch, carom_stats *stats, carom_error *err);
carom_status caromi_run_pairs(carom_context *context, const caromi_pair_batch *batch, const carom_progress *progress,
                              carom_stats *stats, carom_error *err);
/* Tell the caller how far a batch has come; CAROM_ERROR_CANCELLED if that was enough. */
carom_status caromi_tell(const carom_progress *progress, uint64_t done, uint64_t count, carom_error *err);

/* The device that a batch should use: NULL with CAROM_OK means the CPU. If auto found a device that cannot be used, that
 * is said in the statistics of every batch that was meant for it. choice.c, as what follows. */
carom_status caromi_pick_device(carom_context *context, const caromi_batch *batch, caromi_device **out,
                                carom_stats *stats, carom_error *err);
/* All of a batch was answered there in so many seconds. */
void caromi_learn_device(const caromi_batch *batch, double seconds);
void caromi_learn_cpu(const caromi_batch *batch, double seconds);
/* A device cannot run batches of this kind: the CPU answers, and the statistics say why. */
void caromi_decline(const carom_context *context, carom_stats *stats, const char *reason);
/* A device failed with `left` queries to go: OK, logged and counted if the CPU may finish, else `status` itself. */
carom_status caromi_fall_back(carom_context *context, carom_status status, uint64_t left, carom_stats *stats,
                              const carom_error *cause, carom_error *err);

static inline float caromi_load(const float *base, size_t stride, uint64_t i)
{
    float value;
    memcpy(&value, (const char *)base + i * stride, sizeof value);
    return value;
}

/* Used vertices: their bounds, and their largest coordinate. */
typedef struct caromi_extent {
    float lower[3], upper[3], largest;
} caromi_extent;

/* Are the mesh's indices in range and these, its vertices, finite where they are used? mesh/check.c */
carom_status caromi_mesh_check(const carom_mesh *mesh, const carom_points *vertices, caromi_extent *extent,
                               carom_error *err);
/* Slices in which the threads go through a mesh. */
uint64_t caromi_mesh_slices(uint64_t triangles);
/* Copy vertices that were checked; with bounds and frame. mesh.c */
void caromi_mesh_move(carom_mesh *mesh, const carom_points *vertices, const caromi_extent *extent);

/* The hierarchy over a mesh that has vertices, indices and frame; bvh/build.c. On failure the mesh is as it was. */
carom_status caromi_bvh_build(carom_mesh *mesh, carom_error *err);
/* Its corners, boxes and cost once more, for vertices and a frame that have changed; bvh/refit.c */
void caromi_bvh_refit(carom_mesh *mesh);

/* Put the triangles' masks beside the leaves of a finished hierarchy; mesh/masks.c. */
carom_status caromi_mesh_mask(carom_mesh *mesh, const uint32_t *masks, carom_error *err);
/* The masks of a mesh beside the leaves of another hierarchy of its triangles; NULL if it has none. */
carom_status caromi_masks_follow(const carom_mesh *mesh, const caromi_mesh_view *tree, uint64_t node_count,
                                 uint64_t leaf_count, int32_t **out, carom_error *err);
#endif
