/* SPDX-License-Identifier: MIT */
#include "host/bvh/triangle.h"

#include "scene.h"

/* The instance that has a triangle: the last whose first triangle is not after it. */
static const mesh_instance *instance_of(const carom_scene *scene, int32_t triangle)
{
    const mesh_instance *at = scene->pose.instances + 1;
    for (uint32_t count = scene->pose.count; count > 1;) {
        const uint32_t half = count / 2;
        at += at[half].base <= triangle ? half : 0;
        count -= half;
    }
    return at;
}

static uint32_t number_of(const carom_scene *scene, const mesh_instance *instance)
{
    return scene->pose.number[instance - scene->pose.instances - 1];
}

void caromi_scene_corners(const carom_scene *scene, uint32_t triangle, float corners[9])
{
    const mesh_instance *instance = instance_of(scene, (int32_t)triangle);
    const carom_mesh *mesh = caromi_mesh_of_instance(scene, number_of(scene, instance));
    for (int k = 0; k < 3; k++) {
        const int corner = instance->mirrors && k > 0 ? 3 - k : k;
        caromi_map_corner(instance, caromi_corner(mesh, triangle - (uint32_t)instance->base, corner), corners + 3 * k);
    }
}

caromi_scene_triangle caromi_scene_find(const carom_scene *scene, uint32_t triangle)
{
    const mesh_instance *instance = instance_of(scene, (int32_t)triangle);
    const uint32_t number = number_of(scene, instance);
    return (caromi_scene_triangle){.mesh = caromi_mesh_of_instance(scene, number),
                                   .mesh_number = scene->mesh_of[number],
                                   .triangle = triangle - (uint32_t)instance->base,
                                   .instance = number,
                                   .mirrors = instance->mirrors};
}

uint64_t caromi_scene_mesh_count(const carom_scene *scene)
{
    return scene->mesh_count;
}

carom_mesh *caromi_scene_mesh_at(const carom_scene *scene, uint64_t number)
{
    const caromi_scene_mesh *of = &scene->meshes[number];
    return of->is_used && of->mesh->info.triangle_count > 0 ? of->mesh : NULL;
}

int32_t caromi_scene_split(const carom_scene *scene, int32_t *triangle)
{
    if (*triangle < 0)
        return -1;
    const mesh_instance *instance = instance_of(scene, *triangle);
    *triangle -= instance->base;
    return (int32_t)number_of(scene, instance);
}

int caromi_scene_has_masks(const carom_scene *scene)
{
    return scene->pose.has_masks;
}

int caromi_scene_has_velocities(const carom_scene *scene)
{
    return scene->pose.has_velocities;
}

void caromi_scene_velocity(const carom_scene *scene, uint32_t triangle, float velocity[3])
{
    memcpy(velocity, instance_of(scene, (int32_t)triangle)->velocity, 3 * sizeof *velocity);
}
