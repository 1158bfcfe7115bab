/* SPDX-License-Identifier: MIT */
#ifndef CAROM_HOST_MESH_CLEARANCE_H
#define CAROM_HOST_MESH_CLEARANCE_H

#include "host/bvh/mesh_data.h"

#define LANES 1 /* the kernel text for one query at a time */
#include "kernels/clearance.h"

/* Allocates the clearance of a mesh with so many leaves; its size in bytes. */
carom_status caromi_clearance_alloc(const carom_mesh *mesh, uint64_t leaves, mesh_clearance **out, carom_error *err);
uint64_t caromi_clearance_bytes(uint64_t leaves);
/* Reports a batch of queries that could use the clearance. Batches below CAROMI_CLEARANCE_LEAST never use it. It is
 * computed once enough queries have been reported to pay for it. */
enum { CAROMI_CLEARANCE_LEAST = 64 };
void caromi_clearance_report(carom_mesh *mesh, uint64_t queries);
/* Computes the clearance now. */
void caromi_clearance_find(carom_mesh *mesh);
/* Discards the clearance, as the boxes of the leaves have changed. */
void caromi_clearance_forget(carom_mesh *mesh);
/* The grid for a mesh with so many leaves: fills the header, sets the number of cubes along each axis, and returns that
 * of all, at most caromi_clearance_most(leaves). A grid that leaf boxes touch more than CAROMI_MARKS_PER_CUBE times its
 * cubes has hardly any empty ones: all its cubes are 0 then. */
enum { CAROMI_MARKS_PER_CUBE = 16 };
uint64_t caromi_clearance_most(uint64_t leaves);
size_t caromi_clearance_lay_out(const carom_mesh *mesh, mesh_clearance *header, int size[3]);
/* Size in bytes of the part that a search reads. */
uint64_t caromi_clearance_shown(const carom_mesh *mesh);
#endif
