/* SPDX-License-Identifier: MIT */
/* Early-out tests for a position's features, by the normals of its one-ring. On a fine mesh they cull most features,
 * which decide no column at all. docs/drop.md has the proofs. */
#include "drop.h"

/* Computes R times the triangle's upward normal. Returns 0 if it is not accurate enough. */
static int find_normal(drop_one_ring *one_ring, int triangle)
{
    const float *p = one_ring->at, *a = one_ring->corner[triangle][0], *b = one_ring->corner[triangle][1];
    double e[3], f[3], normal[3], size = 0;
    for (int k = 0; k < 3; k++) {
        e[k] = (double)a[k] - (double)p[k];
        f[k] = (double)b[k] - (double)p[k];
    }
    for (int k = 0; k < 3; k++) {
        const double plus = e[(k + 1) % 3] * f[(k + 2) % 3], minus = e[(k + 2) % 3] * f[(k + 1) % 3];
        normal[k] = plus - minus;
        size += fabs(plus) + fabs(minus);
    }
    const double length = sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
    /* A steep or thin triangle has no useful normal. */
    if (!(fabs(normal[2]) > 0x1p-10 * length && length > 0x1p-20 * size))
        return 0;
    const double factor = one_ring->tile->map->ball.r / (normal[2] < 0 ? -length : length);
    for (int k = 0; k < 3; k++)
        one_ring->normal[triangle][k] = factor * normal[k];
    one_ring->is_turned[triangle] = normal[2] < 0;
    return 1;
}

/* Whether the triangles surround the position, seen from above: each begins where another ends. */
static int is_fan(const drop_one_ring *one_ring)
{
    for (int triangle = 0; triangle < one_ring->count; triangle++) {
        int begins_here = 0, ends_here = 0;
        for (int other = 0; other < one_ring->count; other++) {
            begins_here += one_ring->side[2 * other].end == one_ring->side[2 * triangle].opposite;
            ends_here += one_ring->side[2 * other].opposite == one_ring->side[2 * triangle].end;
        }
        if (begins_here != 1 || ends_here != 1 || one_ring->is_turned[triangle] != one_ring->is_turned[0])
            return 0;
    }
    return one_ring->count > 0;
}

void caromi_drop_one_ring_make(drop_one_ring *one_ring)
{
    one_ring->is_known = one_ring->count <= DROP_FAN;
    for (int triangle = 0; triangle < one_ring->count && one_ring->is_known; triangle++)
        one_ring->is_known = find_normal(one_ring, triangle);
    one_ring->is_fan = one_ring->is_known && is_fan(one_ring);
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

/* The ball's centre lies above the corner at R times a normal between those of the triangles. */
int caromi_drop_one_ring_corner(const drop_one_ring *one_ring, double lower[2], double upper[2])
{
    double spread = 0;
    if (!one_ring->is_fan)
        return 0;
    /* The range of the normals along each axis. Normals inside the fan deviate from it by at most `spread`. */
    for (int axis = 0; axis < 3; axis++) {
        double low = one_ring->normal[0][axis], high = low;
        for (int triangle = 1; triangle < one_ring->count; triangle++) {
            low = smaller(low, one_ring->normal[triangle][axis]);
            high = larger(high, one_ring->normal[triangle][axis]);
        }
        spread += (high - low) * (high - low);
        if (axis < 2) {
            lower[axis] = low;
            upper[axis] = high;
        }
    }
    const double r = one_ring->tile->map->ball.r, slack = 0x1p-19 * r + spread / r;
    for (int axis = 0; axis < 2; axis++) {
        lower[axis] += (double)one_ring->at[axis] - slack;
        upper[axis] += (double)one_ring->at[axis] + slack;
    }
    return 1;
}

/* ---- edges ------------------------------------------------------------------------------------------------------- */

enum { LEFT = 1, RIGHT = 2 };
/* Finds the two triangles at the edge to a neighbour, if there are two, on different sides seen from above. */
static int find_pair(const drop_one_ring *one_ring, uint32_t end, const double e[3], int pair[2])
{
    int found = 0, sides = 0;
    for (int i = 0; i < 2 * one_ring->count; i++) {
        if (one_ring->side[i].end != end)
            continue;
        const float *other = one_ring->corner[i / 2][i % 2 == 0];
        const double x = (double)other[0] - (double)one_ring->at[0], y = (double)other[1] - (double)one_ring->at[1];
        const double left = e[0] * y, right = e[1] * x;
        if (found == 2 || !(fabs(left - right) > 0x1p-20 * (fabs(left) + fabs(right))))
            return 0;
        sides |= left > right ? LEFT : RIGHT;
        pair[found++] = i / 2;
    }
    return found == 2 && sides == (LEFT | RIGHT);
}

/* Whether a column of the block may be inside the strip of ball centres that touch the edge. */
static int crosses(const drop_tile *tile, const float *at, const double edge[3], const double range[2],
                   drop_span columns, drop_span rows)
{
    for (uint64_t j = rows.first; j < rows.end; j++)
        for (uint64_t i = columns.first; i < columns.end; i++) {
            const double side = edge[0] * (tile->y[j] - (double)at[1]) - edge[1] * (tile->x[i] - (double)at[0]);
            if (range[0] <= side && side <= range[1])
                return 1;
        }
    return 0;
}

/* Tests whether any column is inside the strip of ball centres that touch the edge. */
int caromi_drop_one_ring_skips_edge(const drop_one_ring *one_ring, uint32_t end, const float *to)
{
    const drop_tile *tile = one_ring->tile;
    const double r = tile->map->ball.r;
    int pair[2];
    double edge[3], chord = 0, lower[2], upper[2];
    for (int k = 0; k < 3; k++)
        edge[k] = (double)to[k] - (double)one_ring->at[k];
    if (!one_ring->is_known || !find_pair(one_ring, end, edge, pair))
        return 0;
    const double *normal1 = one_ring->normal[pair[0]], *normal2 = one_ring->normal[pair[1]];
    for (int k = 0; k < 3; k++)
        chord += (normal1[k] - normal2[k]) * (normal1[k] - normal2[k]);
    /* Between its triangles' normals, the ball's centre lies in a strip along the edge: first its bounding rectangle.
     */
    const double slack = 0x1p-19 * (r + fabs(edge[0]) + fabs(edge[1])) + 0.25 * chord / r;
    for (int k = 0; k < 2; k++) {
        const double centre = (double)one_ring->at[k];
        lower[k] = centre + smaller(0, edge[k]) + smaller(normal1[k], normal2[k]) - slack;
        upper[k] = centre + larger(0, edge[k]) + larger(normal1[k], normal2[k]) + slack;
    }
    const drop_span rows = caromi_drop_span_of(tile, tile->y, tile->ny, lower[1], upper[1]);
    if (rows.first == rows.end)
        return 1;
    const drop_span columns = caromi_drop_span_of(tile, tile->x, tile->nx, lower[0], upper[0]);
    if (columns.first == columns.end)
        return 1;
    if ((columns.end - columns.first) * (rows.end - rows.first) > DROP_SMALL)
        return 0;
    /* Few columns are left: whether each is in the strip itself. */
    const double side1 = edge[0] * normal1[1] - edge[1] * normal1[0],
                 side2 = edge[0] * normal2[1] - edge[1] * normal2[0];
    const double position_error = slack * (fabs(edge[0]) + fabs(edge[1]));
    return !crosses(tile, one_ring->at, edge,
                    (double[]){smaller(side1, side2) - position_error, larger(side1, side2) + position_error}, columns,
                    rows);
}
