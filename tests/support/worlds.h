/* SPDX-License-Identifier: MIT */
/* Instances of meshes with maps of every kind, and the mesh of all their triangles, by the definition. */
#ifndef CAROM_TESTS_SUPPORT_WORLDS_H
#define CAROM_TESTS_SUPPORT_WORLDS_H

#include "scenes.h"

enum { WORLD_MESHES = 6, WORLD_MAP = 12 };

/* Instances of meshes, and where each begins in the merged mesh. */
typedef struct world {
    scene meshes[WORLD_MESHES];
    size_t instances;
    uint32_t *mesh, *masks; /* masks NULL: all bits */
    float (*map)[WORLD_MAP];
    float (*velocity)[3]; /* NULL: at rest */
    int32_t *first;       /* [instances + 1] */
} world;

/* Rotations, and now and then: the identity, a shift alone, a mirror, a shear, a plane, a point, huge, tiny, numbers
 * that underflow. */
void world_set_map(uint64_t seed, size_t i, float spread, float map[WORLD_MAP]);
/* A kind of maps: turned and `size` times as large, then sheared by `shear`, stretched along an axis by `stretch`, and
 * maybe mirrored. Shifts are up to `far` times `size`. */
typedef struct world_kind {
    const char *name;
    float size, shear, stretch, far;
    int mirrors;
} world_kind;
enum { WORLD_KINDS = 25 };
extern const world_kind world_kinds[WORLD_KINDS]; /* from rotations to maps that are all but singular */
world world_make(uint64_t seed, size_t instances, float spread, int masks);
/* One instance that is not moved; from kind 2 on some coordinates of its mesh are -0, and odd kinds have masks. */
world world_make_unmoved(uint64_t seed, int kind);
void world_set_maps(world *w, uint64_t seed, const world_kind *kind); /* of all instances */
void world_free(world *w);
/* The mesh of all triangles in the world, each with vertices of its own. */
scene world_merge(const world *w);
/* Of each triangle of the merged mesh: its corners in its own mesh, in their order in the world; its instance. The
 * caller frees both. */
float (*world_own_corners(const world *w))[9];
int32_t *world_instances(const world *w);
/* Gives the instances one of WORLD_SPEEDS velocities each, the first of which is 0; `unit`: their numbers are multiples
 * of it. */
enum { WORLD_SPEEDS = 5 };
void world_move(world *w, uint64_t seed, float unit);
carom_scene_pose world_pose(const world *w);
/* Gives a scene of the world its maps, masks and velocities once more. */
void world_update(carom_scene *made, const world *w);
/* A scene of the world. Its meshes are the scene's alone afterwards. */
carom_scene *world_scene(carom_context *context, const world *w);
/* The number of a triangle in the merged mesh becomes that in its mesh; returns the instance. */
int32_t world_split(const world *w, int32_t *triangle);

#endif
