/* SPDX-License-Identifier: MIT */
/* Polygons into triangles: the order is fixed by the file alone, because a triangle's index is part of the answer. */
#include "reader.h"
#include "cli/base/base.h"
#include "ears.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A polygon while it is cut: corners without repeats, and their places in the plane. */
enum { SMALL = 16 };
typedef struct polygon {
    uint32_t *corners, *triangles;
    flat_point *points;
    uint32_t count;
    uint32_t small_corners[SMALL], small_triangles[3 * SMALL]; /* most polygons need no memory but this */
    flat_point small_points[SMALL];
} polygon;

static const float *vertex(const mesh_data *mesh, uint32_t corner)
{
    return mesh->xyz + 3 * (size_t)corner;
}

static int same_point(const float a[3], const float b[3])
{
    return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

/* Each corner that does not stand on the one before it; the last is before the first. */
static uint32_t without_repeats(const mesh_data *mesh, const uint32_t *corners, size_t n, uint32_t *out)
{
    uint32_t count = 0;
    for (size_t i = 0; i < n; i++)
        if (count == 0 || !same_point(vertex(mesh, corners[i]), vertex(mesh, out[count - 1])))
            out[count++] = corners[i];
    while (count > 1 && same_point(vertex(mesh, out[count - 1]), vertex(mesh, out[0])))
        count--;
    return count;
}

/* Project along the largest axis of the polygon's normal (Newell), orientation kept counter-clockwise. Returns 0 if
 * there is no normal. */
static int flatten(const mesh_data *mesh, polygon *p)
{
    double normal[3] = {0, 0, 0};
    const float *origin = vertex(mesh, p->corners[0]);
    for (uint32_t i = 0; i < p->count; i++) {
        const float *a = vertex(mesh, p->corners[i]), *b = vertex(mesh, p->corners[i + 1 < p->count ? i + 1 : 0]);
        for (int k = 0; k < 3; k++) {
            int u = (k + 1) % 3, v = (k + 2) % 3;
            normal[k] += ((double)a[u] - (double)b[u]) *
                         (((double)a[v] - (double)origin[v]) + ((double)b[v] - (double)origin[v]));
        }
    }
    int axis = fabs(normal[1]) > fabs(normal[0]) ? 1 : 0;
    if (fabs(normal[2]) > fabs(normal[axis]))
        axis = 2;
    if (!(fabs(normal[axis]) > 0 && isfinite(normal[axis])))
        return 0;
    int u = normal[axis] > 0 ? (axis + 1) % 3 : (axis + 2) % 3, v = 3 - axis - u;
    for (uint32_t i = 0; i < p->count; i++) {
        const float *a = vertex(mesh, p->corners[i]);
        p->points[i] = (flat_point){a[u] + 0.0f, a[v] + 0.0f}; /* which takes the sign from a zero */
    }
    return 1;
}

static int fan(mesh_data *mesh, const polygon *p, uint32_t first)
{
    for (uint32_t i = 1; i + 1 < p->count; i++) {
        int status = mesh_add_triangle(mesh, p->corners[first], p->corners[(first + i) % p->count],
                                       p->corners[(first + i + 1) % p->count]);
        if (status != EXIT_DONE)
            return status;
    }
    return EXIT_DONE;
}

static int turn(const polygon *p, uint32_t a, uint32_t b, uint32_t c)
{
    return flat_turn(p->points[a], p->points[b], p->points[c]);
}

/* A quad becomes a fan around its reflex or straight corner; if it has none, around its first corner. */
static int quad(mesh_data *mesh, const polygon *p)
{
    uint32_t first = 0;
    int least = 1;
    for (uint32_t i = 0; i < 4; i++) {
        int here = turn(p, (i + 3) % 4, i, (i + 1) % 4);
        if (here < least) {
            least = here;
            first = i;
        }
    }
    mesh->fans +=
        turn(p, first, (first + 1) % 4, (first + 2) % 4) < 0 || turn(p, first, (first + 2) % 4, (first + 3) % 4) < 0;
    return fan(mesh, p, first);
}

/* Convex, each corner strictly, and not round more than once: seen from the first corner, all others turn left too. */
static int is_convex(const polygon *p)
{
    for (uint32_t i = 0; i < p->count; i++)
        if (turn(p, i, (i + 1) % p->count, (i + 2) % p->count) <= 0 ||
            (i >= 1 && i + 1 < p->count && turn(p, 0, i, i + 1) <= 0))
            return 0;
    return 1;
}

static int cut(mesh_data *mesh, polygon *p)
{
    int flat = flatten(mesh, p), status = EXIT_DONE;
    if (flat && p->count == 4)
        return quad(mesh, p);
    if (flat && is_convex(p))
        return fan(mesh, p, 0);
    uint32_t made = 0;
    int found = flat ? mesh_ears(p->points, p->count, p->triangles, &made) : 0;
    if (found < 0)
        return cli_no_memory();
    if (!found) {
        mesh->fans++;
        return fan(mesh, p, 0);
    }
    for (uint32_t i = 0; i < made && status == EXIT_DONE; i++) {
        const uint32_t *t = p->triangles + 3 * (size_t)i;
        status = mesh_add_triangle(mesh, p->corners[t[0]], p->corners[t[1]], p->corners[t[2]]);
    }
    return status;
}

int mesh_add_polygon(mesh_data *mesh, const uint32_t *corners, size_t n)
{
    polygon p;
    void *memory = NULL;
    int status;
    if (n < 3) {
        *(n == 2 ? &mesh->dropped_lines : &mesh->dropped_points) += 1;
        return EXIT_DONE;
    }
    if (n == 3) /* degenerate ones as well: what is left of them can be hit */
        return mesh_add_triangle(mesh, corners[0], corners[1], corners[2]);
    if (n > INT32_MAX / 4)
        return cli_refuse(EXIT_USAGE, "the mesh has a polygon of more than 2^29 - 1 corners");
    p.corners = p.small_corners;
    p.triangles = p.small_triangles;
    p.points = p.small_points;
    if (n > SMALL) {
        memory = malloc(n * (sizeof *p.points + 4 * sizeof *p.corners));
        if (!memory)
            return cli_no_memory();
        p.points = memory;
        p.corners = (uint32_t *)(p.points + n);
        p.triangles = p.corners + n;
    }
    p.count = without_repeats(mesh, corners, n, p.corners);
    mesh->repeats += n - p.count;
    mesh->polygons += p.count > 3;
    if (p.count <= 3)
        status = mesh_add_polygon(mesh, p.corners, p.count);
    else
        status = cut(mesh, &p);
    free(memory);
    return status;
}
