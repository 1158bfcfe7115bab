/* SPDX-License-Identifier: MIT */
/* The crossing of a triangle with a ray along +z: a floating-point filter in binary64 with proven bounds, and exact
 * predicates (ray.h) for undecided cases. docs/volumes.md, section 3, derives the bounds. */
#ifndef CAROM_CPU_EXACT_CROSSING_H
#define CAROM_CPU_EXACT_CROSSING_H

#include <math.h>

#include "ray.h"

/* Relative error bounds of the two determinants below, as a factor on the sum of their terms' magnitudes. */
#define CAROMI_SIDE_ERROR 0x1p-50
#define CAROMI_HEIGHT_ERROR 0x1p-49

/* A triangle seen from above, in binary64. */
typedef struct caromi_seen_triangle {
    const float *corner[3];
    double x[3], y[3];
    double normal[3], size[3]; /* normal of the plane; bound of its terms' magnitudes, for the error */
} caromi_seen_triangle;

/* Sets corners, x and y. */
static inline void caromi_see_triangle(caromi_seen_triangle *triangle, const float corners[9])
{
    for (int k = 0; k < 3; k++) {
        triangle->corner[k] = corners + 3 * k;
        triangle->x[k] = (double)corners[3 * k];
        triangle->y[k] = (double)corners[3 * k + 1];
    }
}

/* The side of an edge that a ray is on, seen from above; 0 if the edge is a point from above. */
static inline int caromi_side_of_edge(const caromi_seen_triangle *triangle, int edge, double x, double y)
{
    const int next = edge == 2 ? 0 : edge + 1;
    const double left = (triangle->x[edge] - x) * (triangle->y[next] - y),
                 right = (triangle->y[edge] - y) * (triangle->x[next] - x);
    const double product = left - right, error = CAROMI_SIDE_ERROR * (fabs(left) + fabs(right));
    if (product > error)
        return 1;
    if (product < -error)
        return -1;
    return caromi_exact_ray_side(triangle->corner[edge], triangle->corner[next], (float)x, (float)y);
}

/* 1 or -1 if the line of the ray crosses the triangle, the sign of the normal's z; else 0. */
static inline int caromi_line_crosses(const caromi_seen_triangle *triangle, double x, double y)
{
    const int side = caromi_side_of_edge(triangle, 0, x, y);
    return side != 0 && caromi_side_of_edge(triangle, 1, x, y) == side && caromi_side_of_edge(triangle, 2, x, y) == side
               ? side
               : 0;
}

/* Computes the normal of a triangle's plane, and bounds of its terms. */
static inline void caromi_set_plane(caromi_seen_triangle *triangle)
{
    double e[3], f[3];
    for (int k = 0; k < 3; k++) {
        e[k] = (double)triangle->corner[1][k] - (double)triangle->corner[0][k];
        f[k] = (double)triangle->corner[2][k] - (double)triangle->corner[0][k];
    }
    for (int k = 0; k < 3; k++) {
        const int a = (k + 1) % 3, b = (k + 2) % 3;
        const double plus = e[a] * f[b], minus = e[b] * f[a];
        triangle->normal[k] = plus - minus;
        triangle->size[k] = fabs(plus) + fabs(minus);
    }
}

/* The part of the height determinant that is common to all points of a vertical line. */
typedef struct caromi_line_height {
    double product, size; /* size: sum of its terms' magnitudes */
} caromi_line_height;

/* The triangle has its plane. */
static inline caromi_line_height caromi_line_height_of(const caromi_seen_triangle *triangle, float x, float y)
{
    const double dx = (double)x - (double)triangle->corner[0][0], dy = (double)y - (double)triangle->corner[0][1];
    return (caromi_line_height){triangle->normal[0] * dx + triangle->normal[1] * dy,
                                triangle->size[0] * fabs(dx) + triangle->size[1] * fabs(dy)};
}

/* Whether the triangle crosses the line strictly above a point of it. side: as caromi_line_crosses returns it. */
static inline int caromi_crosses_above(const caromi_seen_triangle *triangle, const caromi_line_height *line, int side,
                                       const float point[3])
{
    const double rise = (double)point[2] - (double)triangle->corner[0][2];
    const double product = line->product + triangle->normal[2] * rise;
    const double error = CAROMI_HEIGHT_ERROR * (line->size + triangle->size[2] * fabs(rise));
    if (product > error || product < -error)
        return (product < 0) == (side > 0);
    return caromi_exact_ray_height(triangle->corner, point) == -side;
}

/* 1 or -1 if the ray from a point along +z crosses the triangle strictly above it, the sign of the normal's z; else
 * 0. */
static inline int caromi_ray_crosses(const float corners[9], const float point[3])
{
    caromi_seen_triangle triangle;
    caromi_see_triangle(&triangle, corners);
    const int side = caromi_line_crosses(&triangle, (double)point[0], (double)point[1]);
    if (side == 0)
        return 0;
    caromi_set_plane(&triangle);
    const caromi_line_height line = caromi_line_height_of(&triangle, point[0], point[1]);
    return caromi_crosses_above(&triangle, &line, side, point) ? side : 0;
}
#endif
