/* SPDX-License-Identifier: MIT */
/* Which triangles meet at an edge. Edges are the same if the positions of their ends are. */
#ifndef CAROM_HOST_MESH_EDGES_H
#define CAROM_HOST_MESH_EDGES_H
#include "corners.h"

/* A triangle that may be under a cone. In `along` beside the bits of edges: each edge belongs to one other triangle,
 * which counts alike. */
enum { CAROMI_FACE_WHOLE = 8 };
typedef struct caromi_face {
    float normal[3], length; /* the longest edge; 0: no normal is known */
    float height, ratio;     /* the least height; 0: it is under no cone; height / length */
    uint32_t along;          /* a bit for each edge: the other triangle runs along it in the same direction; cones.c */
} caromi_face;

/* The vertices of mesh_opposites.at, UINT32_MAX behind the last. Of an unindexed leaf two of these, which are one list
 * of the three of each triangle. */
typedef struct caromi_sources {
    uint32_t vertex[3 * MESH_WIDTH / 2];
} caromi_sources;

/* The triangle across each corner of a leaf's; UINT32_MAX: none. */
typedef struct caromi_across {
    uint32_t triangle[3][MESH_WIDTH];
} caromi_across;

/* The triangles at the corners of a leaf's, once each; UINT32_MAX behind the last. Of an unindexed leaf two of these
 * are one list. cones.c */
typedef struct caromi_around {
    uint32_t triangle[4 * MESH_WIDTH];
} caromi_around;

/* What a search for contacts leaves out triangles by. */
typedef struct caromi_left_out {
    mesh_opposites *opposites; /* [leaves] */
    caromi_sources *sources;   /* [leaves] */
    caromi_across *across;     /* [leaves]; NULL: there are no corners of so many triangles */
    mesh_cones *cones;         /* [nodes]; cones.c */
    caromi_face *faces;        /* [triangles] */
    int has_cones;
} caromi_left_out;

/* For any query; for those without masks, where triangles have some. */
enum { CAROMI_ANY_QUERY, CAROMI_UNMASKED_QUERY };

/* A mesh keeps its own from the first call that needs them as long as it keeps its corners. */
typedef struct caromi_edges {
    const caromi_corners *corners;
    int is_old;         /* left_out is of vertices that have moved, or there is none */
    uint32_t *position; /* [3 triangles] of each corner */
    /* [3 triangles] the next triangle at edge k, k + 1, in a ring that holds each of them once, and descends but for
     * the step from the lowest to the highest */
    uint32_t *next;
    uint8_t *twins;        /* a bit for each triangle: 0 if no other one has the same three corners */
    uint32_t *twin;        /* [triangles] the next such triangle, in rings like those; NULL: no triangle has any */
    int32_t *mask;         /* of each triangle; NULL: all bits are set */
    caromi_around *around; /* [leaves]; filled and freed with left_out */
    caromi_left_out left_out[2];
} caromi_edges;

/* Those of the mesh, found if they are not known, with the corners. */
carom_status caromi_edges_of(carom_mesh *mesh, const caromi_edges **edges, carom_error *err);
/* Bytes that they take, without the corners; 0 if they are not known. */
uint64_t caromi_edges_bytes(const carom_mesh *mesh);
/* Vertices have moved. */
void caromi_edges_move(carom_mesh *mesh);
/* The hierarchy is going to be another one. */
void caromi_edges_forget_leaves(carom_mesh *mesh);
void caromi_edges_forget(carom_mesh *mesh);

/* A triangle at corner k that counts where this one does, with an edge from there to *corner, away from this one; its
 * own number: there is none. across.c */
uint32_t caromi_edges_across(const caromi_edges *e, uint32_t triangle, int k, int queries, int *corner);
/* Whether there may be any. */
int caromi_edges_have_across(const caromi_edges *e);
/* Whether `other` has the shape that is relied on for one across corner k. */
int caromi_edges_may_be_across(const caromi_edges *e, uint32_t triangle, int k, uint32_t other,
                               const caromi_face *face);
/* Fill e->left_out[queries].opposites, or move them with the vertices; opposites.c */
void caromi_edges_fill_opposites(const carom_mesh *mesh, const caromi_edges *e, int queries);
void caromi_edges_move_opposites(const carom_mesh *mesh, const caromi_edges *e, int queries);
/* Fills e->left_out[queries].faces and cones from the rest of e; cones.c. There are none where few would be. moves:
 * only vertices have changed. 0: no memory. */
int caromi_edges_fill_cones(const carom_mesh *mesh, caromi_edges *e, int queries, int moves);

/* Whether both have the same three corners, in any order. */
int caromi_edges_same_corners(const caromi_edges *e, uint32_t a, uint32_t b);

static inline uint32_t caromi_edge_position(const caromi_edges *e, uint32_t triangle, int corner)
{
    return e->position[3 * (size_t)triangle + (size_t)corner];
}
static inline int caromi_edges_has_twin(const caromi_edges *e, uint32_t triangle)
{
    return e->twins[triangle / 8] >> triangle % 8 & 1;
}
/* Whether `other` counts for every such query for which the triangle counts. */
static inline int caromi_edges_counts_with(const caromi_edges *e, uint32_t other, uint32_t triangle, int queries)
{
    if (e->mask == NULL)
        return 1;
    return queries == CAROMI_UNMASKED_QUERY ? e->mask[other] != 0 : (e->mask[triangle] & ~e->mask[other]) == 0;
}
/* For the queries of a batch, that have masks or do not. */
static inline const caromi_left_out *caromi_left_out_of(const caromi_edges *e, int have_masks)
{
    return &e->left_out[e->mask != NULL && !have_masks ? CAROMI_UNMASKED_QUERY : CAROMI_ANY_QUERY];
}
/* The triangle's first edge between these positions; -1: it has none. */
static inline int caromi_edge_between(const caromi_edges *e, uint32_t triangle, uint32_t a, uint32_t b)
{
    const uint32_t *p = e->position + 3 * (size_t)triangle;
    for (int k = 0; k < 3; k++) {
        const uint32_t from = p[k], to = p[(k + 1) % 3];
        if ((from == a && to == b) || (from == b && to == a))
            return k;
    }
    return -1;
}
#endif
