/* SPDX-License-Identifier: MIT */
/* Closest points on the meshes of the tests: asking for them, comparing them, and the truth about them. */
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

/* Of the spheres, centre, radius and mask are asked about. `integers` (or NULL) is increased by how many these
 * settled. */
void ask_part(carom_mesh *mesh, const swept_spheres *b, carom_accuracy accuracy, size_t first, size_t count,
              const closest_results *out, uint64_t *integers);
/* All of them, on a mesh made for the purpose. */
closest_results ask_scene(carom_context *context, const scene *s, const swept_spheres *b, carom_accuracy accuracy,
                          uint64_t *integers);

ref_mesh_closest_answer true_closest(const scene *s, const swept_spheres *b, size_t i);
/* NULL if answer i is what exact mode promises, else what is wrong with it. */
const char *judge_exact(const scene *s, const swept_spheres *b, size_t i, const ref_mesh_closest_answer *truth,
                        const closest_results *n);
/* How far answer i of fast mode is off, in 2^-24 of the largest distance between centre and corners of the two
 * triangles, which it names and which is the nearest: the distance of the first and of the point, the point's from
 * the triangle, and what the true distance of the triangle exceeds the least one by. Infinity if it is no answer at
 * all. */
double error_fast(const scene *s, const swept_spheres *b, size_t i, const ref_mesh_closest_answer *truth,
                  const closest_results *n);

#endif
