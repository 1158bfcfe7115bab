/* SPDX-License-Identifier: MIT */
/* Whether answers about a mesh that claim to be exact are: triangle, state, feature and every number equal, points
 * within one unit, normals where the reference's points are accurate enough to judge them. */
#ifndef CAROM_REFERENCE_JUDGE_MESH_H
#define CAROM_REFERENCE_JUDGE_MESH_H

#include "mesh.h"

/* A hit from the subject under test. */
typedef struct ref_given_hit {
    int32_t triangle;
    int state, feature;
    float t, point[3], normal[3];
} ref_given_hit;

/* A closest point likewise. */
typedef struct ref_given_closest {
    int32_t triangle;
    int feature;
    float distance, depth, point[3];
} ref_given_closest;

/* The name of the first thing that is wrong, NULL if all is right. The case holds the ball and, if the truth names one,
 * its triangle. */
const char *ref_judge_hit(const ref_sweep_case *c, const ref_mesh_hit *truth, const ref_given_hit *given);
const char *ref_judge_closest(const ref_sweep_case *c, const ref_mesh_closest_answer *truth,
                              const ref_given_closest *given);

#endif
