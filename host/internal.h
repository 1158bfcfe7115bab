/* SPDX-License-Identifier: MIT */
/* What the host files share. Nothing here is visible outside the library. */
#ifndef CAROM_INTERNAL_H
#define CAROM_INTERNAL_H

#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>

#include "../cpu/cpu.h"
#include "../cpu/mesh.h"
#include "../cpu/settle.h"
#include "carom/carom.h"

typedef struct caromi_device caromi_device; /* an open OpenCL device; cl_device.c */

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
    uint64_t vertex_count, leaf_count;
    caromi_pace paces[2]; /* fast, exact */
    void *device_copy;    /* its buffers on a device, which may be closed before they are released; cl_mesh.c */
};

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

/* Argument checks that every batch shares. */
carom_status caromi_check_desc(size_t given, size_t expected, const char *name, carom_error *err);
carom_status caromi_check_stats(const carom_stats *stats, carom_error *err);
carom_status caromi_check_points(const carom_points *p, const char *name, carom_error *err);
carom_status caromi_check_scalars(const carom_scalars *s, const char *name, carom_error *err);
carom_status caromi_check_points_out(const carom_points_out *p, const char *name, carom_error *err);
carom_status caromi_check_accuracy(carom_accuracy accuracy, carom_error *err);

/* A checked batch and its two ways to be answered: on a device from its start, setting *done to the queries answered
 * even on failure; on the CPU from `first`. */
typedef struct caromi_batch {
    const void *batch;
    uint64_t count;
    carom_status (*on_device)(caromi_device *device, const void *batch, uint64_t *done, carom_stats *stats,
                              carom_error *err); /* NULL: not worth a device */
    carom_status (*on_cpu)(const carom_context *context, const void *batch, uint64_t first, carom_stats *stats,
                           carom_error *err);
    int exact;
    const char *name;  /* of its kind */
    caromi_pace *pace; /* of its kind */
} caromi_batch;

/* Answer a batch where the context says; batch.c. */
carom_status caromi_run(carom_context *context, const caromi_batch *batch, carom_stats *stats, carom_error *err);
carom_status caromi_run_pairs(carom_context *context, const caromi_pair_batch *batch, carom_stats *stats,
                              carom_error *err);

/* A checked mesh sweep: columns as caromi_mesh_queries names them. */
typedef struct caromi_mesh_batch {
    carom_mesh *mesh;
    uint64_t count;
    caromi_in_column in[CAROMI_MESH_IN];
    int wants_contact, exact;
    const carom_mesh_hit_result *out;
} caromi_mesh_batch;

/* Settle in integers what the exact kernels have left open among queries [first, first + count), which lie in the
 * batch's arrays: those whose time is NaN, and contacts whose point is. marks: times, triangles and the points' x.
 * rows: of each query, if they are not in a row. Returns how many. */
uint64_t caromi_settle_mesh_batch(const caromi_mesh_batch *batch, const void *const *marks, const uint64_t *rows,
                                  uint64_t first, size_t count);

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

/* The mesh hierarchy; bvh.c. Fills nodes, leaves, view and info. */
carom_status caromi_bvh_build(carom_mesh *mesh, carom_error *err);

/* Answer queries [first, batch->count) on the CPU; mesh_sweep.c. */
carom_status caromi_cpu_mesh(const carom_context *context, const void *mesh_batch, uint64_t first, carom_stats *stats,
                             carom_error *err);
#endif
