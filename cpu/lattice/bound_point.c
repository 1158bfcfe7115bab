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
    const triple edge = sub(b, a);
    const double share = dot(sub(to, a), edge) / dot(edge, edge);
    const double clamped = share > 0 ? (share < 1 ? share : 1) : 0; /* 0 for NaN */
    return (triple){a.x + edge.x * clamped, a.y + edge.y * clamped, a.z + edge.z * clamped};
}

/* Replaces the best point by a nearer one. */
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
static int on_face(triple a, triple edge1, triple edge2, triple normal, triple to, triple *out)
{
    const triple offset = sub(to, a);
    const double area2 = dot(normal, normal), weight1 = dot(cross(offset, edge2), normal) / area2,
                 weight2 = dot(cross(edge1, offset), normal) / area2;
    if (!(weight1 >= 0 && weight2 >= 0 && weight1 + weight2 <= 1))
        return 0;
    *out = (triple){a.x + edge1.x * weight1 + edge2.x * weight2, a.y + edge1.y * weight1 + edge2.y * weight2,
                    a.z + edge1.z * weight1 + edge2.z * weight2};
    return 1;
}

/* The closest point of corners, edges and face, as far as binary64 finds it. */
void caromi_bound_point_of(const float corners[9], const double to[3], caromi_bound_point *out)
{
    const triple a = {(double)corners[0], (double)corners[1], (double)corners[2]};
    const triple b = {(double)corners[3], (double)corners[4], (double)corners[5]};
    const triple c = {(double)corners[6], (double)corners[7], (double)corners[8]}, target = {to[0], to[1], to[2]};
    const triple edge01 = sub(b, a), edge02 = sub(c, a), edge12 = sub(c, b), normal = cross(edge01, edge02);
    const double square01 = dot(edge01, edge01), square02 = dot(edge02, edge02), square12 = dot(edge12, edge12),
                 area2 = dot(normal, normal);
    triple best = a, foot;
    double best2 = HUGE_VAL;
    keep_nearer(a, target, &best, &best2);
    keep_nearer(on_segment(a, b, target), target, &best, &best2);
    keep_nearer(on_segment(b, c, target), target, &best, &best2);
    keep_nearer(on_segment(c, a, target), target, &best, &best2);
    /* The face counts unless the triangle is a sliver. */
    const double sliver_limit = fair * area2;
    if (square01 * square02 <= sliver_limit && square02 * square12 <= sliver_limit &&
        square12 * square01 <= sliver_limit && on_face(a, edge01, edge02, normal, target, &foot))
        keep_nearer(foot, target, &best, &best2);
    out->point[0] = best.x;
    out->point[1] = best.y;
    out->point[2] = best.z;
    out->longest = sqrt(square01 > square02 ? (square01 > square12 ? square01 : square12)
                                            : (square02 > square12 ? square02 : square12));
}
