/* SPDX-License-Identifier: MIT */
/* Triangles that the floating-point filter of a mesh query leaves undecided. */
#ifndef CAROM_CPU_MESH_RESOLVE_HIT_H
#define CAROM_CPU_MESH_RESOLVE_HIT_H
#include "mesh.h"

/* Whether a sphere is certainly outside the box of a triangle (nine numbers) up to a time that rounds to `until`. */
int caromi_hit_is_outside(const caromi_mesh_query *query, const float *corners, int moving, float until);
/* Decides in integers whether a sphere at rest overlaps a triangle. */
int caromi_resolve_overlap(const caromi_mesh_query *query, const float *corners, caromi_rung *rung);

/* What is known of a query. */
typedef struct caromi_hit_outcome {
    caromi_rung rung; /* the last that one of its triangles has reached */
    int one_is_enough, has_hit;
} caromi_hit_outcome;

/* A swept sphere and a triangle. */
typedef struct caromi_open_hit {
    mesh_record *record;
    caromi_hit_outcome *outcome;
    float limit;
    int options, numbers; /* of the columns it has: IN_SWEEP_MOVING or IN_SWEEP_CARRIED */
} caromi_open_hit;

/* Undecided sweeps, collected because the second filter takes as long for one as for a group of lanes. */
enum { CAROMI_OPEN_HITS = 64 };
typedef struct caromi_open_hits {
    const struct caromi_isa_table *isa;
    uint32_t count;
    caromi_open_hit hit[CAROMI_OPEN_HITS];
    _Alignas(64) float in[IN_SWEEP_CARRIED][CAROMI_OPEN_HITS];
} caromi_open_hits;

static inline void caromi_open_hits_begin(caromi_open_hits *open, const struct caromi_isa_table *isa)
{
    open->isa = isa; /* the arrays are set as far as they are used */
    open->count = 0;
}
/* Adds a triangle, which is hit if that is not after `limit`. When the hits are decided, at the latest by
 * caromi_open_hits_decide, the record has time and state of the hit, or the state MISS. A query to which one hit is
 * enough has no other after it: later triangles are a MISS. Both pointers are kept until then. */
void caromi_open_hits_add(caromi_open_hits *open, const caromi_mesh_query *query, const float *corners, float limit,
                          mesh_record *record, caromi_hit_outcome *outcome);
void caromi_open_hits_decide(caromi_open_hits *open);
#endif
