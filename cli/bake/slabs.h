/* SPDX-License-Identifier: MIT */
/* How the slabs of a volume are baked: by this process alone, or by several together (cli/mpi). */
#ifndef CAROM_CLI_BAKE_SLABS_H
#define CAROM_CLI_BAKE_SLABS_H

#include "mesh.h"
#include "partial.h"

/* Computes slabs, one after another. */
typedef struct bake_worker {
    const bake_request *options;
    const bake_mesh *mesh;
    bake_question question; /* the box is the slab in work */
    bake_slab slab;         /* its answers */
    uint64_t layers;        /* of it, that are answered: for the progress to set, if that ends questions */
    int has_asked;
} bake_worker;

bake_question bake_question_of(const bake_request *options, const bake_plan *plan);
/* Those that return an int: an exit status with the message printed. bake_worker_close in any case. */
int bake_worker_open(bake_worker *w, const bake_request *options, const bake_mesh *mesh, const bake_plan *plan);
int bake_worker_ask(bake_worker *w, uint64_t slab);
/* Its layers from `first` on alone. EXIT_STOPPED: progress ended it, nothing is printed. */
int bake_worker_ask_layers(bake_worker *w, uint64_t slab, uint64_t first);
void bake_worker_close(bake_worker *w);

/* Bytes of a bake: the buffers of a slab, which has so many nodes at most; the mesh twice (as read, and in the
 * hierarchy); and the list of slabs. Returns an exit status with the message printed. */
typedef struct bake_memory {
    uint64_t nodes, slab, input, list;
} bake_memory;
int bake_memory_of(const bake_plan *plan, const bake_mesh *mesh, bake_memory *out);

/* Who bakes. */
typedef struct bake_crew {
    int is_many;      /* processes, which under --backend auto would all take the same device: they take none */
    uint32_t threads; /* of this process where --threads is not given; 0: one for each core */
    /* Bake the slabs that the file lacks. The mesh is open, and may be opened anew in another place. */
    int (*bake)(const bake_request *options, bake_mesh *mesh, bake_partial *partial);
} bake_crew;

/* This process alone, unless main() sets another before a command runs. */
extern const bake_crew *bake_crew_here;

#endif
