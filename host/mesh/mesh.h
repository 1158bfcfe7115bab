/* SPDX-License-Identifier: MIT */
/* The steps of making a mesh, and of changing its vertices. */
#ifndef CAROM_HOST_MESH_MESH_H
#define CAROM_HOST_MESH_MESH_H
#include <string.h>

#include "host/bvh/triangle.h"

static inline float caromi_load(const float *base, size_t stride, uint64_t i)
{
    float value;
    memcpy(&value, (const char *)base + i * stride, sizeof value);
    return value;
}

/* The mesh behind a pointer of the caller, whose host copy may be brought up to date in calls that change nothing. */
static inline carom_mesh *caromi_mesh_of(const carom_mesh *mesh)
{
    union {
        const carom_mesh *given;
        carom_mesh *own;
    } both = {mesh};
    return both.own;
}

/* An empty mesh, which holds a reference to its context. mesh.c */
carom_status caromi_mesh_new(carom_context *context, carom_mesh **out, carom_error *err);
/* carom_mesh_create, with nodes of 8 or 16, and carom_mesh_destroy within another call of the context. */
carom_status caromi_mesh_make(carom_context *context, const carom_mesh_desc *desc, int width, carom_mesh **out,
                              carom_error *err);
void caromi_mesh_end(carom_mesh *mesh);
/* A scene no longer uses the mesh. */
void caromi_mesh_release(carom_mesh *mesh);
/* Fails for the mesh of a scene, whose name is of a call that needs a mesh. */
carom_status caromi_mesh_only(const carom_mesh *mesh, const char *call, carom_error *err);

/* Bounds and largest coordinate of the used vertices. */
typedef struct caromi_extent {
    float lower[3], upper[3], largest;
} caromi_extent;

/* Brings the host's copy of a mesh up to date, if a device has refitted the mesh: reads the vertices back, and refits.
 * Whatever reads vertices, leaves or nodes on the host calls it first. follow.c */
carom_status caromi_mesh_bring_old(carom_mesh *mesh, carom_error *err);
static inline carom_status caromi_mesh_bring(carom_mesh *mesh, carom_error *err)
{
    if (mesh->scene != NULL)
        return caromi_scene_look(mesh->scene, err);
    return mesh->is_stale ? caromi_mesh_bring_old(mesh, err) : CAROM_OK;
}
/* Refits a mesh on a device that has the vertices in its memory. Sets *done to 0 if none has, or if the host must do
 * it, with a warning. */
carom_status caromi_mesh_follow(carom_mesh *mesh, const carom_points *vertices, int *done, carom_error *err);
/* Updates, on the device that has refitted a mesh, what contacts know of its edges and corners. Sets *done to 0 if the
 * host must find that anew. */
carom_status caromi_mesh_follow_contacts(carom_mesh *mesh, int have_masks, int *done, carom_error *err);
/* The host's copy is the present one. */
void caromi_mesh_end_following(carom_mesh *mesh);

/* Checks that the mesh's indices are in range and refer to finite vertices. check.c */
carom_status caromi_mesh_check(const carom_mesh *mesh, const carom_points *vertices, caromi_extent *extent,
                               carom_error *err);
/* The error for a corner whose vertex is refused; corners of all triangles are counted. */
carom_status caromi_mesh_refuse(const carom_mesh *mesh, uint64_t corner, carom_error *err);
/* The number of slices into which loops over the triangles are cut for the thread pool. */
uint64_t caromi_mesh_slices(uint64_t triangles);
/* Copies checked vertices, and sets bounds and frame. mesh.c */
void caromi_mesh_move(carom_mesh *mesh, const carom_points *vertices, const caromi_extent *extent);
/* Sets a frame's scale, by the largest coordinate. */
void caromi_mesh_set_scale(mesh_frame *frame, float largest);
/* Sets bounds and frame. */
void caromi_mesh_set_extent(carom_mesh *mesh, const caromi_extent *extent);

/* Permutes the triangles' masks to the order of a finished hierarchy's leaves. masks.c */
carom_status caromi_mesh_mask(carom_mesh *mesh, const carom_uints *masks, carom_error *err);
/* The masks of a mesh that has them: [triangles], to be freed by the caller. */
carom_status caromi_masks_of_triangles(const carom_mesh *mesh, int32_t **out, carom_error *err);
/* The masks of a mesh in the order of another hierarchy's leaves; NULL if it has none. */
carom_status caromi_masks_follow(const carom_mesh *mesh, const caromi_mesh_view *tree, uint64_t node_count,
                                 uint64_t leaf_count, int32_t **out, carom_error *err);

/* Builds the hierarchy of a mesh with vertices, indices and a frame, and permutes the masks. On failure the mesh is
 * unchanged. hierarchy.c */
carom_status caromi_hierarchy_build(carom_mesh *mesh, int width, carom_error *err);
/* Refits the hierarchy to changed vertices and frame. */
void caromi_hierarchy_refit(carom_mesh *mesh);
/* The width of a new mesh's nodes, 8 or 16. */
int caromi_hierarchy_width(const carom_context *context);
/* Builds the hierarchy again with nodes of 16, which devices search, unless it has them. */
carom_status caromi_hierarchy_suit_device(carom_mesh *mesh, carom_error *err);
/* Whether that is possible: not for an empty mesh, nor in an image. */
int caromi_hierarchy_may_suit(const carom_mesh *mesh);
static inline carom_status caromi_suit_mesh(void *mesh, carom_error *err)
{
    return caromi_hierarchy_suit_device(mesh, err);
}
#endif
