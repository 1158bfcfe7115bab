/* SPDX-License-Identifier: MIT */
/* Begin and end of contact: the time, the first of the features that hold the contact, and its point. */
#ifndef CAROM_CPU_EXACT_TOUCH_H
#define CAROM_CPU_EXACT_TOUCH_H

#include "motion.h"

enum { CAROMI_TOUCH_FIRST = -1, CAROMI_TOUCH_LAST = 1 };

/* The begin or end of contact. */
typedef struct caromi_touch {
    const caromi_element *element;
    int side; /* of the element's root */
    caromi_root root;
    caromi_approx time; /* in the motion's units, with a relative error of at most 2^-46 */
} caromi_touch;

/* Returns 0 if there is never contact. The motion is not resting. */
int caromi_touch_find(caromi_motion *m, int which, caromi_touch *touch);

/* The closest point at time 0. */
typedef struct caromi_nearest {
    int feature;
    double weights[2]; /* as caromi_element_weights */
    int order;         /* the sign of distance - r */
} caromi_nearest;

void caromi_nearest_of(caromi_motion *m, caromi_nearest *nearest);
/* The squared distance to a feature's point, line or plane is *square over the returned integer (NULL: 1). */
const caromi_int *caromi_nearest_square(caromi_motion *m, int feature, caromi_int *square);
/* A positive multiple of the offset from the closest point to the centre; zero if they coincide. */
void caromi_nearest_gap(caromi_motion *m, int feature, caromi_int3 *gap);

/* The unit vector, with zeros as +0; the zero vector stays zero. The second function scales an integer vector by `sign`
 * first. */
void caromi_store_unit(const caromi_approx from[3], float out[3]);
void caromi_store_unit_of(const caromi_int3 *v, int sign, float out[3]);
/* The point P0 + weights[0] e01 + weights[1] e02 + t W; W = 0 for a triangle at rest. */
void caromi_point_of(const float *corners, const double weights[2], const float *w, double t, float out[3]);

#endif
