/* SPDX-License-Identifier: MIT */
#include "walls.h"

#include <math.h>

const char *const wall_names[WALL_KINDS] = {"two triangles", "grid",        "irregular", "needles",
                                            "duplicates",    "T-junctions", "cracks"};

typedef struct builder {
    scene s;
    float height;
} builder;

static uint32_t add_vertex(builder *w, double x, double y)
{
    const float at[3] = {(float)x, (float)y, w->height};
    memcpy(&w->s.vertices[3 * w->s.vertex_count], at, sizeof at);
    return (uint32_t)w->s.vertex_count++;
}

static void add_triangle(builder *w, uint32_t a, uint32_t b, uint32_t c)
{
    const uint32_t corner[3] = {a, b, c};
    memcpy(&w->s.indices[3 * w->s.triangle_count++], corner, sizeof corner);
}

/* Halved along a diagonal that the seed chooses. */
static void add_square(builder *w, ref_gen *g, const uint32_t at[4])
{
    const int turned = ref_gen_chance(g, 2);
    add_triangle(w, at[0], at[1], at[turned ? 2 : 3]);
    add_triangle(w, at[turned ? 0 : 1], at[2], at[3]);
}

static double place(int i, int n)
{
    return -1.0 + 2.0 * (double)i / (double)n;
}

/* A grid of n x m squares with shared corners; inner corners are moved by up to `loose` of a square. */
static void add_grid(builder *w, ref_gen *g, int n, int m, double loose)
{
    const uint32_t first = (uint32_t)w->s.vertex_count;
    for (int j = 0; j <= m; j++)
        for (int i = 0; i <= n; i++) {
            const int inner = i > 0 && i < n && j > 0 && j < m;
            const double x = inner ? ref_gen_range(g, -loose, loose) : 0.0,
                         y = inner ? ref_gen_range(g, -loose, loose) : 0.0;
            add_vertex(w, place(i, n) + 2.0 * x / n, place(j, m) + 2.0 * y / m);
        }
    for (int j = 0; j < m; j++)
        for (int i = 0; i < n; i++) {
            const uint32_t a = first + (uint32_t)(j * (n + 1) + i), up = (uint32_t)(n + 1);
            add_square(w, g, (uint32_t[]){a, a + 1, a + 1 + up, a + up});
        }
}

/* Squares with corners of their own, each cut into 1 or 2 x 2 squares, and `gap` narrower than their place. */
static void add_apart(builder *w, ref_gen *g, int n, int cut, double gap)
{
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            const int parts = cut && (i + j) % 2 == 0 ? 2 : 1;
            const double x = place(i, n), y = place(j, n), step = (2.0 / n - gap) / parts;
            for (int q = 0; q < parts; q++)
                for (int p = 0; p < parts; p++) {
                    const double left = x + p * step, low = y + q * step;
                    /* The last edge of a square lies where the next square begins. */
                    const double right = p + 1 < parts || gap > 0.0 ? left + step : place(i + 1, n);
                    const double high = q + 1 < parts || gap > 0.0 ? low + step : place(j + 1, n);
                    const uint32_t at[4] = {add_vertex(w, left, low), add_vertex(w, right, low),
                                            add_vertex(w, right, high), add_vertex(w, left, high)};
                    add_square(w, g, at);
                }
        }
}

static void add_duplicates(builder *w, ref_gen *g)
{
    const size_t triangles = w->s.triangle_count;
    for (size_t t = 0; t < triangles; t++) {
        const uint32_t *p = &w->s.indices[3 * t];
        if (ref_gen_chance(g, 3))
            add_triangle(w, p[1], p[2], p[0]);
        if (ref_gen_chance(g, 3))
            add_triangle(w, p[0], p[2], p[1]);
    }
}

scene scene_wall(int kind, uint64_t seed, int n, float height)
{
    const size_t most = 8 * (size_t)n * (size_t)n + 2000;
    builder w = {{test_alloc(9 * most, sizeof(float)), test_alloc(9 * most, sizeof(uint32_t)), 0, 0, NULL}, height};
    ref_gen g;
    ref_gen_seed(&g, 130, seed, (uint64_t)kind);
    if (kind == WALL_TWO)
        add_grid(&w, &g, 1, 1, 0.0);
    else if (kind == WALL_NEEDLES)
        add_grid(&w, &g, 500, 1, 0.0);
    else if (kind == WALL_T_JUNCTIONS || kind == WALL_CRACKS)
        add_apart(&w, &g, n, kind == WALL_T_JUNCTIONS, kind == WALL_CRACKS ? 1e-6 : 0.0);
    else
        add_grid(&w, &g, n, n, kind == WALL_IRREGULAR ? 0.3 : 0.0);
    if (kind == WALL_DUPLICATES)
        add_duplicates(&w, &g);
    return w.s;
}

swept_spheres spheres_over_wall(uint64_t seed, const scene *s, float height, size_t count)
{
    swept_spheres b = swept_spheres_alloc(count);
    for (size_t i = 0; i < count; i++) {
        ref_gen g;
        float p[3][3];
        ref_gen_seed(&g, 131, seed, i);
        const float radius = ref_gen_chance(&g, 2) ? 0.125f : 0.5f;
        const int kind = ref_gen_int(&g, 0, 3), v = ref_gen_int(&g, 0, 2);
        scene_triangle(s, (size_t)ref_gen_int(&g, 0, (int)s->triangle_count - 1), p);
        for (int k = 0; k < 2; k++) {
            const float edge = (p[v][k] + p[(v + 1) % 3][k]) / 2;
            b.column[k][i] = kind == 0 ? p[v][k] : kind == 1 ? edge : (float)ref_gen_range(&g, -1.0, 1.0);
            b.column[k][i] = fminf(fmaxf(b.column[k][i], -0.9f), 0.9f);
        }
        b.column[2][i] = height + (ref_gen_chance(&g, 2) ? 1 : -1) * radius * 0.99f;
        b.column[SPHERE_RADIUS][i] = radius;
    }
    return b;
}

void turn_wall(scene *s, swept_spheres *b)
{
    static const double axes[3][3] = {{0.36, 0.48, -0.8}, {-0.8, 0.6, 0.0}, {0.48, 0.64, 0.6}};
    for (size_t v = 0; v < s->vertex_count; v++) {
        const double x = (double)s->vertices[3 * v], y = (double)s->vertices[3 * v + 1],
                     z = (double)s->vertices[3 * v + 2];
        for (size_t k = 0; k < 3; k++)
            s->vertices[3 * v + k] = (float)(axes[0][k] * x + axes[1][k] * y + axes[2][k] * z);
    }
    for (size_t i = 0; i < b->count; i++) {
        const double x = (double)b->column[0][i], y = (double)b->column[1][i], z = (double)b->column[2][i];
        for (size_t k = 0; k < 3; k++)
            b->column[k][i] = (float)(axes[0][k] * x + axes[1][k] * y + axes[2][k] * z);
    }
}
