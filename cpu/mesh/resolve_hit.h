/* SPDX-License-Identifier: MIT */
/* One triangle of a mesh query, decided by the second filter or in integers. */
#ifndef CAROM_CPU_MESH_RESOLVE_HIT_H
#define CAROM_CPU_MESH_RESOLVE_HIT_H
#include "mesh.h"

/* Whether a sphere is certainly outside the box of a triangle (nine numbers) up to a time. */
int caromi_hit_is_outside(const caromi_mesh_query *query, const float *corners, int moving, float until);
/* 1 with time and state if the triangle is hit up to `limit`. Raises *rung to the rung that was needed. */
int caromi_resolve_sweep(const caromi_mesh_query *query, const float *corners, float limit, float *t, int *state,
                         caromi_rung *rung);
#endif
