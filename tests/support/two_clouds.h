/* SPDX-License-Identifier: MIT */
/* Clouds against others, of every family that is hard for cells, for a solver or for what two clouds have in common. */
#ifndef TESTS_SUPPORT_TWO_CLOUDS_H
#define TESTS_SUPPORT_TWO_CLOUDS_H
#include "tests/support/clouds.h"

/* A sphere as both clouds have it. */
typedef struct ball {
    float center[3], velocity[3], radius, t_max;
    uint32_t mask, group;
} ball;

/* The first cloud is one of the tests' clouds; the second's views are in `against`, which its descriptor points to. */
typedef struct two_clouds {
    cloud a;
    size_t count; /* of the second cloud's spheres */
    ball *b;
    carom_cloud_against against;
} two_clouds;

/* A family of clouds against itself, or its spheres in turns in two clouds, of which either may have optional columns
 * that the other lacks. Every third is behind so many invalid spheres that they are sorted into cells. */
void make_two(two_clouds *two, size_t number, int exact);
/* So many of several sizes that all levels of cells, both directions between them and slices of time are there. */
void make_two_many(two_clouds *two, size_t number, int exact);
void free_two(two_clouds *two);
#endif
