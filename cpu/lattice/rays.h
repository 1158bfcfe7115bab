/* SPDX-License-Identifier: MIT */
/* Which triangles of a mesh may meet a vertical ray through a column of a lattice. */
#ifndef CAROM_CPU_LATTICE_RAYS_H
#define CAROM_CPU_LATTICE_RAYS_H
#include "cpu/mesh/mesh.h"

/* Columns [first, end) along x and y, numbered from 0. Lengths are in the mesh's unit. */
typedef struct caromi_rays {
    const caromi_mesh_view *mesh;
    float origin[2];           /* where column 0 is, but for `error` */
    float spacing, per_length; /* of columns; its reciprocal */
    float error;               /* bounds all roundings of a place; docs/volumes.md */
    float first[2], end[2];
    float lowest; /* triangles that end below do not count */
    /* Is given the triangles of a leaf, and the corners of each in the caller's unit; 0 ends the search. */
    int (*found)(void *user, const int32_t *triangles, const float (*corners)[9], uint32_t count);
    void *user;
} caromi_rays;

/* The least spacing, and the greatest error in spacings: otherwise nothing of the bounds holds. */
#define CAROMI_RAYS_LEAST 0x1p-30f
#define CAROMI_RAYS_ERROR 0.125f
#endif
