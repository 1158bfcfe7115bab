/* SPDX-License-Identifier: MIT */
/* The grid that a user would write: cells as wide as the largest sphere, indices sorted by cell with a counting sort,
 * and each cell compared with itself and 13 of its neighbours. */
#include "common.h"
#include "plain_grid.h"
#include "plain_pairs.h"

#include <stdlib.h>

typedef struct grid {
    const peer_task *task;
    float low[3], per_cell;
    size_t cells[3];
    uint32_t *start, *cell, *sphere; /* the spheres of cell c: sphere[start[c] .. start[c + 1]) */
} grid;

static void set_cells(grid *g)
{
    float high[3] = {-HUGE_VALF, -HUGE_VALF, -HUGE_VALF}, reach = 0.0f;

    for (int k = 0; k < 3; k++)
        g->low[k] = HUGE_VALF;
    for (size_t i = 0; i < g->task->count; i++) {
        const float r = pairs_reach(g->task, i);
        reach = r > reach ? r : reach;
        for (int k = 0; k < 3; k++) {
            const float x = pairs_middle(g->task, k, i);
            g->low[k] = x < g->low[k] ? x : g->low[k];
            high[k] = x > high[k] ? x : high[k];
        }
    }
    g->per_cell = 1.0f / (2.001f * reach);
    for (int k = 0; k < 3; k++)
        g->cells[k] = (size_t)((high[k] - g->low[k]) * g->per_cell) + 1;
}

static uint32_t cell_of(const grid *g, size_t i)
{
    size_t at[3];

    for (int k = 0; k < 3; k++)
        at[k] = (size_t)((pairs_middle(g->task, k, i) - g->low[k]) * g->per_cell);
    return (uint32_t)((at[2] * g->cells[1] + at[1]) * g->cells[0] + at[0]);
}

static void sort(grid *g)
{
    const size_t count = g->task->count, cells = g->cells[0] * g->cells[1] * g->cells[2];

    g->start = calloc(cells + 2, sizeof *g->start);
    g->cell = malloc(count * sizeof *g->cell);
    g->sphere = malloc(count * sizeof *g->sphere);
    if (g->start == NULL || g->cell == NULL || g->sphere == NULL)
        bench_die("no memory for a grid of %zu cells", cells);
    for (size_t i = 0; i < count; i++) {
        g->cell[i] = cell_of(g, i);
        g->start[g->cell[i] + 2]++;
    }
    for (size_t c = 2; c < cells + 2; c++)
        g->start[c] += g->start[c - 1];
    for (size_t i = 0; i < count; i++)
        g->sphere[g->start[g->cell[i] + 1]++] = (uint32_t)i;
}

static void compare(const grid *g, size_t cell, size_t with)
{
    for (uint32_t a = g->start[cell]; a < g->start[cell + 1]; a++)
        for (uint32_t b = cell == with ? a + 1 : g->start[with]; b < g->start[with + 1]; b++)
            pairs_ask(g->task, g->sphere[a], g->sphere[b]);
}

/* Cells outside are below 0, and so beyond the last, or beyond the last. */
static void compare_around(const grid *g, size_t x, size_t y, size_t z)
{
    const size_t *n = g->cells, cell = (z * n[1] + y) * n[0] + x;

    if (g->start[cell] == g->start[cell + 1])
        return;
    for (size_t k = 13; k < 27; k++) {
        const size_t u = x + k % 3 - 1, v = y + k / 3 % 3 - 1, w = z + k / 9 - 1;
        if (u < n[0] && v < n[1] && w < n[2])
            compare(g, cell, (w * n[1] + v) * n[0] + u);
    }
}

void plain_grid_run(void *state, size_t count)
{
    const peer_task *task = state;
    grid g = {.task = task};

    (void)count; /* all: fewer spheres would be another cloud */
    pairs_begin(task);
    set_cells(&g);
    sort(&g);
    for (size_t z = 0; z < g.cells[2]; z++)
        for (size_t y = 0; y < g.cells[1]; y++)
            for (size_t x = 0; x < g.cells[0]; x++)
                compare_around(&g, x, y, z);
    free(g.start);
    free(g.cell);
    free(g.sphere);
}
