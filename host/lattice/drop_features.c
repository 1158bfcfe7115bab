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

/* Begins with a corner without neighbours. */
static void begin_corner(rasterized_corner *corner, drop_tile *tile, const float *at)
{
    corner->tile = tile; /* the vectors take 8 KiB, so they are not cleared */
    corner->count = 0;
    for (int k = 0; k < 3; k++)
        corner->at[k] = (double)at[k];
}

/* Adds a neighbouring corner. */
static void add_neighbour(rasterized_corner *corner, const float *at)
{
    double *offset = corner->offset[corner->count];
    for (int k = 0; k < 3; k++)
        offset[k] = (double)at[k] - corner->at[k];
    corner->reach[corner->count] = fabs(offset[0]) + fabs(offset[1]) + fabs(offset[2]);
    corner->count += corner->reach[corner->count] > 0;
}

/* Whether, for some ball centre over the block's columns, no neighbour may lead higher, rounding allowed for. */
static int may_rest(const rasterized_corner *corner, const double dx[2], const double dy[2])
{
    const drop_ball *ball = &corner->tile->map->ball;
    const double x2 = drop_most(dx[0] * dx[0], dx[1] * dx[1]), y2 = drop_most(dy[0] * dy[0], dy[1] * dy[1]);
    const double near_x = dx[0] > 0 ? dx[0] : dx[1] < 0 ? dx[1] : 0, near_y = dy[0] > 0 ? dy[0] : dy[1] < 0 ? dy[1] : 0;
    const double upright2_most = ball->r2 - (near_x * near_x + near_y * near_y), upright2_least = ball->r2 - (x2 + y2);
    if (upright2_most < -8 * DROP_ROUNDING * ball->r2)
        return 0;
    const double upright[2] = {upright2_least > 0 ? sqrt(upright2_least) : 0,
                               upright2_most > 0 ? sqrt(upright2_most) : 0};
    const double slack = 0x1p-20 * ball->r;
    for (int k = 0; k < corner->count; k++) {
        const double *offset = corner->offset[k];
        const double rise =
            offset[0] * dx[offset[0] < 0] + offset[1] * dy[offset[1] < 0] + offset[2] * upright[offset[2] < 0];
        if (rise > slack * corner->reach[k])
            return 0;
    }
    return 1;
}

/* Subdivides a block of columns until it is small or may_rest() culls it. */
static void rasterize_block(const rasterized_corner *corner, span columns, span rows)
{
    drop_tile *tile = corner->tile;
    const double dx[2] = {tile->x[columns.first] - corner->at[0], tile->x[columns.end - 1] - corner->at[0]};
    const double dy[2] = {tile->y[rows.first] - corner->at[1], tile->y[rows.end - 1] - corner->at[1]};
    const uint64_t nx = columns.end - columns.first, ny = rows.end - rows.first;
    if (!may_rest(corner, dx, dy))
        return;
    if (nx * ny > DROP_SMALL) {
        const uint64_t middle = nx > ny ? columns.first + nx / 2 : rows.first + ny / 2;
        rasterize_block(corner, nx > ny ? (span){columns.first, middle} : columns,
                        nx > ny ? rows : (span){rows.first, middle});
        rasterize_block(corner, nx > ny ? (span){middle, columns.end} : columns,
                        nx > ny ? rows : (span){middle, rows.end});
        return;
    }
    for (uint64_t j = rows.first; j < rows.end; j++)
        for (uint64_t i = columns.first; i < columns.end; i++)
            drop_put(tile, i, j, caromi_drop_corner_bound(&tile->map->ball, corner->at, tile->x[i], tile->y[j]));
}

/* ---- the tangents of a corner's normals ---- */

/* A plane that rests on a corner from above has a slope m along a horizontal axis. Two neighbours of the corner on
 * different sides of the axis, seen from above, lie below it: their weighted mean lies on the axis, at -(p + q) / sum
 * below the corner, and bounds m from above. ahead, side, up: components of the vector to each neighbour along the
 * axis, across it (side[0] >= 0 > side[1]), and z. +inf: no bound, as `sum` may be rounding errors alone. 2^-24 covers
 * the rounding errors of the quotient. */
static double joint_bound(const double ahead[2], const double side[2], const double up[2])
{
    const double weight0 = -side[1] * ahead[0], weight1 = side[0] * ahead[1], sum = weight0 + weight1;
    if (!(sum > 0x1p-20 * (fabs(weight0) + fabs(weight1))))
        return HUGE_VAL;
    const double fall0 = -side[1] * up[0], fall1 = side[0] * up[1], bound = -(fall0 + fall1) / sum;
    return bound + 0x1p-24 * (1 + fabs(bound) + (fabs(fall0) + fabs(fall1)) / sum);
}

/* Lower and upper bound of the normal's tangent along `axis`. */
static void bound_tangent(const rasterized_corner *corner, int axis, double range[2])
{
    range[0] = -HUGE_VAL;
    range[1] = HUGE_VAL;
    for (int i = 0; i < corner->count; i++) {
        const double *one = corner->offset[i];
        for (int j = 0; j < corner->count && one[!axis] >= 0; j++) {
            const double *other = corner->offset[j];
            if (other[!axis] >= 0)
                continue;
            const double side[2] = {one[!axis], other[!axis]}, up[2] = {one[2], other[2]};
            range[1] = drop_least(range[1], joint_bound((double[]){one[axis], other[axis]}, side, up));
            range[0] = drop_most(range[0], -joint_bound((double[]){-one[axis], -other[axis]}, side, up));
        }
    }
}

/* The range of offsets of the ball's centre along an axis, from the ranges of the normal's tangents along and across
 * it. */
static void reach_of(const double tangent[2], const double across[2], double radius, double reach[2])
{
    const double far = drop_most(fabs(across[0]), fabs(across[1]));
    const double near = across[0] > 0 ? across[0] : across[1] < 0 ? -across[1] : 0;
    for (int k = 0; k < 2; k++) {
        const double slope = tangent[k];
        const int outwards = (slope < 0) == (k == 0);
        const double other = outwards ? near : far, slack = 0x1p-20 * radius;
        if (fabs(slope) < 0x1p40)
            reach[k] = radius * (slope / sqrt(1 + slope * slope + other * other));
        else
            reach[k] = !outwards ? 0 : slope < 0 ? -radius : radius;
        reach[k] += k == 0 ? -slack : slack;
    }
}

/* The columns (axis x) or rows (axis y) at some offsets from a coordinate. */
static span span_around(const drop_tile *tile, int axis, double at, const double reach[2])
{
    return axis == AXIS_X ? caromi_drop_span_of(tile, tile->x, tile->nx, at + reach[0], at + reach[1])
                          : caromi_drop_span_of(tile, tile->y, tile->ny, at + reach[0], at + reach[1]);
}

/* Rasterizes a corner: the rectangle of offsets, from the ranges of the normal's tangents, first along x, then y, then
 * once more along x. */
static void rasterize_corner(const rasterized_corner *corner)
{
    static const double any[2] = {-HUGE_VAL, HUGE_VAL};
    drop_tile *tile = corner->tile;
    const double radius = tile->map->ball.r;
    double tangent_x[2], tangent_y[2], reach[2];
    bound_tangent(corner, AXIS_X, tangent_x);
    reach_of(tangent_x, any, radius, reach);
    span columns = span_around(tile, AXIS_X, corner->at[0], reach);
    if (!(tangent_x[0] <= tangent_x[1]) || columns.first >= columns.end)
        return;
    bound_tangent(corner, AXIS_Y, tangent_y);
    reach_of(tangent_y, tangent_x, radius, reach);
    const span rows = span_around(tile, AXIS_Y, corner->at[1], reach);
    if (!(tangent_y[0] <= tangent_y[1]) || rows.first >= rows.end)
        return;
    reach_of(tangent_x, tangent_y, radius, reach);
    columns = span_around(tile, AXIS_X, corner->at[0], reach);
    if (columns.first < columns.end && !drop_is_hidden(tile, columns, rows, drop_top_of(tile, corner->at[2])))
        rasterize_block(corner, columns, rows);
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
static void cut(rasterized_edge *frame, const float *opposite)
{
    const double opposite_offset[3] = {(double)opposite[0] - frame->edge.a[0], (double)opposite[1] - frame->edge.a[1],
                                       (double)opposite[2] - frame->edge.a[2]};
    const double left = frame->along[0] * opposite_offset[1] - frame->along[1] * opposite_offset[0],
                 ahead = frame->along[0] * opposite_offset[0] + frame->along[1] * opposite_offset[1];
    const double rise = (frame->length * opposite_offset[2] - frame->edge.e[2] * ahead) / frame->whole;
    const double size = fabs(opposite_offset[0]) + fabs(opposite_offset[1]) + fabs(opposite_offset[2]);
    if (fabs(left) <= 0x1p-20 * size)
        return;
    frame->level[left > 0] |= frame->edge.e[2] == 0 && opposite_offset[2] == 0;
    const double bound = -rise / left, slack = 0x1p-24 * (1 + fabs(bound));
    if (left > 0)
        frame->most = drop_least(frame->most, bound + slack);
    else
        frame->least = drop_most(frame->least, bound - slack);
}

/* The offset w of the ball's centre for a tangent. */
static double offset_of(double tangent, double r)
{
    return fabs(tangent) < 0x1p40 ? r * (tangent / sqrt(1 + tangent * tangent)) : tangent < 0 ? -r : r;
}

/* A box in an edge's frame: ranges along the edge and to its left. */
typedef struct frame_box {
    double u[2], w[2];
} frame_box;

/* The box of ball centres that may touch the edge. Its ends are shifted along u as the edge slopes. */
static frame_box box_of(const rasterized_edge *frame, double r)
{
    const double slack = 0x1p-20 * (r + frame->length), sine = frame->edge.e[2] / frame->whole;
    frame_box box;
    box.w[0] = offset_of(frame->least, r) - slack;
    box.w[1] = offset_of(frame->most, r) + slack;
    const double far = drop_most(fabs(box.w[0]), fabs(box.w[1])), near = box.w[0] > 0   ? box.w[0]
                                                                         : box.w[1] < 0 ? box.w[1]
                                                                                        : 0;
    const double upright[2] = {far < r ? sqrt(r * r - far * far) : 0, fabs(near) < r ? sqrt(r * r - near * near) : 0};
    box.u[0] = -sine * (sine > 0 ? upright[1] : upright[0]) - slack;
    box.u[1] = frame->length - sine * (sine > 0 ? upright[0] : upright[1]) + slack;
    return box;
}

/* Clips [x[0], x[1]] to range[0] <= a x + b <= range[1]. */
static void cut_row(double a, double b, const double range[2], double x[2])
{
    if (fabs(a) < 0x1p-10)
        return;
    const double end1 = (range[0] - b) / a, end2 = (range[1] - b) / a;
    x[0] = drop_most(x[0], drop_least(end1, end2));
    x[1] = drop_least(x[1], drop_most(end1, end2));
}

/* Rasterizes an edge: the box of ball centres in the edge's frame, clipped to each row of columns. */
static void rasterize_strip(drop_tile *tile, const rasterized_edge *frame)
{
    const drop_ball *ball = &tile->map->ball;
    const frame_box box = box_of(frame, ball->r);
    const double *along = frame->along, *begin = frame->edge.a;
    const double slack = 0x1p-20 * (ball->r + frame->length);
    /* The box's bounding rectangle along x and y. */
    const double y_low =
        drop_least(along[1] * box.u[0], along[1] * box.u[1]) + drop_least(along[0] * box.w[0], along[0] * box.w[1]);
    const double y_high =
        drop_most(along[1] * box.u[0], along[1] * box.u[1]) + drop_most(along[0] * box.w[0], along[0] * box.w[1]);
    const double x_low =
        drop_least(along[0] * box.u[0], along[0] * box.u[1]) + drop_least(-along[1] * box.w[0], -along[1] * box.w[1]);
    const double x_high =
        drop_most(along[0] * box.u[0], along[0] * box.u[1]) + drop_most(-along[1] * box.w[0], -along[1] * box.w[1]);
    const span rows = caromi_drop_span_of(tile, tile->y, tile->ny, begin[1] + y_low - slack, begin[1] + y_high + slack);
    if (rows.first == rows.end)
        return;
    const span columns =
        caromi_drop_span_of(tile, tile->x, tile->nx, begin[0] + x_low - slack, begin[0] + x_high + slack);
    if (columns.first == columns.end || drop_is_hidden(tile, columns, rows, drop_top_of(tile, frame->edge.top)))
        return;
    /* Row by row: the range of x within the box. */
    for (uint64_t j = rows.first; j < rows.end; j++) {
        const double dy = tile->y[j] - begin[1];
        double x[2] = {x_low - slack, x_high + slack};
        cut_row(along[0], along[1] * dy, box.u, x);
        cut_row(-along[1], along[0] * dy, box.w, x);
        if (x[0] > x[1])
            continue;
        const span range =
            caromi_drop_span_of(tile, tile->x, tile->nx, begin[0] + x[0] - slack, begin[0] + x[1] + slack);
        for (uint64_t i = range.first; i < range.end; i++)
            drop_put(tile, i, j, caromi_drop_edge_bound(ball, &frame->edge, tile->x[i], tile->y[j]));
    }
}

/* Begins with an edge from `at` to `end` without triangles. */
static void begin_edge(rasterized_edge *frame, const float *at, const float *end)
{
    *frame = (rasterized_edge){.least = -HUGE_VAL, .most = HUGE_VAL};
    caromi_drop_edge_make(&frame->edge, at, end);
    frame->length = sqrt(frame->edge.length2);
    frame->whole = sqrt(frame->edge.length2 + frame->edge.e[2] * frame->edge.e[2]);
    frame->along[0] = frame->edge.e[0] / frame->length;
    frame->along[1] = frame->edge.e[1] / frame->length;
}

/* Rasterizes a finished edge. Between two level triangles it decides nothing. */
static void end_edge(drop_tile *tile, const rasterized_edge *frame)
{
    if (frame->least <= frame->most && !(frame->level[0] && frame->level[1]))
        rasterize_strip(tile, frame);
}

/* ---- one-rings --------------------------------------------------------------------------------------------------- */

static const float *at_position(const drop_map *map, uint32_t position)
{
    return map->mesh->vertices + 3 * (size_t)position;
}

/* The number of triangles at a position. */
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
static int is_new(const drop_side *side, int number)
{
    for (int earlier = 0; earlier < number; earlier++)
        if (side[earlier].end == side[number].end)
            return 0;
    return 1;
}

/* Rasterizes an edge with all triangles at it. */
static void rasterize_edge(drop_tile *tile, const float *at, const drop_side *side, int count, int number)
{
    const drop_map *map = tile->map;
    rasterized_edge frame;
    begin_edge(&frame, at, at_position(map, side[number].end));
    if (frame.edge.length2 == 0)
        return;
    for (int other = number; other < count; other++)
        if (side[other].end == side[number].end)
            cut(&frame, at_position(map, side[other].opposite));
    end_edge(tile, &frame);
}

/* Rasterizes the corner in the middle of a one-ring. */
static void rasterize_centre(const drop_one_ring *one_ring, drop_tile *tile, const drop_side *side, int count)
{
    double lower[2], upper[2];
    rasterized_corner corner;
    const int is_boxed = caromi_drop_one_ring_corner(one_ring, lower, upper);
    span columns = {0, tile->nx}, rows = {0, tile->ny};
    /* The one-ring surrounds the corner: a rectangle of columns is known. */
    if (is_boxed) {
        rows = caromi_drop_span_of(tile, tile->y, tile->ny, lower[1], upper[1]);
        if (rows.first >= rows.end)
            return;
        columns = caromi_drop_span_of(tile, tile->x, tile->nx, lower[0], upper[0]);
        if (columns.first >= columns.end)
            return;
    }
    /* Neighbours once each. */
    begin_corner(&corner, tile, one_ring->at);
    for (int k = 0; k < count; k++)
        if (is_new(side, k))
            add_neighbour(&corner, at_position(tile->map, side[k].end));
    if (!is_boxed)
        rasterize_corner(&corner);
    else if (!drop_is_hidden(tile, columns, rows, drop_top_of(tile, corner.at[2])))
        rasterize_block(&corner, columns, rows);
}

/* Rasterizes a one-ring given by its sides: the edges that it owns, and its corner. */
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

/* Lists the sides of the position's triangles, and rasterizes them. */
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
