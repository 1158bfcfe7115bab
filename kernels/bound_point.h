/* SPDX-License-Identifier: MIT */
/* A point of a triangle whose distance bounds answers: the closest one to a given point. It lies on the face only if
 * the triangle is no sliver, because the bound of a sliver's face would be useless. The text is C and OpenCL C;
 * wide_real is binary64. */
#ifndef CAROM_BOUND_POINT_H
#define CAROM_BOUND_POINT_H

/* A point of a triangle near `to`, in binary64 and in the unit of the corners. Its distance from a node gives an upper
 * bound of the node's answer (docs/volumes.md, section 6). `longest`: length of the longest edge. */
typedef struct bounding_point {
    wide_real point[3], longest;
} bounding_point;

/* Triangles are no slivers if the square of the product of two edges over twice the area is at most this. */
#define BOUND_POINT_FAIR 256.0

typedef struct triple {
    wide_real x, y, z;
} triple;

static inline triple triple_sub(triple a, triple b)
{
    return (triple){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline wide_real triple_dot(triple a, triple b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline triple triple_cross(triple a, triple b)
{
    return (triple){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

/* A point of the segment, near the one that is closest to `to`. */
static inline triple bound_point_on_segment(triple a, triple b, triple to)
{
    const triple edge = triple_sub(b, a);
    const wide_real share = triple_dot(triple_sub(to, a), edge) / triple_dot(edge, edge);
    const wide_real clamped = share > 0 ? (share < 1 ? share : 1) : 0; /* 0 for NaN */
    return (triple){a.x + edge.x * clamped, a.y + edge.y * clamped, a.z + edge.z * clamped};
}

/* Replaces the best point by a nearer one. */
static inline void bound_point_keep_nearer(triple point, triple to, triple *best, wide_real *best2)
{
    const triple offset = triple_sub(point, to);
    const wide_real square = triple_dot(offset, offset);
    if (square < *best2) {
        *best2 = square;
        *best = point;
    }
}

/* The foot on the plane, if it lies in the triangle; 0 if not. */
static inline int bound_point_on_face(triple a, triple edge1, triple edge2, triple normal, triple to, triple *out)
{
    const triple offset = triple_sub(to, a);
    const wide_real area2 = triple_dot(normal, normal),
                    weight1 = triple_dot(triple_cross(offset, edge2), normal) / area2,
                    weight2 = triple_dot(triple_cross(edge1, offset), normal) / area2;
    if (!(weight1 >= 0 && weight2 >= 0 && weight1 + weight2 <= 1))
        return 0;
    *out = (triple){a.x + edge1.x * weight1 + edge2.x * weight2, a.y + edge1.y * weight1 + edge2.y * weight2,
                    a.z + edge1.z * weight1 + edge2.z * weight2};
    return 1;
}

/* The closest point of corners, edges and face, as far as binary64 finds it. */
static inline bounding_point bound_point_of(const float corners[9], const wide_real to[3])
{
    const triple a = {(wide_real)corners[0], (wide_real)corners[1], (wide_real)corners[2]};
    const triple b = {(wide_real)corners[3], (wide_real)corners[4], (wide_real)corners[5]};
    const triple c = {(wide_real)corners[6], (wide_real)corners[7], (wide_real)corners[8]},
                 target = {to[0], to[1], to[2]};
    const triple edge01 = triple_sub(b, a), edge02 = triple_sub(c, a), edge12 = triple_sub(c, b),
                 normal = triple_cross(edge01, edge02);
    const wide_real square01 = triple_dot(edge01, edge01), square02 = triple_dot(edge02, edge02),
                    square12 = triple_dot(edge12, edge12), area2 = triple_dot(normal, normal);
    triple best = a, foot;
    wide_real best2 = 1.0 / 0.0;
    bound_point_keep_nearer(a, target, &best, &best2);
    bound_point_keep_nearer(bound_point_on_segment(a, b, target), target, &best, &best2);
    bound_point_keep_nearer(bound_point_on_segment(b, c, target), target, &best, &best2);
    bound_point_keep_nearer(bound_point_on_segment(c, a, target), target, &best, &best2);
    /* The face counts unless the triangle is a sliver. */
    const wide_real sliver_limit = BOUND_POINT_FAIR * area2;
    if (square01 * square02 <= sliver_limit && square02 * square12 <= sliver_limit &&
        square12 * square01 <= sliver_limit && bound_point_on_face(a, edge01, edge02, normal, target, &foot))
        bound_point_keep_nearer(foot, target, &best, &best2);
    const bounding_point found = {{best.x, best.y, best.z},
                                  sqrt(square01 > square02 ? (square01 > square12 ? square01 : square12)
                                                           : (square02 > square12 ? square02 : square12))};
    return found;
}
#endif
