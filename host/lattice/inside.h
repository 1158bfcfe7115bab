/* SPDX-License-Identifier: MIT */
/* Finds the nodes of a lattice that are inside a mesh. Every column of nodes is one ray along +z. A triangle that
 * crosses it toggles all nodes strictly below the crossing.
 *
 *   crossings.c   finds the crossings of one triangle with the columns of a rectangle
 *   robust.c      where a mesh is open: the nodes that its holes may put on another side than the crossings do
 *   inside.c      sorts the crossings, sums them along each column, keeps a bit for each node of a group of slabs,
 *                 and gives distances their signs */
#ifndef CAROM_HOST_LATTICE_INSIDE_H
#define CAROM_HOST_LATTICE_INSIDE_H
#include "cpu/lattice/rays.h"
#include "lattice.h"

enum { CAROMI_GROUP_SLABS = 256, CAROMI_GROUP_BITS = 8 };

/* The inside bits of a group of slabs [first, first + count). */
typedef struct caromi_inside {
    const caromi_lattice_batch *batch;
    carom_sign sign;
    const int32_t *masks; /* [triangles] 0: left out; NULL: all count */
    float *x, *y, *z;     /* node coordinates along each axis; z: only the group's */
    double per_length;    /* approximate nodes per unit of length: predicts the index of a coordinate */
    uint64_t words;       /* 32-bit words of a row of bits */
    uint64_t capacity;    /* slabs that the bits have room for */
    uint64_t first, count;
    uint32_t *bits;                       /* [count][dims y][words] */
    lattice_rays rays;                    /* the group's columns as rays, without a rectangle */
    int has_rays;                         /* node coordinates are accurate enough for the ray filter */
    char *scratch;                        /* [threads] */
    size_t each;                          /* bytes of one thread's scratch */
    const struct caromi_closing *closing; /* sign rule `robust` on an open mesh; else NULL */
    int8_t *offset;                       /* [count][slab] of the group's nodes, if there is a closing. robust.c */
} caromi_inside;

/* A crossing of a triangle with a column. Nodes [0, level] of the group's column are strictly below it. */
typedef struct caromi_crossing {
    uint32_t key;    /* row << CAROMI_GROUP_BITS | level, the row counted from the rectangle's first */
    uint32_t column; /* counted from the rectangle's first, << 1 | the triangle's normal points down */
} caromi_crossing;

/* A rectangle of columns [i0, i1) x [j0, j1), and the list of its crossings. */
typedef struct caromi_crossings {
    uint64_t i0, i1, j0, j1;
    caromi_crossing *list;
    uint32_t capacity, count;
    int overflows;
    int32_t *levels; /* not NULL: the rectangle is one column, and the crossings' signs are summed here by level */
} caromi_crossings;

/* Adds the crossings of a triangle. crossings.c */
void caromi_cross_triangle(const caromi_inside *inside, const float corners[9], caromi_crossings *to);

/* Sums the crossings of one column by level into scratch.levels, and returns these. inside.c */
int32_t *caromi_cross_column(const caromi_inside *inside, uint32_t thread, uint64_t i, uint64_t j);
/* Corrects the bits of a group, which are those of mesh and closing together. robust.c */
void caromi_robust_group(const caromi_inside *inside);

/* Allocates and prepares the bits. masks: [triangles] or NULL; closing: NULL unless sign rule `robust` needs it. */
carom_status caromi_inside_make(const caromi_lattice_batch *batch, carom_sign sign, const int32_t *masks,
                                const struct caromi_closing *closing, caromi_inside *inside, carom_error *err);
void caromi_inside_free(caromi_inside *inside);
/* The columns as rays over nodes from the coordinate `lowest` on, without a rectangle. Returns whether the error bounds
 * of their filter hold. */
int caromi_lattice_rays(const caromi_lattice_batch *batch, float lowest, lattice_rays *rays);
/* Whether one node of the batch is inside, by its own ray alone. */
int caromi_inside_node(const caromi_inside *inside, uint64_t node);
/* Gives the distances of nodes [first, end), whole slabs, their signs. */
void caromi_inside_sign(caromi_inside *inside, uint64_t first, uint64_t end);
/* Calls `visit`, on all threads, for each row of the nodes [first, end), whole slabs: with the bits of its nodes, of
 * which the first has the number `node`. */
typedef void caromi_inside_row(const void *user, const uint32_t *bits, uint64_t node);
void caromi_inside_rows(caromi_inside *inside, uint64_t first, uint64_t end, caromi_inside_row *visit,
                        const void *user);
#endif
