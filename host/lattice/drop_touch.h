/* SPDX-License-Identifier: MIT */
/* Decides which triangle a ball touches over a place, and at which point and feature, exactly. The height is known
 * (drop_at.c). A *candidate* is a triangle that may lead the ball to it. */
#ifndef CAROM_HOST_LATTICE_DROP_TOUCH_H
#define CAROM_HOST_LATTICE_DROP_TOUCH_H
#include "drop.h"

typedef struct drop_candidate {
    int32_t triangle; /* -1: none */
    drop_bound bound; /* of the height that it leads to */
    int is_narrow;    /* `bound` includes that of the feature */
    float point[3];   /* first contact of a ball that comes down on it alone; x NaN: not decided yet */
    uint8_t feature;  /* NONE: the ball does not meet it */
} drop_candidate;

/* A place while it is decided. */
typedef struct drop_place {
    const drop_map *map;
    float x, y, z;   /* z: the height, rounded up; not -inf */
    float start;     /* a ball that begins to come down from here is above all triangles that it can touch, if > z */
    int32_t mask;    /* as a visitor's */
    int by_integers; /* whether integers decided anything */
    drop_candidate best;
} drop_place;

/* A place without candidates. */
drop_place caromi_drop_place_of(const drop_map *map, float x, float y, float z, int32_t mask);
/* The pair of ball and triangle: IN_SWEEP_RESTING numbers, of which number k goes to in[k * stride]. */
void caromi_drop_pair_of(const drop_place *place, int32_t triangle, float *in, size_t stride);
/* Sets the contact that the pair kernel leaves undecided: its x is NaN, or the ball does not start above z. */
void caromi_drop_touch_by_integers(drop_place *place, drop_candidate *candidate);
/* Takes a candidate with a contact in place of the best one, if it leads higher, or as high and has a lower index. */
void caromi_drop_consider(drop_place *place, const drop_candidate *candidate);
/* Considers every triangle of the mesh that may lead to the height. */
void caromi_drop_consider_all(drop_place *place);
#endif
