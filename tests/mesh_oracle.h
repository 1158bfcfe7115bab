/* SPDX-License-Identifier: MIT */
/* First hits on a mesh from the definition: the exact reference, triangle by triangle. */
#ifndef CAROM_TESTS_MESH_ORACLE_H
#define CAROM_TESTS_MESH_ORACLE_H

#include "scenes.h"

/* The smallest (nearest binary32 time, triangle) that is hit within the window; point and feature are those of time 0
 * for a start in contact. */
typedef struct oracle_hit {
    int32_t triangle; /* -1: none */
    int state, feature;
    float t;
    double near, point[3]; /* nearest binary64 time; the contact point to about 2^-50 */
} oracle_hit;

oracle_hit oracle_first(const scene *s, const balls *b, size_t i);
/* NULL if answer i is the true one, else what is wrong with it. */
const char *oracle_judge(const scene *s, const balls *b, size_t i, const oracle_hit *truth, const hits *h);

#endif
