/* SPDX-License-Identifier: MIT */
/* Lattices that a GPU answers tile by tile: what distances and clearance have in common. */
#ifndef CAROM_HOST_OPENCL_LATTICE_H
#define CAROM_HOST_OPENCL_LATTICE_H
#include "device.h"
#include "host/lattice/lattice.h"

/* The user data of a stream's callbacks. Rows are numbers of nodes from the batch's first on. */
typedef struct caromi_lattice_job {
    const caromi_lattice_batch *batch;
    caromi_mesh_batch points; /* kind, mesh and outputs, for the functions of closest points */
} caromi_lattice_job;
caromi_lattice_job caromi_lattice_job_of(const caromi_lattice_batch *batch);

/* Nodes of a chunk. */
uint64_t caromi_lattice_chunk(const caromi_device *device, const caromi_lattice_batch *batch);
/* Launches the tiles of a chunk. answers: the columns of triangles and distances. */
carom_status caromi_launch_lattice(caromi_device *device, caromi_cl_slot *slot, const caromi_lattice_job *job,
                                   const caromi_cl_column *answers, carom_error *err);
#endif
