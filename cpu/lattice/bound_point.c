/* SPDX-License-Identifier: MIT */
/* A point of a triangle whose distance bounds answers: the closest one to a given point. It lies on the face only if
 * the triangle is no sliver, because the bound of a sliver's face would be useless. */
#include <math.h>

#include "lattice.h"

/* Triangles are no slivers if the square of the product of two edges over twice the area is at most this. */
static const double fair = 256.0;

typedef struct triple {
    double x, y, z;
} triple;

static triple sub(triple a, triple b)
{
    return (triple){a.x - b.x, a.y - b.y, a.z - b.z};
}

static double dot(triple a, triple b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static triple cross(triple a, triple b)
{
    return (triple){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

/* A point of the segment, near the one that is closest to `to`. */
static triple on_segment(triple a, triple b, triple to)
{
    const triple e = sub(b, a);
    const double share = dot(sub(to, a), e) / dot(e, e);
    const double s = share > 0 ? (share < 1 ? share : 1) : 0; /* 0 for NaN */
    return (triple){a.x + e.x * s, a.y + e.y * s, a.z + e.z * s};
}

static void keep_nearer(triple point, triple to, triple *best, double *best2)
{
    const triple offset = sub(point, to);
    const double square = dot(offset, offset);
    if (square < *best2) {
        *best2 = square;
        *best = point;
    }
}

/* The foot on the plane, if it lies in the triangle; 0 if not. */
static int on_face(triple a, triple e, triple f, triple normal, triple to, triple *out)
{
    const triple offset = sub(to, a);
    const double area2 = dot(normal, normal), u = dot(cross(offset, f), normal) / area2,
                 v = dot(cross(e, offset), normal) / area2;
    if (!(u >= 0 && v >= 0 && u + v <= 1))
        return 0;
    *out = (triple){a.x + e.x * u + f.x * v, a.y + e.y * u + f.y * v, a.z + e.z * u + f.z * v};
    return 1;
}

void caromi_bound_point_of(const float corners[9], const double to[3], caromi_bound_point *out)
{
    const triple a = {(double)corners[0], (double)corners[1], (double)corners[2]};
    const triple b = {(double)corners[3], (double)corners[4], (double)corners[5]};
    const triple c = {(double)corners[6], (double)corners[7], (double)corners[8]}, at = {to[0], to[1], to[2]};
    const triple e = sub(b, a), f = sub(c, a), g = sub(c, b), normal = cross(e, f);
    const double e2 = dot(e, e), f2 = dot(f, f), g2 = dot(g, g), area2 = dot(normal, normal);
    triple best = a, foot;
    double best2 = HUGE_VAL;
    keep_nearer(a, at, &best, &best2);
    keep_nearer(on_segment(a, b, at), at, &best, &best2);
    keep_nearer(on_segment(b, c, at), at, &best, &best2);
    keep_nearer(on_segment(c, a, at), at, &best, &best2);
    const double most = fair * area2;
    if (e2 * f2 <= most && f2 * g2 <= most && g2 * e2 <= most && on_face(a, e, f, normal, at, &foot))
        keep_nearer(foot, at, &best, &best2);
    out->point[0] = best.x;
    out->point[1] = best.y;
    out->point[2] = best.z;
    out->longest = sqrt(e2 > f2 ? (e2 > g2 ? e2 : g2) : (f2 > g2 ? f2 : g2));
}
