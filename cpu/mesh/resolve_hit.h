/* SPDX-License-Identifier: MIT */
/* Triangles that the floating-point filter of a mesh query leaves undecided. */
#ifndef CAROM_CPU_MESH_RESOLVE_HIT_H
#define CAROM_CPU_MESH_RESOLVE_HIT_H
#include "cpu/resolve.h"
#include "mesh.h"

/* Whether a sphere is certainly outside the box of a triangle (nine numbers) up to a time that rounds to `until`. */
int caromi_hit_is_outside(const caromi_mesh_query *query, const float *corners, int moving, float until);
/* Whether a sphere at rest overlaps a triangle, decided in integers. */
int caromi_resolve_overlap(const caromi_mesh_query *query, const float *corners);

/* Knowledge of a query. */
typedef struct caromi_hit_outcome {
    caromi_rung rung; /* the last that one of its triangles has reached */
    int one_is_enough, has_hit;
} caromi_hit_outcome;

/* A swept sphere and a triangle. */
typedef struct caromi_undecided_hit {
    mesh_record *record;
    caromi_hit_outcome *outcome;
    float limit;
    int options, numbers; /* of the columns it has: IN_SWEEP_MOVING or IN_SWEEP_CARRIED */
} caromi_undecided_hit;

/* Undecided sweeps, collected because the second filter takes as long for one as for a group of lanes. */
typedef struct caromi_undecided_hits {
    const struct caromi_isa_table *isa;
    uint32_t count;
    caromi_undecided_hit hit[CAROMI_SECOND_SWEEPS];
    _Alignas(64) float in[IN_SWEEP_CARRIED][CAROMI_SECOND_SWEEPS];
} caromi_undecided_hits;

static inline void caromi_undecided_hits_begin(caromi_undecided_hits *undecided, const struct caromi_isa_table *isa)
{
    undecided->isa = isa; /* the arrays are set as far as they are used */
    undecided->count = 0;
}
/* Adds a triangle, which is hit if that is not after `limit`. When the hits are decided, at the latest by
 * caromi_undecided_hits_decide, the record has time and state of the hit, or the state MISS. A query to which one hit
 * is enough has no other after it: later triangles are a MISS. Both pointers are kept until then. */
void caromi_undecided_hits_add(caromi_undecided_hits *undecided, const caromi_mesh_query *query, const float *corners,
                               float limit, mesh_record *record, caromi_hit_outcome *outcome);
void caromi_undecided_hits_decide(caromi_undecided_hits *undecided);
#endif
