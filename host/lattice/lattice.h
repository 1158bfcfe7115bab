/* SPDX-License-Identifier: MIT */
/* Queries at the nodes of a regular lattice, slab by slab; node coordinates are computed, not read from arrays.
 *
 * How a distance volume is made:
 *
 *   1. distance.c   checks the call, describes it as a caromi_lattice_batch, runs it in chunks of slabs
 *   2. nodes.c      limits of a lattice, coordinates of its nodes
 *   3. mesh/closed.c  checks that the mesh is closed, if distances have signs
 *   4. tiles.h      on the CPU: cuts the slabs into tiles for the threads
 *   5. blocks.c     one search for all nodes of a tile (cpu/lattice/template.h), then the exact decisions
 *   6. plain.c      where blocks.c's error bounds do not hold: a closest-point query for each node; and on a device,
 *                   which answers tiles of its own (opencl/lattice.c) if it is a GPU
 *   7. inside.h     finds the nodes inside the mesh, and negates their distances, unless tiles of a device do
 *   8. gradient.c   the gradients, from triangles and signs
 *
 * cubes.h: clearance volumes. drop.h: drop maps, with a height for each column of the lattice. */
#ifndef CAROM_HOST_LATTICE_LATTICE_H
#define CAROM_HOST_LATTICE_LATTICE_H
#include "host/core/batch.h"
#include "host/mesh/batch.h"

/* A checked batch. A node has a number: (k * dims[1] + j) * dims[0] + i. */
typedef struct caromi_lattice_batch {
    carom_mesh *mesh;
    carom_lattice lattice;
    uint64_t slab;         /* number of nodes of a slab */
    uint64_t begin, count; /* nodes [begin, count), whole slabs */
    int exact;
    float band;                            /* distances beyond it are cut to it; +inf: no band */
    carom_sign sign;                       /* of distances that a device may give: PARITY, WINDING or NONE */
    struct caromi_inside *inside;          /* NULL: there are no signs, or no node is answered. With the sign NONE
                                              the host gives distances their signs, also those of a device */
    caromi_out_column out[CAROMI_ANSWERS]; /* outputs of closest points, from node `begin` on; with gradients also
                                              triangles and distances */
} caromi_lattice_batch;

/* Fails unless the lattice is within its limits and contains the batch's range of slabs (AXIS_Z) or rows (AXIS_Y). Sets
 * the number of nodes that the batch answers. */
carom_status caromi_check_lattice(const carom_batch *batch, const carom_lattice *lattice, int axis, uint64_t *nodes,
                                  carom_error *err);
/* The number of nodes of a slab. */
static inline uint64_t caromi_slab_of(const carom_lattice *lattice)
{
    return lattice->dims[0] * lattice->dims[1];
}
/* Computes the coordinates of nodes [first, first + count) as columns. */
void caromi_lattice_columns(const carom_lattice *lattice, uint64_t first, uint64_t count, float *x, float *y, float *z);

/* Answers nodes [first, end) on the CPU by one closest-point query each. plain.c */
carom_status caromi_lattice_plain(const carom_context *context, const caromi_lattice_batch *batch, uint64_t first,
                                  uint64_t end, carom_stats *stats, carom_error *err);
/* Answers nodes [*done, end) on a device: by tiles, or by one query each. *done is set to the end of the answered
 * nodes. plain.c */
caromi_on_device caromi_lattice_on_device;
/* After a device has answered nodes [first, *done): if it has failed before `end`, cuts *done to whole slabs, because
 * the CPU answers the rest. before: stats->by_integers before the device. */
void caromi_lattice_keep_slabs(const caromi_lattice_batch *batch, uint64_t first, uint64_t end, uint64_t *done,
                               uint64_t before, carom_stats *stats);
/* Computes the gradients of nodes [first, end), whose triangles and distances are stored. gradient.c */
carom_status caromi_lattice_gradients(const carom_context *context, const caromi_lattice_batch *batch, uint64_t first,
                                      uint64_t end, carom_error *err);
/* Whether the device answers by tiles. Then it gives distances their signs too. */
int caromi_lattice_by_tiles(const caromi_device *device, const caromi_lattice_batch *batch);
/* Whether the tile search's error bounds hold; the answers of nodes [first, end), whole slabs, by tiles. blocks.c */
int caromi_lattice_has_blocks(const caromi_lattice_batch *batch);
carom_status caromi_lattice_blocks(const carom_context *context, const caromi_lattice_batch *batch, uint64_t first,
                                   uint64_t end, carom_stats *stats, carom_error *err);
#endif
