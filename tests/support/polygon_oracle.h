/* SPDX-License-Identifier: MIT */
/* Polygons of whole numbers and their triangles, judged from the definition in integers: for tests and fuzz targets. */
#ifndef CAROM_TESTS_SUPPORT_POLYGON_ORACLE_H
#define CAROM_TESTS_SUPPORT_POLYGON_ORACLE_H

#include <stddef.h>
#include <stdint.h>

typedef struct lattice_point {
    int32_t x, y; /* of magnitude at most 2^20, for polygon_covers_once 2^8 */
} lattice_point;

/* Twice the area, positive if counter-clockwise. */
int64_t polygon_area(const lattice_point *p, size_t n);
/* No two edges have a point in common but the corner between neighbours? */
int polygon_is_simple(const lattice_point *p, size_t n);
/* The winding number is 0 or 1 everywhere but on the boundary, and 1 somewhere? It may touch itself. */
int polygon_covers_once(const lattice_point *p, size_t n);

/* Triangles of three corners each. NULL, or what is wrong with them as a cover of a polygon that covers once: one is
 * clockwise, two overlap, one is not inside, the areas do not sum up; in a simple polygon: they are not n - 2, or one
 * has no area. */
const char *polygon_judge(const lattice_point *p, size_t n, const uint32_t *triangles, size_t count);
/* The same without the checks of all against all: turns, number and areas. */
const char *polygon_judge_sums(const lattice_point *p, size_t n, const uint32_t *triangles, size_t count, int simple);

#endif
