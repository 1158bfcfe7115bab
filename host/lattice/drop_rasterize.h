/* SPDX-License-Identifier: MIT */
/* Helpers for rasterizing faces (drop_rasterize.c), corners and edges (drop_features.c). */
#ifndef CAROM_HOST_LATTICE_DROP_RASTERIZE_H
#define CAROM_HOST_LATTICE_DROP_RASTERIZE_H
#include <math.h>

#include "drop.h"

typedef drop_span span;

/* An upper bound of the height that a point at z gives. */
static inline double drop_top_of(const drop_tile *tile, double z)
{
    return caromi_drop_sum_alone(z, tile->map->ball.r).high;
}

/* Raises the bounds of a column by those of one feature. */
static inline void drop_put(drop_tile *tile, uint64_t column, uint64_t row, drop_bound bound)
{
    double *low = &tile->low[row * DROP_TILE + column], *high = &tile->high[row * DROP_TILE + column];
    *low = bound.low > *low ? bound.low : *low;
    *high = bound.high > *high ? bound.high : *high;
    tile->is_raised[row / DROP_BLOCK][column / DROP_BLOCK] = 1;
}

/* Whether a triangle is not masked out. */
static inline int drop_counts(const drop_map *map, uint32_t triangle)
{
    return map->masks == NULL || map->masks[triangle] != 0;
}

static inline double drop_least(double a, double b)
{
    return a < b ? a : b;
}

static inline double drop_most(double a, double b)
{
    return a > b ? a : b;
}

/* Whether all columns of a rectangle are higher than `top` already, so that a feature up to `top` is hidden. */
static inline int drop_is_hidden(const drop_tile *tile, span columns, span rows, double top)
{
    for (uint64_t block_y = rows.first / DROP_BLOCK; block_y <= (rows.end - 1) / DROP_BLOCK; block_y++)
        for (uint64_t block_x = columns.first / DROP_BLOCK; block_x <= (columns.end - 1) / DROP_BLOCK; block_x++)
            if (tile->least[block_y][block_x] < top)
                return 0;
    return 1;
}

/* Rasterizes the corner at a position and the edges that its one-ring owns. drop_features.c */
void caromi_drop_rasterize_one_ring(drop_tile *tile, uint32_t position);
#endif
