/* SPDX-License-Identifier: MIT */
/* First hits on a mesh of the tests by the exact reference, and checks of answers against them. */
#ifndef CAROM_TESTS_SUPPORT_MESH_ORACLE_H
#define CAROM_TESTS_SUPPORT_MESH_ORACLE_H

#include "reference/mesh.h"
#include "scenes.h"

typedef ref_mesh_hit oracle_hit;

ref_mesh oracle_mesh(const scene *s);
ref_mesh_options oracle_options(const swept_spheres *b, size_t i);
oracle_hit oracle_first(const scene *s, const swept_spheres *b, size_t i);
/* All hits of sphere i. The caller frees them. */
ref_mesh_list oracle_all(const scene *s, const swept_spheres *b, size_t i);
/* NULL if answer k is the true one for sphere i, else what is wrong with it. */
const char *oracle_judge_at(const scene *s, const swept_spheres *b, size_t i, const oracle_hit *truth, const hits *h,
                            size_t k);
/* NULL if answer i is the true one, else what is wrong with it. */
const char *oracle_judge(const scene *s, const swept_spheres *b, size_t i, const oracle_hit *truth, const hits *h);

#endif
