/* SPDX-License-Identifier: MIT */
/* The crossings of a triangle with the columns of a lattice: a floating-point filter in binary64 with proven bounds,
 * and exact predicates (cpu/exact/ray.h) for undecided cases. docs/volumes.md derives the bounds. */
#include <math.h>

#include "cpu/exact/ray.h"
#include "inside.h"

/* Relative error bounds of the two determinants below, as a factor on the sum of their terms' magnitudes. */
static const double side_error = 0x1p-50, height_error = 0x1p-49;

/* A triangle seen from above, in binary64. */
typedef struct seen_triangle {
    const float *corner[3];
    double x[3], y[3];
    double normal[3], size[3]; /* normal of the plane; bound of its terms' magnitudes, for the error */
    int has_plane;             /* normal and size are computed */
} seen_triangle;

/* ---- ranges of nodes --------------------------------------------------------------------------------------------- */

/* Binary search in ascending coordinates: the first index in [first, end) with a coordinate >= limit, or with `beyond`
 * > limit. */
static uint64_t search(const float *coordinate, uint64_t first, uint64_t end, float limit, int beyond)
{
    while (first < end) {
        const uint64_t middle = first + (end - first) / 2;
        if (beyond ? coordinate[middle] <= limit : coordinate[middle] < limit)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

/* search(), but first tries the index that the spacing predicts. */
static uint64_t find(const caromi_inside *inside, int axis, const float *coordinate, uint64_t first, uint64_t end,
                     float limit, int beyond)
{
    const carom_lattice *lattice = &inside->batch->lattice;
    const double guess =
        ((double)limit - lattice->origin[axis]) * inside->per_length - (double)(int64_t)lattice->first[axis];
    if (guess > (double)(int64_t)first && guess < (double)(int64_t)(end - 1)) {
        const int64_t whole = (int64_t)guess, at = whole + ((double)whole < guess); /* ceil, without a call */
        const float before = coordinate[at - 1], here = coordinate[at];
        if (beyond ? before <= limit && here > limit : before < limit && here >= limit)
            return (uint64_t)at;
    }
    return search(coordinate, first, end, limit, beyond);
}

typedef struct node_range {
    uint64_t first, end;
} node_range;

/* The nodes within the closed interval of a triangle's three coordinates along an axis. */
static node_range range_of(const caromi_inside *inside, int axis, const float *coordinate, uint64_t first, uint64_t end,
                           const float *const corner[3])
{
    const float a = corner[0][axis], b = corner[1][axis], c = corner[2][axis];
    const float least = a < b ? a : b, most = a > b ? a : b; /* without branches, which would be mispredicted */
    const float low = least < c ? least : c, high = most > c ? most : c;
    node_range r = {first, first};
    if (first == end || coordinate[first] > high || coordinate[end - 1] < low)
        return r;
    r.first = r.end = find(inside, axis, coordinate, first, end, low, 0);
    if (coordinate[r.first] <= high) /* early out: few triangles of a fine mesh contain a column */
        r.end = find(inside, axis, coordinate, r.first, end, high, 1);
    return r;
}

/* ---- one column -------------------------------------------------------------------------------------------------- */

/* The side of an edge that a column is on, seen from above; 0 if the edge is a point from above. */
static int side_of(const seen_triangle *t, int edge, double x, double y)
{
    const int next = edge == 2 ? 0 : edge + 1;
    const double left = (t->x[edge] - x) * (t->y[next] - y), right = (t->y[edge] - y) * (t->x[next] - x);
    const double product = left - right, error = side_error * (fabs(left) + fabs(right));
    if (product > error)
        return 1;
    if (product < -error)
        return -1;
    return caromi_exact_ray_side(t->corner[edge], t->corner[next], (float)x, (float)y);
}

/* 1 or -1 if the column crosses the triangle, the sign of the normal's z; else 0. */
static int crosses(const seen_triangle *t, double x, double y)
{
    const int side = side_of(t, 0, x, y);
    return side != 0 && side_of(t, 1, x, y) == side && side_of(t, 2, x, y) == side ? side : 0;
}

static void set_plane(seen_triangle *t)
{
    double e[3], f[3];
    for (int k = 0; k < 3; k++) {
        e[k] = (double)t->corner[1][k] - (double)t->corner[0][k];
        f[k] = (double)t->corner[2][k] - (double)t->corner[0][k];
    }
    for (int k = 0; k < 3; k++) {
        const int a = (k + 1) % 3, b = (k + 2) % 3;
        const double plus = e[a] * f[b], minus = e[b] * f[a];
        t->normal[k] = plus - minus;
        t->size[k] = fabs(plus) + fabs(minus);
    }
    t->has_plane = 1;
}

/* The part of the height determinant that is common to a column's nodes. */
typedef struct column_height {
    double product, size; /* size: sum of its terms' magnitudes */
} column_height;

/* Whether the triangle crosses the column strictly above a node. */
static int is_above(const seen_triangle *t, const column_height *c, int side, const float node[3])
{
    const double rise = (double)node[2] - (double)t->corner[0][2];
    const double product = c->product + t->normal[2] * rise;
    const double error = height_error * (c->size + t->size[2] * fabs(rise));
    if (product > error || product < -error)
        return (product < 0) == (side > 0);
    return caromi_exact_ray_height(t->corner, node) == -side;
}

/* The number of nodes of the group's column that are strictly below the crossing. */
static uint64_t count_below(const caromi_inside *inside, const seen_triangle *t, int side, float x, float y)
{
    const carom_lattice *lattice = &inside->batch->lattice;
    const float *base = t->corner[0];
    const double dx = (double)x - (double)base[0], dy = (double)y - (double)base[1];
    const column_height c = {t->normal[0] * dx + t->normal[1] * dy, t->size[0] * fabs(dx) + t->size[1] * fabs(dy)};
    const double at = ((double)base[2] - c.product / t->normal[2] - lattice->origin[2]) / lattice->spacing -
                      (double)(lattice->first[2] + inside->first);
    float node[3] = {x, y, 0};
    uint64_t count = at > 0 ? (at < (double)inside->count ? (uint64_t)ceil(at) : inside->count)
                            : 0; /* approximate; corrected below by the predicate */
    while (count < inside->count && (node[2] = inside->z[count], is_above(t, &c, side, node)))
        count++;
    while (count > 0 && (node[2] = inside->z[count - 1], !is_above(t, &c, side, node)))
        count--;
    return count;
}

static void add(caromi_crossings *to, uint64_t i, uint64_t j, uint64_t below, int side)
{
    if (to->levels != NULL) {
        to->levels[below - 1] += side;
        return;
    }
    if (to->count == to->capacity) {
        to->overflows = 1;
        return;
    }
    to->list[to->count++] = (caromi_crossing){(uint32_t)(j - to->j0) << CAROMI_GROUP_BITS | (uint32_t)(below - 1),
                                              (uint32_t)(i - to->i0) << 1 | (side < 0)};
}

void caromi_cross_triangle(const caromi_inside *inside, const float corners[9], caromi_crossings *to)
{
    const float lowest = inside->z[0];
    seen_triangle t;
    t.has_plane = 0;
    for (int k = 0; k < 3; k++)
        t.corner[k] = corners + (size_t)3 * (size_t)k;
    if (t.corner[0][2] <= lowest && t.corner[1][2] <= lowest && t.corner[2][2] <= lowest)
        return;
    const node_range rows = range_of(inside, 1, inside->y, to->j0, to->j1, t.corner);
    if (rows.first == rows.end)
        return;
    const node_range columns = range_of(inside, 0, inside->x, to->i0, to->i1, t.corner);
    for (int k = 0; k < 3; k++) {
        t.x[k] = (double)t.corner[k][0];
        t.y[k] = (double)t.corner[k][1];
    }
    for (uint64_t j = rows.first; j < rows.end; j++)
        for (uint64_t i = columns.first; i < columns.end; i++) {
            const int side = crosses(&t, (double)inside->x[i], (double)inside->y[j]);
            if (side == 0)
                continue;
            if (!t.has_plane)
                set_plane(&t);
            const uint64_t below = count_below(inside, &t, side, inside->x[i], inside->y[j]);
            if (below > 0)
                add(to, i, j, below, side);
        }
}
