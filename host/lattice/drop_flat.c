/* SPDX-License-Identifier: MIT */
/* Bounds for faces and edges that are level or nearly so, as after a rotation of a part by 90 degrees in rounded
 * arithmetic. Their heights are z + radius + rest, where the rest may be far below the last place of the sum. So the
 * rest is bounded separately, with a relative error, and its sign decides on which side of the sum the height is.
 * docs/drop.md adds up the errors. */
#include "drop.h"

#include <math.h>
#include <string.h>

#include "cpu/exact/ray.h"

/* ---- sums -------------------------------------------------------------------------------------------------------- */

/* The next binary64 above x; x is neither 0 nor infinite. */
static double next_above(double x)
{
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits += x > 0 ? 1 : -1;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The sum rounded up to binary64, by its exact rounding error (two-sum). */
static double add_up(double a, double b)
{
    const double sum = a + b, rounded_b = sum - a, error = (a - (sum - rounded_b)) + (b - rounded_b);
    return error > 0 ? next_above(sum) : sum;
}

/* Two-sum: the sum and its exact rounding error, to which the rest is added. */
drop_bound caromi_drop_sum(double z, double radius, double low, double high)
{
    const double sum = z + radius, rounded_radius = sum - z,
                 error = (z - (sum - rounded_radius)) + (radius - rounded_radius);
    const double rest_low = error + low, rest_high = error + high;
    return (drop_bound){add_up(sum, rest_low - 2 * DROP_ROUNDING * fabs(rest_low)),
                        add_up(sum, rest_high + 2 * DROP_ROUNDING * fabs(rest_high))};
}

/* How much lower a ball rests on a point beside its column than on one straight below. square: a bound of their squared
 * distance seen from above; upright: the height of the centre above the point; loss: its relative error. */
static double sink_of(const drop_ball *ball, double square, double upright, double loss)
{
    return square / (ball->r + upright) * (1 + loss);
}

/* ---- corners ----------------------------------------------------------------------------------------------------- */

/* Bounds for a corner at z that is nearly below the column. */
drop_bound caromi_drop_near_corner(const drop_ball *ball, double z, double square)
{
    const double loss = 32 * DROP_ROUNDING, upright = sqrt(ball->r2 - square);
    return caromi_drop_sum(z, ball->r, -sink_of(ball, square, upright, loss), -sink_of(ball, square, upright, -loss));
}

/* ---- edges ------------------------------------------------------------------------------------------------------- */

/* Whether the column is exactly on the edge's line, seen from above. */
static int is_on_line(const drop_edge *edge, double x, double y)
{
    const float a[2] = {(float)edge->a[0], (float)edge->a[1]}, b[2] = {(float)edge->b[0], (float)edge->b[1]};
    const float at[2] = {(float)x, (float)y};
    return caromi_drop_side(a, b, at) == 0;
}

/* Bounds of the column's squared distance from the edge's line, seen from above. */
static void square_from_line(const drop_edge *edge, const double offset[2], double x, double y, double square[2])
{
    const double left = edge->e[0] * offset[1], right = edge->e[1] * offset[0], cross = fabs(left - right);
    const double cross_error = 8 * DROP_ROUNDING * (fabs(left) + fabs(right));
    const double least = cross > cross_error ? cross - cross_error : 0;
    const double most = cross <= cross_error && cross_error > 0 && is_on_line(edge, x, y) ? 0 : cross + cross_error;
    square[0] = least * least / edge->length2 * (1 - 8 * DROP_ROUNDING);
    square[1] = most * most / edge->length2 * (1 + 8 * DROP_ROUNDING);
}

/* Bounds from the column's foot on a nearly level edge. */
int caromi_drop_flat_edge_bound(const drop_ball *ball, const drop_edge *edge, double x, double y, drop_bound *bound)
{
    const double offset[2] = {x - edge->a[0], y - edge->a[1]}, ahead = edge->e[0] * offset[0],
                 aside = edge->e[1] * offset[1];
    const double fraction = (ahead + aside) / edge->length2,
                 error = 16 * DROP_ROUNDING * (fabs(ahead) + fabs(aside)) / edge->length2;
    const double outside = fraction < 0 ? -fraction : fraction > 1 ? fraction - 1 : 0, tolerance = 0x1p-30 * ball->r;
    double square[2];
    square_from_line(edge, offset, x, y, square);
    if (!(4 * square[1] < ball->r2) || outside * outside * edge->length2 > tolerance * tolerance)
        return 0;
    /* How much lower the ball rests as the column is beside the line, and how much the edge rises up to the foot. */
    const double upright = sqrt(ball->r2 - square[1]), loss = 16 * DROP_ROUNDING + (square[1] - square[0]) / ball->r2;
    const double rise = fraction * edge->e[2], slope_rise = ball->r * edge->slope2;
    const double sink_most = sink_of(ball, square[1], upright, loss),
                 sink_least = sink_of(ball, square[0], upright, -loss);
    const double slack = error * fabs(edge->e[2]) + 8 * DROP_ROUNDING * (fabs(rise) + sink_most + slope_rise);
    *bound = caromi_drop_sum(edge->a[2], ball->r, rise - sink_most - slack, rise - sink_least + slope_rise + slack);
    if (!(error < fraction && fraction < 1 - error)) { /* the foot may be outside the edge: its end is closest then */
        const double *end = fraction < 0.5 ? edge->a : edge->b, end_offset[2] = {x - end[0], y - end[1]};
        const double end_distance2 = end_offset[0] * end_offset[0] + end_offset[1] * end_offset[1];
        bound->low =
            2 * end_distance2 < ball->r2 ? caromi_drop_near_corner(ball, end[2], end_distance2).low : -HUGE_VAL;
    }
    return 1;
}

/* ---- faces ------------------------------------------------------------------------------------------------------- */

/* Whether the face owns the column. A column on an edge has one owner, by the rule for rays at edges. */
static int holds(const drop_face *face, double x, double y)
{
    int side[3];
    for (int k = 0; k < 3; k++) {
        const float *a = face->corner[k], *b = face->corner[(k + 1) % 3];
        side[k] = caromi_drop_certain_side(a, b, x, y);
        side[k] = side[k] != 0 ? side[k] : caromi_exact_ray_side(a, b, (float)x, (float)y);
        if (side[k] == 0 || side[k] != side[0])
            return 0;
    }
    return 1;
}

/* Bounds from the plane of a nearly level face. */
drop_bound caromi_drop_flat_bound(const drop_ball *ball, const drop_face *face, double x, double y)
{
    const int is_below = holds(face, x, y);
    double error;
    if (face->slope_rise == 0)
        return is_below ? face->level : (drop_bound)DROP_NONE;
    const double rise =
        caromi_drop_plane_rise(face->e, face->f, x - face->p[0], y - face->p[1], face->area, face->size, &error);
    drop_bound bound = caromi_drop_sum(face->p[2], ball->r, rise - error, rise + (error + face->slope_rise));
    if (!is_below)
        bound.low = -HUGE_VAL;
    return bound;
}
