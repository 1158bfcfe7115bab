/* SPDX-License-Identifier: MIT */
/* A run of closest-point queries as the kernels see them. */
#ifndef CAROM_CPU_CLOSEST_H
#define CAROM_CPU_CLOSEST_H
#include "mesh.h"

/* Contiguous columns: cx cy cz radius in, one answer per query out. */
enum { CAROMI_CLOSEST_IN = 4 };
typedef struct caromi_closest_queries {
    const float *in[CAROMI_CLOSEST_IN];
    int32_t *triangle;
    float *distance, *depth;
    size_t count;
} caromi_closest_queries;

/* Settle in integers a query (CAROMI_CLOSEST_IN numbers) that mesh_closest_exact has left open. */
void caromi_settle_closest(const caromi_mesh_view *mesh, const float *query, int32_t *triangle, float *distance,
                           float *depth);
#endif
