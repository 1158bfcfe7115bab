/* SPDX-License-Identifier: MIT */
/* Which cubes around the nodes of a lattice are free, and which are blocked.
 *
 *   clearance.c   checks the call and the rounding of its nodes; a task for each tile of nodes
 *   cubes.c       halves a tile into blocks of nodes, and answers whole blocks */
#ifndef CAROM_HOST_LATTICE_CUBES_H
#define CAROM_HOST_LATTICE_CUBES_H
#include "cpu/lattice.h"
#include "lattice.h"

/* A checked call. */
typedef struct caromi_cubes {
    carom_mesh *mesh;
    carom_lattice lattice;
    uint64_t slab;         /* nodes of a slab */
    uint64_t begin, count; /* nodes [begin, count), whole slabs */
    caromi_cube cube;
    caromi_bounds free, blocked; /* the limits R + h and R - h */
    uint8_t *out;                /* element 0 is that of node `begin` */
} caromi_cubes;

/* The memory of a thread for a tile, which has CAROMI_TILE nodes along an axis. */
typedef struct caromi_tile caromi_tile;
size_t caromi_tile_size(void);
/* Of the threads' memory, that of one. */
void caromi_tile_begin(caromi_tile *threads, uint32_t thread);
/* How many nodes it has settled in integers. */
uint64_t caromi_tile_settled(const caromi_tile *threads, uint32_t thread);
/* Answers the tile of nodes [first, end) along each axis. */
void caromi_tile_answer(caromi_tile *threads, uint32_t thread, const caromi_cubes *cubes, const uint64_t first[3],
                        const uint64_t end[3]);
#endif
