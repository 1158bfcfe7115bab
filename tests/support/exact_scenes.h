/* SPDX-License-Identifier: MIT */
/* Meshes and spheres for exact mode: contacts, ties, grazes and slides as exact as binary32 allows. */
#ifndef CAROM_TESTS_SUPPORT_EXACT_SCENES_H
#define CAROM_TESTS_SUPPORT_EXACT_SCENES_H

#include "scenes.h"

typedef struct mesh_kind {
    const char *name;
    scene (*make)(size_t triangles);
} mesh_kind;

enum { KINDS = 6 }; /* soup sphere torus floor lattice needles */
extern const mesh_kind kinds[KINDS];

/* Scales a scene of size about 1 by 2^exponent, then moves it by `offset` times that size. */
void scene_place(scene *s, int exponent, float offset);
/* Spheres aimed at corners, edges and faces of a mesh of this size. */
swept_spheres swept_spheres_aimed(uint64_t seed, const scene *s, double size, size_t count);
/* Multiplies the velocities by 2^exponent; no component exceeds 2^127. */
void swept_spheres_speed_up(swept_spheres *b, int exponent);

#endif
