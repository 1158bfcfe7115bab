/* SPDX-License-Identifier: MIT */
/* The table of triangles at each corner. Vertices with equal coordinates are one position; -0 equals 0. */
#ifndef CAROM_HOST_MESH_CORNERS_H
#define CAROM_HOST_MESH_CORNERS_H
#include "host/bvh/mesh_data.h"

/* Computes position[v] of each vertex v: the lowest vertex with the same coordinates. */
carom_status caromi_find_positions(const carom_mesh *mesh, uint32_t *position, carom_error *err);

/* A mesh caches its table from the first call that needs it, until a move makes other vertices coincide. */
typedef struct caromi_corners {
    const carom_mesh *mesh;
    int is_old;         /* vertices have moved: the table must be checked before use */
    uint32_t *position; /* [vertices] lowest vertex with the same coordinates */
    uint64_t *start;    /* [vertices + 1] first triangle of each position */
    uint32_t *triangle; /* triangles, ascending at each position; once for each corner that a triangle has there */
} caromi_corners;

/* The mesh's table, computed if it is not cached. Only calls of the context use it, one at a time. */
carom_status caromi_corners_of(carom_mesh *mesh, const caromi_corners **corners, carom_error *err);
/* Bytes of the cached table; 0 if there is none. */
uint64_t caromi_corners_bytes(const carom_mesh *mesh);
/* Marks the table as outdated, as vertices have moved. */
void caromi_corners_move(carom_mesh *mesh);
/* Discards the table, and the edges that depend on it. */
void caromi_corners_forget(carom_mesh *mesh);

static inline uint32_t caromi_corner_position(const caromi_corners *corners, uint32_t triangle, int corner)
{
    return corners->position[corners->mesh->indices[3 * (size_t)triangle + (size_t)corner]];
}
#endif
