/* SPDX-License-Identifier: MIT */
/* Two levels: coarse spheres look at the rows of fine cells around them, or short runs of fine spheres at the coarse
 * cells around them. The former is cheaper where most of these rows have spheres, the latter where they have not: its
 * cost does not depend on how much the sizes differ. Nothing here changes an answer. */
#include "crowded.h"

enum {
    SAMPLE = 16,      /* spheres, or rows, at most; */
    SAMPLE_OF = 64,   /* one of so many */
    COST_SPHERE = 20, /* nanoseconds, roughly, */
    COST_LOOK = 8,    /* of a row that is looked up, */
    COST_ROW = 20,    /* of one that has spheres, */
    COST_CHUNK = 25,  /* of a run of fine spheres */
    WORSE = 2         /* so much worse must the usual way be, as estimates are rough */
};

static uint32_t sample_of(uint32_t count)
{
    return count / SAMPLE_OF + 1 < SAMPLE ? count / SAMPLE_OF + 1 : SAMPLE;
}

static uint32_t spheres_of(const caromi_cloud_view *v, const caromi_cloud_level *level)
{
    return level->begin_row == level->end_row ? 0 : v->rows[level->end_row - 1].end - v->rows[level->begin_row].begin;
}

/* Rows of the fine level in the box around a coarse sphere are looked up, or all of them if these are fewer. */
static double cost_of_rows(const caromi_cloud_view *v, uint32_t place, const caromi_cloud_level *fine)
{
    const double reach = (double)v->reach[place] + fine->reach + (double)v->margin;
    const double all = fine->end_row - fine->begin_row;
    const float *const at[] = {v->x, v->y, v->z};
    double box = 1, share = 1; /* of the box among all places for rows */
    for (int k = 1; k < 3; k++) {
        const double side = caromi_cloud_cell(fine, k, (double)at[k][place] + reach) -
                            caromi_cloud_cell(fine, k, (double)at[k][place] - reach) + 1.0;
        box *= side;
        share *= side / (fine->most[k] + 1.0);
    }
    return (box <= 8 + all / 4 ? COST_LOOK * box : all) + COST_ROW * share * all;
}

static double cost_from_coarse(const caromi_cloud_view *v, const caromi_cloud_level *coarse,
                               const caromi_cloud_level *fine)
{
    const uint32_t count = spheres_of(v, coarse), some = sample_of(count);
    const uint32_t first = v->rows[coarse->begin_row].begin;
    double sum = 0;
    for (uint32_t k = 0; k < some; k++)
        sum += COST_SPHERE + cost_of_rows(v, first + (uint32_t)((uint64_t)count * k / some), fine);
    return sum * count / some;
}

static double cost_from_fine(const caromi_cloud_view *v, const caromi_cloud_level *fine)
{
    const uint32_t count = fine->end_row - fine->begin_row, some = sample_of(count);
    double sum = 0;
    for (uint32_t k = 0; k < some; k++) {
        const caromi_cloud_row *row = &v->rows[fine->begin_row + (uint32_t)((uint64_t)count * k / some)];
        const uint32_t spheres = row->end - row->begin, chunks = (uint32_t)row->count / CAROMI_CLOUD_CHUNK_CELLS + 1;
        sum += COST_CHUNK * ((spheres < chunks ? spheres : chunks) + spheres / CAROMI_CLOUD_CHUNK);
    }
    return sum * count / some;
}

void caromi_cloud_direct(caromi_cloud_cells *cells)
{
    const caromi_cloud_view *v = &cells->view;
    for (uint32_t f = 1; f < v->level_count; f++) {
        caromi_cloud_level *fine = &cells->levels[f];
        if (fine->begin_row == fine->end_row)
            continue;
        const double least = WORSE * cost_from_fine(v, fine);
        for (uint32_t g = 0; g < f; g++) {
            const caromi_cloud_level *coarse = &cells->levels[g];
            if (coarse->begin_row < coarse->end_row && cost_from_coarse(v, coarse, fine) > least)
                fine->coarser |= UINT64_C(1) << g;
        }
    }
}
