/* SPDX-License-Identifier: MIT */
/* Meshes that are no smooth surface. */
#include <math.h>

#include "common.h"
#include "bench.h"
#include "scenes.h"

/* Triangles as they are put down. */
typedef struct builder {
    mesh_scene m;
    size_t next;
    uint64_t random;
} builder;

static void put_corner(builder *b, const double *p)
{
    const size_t at = b->next++;
    for (size_t k = 0; k < 3; k++)
        b->m.vertices[3 * at + k] = (float)p[k];
    b->m.indices[at] = (uint32_t)at;
}

static int is_full(const builder *b)
{
    return b->next >= 3 * b->m.triangle_count;
}

static void put_triangle(builder *b, const double *p0, const double *p1, const double *p2)
{
    if (is_full(b))
        return;
    put_corner(b, p0);
    put_corner(b, p1);
    put_corner(b, p2);
}

/* A parallelogram. */
static void put_plate(builder *b, const double *p, const double *u, const double *v)
{
    double q[3][3];
    for (int k = 0; k < 3; k++) {
        q[0][k] = p[k] + u[k];
        q[1][k] = p[k] + u[k] + v[k];
        q[2][k] = p[k] + v[k];
    }
    put_triangle(b, p, q[0], q[1]);
    put_triangle(b, p, q[1], q[2]);
}

static void random_point(builder *b, double reach, double *p)
{
    for (int k = 0; k < 3; k++)
        p[k] = bench_range(&b->random, -reach, reach);
}

static void make_soup(builder *b)
{
    for (size_t i = 0; !is_full(b); i++) {
        const double size = pow(10.0, bench_range(&b->random, -4.0, -1.0)), width = i % 2 ? 1.0 : 1e-3;
        double p[3], u[3], v[3];
        random_point(b, 0.5, p);
        random_point(b, size, u);
        random_point(b, size * width, v);
        for (int k = 0; k < 3; k++) {
            u[k] += p[k];
            v[k] += 0.5 * (p[k] + u[k]);
        }
        put_triangle(b, p, u, v);
    }
}

/* Something small on the floor: a hundred triangles in a sphere of a two-hundredth. */
static void put_thing(builder *b, const double *on)
{
    for (int i = 0; i < 100; i++) {
        double at[3], p[3][3];
        random_point(b, 0.0025, at);
        for (int c = 0; c < 3; c++) {
            random_point(b, 0.00025, p[c]);
            for (int k = 0; k < 3; k++)
                p[c][k] += on[k] + at[k];
        }
        put_triangle(b, p[0], p[1], p[2]);
    }
}

/* Ten floors of a hundred rooms: of each a wall, a column of four plates, and things until the triangles are used up.
 */
static void make_building(builder *b)
{
    const double step = 0.1, x[3] = {1.0, 0.0, 0.0}, y[3] = {0.0, 1.0, 0.0};
    for (int floor = 0; floor < 10; floor++) {
        const double corner[3] = {0.0, 0.0, step * floor};
        put_plate(b, corner, x, y);
        for (int room = 0; room < 100; room++) {
            const double at[3] = {step * (room % 10), step * (room / 10), step * floor};
            const double wall[3] = {0.9 * step, 0.0, 0.0}, up[3] = {0.0, 0.0, step}, thick[3] = {0.0, 0.005, 0.0};
            const double foot[3] = {0.005, 0.0, 0.0};
            put_plate(b, at, wall, up);
            put_plate(b, at, foot, up);
            put_plate(b, at, thick, up);
        }
    }
    while (!is_full(b)) {
        double on[3] = {bench_range(&b->random, 0.0, 1.0), bench_range(&b->random, 0.0, 1.0), 0.0};
        on[2] = step * (double)(bench_bits(&b->random) % 10) + 0.0025;
        put_thing(b, on);
    }
}

mesh_scene mesh_scene_make_other(mesh_shape shape, size_t thousands)
{
    builder b = {.m = mesh_scene_alloc(3000 * thousands, 1000 * thousands), .random = 17};
    if (shape == SHAPE_SOUP)
        make_soup(&b);
    else
        make_building(&b);
    mesh_scene_set_box(&b.m);
    return b.m;
}
