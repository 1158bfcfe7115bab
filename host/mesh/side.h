/* SPDX-License-Identifier: MIT */
/* Which side of a mesh a place is on: inside or outside. All calls that take a carom_sign use these functions, and the
 * rules are chosen in caromi_find_sides() and caromi_is_inside() alone. Lattices share the rays of their columns
 * (host/lattice/inside.h), and use the second. */
#ifndef CAROM_HOST_MESH_SIDE_H
#define CAROM_HOST_MESH_SIDE_H
#include "batch.h"
#include "block.h"

/* Whether a place is inside whose ray crosses triangles with this sum of directions. */
static inline int caromi_is_inside(carom_sign sign, int32_t sum)
{
    return sign == CAROM_SIGN_PARITY ? sum & 1 : sum != 0;
}

/* Fails unless both are values of a descriptor. side.c */
carom_status caromi_check_sign(carom_sign sign, int allow_open, carom_error *err);
/* Fails unless the mesh, whose host copy is up to date, is closed as `sign` needs it. closed.c */
carom_status caromi_check_closed(carom_mesh *mesh, carom_sign sign, carom_error *err);
/* Fails if the sign refuses the mesh and open meshes are not allowed. Without a sign there is nothing to check. */
carom_status caromi_check_body(carom_mesh *mesh, carom_sign sign, int allow_open, carom_error *err);
/* Makes the closings that the queries of a batch need, if its sign is ROBUST. The masks that select differently must
 * not be more than CAROMI_CLOSINGS. Before each but the first it reports progress, so that a program can cancel. */
carom_status caromi_close_for(const caromi_mesh_batch *batch, const carom_batch *asked, carom_stats *stats,
                              carom_error *err);
/* Queries that are worth a task of their own: one, if a closing of the mesh has many parts. */
uint32_t caromi_side_grain(const caromi_mesh_batch *batch);

/* Places, at most CAROMI_BLOCK. All coordinates are finite. */
typedef struct caromi_places {
    uint32_t count;
    float x[CAROMI_BLOCK], y[CAROMI_BLOCK], z[CAROMI_BLOCK];
    int32_t mask[CAROMI_BLOCK]; /* with MESH_QUERY_MASKS */
    int options;                /* MESH_TRIANGLE_MASKS and MESH_QUERY_MASKS */
} caromi_places;
/* Sets, for each place, whether it is inside. The mesh has triangles, and with ROBUST the closing of each mask. */
void caromi_find_sides(carom_mesh *mesh, carom_sign sign, const caromi_places *places, uint8_t *is_inside);

/* Gives the distances, depths and gradients of a block of closest points their signs. Queries whose distance is NaN,
 * that is undecided, stay as they are. */
void caromi_sign_block(const caromi_mesh_batch *batch, caromi_mesh_block *block, uint32_t count);
/* The same for one decided answer. */
void caromi_sign_answer(const caromi_mesh_batch *batch, const caromi_mesh_query *query, caromi_mesh_answer *answer);
/* Sets the bytes of those of the queries [first, end) that are 0, and inside, to 1. */
carom_status caromi_sign_overlaps(const carom_context *context, const caromi_mesh_batch *batch, uint8_t *overlaps,
                                  uint64_t first, uint64_t end, carom_stats *stats, carom_error *err);
/* Why no device answers a batch; NULL: it may. */
static inline const char *caromi_reason_to_decline(const caromi_mesh_batch *batch)
{
    return batch->sign == CAROM_SIGN_ROBUST           ? "devices do not decide by solid angles at given centres"
           : (batch->options & MESH_CARRIED) != 0     ? "devices search no scenes whose instances have velocities"
           : batch->mesh->scene == NULL               ? NULL
           : batch->kind == &caromi_contact_triangles ? "devices find no contacts in scenes"
                                                      : NULL;
}
/* Leaves a batch to the CPU, as no device answers it. A batch that prepares has no queries: `done` is `end`. */
carom_status caromi_decline_mesh(const carom_mesh *mesh, const char *reason, uint64_t end, uint64_t done,
                                 carom_stats *stats);
#endif
