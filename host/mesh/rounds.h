/* SPDX-License-Identifier: MIT */
/* The rounds in which bundles are answered (bundle.c): which queries are in which round. Round query j * left + i is
 * number (at + j * step) % size of the bundle that is i-th among those left. */
#ifndef CAROM_HOST_MESH_ROUNDS_H
#define CAROM_HOST_MESH_ROUNDS_H
#include "batch.h"

/* The sizes of the rounds, which depend on who answers them. */
typedef struct caromi_round_sizes {
    uint32_t bundles; /* most bundles that are answered together */
    uint32_t least;   /* queries of a round, if so many are left */
    uint32_t most;    /* queries of a round */
} caromi_round_sizes;
/* Of a device: fewer queries do not pay for a launch. */
extern const caromi_round_sizes caromi_device_rounds;

/* Bundles that are answered together, and their present round. */
typedef struct caromi_rounds {
    uint64_t first;      /* first query of the first bundle */
    uint32_t size, step; /* queries of a bundle; stride of their order */
    uint32_t least;      /* as above */
    uint32_t capacity;   /* most queries of a round */
    uint32_t most;       /* bundles at a time */
    uint32_t count;      /* bundles */
    uint32_t left;       /* those of the round */
    uint32_t asked;      /* queries of each that were in rounds, this one included */
    uint32_t at;         /* number in its bundle of the round's first query */
    uint32_t members;    /* queries of each bundle in this round */
} caromi_rounds;

/* The rounds of so many queries of a batch. */
caromi_rounds caromi_rounds_of(const caromi_mesh_batch *batch, uint64_t queries, const caromi_round_sizes *sizes);
/* Begins with the bundles from query `first` on. */
void caromi_rounds_begin(caromi_rounds *rounds, uint64_t first, uint64_t end);
/* Goes on to the next round. Returns its queries; 0: there is none. */
uint32_t caromi_rounds_next(caromi_rounds *rounds);
/* The indices of the batch's columns: columns without a stride have none, and all others the same. */
caromi_index caromi_rounds_select(const caromi_mesh_batch *batch);
/* The present round as a batch of single queries, with the outputs of the whole batch. element: of each query, which
 * element of the batch's columns it reads: that of the selection, or else its number from `first` on. */
void caromi_round_batch(const caromi_rounds *rounds, const caromi_mesh_batch *batch, const uint32_t *element,
                        caromi_mesh_batch *round);
#endif
