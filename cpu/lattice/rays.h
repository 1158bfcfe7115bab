/* SPDX-License-Identifier: MIT */
/* Searches for the triangles of a mesh that may meet a vertical ray through a column of a lattice. */
#ifndef CAROM_CPU_LATTICE_RAYS_H
#define CAROM_CPU_LATTICE_RAYS_H
#include "cpu/mesh/mesh.h"

typedef double wide_real; /* as in kernels/wide.h */
#include "kernels/lattice_box.h"

typedef struct caromi_rays {
    const caromi_mesh_view *mesh;
    lattice_rays columns;
    /* Receives triangles of a leaf, and the corners of each in the caller's unit. A result of 0 ends the search. */
    int (*found)(void *user, const int32_t *triangles, const float (*corners)[9], uint32_t count);
    void *user;
} caromi_rays;

/* The least spacing, and the greatest error in spacings: outside this range the bounds do not hold. */
#define CAROMI_RAYS_LEAST 0x1p-30f
#define CAROMI_RAYS_ERROR 0.125f
#endif
