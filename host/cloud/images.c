/* SPDX-License-Identifier: MIT */
/* Finds the periodic images of a slice's spheres that may touch a sphere. cpu/cloud/images.h compares them. */
#include <math.h>

#include "cloud.h"

/* Extends bounds by the spheres in slots [begin, end). */
static void extend(const caromi_cloud *cloud, const caromi_cloud_cells *cells, uint32_t begin, uint32_t end,
                   caromi_cloud_bounds *bounds)
{
    enum { PADDED = CAROMI_CLOUD_PADDING };
    /* Whole vectors are read in place; the remainder is padded with copies of the last sphere. */
    const uint32_t remainder = (end - begin) % PADDED, whole = end - begin - remainder;
    float padded[CLOUD_POSITION_COLUMNS][PADDED];
    const float *position[CLOUD_POSITION_COLUMNS], *last[CLOUD_POSITION_COLUMNS];
    caromi_cloud_bounds last_bounds;
    for (int k = 0; k < CLOUD_POSITION_COLUMNS; k++) {
        position[k] = cells->column[k] + begin;
        last[k] = padded[k];
        for (uint32_t i = 0; i < PADDED; i++)
            padded[k][i] = position[k][i < remainder ? whole + i : end - begin - 1];
        bounds->low[k] = INFINITY;
        bounds->high[k] = -INFINITY;
    }
    if (whole > 0)
        cloud->context->isa->cloud_bound(position, whole, bounds);
    cloud->context->isa->cloud_bound(last, PADDED, &last_bounds);
    for (int k = 0; k < CLOUD_POSITION_COLUMNS; k++) {
        bounds->low[k] = fminf(bounds->low[k], last_bounds.low[k]);
        bounds->high[k] = fmaxf(bounds->high[k], last_bounds.high[k]);
    }
}

/* The bounds of the spheres of a level. */
caromi_cloud_bounds caromi_cloud_bounds_of(const caromi_cloud *cloud, const caromi_cloud_cells *cells, uint32_t level)
{
    const caromi_cloud_level *of = &cells->levels[level];
    caromi_cloud_bounds bounds = {{INFINITY, INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY, 0}};
    if (of->begin_row < of->end_row)
        extend(cloud, cells, cells->rows[of->begin_row].begin, cells->rows[of->end_row - 1].end, &bounds);
    return bounds;
}

/* Computes the bounds of each level; returns the bounds of all levels. */
static caromi_cloud_bounds find_bounds(const caromi_cloud *cloud, caromi_cloud_cells *cells)
{
    caromi_cloud_bounds all = {{INFINITY, INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY, 0}};
    for (uint32_t level = 0; level < cells->view.level_count; level++) {
        const caromi_cloud_bounds bounds = caromi_cloud_bounds_of(cloud, cells, level);
        for (int k = 0; k < CLOUD_POSITION_COLUMNS; k++) {
            all.low[k] = fminf(all.low[k], bounds.low[k]);
            all.high[k] = fmaxf(all.high[k], bounds.high[k]);
        }
        cells->images.bounds[level] = bounds;
    }
    return all;
}

/* Along each periodic axis: from which coordinate on an image of a sphere may touch another sphere. */
void caromi_cloud_find_images(const caromi_cloud *cloud, caromi_cloud_cells *cells)
{
    caromi_cloud_images *images = &cells->images;
    cells->view.images = NULL;
    if (!caromi_cloud_is_periodic(cloud) || cells->count == 0)
        return;
    const caromi_cloud_bounds all = find_bounds(cloud, cells);
    const double reach_most = ((double)all.high[CLOUD_REACH] + (double)cloud->margin) * (1 + 0x1p-12);
    for (int axis = 0; axis < 3; axis++) {
        const double period = (double)cloud->period[axis], low = (double)all.low[axis], high = (double)all.high[axis];
        /* For the rounding of binary32 here and in the scan. */
        const double slack = (fmax(fabs(low), fabs(high)) + period) * 0x1p-20;
        /* An image one period above may touch a sphere only if the lowest sphere's image can touch the highest sphere.
         */
        const int has_images = period > 0 && low + period - reach_most - slack <= high + reach_most;
        images->period[axis] = has_images ? period : 0;
        images->below[axis] = (float)(high - period + reach_most + slack);
        images->above[axis] = (float)(low + period - reach_most - slack);
        cells->view.images = has_images ? images : cells->view.images;
    }
}
