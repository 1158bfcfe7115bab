/* SPDX-License-Identifier: MIT */
/* A column that its bounds leave open. With a ball that comes down from height z, contact begins at z - height: so the
 * state of an exact sweep tells on which side of z the height is, and z is halved among binary32 numbers until two
 * neighbours have the height between them. */
#include "drop.h"

#include <math.h>
#include <string.h>

#include "cpu/exact.h"

/* Binary32 numbers in ascending order, both zeros 0, infinity the last. */
static int64_t rank_of(float x)
{
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits < 0 ? -(int64_t)(bits & INT32_MAX) : bits;
}

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

typedef struct open_column {
    const drop_map *map;
    float x, y;
    float height; /* the least binary32 that is above all triangles so far; -inf: none was met */
} open_column;

/* The state of a ball that comes down from height z, against one triangle. */
static int state_at(const open_column *c, const float *const corner[3], float z)
{
    float in[IN_SWEEP_MOVING] = {0};
    caromi_exact_sweep answer;
    in[IN_CX] = c->x;
    in[IN_CX + 1] = c->y;
    in[IN_CX + 2] = z;
    in[IN_R] = c->map->ball.radius;
    in[IN_VX + 2] = -1;
    for (int k = 0; k < 3; k++)
        memcpy(in + IN_P0X + 3 * k, corner[k], 3 * sizeof(float));
    caromi_exact_sweep_of(in, CAROMI_EXACT_FIRST, INFINITY, &answer);
    return answer.state;
}

static int is_above(const open_column *c, const float *const corner[3], float z)
{
    const int state = state_at(c, corner, z);
    return state != STATE_MISS && state != STATE_APPROACHING && state != STATE_TOUCHING;
}

/* The triangle leads above c->height, and to `most` at most. */
static void raise(open_column *c, const float *const corner[3], float most)
{
    int64_t below = rank_of(c->height), above = rank_of(most);
    while (above - below > 1) {
        const int64_t middle = below + (above - below) / 2;
        if (is_above(c, corner, of_rank(middle)))
            below = middle;
        else
            above = middle;
    }
    c->height = of_rank(above) + 0.0f;
}

/* An upper bound of the triangle's height. */
static double bound_of(const drop_map *map, const float *const corner[3], double x, double y)
{
    drop_face face;
    double high = -HUGE_VAL;
    caromi_drop_face_make(&face, &map->ball, corner);
    if (face.kind == DROP_FACE_THIN)
        return face.top + map->ball.r + 8 * DROP_U * (fabs(face.top) + map->ball.r);
    for (int k = 0; k < 3; k++) {
        const double at[3] = {(double)corner[k][0], (double)corner[k][1], (double)corner[k][2]};
        drop_edge edge;
        caromi_drop_edge_make(&edge, corner[k], corner[(k + 1) % 3]);
        const double of_corner = caromi_drop_corner_bound(&map->ball, at, x, y).high;
        const double of_edge = edge.l2 > 0 ? caromi_drop_edge_bound(&map->ball, &edge, x, y).high : -HUGE_VAL;
        high = of_corner > high ? of_corner : high;
        high = of_edge > high ? of_edge : high;
    }
    if (face.kind != DROP_FACE_NONE && caromi_drop_face_may_touch(&face, x, y)) {
        const double of_face = caromi_drop_face_bound(&map->ball, &face, x, y).high;
        high = of_face > high ? of_face : high;
    }
    return high;
}

/* A quick upper bound: that of the triangle's box. */
static double box_bound_of(const drop_ball *ball, const float *const corner[3], double x, double y)
{
    const double at[2] = {x, y};
    double square = 0, top = -HUGE_VAL;
    for (int k = 0; k < 2; k++) {
        double low = HUGE_VAL, high = -HUGE_VAL;
        for (int c = 0; c < 3; c++) {
            low = (double)corner[c][k] < low ? (double)corner[c][k] : low;
            high = (double)corner[c][k] > high ? (double)corner[c][k] : high;
        }
        const double gap = low > at[k] ? low - at[k] : at[k] > high ? at[k] - high : 0;
        square += gap * gap;
    }
    for (int c = 0; c < 3; c++)
        top = (double)corner[c][2] > top ? (double)corner[c][2] : top;
    const double s = ball->r2 - square, error = 8 * DROP_U * ball->r2;
    return s < -error ? -HUGE_VAL : top + sqrt(s > 0 ? s + error : error) + 8 * DROP_U * (fabs(top) + ball->r);
}

static void settle_triangle(void *user, uint32_t triangle)
{
    open_column *c = user;
    const float *corner[3];
    for (int k = 0; k < 3; k++)
        corner[k] = caromi_corner(c->map->mesh, triangle, k);
    if (!(box_bound_of(&c->map->ball, corner, (double)c->x, (double)c->y) > (double)c->height))
        return;
    const double high = bound_of(c->map, corner, (double)c->x, (double)c->y);
    if (!(high > (double)c->height))
        return;
    if (c->height == -INFINITY && state_at(c, corner, 0) == STATE_MISS)
        return;
    if (c->height == -INFINITY ? is_above(c, corner, -0x1.fffffep127f) : is_above(c, corner, c->height))
        raise(c, corner, caromi_drop_round_up(high));
    else if (c->height == -INFINITY)
        c->height = -0x1.fffffep127f;
}

float caromi_drop_settle(const drop_map *map, float x, float y, double low)
{
    open_column c = {map, x, y, low > -HUGE_VAL ? caromi_drop_round_up(low) : -INFINITY};
    caromi_drop_visit(&(drop_visitor){.map = map,
                                      .lower = {(double)x, (double)y},
                                      .upper = {(double)x, (double)y},
                                      .triangle = settle_triangle,
                                      .user = &c});
    return c.height;
}
