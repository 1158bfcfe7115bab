/* SPDX-License-Identifier: MIT */
/* A box of lattice nodes that a device answers tile by tile: layouts that kernels and host agree on. */
#ifndef CAROM_LATTICE_BOX_H
#define CAROM_LATTICE_BOX_H

/* Nodes of a tile: a work-group has an item for each. */
#define LATTICE_TILE 64

/* A box has count[k] nodes along axis k, in tiles of 2^shift[k]: 64 nodes each. */
typedef struct lattice_box {
    wide_real origin[3], spacing;
    unsigned long first[3];  /* index of its first node along each axis, in the grid whose origin that is */
    unsigned long at;        /* the first node's element of the answers; the others follow, modulo 2^64 */
    unsigned long row, slab; /* steps of elements along y and z */
    unsigned long elements;  /* nodes of higher elements have no answer */
    unsigned int count[3], shift[3];
    unsigned int tiles[2]; /* along x and y */
} lattice_box;

/* Columns [first, end) along x and y, numbered from 0. Lengths are in the mesh's unit. */
typedef struct lattice_rays {
    float origin[2];           /* position of column 0, with an error of at most `error` */
    float spacing, per_length; /* distance of columns; its reciprocal */
    float error;               /* bounds all roundings of a position; docs/volumes.md */
    float first[2], end[2];
    float lowest; /* triangles that end below do not count */
} lattice_rays;
#endif
