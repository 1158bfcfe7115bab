/* SPDX-License-Identifier: MIT */
/* Bounds, in binary64, of the heights at which the ball touches WIDE triangles: caromi_drop_triangle_bound() in lanes,
 * from touch points that binary32 has found. docs/drop.md adds up the errors. */
#ifndef CAROM_CPU_LATTICE_DROP_WIDE_H
#define CAROM_CPU_LATTICE_DROP_WIDE_H
#include "kernels/wide.h"

/* The point p0 + b (p1 - p0) + c (p2 - p0) of a triangle, and a ball over (x, y); r2: its squared radius, exact. */
typedef struct drop_wide_point {
    w3 p0, p1, p2;
    wf b, c, x, y, r, r2;
} drop_wide_point;

typedef struct drop_wide_bounds {
    wf low, high;
    wm certain; /* both round up to the same binary32 */
} drop_wide_bounds;

FN wf drop_wide_max(wf a, wf b)
{
    return w_sel(w_lt(a, b), b, a);
}

FN wf drop_wide_size_xy(w3 a)
{
    return w_abs(a.x) + w_abs(a.y);
}

/* Slopes of the height at the touch point along the edges e to p1 and f to p2, and their error bounds. */
typedef struct drop_wide_slopes {
    w3 e, f;
    wf a, b, slope_error_a, slope_error_b;
} drop_wide_slopes;

/* Upper bound of the rise from the touch point, by the tangent plane at the corners. */
FN wf drop_wide_rise(const drop_wide_point *pair, const drop_wide_slopes *slopes)
{
    const wf back = -(pair->b * slopes->a + pair->c * slopes->b);
    const wf most = drop_wide_max(drop_wide_max(back, slopes->a + back), drop_wide_max(slopes->b + back, w_f(W(0.0))));
    return most + (w_f(W(3.0)) * (slopes->slope_error_a + slopes->slope_error_b) +
                   w_f(W(0x1p-49)) * (w_abs(slopes->a) + w_abs(slopes->b)));
}

/* Upper bound of the rise by the curvature of the height, which is at least 1 / R. On the edge, a slope across it that
 * leads out of the triangle does not count. +inf: seen from above, the triangle has nearly no area. */
FN wf drop_wide_bulge(const drop_wide_point *pair, const drop_wide_slopes *slopes)
{
    const wf zero = w_f(W(0.0)), u = w_f(W(0x1p-50));
    const wf l2 = slopes->e.x * slopes->e.x + slopes->e.y * slopes->e.y;
    const wf plus = slopes->e.x * slopes->f.y, minus = slopes->e.y * slopes->f.x, area = plus - minus;
    const wf share = (slopes->e.x * slopes->f.x + slopes->e.y * slopes->f.y) / l2, along = slopes->a * share;
    const wf error =
        slopes->slope_error_b + slopes->slope_error_a * w_abs(share) + u * (w_abs(slopes->b) + w_abs(along));
    const wf across = slopes->b - along;
    const wf inwards = drop_wide_max(across, w_sel(w_lt(zero, pair->c), -across, zero)) + error;
    const wf a = w_abs(slopes->a) + slopes->slope_error_a, v = inwards * l2 / area;
    const wf bulge = w_f(W(0x1.0001p-1)) * pair->r * ((a * a + v * v) / l2);
    const wm known = w_lt((w_abs(plus) + w_abs(minus)) * w_f(W(0x1p-20)), w_abs(area));
    return w_sel(w_and(known, w_le(zero, bulge)), bulge, w_infinity());
}

/* The same formulas as touch_at() in host/lattice/drop_bound.c. */
FN drop_wide_bounds drop_wide_bounds_of(const drop_wide_point *pair)
{
    const wf eight = w_f(W(0x1p-50)), sixteen = w_f(W(0x1p-49)), two = w_f(W(2.0));
    drop_wide_slopes slopes;
    drop_wide_bounds bounds;
    slopes.e = w3_sub(pair->p1, pair->p0);
    slopes.f = w3_sub(pair->p2, pair->p0);
    const wf dx = pair->x - pair->p0.x, dy = pair->y - pair->p0.y, e1 = drop_wide_size_xy(slopes.e),
             f1 = drop_wide_size_xy(slopes.f);
    const wf x = dx - (pair->b * slopes.e.x + pair->c * slopes.f.x),
             y = dy - (pair->b * slopes.e.y + pair->c * slopes.f.y);
    const wf position_error = eight * (w_abs(dx) + w_abs(dy) + pair->b * e1 + pair->c * f1),
             square = pair->r2 - (x * x + y * y);
    const wf square_error = eight * pair->r2 + (two * (w_abs(x) + w_abs(y)) + position_error) * position_error;
    const wm known = w_lt(w_f(W(1024.0)) * square_error, square);
    const wf root = w_sqrt(w_sel(known, square, pair->r2)), inverse = w_f(W(1.0)) / root;
    const wf per = inverse * (eight + two * (square_error * inverse * inverse)), wide = two * position_error * inverse;
    const wf height = pair->p0.z + (pair->b * slopes.e.z + pair->c * slopes.f.z) + root;
    const wf error = sixteen * (w_abs(pair->p0.z) + pair->b * w_abs(slopes.e.z) + pair->c * w_abs(slopes.f.z) + root) +
                     two * square_error * inverse;
    const wf ex = x * slopes.e.x, ey = y * slopes.e.y, fx = x * slopes.f.x, fy = y * slopes.f.y;
    slopes.a = (ex + ey) * inverse + slopes.e.z;
    slopes.b = (fx + fy) * inverse + slopes.f.z;
    slopes.slope_error_a = (w_abs(ex) + w_abs(ey)) * per + wide * e1 + eight * w_abs(slopes.e.z);
    slopes.slope_error_b = (w_abs(fx) + w_abs(fy)) * per + wide * f1 + eight * w_abs(slopes.f.z);
    const wf rise = drop_wide_rise(pair, &slopes), bulge = drop_wide_bulge(pair, &slopes);
    bounds.low = height - error;
    bounds.high = height + (error + w_sel(w_lt(bulge, rise), bulge, rise));
    const wf rounded = w_round(bounds.low);
    const wm crosses = w_and(w_le(bounds.low, rounded), w_lt(rounded, bounds.high));
    bounds.certain = w_and(known, w_and(w_eq(rounded, w_round(bounds.high)), w_not(crosses)));
    return bounds;
}
#endif
