/* SPDX-License-Identifier: MIT */
/* One triangle after another, where a kernel would answer for all of them. resolve_contacts.c */
#ifndef CAROM_CPU_MESH_CONTACT_TRIANGLES_H
#define CAROM_CPU_MESH_CONTACT_TRIANGLES_H
#include "mesh.h"

/* The distance that `closest` gives the triangle; in exact mode NaN if the nearest binary32 is not certain. */
float caromi_own_distance(const caromi_mesh_view *mesh, const float *in, int exact);
/* Asks for triangles that may be within `near` of a point and no farther than t from a centre, the nearest to the
 * centre first as boxes have it, until the answer is not 0. Returns the last answer. */
int caromi_find_triangle(const caromi_mesh_view *mesh, const float *point, float near, const float *center, float t,
                         int (*test)(void *user, int32_t triangle), void *user);
#endif
