/* SPDX-License-Identifier: MIT */
/* Checks a triangulation of a polygon with integer coordinates against the definition, in integers: for tests and fuzz
 * targets. */
#ifndef CAROM_TESTS_SUPPORT_POLYGON_ORACLE_H
#define CAROM_TESTS_SUPPORT_POLYGON_ORACLE_H

#include <stddef.h>
#include <stdint.h>

typedef struct lattice_point {
    int32_t x, y; /* of magnitude at most 2^20, for polygon_covers_once 2^8 */
} lattice_point;

/* Twice the area, positive if counter-clockwise. */
int64_t polygon_area(const lattice_point *p, size_t n);
/* 1 if no two edges have a common point, except the corner between neighbours. */
int polygon_is_simple(const lattice_point *p, size_t n);
/* 1 if the winding number is 0 or 1 everywhere off the boundary, and 1 somewhere. The polygon may touch itself. */
int polygon_covers_once(const lattice_point *p, size_t n);

/* Returns NULL if the triangles (three corner numbers each) are a triangulation of the polygon, else what is wrong: a
 * triangle is clockwise, two overlap, one is not inside, or the areas do not sum up; in a simple polygon also: there
 * are not n - 2 triangles, or one has no area. polygon_covers_once must hold. */
const char *polygon_judge(const lattice_point *p, size_t n, const uint32_t *triangles, size_t count);
/* The same, but only the checks that take linear time: orientation, number and areas. */
const char *polygon_judge_sums(const lattice_point *p, size_t n, const uint32_t *triangles, size_t count, int simple);

#endif
