/* SPDX-License-Identifier: MIT */
/* Cubes around the nodes of a lattice against a sphere's radius R: decisions about R + h and R - h in integers, where h
 * is at least half a diagonal of a cube. R is binary32 and h binary64, so R + h and R - h are no floating-point
 * numbers. */
#ifndef CAROM_CPU_EXACT_CUBE_H
#define CAROM_CPU_EXACT_CUBE_H
#include "approx.h"

typedef struct caromi_cube {
    float radius; /* R */
    double half;  /* h */
} caromi_cube;

/* The limit that a distance is compared with: R + h or R - h; of nodes inside a mesh h - R. */
enum caromi_cube_limit { CAROMI_CUBE_BLOCKED = -1, CAROMI_CUBE_INSIDE = 0, CAROMI_CUBE_FREE = 1 };

/* |x| = m 2^exponent; returns m, odd or 0. */
uint64_t caromi_split_double(double x, int *exponent);
/* The least binary64 >= spacing sqrt(3) / 2 (1 + 2^-16). */
double caromi_cube_half(double spacing);
/* Whether `node` is more than 2^-17 of the spacing away from origin + index * spacing, all taken as real numbers. */
int caromi_cube_is_displaced(double origin, double spacing, uint64_t index, float node);
/* Whether the distance of the centre from the triangle is <= the limit; with INSIDE, whether it is less. in: IN_CLOSEST
 * numbers, all finite. */
int caromi_cube_reaches(const float *in, const caromi_cube *cube, enum caromi_cube_limit limit);

/* A real number in [low, high]. */
typedef struct caromi_bounds {
    double low, high;
} caromi_bounds;

/* Bounds of the limit: rounding costs 2^-53 of R + h in the sum, and as much in each bound. */
static inline caromi_bounds caromi_cube_bounds(const caromi_cube *cube, enum caromi_cube_limit limit)
{
    const double slack = ((double)cube->radius + cube->half) * 0x1p-51;
    const double sum = limit == CAROMI_CUBE_INSIDE ? cube->half - (double)cube->radius
                                                   : (double)cube->radius + (double)limit * cube->half;
    return (caromi_bounds){sum - slack, sum + slack};
}

/* Bounds of a distance that rounds to this binary32: the binary32 numbers before and after it. */
static inline caromi_bounds caromi_distance_bounds(float distance)
{
    const double largest = 0x1.fffffep127, x = (double)distance;
    return (caromi_bounds){(x < largest ? x : largest) * (1.0 - 0x1p-23) - 0x1p-149, x * (1.0 + 0x1p-23) + 0x1p-149};
}

/* The least binary32 >= x. */
static inline float caromi_float_above(double x)
{
    const float rounded = caromi_float_of(x);
    return (double)rounded < x ? nextafterf(rounded, INFINITY) : rounded;
}
#endif
