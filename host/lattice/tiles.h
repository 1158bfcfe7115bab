/* SPDX-License-Identifier: MIT */
/* Cuts a lattice into tiles for the threads. cpu/lattice/template.h finds the triangles of a tile's nodes; a callback
 * stores them. */
#ifndef CAROM_HOST_LATTICE_TILES_H
#define CAROM_HOST_LATTICE_TILES_H
#include "cpu/lattice/lattice.h"
#include "lattice.h"

/* A thread's memory, followed by `extra` bytes for the callback, then by the scratch of the instruction set's kernel.
 */
typedef struct caromi_tile_memory {
    float distance[CAROMI_TILE_NODES], at[3][CAROMI_TILE];
    int32_t triangle[CAROMI_TILE_NODES];
    uint64_t resolved; /* nodes decided in integers */
    int is_used;       /* whether any distance is not +inf */
    void *extra;
} caromi_tile_memory;

/* The tiles of slabs [first, end). */
typedef struct caromi_tiles caromi_tiles;
/* The callback that answers a tile; first: index of its first node along each axis. */
typedef void caromi_tile_fn(const caromi_tiles *tiles, caromi_lattice_tile *tile, const uint64_t first[3],
                            caromi_tile_memory *own);
struct caromi_tiles {
    const caromi_lattice_batch *batch;
    const caromi_lattice_limits *limits; /* or NULL */
    uint64_t first, end;
    caromi_tile_fn *answer;
    const void *user;
    size_t extra;
    /* set by caromi_tiles_run: */
    char *memory;
    size_t each;               /* bytes of a thread's memory */
    uint64_t edge, numbers[3]; /* nodes along a tile's edge; tiles along each axis */
};

carom_status caromi_tiles_run(const carom_context *context, caromi_tiles *tiles, carom_stats *stats, carom_error *err);
/* Finds the closest triangles of a tile's nodes. Distances (+inf beyond the band) and triangles go to the thread's
 * memory. */
caromi_lattice_state caromi_tile_find(const caromi_tiles *tiles, caromi_lattice_tile *tile, caromi_tile_memory *own);
#endif
