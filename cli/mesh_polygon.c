/* SPDX-License-Identifier: MIT */
/* Polygons into triangles: the order is fixed by the file alone, because a triangle's index is part of the answer. */
#include "mesh_reader.h"
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Ears are searched in quadratic time at best: longer polygons become fans. */
enum { EARS_MAX = 1000 };

typedef struct flat_point {
    double x, y;
} flat_point;

/* Twice the signed area of a, b, c. */
static double turn(flat_point a, flat_point b, flat_point c)
{
    return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

/* Project along the largest axis of the polygon's normal (Newell), orientation kept counter-clockwise. */
static int flatten(const mesh_data *mesh, const uint32_t *corners, size_t n, flat_point *out)
{
    double normal[3] = {0, 0, 0};
    for (size_t i = 0; i < n; i++) {
        const float *a = mesh->xyz + 3 * (size_t)corners[i], *b = mesh->xyz + 3 * (size_t)corners[(i + 1) % n];
        for (int k = 0; k < 3; k++) {
            int u = (k + 1) % 3, v = (k + 2) % 3;
            normal[k] += ((double)a[u] - (double)b[u]) * ((double)a[v] + (double)b[v]);
        }
    }
    int axis = fabs(normal[1]) > fabs(normal[0]) ? 1 : 0;
    if (fabs(normal[2]) > fabs(normal[axis]))
        axis = 2;
    int u = (axis + 1) % 3, v = (axis + 2) % 3;
    for (size_t i = 0; i < n; i++) {
        const float *a = mesh->xyz + 3 * (size_t)corners[i];
        out[i] = normal[axis] > 0 ? (flat_point){(double)a[u], (double)a[v]} : (flat_point){(double)a[v], (double)a[u]};
    }
    return fabs(normal[axis]) > 0 && isfinite(normal[axis]);
}

static int fan(mesh_data *mesh, const uint32_t *corners, size_t n, size_t first)
{
    for (size_t i = 1; i + 1 < n; i++) {
        int status = mesh_add_triangle(mesh, corners[first], corners[(first + i) % n], corners[(first + i + 1) % n]);
        if (status != EXIT_DONE)
            return status;
    }
    return EXIT_DONE;
}

/* A quad with one reflex corner is covered from that corner; any other from its first. */
static int quad(mesh_data *mesh, const uint32_t *corners)
{
    flat_point p[4];
    size_t first = 0;
    if (flatten(mesh, corners, 4, p))
        for (size_t i = 0; i < 4; i++)
            if (turn(p[(i + 3) % 4], p[i], p[(i + 1) % 4]) < 0)
                first = i;
    return fan(mesh, corners, 4, first);
}

static int is_ear(const flat_point *p, const size_t *left, size_t count, size_t at)
{
    flat_point a = p[left[(at + count - 1) % count]], b = p[left[at]], c = p[left[(at + 1) % count]];
    if (!(turn(a, b, c) > 0))
        return 0;
    for (size_t i = 0; i < count; i++) {
        flat_point q = p[left[i]];
        if (i == at || i == (at + 1) % count || i == (at + count - 1) % count)
            continue;
        int corner = (q.x == a.x && q.y == a.y) || (q.x == b.x && q.y == b.y) || (q.x == c.x && q.y == c.y);
        if (!corner && turn(a, b, q) >= 0 && turn(b, c, q) >= 0 && turn(c, a, q) >= 0)
            return 0;
    }
    return 1;
}

/* Cut the first ear in corner order until a triangle is left. Returns 0 if there is none to cut, nothing added. */
static int find_ears(const flat_point *p, size_t n, size_t *left, size_t *triangles)
{
    size_t count = n, made = 0;
    for (size_t i = 0; i < n; i++)
        left[i] = i;
    while (count > 3) {
        size_t at = 0;
        while (at < count && !is_ear(p, left, count, at))
            at++;
        if (at == count)
            return 0;
        triangles[3 * made] = left[(at + count - 1) % count];
        triangles[3 * made + 1] = left[at];
        triangles[3 * made++ + 2] = left[(at + 1) % count];
        memmove(left + at, left + at + 1, (count - at - 1) * sizeof *left);
        count--;
    }
    memcpy(triangles + 3 * made, left, 3 * sizeof *left);
    return 1;
}

static int is_convex(const flat_point *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(turn(p[i], p[(i + 1) % n], p[(i + 2) % n]) >= 0))
            return 0;
    return 1;
}

static int ears(mesh_data *mesh, const uint32_t *corners, size_t n)
{
    flat_point p[EARS_MAX];
    size_t left[EARS_MAX], *triangles = NULL;
    int flat = flatten(mesh, corners, n, p), status = EXIT_DONE;
    if (flat && is_convex(p, n))
        return fan(mesh, corners, n, 0);
    triangles = malloc(3 * n * sizeof *triangles);
    if (!triangles)
        return cli_no_memory();
    if (flat && find_ears(p, n, left, triangles)) {
        for (size_t i = 0; i < n - 2 && status == EXIT_DONE; i++)
            status = mesh_add_triangle(mesh, corners[triangles[3 * i]], corners[triangles[3 * i + 1]],
                                       corners[triangles[3 * i + 2]]);
    } else {
        mesh->fans++;
        status = fan(mesh, corners, n, 0);
    }
    free(triangles);
    return status;
}

int mesh_add_polygon(mesh_data *mesh, const uint32_t *corners, size_t n)
{
    if (n < 3) {
        *(n == 2 ? &mesh->dropped_lines : &mesh->dropped_points) += 1;
        return EXIT_DONE;
    }
    if (n == 3)
        return mesh_add_triangle(mesh, corners[0], corners[1], corners[2]);
    mesh->polygons++;
    if (n == 4)
        return quad(mesh, corners);
    if (n <= EARS_MAX)
        return ears(mesh, corners, n);
    mesh->fans++;
    return fan(mesh, corners, n, 0);
}
