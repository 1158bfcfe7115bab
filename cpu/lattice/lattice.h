/* SPDX-License-Identifier: MIT */
/* The closest triangle of every node of a tile of a lattice. */
#ifndef CAROM_CPU_LATTICE_LATTICE_H
#define CAROM_CPU_LATTICE_LATTICE_H
#include <math.h>

#include "cpu/mesh/mesh.h"

typedef double wide_real; /* as in kernels/wide.h */
#include "kernels/bound_point.h"

enum { CAROMI_TILE = 32, CAROMI_TILE_NODES = CAROMI_TILE * CAROMI_TILE * CAROMI_TILE };

/* The mesh must lie, and the nodes too, within these powers of two: largest coordinate of the mesh from LEAST to MOST,
 * nodes at most FAR times that. Outside these ranges the proofs do not hold, and nodes are searched for one by one. */
#define CAROMI_LATTICE_LEAST 0x1p-60f
#define CAROMI_LATTICE_MOST 0x1p60f
#define CAROMI_LATTICE_FAR 0x1p20f

/* Two limits, for callers who only want to know which distances are within them. Each limit is a pair, in the caller's
 * unit, and the band is above all. A node whose distance is in a pair, or between `outer_low` and the band, has the
 * same answer as without limits. Another node gets some number on the same side of both pairs, and no triangle. */
typedef struct caromi_lattice_limits {
    float inner_low, inner_high, outer_low; /* ascending; negative: no distance is within that */
} caromi_lattice_limits;

/* Result of a tile: the worst state of its nodes. */
typedef enum caromi_lattice_state {
    CAROMI_LATTICE_BEYOND, /* no node has an answer: all are beyond the band, or no triangle counts */
    CAROMI_LATTICE_DECIDED,
    CAROMI_LATTICE_UNDECIDED /* some nodes are NaN */
} caromi_lattice_state;

/* Node (i, j, k) of a tile is element k * slab + j * row + i of the answers. */
typedef struct caromi_lattice_tile {
    const caromi_mesh_view *mesh;
    const float *vertices;
    const uint32_t *indices;
    int options; /* MESH_TRIANGLE_MASKS, or 0 */
    int exact;
    float band;                          /* +inf: none; the caller's unit */
    const caromi_lattice_limits *limits; /* NULL: none; needs exact mode and a band */
    const float *at[3];                  /* coordinates of the nodes along each axis */
    uint32_t count[3];                   /* 1 to CAROMI_TILE */
    size_t row, slab;
    float *distance;   /* NaN where exact mode is undecided; not written beyond the band, or where no triangle counts */
    int32_t *triangle; /* undefined where the distance is not written or NaN; may be NULL */
    void *scratch;     /* caromi_isa_table.lattice_scratch bytes, aligned to 64 */
} caromi_lattice_tile;

typedef bounding_point caromi_bound_point;
void caromi_bound_point_of(const float corners[9], const double to[3], caromi_bound_point *out);
#endif
