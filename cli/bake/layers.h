/* SPDX-License-Identifier: MIT */
/* A slab that takes long is written and recorded in steps: its first layers, then more. A record in the journal says
 * how many layers stand in OUT.partial, so a signal waits for a step and not for the slab, and --resume goes on behind
 * it. A carom that does not know such records computes the slab again. */
#ifndef CAROM_CLI_BAKE_LAYERS_H
#define CAROM_CLI_BAKE_LAYERS_H

#include "partial.h"

/* Nodes of a layer of a slab's box. */
uint64_t bake_layer_nodes(const bake_plan *plan, const carom_lattice *box);
/* The first layers of a slab that is not done: how many, and their checksum. No layers: none. */
typedef struct bake_layers {
    uint64_t slab, count, sum;
} bake_layers;

/* Layers of slabs that an earlier run has left. */
bake_layers bake_layers_find(const bake_partial *p);
/* Read them to the slab. Returns how many there are, 0 with a message if they do not have their checksum. */
uint64_t bake_layers_read(const bake_partial *p, const bake_layers *there, const bake_slab *to);
/* Write layers [first, end) of a slab, and the record that all before `end` are there. Returns an exit status with the
 * message printed. */
int bake_layers_put(bake_partial *p, uint64_t slab, uint64_t first, uint64_t end, const bake_slab *from);

#endif
