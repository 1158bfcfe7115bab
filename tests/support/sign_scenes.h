/* SPDX-License-Identifier: MIT */
/* Meshes whose inside is hard to decide: needles, gaps of 1e-6, sheets that touch, faces turned round, far from the
 * origin, at the ends of the range, open; and lattices over them. */
#ifndef CAROM_TESTS_SUPPORT_SIGN_SCENES_H
#define CAROM_TESTS_SUPPORT_SIGN_SCENES_H

#include "volumes.h"

typedef struct sign_scene {
    const char *name;
    scene (*make)(void);
} sign_scene;

enum { SIGN_SCENES = 12, SIGN_LATTICES = 4 };
extern const sign_scene sign_scenes[SIGN_SCENES];

/* Around the scene, with n nodes along its longest side; with nodes on the vertices, edges and faces of boxes of whole
 * numbers; a column; n^3 nodes within gaps of 1e-6, where boxes touch. */
carom_lattice sign_lattice(const scene *s, size_t i, uint64_t n);

/* Centres on the vertical lines of corners, edges and faces, at their heights and at those of other triangles; on the
 * nodes of a lattice around the scene; two in 16 invalid. They have radii and largest distances. */
swept_spheres sign_centres(const scene *s, size_t count);
/* Whether the reference has centre i, which is finite, inside the triangles that its mask selects. */
int sign_is_inside(const scene *s, const swept_spheres *b, size_t i, carom_sign sign);

/* The cube of half side 1. */
scene scene_unit_box(void);
/* A sphere with a box cut out of it. */
scene scene_hollow(void);
/* With all normals turned round. */
scene scene_turned_round(scene s);

#endif
