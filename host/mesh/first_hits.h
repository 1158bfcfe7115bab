/* SPDX-License-Identifier: MIT */
/* First hits that the exact search leaves undecided. */
#ifndef CAROM_HOST_MESH_FIRST_HITS_H
#define CAROM_HOST_MESH_FIRST_HITS_H
#include "batch.h"

enum { CAROMI_FIRST_HITS = 64 };
/* Decides the queries of up to CAROMI_FIRST_HITS rows: their answers, and the last rung that each has needed. */
void caromi_resolve_first_hits(const caromi_mesh_batch *batch, const uint64_t *rows, uint32_t count,
                               caromi_mesh_answer *answers, caromi_rung *rungs);
#endif
