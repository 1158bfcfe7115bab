/* SPDX-License-Identifier: MIT */
/* Pieces of the scenes that tests and `carom verify` ask meshes about: triangles, and aims at them. Made of + - * / and
 * sqrt from the reference's generator: the same numbers on every machine. */
#ifndef CAROM_QUERIES_SHAPES_H
#define CAROM_QUERIES_SHAPES_H

#include "reference/generate.h"

#include <stddef.h>

/* A triangle of about `size` in the box of half side 1, then `scale` times as large and moved by `offset`. */
void shape_soup_triangle(ref_gen *g, double size, double scale, double offset, float p[9]);
/* The third corner moves onto the edge between the others, a bit beside it, or close to it, by the triangle's number.
 */
void shape_needle(size_t number, float p[9]);
/* A corner, the middle of an edge, a point of the face, or one beside the triangle. Returns the corner next to it. */
int shape_spot(ref_gen *g, float p[3][3], double spot[3]);
/* A direction along an axis, along a diagonal of the grid, or anywhere. */
void shape_way(ref_gen *g, double way[3]);

#endif
