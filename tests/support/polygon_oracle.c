/* SPDX-License-Identifier: MIT */
#include "polygon_oracle.h"

/* Lattice coordinates times a factor, so that points between lattice points are integers too. */
typedef struct point64 {
    int64_t x, y;
} point64;

static int64_t cross(point64 a, point64 b, point64 c)
{
    return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

static point64 scaled(lattice_point p, int64_t by)
{
    return (point64){p.x * by, p.y * by};
}

static int sign(int64_t x)
{
    return (x > 0) - (x < 0);
}

int64_t polygon_area(const lattice_point *p, size_t n)
{
    int64_t area = 0;
    for (size_t i = 0; i < n; i++) {
        lattice_point a = p[i], b = p[(i + 1) % n];
        area += (int64_t)a.x * b.y - (int64_t)b.x * a.y;
    }
    return area;
}

static int between(int64_t a, int64_t b, int64_t c)
{
    return (a <= b && b <= c) || (c <= b && b <= a);
}

static int on_segment(point64 a, point64 b, point64 q)
{
    return cross(a, b, q) == 0 && between(a.x, q.x, b.x) && between(a.y, q.y, b.y);
}

static int cross_properly(point64 a, point64 b, point64 c, point64 d)
{
    return sign(cross(a, b, c)) * sign(cross(a, b, d)) < 0 && sign(cross(c, d, a)) * sign(cross(c, d, b)) < 0;
}

static int meet(point64 a, point64 b, point64 c, point64 d)
{
    return cross_properly(a, b, c, d) || on_segment(a, b, c) || on_segment(a, b, d) || on_segment(c, d, a) ||
           on_segment(c, d, b);
}

int polygon_is_simple(const lattice_point *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        point64 a = scaled(p[i], 1), b = scaled(p[(i + 1) % n], 1), c = scaled(p[(i + 2) % n], 1);
        if ((a.x == b.x && a.y == b.y) || on_segment(a, b, c) || on_segment(b, c, a))
            return 0;
        for (size_t k = i + 2; k < n; k++)
            if ((k + 1) % n != i && meet(a, b, scaled(p[k], 1), scaled(p[(k + 1) % n], 1)))
                return 0;
    }
    return 1;
}

/* Winding number of the polygon, scaled by `scale`, around q. No edge may contain q. */
static int winding(const lattice_point *p, size_t n, int64_t scale, point64 q)
{
    int number = 0;
    for (size_t i = 0; i < n; i++) {
        point64 a = scaled(p[i], scale), b = scaled(p[(i + 1) % n], scale);
        if ((a.y > q.y) != (b.y > q.y)) {
            int side = sign(cross(a, b, q));
            number += b.y > q.y ? side > 0 : -(side < 0);
        }
    }
    return number;
}

/* The polygon's edges in pieces, each from a corner on the edge to the next one on it. */
typedef struct pieces {
    size_t edge, start;
    lattice_point from, to;
} pieces;

static int next_piece(const lattice_point *p, size_t n, pieces *at)
{
    for (; at->edge < n; at->edge++, at->start = 0) {
        const lattice_point a = p[at->edge], b = p[(at->edge + 1) % n];
        for (; at->start < n; at->start++) {
            const point64 here = scaled(p[at->start], 1);
            if (!on_segment(scaled(a, 1), scaled(b, 1), here) || (here.x == b.x && here.y == b.y))
                continue;
            at->from = p[at->start++];
            at->to = b;
            for (size_t m = 0; m < n; m++)
                if (on_segment(here, scaled(at->to, 1), scaled(p[m], 1)) && (p[m].x != here.x || p[m].y != here.y))
                    at->to = p[m];
            return 1;
        }
    }
    return 0;
}

/* Winding numbers to the left and to the right of a piece. Beside its middle every other edge is farther than
 * 1 / (2 * its length), an area being half a whole number; a step of length / 2^20 is one into the next cell. */
static void beside(const lattice_point *p, size_t n, lattice_point a, lattice_point b, int *left, int *right)
{
    const int64_t scale = 1 << 20, nx = -((int64_t)b.y - a.y), ny = (int64_t)b.x - a.x;
    const point64 middle = {((int64_t)a.x + b.x) * (scale / 2), ((int64_t)a.y + b.y) * (scale / 2)};
    *left = winding(p, n, scale, (point64){middle.x + nx, middle.y + ny});
    *right = winding(p, n, scale, (point64){middle.x - nx, middle.y - ny});
}

int polygon_covers_once(const lattice_point *p, size_t n)
{
    if (polygon_area(p, n) <= 0)
        return 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            if (cross_properly(scaled(p[i], 1), scaled(p[(i + 1) % n], 1), scaled(p[k], 1), scaled(p[(k + 1) % n], 1)))
                return 0;
    for (pieces at = {0}; next_piece(p, n, &at);) {
        int left, right;
        beside(p, n, at.from, at.to, &left, &right);
        if (left < 0 || left > 1 || right < 0 || right > 1)
            return 0;
    }
    return 1;
}

/* ---- triangles --------------------------------------------------------------------------------------------------- */

/* 1 if the line through the two points separates the sets: all points of `first` are on it or to its right, all of
 * `second` on it or to its left. */
static int parts(point64 from, point64 to, const point64 *first, size_t m, const point64 *second, size_t n)
{
    int right = 1, left = 1;
    for (size_t i = 0; i < m; i++)
        right &= cross(from, to, first[i]) <= 0;
    for (size_t i = 0; i < n; i++)
        left &= cross(from, to, second[i]) >= 0;
    return right && left;
}

/* 1 if a line through an edge of `first` separates the two sets. Both directions of each edge are tried. */
static int apart_by_first(const point64 *first, size_t m, const point64 *second, size_t n)
{
    for (size_t i = 0; i < m; i++) {
        point64 a = first[i], b = first[(i + 1) % m];
        if (parts(a, b, first, m, second, n) || parts(b, a, first, m, second, n))
            return 1;
    }
    return 0;
}

static int overlap(const point64 *first, size_t m, const point64 *second, size_t n)
{
    return !apart_by_first(first, m, second, n) && !apart_by_first(second, n, first, m);
}

static void corners_of(const lattice_point *p, const uint32_t *triangle, point64 out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = scaled(p[triangle[k]], 1);
}

const char *polygon_judge_sums(const lattice_point *p, size_t n, const uint32_t *triangles, size_t count, int simple)
{
    int64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        point64 t[3];
        for (int k = 0; k < 3; k++)
            if (triangles[3 * i + (size_t)k] >= n)
                return "a corner is none of the polygon's";
        corners_of(p, triangles + 3 * i, t);
        int64_t area = cross(t[0], t[1], t[2]);
        if (area < 0)
            return "a triangle is clockwise";
        if (area == 0 && simple)
            return "a triangle has no area";
        sum += area;
    }
    if (simple && count != n - 2)
        return "there are not n - 2 triangles";
    return sum == polygon_area(p, n) ? NULL : "the areas do not sum up to the polygon's";
}

/* 1 if the polygon's border meets the inside of the triangle. Only edges with different winding numbers on their two
 * sides are border; bridges and spikes are not. */
static int border_goes_through(const lattice_point *p, size_t n, const point64 triangle[3], int simple)
{
    for (pieces at = {0}; next_piece(p, n, &at);) {
        const point64 piece[2] = {scaled(at.from, 1), scaled(at.to, 1)};
        int left = 1, right = 0;
        if (!overlap(triangle, 3, piece, 2))
            continue;
        if (!simple)
            beside(p, n, at.from, at.to, &left, &right);
        if (left != right)
            return 1;
    }
    return 0;
}

const char *polygon_judge(const lattice_point *p, size_t n, const uint32_t *triangles, size_t count)
{
    const int simple = polygon_is_simple(p, n);
    const char *wrong = polygon_judge_sums(p, n, triangles, count, simple);
    for (size_t i = 0; i < count && !wrong; i++) {
        point64 a[3], b[3];
        corners_of(p, triangles + 3 * i, a);
        if (cross(a[0], a[1], a[2]) == 0)
            continue;
        for (size_t k = 0; k < i && !wrong; k++) {
            corners_of(p, triangles + 3 * k, b);
            if (cross(b[0], b[1], b[2]) > 0 && overlap(a, 3, b, 3))
                wrong = "two triangles overlap";
        }
        const point64 center = {a[0].x + a[1].x + a[2].x, a[0].y + a[1].y + a[2].y};
        if (!wrong && border_goes_through(p, n, a, simple))
            wrong = "the border goes through a triangle";
        if (!wrong && winding(p, n, 3, center) != 1)
            wrong = "a triangle is outside";
    }
    return wrong;
}
