/* SPDX-License-Identifier: MIT */
/* Finds the columns of a tile that a corner or an edge can decide. Consider the normal from the feature to the ball's
 * centre. If it has an angle below 90 degrees with the vector to a neighbouring corner, moving that way leads higher,
 * so the ball does not rest on the feature. On a fine mesh each feature is therefore rasterized to few columns, and all
 * features together cover each column about once. This holds for any number of triangles at an edge, in any
 * orientation. */
#include "drop_rasterize.h"

enum { ONE_RING = 128 }; /* most triangles of a one-ring that is rasterized as a whole */

/* ---- corners ----------------------------------------------------------------------------------------------------- */

/* A corner and its neighbours. */
typedef struct rasterized_corner {
    drop_tile *tile;
    double at[3];
    double offset[2 * ONE_RING][3]; /* vectors to its neighbours */
    double reach[2 * ONE_RING];     /* sum of each vector's magnitudes */
    int count;
} rasterized_corner;

static void begin_corner(rasterized_corner *c, drop_tile *tile, const float *at)
{
    c->tile = tile; /* the vectors take 8 KiB, so they are not cleared */
    c->count = 0;
    for (int k = 0; k < 3; k++)
        c->at[k] = (double)at[k];
}

static void add_neighbour(rasterized_corner *c, const float *at)
{
    double *offset = c->offset[c->count];
    for (int k = 0; k < 3; k++)
        offset[k] = (double)at[k] - c->at[k];
    c->reach[c->count] = fabs(offset[0]) + fabs(offset[1]) + fabs(offset[2]);
    c->count += c->reach[c->count] > 0;
}

/* Whether, for some ball centre over the block's columns, no neighbour may lead higher, rounding allowed for. */
static int may_rest(const rasterized_corner *c, const double dx[2], const double dy[2])
{
    const drop_ball *ball = &c->tile->map->ball;
    const double x2 = drop_most(dx[0] * dx[0], dx[1] * dx[1]), y2 = drop_most(dy[0] * dy[0], dy[1] * dy[1]);
    const double near_x = dx[0] > 0 ? dx[0] : dx[1] < 0 ? dx[1] : 0, near_y = dy[0] > 0 ? dy[0] : dy[1] < 0 ? dy[1] : 0;
    const double most2 = ball->r2 - (near_x * near_x + near_y * near_y), least2 = ball->r2 - (x2 + y2);
    if (most2 < -8 * DROP_U * ball->r2)
        return 0;
    const double z[2] = {least2 > 0 ? sqrt(least2) : 0, most2 > 0 ? sqrt(most2) : 0};
    const double slack = 0x1p-20 * ball->r;
    for (int k = 0; k < c->count; k++) {
        const double *offset = c->offset[k];
        const double rise =
            offset[0] * dx[offset[0] < 0] + offset[1] * dy[offset[1] < 0] + offset[2] * z[offset[2] < 0];
        if (rise > slack * c->reach[k])
            return 0;
    }
    return 1;
}

/* Subdivides a block of columns until it is small or may_rest() culls it. */
static void rasterize_block(const rasterized_corner *c, span i, span j)
{
    drop_tile *tile = c->tile;
    const double dx[2] = {tile->x[i.first] - c->at[0], tile->x[i.end - 1] - c->at[0]};
    const double dy[2] = {tile->y[j.first] - c->at[1], tile->y[j.end - 1] - c->at[1]};
    const uint64_t nx = i.end - i.first, ny = j.end - j.first;
    if (!may_rest(c, dx, dy))
        return;
    if (nx * ny > DROP_SMALL) {
        const uint64_t middle = nx > ny ? i.first + nx / 2 : j.first + ny / 2;
        rasterize_block(c, nx > ny ? (span){i.first, middle} : i, nx > ny ? j : (span){j.first, middle});
        rasterize_block(c, nx > ny ? (span){middle, i.end} : i, nx > ny ? j : (span){middle, j.end});
        return;
    }
    for (uint64_t b = j.first; b < j.end; b++)
        for (uint64_t a = i.first; a < i.end; a++)
            drop_put(tile, a, b, caromi_drop_corner_bound(&tile->map->ball, c->at, tile->x[a], tile->y[b]));
}

/* ---- the tangents of a corner's normals ---- */

/* A plane that rests on a corner from above has a slope m along a horizontal axis. Two neighbours of the corner on
 * different sides of the axis, seen from above, lie below it: their weighted mean lies on the axis, at -(p + q) / sum
 * below the corner, and bounds m from above. ahead, side, up: components of the vector to each neighbour along the
 * axis, across it (side[0] >= 0 > side[1]), and z. +inf: no bound, as `sum` may be rounding errors alone. 2^-24 covers
 * the rounding errors of the quotient. */
static double joint_bound(const double ahead[2], const double side[2], const double up[2])
{
    const double a = -side[1] * ahead[0], b = side[0] * ahead[1], sum = a + b;
    if (!(sum > 0x1p-20 * (fabs(a) + fabs(b))))
        return HUGE_VAL;
    const double p = -side[1] * up[0], q = side[0] * up[1], bound = -(p + q) / sum;
    return bound + 0x1p-24 * (1 + fabs(bound) + (fabs(p) + fabs(q)) / sum);
}

/* Lower and upper bound of the normal's tangent along `axis`. */
static void bound_tangent(const rasterized_corner *c, int axis, double range[2])
{
    range[0] = -HUGE_VAL;
    range[1] = HUGE_VAL;
    for (int i = 0; i < c->count; i++) {
        const double *v = c->offset[i];
        for (int k = 0; k < c->count && v[!axis] >= 0; k++) {
            const double *w = c->offset[k];
            if (w[!axis] >= 0)
                continue;
            const double side[2] = {v[!axis], w[!axis]}, up[2] = {v[2], w[2]};
            range[1] = drop_least(range[1], joint_bound((double[]){v[axis], w[axis]}, side, up));
            range[0] = drop_most(range[0], -joint_bound((double[]){-v[axis], -w[axis]}, side, up));
        }
    }
}

/* The range of offsets of the ball's centre along an axis, from the ranges of the normal's tangents along and across
 * it. */
static void reach_of(const double tangent[2], const double across[2], double r, double reach[2])
{
    const double far = drop_most(fabs(across[0]), fabs(across[1]));
    const double near = across[0] > 0 ? across[0] : across[1] < 0 ? -across[1] : 0;
    for (int k = 0; k < 2; k++) {
        const double t = tangent[k];
        const int outwards = (t < 0) == (k == 0);
        const double other = outwards ? near : far, slack = 0x1p-20 * r;
        if (fabs(t) < 0x1p40)
            reach[k] = r * (t / sqrt(1 + t * t + other * other));
        else
            reach[k] = !outwards ? 0 : t < 0 ? -r : r;
        reach[k] += k == 0 ? -slack : slack;
    }
}

static span span_around(const drop_tile *tile, int axis, double at, const double reach[2])
{
    return axis == 0 ? caromi_drop_span_of(tile, tile->x, tile->nx, at + reach[0], at + reach[1])
                     : caromi_drop_span_of(tile, tile->y, tile->ny, at + reach[0], at + reach[1]);
}

static void rasterize_corner(const rasterized_corner *c)
{
    static const double any[2] = {-HUGE_VAL, HUGE_VAL};
    drop_tile *tile = c->tile;
    const double r = tile->map->ball.r;
    double x[2], y[2], reach[2];
    bound_tangent(c, 0, x);
    reach_of(x, any, r, reach);
    span i = span_around(tile, 0, c->at[0], reach);
    if (!(x[0] <= x[1]) || i.first >= i.end)
        return;
    bound_tangent(c, 1, y);
    reach_of(y, x, r, reach);
    const span j = span_around(tile, 1, c->at[1], reach);
    if (!(y[0] <= y[1]) || j.first >= j.end)
        return;
    reach_of(x, y, r, reach);
    i = span_around(tile, 0, c->at[0], reach);
    if (i.first < i.end && !drop_is_hidden(tile, i, j, drop_top_of(tile, c->at[2])))
        rasterize_block(c, i, j);
}

/* ---- edges ------------------------------------------------------------------------------------------------------- */

/* An edge in its own frame: u along it and w to its left, both seen from above. A ball whose centre is at w touches it
 * with a normal of tangent w / sqrt(R^2 - w^2), measured from the vertical in the plane across the edge. */
typedef struct rasterized_edge {
    drop_edge edge;
    double along[2], length, whole; /* unit vector seen from above; its length from above, and in space */
    double least, most;             /* range of the normal's tangent */
    int level[2];                   /* whether a level triangle is on its right, on its left */
} rasterized_edge;

/* Narrows the range of tangents by a triangle at the edge: excludes normals at less than 90 degrees from the vector to
 * its opposite corner. */
static void cut(rasterized_edge *g, const float *opposite)
{
    const double v[3] = {(double)opposite[0] - g->edge.a[0], (double)opposite[1] - g->edge.a[1],
                         (double)opposite[2] - g->edge.a[2]};
    const double left = g->along[0] * v[1] - g->along[1] * v[0], u = g->along[0] * v[0] + g->along[1] * v[1];
    const double up = (g->length * v[2] - g->edge.e[2] * u) / g->whole;
    const double size = fabs(v[0]) + fabs(v[1]) + fabs(v[2]);
    if (fabs(left) <= 0x1p-20 * size)
        return;
    g->level[left > 0] |= g->edge.e[2] == 0 && v[2] == 0;
    const double bound = -up / left, slack = 0x1p-24 * (1 + fabs(bound));
    if (left > 0)
        g->most = drop_least(g->most, bound + slack);
    else
        g->least = drop_most(g->least, bound - slack);
}

/* The offset w of the ball's centre for a tangent. */
static double offset_of(double tangent, double r)
{
    return fabs(tangent) < 0x1p40 ? r * (tangent / sqrt(1 + tangent * tangent)) : tangent < 0 ? -r : r;
}

typedef struct frame_box {
    double u[2], w[2];
} frame_box;

/* The box of ball centres that may touch the edge. Its ends are shifted along u as the edge slopes. */
static frame_box box_of(const rasterized_edge *g, double r)
{
    const double slack = 0x1p-20 * (r + g->length), sine = g->edge.e[2] / g->whole;
    frame_box b;
    b.w[0] = offset_of(g->least, r) - slack;
    b.w[1] = offset_of(g->most, r) + slack;
    const double far = drop_most(fabs(b.w[0]), fabs(b.w[1])), near = b.w[0] > 0 ? b.w[0] : b.w[1] < 0 ? b.w[1] : 0;
    const double q[2] = {far < r ? sqrt(r * r - far * far) : 0, fabs(near) < r ? sqrt(r * r - near * near) : 0};
    b.u[0] = -sine * (sine > 0 ? q[1] : q[0]) - slack;
    b.u[1] = g->length - sine * (sine > 0 ? q[0] : q[1]) + slack;
    return b;
}

/* Clips [x[0], x[1]] to range[0] <= a x + b <= range[1]. */
static void cut_row(double a, double b, const double range[2], double x[2])
{
    if (fabs(a) < 0x1p-10)
        return;
    const double p = (range[0] - b) / a, q = (range[1] - b) / a;
    x[0] = drop_most(x[0], drop_least(p, q));
    x[1] = drop_least(x[1], drop_most(p, q));
}

static void rasterize_strip(drop_tile *tile, const rasterized_edge *g)
{
    const drop_ball *ball = &tile->map->ball;
    const frame_box b = box_of(g, ball->r);
    const double *along = g->along, *a = g->edge.a;
    const double slack = 0x1p-20 * (ball->r + g->length);
    const double y0 =
        drop_least(along[1] * b.u[0], along[1] * b.u[1]) + drop_least(along[0] * b.w[0], along[0] * b.w[1]);
    const double y1 = drop_most(along[1] * b.u[0], along[1] * b.u[1]) + drop_most(along[0] * b.w[0], along[0] * b.w[1]);
    const double x0 =
        drop_least(along[0] * b.u[0], along[0] * b.u[1]) + drop_least(-along[1] * b.w[0], -along[1] * b.w[1]);
    const double x1 =
        drop_most(along[0] * b.u[0], along[0] * b.u[1]) + drop_most(-along[1] * b.w[0], -along[1] * b.w[1]);
    const span rows = caromi_drop_span_of(tile, tile->y, tile->ny, a[1] + y0 - slack, a[1] + y1 + slack);
    if (rows.first == rows.end)
        return;
    const span columns = caromi_drop_span_of(tile, tile->x, tile->nx, a[0] + x0 - slack, a[0] + x1 + slack);
    if (columns.first == columns.end || drop_is_hidden(tile, columns, rows, drop_top_of(tile, g->edge.top)))
        return;
    for (uint64_t j = rows.first; j < rows.end; j++) {
        const double dy = tile->y[j] - a[1];
        double x[2] = {x0 - slack, x1 + slack};
        cut_row(along[0], along[1] * dy, b.u, x);
        cut_row(-along[1], along[0] * dy, b.w, x);
        if (x[0] > x[1])
            continue;
        const span i = caromi_drop_span_of(tile, tile->x, tile->nx, a[0] + x[0] - slack, a[0] + x[1] + slack);
        for (uint64_t k = i.first; k < i.end; k++)
            drop_put(tile, k, j, caromi_drop_edge_bound(ball, &g->edge, tile->x[k], tile->y[j]));
    }
}

/* Begins with an edge from `at` to `end` without triangles. */
static void begin_edge(rasterized_edge *g, const float *at, const float *end)
{
    *g = (rasterized_edge){.least = -HUGE_VAL, .most = HUGE_VAL};
    caromi_drop_edge_make(&g->edge, at, end);
    g->length = sqrt(g->edge.l2);
    g->whole = sqrt(g->edge.l2 + g->edge.e[2] * g->edge.e[2]);
    g->along[0] = g->edge.e[0] / g->length;
    g->along[1] = g->edge.e[1] / g->length;
}

static void end_edge(drop_tile *tile, const rasterized_edge *g)
{
    if (g->least <= g->most && !(g->level[0] && g->level[1]))
        rasterize_strip(tile, g);
}

/* ---- stars ------------------------------------------------------------------------------------------------------- */

static const float *at_position(const drop_map *map, uint32_t position)
{
    return map->mesh->vertices + 3 * (size_t)position;
}

static uint64_t triangles_at(const drop_map *map, uint32_t position)
{
    return map->corners->start[position + 1] - map->corners->start[position];
}

/* Whether the edge to `end` is rasterized with this position's one-ring: the smaller one-ring owns it. */
static int owns(const drop_map *map, uint32_t position, uint32_t end)
{
    const uint64_t own = triangles_at(map, position), other = triangles_at(map, end);
    return own < other || (own == other && position < end);
}

/* Whether side i is the first one of its edge: sides with the same end are one edge. */
static int is_new(const drop_side *side, int i)
{
    for (int k = 0; k < i; k++)
        if (side[k].end == side[i].end)
            return 0;
    return 1;
}

static void rasterize_edge(drop_tile *tile, const float *at, const drop_side *side, int count, int i)
{
    const drop_map *map = tile->map;
    rasterized_edge g;
    begin_edge(&g, at, at_position(map, side[i].end));
    if (g.edge.l2 == 0)
        return;
    for (int k = i; k < count; k++)
        if (side[k].end == side[i].end)
            cut(&g, at_position(map, side[k].opposite));
    end_edge(tile, &g);
}

static void rasterize_centre(const drop_one_ring *one_ring, drop_tile *tile, const drop_side *side, int count)
{
    double lower[2], upper[2];
    rasterized_corner c;
    const int is_boxed = caromi_drop_one_ring_corner(one_ring, lower, upper);
    span i = {0, tile->nx}, j = {0, tile->ny};
    if (is_boxed) {
        j = caromi_drop_span_of(tile, tile->y, tile->ny, lower[1], upper[1]);
        if (j.first >= j.end)
            return;
        i = caromi_drop_span_of(tile, tile->x, tile->nx, lower[0], upper[0]);
        if (i.first >= i.end)
            return;
    }
    begin_corner(&c, tile, one_ring->at);
    for (int k = 0; k < count; k++)
        if (is_new(side, k))
            add_neighbour(&c, at_position(tile->map, side[k].end));
    if (!is_boxed)
        rasterize_corner(&c);
    else if (!drop_is_hidden(tile, i, j, drop_top_of(tile, c.at[2])))
        rasterize_block(&c, i, j);
}

static void rasterize_sides(drop_tile *tile, uint32_t position, const drop_side *side, int count)
{
    const drop_map *map = tile->map;
    drop_one_ring one_ring;
    one_ring.tile = tile;
    one_ring.at = at_position(map, position);
    one_ring.side = side;
    one_ring.count = count / 2;
    for (int i = 0; i < count && count <= 2 * DROP_FAN; i++)
        one_ring.corner[i / 2][i % 2] = at_position(map, side[i].end);
    caromi_drop_one_ring_make(&one_ring);
    for (int i = 0; i < count; i++)
        if (owns(map, position, side[i].end) && is_new(side, i) &&
            !caromi_drop_one_ring_skips_edge(&one_ring, side[i].end, at_position(map, side[i].end)))
            rasterize_edge(tile, one_ring.at, side, count, i);
    rasterize_centre(&one_ring, tile, side, count);
}

/* A position with very many triangles: each is rasterized as if it were alone, which covers more columns than needed.
 */
static void rasterize_hub(drop_tile *tile, uint32_t position)
{
    const drop_map *map = tile->map;
    for (uint64_t n = map->corners->start[position]; n < map->corners->start[position + 1]; n++) {
        const uint32_t triangle = map->corners->triangle[n];
        uint32_t p[3];
        for (int k = 0; k < 3; k++)
            p[k] = caromi_corner_position(map->corners, triangle, k);
        for (int k = 0; k < 3 && drop_counts(map, triangle); k++)
            if (p[k] == position)
                rasterize_sides(tile, position,
                                (drop_side[]){{p[(k + 1) % 3], p[(k + 2) % 3]}, {p[(k + 2) % 3], p[(k + 1) % 3]}}, 2);
    }
}

void caromi_drop_rasterize_one_ring(drop_tile *tile, uint32_t position)
{
    const drop_map *map = tile->map;
    drop_side side[2 * ONE_RING];
    int count = 0;
    if (triangles_at(map, position) > ONE_RING) {
        rasterize_hub(tile, position);
        return;
    }
    for (uint64_t n = map->corners->start[position]; n < map->corners->start[position + 1]; n++) {
        const uint32_t triangle = map->corners->triangle[n];
        uint32_t p[3];
        if (!drop_counts(map, triangle))
            continue;
        for (int k = 0; k < 3; k++)
            p[k] = caromi_corner_position(map->corners, triangle, k);
        const int k = p[0] == position ? 0 : p[1] == position ? 1 : 2;
        side[count++] = (drop_side){p[(k + 1) % 3], p[(k + 2) % 3]};
        side[count++] = (drop_side){p[(k + 2) % 3], p[(k + 1) % 3]};
    }
    rasterize_sides(tile, position, side, count);
}
