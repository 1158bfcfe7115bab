/* SPDX-License-Identifier: MIT */
/* The patches of a mesh, which keeps those that were found until its vertices change. */
#ifndef CAROM_HOST_MESH_PATCHES_H
#define CAROM_HOST_MESH_PATCHES_H
#include "edges.h"

/* The binary64 nearest to the cosine of an angle in [0, 180]; cosine.c */
double caromi_cosine_of_degrees(double degrees);
/* The patch of each triangle: as given, else found for this angle. */
carom_status caromi_patches_of(carom_mesh *mesh, const caromi_edges *edges, double flat, const uint32_t **patch,
                               carom_error *err);
uint64_t caromi_patches_bytes(const carom_mesh *mesh); /* of those that were found */
/* The vertices change, or the mesh is destroyed. */
void caromi_patches_forget(carom_mesh *mesh);
#endif
