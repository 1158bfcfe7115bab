/* SPDX-License-Identifier: MIT */
/* A ray along +z against a triangle, decided exactly. Ties are broken by simulation of simplicity: the ray's start is
 * moved by (e, e^2) in x and y with an infinitely small e, so it meets no vertex and no edge. Computed in integers of
 * 128 bits if the numbers fit, else with cpu/exact/integer.h. docs/volumes.md derives the rules. */
#ifndef CAROM_CPU_EXACT_RAY_H
#define CAROM_CPU_EXACT_RAY_H

/* Seen from above, on which side of the line from a to b the ray is: 1 left, -1 right, 0 if a and b coincide there. a
 * and b are x y z; z is not read. */
int caromi_exact_ray_side(const float *a, const float *b, float x, float y);
/* The sign of ((P1 - P0) x (P2 - P0)).(start - P0). The triangle has an area, seen from above. */
int caromi_exact_ray_height(const float *const p[3], const float start[3]);
#endif
