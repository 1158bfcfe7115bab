/* SPDX-License-Identifier: MIT */
/* The crossing of a triangle with a column of nodes, as cpu/exact/crossing.h decides it: a filter in binary64 whose
 * bounds are proven, and integers where that leaves a sign open. docs/volumes.md, section 3, has both. */
#ifndef CAROM_LATTICE_CROSSING_H
#define CAROM_LATTICE_CROSSING_H
#include "limbs.h"
#include "vec.h"
#include "wide.h"

/* The sign of (a - p) x (b - p), seen from above, in integers. */
FN int crossing_exact_side(v3 a, v3 b, real x, real y)
{
    const real from[4] = {a.x, b.y, a.y, b.x}, less[4] = {x, y, y, x};
    u32 factor[4][LIMBS_REAL], area[LIMBS_AREA];
    LANG_ROLLED
    for (int k = 0; k < 4; k++)
        limbs_difference(from[k], less[k], factor[k]);
    limbs_area(factor[0], factor[1], factor[2], factor[3], area);
    return limbs_sign(area, LIMBS_AREA);
}

/* The side of an edge that a column is on; 0 if the edge is a point from above. A column on the edge has moved by an
 * infinitely small e in x and e^2 in y. */
FN int crossing_side(v3 a, v3 b, real x, real y)
{
    const wide_real left = ((wide_real)a.x - x) * ((wide_real)b.y - y),
                    right = ((wide_real)a.y - y) * ((wide_real)b.x - x), product = left - right,
                    error = 0x1p-50 * (fabs(left) + fabs(right));
    int side = product > error ? 1 : product < -error ? -1 : 0;
    if (side == 0 && error > 0) /* products of differences do not underflow: without error both are 0 */
        side = crossing_exact_side(a, b, x, y);
    return side != 0 ? side : a.y != b.y ? (a.y < b.y ? -1 : 1) : (a.x < b.x) - (b.x < a.x);
}

/* 1 or -1 if the column crosses the triangle, the sign of the normal's z; else 0. */
FN int crossing_of(const v3 corner[3], real x, real y)
{
    int side = 0, agrees = 1;
    LANG_ROLLED
    for (int edge = 0; edge < 3 && agrees; edge++) {
        const int own = crossing_side(corner[edge], corner[edge == 2 ? 0 : edge + 1], x, y);
        agrees = own != 0 && (edge == 0 || own == side);
        side = own;
    }
    return agrees ? side : 0;
}

/* The height of a column's nodes above a triangle's plane, times the normal: the part that all nodes have in common,
 * and what a rise in z adds. size: magnitudes, for the error. */
typedef struct crossing_height {
    wide_real common, common_size, normal_z, size_z;
} crossing_height;

FN crossing_height crossing_height_of(const v3 corner[3], real x, real y)
{
    const wide_real ex = (wide_real)corner[1].x - corner[0].x, ey = (wide_real)corner[1].y - corner[0].y,
                    ez = (wide_real)corner[1].z - corner[0].z, fx = (wide_real)corner[2].x - corner[0].x,
                    fy = (wide_real)corner[2].y - corner[0].y, fz = (wide_real)corner[2].z - corner[0].z,
                    dx = (wide_real)x - corner[0].x, dy = (wide_real)y - corner[0].y;
    crossing_height height;
    height.common = (ey * fz - fy * ez) * dx + (ez * fx - fz * ex) * dy;
    height.common_size = (fabs(ey * fz) + fabs(fy * ez)) * fabs(dx) + (fabs(ez * fx) + fabs(fz * ex)) * fabs(dy);
    height.normal_z = ex * fy - fx * ey;
    height.size_z = fabs(ex * fy) + fabs(fx * ey);
    return height;
}

/* The sign of the height of a node above the plane, times the normal, in integers. Of a node in the plane the move of
 * the column decides. */
FN int crossing_exact_height(const v3 corner[3], real x, real y, real z)
{
    u32 e[3][LIMBS_REAL], f[3][LIMBS_REAL], offset[LIMBS_REAL], normal[LIMBS_AREA], part[LIMBS_VOLUME],
        sum[LIMBS_VOLUME];
    const real p[3] = {corner[0].x, corner[0].y, corner[0].z}, q[3] = {corner[1].x, corner[1].y, corner[1].z},
               r[3] = {corner[2].x, corner[2].y, corner[2].z}, node[3] = {x, y, z};
    int signs[3];
    LANG_ROLLED
    for (int k = 0; k < 3; k++) {
        limbs_difference(q[k], p[k], e[k]);
        limbs_difference(r[k], p[k], f[k]);
    }
    LANG_ROLLED
    for (int k = 0; k < LIMBS_VOLUME; k++)
        sum[k] = 0;
    LANG_ROLLED
    for (int k = 0; k < 3; k++) {
        const int a = (k + 1) % 3, b = (k + 2) % 3;
        limbs_area(e[a], f[b], e[b], f[a], normal);
        limbs_difference(node[k], p[k], offset);
        limbs_multiply(normal, LIMBS_AREA, offset, LIMBS_REAL, part, LIMBS_VOLUME);
        limbs_add(sum, part, LIMBS_VOLUME);
        signs[k] = limbs_sign(normal, LIMBS_AREA);
    }
    const int above = limbs_sign(sum, LIMBS_VOLUME);
    return above != 0 ? above : signs[0] != 0 ? signs[0] : signs[1];
}

/* Whether the triangle crosses the column strictly above a node. */
FN int crossing_is_above(const v3 corner[3], const crossing_height *height, int side, real x, real y, real z)
{
    const wide_real rise = (wide_real)z - corner[0].z, product = height->common + height->normal_z * rise,
                    error = 0x1p-49 * (height->common_size + height->size_z * fabs(rise));
    if (product > error || product < -error)
        return (product < 0) == (side > 0);
    if (corner[0].z == corner[1].z && corner[1].z == corner[2].z) /* level: its height is that of its corners */
        return rise < 0;
    return crossing_exact_height(corner, x, y, z) == -side;
}
#endif
