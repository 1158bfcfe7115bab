/* SPDX-License-Identifier: MIT */
/* What rows about meshes share: the inputs of spheres, their descriptors, and judges of parts of an answer. */
#ifndef CAROM_QUERIES_MESH_MESH_H
#define CAROM_QUERIES_MESH_MESH_H

#include "queries/query.h"

/* Initialisers of `inputs`. Spheres in motion have the columns of spheres at rest in the same order, so that a batch of
 * the first serves both. */
#define QUERY_SPHERE                                                  \
    {.name = "center", .columns = {"cx", "cy", "cz"}},                \
    {                                                                 \
        .name = "radius", .columns = {"radius"}, .role = QUERY_RADIUS \
    }
#define QUERY_MASKS                                                            \
    {                                                                          \
        .name = "mask", .columns = {"mask"}, .role = QUERY_MASK, .optional = 1 \
    }
#define QUERY_AT_REST             \
    {                             \
        QUERY_SPHERE, QUERY_MASKS \
    }
#define QUERY_SWEPT                                                                                   \
    {                                                                                                 \
        QUERY_SPHERE, {.name = "velocity", .columns = {"vx", "vy", "vz"}, .role = QUERY_VELOCITY},    \
            {.name = "t_max", .columns = {"t_max"}, .role = QUERY_WINDOW, .optional = 1}, QUERY_MASKS \
    }

/* The head of a descriptor of that size. */
carom_batch query_batch(const query_call *call, size_t size);
carom_mesh_sweep_desc query_swept(const query_call *call);
carom_mesh_overlap_desc query_at_rest(const query_call *call);

/* The sphere with a triangle of its mesh; -1: without. */
ref_sweep_case query_sphere_and(const query_sphere *s, int32_t triangle);
/* The first hit; of an instance that moves its point is where it is at time 0. Returns whether the reference has it. */
int query_find_first(const query_sphere *s, ref_mesh_hit *out);
/* Judge a byte that says whether there is a triangle; found: how many, or less than 0 of a sphere that is not valid. */
void query_judge_whether(uint8_t given, int64_t found, query_verdict *v);
/* Judge a list after its records: their number, which offsets have of all spheres, and whether it is for want of room
 * that they are not there. */
void query_judge_list(const query_records *answer, uint64_t truth, query_verdict *v);

#endif
