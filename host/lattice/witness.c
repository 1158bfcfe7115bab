/* SPDX-License-Identifier: MIT */
/* An upper bound of the distance to a triangle: the distance to some point of it. The point is about the closest, but
 * the bound holds wherever it is. docs/volumes.md, section 4, bounds the roundings. */
#include <math.h>

#include "cubes.h"

typedef struct vector {
    double x, y, z;
} vector;

static vector sub(vector a, vector b)
{
    return (vector){a.x - b.x, a.y - b.y, a.z - b.z};
}
static vector add(vector a, double s, vector b)
{
    return (vector){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}
static double dot(vector a, vector b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

static double clamp(double s)
{
    return s > 0.0 ? s < 1.0 ? s : 1.0 : 0.0; /* 0 if it is NaN */
}

/* The square of the distance from the origin to a point of the edge. */
static double to_edge(vector a, vector edge)
{
    const vector foot = add(a, clamp(-dot(a, edge) / dot(edge, edge)), edge);
    return dot(foot, foot);
}

/* The same of the face, infinite if the foot is not inside. */
static double to_face(vector a, vector b, vector c)
{
    const double bb = dot(b, b), bc = dot(b, c), cc = dot(c, c), ab = -dot(a, b), ac = -dot(a, c);
    const double area = bb * cc - bc * bc, s = (ab * cc - ac * bc) / area, t = (ac * bb - ab * bc) / area;
    if (!(s >= 0.0 && t >= 0.0 && s + t <= 1.0))
        return HUGE_VAL;
    const vector foot = add(add(a, s, b), t, c);
    return dot(foot, foot);
}

double caromi_within_triangle(const carom_mesh *mesh, int32_t triangle, const double point[3])
{
    const vector from = {point[0], point[1], point[2]};
    vector corner[3];
    double size2 = 0.0;
    for (int k = 0; k < 3; k++) {
        const float *p = caromi_corner(mesh, (uint32_t)triangle, k);
        corner[k] = sub((vector){(double)p[0], (double)p[1], (double)p[2]}, from);
        size2 += dot(corner[k], corner[k]);
    }
    const vector b = sub(corner[1], corner[0]), c = sub(corner[2], corner[0]);
    const double face = to_face(corner[0], b, c);
    const double edges =
        least(least(to_edge(corner[0], b), to_edge(corner[0], c)), to_edge(corner[1], sub(corner[2], corner[1])));
    return sqrt(least(face, edges)) + sqrt(size2) * 0x1p-46;
}
