/* SPDX-License-Identifier: MIT */
/* The edges of a mesh, equal ones together. Edges are equal if the positions of their ends are; an edge without length
 * is none. */
#ifndef CAROM_HOST_MESH_OPEN_EDGES_H
#define CAROM_HOST_MESH_OPEN_EDGES_H
#include "host/bvh/mesh_data.h"

/* Triangles that count. */
typedef struct caromi_selection {
    const int32_t *masks; /* [triangles]; NULL: all triangles count */
    int32_t mask;         /* a triangle counts if it shares a bit */
} caromi_selection;

/* The edges of the triangles that count, grouped by the lower of their two positions. */
typedef struct caromi_edge_sort {
    const carom_mesh *mesh;
    caromi_selection selection;
    uint32_t *position; /* [vertices] the lowest vertex with the same coordinates */
    uint64_t *start;    /* [positions + 1] first edge of each position (prefix sum) */
    uint64_t *edge;     /* other end << 1 | whether the edge runs towards its lower end; ascending */
} caromi_edge_sort;

/* Equal edges. */
typedef struct caromi_edge_group {
    uint32_t low, high;     /* positions */
    uint64_t forward, back; /* triangles that run from low to high, and from high to low */
} caromi_edge_group;

carom_status caromi_edge_sort_make(const carom_mesh *mesh, caromi_selection selection, caromi_edge_sort *edges,
                                   carom_error *err);
void caromi_edge_sort_free(caromi_edge_sort *edges);
/* Calls `visit` for each group, in one order for each mesh and selection. */
void caromi_edge_sort_visit(const caromi_edge_sort *edges, void (*visit)(void *user, const caromi_edge_group *group),
                            void *user);
#endif
