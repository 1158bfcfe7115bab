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
    uint32_t *of;    /* [triangle_count] the patch of each triangle; NULL: not computed */
    double flat;     /* angle up to which neighbours are joined */
    float within;    /* distance up to which they are joined across T-junctions */
    uint64_t used;   /* number of their last use */
    uint64_t serial; /* unique among the patches that a mesh has had; 0: the caller's */
} caromi_patches;

/* Calls with other options alternate, so that more than one partition is cached. */
enum { CAROMI_PATCHES_CACHED = 4 };
typedef struct caromi_patch_cache {
    uint32_t *given;                             /* [triangle_count] given by the caller; NULL: none */
    caromi_patches found[CAROMI_PATCHES_CACHED]; /* of the present vertices */
    uint64_t uses, serial;
} caromi_patch_cache;

/* The closings of a mesh, for the masks that calls have used: sign rule `robust`. mesh/closing_cache.c */
enum { CAROMI_CLOSINGS = 32 };
typedef struct caromi_closing_cache {
    struct caromi_closing *of[CAROMI_CLOSINGS]; /* the last used first */
    uint32_t count;
    int32_t bits; /* of the masks of all triangles */
    int knows_bits;
} caromi_closing_cache;

/* Calls that may take a mesh as a body. */
enum {
    CAROMI_BODY_CLOSEST,
    CAROMI_BODY_OVERLAPS,
    CAROMI_BODY_GRADIENTS,
    CAROMI_BODY_SWEEPS,
    CAROMI_BODY_CLEARANCE,
    CAROMI_BODY_CALLS
};

struct carom_mesh {
    carom_context *context;
    carom_scene *scene; /* that it shows to queries: it has no arrays then; NULL: a mesh */
    uint32_t uses;      /* by scenes: the last one destroys a mesh that its owner has given up */
    int is_given_up;
    uint64_t changes; /* of vertices and masks */
    uint64_t builds;  /* of the hierarchy */
    caromi_task end;  /* its destruction, if that is left to the context's thread */
    /* Of the call that makes the mesh: a build that it ends is left unfinished. NULL afterwards: what is built again
     * within other calls is finished. mesh/mesh.c */
    caromi_watch *watch;
    caromi_mesh_view view;
    carom_mesh_info info;
    float *vertices;                  /* [3 * vertex_count] the caller's vertices */
    uint32_t *indices;                /* [3 * triangle_count] */
    void *nodes, *leaves;             /* of view.width: cpu/mesh/rows.h */
    struct mesh_clearance *clearance; /* empty-space grid, allocated with its cubes. clearance.c */
    uint64_t clearance_queries;       /* queries reported since the clearance was last discarded */
    int clearance_known;
    int32_t *masks;                    /* [leaf_count][width] of the leaves' triangles; NULL: all bits are set */
    uint64_t vertex_count, leaf_count; /* an unindexed leaf counts twice */
    float built_cost;                  /* info.cost after the last build */
    int stack;                         /* entries that a traversal may need */
    caromi_pace paces[CAROMI_MESH_SEARCHES][2];   /* fast, exact */
    caromi_pace body_paces[CAROMI_BODY_CALLS][2]; /* with a sign, a gradient or bundles: fast, exact */
    caromi_pace lattice_paces[2], clearance_pace, drop_pace, drop_at_pace;
    caromi_boundary_edges boundary_edges; /* mesh/closed.c */
    struct caromi_corners *corners;       /* NULL: not computed. mesh/corners.h */
    struct caromi_edges *edges;           /* NULL: not computed. mesh/edges.h */
    caromi_closing_cache closings;        /* mesh/closing.h */
    caromi_patch_cache patches;           /* mesh/patches.h */
    /* The caller's memory that holds all arrays except the clearance; NULL: the mesh owns them. image.c */
    const void *image;
    /* The vertices of the last refit on a device, and memory for those of the next one; NULL: there was none. If
     * is_stale, the host's vertices, leaves and nodes are older than these. mesh/follow.c */
    struct caromi_device_memory *moved[2];
    int is_stale;
    /* Its copy on each device; a device may be closed before its copy is released. opencl/mesh_copy.c */
    void *device_copies[CAROM_DEVICES_MAX];
};

/* The vertices or masks have changed. */
static inline void caromi_mesh_has_changed(carom_mesh *mesh)
{
    mesh->changes++;
    mesh->context->mesh_changes++;
}

/* Whether a triangle index from a device is possible; -1 is no triangle. */
static inline int caromi_can_be(const carom_mesh *mesh, int32_t triangle)
{
    return triangle == -1 || (uint32_t)triangle < mesh->info.triangle_count;
}

/* The CPU's searches of the mesh. */
static inline const caromi_mesh_table *caromi_searches_of(const carom_mesh *mesh)
{
    return caromi_mesh_table_of(mesh->context->isa, &mesh->view);
}

static inline caromi_node_rows caromi_node_at(const carom_mesh *mesh, uint64_t number)
{
    return caromi_node_rows_of(mesh->nodes, mesh->view.width, number);
}

/* The leaf that a reference names. */
static inline caromi_leaf_rows caromi_leaf_at(const carom_mesh *mesh, int reference)
{
    return caromi_leaf_rows_of(mesh->leaves, mesh->view.width, reference);
}

/* Bytes of all nodes, and of all leaves. */
static inline size_t caromi_bytes_of_nodes(const carom_mesh *mesh)
{
    return (size_t)mesh->info.node_count * CAROMI_NODE_BYTES(mesh->view.width);
}

static inline size_t caromi_bytes_of_leaves(const carom_mesh *mesh)
{
    return (size_t)mesh->leaf_count * CAROMI_LEAF_BYTES(mesh->view.width);
}

static inline const float *caromi_corner(const carom_mesh *mesh, uint32_t triangle, int corner)
{
    return mesh->vertices + 3 * (size_t)mesh->indices[3 * (size_t)triangle + (size_t)corner];
}
#endif
