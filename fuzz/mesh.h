/* SPDX-License-Identifier: MIT */
/* What the fuzz targets of meshes and scenes share: from a sphere past a few triangles to verdicts. */
#ifndef CAROM_FUZZ_MESH_H
#define CAROM_FUZZ_MESH_H

#include "fuzz.h"
#include "queries/query.h"

enum { FUZZ_MESH_TRIANGLES = 6 }; /* at most */

/* Every bit of an answer, what is not written included. */
typedef struct fuzz_mesh_answer {
    uint64_t field[QUERY_FIELDS_MAX][FUZZ_MESH_TRIANGLES], offsets[2], total, stored;
} fuzz_mesh_answer;

/* The answer of a query in exact mode. ends: the sphere's velocity is where its centre is at time 1. instance: of a
 * scene, the column for FUZZ_MESH_TRIANGLES instances; else NULL. Ends the process at an error. */
void fuzz_mesh_ask(const query_type *query, carom_mesh *mesh, const query_sphere *of, int ends, int32_t *instance,
                   fuzz_mesh_answer *to);

/* Whether the reference agrees; else `what` says what is wrong. */
int fuzz_mesh_judge(const query_type *query, const query_sphere *of, fuzz_mesh_answer *answer, char *what, size_t size);

#endif
