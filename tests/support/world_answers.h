/* SPDX-License-Identifier: MIT */
/* The answers of a scene against those of the mesh that has all its triangles in the world. */
#ifndef CAROM_TESTS_SUPPORT_WORLD_ANSWERS_H
#define CAROM_TESTS_SUPPORT_WORLD_ANSWERS_H

#include "worlds.h"

/* Fails unless every call has the same bits in both modes: first hits, lists, any hits, overlaps, closest points.
 * merged: world_merge(); mesh: carom_scene_mesh(). */
void world_compare(const world *w, carom_mesh *merged, carom_mesh *mesh, const swept_spheres *b, const char *label);

#endif
