/* SPDX-License-Identifier: MIT */
/* Scenes: instances of meshes, under a hierarchy of their boxes. A scene has a mesh of its own, `all`, that queries
 * ask: its view leads to the instances, and it has no triangles.
 *
 *   scene.c    the calls
 *   pose.c     maps, boxes and the hierarchy over them
 *   extent.c   what has to be known of the corners in the world, without visiting them all
 *   triangle.c which triangle a number means */
#ifndef CAROM_HOST_SCENE_SCENE_H
#define CAROM_HOST_SCENE_SCENE_H
#include "host/bvh/mesh_data.h"

/* Instances without triangles are left out. */
typedef struct caromi_pose {
    mesh_instance *instances; /* [1 + count] the hierarchy over the instances, then these */
    uint32_t *number;         /* [count] the caller's numbers */
    uint32_t count;
    carom_mesh *boxes; /* a triangle for each instance, which spans its box; NULL if count is 0 */
    int has_masks;
    uint64_t triangles;
} caromi_pose;

/* A mesh of a scene, and its state when the scene last looked at it. */
typedef struct caromi_scene_mesh {
    carom_mesh *mesh;
    uint64_t changes; /* mesh->changes */
    int is_used;      /* by an instance */
    uint32_t first;   /* instance of it */
} caromi_scene_mesh;

struct carom_scene {
    carom_context *context;
    caromi_task end; /* its destruction, if that is left to the context's thread */
    carom_mesh *all;
    caromi_scene_mesh *meshes; /* [mesh_count] */
    uint64_t mesh_count, instance_count;
    uint32_t *mesh_of; /* [instance_count] */
    uint64_t changes;  /* context->mesh_changes at the last look at the meshes */
    caromi_pose pose;
};

/* The mesh of an instance by the caller's number. */
static inline const carom_mesh *caromi_mesh_of_instance(const carom_scene *scene, uint32_t number)
{
    return scene->meshes[scene->mesh_of[number]].mesh;
}

/* Bytes between two maps of a pose, each CAROMI_MAP numbers. */
enum { CAROMI_MAP = 12 };
static inline size_t caromi_map_stride(const carom_scene_pose *pose)
{
    return pose->map_stride != 0 ? pose->map_stride : sizeof(float[CAROMI_MAP]);
}

/* Computes a pose from checked arrays, of meshes of one width. pose.c */
carom_status caromi_pose_make(const carom_scene *scene, const carom_scene_pose *given, int width, caromi_pose *pose,
                              carom_error *err);
void caromi_pose_free(const carom_context *context, caromi_pose *pose);

/* A box in the world, in the caller's units. */
typedef struct caromi_world_box {
    float lower[3], upper[3];
} caromi_world_box;
/* The largest coordinate of all corners in the world, or a number of the same binary exponent, and for each instance
 * the box of its corners, or a larger one. Fails if a corner is not finite. extent.c */
carom_status caromi_scene_extent(const carom_scene *scene, const caromi_pose *pose, caromi_world_box *boxes,
                                 float *largest, carom_error *err);
/* A corner in the world: the arithmetic of cpu/scene/map.h. */
static inline void caromi_map_corner(const mesh_instance *instance, const float *corner, float world[3])
{
    for (int k = 0; k < 3; k++) {
        const double *row = instance->map[k];
        world[k] =
            (float)(((row[0] * (double)corner[0] + row[1] * (double)corner[1]) + row[2] * (double)corner[2]) + row[3]);
    }
}
#endif
