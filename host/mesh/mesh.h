/* SPDX-License-Identifier: MIT */
/* The parts of making a mesh, and of moving it. */
#ifndef CAROM_HOST_MESH_MESH_H
#define CAROM_HOST_MESH_MESH_H
#include <string.h>

#include "host/bvh/mesh_data.h"

static inline float caromi_load(const float *base, size_t stride, uint64_t i)
{
    float value;
    memcpy(&value, (const char *)base + i * stride, sizeof value);
    return value;
}

/* A mesh without anything, which holds its context. mesh.c */
carom_status caromi_mesh_new(carom_context *context, carom_mesh **out, carom_error *err);
/* carom_mesh_create within another call, and the end of such a mesh. */
carom_status caromi_mesh_make(carom_context *context, const carom_mesh_desc *desc, carom_mesh **out, carom_error *err);
void caromi_mesh_end(carom_mesh *mesh);

/* Bounds and largest coordinate of the used vertices. */
typedef struct caromi_extent {
    float lower[3], upper[3], largest;
} caromi_extent;

/* Checks that the indices of the mesh are in range, and that the vertices that they use are finite. check.c */
carom_status caromi_mesh_check(const carom_mesh *mesh, const carom_points *vertices, caromi_extent *extent,
                               carom_error *err);
/* Number of slices of a mesh for tasks of the thread pool. */
uint64_t caromi_mesh_slices(uint64_t triangles);
/* Copy vertices that were checked; with bounds and frame. mesh.c */
void caromi_mesh_move(carom_mesh *mesh, const carom_points *vertices, const caromi_extent *extent);

/* Put the triangles' masks beside the leaves of a finished hierarchy; masks.c. */
carom_status caromi_mesh_mask(carom_mesh *mesh, const carom_uints *masks, carom_error *err);
/* The masks of a mesh that has them: one for each triangle, to be freed. */
carom_status caromi_masks_of_triangles(const carom_mesh *mesh, int32_t **out, carom_error *err);
/* The masks of a mesh beside the leaves of another hierarchy of its triangles; NULL if it has none. */
carom_status caromi_masks_follow(const carom_mesh *mesh, const caromi_mesh_view *tree, uint64_t node_count,
                                 uint64_t leaf_count, int32_t **out, carom_error *err);

/* Build the hierarchy over a mesh that has vertices, indices and a frame, with the masks in the order of its leaves. On
 * failure the mesh is as it was. hierarchy.c */
carom_status caromi_hierarchy_build(carom_mesh *mesh, carom_error *err);
/* Refit it to vertices and a frame that have changed. */
void caromi_hierarchy_refit(carom_mesh *mesh);
#endif
