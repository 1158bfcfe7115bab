/* SPDX-License-Identifier: MIT */
/* Single triangles of a contact, for which a search by a kernel does not pay: resolve_contacts.c. */
#ifndef CAROM_CPU_MESH_CONTACT_TRIANGLES_H
#define CAROM_CPU_MESH_CONTACT_TRIANGLES_H
#include "mesh.h"

/* The distance that `closest` gives the triangle; in exact mode NaN if the nearest binary32 is not certain. */
float caromi_own_distance(const caromi_mesh_view *mesh, const float *in, int exact);
/* Calls `test` for triangles that may be within point_distance of a point and within center_distance of a centre, in
 * the order of their boxes' distances from the centre, until it returns nonzero. Returns its last result. */
int caromi_find_triangle(const caromi_mesh_view *mesh, const float *point, float point_distance, const float *center,
                         float center_distance, int (*test)(void *user, int32_t triangle), void *user);
#endif
