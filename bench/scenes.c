/* SPDX-License-Identifier: MIT */
/* Columns in memory and scenes of pairs. */
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
    columns c = {.column_bytes = rows * size, .count = count};
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

/* Centre, radius and triangle; with `moving` a velocity behind the radius. */
static void overlap_row(size_t row, int moving, float *values)
{
    uint64_t state = row * 0x9e3779b97f4a7c15u + 12345;
    int count = 0;

    for (int i = 0; i < 13; i++) {
        values[count++] = (float)(i < 3    ? bench_range(&state, -0.6, 0.6)
                                  : i == 3 ? bench_range(&state, 0.05, 0.5)
                                           : bench_range(&state, -1.0, 1.0));
        for (int k = 0; moving && i == 3 && k < 3; k++)
            values[count++] = (float)bench_range(&state, -1.0, 1.0);
    }
}

const float *const *scene_in(const pair_scene *s)
{
    return (const float *const *)(const void *)s->in.column;
}

pair_scene scene_make(const query_type *q, const char *name, size_t count)
{
    const int column_count = query_required_count(q);
    pair_scene s = {q, count, columns_alloc(column_count, count, sizeof(float))};
    const int overlapping = q == &query_sweep && !strcmp(name, "overlapping");
    const size_t family = overlapping || q == &query_overlap ? 0 : family_named(name);

    for (size_t row = 0; row < count; row++) {
        float values[QUERY_COLUMNS_MAX];
        if (overlapping || q == &query_overlap)
            overlap_row(row, overlapping, values);
        else
            q->family(family, 1, row, values);
        for (int c = 0; c < column_count; c++)
            ((float *)s.in.column[c])[row] = values[c];
    }
    return s;
}

pair_scene scene_repeat(const pair_scene *from, size_t count)
{
    pair_scene s = {from->query, count, columns_alloc(from->in.count, count, sizeof(float))};

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
