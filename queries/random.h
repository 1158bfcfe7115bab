/* SPDX-License-Identifier: MIT */
/* The quick generator of `carom verify`: pairs of ordinary and of odd sizes, many a second. */
#ifndef CAROM_QUERIES_RANDOM_H
#define CAROM_QUERIES_RANDOM_H

#include <stdint.h>

typedef struct query_random {
    uint64_t state;
} query_random;

/* Easy numbers; starts far away; all scaled by one power of two; exponents from 2^-60 to 2^60, each its own; small
 * multiples of a quarter, for ties; any bits, NaN and infinity too. */
typedef enum query_spread {
    SPREAD_EASY,
    SPREAD_FAR,
    SPREAD_SCALED,
    SPREAD_WIDE,
    SPREAD_GRID,
    SPREAD_BITS
} query_spread;

uint64_t query_random_bits(query_random *r);
/* Sixteenths: easy 6, far 3, scaled 2, wide 2, grid 2, any bits 1. */
query_spread query_random_spread(query_random *r);
float query_random_scale(query_random *r, query_spread spread);
float query_random_number(query_random *r, query_spread spread, float scale);
float query_random_radius(query_random *r, query_spread spread, float scale);
/* Move a start back along its way by a power of ten of it, so that most still come near. */
void query_random_retreat(query_random *r, float start[3], const float velocity[3]);

/* A sphere and a triangle, both in motion or at rest. `corners` are three vectors one after the other. */
void query_random_sweep(query_random *r, float center[3], float *radius, float velocity[3], float *corners,
                        float triangle_velocity[3]);

#endif
