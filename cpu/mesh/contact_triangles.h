/* SPDX-License-Identifier: MIT */
/* A search around a contact that ends at the first triangle: contact_triangles.c. */
#ifndef CAROM_CPU_MESH_CONTACT_TRIANGLES_H
#define CAROM_CPU_MESH_CONTACT_TRIANGLES_H
#include "mesh.h"

/* Calls `test` for triangles that may be within point_distance of a point and within center_distance of a centre, in
 * the order of their boxes' distances from the centre, until it returns nonzero. Returns its last result. */
int caromi_find_triangle(const caromi_mesh_view *mesh, const float *point, float point_distance, const float *center,
                         float center_distance, int (*test)(void *user, int32_t triangle), void *user);
#endif
