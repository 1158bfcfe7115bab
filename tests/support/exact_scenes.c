/* SPDX-License-Identifier: MIT */
#include "exact_scenes.h"

#include "queries/shapes.h"

#include <math.h>

enum { SEED = 61 };

/* ---- meshes ------------------------------------------------------------------------------------------------------ */

/* Corners on a coarse grid: shared corners, crossing and coplanar triangles, segments, points and duplicates. */
static scene scene_lattice(uint64_t seed, size_t triangles)
{
    scene s = scene_alloc_apart(triangles);
    for (size_t i = 0; i < triangles; i++) {
        ref_gen g;
        double at[3] = {0};
        ref_gen_seed(&g, 110, seed, i);
        int flat = ref_gen_chance(&g, 2), again = i > 0 && ref_gen_chance(&g, 6);
        for (size_t v = 0; v < 3; v++) {
            ref_gen_lattice(&g, at, 8);
            for (size_t k = 0; k < 3; k++)
                s.vertices[9 * i + 3 * v + k] = (float)(k == 2 && flat ? 0.0 : at[k]);
        }
        if (again)
            memcpy(&s.vertices[9 * i], &s.vertices[9 * (i / 2)], 9 * sizeof(float));
    }
    return s;
}

/* A ring of 2 n^2 triangles that share vertices; the tube's corners are rounded, so hardly any edge is along an
 * axis. */
static scene scene_torus(size_t n)
{
    scene s = scene_alloc(n * n, 2 * n * n);
    double c = 1.0, sn = 0.0, step = 2.0 / (double)n;
    for (size_t i = 0; i < n; i++) {
        double u = 1.0, w = 0.0;
        for (size_t j = 0; j < n; j++) {
            const double at[3] = {c * (0.7 + 0.3 * u), sn * (0.7 + 0.3 * u), 0.3 * w};
            for (size_t k = 0; k < 3; k++)
                s.vertices[3 * (i * n + j) + k] = (float)at[k];
            const double turned = u - 3.0 * step * w,
                         length = sqrt(turned * turned + (w + 3.0 * step * u) * (w + 3.0 * step * u));
            w = (w + 3.0 * step * u) / length;
            u = turned / length;
        }
        const double turned = c - 3.0 * step * sn,
                     length = sqrt(turned * turned + (sn + 3.0 * step * c) * (sn + 3.0 * step * c));
        sn = (sn + 3.0 * step * c) / length;
        c = turned / length;
    }
    uint32_t *to = s.indices;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            const size_t i1 = (i + 1) % n, j1 = (j + 1) % n;
            const size_t corners[6] = {i * n + j, i1 * n + j, i * n + j1, i1 * n + j, i1 * n + j1, i * n + j1};
            for (size_t k = 0; k < 6; k++)
                *to++ = (uint32_t)corners[k];
        }
    return s;
}

/* Long and thin triangles; in some the width is one unit in the last place of a corner, and some are degenerate. */
static scene scene_needles(uint64_t seed, size_t triangles)
{
    scene s = scene_soup(seed, triangles, 1.0);
    for (size_t i = 0; i < triangles; i++) {
        float *p = &s.vertices[9 * i];
        shape_needle(i, p);
        if (i % 8 == 0)
            memcpy(p + 3, p, 3 * sizeof *p);
        if (i % 16 == 0)
            memcpy(p + 6, p, 3 * sizeof *p);
    }
    return s;
}

/* Scales a scene of size about 1 by 2^exponent, then moves it by `offset` times that size. */
void scene_place(scene *s, int exponent, float offset)
{
    scene_scale(s, exponent);
    for (size_t i = 0; i < 3 * s->vertex_count; i++)
        s->vertices[i] += ldexpf(offset * (i % 3 == 0 ? 1.0f : i % 3 == 1 ? -0.75f : 0.5f), exponent);
}

/* ---- spheres ----------------------------------------------------------------------------------------------------- */

/* A sphere aimed at a corner, an edge or a face as exactly as binary32 allows. The start is far, near, on the surface
 * or inside. The sphere moves towards the target or away, or rests. Its radius is a multiple of the grid, random or
 * zero. A few spheres are invalid. `size` is the size of the mesh. */
static void aim(ref_gen *g, const scene *s, double size, float out[7])
{
    static const double radii[] = {0.0, 0.125, 0.25, 0.015625, 1.0}, distances[] = {0.0, 1.0, 4.0, 1024.0};
    float p[3][3];
    double spot[3], way[3], radius = size * radii[ref_gen_int(g, 0, 4)], distance;
    int kind = ref_gen_int(g, 0, 15);
    scene_triangle(s, (size_t)ref_gen_int(g, 0, (int)s->triangle_count - 1), p);
    shape_spot(g, p, spot);
    shape_way(g, way);
    if (ref_gen_chance(g, 3))
        radius *= ref_gen_range(g, 0.01, 1.0);
    distance = radius + size * distances[ref_gen_int(g, 0, 3)];
    if (kind < 4)
        distance = kind == 0 ? radius / 2.0 : kind == 1 ? ref_gen_range(g, 0.0, 3.0 * size) : radius;
    double speed = kind == 4 ? 0.0 : kind == 5 ? -size : size * ref_power_of_two(ref_gen_int(g, -4, 2));
    if (kind == 6)
        speed *= ref_gen_range(g, 0.1, 1.0);
    for (int k = 0; k < 3; k++) {
        out[k] = (float)(spot[k] + way[k] * distance);
        out[4 + k] = (float)(-way[k] * speed);
    }
    out[SPHERE_RADIUS] = (float)radius;
    if (kind == 7) /* sliding past at the radius */
        out[ref_gen_int(g, 0, 2)] += out[SPHERE_RADIUS];
    if (kind == 8 && ref_gen_chance(g, 4))
        out[ref_gen_int(g, 0, 6)] = ref_gen_chance(g, 2) ? -1.0f / 0.0f : 0.0f / 0.0f;
}

swept_spheres swept_spheres_aimed(uint64_t seed, const scene *s, double size, size_t count)
{
    swept_spheres b = swept_spheres_alloc(count);
    for (size_t i = 0; i < count; i++) {
        ref_gen g;
        float one[7];
        ref_gen_seed(&g, 111, seed, i);
        aim(&g, s, size, one);
        for (int c = 0; c < 7; c++)
            b.column[c][i] = one[c];
    }
    return b;
}

void swept_spheres_speed_up(swept_spheres *b, int exponent)
{
    for (size_t i = 0; i < b->count; i++)
        for (int c = 4; c < 7; c++) {
            const double speed = (double)b->column[c][i] * ref_power_of_two(exponent);
            b->column[c][i] = (float)fmin(fmax(speed, -0x1p127), 0x1p127);
        }
}

/* ---- kinds ------------------------------------------------------------------------------------------------------- */

static scene make_soup(size_t n)
{
    return scene_soup(SEED, n, n > 2 ? 2.0 / cbrt((double)n) : 0.7);
}
static scene make_sphere(size_t n)
{
    return scene_sphere((int)ceil(sqrt((double)n / 8.0)));
}
static scene make_torus(size_t n)
{
    return scene_torus((size_t)ceil(sqrt((double)n / 2.0)) + 2);
}
/* With a power of two of squares along a side, every corner and every middle of an edge is exact in binary32. */
static scene make_floor(size_t n)
{
    int side = 1;
    while (2 * side * side < (int)n)
        side *= 2;
    return scene_floor(side);
}
static scene make_lattice(size_t n)
{
    return scene_lattice(SEED + 1, n);
}
static scene make_needles(size_t n)
{
    return scene_needles(SEED + 2, n);
}

const mesh_kind kinds[KINDS] = {{"soup", make_soup},   {"sphere", make_sphere},   {"torus", make_torus},
                                {"floor", make_floor}, {"lattice", make_lattice}, {"needles", make_needles}};
