/* SPDX-License-Identifier: MIT */
/* The search direction between two levels. Either coarse spheres visit the rows of fine cells around them, or short
 * runs of fine spheres visit the coarse cells around them. The first is cheaper where most of these rows hold spheres.
 * The second is cheaper where most are empty, as its cost does not depend on the ratio of sizes. Answers do not depend
 * on the direction. */
#include <math.h>

#include "crowded.h"

enum {
    SAMPLE = 16,        /* most spheres, or rows, of a sample */
    SAMPLE_OF = 64,     /* one sphere in so many is sampled */
    COST_SPHERE = 20,   /* costs in nanoseconds, roughly: of a coarse sphere */
    COST_LOOK = 8,      /* of a row's lookup */
    COST_RUN = 20,      /* of comparing a sphere with a row or a run */
    COST_FINE_RUN = 40, /* of a run of fine spheres */
    WORSE = 2           /* factor by which the usual direction must be worse, as estimates are rough */
};

/* The size of a sample. */
static uint32_t sample_of(uint32_t count)
{
    return count / SAMPLE_OF + 1 < SAMPLE ? count / SAMPLE_OF + 1 : SAMPLE;
}

/* The number of spheres of a level. */
static uint32_t spheres_of(const caromi_cloud_view *view, const caromi_cloud_level *level)
{
    return level->begin_row == level->end_row ? 0
                                              : view->rows[level->end_row - 1].end - view->rows[level->begin_row].begin;
}

/* The cost of each direction. */
typedef struct direction_costs {
    double from_coarse, from_fine;
} direction_costs;

/* The number of a fine level's cells along an axis that a coarse sphere's search box overlaps. */
static double cells_in_box(const caromi_cloud_view *view, uint32_t slot, const caromi_cloud_level *fine, int axis)
{
    const float *const coordinates[] = {view->x, view->y, view->z};
    const double coordinate = (double)coordinates[axis][slot],
                 reach = (double)view->reach[slot] + fine->reach + (double)view->margin;
    if (coordinate + reach < fine->from[axis] || coordinate - reach > fine->to[axis])
        return 0;
    return caromi_cloud_cell(fine, axis, coordinate + reach) - caromi_cloud_cell(fine, axis, coordinate - reach) + 1.0;
}

/* An estimate from a sample: the share of the fine spheres whose runs may touch a coarse sphere. */
static double share_touched(const caromi_cloud_view *view, uint32_t slot, const caromi_cloud_level *fine)
{
    const uint32_t count = spheres_of(view, fine), samples = count < SAMPLE ? count : SAMPLE;
    const uint32_t first = view->rows[fine->begin_row].begin;
    const double reach = (double)view->reach[slot] + fine->reach + (double)view->margin;
    uint32_t touched = 0;
    for (uint32_t number = 0; number < samples; number++) {
        const uint32_t fine_slot = first + (uint32_t)((uint64_t)count * number / samples);
        const double dx =
            fabs((double)view->x[fine_slot] - (double)view->x[slot]) - 0.5 * CAROMI_CLOUD_CHUNK_CELLS / fine->per[0];
        const double dy = (double)view->y[fine_slot] - (double)view->y[slot],
                     dz = (double)view->z[fine_slot] - (double)view->z[slot];
        touched += fmax(dx, 0) * fmax(dx, 0) + dy * dy + dz * dz <= reach * reach;
    }
    return (double)touched / samples;
}

/* The costs of one coarse sphere. From the coarse level it looks up the fine rows in its box, or all rows if these are
 * fewer. From the fine level some of the runs find it. */
static direction_costs cost_of_sphere(const caromi_cloud_view *view, uint32_t slot, const caromi_cloud_level *fine,
                                      double fine_runs)
{
    const double all_rows = fine->end_row - fine->begin_row;
    double rows_in_box = 1, share_in_box = 1; /* rows in the search box; their part of the level's rows */
    for (int axis = 0; axis < 3; axis++) {
        const double side = cells_in_box(view, slot, fine, axis);
        rows_in_box *= axis > 0 ? side : side > 0;
        share_in_box *= axis > 0 ? side / (fine->most[axis] + 1.0) : side > 0;
    }
    const double lookups = rows_in_box <= 8 + all_rows / 4 ? COST_LOOK * rows_in_box : all_rows;
    const double found_by = share_in_box > 0 ? fine_runs * share_touched(view, slot, fine) : 0;
    return (direction_costs){COST_SPHERE + lookups + COST_RUN * share_in_box * all_rows, COST_RUN * found_by};
}

/* The costs of finding the pairs between two levels, from a sample of the coarse spheres. */
static direction_costs cost_of_pair(const caromi_cloud_view *view, const caromi_cloud_level *coarse,
                                    const caromi_cloud_level *fine, double fine_runs)
{
    const uint32_t count = spheres_of(view, coarse), samples = sample_of(count);
    const uint32_t first = view->rows[coarse->begin_row].begin;
    direction_costs sum = {0, 0};
    for (uint32_t number = 0; number < samples; number++) {
        const direction_costs sphere =
            cost_of_sphere(view, first + (uint32_t)((uint64_t)count * number / samples), fine, fine_runs);
        sum.from_coarse += sphere.from_coarse;
        sum.from_fine += sphere.from_fine;
    }
    return (direction_costs){sum.from_coarse * count / samples,
                             sum.from_fine * count / samples + COST_FINE_RUN * fine_runs};
}

/* The approximate number of runs that a fine level's spheres are cut into. */
static double count_chunks(const caromi_cloud_view *view, const caromi_cloud_level *fine)
{
    const uint32_t count = fine->end_row - fine->begin_row, samples = sample_of(count);
    double sum = 0;
    for (uint32_t number = 0; number < samples; number++) {
        const caromi_cloud_row *row = &view->rows[fine->begin_row + (uint32_t)((uint64_t)count * number / samples)];
        const uint32_t spheres = row->end - row->begin, runs_most = (uint32_t)row->count / CAROMI_CLOUD_CHUNK_CELLS + 1;
        sum += (spheres < runs_most ? spheres : runs_most) + spheres / CAROMI_CLOUD_CHUNK;
    }
    return sum * count / samples;
}

/* Of two levels with the same cells the one with fewer spheres searches. */
static void direct_twins(caromi_cloud_cells *cells)
{
    const caromi_cloud_view *view = &cells->view;
    for (uint32_t first = 0; view->is_split && first < view->level_count; first += 2) {
        caromi_cloud_level *twins = &cells->levels[first];
        const int is_first = spheres_of(view, &twins[0]) <= spheres_of(view, &twins[1]);
        twins[0].searches_twin = is_first;
        twins[1].searches_twin = !is_first;
    }
}

/* Chooses the direction for each two levels. The usual one is from the coarse level. */
void caromi_cloud_direct(caromi_cloud_cells *cells)
{
    const caromi_cloud_view *view = &cells->view;
    direct_twins(cells);
    for (uint32_t fine_number = 1; fine_number < view->level_count; fine_number++) {
        caromi_cloud_level *fine = &cells->levels[fine_number];
        if (fine->begin_row == fine->end_row)
            continue;
        const double fine_runs = count_chunks(view, fine);
        for (uint32_t coarse_number = 0; coarse_number < fine_number; coarse_number++) {
            const caromi_cloud_level *coarse = &cells->levels[coarse_number];
            if (coarse->begin_row == coarse->end_row || !caromi_cloud_may_search(view, fine_number, coarse_number))
                continue;
            const direction_costs cost = cost_of_pair(view, coarse, fine, fine_runs);
            if (cost.from_coarse > WORSE * cost.from_fine)
                fine->coarser |= UINT64_C(1) << coarse_number;
        }
    }
}
