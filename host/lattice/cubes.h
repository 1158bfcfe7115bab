/* SPDX-License-Identifier: MIT */
/* Which cubes around the nodes of a lattice are free, and which are blocked.
 *
 *   clearance.c   checks the call and the rounding of its nodes
 *   cubes.c       answers by the nodes' distances: by tiles, or one by one, as a device does */
#ifndef CAROM_HOST_LATTICE_CUBES_H
#define CAROM_HOST_LATTICE_CUBES_H
#include "cpu/lattice/lattice.h"
#include "lattice.h"

/* A checked call. */
typedef struct caromi_cubes {
    caromi_lattice_batch nodes; /* exact, without outputs; the band is above the limits */
    caromi_cube cube;
    caromi_bounds free, blocked; /* the limits R + h and R - h */
    caromi_lattice_limits sure;  /* distances that are not near the limits, nor the band, need no closer look */
    uint8_t *out;                /* element 0 is that of node nodes.begin */
} caromi_cubes;

/* The call for a sphere of this radius; `out` may be NULL. */
caromi_cubes caromi_cubes_of(const caromi_lattice_batch *nodes, float radius, uint8_t *out);
/* The whole slabs [first, end). */
caromi_on_cpu caromi_cubes_on_cpu;
caromi_on_device caromi_cubes_on_device;
#endif
