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
#endif
