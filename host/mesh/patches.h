/* SPDX-License-Identifier: MIT */
/* The patches of a mesh. The mesh caches computed patches until its vertices change. */
#ifndef CAROM_HOST_MESH_PATCHES_H
#define CAROM_HOST_MESH_PATCHES_H
#include "edges.h"

/* The cosine of an angle in [0, 180] degrees, rounded to the nearest binary64. cosine.c */
double caromi_cosine_of_degrees(double degrees);
/* The patch of each triangle: the caller's, or else computed for the angle `flat` in degrees, and across T-junctions
 * and cracks within a distance; within 0: along whole edges alone. */
carom_status caromi_patches_of(carom_mesh *mesh, const caromi_edges *edges, double flat, float within,
                               caromi_patches *out, carom_error *err);
uint64_t caromi_patches_bytes(const carom_mesh *mesh); /* bytes of the cached patches */
/* Discards the cached patches. */
void caromi_patches_forget(carom_mesh *mesh);
#endif
