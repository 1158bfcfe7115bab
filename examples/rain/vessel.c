/* SPDX-License-Identifier: MIT */
/* The vessel: surfaces of revolution about vertical axes, closed. No function of libm but sqrt, so its vertices are the
 * same on every machine. */
#include "rain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct knot {
    double radius, z;
    double flute; /* how far the wall is folded there, in radii */
} knot;

/* Outline of the vessel from the floor's centre to the lid's: bin, neck, hopper, cylinder. */
static const knot vessel[] = {{0, -1.78, 0},      {0.3, -1.86, 0.02},  {0.6, -1.9, 0},   {0.78, -1.8, 0.02},
                              {0.8, -1.15, 0.02}, {0.62, -0.98, 0.02}, {0.26, -0.72, 0}, {0.28, -0.62, 0},
                              {0.93, -0.1, 0.04}, {1, 0.1, 0},         {1, 1.6, 0},      {0, 1.6, 0}};
/* An obstacle's outline goes the other way round, from top to bottom: its inside is not the spheres'. */
static const knot ball[] = {{0, 0.17, 0},       {0.09, 0.15, 0.1},  {0.15, 0.09, 0.1}, {0.17, 0, 0.1},
                            {0.15, -0.09, 0.1}, {0.09, -0.15, 0.1}, {0, -0.17, 0}};

enum { FOLDS_LOG2 = 3, TURNS_LOG2_MAX = 12, KNOTS_MAX = 16 };

/* The directions of a full turn, 2^log2 of them: each is the normalised sum of its neighbours. */
static void make_turn(double (*direction)[2], int log2)
{
    const int count = 1 << log2;
    const double quarters[5][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}, {1, 0}};
    for (int q = 0; q < 5; q++)
        memcpy(direction[q * count / 4], quarters[q], sizeof quarters[q]);
    for (int gap = count / 4; gap > 1; gap /= 2) {
        for (int i = 0; i < count; i += gap) {
            const double *a = direction[i], *b = direction[i + gap];
            const double x = a[0] + b[0], y = a[1] + b[1], length = sqrt(x * x + y * y);
            direction[i + gap / 2][0] = x / length;
            direction[i + gap / 2][1] = y / length;
        }
    }
}

typedef struct outline {
    const knot *knots;
    int count;
    double x, y, z; /* where its axis stands */
} outline;

static void add_vertex(rain_mesh *mesh, double x, double y, double z)
{
    float *v = mesh->vertex + 3 * mesh->vertex_count++;
    v[0] = (float)x, v[1] = (float)y, v[2] = (float)z;
}

static void add_triangle(rain_mesh *mesh, uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t *t = mesh->index + 3 * mesh->triangle_count++;
    t[0] = a, t[1] = b, t[2] = c;
}

/* How many rows of quads a piece of the outline gets: with a density of 1 quads are about as high as wide. */
static int rows_of(const knot *a, const knot *b, int turns, double density)
{
    const double dr = b->radius - a->radius, dz = b->z - a->z, wide = 0.5 * (a->radius + b->radius) * 6.3 / turns;
    const double rows = density * sqrt(dr * dr + dz * dz) / wide;
    return rows < 1 ? 1 : rows > 4 * turns ? 4 * turns : (int)rows;
}

/* One closed surface: a vertex at either pole, rings between them. */
static void revolve(rain_mesh *mesh, const outline *o, const double (*direction)[2], int turns, double density)
{
    const uint32_t first = (uint32_t)mesh->vertex_count;
    const knot *end = o->knots + o->count - 1;
    add_vertex(mesh, o->x, o->y, o->z + o->knots[0].z);
    uint32_t rings = 0, n = (uint32_t)turns;
    for (int k = 0; k + 1 < o->count; k++) {
        const knot *a = o->knots + k, *b = a + 1;
        const int rows = rows_of(a, b, turns, density);
        for (int row = k == 0; row < rows; row++) { /* the pole is no ring */
            const double u = (double)row / rows, radius = a->radius + u * (b->radius - a->radius);
            const double z = a->z + u * (b->z - a->z), flute = a->flute + u * (b->flute - a->flute);
            for (int i = 0; i < turns; i++) {
                const double fold = direction[i * (1 << FOLDS_LOG2) % turns][0];
                const double r = radius * (1 - 0.5 * flute * (1 + fold));
                add_vertex(mesh, o->x + r * direction[i][0], o->y + r * direction[i][1], o->z + z);
            }
            rings++;
        }
    }
    const uint32_t last = (uint32_t)mesh->vertex_count;
    add_vertex(mesh, o->x, o->y, o->z + end->z);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t next = (i + 1) % n;
        add_triangle(mesh, first, first + 1 + i, first + 1 + next);
        for (uint32_t ring = 1; ring < rings; ring++) {
            const uint32_t low = first + 1 + (ring - 1) * n, high = low + n;
            add_triangle(mesh, low + i, high + i, high + next);
            add_triangle(mesh, low + i, high + next, low + next);
        }
        add_triangle(mesh, last - n + i, last, last - n + next);
    }
}

static uint64_t count_triangles(const outline *o, int turns, double density)
{
    uint64_t rows = 0;
    for (int k = 0; k + 1 < o->count; k++)
        rows += (uint64_t)rows_of(o->knots + k, o->knots + k + 1, turns, density);
    return 2 * (uint64_t)turns * (rows - 1);
}

static const outline outlines[] = {
    {vessel, sizeof vessel / sizeof vessel[0], 0, 0, 0},     {ball, sizeof ball / sizeof ball[0], 0, 0, -0.25},
    {ball, sizeof ball / sizeof ball[0], 0.5, 0.2, -0.12},   {ball, sizeof ball / sizeof ball[0], -0.5, 0.25, -0.1},
    {ball, sizeof ball / sizeof ball[0], 0.1, -0.55, -0.08}, {ball, sizeof ball / sizeof ball[0], 0, 0.1, -1.3},
};
enum { OUTLINES = sizeof outlines / sizeof outlines[0] };

/* The vessel has 2^log2 quads around, an obstacle a quarter of that. */
static uint64_t count_all(int log2, double density)
{
    uint64_t all = count_triangles(&outlines[0], 1 << log2, density);
    for (int i = 1; i < OUTLINES; i++)
        all += count_triangles(&outlines[i], 1 << (log2 - 2), density);
    return all;
}

static void find_bounds(rain_mesh *mesh)
{
    for (int a = 0; a < 3; a++)
        mesh->lower[a] = mesh->upper[a] = mesh->vertex[a];
    for (uint64_t i = 0; i < 3 * mesh->vertex_count; i++) {
        float *low = &mesh->lower[i % 3], *high = &mesh->upper[i % 3];
        *low = mesh->vertex[i] < *low ? mesh->vertex[i] : *low;
        *high = mesh->vertex[i] > *high ? mesh->vertex[i] : *high;
    }
}

int rain_make_vessel(rain_mesh *mesh, uint64_t triangles)
{
    static double direction[(1 << TURNS_LOG2_MAX) + 1][2], coarse[(1 << TURNS_LOG2_MAX) + 1][2];
    int log2 = 6;
    while (log2 < TURNS_LOG2_MAX && 2 * count_all(log2, 1) < triangles)
        log2++;
    const double density = (double)triangles / (double)count_all(log2, 1);
    const uint64_t count = count_all(log2, density);
    *mesh = (rain_mesh){
        .vertex = rain_alloc(3 * count, sizeof(float)),
        .index = rain_alloc(3 * count, sizeof(uint32_t)),
    };
    if (!mesh->vertex || !mesh->index)
        return 0;
    make_turn(direction, log2);
    make_turn(coarse, log2 - 2);
    for (int i = 0; i < OUTLINES; i++)
        revolve(mesh, &outlines[i], i ? coarse : direction, 1 << (i ? log2 - 2 : log2), density);
    find_bounds(mesh);
    return 1;
}

void rain_free_mesh(rain_mesh *mesh)
{
    free(mesh->vertex);
    free(mesh->index);
    *mesh = (rain_mesh){0};
}
