/* SPDX-License-Identifier: MIT */
/* The triangle that a number means, of a mesh and of a scene. */
#ifndef CAROM_HOST_BVH_TRIANGLE_H
#define CAROM_HOST_BVH_TRIANGLE_H
#include "mesh_data.h"

/* scene/triangle.c */
void caromi_scene_corners(const carom_scene *scene, uint32_t triangle, float corners[9]);
/* A triangle of a scene: which one of which mesh, and whether its corners 1 and 2 change places in the world. */
typedef struct caromi_scene_triangle {
    const carom_mesh *mesh;
    uint64_t mesh_number; /* of the scene's meshes */
    uint32_t triangle, instance;
    int mirrors;
} caromi_scene_triangle;
caromi_scene_triangle caromi_scene_find(const carom_scene *scene, uint32_t triangle);
/* The number of a scene's meshes; one of them, NULL if no instance has triangles of it. */
uint64_t caromi_scene_mesh_count(const carom_scene *scene);
carom_mesh *caromi_scene_mesh_at(const carom_scene *scene, uint64_t number);
/* Replaces the number of a triangle, or -1, by that in its mesh; returns the caller's number of the instance, or -1. */
int32_t caromi_scene_split(const carom_scene *scene, int32_t *triangle);
/* Fails if a mesh of the scene has changed; follows it where only its hierarchy is another. */
carom_status caromi_scene_look(carom_scene *scene, carom_error *err);
/* Gives all meshes of a scene the hierarchies that devices search, and whether that is possible: as with one mesh
 * (host/mesh/hierarchy.c). scene/scene.c */
carom_status caromi_scene_suit_device(carom_scene *scene, carom_error *err);
int caromi_scene_may_suit(const carom_scene *scene);

/* A box in the world, in the caller's units. */
typedef struct caromi_world_box {
    float lower[3], upper[3];
} caromi_world_box;
/* Visits a box for each leaf of each instance: no corner of its triangles is outside. A visitor that returns 0 ends
 * this, which then returns 0, too. scene/extent.c */
typedef int (*caromi_box_visitor)(void *user, const caromi_world_box *box);
int caromi_scene_leaf_boxes(const carom_scene *scene, caromi_box_visitor visit, void *user);

/* The corners of a triangle. */
static inline void caromi_triangle_corners(const carom_mesh *mesh, uint32_t triangle, float corners[9])
{
    if (mesh->scene != NULL) {
        caromi_scene_corners(mesh->scene, triangle, corners);
        return;
    }
    for (int k = 0; k < 9; k++)
        corners[k] = caromi_corner(mesh, triangle, k / 3)[k % 3];
}

/* Whether an instance of the scene moves during sweeps; the velocity of the instance that has a triangle. */
int caromi_scene_has_velocities(const carom_scene *scene);
void caromi_scene_velocity(const carom_scene *scene, uint32_t triangle, float velocity[3]);

/* Whether triangles have masks. */
int caromi_scene_has_masks(const carom_scene *scene);
static inline int caromi_has_masks(const carom_mesh *mesh)
{
    return mesh->scene != NULL ? caromi_scene_has_masks(mesh->scene) : mesh->masks != NULL;
}
#endif
