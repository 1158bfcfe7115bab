/* SPDX-License-Identifier: MIT */
/* Scenes of instances: meshes with maps, and the merged mesh that peers and the reference read. */
#ifndef CAROM_BENCH_SCENE_INSTANCES_H
#define CAROM_BENCH_SCENE_INSTANCES_H

#include "mesh_task.h"
#include "peers.h"

enum { PARTS_MESHES = 2 };
typedef struct scene_parts {
    mesh_scene own[PARTS_MESHES];
    peer_mesh meshes[PARTS_MESHES]; /* the same as arrays */
    peer_instances list;
    uint32_t *mesh;
    float (*map)[12];
    query_instance *instances; /* their triangles in the merged mesh, and their velocities */
    int is_moving;
    carom_scene *made[SUBJECTS_MAX];
    int made_count;
} scene_parts;

/* ONE: the torus, not moved. TURNED: the torus, turned. PROPS: 200 turned tori of 500 triangles, 0.3 wide, in a wavy
 * level of 100,000, 20 wide. MOVING: the same, and each torus has a velocity of 0.5 to 2 % of the diagonal. */
mesh_scene mesh_scene_make_instances(mesh_shape shape);
void scene_parts_free(scene_parts *p);
/* The mesh of a scene of the parts, which lives until these are freed. */
carom_mesh *scene_parts_open(scene_parts *p, const subject *of);

#endif
