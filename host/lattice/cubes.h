/* SPDX-License-Identifier: MIT */
/* Clearance volumes: whether a cube around each node of a lattice is free for a sphere, or blocked.
 *
 * clearance.c checks the call and the rounding of its nodes, and finds what a sign needs of the mesh
 * cubes.c classifies the nodes' distances, by tiles, or node by node as a device without tiles does */
#ifndef CAROM_HOST_LATTICE_CUBES_H
#define CAROM_HOST_LATTICE_CUBES_H
#include "cpu/lattice/lattice.h"
#include "lattice.h"

/* A checked call. */
typedef struct caromi_cubes {
    caromi_lattice_batch nodes; /* exact, without outputs; the band is above the limits */
    caromi_cube cube;
    caromi_bounds free, blocked;   /* the limits R + h and R - h */
    caromi_lattice_limits certain; /* distances certainly on one side of each limit, and of the band */
    uint8_t *out;                  /* answers from node nodes.begin on */
    struct caromi_inside *inside;  /* with a sign, if there are answers; else NULL */
} caromi_cubes;

/* Describes a call for a sphere of this radius; `out` may be NULL. */
caromi_cubes caromi_cubes_of(const caromi_lattice_batch *nodes, float radius, uint8_t *out);
/* Decides a node in integers. */
carom_clearance caromi_cubes_resolve(const caromi_cubes *cubes, uint64_t node);
/* Corrects the answers of nodes [first, end), whole slabs, that are inside. */
void caromi_cubes_sign(const caromi_cubes *cubes, uint64_t first, uint64_t end);
/* Answer nodes [first, end), whole slabs, by the surface alone. */
caromi_on_cpu caromi_cubes_on_cpu;
caromi_on_device caromi_cubes_on_device;
#endif
