/* SPDX-License-Identifier: MIT */
/* One node of a volume, as carom bake check compares it. */
#ifndef CAROM_CLI_BAKE_CHECK_H
#define CAROM_CLI_BAKE_CHECK_H

#include "mesh.h"
#include "reference/mesh.h"

/* Its values in every array. */
typedef struct bake_node {
#define BAKE_ARRAY(name, type, components) type name components;
    BAKE_EACH_ARRAY(BAKE_ARRAY)
#undef BAKE_ARRAY
    const char *wrong; /* of the reference, where it judges a value and has none of its own: its sentence */
} bake_node;

typedef struct bake_place {
    const char *path; /* of the file */
    const bake_plan *plan;
    const bake_mesh *mesh;
    uint64_t node; /* its number in the lattice */
    float p[3];
} bake_place;

/* Members of a kind share these, in kinds.c. The batch of a question, for a descriptor of `size` bytes. */
carom_batch bake_batch_of(const bake_question *question, size_t size);
/* The mesh as the reference has it. */
ref_mesh bake_reference_of(const bake_place *at);
/* Whether the reference has the node inside, by the sign of the bake. With `robust` either side is right where the
 * winding number is within 2^-20 of 1/2: then it is `given`. */
int bake_is_inside(const bake_place *at, const ref_mesh *mesh, int given);

#endif
