/* SPDX-License-Identifier: MIT */
/* Which nodes of a lattice are inside a mesh. Every column of nodes is one ray along +z: a triangle that crosses it
 * toggles all nodes strictly below the crossing.
 *
 *   crossings.c   where one triangle crosses the columns of a rectangle of them
 *   inside.c      sorts the crossings, sums them up along each column, keeps a bit for each node of a group of slabs,
 *                 and gives distances their signs */
#ifndef CAROM_HOST_LATTICE_INSIDE_H
#define CAROM_HOST_LATTICE_INSIDE_H
#include "cpu/lattice/rays.h"
#include "lattice.h"

enum { CAROMI_GROUP_SLABS = 256, CAROMI_GROUP_BITS = 8 };

/* Slabs [first, first + count), of which bits are known. */
typedef struct caromi_inside {
    const caromi_lattice_batch *batch;
    carom_sign sign;
    const int32_t *masks; /* of the triangles; NULL: all count */
    float *x, *y, *z;     /* coordinates along each axis; z those of the group */
    double per_length;    /* nodes, about: guesses where a coordinate lies */
    uint64_t words;       /* of a row of bits */
    uint64_t room;        /* slabs that fit */
    uint64_t first, count;
    uint32_t *bits;   /* [count][dims y][words] */
    caromi_rays rays; /* of the group, without a rectangle */
    int has_rays;     /* places are precise enough */
    char *scratch;    /* of each thread */
    size_t each;      /* bytes of it */
} caromi_inside;

/* A crossing. Nodes [0, level] of the group's column are strictly below it. */
typedef struct caromi_crossing {
    uint32_t key;    /* row << CAROMI_GROUP_BITS | level, the row counted from the rectangle's first */
    uint32_t column; /* counted from the rectangle's first, << 1 | the triangle's normal points down */
} caromi_crossing;

/* Columns [i0, i1) x [j0, j1), and where their crossings go. */
typedef struct caromi_crossings {
    uint64_t i0, i1, j0, j1;
    caromi_crossing *list;
    uint32_t room, count;
    int overflows;
    int32_t *levels; /* if not NULL: the rectangle is one column, and crossings are added up here by their levels */
} caromi_crossings;

/* Adds those of a triangle with these corners. crossings.c */
void caromi_cross_triangle(const caromi_inside *inside, const float corners[9], caromi_crossings *to);

/* masks: of the triangles, or NULL. */
carom_status caromi_inside_make(const caromi_lattice_batch *batch, carom_sign sign, const int32_t *masks,
                                caromi_inside *inside, carom_error *err);
void caromi_inside_free(caromi_inside *inside);
/* Give the distances of the whole slabs among nodes [first, end) their signs. */
void caromi_inside_sign(caromi_inside *inside, uint64_t first, uint64_t end);
#endif
