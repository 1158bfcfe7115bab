/* SPDX-License-Identifier: MIT */
/* Polygons of the plane into triangles. Every decision is exact: coordinates are binary32, signs are proven. */
#ifndef CAROM_CLI_IMPORT_EARS_H
#define CAROM_CLI_IMPORT_EARS_H

#include <stdint.h>

typedef struct flat_point {
    float x, y; /* finite; zeros without sign */
} flat_point;

/* The true sign of the area of a, b, c: 1 counter-clockwise, 0 in a line, -1 clockwise. */
int flat_turn(flat_point a, flat_point b, flat_point c);

/* Cut a counter-clockwise polygon of n > 3 corners, no two equal points in a row, into triangles: three corners each in
 * triangles[3 * (n - 2)], `made` of them. A simple polygon gives n - 2, none without area. A polygon may touch itself
 * and run along itself, as bridges to holes do, as long as it covers no point twice.
 * Returns 1, 0 if the polygon crosses itself (or covers a point twice, or none), -1 without memory. */
int mesh_ears(const flat_point *points, uint32_t n, uint32_t *triangles, uint32_t *made);

#endif
