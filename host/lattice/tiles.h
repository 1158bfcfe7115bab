/* SPDX-License-Identifier: MIT */
/* The tiles of a lattice, shared among threads. cpu/lattice/template.h finds the triangles of a tile's nodes; the
 * caller decides where they go. */
#ifndef CAROM_HOST_LATTICE_TILES_H
#define CAROM_HOST_LATTICE_TILES_H
#include "cpu/lattice/lattice.h"
#include "lattice.h"

/* A thread's memory; then `extra` bytes of the caller, then the scratch of the instruction set. */
typedef struct caromi_tile_memory {
    float distance[CAROMI_TILE_NODES], at[3][CAROMI_TILE];
    int32_t triangle[CAROMI_TILE_NODES];
    uint64_t settled; /* in integers */
    int is_used;      /* a distance is not +inf */
    void *extra;
} caromi_tile_memory;

/* The tiles of the whole slabs [first, end). */
typedef struct caromi_tiles caromi_tiles;
/* Answers a tile whose first node is this. */
typedef void caromi_tile_fn(const caromi_tiles *tiles, caromi_lattice_tile *tile, const uint64_t first[3],
                            caromi_tile_memory *own);
struct caromi_tiles {
    const caromi_lattice_batch *batch;
    const caromi_lattice_limits *limits; /* or NULL */
    uint64_t first, end;
    caromi_tile_fn *answer;
    const void *user;
    size_t extra;
    /* of caromi_tiles_run */
    char *memory;
    size_t each;               /* bytes of a thread's memory */
    uint64_t edge, numbers[3]; /* of a tile; of tiles along each axis */
};

carom_status caromi_tiles_run(const carom_context *context, caromi_tiles *tiles, carom_stats *stats, carom_error *err);
/* Finds the triangles of a tile. Its distances go to the thread's memory, +inf beyond the band, as do the triangles. */
caromi_lattice_state caromi_tile_find(const caromi_tiles *tiles, caromi_lattice_tile *tile, caromi_tile_memory *own);
#endif
