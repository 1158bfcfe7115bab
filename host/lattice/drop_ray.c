/* SPDX-License-Identifier: MIT */
/* A ball without a radius: the height of the mesh's highest point on a column's vertical line. */
#include "cpu/exact/ray.h"
#include "drop.h"

/* The exact side, from the ray predicate. That predicate perturbs a ray that meets a corner; on the line, the mirrored
 * ray is perturbed the other way and gives the other side. */
int caromi_drop_side(const float *a, const float *b, const float *at)
{
    const float mirrored_a[2] = {-a[0], -a[1]}, mirrored_b[2] = {-b[0], -b[1]};
    const int side = caromi_exact_ray_side(a, b, at[0], at[1]);
    return side == caromi_exact_ray_side(mirrored_a, mirrored_b, -at[0], -at[1]) ? side : 0;
}

/* The exact side, computed in binary64 where that is certain. */
static int side_of(const float *a, const float *b, double x, double y)
{
    const float at[2] = {(float)x, (float)y};
    const int side = caromi_drop_certain_side(a, b, x, y);
    return side != 0 ? side : caromi_drop_side(a, b, at);
}

/* Asks the predicate for the point and for its mirror image: on the triangle, its two perturbations disagree. */
int caromi_drop_ray_above(const float *const corner[3], const float at[3])
{
    float mirrored[4][3];
    const float *corner_of_mirrored[3];
    const int up = caromi_drop_side(corner[0], corner[1], corner[2]), side = caromi_exact_ray_height(corner, at);
    for (int k = 0; k < 4; k++) {
        const float *point = k < 3 ? corner[k] : at;
        mirrored[k][0] = -point[0];
        mirrored[k][1] = -point[1];
        mirrored[k][2] = point[2];
        corner_of_mirrored[k % 3] = mirrored[k % 3];
    }
    return side == caromi_exact_ray_height(corner_of_mirrored, mirrored[3]) && side == -up;
}

static int is_between(float at, float a, float b)
{
    return a < b ? a <= at && at <= b : b <= at && at <= a;
}

/* Bounds for an edge, over a column exactly on its line. */
static drop_bound edge_bound(const float *a, const float *b, double x, double y)
{
    const int axis = fabs((double)b[0] - (double)a[0]) < fabs((double)b[1] - (double)a[1]);
    const double offset = (double)b[axis] - (double)a[axis], z = (double)a[2], rise = (double)b[2] - z;
    if (!is_between((float)x, a[0], b[0]) || !is_between((float)y, a[1], b[1]))
        return (drop_bound)DROP_NONE;
    if (offset == 0) { /* vertical */
        const double top = (double)(a[2] > b[2] ? a[2] : b[2]);
        return (drop_bound){top, top};
    }
    const double fraction = ((axis ? y : x) - (double)a[axis]) / offset,
                 error = 8 * DROP_ROUNDING * (fabs(z) + fabs(rise));
    const double height = z + fraction * rise;
    if (fraction == 0 || fraction == 1 || rise == 0) /* at an end, or the edge is level: exact */
        return fraction == 1 ? (drop_bound){(double)b[2], (double)b[2]} : (drop_bound){z, z};
    return (drop_bound){height - error, height + error};
}

/* Bounds for a triangle that is a line, seen from above. */
static drop_bound upright_bound(const float *const corner[3], double x, double y)
{
    drop_bound highest = DROP_NONE;
    for (int k = 0; k < 3; k++) {
        const float *a = corner[k], *b = corner[(k + 1) % 3];
        if (side_of(a, b, x, y) != 0)
            continue;
        const drop_bound edge = edge_bound(a, b, x, y);
        highest.low = edge.low > highest.low ? edge.low : highest.low;
        highest.high = edge.high > highest.high ? edge.high : highest.high;
    }
    return highest;
}

/* Whether the column meets the triangle, seen from above; up: sign of the normal's z. */
static int is_over(const float *const corner[3], int up, double x, double y)
{
    for (int k = 0; k < 3; k++)
        if (side_of(corner[k], corner[(k + 1) % 3], x, y) == -up)
            return 0;
    return 1;
}

static float least3(float a, float b, float c)
{
    return a < b ? (a < c ? a : c) : (b < c ? b : c);
}

static float most3(float a, float b, float c)
{
    return a > b ? (a > c ? a : c) : (b > c ? b : c);
}

/* Whether a coordinate is within the triangle's range along an axis. */
static int is_near(const float *const corner[3], int axis, double at)
{
    const float a = corner[0][axis], b = corner[1][axis], c = corner[2][axis];
    return (double)least3(a, b, c) <= at && at <= (double)most3(a, b, c);
}

/* Bounds for the triangle's plane, at a column inside. area: the normal's z; size: the sum of its terms' magnitudes. */
static drop_bound plane_bound(const float *const corner[3], double x, double y, double area, double size)
{
    const double z = (double)corner[0][2];
    const double e[3] = {(double)corner[1][0] - (double)corner[0][0], (double)corner[1][1] - (double)corner[0][1],
                         (double)corner[1][2] - z};
    const double f[3] = {(double)corner[2][0] - (double)corner[0][0], (double)corner[2][1] - (double)corner[0][1],
                         (double)corner[2][2] - z};
    double error;
    const double rise =
        caromi_drop_plane_rise(e, f, x - (double)corner[0][0], y - (double)corner[0][1], area, size, &error);
    const double height = z + rise;
    error += e[2] != 0 || f[2] != 0 ? 8 * DROP_ROUNDING * fabs(z) : 0;
    return (drop_bound){height - error, height + error};
}

/* Where the vertical line meets the triangle: its plane, or its edges if it is a line from above. */
drop_bound caromi_drop_ray_bound(const float *const corner[3], double x, double y)
{
    if (!is_near(corner, AXIS_X, x) || !is_near(corner, AXIS_Y, y))
        return (drop_bound)DROP_NONE;
    const double ax = (double)corner[0][0], ay = (double)corner[0][1];
    const double plus = ((double)corner[1][0] - ax) * ((double)corner[2][1] - ay);
    const double minus = ((double)corner[1][1] - ay) * ((double)corner[2][0] - ax);
    const double area = plus - minus, size = fabs(plus) + fabs(minus);
    /* The sign of the normal's z, exactly. */
    int up = area > 8 * DROP_ROUNDING * size ? 1 : area < -8 * DROP_ROUNDING * size ? -1 : 0;
    up = up != 0 ? up : caromi_drop_side(corner[0], corner[1], corner[2]);
    if (up == 0)
        return upright_bound(corner, x, y);
    if (!is_over(corner, up, x, y))
        return (drop_bound)DROP_NONE;
    /* Straight over a corner, the height is the corner's. */
    for (int k = 0; k < 3; k++)
        if ((double)corner[k][0] == x && (double)corner[k][1] == y)
            return (drop_bound){(double)corner[k][2], (double)corner[k][2]};
    if (fabs(area) > 0x1p-20 * size)
        return plane_bound(corner, x, y, area, size);
    return (drop_bound){(double)least3(corner[0][2], corner[1][2], corner[2][2]),
                        (double)most3(corner[0][2], corner[1][2], corner[2][2])};
}
