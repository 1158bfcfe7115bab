/* SPDX-License-Identifier: MIT */
/* Transforms of nodes, for the readers of formats that have them: binary64 throughout, one rounding at the end. */
#ifndef CAROM_CLI_IMPORT_PLACE_H
#define CAROM_CLI_IMPORT_PLACE_H

#include "import.h"

typedef struct mesh_matrix {
    double m[3][4]; /* the affine part, row major */
} mesh_matrix;

/* Counted over the parts of a mesh, for its notes. */
typedef struct mesh_placed {
    uint64_t moved, mirrored, skinned;
} mesh_placed;

extern const mesh_matrix mesh_matrix_identity;

mesh_matrix mesh_matrix_multiply(const mesh_matrix *a, const mesh_matrix *b);
int mesh_matrix_is_identity(const mesh_matrix *a);
/* An identity leaves the bits of a float alone; otherwise one product in binary64, rounded once. */
void mesh_matrix_apply(const mesh_matrix *a, int identity, const double v[3], float xyz[3]);

/* If the map mirrors, exchange corners 1 and 2 of the triangles from `first` on, which it has placed. */
void mesh_placed_turn(const mesh_matrix *a, mesh_data *mesh, uint64_t first);
void mesh_placed_count(mesh_placed *placed, const mesh_matrix *a, int skinned);
void mesh_placed_note(const mesh_placed *placed, mesh_data *mesh);

#endif
