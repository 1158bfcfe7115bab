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

/* Slopes of the height at the touch point along both edges, and their error bounds. */
typedef struct drop_wide_slopes {
    w3 edge1, edge2; /* from p0 to p1 and to p2 */
    wf slope1, slope2, slope_error1, slope_error2;
} drop_wide_slopes;

/* Upper bound of the rise from the touch point, by the tangent plane at the corners. */
FN wf drop_wide_rise(const drop_wide_point *pair, const drop_wide_slopes *slopes)
{
    const wf to_p0 = -(pair->b * slopes->slope1 + pair->c * slopes->slope2);
    const wf highest =
        drop_wide_max(drop_wide_max(to_p0, slopes->slope1 + to_p0), drop_wide_max(slopes->slope2 + to_p0, w_f(W(0.0))));
    return highest + (w_f(W(3.0)) * (slopes->slope_error1 + slopes->slope_error2) +
                      w_f(W(0x1p-49)) * (w_abs(slopes->slope1) + w_abs(slopes->slope2)));
}

/* Upper bound of the rise by the curvature of the height, which is at least 1 / R. On the edge, a slope across it that
 * leads out of the triangle does not count. +inf: seen from above, the triangle has nearly no area. */
FN wf drop_wide_bulge(const drop_wide_point *pair, const drop_wide_slopes *slopes)
{
    const wf zero = w_f(W(0.0)), eps = w_f(W(0x1p-50));
    const wf edge_length2 = slopes->edge1.x * slopes->edge1.x + slopes->edge1.y * slopes->edge1.y;
    const wf product = slopes->edge1.x * slopes->edge2.y, other_product = slopes->edge1.y * slopes->edge2.x,
             area = product - other_product;
    const wf share = (slopes->edge1.x * slopes->edge2.x + slopes->edge1.y * slopes->edge2.y) / edge_length2,
             along = slopes->slope1 * share;
    const wf error =
        slopes->slope_error2 + slopes->slope_error1 * w_abs(share) + eps * (w_abs(slopes->slope2) + w_abs(along));
    const wf across = slopes->slope2 - along;
    /* The slope across the edge P0 P1: of a point off the edge (weight c of P2 > 0) to either side, else inwards. */
    const wf inwards = drop_wide_max(across, w_sel(w_lt(zero, pair->c), -across, zero)) + error;
    const wf steepness1 = w_abs(slopes->slope1) + slopes->slope_error1, steepness2 = inwards * edge_length2 / area;
    const wf bulge =
        w_f(W(0x1.0001p-1)) * pair->r * ((steepness1 * steepness1 + steepness2 * steepness2) / edge_length2);
    const wm is_known = w_lt((w_abs(product) + w_abs(other_product)) * w_f(W(0x1p-20)), w_abs(area));
    return w_sel(w_and(is_known, w_le(zero, bulge)), bulge, w_infinity());
}

/* The same formulas as touch_at() in host/lattice/drop_bound.c. */
FN drop_wide_bounds drop_wide_bounds_of(const drop_wide_point *pair)
{
    const wf eight = w_f(W(0x1p-50)), sixteen = w_f(W(0x1p-49)), two = w_f(W(2.0));
    drop_wide_slopes slopes;
    drop_wide_bounds bounds;
    slopes.edge1 = w3_sub(pair->p1, pair->p0);
    slopes.edge2 = w3_sub(pair->p2, pair->p0);
    const wf from_p0_x = pair->x - pair->p0.x, from_p0_y = pair->y - pair->p0.y,
             size1 = drop_wide_size_xy(slopes.edge1), size2 = drop_wide_size_xy(slopes.edge2);
    const wf offset_x = from_p0_x - (pair->b * slopes.edge1.x + pair->c * slopes.edge2.x),
             offset_y = from_p0_y - (pair->b * slopes.edge1.y + pair->c * slopes.edge2.y);
    /* The offset from the touch point to the column, and the height of the centre over that point. */
    const wf position_error = eight * (w_abs(from_p0_x) + w_abs(from_p0_y) + pair->b * size1 + pair->c * size2),
             square = pair->r2 - (offset_x * offset_x + offset_y * offset_y);
    const wf square_error =
        eight * pair->r2 + (two * (w_abs(offset_x) + w_abs(offset_y)) + position_error) * position_error;
    const wm is_known = w_lt(w_f(W(1024.0)) * square_error, square);
    const wf root = w_sqrt(w_sel(is_known, square, pair->r2)), inverse = w_f(W(1.0)) / root;
    const wf per_root_error = inverse * (eight + two * (square_error * inverse * inverse)),
             slope_position_error = two * position_error * inverse;
    const wf height = pair->p0.z + (pair->b * slopes.edge1.z + pair->c * slopes.edge2.z) + root;
    const wf error =
        sixteen * (w_abs(pair->p0.z) + pair->b * w_abs(slopes.edge1.z) + pair->c * w_abs(slopes.edge2.z) + root) +
        two * square_error * inverse;
    /* Slopes along the edges, then the lower of two bounds of the rise. */
    const wf edge1_x = offset_x * slopes.edge1.x, edge1_y = offset_y * slopes.edge1.y,
             edge2_x = offset_x * slopes.edge2.x, edge2_y = offset_y * slopes.edge2.y;
    slopes.slope1 = (edge1_x + edge1_y) * inverse + slopes.edge1.z;
    slopes.slope2 = (edge2_x + edge2_y) * inverse + slopes.edge2.z;
    slopes.slope_error1 = (w_abs(edge1_x) + w_abs(edge1_y)) * per_root_error + slope_position_error * size1 +
                          eight * w_abs(slopes.edge1.z);
    slopes.slope_error2 = (w_abs(edge2_x) + w_abs(edge2_y)) * per_root_error + slope_position_error * size2 +
                          eight * w_abs(slopes.edge2.z);
    const wf rise = drop_wide_rise(pair, &slopes), bulge = drop_wide_bulge(pair, &slopes);
    bounds.low = height - error;
    bounds.high = height + (error + w_sel(w_lt(bulge, rise), bulge, rise));
    /* Certain if all numbers between the bounds round up to one binary32. */
    const wf rounded = w_round(bounds.low);
    const wm crosses = w_and(w_le(bounds.low, rounded), w_lt(rounded, bounds.high));
    bounds.certain = w_and(is_known, w_and(w_eq(rounded, w_round(bounds.high)), w_not(crosses)));
    return bounds;
}
#endif
