/* SPDX-License-Identifier: MIT */
/* Closest points on the meshes of the tests: queries, comparisons, and the true answers. */
#ifndef CAROM_TESTS_SUPPORT_CLOSEST_ANSWERS_H
#define CAROM_TESTS_SUPPORT_CLOSEST_ANSWERS_H

#include "reference/mesh.h"
#include "scenes.h"

enum { NEAR_TRIANGLE, NEAR_DISTANCE, NEAR_X, NEAR_Y, NEAR_Z, NEAR_FEATURE, NEAR_DEPTH, NEAR_FIELDS };
typedef struct closest_results {
    size_t count;
    guarded field[NEAR_FIELDS];
} closest_results;

closest_results closest_results_alloc(size_t count, unsigned char fill);
void closest_results_free(closest_results *n);
carom_mesh_closest_result closest_results_result(const closest_results *n, size_t first);
int32_t near_triangle(const closest_results *n, size_t i);
float near_float(const closest_results *n, int field, size_t i);
void closest_results_print(const swept_spheres *b, const closest_results *n, size_t i, const char *label);
/* Fail unless the first `count` agree in every byte of the fields in the mask (-1: all). */
void closest_results_compare(const swept_spheres *b, const closest_results *expected, const closest_results *got,
                             size_t count, int fields, const char *label);

/* Closest points of spheres first .. first + count; centre, radius and mask are used. *integers, unless NULL, grows by
 * the number of queries that were decided in integers. */
void ask_part(carom_mesh *mesh, const swept_spheres *b, carom_accuracy accuracy, size_t first, size_t count,
              const closest_results *out, uint64_t *integers);
/* Closest points of all spheres, on a mesh that is made of the scene. */
closest_results ask_scene(carom_context *context, const scene *s, const swept_spheres *b, carom_accuracy accuracy,
                          uint64_t *integers);

ref_mesh_closest_answer true_closest(const scene *s, const swept_spheres *b, size_t i);
/* Returns NULL if answer i is the one of exact mode, else what is wrong with it. */
const char *judge_exact(const scene *s, const swept_spheres *b, size_t i, const ref_mesh_closest_answer *truth,
                        const closest_results *n);
/* The error of answer i of fast mode: the largest of four. These are the errors of the reported distance and of the
 * distance of the reported point, the distance of the point from the reported triangle, and the excess of the
 * triangle's true distance over the least one. The unit is 2^-24 of the largest distance from the centre to a corner of
 * the reported or the nearest triangle. For the point, the largest corner coordinate is added to that. Infinity if the
 * answer has a wrong form. */
double error_fast(const scene *s, const swept_spheres *b, size_t i, const ref_mesh_closest_answer *truth,
                  const closest_results *n);

#endif
