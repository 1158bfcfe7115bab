/* SPDX-License-Identifier: MIT */
/* The search direction between two levels. Either coarse spheres visit the rows of fine cells around them, or short
 * runs of fine spheres visit the coarse cells around them. The first is cheaper where most of these rows hold spheres.
 * The second is cheaper where most are empty, as its cost does not depend on the ratio of sizes. Answers do not depend
 * on the direction. */
#include <math.h>

#include "crowded.h"

enum {
    SAMPLE = 16,      /* most spheres, or rows, of a sample */
    SAMPLE_OF = 64,   /* one sphere in so many is sampled */
    COST_SPHERE = 20, /* costs in nanoseconds, roughly: of a coarse sphere */
    COST_LOOK = 8,    /* of a row's lookup */
    COST_RUN = 20,    /* of comparing a sphere with a row or a run */
    COST_CHUNK = 40,  /* of a run of fine spheres */
    WORSE = 2         /* factor by which the usual direction must be worse, as estimates are rough */
};

static uint32_t sample_of(uint32_t count)
{
    return count / SAMPLE_OF + 1 < SAMPLE ? count / SAMPLE_OF + 1 : SAMPLE;
}

static uint32_t spheres_of(const caromi_cloud_view *v, const caromi_cloud_level *level)
{
    return level->begin_row == level->end_row ? 0 : v->rows[level->end_row - 1].end - v->rows[level->begin_row].begin;
}

/* The cost of each direction. */
typedef struct ways {
    double from_coarse, from_fine;
} ways;

/* The number of a fine level's cells along an axis that a coarse sphere's search box overlaps. */
static double cells_in_box(const caromi_cloud_view *v, uint32_t slot, const caromi_cloud_level *fine, int axis)
{
    const float *const at[] = {v->x, v->y, v->z};
    const double x = (double)at[axis][slot], reach = (double)v->reach[slot] + fine->reach + (double)v->margin;
    if (x + reach < fine->from[axis] || x - reach > fine->to[axis])
        return 0;
    return caromi_cloud_cell(fine, axis, x + reach) - caromi_cloud_cell(fine, axis, x - reach) + 1.0;
}

/* An estimate from a sample: the share of the fine spheres whose runs may touch a coarse sphere. */
static double share_touched(const caromi_cloud_view *v, uint32_t slot, const caromi_cloud_level *fine)
{
    const uint32_t count = spheres_of(v, fine), some = count < SAMPLE ? count : SAMPLE;
    const uint32_t first = v->rows[fine->begin_row].begin;
    const double reach = (double)v->reach[slot] + fine->reach + (double)v->margin;
    uint32_t near = 0;
    for (uint32_t k = 0; k < some; k++) {
        const uint32_t p = first + (uint32_t)((uint64_t)count * k / some);
        const double dx = fabs((double)v->x[p] - (double)v->x[slot]) - 0.5 * CAROMI_CLOUD_CHUNK_CELLS / fine->per[0];
        const double dy = (double)v->y[p] - (double)v->y[slot], dz = (double)v->z[p] - (double)v->z[slot];
        near += fmax(dx, 0) * fmax(dx, 0) + dy * dy + dz * dz <= reach * reach;
    }
    return (double)near / some;
}

/* The costs of one coarse sphere. From the coarse level it looks up the fine rows in its box, or all rows if these are
 * fewer. From the fine level some of the runs find it. */
static ways cost_of_sphere(const caromi_cloud_view *v, uint32_t slot, const caromi_cloud_level *fine, double chunks)
{
    const double all = fine->end_row - fine->begin_row;
    double box = 1, share = 1; /* box: rows in the search box; share: the part of the level's rows that is in the box */
    for (int k = 0; k < 3; k++) {
        const double side = cells_in_box(v, slot, fine, k);
        box *= k > 0 ? side : side > 0;
        share *= k > 0 ? side / (fine->most[k] + 1.0) : side > 0;
    }
    const double look = box <= 8 + all / 4 ? COST_LOOK * box : all;
    const double found = share > 0 ? chunks * share_touched(v, slot, fine) : 0;
    return (ways){COST_SPHERE + look + COST_RUN * share * all, COST_RUN * found};
}

static ways cost_of_pair(const caromi_cloud_view *v, const caromi_cloud_level *coarse, const caromi_cloud_level *fine,
                         double chunks)
{
    const uint32_t count = spheres_of(v, coarse), some = sample_of(count);
    const uint32_t first = v->rows[coarse->begin_row].begin;
    ways sum = {0, 0};
    for (uint32_t k = 0; k < some; k++) {
        const ways one = cost_of_sphere(v, first + (uint32_t)((uint64_t)count * k / some), fine, chunks);
        sum.from_coarse += one.from_coarse;
        sum.from_fine += one.from_fine;
    }
    return (ways){sum.from_coarse * count / some, sum.from_fine * count / some + COST_CHUNK * chunks};
}

/* The approximate number of runs that a fine level's spheres are cut into. */
static double count_chunks(const caromi_cloud_view *v, const caromi_cloud_level *fine)
{
    const uint32_t count = fine->end_row - fine->begin_row, some = sample_of(count);
    double sum = 0;
    for (uint32_t k = 0; k < some; k++) {
        const caromi_cloud_row *row = &v->rows[fine->begin_row + (uint32_t)((uint64_t)count * k / some)];
        const uint32_t spheres = row->end - row->begin, most = (uint32_t)row->count / CAROMI_CLOUD_CHUNK_CELLS + 1;
        sum += (spheres < most ? spheres : most) + spheres / CAROMI_CLOUD_CHUNK;
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
        const double chunks = count_chunks(v, fine);
        for (uint32_t g = 0; g < f; g++) {
            const caromi_cloud_level *coarse = &cells->levels[g];
            if (coarse->begin_row == coarse->end_row)
                continue;
            const ways cost = cost_of_pair(v, coarse, fine, chunks);
            if (cost.from_coarse > WORSE * cost.from_fine)
                fine->coarser |= UINT64_C(1) << g;
        }
    }
}
