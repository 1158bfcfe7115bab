/* SPDX-License-Identifier: MIT */
/* Searches for the triangles of a mesh that may meet a vertical ray through a column of a lattice. */
#ifndef CAROM_CPU_LATTICE_RAYS_H
#define CAROM_CPU_LATTICE_RAYS_H
#include "cpu/mesh/mesh.h"

/* Columns [first, end) along x and y, numbered from 0. Lengths are in the mesh's unit. */
typedef struct caromi_rays {
    const caromi_mesh_view *mesh;
    float origin[2];           /* position of column 0, with an error of at most `error` */
    float spacing, per_length; /* distance of columns; its reciprocal */
    float error;               /* bounds all roundings of a position; docs/volumes.md */
    float first[2], end[2];
    float lowest; /* triangles that end below do not count */
    /* Receives triangles of a leaf, and the corners of each in the caller's unit. A result of 0 ends the search. */
    int (*found)(void *user, const int32_t *triangles, const float (*corners)[9], uint32_t count);
    void *user;
} caromi_rays;

/* The least spacing, and the greatest error in spacings: outside this range the bounds do not hold. */
#define CAROMI_RAYS_LEAST 0x1p-30f
#define CAROMI_RAYS_ERROR 0.125f
#endif
