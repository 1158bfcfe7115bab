/* SPDX-License-Identifier: MIT */
/* Finds the periodic images of a slice's spheres that may touch a sphere. cpu/cloud/images.h compares them. */
#include <math.h>

#include "cloud.h"

/* Extends bounds by the spheres in slots [begin, end). */
static void extend(const caromi_cloud *cloud, const caromi_cloud_cells *cells, uint32_t begin, uint32_t end,
                   caromi_cloud_bounds *bounds)
{
    enum { PADDED = CAROMI_CLOUD_PADDING };
    const uint32_t rest = (end - begin) % PADDED, whole = end - begin - rest;
    float own[4][PADDED];
    const float *position[4], *last[4];
    caromi_cloud_bounds more;
    for (int k = 0; k < 4; k++) {
        position[k] = cells->column[k] + begin;
        last[k] = own[k];
        for (uint32_t i = 0; i < PADDED; i++)
            own[k][i] = position[k][i < rest ? whole + i : end - begin - 1];
        bounds->low[k] = INFINITY;
        bounds->high[k] = -INFINITY;
    }
    if (whole > 0)
        cloud->context->isa->cloud_bound(position, whole, bounds);
    cloud->context->isa->cloud_bound(last, PADDED, &more);
    for (int k = 0; k < 4; k++) {
        bounds->low[k] = fminf(bounds->low[k], more.low[k]);
        bounds->high[k] = fmaxf(bounds->high[k], more.high[k]);
    }
}

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
    for (uint32_t l = 0; l < cells->view.level_count; l++) {
        const caromi_cloud_bounds bounds = caromi_cloud_bounds_of(cloud, cells, l);
        for (int k = 0; k < 4; k++) {
            all.low[k] = fminf(all.low[k], bounds.low[k]);
            all.high[k] = fmaxf(all.high[k], bounds.high[k]);
        }
        cells->images.bounds[l] = bounds;
    }
    return all;
}

void caromi_cloud_find_images(const caromi_cloud *cloud, caromi_cloud_cells *cells)
{
    caromi_cloud_images *images = &cells->images;
    cells->view.images = NULL;
    if (!caromi_cloud_is_periodic(cloud) || cells->count == 0)
        return;
    const caromi_cloud_bounds all = find_bounds(cloud, cells);
    const double off = ((double)all.high[3] + (double)cloud->margin) * (1 + 0x1p-12);
    for (int k = 0; k < 3; k++) {
        const double period = (double)cloud->period[k], low = (double)all.low[k], high = (double)all.high[k];
        const double slack =
            (fmax(fabs(low), fabs(high)) + period) * 0x1p-20; /* for the rounding of binary32 here and in the scan */
        const int has_images = period > 0 && low + period - off - slack <= high + off;
        images->period[k] = has_images ? period : 0;
        images->below[k] = (float)(high - period + off + slack);
        images->above[k] = (float)(low + period - off - slack);
        cells->view.images = has_images ? images : cells->view.images;
    }
}
