/* SPDX-License-Identifier: MIT */
/* The members of a mesh: its triangles (host/mesh), the hierarchy over them (host/bvh), its copies on devices
 * (host/opencl). */
#ifndef CAROM_HOST_BVH_MESH_DATA_H
#define CAROM_HOST_BVH_MESH_DATA_H
#include "cpu/mesh/mesh.h"
#include "host/core/context.h"

/* The number of edges that keep a mesh from being closed. Edges are equal if the positions of their ends are. */
typedef struct caromi_boundary_edges {
    int known;           /* the numbers are of the present vertices */
    uint64_t odd;        /* edges at which an odd number of triangles meets */
    uint64_t unbalanced; /* edges along which more triangles run in one direction than in the other */
} caromi_boundary_edges;

/* The patches of a mesh: sets of neighbouring triangles that are nearly coplanar. */
typedef struct caromi_patches {
    uint32_t *given; /* [triangle_count] given by the caller; NULL: none */
    uint32_t *found; /* [triangle_count] computed for the angle `flat` and the present vertices; NULL: not computed */
    double flat;
} caromi_patches;

struct carom_mesh {
    carom_context *context;
    caromi_task end; /* its destruction, if that is left to the context's thread */
    caromi_mesh_view view;
    carom_mesh_info info;
    float *vertices;   /* [3 * vertex_count] the caller's vertices */
    uint32_t *indices; /* [3 * triangle_count] */
    mesh_node *nodes;
    mesh_leaf *leaves;
    struct mesh_clearance *clearance; /* empty-space grid, allocated with its cubes. clearance.c */
    uint64_t clearance_queries;       /* queries reported since the clearance was last discarded */
    int clearance_known;
    int32_t *masks;                    /* [leaf_count][MESH_WIDTH] of the leaves' triangles; NULL: all bits are set */
    uint64_t vertex_count, leaf_count; /* an unindexed leaf counts twice */
    float built_cost;                  /* info.cost after the last build */
    int stack;                         /* entries that a traversal may need */
    caromi_pace paces[CAROMI_MESH_SEARCHES][2]; /* fast, exact */
    caromi_pace lattice_paces[2], clearance_pace;
    uint64_t drop_piece;                  /* columns between reports of progress; caromi_batch.next_piece */
    caromi_boundary_edges boundary_edges; /* lattice/closed.c */
    struct caromi_corners *corners;       /* NULL: not computed. mesh/corners.h */
    struct caromi_edges *edges;           /* NULL: not computed. mesh/edges.h */
    caromi_patches patches;               /* mesh/patches.h */
    /* The caller's memory that holds all arrays except the clearance; NULL: the mesh owns them. image.c */
    const void *image;
    /* The vertices of the last refit on a device, and memory for those of the next one; NULL: there was none. If
     * is_stale, the host's vertices, leaves and nodes are older than these. mesh/follow.c */
    struct caromi_device_memory *moved[2];
    int is_stale;
    /* Its copy on each device; a device may be closed before its copy is released. opencl/mesh.c */
    void *device_copies[CAROM_DEVICES_MAX];
};

/* Whether a triangle index from a device is possible; -1 is no triangle. */
static inline int caromi_can_be(const carom_mesh *mesh, int32_t triangle)
{
    return triangle == -1 || (uint32_t)triangle < mesh->info.triangle_count;
}

static inline const float *caromi_corner(const carom_mesh *mesh, uint32_t triangle, int corner)
{
    return mesh->vertices + 3 * (size_t)mesh->indices[3 * (size_t)triangle + (size_t)corner];
}
#endif
