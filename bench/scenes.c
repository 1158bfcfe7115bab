/* SPDX-License-Identifier: MIT */
/* Columns in memory and the three scenes of pairs. */
#include "common.h"
#include "scenes.h"

#include "bench.h"
#include "plain.h"
#include "reference/reference.h"

#include <stdlib.h>
#include <string.h>

enum { LINE = 64, SHIFT = 17 * LINE };

columns columns_alloc(int count, size_t rows, size_t size)
{
    columns c = {.count = count};
    const size_t room = (rows + PLAIN_BLOCK - 1) / PLAIN_BLOCK * PLAIN_BLOCK;
    const size_t bytes = (room * size + LINE - 1) / LINE * LINE + SHIFT;

    if (count > COLUMNS_MAX)
        bench_die("more than %d columns", COLUMNS_MAX);
    if (count == 0)
        return c;
    c.memory = aligned_alloc(LINE, bytes * (size_t)count);
    if (!c.memory)
        bench_die("no memory for %zu rows of %d columns", rows, count);
    memset(c.memory, 0, bytes * (size_t)count);
    for (int i = 0; i < count; i++)
        c.column[i] = (char *)c.memory + (size_t)i * bytes;
    return c;
}

void columns_free(columns *c)
{
    free(c->memory);
    *c = (columns){0};
}

/* splitmix64 */
static size_t family_named(const char *name)
{
    for (size_t f = 0; f < ref_family_count(); f++)
        if (!strcmp(ref_family_name(f), name))
            return f;
    bench_die("the reference has no family `%s`", name);
}

static void put(const pair_scene *s, size_t row, const float *values, int count, int *column)
{
    for (int i = 0; i < count; i++)
        ((float *)s->in.column[(*column)++])[row] = values[i];
}

static void sweep_row(const pair_scene *s, size_t row, size_t family)
{
    ref_sweep_case c;
    int column = 0;

    ref_family_sweep(family, 1, row, &c);
    const float radius = (float)c.radius;
    put(s, row, c.center, 3, &column);
    put(s, row, &radius, 1, &column);
    put(s, row, c.velocity, 3, &column);
    for (int k = 0; k < 3; k++)
        put(s, row, c.p[k], 3, &column);
}

/* Centre, radius and triangle; with `moving` a velocity behind the radius. */
static void overlap_row(const pair_scene *s, size_t row, int moving)
{
    uint64_t state = row * 0x9e3779b97f4a7c15u + 12345;
    float values[16];
    int count = 0;

    for (int i = 0; i < 13; i++) {
        values[count++] = (float)(i < 3    ? bench_range(&state, -0.6, 0.6)
                                  : i == 3 ? bench_range(&state, 0.05, 0.5)
                                           : bench_range(&state, -1.0, 1.0));
        for (int k = 0; moving && i == 3 && k < 3; k++)
            values[count++] = (float)bench_range(&state, -1.0, 1.0);
    }
    put(s, row, values, count, &(int){0});
}

static void spheres_row(const pair_scene *s, size_t row, size_t family)
{
    ref_spheres_case c;
    int column = 0;

    ref_family_spheres(family, 1, row, &c);
    put(s, row, c.a0, 3, &column);
    put(s, row, c.a1, 3, &column);
    put(s, row, &c.radius_a, 1, &column);
    put(s, row, c.b0, 3, &column);
    put(s, row, c.b1, 3, &column);
    put(s, row, &c.radius_b, 1, &column);
}

int scene_columns(scene_kind kind)
{
    return kind == SCENE_SWEEP ? 16 : kind == SCENE_OVERLAP ? 13 : 14;
}

const float *const *scene_in(const pair_scene *s)
{
    return (const float *const *)(const void *)s->in.column;
}

pair_scene scene_make(scene_kind kind, const char *name, size_t count)
{
    pair_scene s = {kind, count, columns_alloc(scene_columns(kind), count, sizeof(float))};
    const int overlapping = kind == SCENE_SWEEP && !strcmp(name, "overlapping");
    const size_t family = overlapping || kind == SCENE_OVERLAP ? 0 : family_named(name);

    for (size_t row = 0; row < count; row++) {
        if (overlapping || kind == SCENE_OVERLAP)
            overlap_row(&s, row, overlapping);
        else if (kind == SCENE_SWEEP)
            sweep_row(&s, row, family);
        else
            spheres_row(&s, row, family);
    }
    return s;
}

pair_scene scene_repeat(const pair_scene *from, size_t count)
{
    pair_scene s = {from->kind, count, columns_alloc(scene_columns(from->kind), count, sizeof(float))};

    for (int c = 0; c < s.in.count; c++)
        for (size_t row = 0; row < count; row += from->count) {
            const size_t rows = count - row < from->count ? count - row : from->count;
            memcpy((float *)s.in.column[c] + row, from->in.column[c], rows * sizeof(float));
        }
    return s;
}

void scene_free(pair_scene *s)
{
    columns_free(&s->in);
}
