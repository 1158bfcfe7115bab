/* SPDX-License-Identifier: MIT */
/* Queries of a lattice: regular nodes, slab by slab, whose coordinates are numbers and no arrays. The way of a call:
 *
 *   distance.c   checks the call and describes it as a caromi_lattice_batch; runs it on a device or on the CPU
 *   nodes.c      what a lattice is: its limits, and the coordinates of its nodes
 *   plain.c      one closest point for each node, as host/mesh answers them
 *   tiles.h      the tiles of a lattice, on the CPU
 *   blocks.c     the distances of all nodes of a tile together
 *   open.c       whether a mesh has an inside
 *   inside.h     which nodes are inside
 *   cubes.h      in which cubes around nodes a sphere is clear of the mesh
 *   drop.h       drop maps, which have a height for each column */
#ifndef CAROM_HOST_LATTICE_LATTICE_H
#define CAROM_HOST_LATTICE_LATTICE_H
#include "host/core/batch.h"
#include "host/mesh/batch.h"

/* A checked batch. A node has a number: (k * dims[1] + j) * dims[0] + i. */
typedef struct caromi_lattice_batch {
    carom_mesh *mesh;
    carom_lattice lattice;
    uint64_t slab;         /* nodes of a slab */
    uint64_t begin, count; /* nodes [begin, count), whole slabs */
    int exact;
    float band;                            /* +inf: none */
    struct caromi_inside *inside;          /* NULL: distances have no signs */
    caromi_out_column out[CAROMI_ANSWERS]; /* as closest points have them; element 0 is that of node `begin` */
} caromi_lattice_batch;

/* Fails unless the lattice is within its limits and has the slabs of the batch (axis 2; 1: the rows). Sets the number
 * of nodes that the batch answers. */
carom_status caromi_check_lattice(const carom_batch *batch, const carom_lattice *lattice, int axis, uint64_t *nodes,
                                  carom_error *err);
/* Nodes of a slab. */
static inline uint64_t caromi_slab_of(const carom_lattice *lattice)
{
    return lattice->dims[0] * lattice->dims[1];
}
/* Coordinates of nodes [first, first + count) as columns. */
void caromi_lattice_columns(const carom_lattice *lattice, uint64_t first, uint64_t count, float *x, float *y, float *z);

/* Nodes [first, end) as queries for the closest triangle: on the CPU, or on a device, where *done is set to the end of
 * those that are answered. plain.c */
carom_status caromi_lattice_plain(const carom_context *context, const caromi_lattice_batch *batch, uint64_t first,
                                  uint64_t end, carom_stats *stats, carom_error *err);
caromi_on_device caromi_lattice_plain_on_device;
/* Whether the nodes may be answered by blocks; and those of the whole slabs [first, end) answered so. blocks.c */
int caromi_lattice_has_blocks(const caromi_lattice_batch *batch);
carom_status caromi_lattice_blocks(const carom_context *context, const caromi_lattice_batch *batch, uint64_t first,
                                   uint64_t end, carom_stats *stats, carom_error *err);

/* Fails unless the mesh is closed, as `sign` needs it. masks: of its triangles, or NULL. open.c */
carom_status caromi_check_closed(carom_mesh *mesh, carom_sign sign, const int32_t *masks, carom_error *err);
#endif
