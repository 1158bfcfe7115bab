/* SPDX-License-Identifier: MIT */
/* Searches for the triangles that can decide the height at which a ball, coming down over a column, touches the mesh
 * (docs/drop.md). */
#ifndef CAROM_CPU_LATTICE_DROP_H
#define CAROM_CPU_LATTICE_DROP_H
#include "cpu/mesh/mesh.h"

/* The mesh's largest coordinate must lie within 1 / COORDINATE and COORDINATE, the ball's radius within LEAST and MOST
 * times that, or at 0, and the columns at most FAR times as far away. Outside these ranges the proofs do not hold. */
#define CAROMI_DROP_COORDINATE 0x1p30f
#define CAROMI_DROP_LEAST 0x1p-20f
#define CAROMI_DROP_MOST 0x1p20f
#define CAROMI_DROP_FAR 0x1p20f

/* Most columns of a block, and along its side. */
enum { CAROMI_DROP_BLOCK = 16, CAROMI_DROP_SIDE = 4 };

/* There is a column at every pair of x and y. */
typedef struct caromi_drop_search {
    const caromi_mesh_view *mesh;
    int options; /* MESH_TRIANGLE_MASKS, or 0 */
    float radius;
    const float *x, *y;
    uint32_t nx, ny, side; /* blocks of side^2 columns share a traversal */
    uint32_t stride;       /* column (i, j) has the slot j * stride + i */
    double *low, *high;    /* bounds of each column's height, by slot; triangles raise them */
    /* Raises a column's bounds by a triangle that the lanes could not bound tightly. */
    void (*bound)(void *user, uint32_t slot, const float corner[9]);
    void *user;
} caromi_drop_search;
#endif
