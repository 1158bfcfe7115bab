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
    return caromi_drop_sum(z, tile->map->ball.r, 0, 0).high;
}

static inline void drop_put(drop_tile *tile, uint64_t i, uint64_t j, drop_bound bound)
{
    double *low = &tile->low[j * DROP_TILE + i], *high = &tile->high[j * DROP_TILE + i];
    *low = bound.low > *low ? bound.low : *low;
    *high = bound.high > *high ? bound.high : *high;
    tile->is_raised[j / DROP_BLOCK][i / DROP_BLOCK] = 1;
}

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
static inline int drop_is_hidden(const drop_tile *tile, span i, span j, double top)
{
    for (uint64_t b = j.first / DROP_BLOCK; b <= (j.end - 1) / DROP_BLOCK; b++)
        for (uint64_t a = i.first / DROP_BLOCK; a <= (i.end - 1) / DROP_BLOCK; a++)
            if (tile->least[b][a] < top)
                return 0;
    return 1;
}

/* Rasterizes the corner at a position and the edges that its one-ring owns. drop_features.c */
void caromi_drop_rasterize_one_ring(drop_tile *tile, uint32_t position);
#endif
