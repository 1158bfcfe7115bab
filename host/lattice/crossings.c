/* SPDX-License-Identifier: MIT */
/* The crossings of a triangle with the columns of a lattice (cpu/exact/crossing.h). */
#include <math.h>

#include "cpu/exact/crossing.h"
#include "inside.h"

/* ---- ranges of nodes --------------------------------------------------------------------------------------------- */

enum { AT_LIMIT, BEYOND_LIMIT };
/* Binary search in ascending coordinates: the first index in [first, end) with a coordinate >= limit (AT_LIMIT) or
 * > limit (BEYOND_LIMIT). */
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

/* Nodes [first, end) along an axis. */
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
    node_range range = {first, first};
    if (first == end || coordinate[first] > high || coordinate[end - 1] < low)
        return range;
    range.first = range.end = find(inside, axis, coordinate, first, end, low, AT_LIMIT);
    if (coordinate[range.first] <= high) /* early out: few triangles of a fine mesh contain a column */
        range.end = find(inside, axis, coordinate, range.first, end, high, BEYOND_LIMIT);
    return range;
}

/* ---- one column -------------------------------------------------------------------------------------------------- */

/* The number of nodes of the group's column that are strictly below the crossing. */
static uint64_t count_below(const caromi_inside *inside, const caromi_seen_triangle *triangle, int side, float x,
                            float y)
{
    const carom_lattice *lattice = &inside->batch->lattice;
    const caromi_line_height column = caromi_line_height_of(triangle, x, y);
    const double estimate =
        ((double)triangle->corner[0][2] - column.product / triangle->normal[2] - lattice->origin[2]) /
            lattice->spacing -
        (double)(lattice->first[2] + inside->first);
    float node[3] = {x, y, 0};
    uint64_t count = estimate > 0 ? (estimate < (double)inside->count ? (uint64_t)ceil(estimate) : inside->count)
                                  : 0; /* approximate; corrected below by the predicate */
    while (count < inside->count && (node[2] = inside->z[count], caromi_crosses_above(triangle, &column, side, node)))
        count++;
    while (count > 0 && (node[2] = inside->z[count - 1], !caromi_crosses_above(triangle, &column, side, node)))
        count--;
    return count;
}

/* Adds a crossing of a column: `below` nodes of the group are below it. */
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

/* Adds the crossings of one triangle with all columns of the rectangle. */
void caromi_cross_triangle(const caromi_inside *inside, const float corners[9], caromi_crossings *to)
{
    const float lowest = inside->z[0];
    caromi_seen_triangle triangle;
    int has_plane = 0;
    caromi_see_triangle(&triangle, corners);
    if (triangle.corner[0][2] <= lowest && triangle.corner[1][2] <= lowest && triangle.corner[2][2] <= lowest)
        return;
    /* The nodes below its bounding box. */
    const node_range rows = range_of(inside, AXIS_Y, inside->y, to->j0, to->j1, triangle.corner);
    if (rows.first == rows.end)
        return;
    const node_range columns = range_of(inside, AXIS_X, inside->x, to->i0, to->i1, triangle.corner);
    /* Each column: whether it crosses the triangle, and how many nodes are below the crossing. */
    for (uint64_t j = rows.first; j < rows.end; j++)
        for (uint64_t i = columns.first; i < columns.end; i++) {
            const int side = caromi_line_crosses(&triangle, (double)inside->x[i], (double)inside->y[j]);
            if (side == 0)
                continue;
            if (!has_plane)
                caromi_set_plane(&triangle);
            has_plane = 1;
            const uint64_t below = count_below(inside, &triangle, side, inside->x[i], inside->y[j]);
            if (below > 0)
                add(to, i, j, below, side);
        }
}
