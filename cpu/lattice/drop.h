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

/* The triangles that may touch the ball first over a column, with bounds of their heights: all whose upper bound is not
 * below the highest lower bound. */
enum { CAROMI_DROP_FOUND = 12 };
typedef struct caromi_drop_found {
    double low; /* the highest lower bound */
    int count;  /* more than CAROMI_DROP_FOUND: there was no room for all, and the arrays count for nothing */
    int32_t triangle[CAROMI_DROP_FOUND];
    double lows[CAROMI_DROP_FOUND], highs[CAROMI_DROP_FOUND];
} caromi_drop_found;

/* Adds a triangle, and removes those that are certainly lower. */
static inline void caromi_drop_find(caromi_drop_found *found, int32_t triangle, double low, double high)
{
    int left = 0;
    if (!(high >= found->low) || found->count > CAROMI_DROP_FOUND)
        return;
    found->low = low > found->low ? low : found->low;
    for (int i = 0; i < found->count; i++) {
        if (found->highs[i] < found->low)
            continue;
        found->triangle[left] = found->triangle[i];
        found->lows[left] = found->lows[i];
        found->highs[left++] = found->highs[i];
    }
    if (left < CAROMI_DROP_FOUND) {
        found->triangle[left] = triangle;
        found->lows[left] = low;
        found->highs[left] = high;
    }
    found->count = left + 1;
}

/* There is a column at every pair of x and y, or, of a list, at (x[i], y[i]). */
typedef struct caromi_drop_search {
    const caromi_mesh_view *mesh;
    int options; /* MESH_TRIANGLE_MASKS, or 0 */
    float radius;
    int is_list;         /* nx columns, ny and side are 1 */
    const int32_t *mask; /* [nx] of a list, with MESH_TRIANGLE_MASKS; NULL: all bits are set */
    const float *x, *y;
    uint32_t nx, ny, side;    /* blocks of side^2 columns share a traversal */
    uint32_t stride;          /* column (i, j) has the slot j * stride + i */
    double *low, *high;       /* bounds of each column's height, by slot; triangles raise them */
    caromi_drop_found *found; /* by slot; NULL: not wanted */
    /* Raises a column's bounds by a triangle that the lanes could not bound tightly. */
    void (*bound)(void *user, uint32_t slot, int32_t triangle, const float corner[9]);
    void *user;
} caromi_drop_search;
#endif
