/* SPDX-License-Identifier: MIT */
/* The solid angle of a triangle: van Oosterom and Strackee's formula in binary64, and where the place is too near to a
 * line through two corners, the angles between the planes that the place spans with the edges, whose normals are found
 * in integers. The sign is exact, as if the place had moved by (e, e^2, e^3) with an infinitely small e, which is how
 * its ray crosses the triangle. docs/volumes.md, section 3, derives the bounds. */
#include <math.h>

#include "angle.h"
#include "closing.h"
#include "cpu/exact/integer.h"
#include "cpu/exact/ray.h"

/* Numerator and denominator of the tangent of half the angle, and what their errors depend on. */
typedef struct tangent {
    double over, under;
    double size, spread; /* product of the lengths; 4 times the product of the squared cosines of half the angles
                            between the corners, times size^2: over^2 + under^2 = 2 spread */
} tangent;

/* a, b and c: the corners relative to the place. */
static tangent tangent_of(double corner[3][3])
{
    const double *a = corner[0], *b = corner[1], *c = corner[2];
    const double ab = a[0] * b[0] + a[1] * b[1] + a[2] * b[2], bc = b[0] * c[0] + b[1] * c[1] + b[2] * c[2],
                 ca = c[0] * a[0] + c[1] * a[1] + c[2] * a[2];
    const double la = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]), lb = sqrt(b[0] * b[0] + b[1] * b[1] + b[2] * b[2]),
                 lc = sqrt(c[0] * c[0] + c[1] * c[1] + c[2] * c[2]);
    return (tangent){.over = a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
                             a[2] * (b[0] * c[1] - b[1] * c[0]),
                     .under = la * lb * lc + ab * lc + bc * la + ca * lb,
                     .size = la * lb * lc,
                     .spread = (la * lb + ab) * (lb * lc + bc) * (lc * la + ca)};
}

/* The angle, + where `over` is positive, and the bound of its error. */
static caromi_winding winding_of(const tangent *t)
{
    const double turn = caromi_turn_of(t->under, fabs(t->over));
    return (caromi_winding){t->over < 0 ? -turn : turn, 0x1p-50 + 0x1p-49 * t->size / sqrt(t->spread)};
}

/* ---- exactly ----------------------------------------------------------------------------------------------------- */

/* Whether the moved place is behind the triangle: 1 or -1. */
static int sign_of(const float corners[9], const float place[3])
{
    const float *const p[] = {corners, corners + 3, corners + 6};
    const int height = caromi_exact_ray_height(p, place);
    /* 0: the triangle is level and the place in its plane, so it moves up. The sign is that of the normal's z. */
    return -(height != 0 ? height : caromi_exact_ray_side(p[1], p[2], p[0][0], p[0][1]));
}

/* The corners relative to the place, in integers of one unit. */
static void offsets(const float corners[9], const float place[3], caromi_int3 corner[3])
{
    float in[12];
    caromi_int from;
    for (int k = 0; k < 12; k++)
        in[k] = k < 9 ? corners[k] : place[k - 9];
    const int lowest = caromi_lowest_bit(in, 12), unit = lowest == CAROMI_NO_BIT ? 0 : lowest;
    for (int k = 0; k < 3; k++) {
        caromi_int_of_float(&from, place[k], unit);
        for (int i = 0; i < 3; i++) {
            caromi_int_of_float(&corner[i].x[k], corners[3 * i + k], unit);
            caromi_int_sub(&corner[i].x[k], &corner[i].x[k], &from);
        }
    }
}

/* The direction of a vector of integers, its largest component 1 or -1; each has an error of 2^-50 of itself. */
static void direction_of(const caromi_int3 *v, double out[3])
{
    caromi_approx part[3];
    int top = INT32_MIN;
    for (int k = 0; k < 3; k++) {
        part[k] = caromi_int_approx(&v->x[k]);
        top = part[k].m != 0 && part[k].e > top ? part[k].e : top;
    }
    for (int k = 0; k < 3; k++)
        out[k] = caromi_approx_double(part[k], -top);
}

/* The direction of a x b. If the place is on the line through both corners, that of what its move makes of it: the move
 * x (a - b). */
static void plane_of(const caromi_int3 *a, const caromi_int3 *b, double normal[3])
{
    caromi_int3 product, edge;
    caromi_int3_cross(&product, a, b);
    if (product.x[0].sign == 0 && product.x[1].sign == 0 && product.x[2].sign == 0) {
        caromi_int3_sub(&edge, a, b);
        const int along_x = edge.x[1].sign == 0 && edge.x[2].sign == 0;
        caromi_int_zero(&product.x[0]);
        if (!along_x) {
            caromi_int_sub(&product.x[1], &product.x[0], &edge.x[2]);
            caromi_int_copy(&product.x[2], &edge.x[1]);
        } else {
            caromi_int_sub(&product.x[2], &product.x[0], &edge.x[0]);
        }
    }
    direction_of(&product, normal);
}

/* The angle between two directions, as a part of a turn. */
static double angle_between(const double n[3], const double m[3], double sign)
{
    const double x = n[1] * m[2] - n[2] * m[1], y = n[2] * m[0] - n[0] * m[2], z = n[0] * m[1] - n[1] * m[0];
    return caromi_turn_of(sign * (n[0] * m[0] + n[1] * m[1] + n[2] * m[2]), sqrt(x * x + y * y + z * z));
}

/* By Girard's theorem: the excess of the angles between the planes. */
static double angle_exactly(const float corners[9], const float place[3])
{
    caromi_int3 corner[3];
    double plane[3][3];
    offsets(corners, place, corner);
    for (int k = 0; k < 3; k++)
        plane_of(&corner[k], &corner[(k + 1) % 3], plane[k]);
    const double sum = angle_between(plane[0], plane[2], -1) + angle_between(plane[1], plane[0], -1) +
                       angle_between(plane[2], plane[1], -1);
    const double angle = (sum - 0.5) / 2;
    return angle < 0 ? 0 : angle;
}

/* ---- both -------------------------------------------------------------------------------------------------------- */

caromi_winding caromi_solid_angle(const float corners[9], const float place[3], int exactly)
{
    double corner[3][3];
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++)
            corner[i][k] = (double)corners[3 * i + k] - (double)place[k];
        if (corner[i][0] == 0 && corner[i][1] == 0 && corner[i][2] == 0) /* on the mesh: any side will do */
            return (caromi_winding){0, 0};
    }
    const tangent t = tangent_of(corner);
    if (!exactly && t.spread > 0x1p-20 * t.size * t.size && fabs(t.over) > 0x1p-46 * t.size)
        return winding_of(&t);
    caromi_winding w = {0, 0x1p-47};
    if (!exactly && t.spread > 0x1p-20 * t.size * t.size)
        w = winding_of(&(tangent){fabs(t.over), t.under, t.size, t.spread});
    else
        w.value = angle_exactly(corners, place);
    w.value *= sign_of(corners, place);
    return w;
}

caromi_winding caromi_solid_angle_near(const float corners[9], const double center[3])
{
    double corner[3][3];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            corner[i][k] = (double)corners[3 * i + k] - center[k];
    const tangent t = tangent_of(corner);
    const int has_sign = fabs(t.over) > 0x1p-46 * t.size || t.under > 0;
    if (!(t.spread > 0x1p-20 * t.size * t.size) || !has_sign)
        return (caromi_winding){0, (double)INFINITY};
    return winding_of(&t);
}
