/* SPDX-License-Identifier: MIT */
/* Which triangles can decide the height of a ball that comes down over one column (docs/drop.md). */
#ifndef CAROM_CPU_DROP_H
#define CAROM_CPU_DROP_H
#include "mesh.h"

/* The mesh's largest coordinate must lie within 1 / COORDINATE and COORDINATE, the ball's radius within LEAST and MOST
 * times that, and the columns at most FAR times as far away. Otherwise nothing of the proofs holds. */
#define CAROMI_DROP_COORDINATE 0x1p30f
#define CAROMI_DROP_LEAST 0x1p-20f
#define CAROMI_DROP_MOST 0x1p20f
#define CAROMI_DROP_FAR 0x1p20f

enum { CAROMI_DROP_ROOM = 64 };

typedef struct caromi_drop_column {
    const caromi_mesh_view *mesh;
    int options; /* MESH_TRIANGLE_MASKS, or 0 */
    float x, y, radius;
    int count;                          /* of the triangles; -1: they are too many */
    int32_t triangle[CAROMI_DROP_ROOM]; /* all that may lead highest */
    float upper[CAROMI_DROP_ROOM];      /* upper bounds of the heights to which they lead */
} caromi_drop_column;
#endif
