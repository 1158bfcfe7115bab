/* SPDX-License-Identifier: MIT */
/* One wall, cut into triangles in many ways: contacts must not depend on the cut. */
#ifndef CAROM_TESTS_SUPPORT_WALLS_H
#define CAROM_TESTS_SUPPORT_WALLS_H

#include "scenes.h"

enum {
    WALL_TWO,         /* two triangles */
    WALL_GRID,        /* squares, halved */
    WALL_IRREGULAR,   /* the same with corners moved at random */
    WALL_NEEDLES,     /* strips 1:1000 */
    WALL_DUPLICATES,  /* a grid in which triangles occur twice, turned or reversed */
    WALL_T_JUNCTIONS, /* squares that are cut more finely side by side */
    WALL_CRACKS,      /* squares 1e-6 apart */
    WALL_KINDS,
    WALL_CONFORMING = WALL_T_JUNCTIONS /* those before it meet in whole edges */
};
extern const char *const wall_names[WALL_KINDS];

/* The square of half side 1 in the plane z = `height`, n x n squares with n >= 2; fronts up. */
scene scene_wall(int kind, uint64_t seed, int n, float height);
/* Over the wall: at random, and over corners, edges and lines of the cuts. Depth 1 % or none of the radius. */
swept_spheres spheres_over_wall(uint64_t seed, const scene *s, float height, size_t count);
/* Turns scene and spheres, and rounds their coordinates: the wall is no longer flat to the last bit. */
void turn_wall(scene *s, swept_spheres *b);
#endif
