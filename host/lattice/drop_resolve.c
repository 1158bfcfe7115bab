/* SPDX-License-Identifier: MIT */
/* Decides a column whose bounds round to different numbers. A ball that falls from height z begins contact after z -
 * height, so the state of an exact sweep tells on which side of z the height is. A bisection over the binary32 numbers
 * ends when two neighbours enclose the height. */
#include "drop.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "cpu/exact/exact.h"

/* The rank of a binary32 number in ascending order; both zeros have rank 0. */
static int64_t rank_of(float x)
{
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits < 0 ? -(int64_t)(bits & INT32_MAX) : bits;
}

/* The binary32 number of a rank. */
static float of_rank(int64_t rank)
{
    const uint32_t bits = rank < 0 ? (uint32_t)-rank | UINT32_C(0x80000000) : (uint32_t)rank;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

float caromi_drop_round_up(double value)
{
    const float near = (float)value;
    return ((double)near < value ? of_rank(rank_of(near) + 1) : near) + 0.0f;
}

/* The column, while triangles are visited. */
typedef struct undecided_column {
    const drop_map *map;
    float x, y;
    float height; /* the height over the triangles so far, rounded up; -inf: none was met */
    caromi_rung rung;
} undecided_column;

enum { AT_REST, FALLING }; /* speeds */
/* The state of the exact sweep of a ball at height z that falls with a speed, against one triangle. */
static int state_at(undecided_column *column, const float *const corner[3], float z, float speed)
{
    float in[IN_SWEEP_MOVING] = {0};
    caromi_exact_sweep answer;
    in[IN_CX] = column->x;
    in[IN_CX + 1] = column->y;
    in[IN_CX + 2] = z;
    in[IN_R] = column->map->ball.radius;
    in[IN_VX + 2] = -speed;
    for (int k = 0; k < 3; k++)
        memcpy(in + IN_P0X + 3 * k, corner[k], 3 * sizeof(float));
    caromi_exact_sweep_of(in, CAROMI_EXACT_FIRST, INFINITY, &answer);
    if (answer.by_integers)
        column->rung = CAROMI_INTEGERS;
    return answer.state;
}

/* Whether the column's height over the triangle, which the ball meets, is above z. */
static int is_above(undecided_column *column, const float *const corner[3], float z)
{
    const float at[3] = {column->x, column->y, z};
    if (column->map->ball.r == 0 && caromi_drop_side(corner[0], corner[1], corner[2]) != 0) {
        column->rung = CAROMI_INTEGERS;
        return caromi_drop_ray_above(corner, at);
    }
    /* A triangle that is not above z: a ball at rest at z overlaps it exactly if its height is above z. */
    if (corner[0][2] <= z && corner[1][2] <= z && corner[2][2] <= z)
        return state_at(column, corner, z, AT_REST) == STATE_OVERLAPPING;
    const int state = state_at(column, corner, z, FALLING);
    return state != STATE_MISS && state != STATE_APPROACHING && state != STATE_TOUCHING;
}

/* Raises column->height to the height over the triangle, which is above it. */
static void raise(undecided_column *column, const float *const corner[3], const drop_bound *bound)
{
    int64_t below = rank_of(column->height), above = rank_of(caromi_drop_round_up(bound->high));
    if (bound->low > -HUGE_VAL && rank_of(caromi_drop_round_up(bound->low)) - 1 > below)
        below = rank_of(caromi_drop_round_up(bound->low)) - 1;
    /* Bisection over the ranks: the height is above `below` and not above `above`. */
    while (above - below > 1) {
        const int64_t middle = below + (above - below) / 2;
        if (is_above(column, corner, of_rank(middle)))
            below = middle;
        else
            above = middle;
    }
    column->height = of_rank(above) + 0.0f;
}

/* Whether no triangle in a box can give a greater height. */
static int skip_lower(void *user, const double lower[2], const double upper[2], double top)
{
    const undecided_column *column = user;
    const double at[2] = {(double)column->x, (double)column->y};
    return caromi_drop_over_box(&column->map->ball, at, lower, upper, top) <= (double)column->height;
}

/* Visits a triangle: raises the height if the triangle gives a greater one. */
static void resolve_triangle(void *user, uint32_t triangle)
{
    undecided_column *column = user;
    const float *corner[3];
    for (int k = 0; k < 3; k++)
        corner[k] = caromi_corner(column->map->mesh, triangle, k);
    if (!(caromi_drop_box_bound(&column->map->ball, corner, (double)column->x, (double)column->y) >
          (double)column->height))
        return;
    const drop_bound bound = caromi_drop_triangle_bound(&column->map->ball, corner, (double)column->x,
                                                        (double)column->y, (double)column->height);
    if (!(bound.high > (double)column->height))
        return;
    const int is_certain = bound.low > (double)column->height;
    if (!is_certain && column->height == -INFINITY && state_at(column, corner, 0, FALLING) == STATE_MISS)
        return;
    if (is_certain || is_above(column, corner, column->height == -INFINITY ? -FLT_MAX : column->height))
        raise(column, corner, &bound);
    else if (column->height == -INFINITY)
        column->height = -FLT_MAX;
}

/* Visits the triangles near the column, highest boxes first, and raises the height exactly. */
float caromi_drop_resolve(const drop_map *map, float x, float y, int32_t mask, double low, caromi_rung *rung)
{
    undecided_column column = {map, x, y, low > -HUGE_VAL ? caromi_drop_round_up(low) : -INFINITY,
                               CAROMI_SECOND_FILTER};
    caromi_drop_visit(&(drop_visitor){.map = map,
                                      .lower = {(double)x, (double)y},
                                      .upper = {(double)x, (double)y},
                                      .mask = mask,
                                      .triangle = resolve_triangle,
                                      .skip = skip_lower,
                                      .user = &column});
    *rung = column.rung;
    return column.height;
}
