/* SPDX-License-Identifier: MIT */
/* A tree of bounding boxes, split at the median along the longest side. A box of equal points is not searched: the
 * point with the lowest number is the answer, which every box stores. */
#include "point_tree.h"

#include <math.h>
#include <string.h>

#include "cpu/exact/exact.h"

enum { LEAF = 8, ROOT = 1 };

double caromi_square_between(const float *a, const float *b)
{
    double square = 0.0;
    for (int k = 0; k < 3; k++) {
        const double offset = (double)a[k] - (double)b[k];
        square += offset * offset;
    }
    return square;
}

int caromi_squares_apart(double a, double b)
{
    return fabs(a - b) > 0x1p-48 * (a + b);
}

/* The number of boxes for so many points. */
uint64_t caromi_point_tree_boxes(uint64_t points)
{
    uint64_t boxes = 2;
    for (uint64_t most = points; most > LEAF; most = most - most / 2)
        boxes *= 2;
    return boxes;
}

static int64_t lower_of(int64_t a, int64_t b)
{
    return a == CAROMI_NO_POINT || (b != CAROMI_NO_POINT && b < a) ? b : a;
}

static int64_t least_of(const caromi_tree_point *points, uint64_t count)
{
    int64_t least = CAROMI_NO_POINT;
    for (uint64_t i = 0; i < count; i++)
        if (!points[i].is_removed)
            least = lower_of(least, points[i].number);
    return least;
}

/* The bounding box of some points, and the least number among them. */
static caromi_point_box box_of(const caromi_tree_point *points, uint64_t count)
{
    caromi_point_box box = {.least = least_of(points, count)};
    memcpy(box.lower, points->at, sizeof box.lower);
    memcpy(box.upper, points->at, sizeof box.upper);
    for (uint64_t i = 1; i < count; i++)
        for (int k = 0; k < 3; k++) {
            box.lower[k] = points[i].at[k] < box.lower[k] ? points[i].at[k] : box.lower[k];
            box.upper[k] = points[i].at[k] > box.upper[k] ? points[i].at[k] : box.upper[k];
        }
    return box;
}

/* The axis of a box's longest side. */
static int longest_side(const caromi_point_box *box)
{
    double side[3];
    for (int k = 0; k < 3; k++)
        side[k] = (double)box->upper[k] - (double)box->lower[k];
    const int longer = side[1] > side[0];
    return side[2] > side[longer] ? 2 : longer;
}

/* The order of points along an axis; ties by number. */
static int comes_before(const caromi_tree_point *a, const caromi_tree_point *b, int axis)
{
    if (a->at[axis] < b->at[axis] || a->at[axis] > b->at[axis])
        return a->at[axis] < b->at[axis];
    return a->number < b->number;
}

static void swap(caromi_tree_point *a, caromi_tree_point *b)
{
    const caromi_tree_point was = *a;
    *a = *b;
    *b = was;
}

/* Quickselect: moves the first `front` points along an axis to the front. */
static void select_front(caromi_tree_point *p, uint64_t count, uint64_t front, int axis)
{
    while (count > 1) {
        uint64_t at = 0;
        swap(&p[(count * UINT64_C(0x9e3779b97f4a7c15) >> 32) % count], &p[count - 1]);
        for (uint64_t i = 0; i + 1 < count; i++)
            if (comes_before(&p[i], &p[count - 1], axis))
                swap(&p[at++], &p[i]);
        swap(&p[at], &p[count - 1]);
        if (at == front)
            return;
        if (at > front) {
            count = at;
        } else {
            p += at + 1;
            front -= at + 1;
            count -= at + 1;
        }
    }
}

/* Builds a subtree by median splits along the longest side. */
static void build(caromi_point_tree *tree, uint64_t box, uint64_t from, uint64_t end)
{
    const uint64_t middle = from + (end - from) / 2;
    tree->boxes[box] = box_of(tree->points + from, end - from);
    if (end - from <= LEAF)
        return;
    select_front(tree->points + from, end - from, middle - from, longest_side(&tree->boxes[box]));
    build(tree, 2 * box, from, middle);
    build(tree, 2 * box + 1, middle, end);
}

void caromi_point_tree_build(caromi_point_tree *tree)
{
    build(tree, ROOT, 0, tree->count);
    for (uint64_t i = 0; i < tree->count; i++)
        tree->slot[tree->points[i].number - tree->first] = i;
}

/* ---- search ------------------------------------------------------------------------------------------------------ */

/* A search for the closest point. */
typedef struct search {
    const caromi_point_tree *tree;
    const float *place; /* the query point */
    const float *at;    /* coordinates of the best point so far */
    double square;
    int64_t best;
} search;

/* Makes a point the best one so far, if it is closer, or as close with a lower number. */
static void consider(search *s, const float *at, int64_t number)
{
    const double square = caromi_square_between(s->place, at);
    if (s->best != CAROMI_NO_POINT) {
        const int order = caromi_squares_apart(square, s->square)
                              ? (square > s->square) - (square < s->square)
                              : caromi_exact_distance_order(s->place, at, s->place, s->at);
        if (order > 0 || (order == 0 && number > s->best))
            return;
    }
    s->at = at;
    s->square = square;
    s->best = number;
}

/* Squared distance from the query point to a box. */
static double square_to(const search *s, const caromi_point_box *box)
{
    float near[3];
    for (int k = 0; k < 3; k++)
        near[k] = s->place[k] < box->lower[k]   ? box->lower[k]
                  : s->place[k] > box->upper[k] ? box->upper[k]
                                                : s->place[k];
    return caromi_square_between(s->place, near);
}

/* Whether a box has no extent. */
static int is_point(const caromi_point_box *box)
{
    int is = 1;
    for (int k = 0; k < 3; k++)
        is &= !(box->lower[k] < box->upper[k]);
    return is;
}

/* Searches a subtree, the closer half first; skips boxes that are farther away than the best point. */
static void find_below(search *s, uint64_t box, uint64_t from, uint64_t end)
{
    const caromi_point_box *own = &s->tree->boxes[box];
    const double square = square_to(s, own);
    if (own->least == CAROMI_NO_POINT ||
        (s->best != CAROMI_NO_POINT && square > s->square && caromi_squares_apart(square, s->square)))
        return;
    /* All points are in one place: the least number decides. */
    if (is_point(own)) {
        consider(s, own->lower, own->least);
        return;
    }
    if (end - from <= LEAF) {
        for (uint64_t i = from; i < end; i++)
            if (!s->tree->points[i].is_removed)
                consider(s, s->tree->points[i].at, s->tree->points[i].number);
        return;
    }
    const uint64_t middle = from + (end - from) / 2;
    const int is_last_near = square_to(s, own + box + 1) < square_to(s, own + box);
    for (int i = 0; i < 2; i++)
        if (i == is_last_near)
            find_below(s, 2 * box, from, middle);
        else
            find_below(s, 2 * box + 1, middle, end);
}

int64_t caromi_point_tree_find(const caromi_point_tree *tree, const float *place)
{
    search s = {.tree = tree, .place = place, .best = CAROMI_NO_POINT};
    find_below(&s, ROOT, 0, tree->count);
    return s.best;
}

/* Removes a point, and updates the least numbers on its path. */
static void remove_below(caromi_point_tree *tree, uint64_t box, uint64_t from, uint64_t end, uint64_t slot)
{
    const uint64_t middle = from + (end - from) / 2;
    caromi_point_box *boxes = tree->boxes;
    if (end - from <= LEAF) {
        tree->points[slot].is_removed = 1;
        boxes[box].least = least_of(tree->points + from, end - from);
        return;
    }
    if (slot < middle)
        remove_below(tree, 2 * box, from, middle, slot);
    else
        remove_below(tree, 2 * box + 1, middle, end, slot);
    boxes[box].least = lower_of(boxes[2 * box].least, boxes[2 * box + 1].least);
}

void caromi_point_tree_remove(caromi_point_tree *tree, int64_t number)
{
    remove_below(tree, ROOT, 0, tree->count, tree->slot[number - tree->first]);
}
