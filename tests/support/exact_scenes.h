/* SPDX-License-Identifier: MIT */
/* Meshes and spheres for exact mode: what touches, ties, grazes and slides as exactly as binary32 allows. */
#ifndef CAROM_TESTS_SUPPORT_EXACT_SCENES_H
#define CAROM_TESTS_SUPPORT_EXACT_SCENES_H

#include "scenes.h"

typedef struct mesh_kind {
    const char *name;
    scene (*make)(size_t triangles);
} mesh_kind;

enum { KINDS = 6 }; /* soup sphere torus floor lattice needles */
extern const mesh_kind kinds[KINDS];

/* From about 1 to 2^exponent, then so many times that size away from the origin. */
void scene_place(scene *s, int exponent, float offset);
/* Towards corners, edges and faces of the mesh, whose size is `size`. */
swept_spheres swept_spheres_aimed(uint64_t seed, const scene *s, double size, size_t count);
/* 2^exponent times as fast, at most 2^127. */
void swept_spheres_speed_up(swept_spheres *b, int exponent);

#endif
