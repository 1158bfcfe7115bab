/* SPDX-License-Identifier: MIT */
/* A mesh and a run of queries as the kernels see them. */
#ifndef CAROM_CPU_MESH_H
#define CAROM_CPU_MESH_H
#include "cpu.h"

typedef struct caromi_mesh_view {
    mesh_frame frame;
    const mesh_node *nodes;
    const mesh_leaf *leaves;
} caromi_mesh_view;

/* Contiguous columns: cx cy cz radius vx vy vz t_max in, one answer per query out. */
enum { CAROMI_MESH_IN = 8 };
typedef struct caromi_mesh_queries {
    const float *in[CAROMI_MESH_IN];
    int32_t *triangle, *state;
    float *t;
    size_t count;
} caromi_mesh_queries;

/* Settle in integers a query (CAROMI_MESH_IN numbers) that mesh_first_exact has left open. */
void caromi_settle_mesh(const caromi_mesh_view *mesh, const float *query, int32_t *triangle, int32_t *state, float *t);
#endif
