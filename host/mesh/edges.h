/* SPDX-License-Identifier: MIT */
/* The tables of triangles at each edge, and the culling data for contacts that follows from them. Edges with equal
 * positions of their ends are one edge. */
#ifndef CAROM_HOST_MESH_EDGES_H
#define CAROM_HOST_MESH_EDGES_H
#define LANES 1
#include "kernels/mesh_cones.h"

#include "corners.h"

/* Sizes of mesh_sources, mesh_across and mesh_around of a mesh with such a width. */
#define CAROMI_SOURCES_BYTES(width) (MESH_SOURCES((size_t)(width)) * sizeof(uint32_t))
#define CAROMI_ACROSS_BYTES(width) (3 * (size_t)(width) * sizeof(uint32_t))
#define CAROMI_AROUND_BYTES(width) (MESH_AROUND((size_t)(width)) * sizeof(uint32_t))

/* The data by which a search for contacts culls triangles. */
typedef struct caromi_culling {
    void *opposites;  /* [leaves] mesh_opposites of the mesh's width */
    void *sources;    /* [leaves] mesh_sources of that width */
    void *across;     /* [leaves] mesh_across; NULL: no corner has six triangles or more */
    void *cones;      /* [nodes] mesh_cones */
    mesh_face *faces; /* [triangles] */
    int has_cones;
} caromi_culling;

/* Kinds of queries with culling data of their own: any query; queries without masks, if triangles have masks. */
enum { CAROMI_ANY_QUERY, CAROMI_UNMASKED_QUERY };

/* A mesh caches its edges from the first call that needs them, as long as it caches its corners. */
typedef struct caromi_edges {
    const caromi_corners *corners;
    int is_old;         /* culling is missing, or vertices have moved since */
    uint32_t *position; /* [3 triangles] position of each corner */
    /* [3 triangles] the next triangle at the edge between corners k and k + 1. The edge's triangles form a ring: each
     * comes once, in descending order, and the lowest leads to the highest */
    uint32_t *next;
    uint8_t *twins; /* a bit for each triangle; 0: no other triangle has the same three corners */
    uint32_t
        *twin;     /* [triangles] the next triangle with the same corners, in rings like `next`; NULL: there are none */
    int32_t *mask; /* [triangles] mask; NULL: all bits are set */
    void *around;  /* [leaves] mesh_around of the mesh's width; computed and freed with culling */
    caromi_culling culling[2];
} caromi_edges;

/* The mesh's edges and corners, computed if they are not cached. CAROM_ERROR_CANCELLED, without a sentence, if the
 * caller's progress function ends the call meanwhile. */
carom_status caromi_edges_of(carom_mesh *mesh, const caromi_edges **edges, carom_error *err);
/* Bytes of the cached edges, without the corners; 0 if there are none. */
uint64_t caromi_edges_bytes(const carom_mesh *mesh);
/* Marks the culling data as outdated, as vertices have moved. */
void caromi_edges_move(carom_mesh *mesh);
/* Discards the culling data of leaves, as the hierarchy changes. */
void caromi_edges_forget_leaves(carom_mesh *mesh);
/* Discards all that follows from the masks of triangles, as these change; rings stay. */
void caromi_edges_forget_masks(carom_mesh *mesh);
void caromi_edges_forget(carom_mesh *mesh);

/* The triangle across corner k: at that corner, with a mask that counts wherever this one's does, and with an edge from
 * the corner to *corner that points away from this triangle. Returns `triangle` if there is none. across.c */
uint32_t caromi_edges_across(const caromi_edges *e, uint32_t triangle, int k, int queries, int *corner);
/* Whether any triangle may have one across a corner. */
int caromi_edges_have_across(const caromi_edges *e);
enum { CAROMI_NEW_DATA, CAROMI_MOVED_VERTICES }; /* whether only vertices have changed since the data was filled */
/* Makers of culling data, compiled for each width: culling_8.c, culling_16.c. */
typedef struct caromi_culling_makers {
    /* Fills e->culling[queries].opposites, or updates them to moved vertices. */
    void (*opposites)(const carom_mesh *mesh, const caromi_edges *e, int queries, int moves);
    /* Fills e->culling[queries].faces and cones from the rest of e; no cones if only few children would have one.
     * Returns 0 if there is no memory. */
    int (*cones)(const carom_mesh *mesh, caromi_edges *e, int queries, int moves);
} caromi_culling_makers;
extern const caromi_culling_makers caromi_culling_makers_8, caromi_culling_makers_16;

/* The positions of a triangle's corners in ascending order. */
void caromi_edges_sorted_corners(const caromi_edges *edges, uint32_t triangle, uint32_t p[3]);
/* Whether two triangles have the same three corners, in any order. */
int caromi_edges_same_corners(const caromi_edges *e, uint32_t a, uint32_t b);

static inline uint32_t caromi_edge_position(const caromi_edges *edges, uint32_t triangle, int corner)
{
    return edges->position[3 * (size_t)triangle + (size_t)corner];
}
static inline int caromi_edges_has_twin(const caromi_edges *edges, uint32_t triangle)
{
    return edges->twins[triangle / 8] >> triangle % 8 & 1;
}
/* Whether `other` counts for every query of that kind for which the triangle counts. */
static inline int caromi_edges_counts_with(const caromi_edges *edges, uint32_t other, uint32_t triangle, int queries)
{
    if (edges->mask == NULL)
        return 1;
    return queries == CAROMI_UNMASKED_QUERY ? edges->mask[other] != 0
                                            : (edges->mask[triangle] & ~edges->mask[other]) == 0;
}
/* The culling data for a batch whose queries have masks or not. */
static inline const caromi_culling *caromi_culling_of(const caromi_edges *edges, int have_masks)
{
    return &edges->culling[edges->mask != NULL && !have_masks ? CAROMI_UNMASKED_QUERY : CAROMI_ANY_QUERY];
}
/* The triangle's first edge between these positions; -1: it has none. */
static inline int caromi_edge_between(const caromi_edges *edges, uint32_t triangle, uint32_t a, uint32_t b)
{
    const uint32_t *p = edges->position + 3 * (size_t)triangle;
    for (int k = 0; k < 3; k++) {
        const uint32_t from = p[k], to = p[(k + 1) % 3];
        if ((from == a && to == b) || (from == b && to == a))
            return k;
    }
    return -1;
}
#endif
