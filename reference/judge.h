/* SPDX-License-Identifier: MIT */
/* Whether answers that claim to be exact are: every decision and every time equal, points within one unit. */
#ifndef CAROM_REFERENCE_JUDGE_H
#define CAROM_REFERENCE_JUDGE_H

#include "reference.h"

/* A sweep's answer from the subject under test. */
typedef struct ref_given_sweep {
    int state, feature_first, feature_last;
    float t_first, t_last, point_first[3], point_last[3];
} ref_given_sweep;

/* One unit in the last place of the largest coordinate among centre, radius, corners and point. */
double ref_point_unit(const ref_sweep_case *c, const double point[3]);
/* Largest error of a coordinate in such units; infinity if a point is given where there is none. A coordinate beyond
 * binary32 may be infinite or the largest number. */
double ref_point_error(const ref_sweep_case *c, int feature, const double point[3], const float given[3]);

/* The name of the first thing that is wrong, NULL if all is right. */
const char *ref_judge_sweep(const ref_sweep_case *c, const ref_sweep_answer *truth, const ref_given_sweep *given);
const char *ref_judge_overlap(const ref_overlap_answer *truth, int overlap, int axes); /* -1: invalid */
const char *ref_judge_spheres(const ref_spheres_answer *truth, int state, float u_first, float u_last);

#endif
