/* SPDX-License-Identifier: MIT */
/* Which triangles meet at a corner. Corners are the same if their positions are: -0 is 0. */
#ifndef CAROM_HOST_MESH_CORNERS_H
#define CAROM_HOST_MESH_CORNERS_H
#include "host/bvh/mesh_data.h"

/* position[v], for each vertex: the lowest vertex in the same place. */
carom_status caromi_find_positions(const carom_mesh *mesh, uint32_t *position, carom_error *err);

/* A mesh keeps its own from the first call that needs them until corners come to coincide, or no longer do. */
typedef struct caromi_corners {
    const carom_mesh *mesh;
    int is_old;         /* vertices have moved since then */
    uint32_t *position; /* of each vertex */
    uint64_t *start;    /* [vertices + 1] of the triangles at each position */
    uint32_t *triangle; /* ascending at each position; once for each corner there */
} caromi_corners;

/* Those of the mesh, found if they are not known. Only the context's calls read them, one at a time. */
carom_status caromi_corners_of(carom_mesh *mesh, const caromi_corners **corners, carom_error *err);
/* Bytes that they take; 0 if they are not known. */
uint64_t caromi_corners_bytes(const carom_mesh *mesh);
/* Vertices have moved. */
void caromi_corners_move(carom_mesh *mesh);
/* With what is known of edges. */
void caromi_corners_forget(carom_mesh *mesh);

static inline uint32_t caromi_corner_position(const caromi_corners *c, uint32_t triangle, int corner)
{
    return c->position[c->mesh->indices[3 * (size_t)triangle + (size_t)corner]];
}
#endif
