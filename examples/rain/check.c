/* SPDX-License-Identifier: MIT */
/* The checker. It calls nothing of carom and shares nothing with the stepper: a ray goes up from each centre, and the
 * centre is inside of the mesh if the ray crosses an odd number of triangles. Each decision is exact: determinants of
 * binary32 numbers in binary64, and in expansions of binary64 numbers where rounding could matter. */
#include "rain.h"

#include <math.h>
#include <stdlib.h>

enum { GRID = 512, TERMS_MAX = 48 };

struct rain_checker {
    const rain_mesh *mesh;
    /* triangles over each cell of a grid in x and y: list[first[cell]] to list[first[cell + 1]] */
    uint64_t *first;
    uint32_t *list;
};

/* ---- signs of determinants --------------------------------------------------------------------------------------- */

/* Sign of a sum of binary64 numbers without overflow: an expansion of numbers that do not overlap grows by one term at
 * a time, and its largest has the sign (Shewchuk 1997, grow-expansion). */
static int sign_of_sum(const double *term, int count)
{
    double part[TERMS_MAX];
    int parts = 0;
    for (int i = 0; i < count; i++) {
        double q = term[i];
        int kept = 0;
        for (int k = 0; k < parts; k++) {
            const double sum = q + part[k], virtual = sum - q, error = (q - (sum - virtual)) + (part[k] - virtual);
            if (error != 0.0)
                part[kept++] = error;
            q = sum;
        }
        part[kept++] = q;
        parts = kept;
    }
    for (int k = parts - 1; k >= 0; k--)
        if (part[k] != 0.0)
            return part[k] > 0.0 ? 1 : -1;
    return 0;
}

/* Which side of the line from a to b, seen along the axis that is neither x nor y, p is on: 1 left, -1 right, 0 on it.
 */
static int side_of_line(const float *a, const float *b, const float *p, int x, int y)
{
    const double ax = (double)a[x], ay = (double)a[y], bx = (double)b[x], by = (double)b[y];
    const double px = (double)p[x], py = (double)p[y];
    const double l = (bx - ax) * (py - ay), r = (by - ay) * (px - ax);
    if (fabs(l - r) > 0x1p-48 * (fabs(l) + fabs(r)))
        return l > r ? 1 : -1;
    const double term[] = {ax * by, -ay * bx, bx * py, -by * px, px * ay, -py * ax}; /* products are exact */
    return sign_of_sum(term, 6);
}

/* The determinant of b - a, c - a and p - a by all 24 products of four rows (x y z 1); each is two exact numbers. */
static int side_of_plane_exactly(const float *const row[4])
{
    double term[TERMS_MAX];
    int terms = 0;
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            for (int k = 0; k < 4; k++) {
                const int l = 6 - i - j - k;
                if (i == j || i == k || j == k)
                    continue;
                const int swaps = (i > j) + (i > k) + (i > l) + (j > k) + (j > l) + (k > l);
                const double xy = (double)row[i][0] * (double)row[j][1], z = (double)row[k][2] * (swaps % 2 ? -1 : 1);
                const double big = 0x1.0000002p27 * xy, high = big - (big - xy); /* 26 bits, and the 26 below */
                term[terms++] = high * z;
                term[terms++] = (xy - high) * z;
            }
        }
    }
    return -sign_of_sum(term, terms); /* rows a b c p: the determinant of the differences has the other sign */
}

/* Which side of the plane of a, b and c p is on: 1 where the normal points, -1 behind, 0 on it. */
static int side_of_plane(const float *a, const float *b, const float *c, const float *p)
{
    const double ux = (double)b[0] - (double)a[0], uy = (double)b[1] - (double)a[1], uz = (double)b[2] - (double)a[2];
    const double vx = (double)c[0] - (double)a[0], vy = (double)c[1] - (double)a[1], vz = (double)c[2] - (double)a[2];
    const double wx = (double)p[0] - (double)a[0], wy = (double)p[1] - (double)a[1], wz = (double)p[2] - (double)a[2];
    const double det = (uy * vz - uz * vy) * wx + (uz * vx - ux * vz) * wy + (ux * vy - uy * vx) * wz;
    const double size = (fabs(uy * vz) + fabs(uz * vy)) * fabs(wx) + (fabs(uz * vx) + fabs(ux * vz)) * fabs(wy) +
                        (fabs(ux * vy) + fabs(uy * vx)) * fabs(wz);
    if (fabs(det) > 0x1p-46 * size)
        return det > 0.0 ? 1 : -1;
    const float *const row[4] = {a, b, c, p};
    return side_of_plane_exactly(row);
}

/* ---- one centre -------------------------------------------------------------------------------------------------- */

/* Whether the edge lies to the right of p at p's y. The rule is half open, and the ends are taken in an order of their
 * own: triangles that share the edge agree. It is that of a ray moved by (e, e^2), e infinitely small. */
static int edge_right_of(const float *a, const float *b, const float *p)
{
    const float *low = a[1] <= b[1] ? a : b, *high = low == a ? b : a;
    return low[1] <= p[1] && p[1] < high[1] && side_of_line(low, high, p, 0, 1) > 0;
}

/* Whether p is on the triangle: in its bounds and plane, and not outside of it along any axis. */
static int is_on(const float *a, const float *b, const float *c, const float *p)
{
    for (int x = 0; x < 3; x++)
        if ((a[x] < p[x] && b[x] < p[x] && c[x] < p[x]) || (a[x] > p[x] && b[x] > p[x] && c[x] > p[x]))
            return 0;
    if (side_of_plane(a, b, c, p) != 0)
        return 0;
    for (int x = 0; x < 3; x++) {
        const int y = (x + 1) % 3, first = side_of_line(a, b, p, x, y), second = side_of_line(b, c, p, x, y);
        const int third = side_of_line(c, a, p, x, y);
        if ((first > 0 || second > 0 || third > 0) && (first < 0 || second < 0 || third < 0))
            return 0;
    }
    return 1;
}

/* Whether the ray up from p, which is not on the triangle, crosses it. */
static int crosses(const float *a, const float *b, const float *c, const float *p)
{
    if (a[2] < p[2] && b[2] < p[2] && c[2] < p[2])
        return 0;
    if ((edge_right_of(a, b, p) + edge_right_of(b, c, p) + edge_right_of(c, a, p)) % 2 == 0)
        return 0; /* outside of the triangle in x and y, which a vertical triangle always is */
    return side_of_plane(a, b, c, p) != side_of_line(a, b, c, 0, 1); /* above is where a normal with z > 0 points */
}

static int cell_of(float at, float low, float high)
{
    const float cell = (at - low) / (high - low) * GRID;                /* never falls when `at` grows */
    return !(cell > 0.0f) ? 0 : cell > GRID - 1 ? GRID - 1 : (int)cell; /* NaN: a mesh without extent */
}

static int is_inside(const rain_checker *c, const float *p)
{
    const rain_mesh *m = c->mesh;
    int crossed = 0;
    for (int a = 0; a < 3; a++)
        if (!(p[a] > m->lower[a] && p[a] < m->upper[a])) /* NaN too */
            return 0;
    const int x = cell_of(p[0], m->lower[0], m->upper[0]), y = cell_of(p[1], m->lower[1], m->upper[1]);
    const uint64_t *range = c->first + (size_t)y * GRID + (size_t)x;
    for (uint64_t k = range[0]; k < range[1]; k++) {
        const uint32_t *i = m->index + 3 * (size_t)c->list[k];
        const float *corner[3] = {m->vertex + 3 * (size_t)i[0], m->vertex + 3 * (size_t)i[1],
                                  m->vertex + 3 * (size_t)i[2]};
        if (is_on(corner[0], corner[1], corner[2], p))
            return 0;
        crossed += crosses(corner[0], corner[1], corner[2], p);
    }
    return crossed % 2;
}

/* ---- the grid ---------------------------------------------------------------------------------------------------- */

/* Count (list == NULL) or enter triangle t in the cells under its bounds. cell_of never falls, so none is missed. */
static void enter(const rain_mesh *m, uint32_t t, uint64_t *first, uint32_t *list)
{
    const uint32_t *i = m->index + 3 * (size_t)t;
    int low[2], high[2];
    for (int a = 0; a < 2; a++) {
        low[a] = GRID, high[a] = -1;
        for (int k = 0; k < 3; k++) {
            const int cell = cell_of(m->vertex[3 * (size_t)i[k] + (size_t)a], m->lower[a], m->upper[a]);
            low[a] = cell < low[a] ? cell : low[a];
            high[a] = cell > high[a] ? cell : high[a];
        }
    }
    for (int y = low[1]; y <= high[1]; y++) {
        for (int x = low[0]; x <= high[0]; x++) {
            uint64_t *cell = first + (size_t)y * GRID + (size_t)x;
            if (list)
                list[(*cell)++] = t;
            else
                cell[1]++;
        }
    }
}

rain_checker *rain_checker_create(const rain_mesh *mesh)
{
    const size_t cells = (size_t)GRID * GRID;
    rain_checker *c = rain_alloc(1, sizeof *c);
    uint64_t *next = rain_alloc(cells + 1, sizeof *next);
    if (c) {
        c->mesh = mesh;
        c->first = rain_alloc(cells + 1, sizeof *c->first);
    }
    if (c && next && c->first) {
        for (uint64_t t = 0; t < mesh->triangle_count; t++)
            enter(mesh, (uint32_t)t, c->first, NULL);
        for (size_t i = 0; i < cells; i++)
            next[i + 1] = c->first[i + 1] += c->first[i];
        c->list = rain_alloc(c->first[cells], sizeof *c->list);
        for (uint64_t t = 0; c->list && t < mesh->triangle_count; t++)
            enter(mesh, (uint32_t)t, next, c->list);
    }
    free(next);
    if (c && c->list)
        return c;
    rain_checker_destroy(c);
    return NULL;
}

void rain_checker_destroy(rain_checker *c)
{
    if (!c)
        return;
    free(c->first);
    free(c->list);
    free(c);
}

/* ---- distances of a sample --------------------------------------------------------------------------------------- */

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Squared distance from the origin to the segment from p along e. */
static double segment_squared(const double p[3], const double e[3])
{
    const double ee = dot(e, e);
    double u = ee > 0.0 ? -dot(p, e) / ee : 0.0, q[3];
    u = u < 0.0 ? 0.0 : u > 1.0 ? 1.0 : u;
    for (int a = 0; a < 3; a++)
        q[a] = p[a] + u * e[a];
    return dot(q, q);
}

static double triangle_squared(const float *a, const float *b, const float *c, const float *p)
{
    double corner[3][3], edge[3][3], best = HUGE_VAL, n[3];
    const float *corners[3] = {a, b, c};
    for (int k = 0; k < 3; k++)
        for (int x = 0; x < 3; x++) {
            corner[k][x] = (double)corners[k][x] - (double)p[x];
            edge[k][x] = (double)corners[(k + 1) % 3][x] - (double)corners[k][x];
        }
    for (int x = 0; x < 3; x++)
        n[x] = edge[0][(x + 1) % 3] * edge[1][(x + 2) % 3] - edge[0][(x + 2) % 3] * edge[1][(x + 1) % 3];
    int over = dot(n, n) > 0.0;
    for (int k = 0; k < 3; k++) {
        double out = 0.0; /* (edge x normal) . (p - corner): negative inside of the edge */
        for (int x = 0; x < 3; x++) {
            const int y = (x + 1) % 3, z = (x + 2) % 3;
            out -= (edge[k][y] * n[z] - edge[k][z] * n[y]) * corner[k][x];
        }
        over = over && out <= 0.0;
        best = fmin(best, segment_squared(corner[k], edge[k]));
    }
    const double height = dot(n, corner[0]);
    return over ? fmin(best, height * height / dot(n, n)) : best;
}

static double distance(const rain_mesh *m, const float *p)
{
    double best = HUGE_VAL;
    for (uint64_t t = 0; t < m->triangle_count; t++) {
        const uint32_t *i = m->index + 3 * t;
        best = fmin(best, triangle_squared(m->vertex + 3 * (size_t)i[0], m->vertex + 3 * (size_t)i[1],
                                           m->vertex + 3 * (size_t)i[2], p));
    }
    return sqrt(best);
}

rain_verdict rain_check(const rain_checker *c, const rain_spheres *s, uint64_t sample)
{
    rain_verdict v = {.sampled = sample < s->count ? sample : s->count, .deepest = -HUGE_VAL};
    for (uint64_t i = 0; i < s->count; i++) {
        if (is_inside(c, s->center + 3 * i))
            continue;
        v.first = v.outside++ ? v.first : i;
    }
    for (uint64_t k = 0; k < v.sampled; k++) {
        const uint64_t i = k * (s->count / v.sampled);
        const double r = (double)s->radius[i];
        v.deepest = fmax(v.deepest, (r - distance(c->mesh, s->center + 3 * i)) / r);
    }
    return v;
}
