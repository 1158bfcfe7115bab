/* SPDX-License-Identifier: MIT */
/* Bounds columns by traversals, where many triangles share a column. A traversal in binary32 finds the few triangles
 * that can decide a block's columns, and bounds their heights in binary64 (cpu/lattice/drop_template.h). Triangles that
 * it leaves undecided are bounded by drop_bound.c, as in rasterized tiles. */
#include "cpu/lattice/drop.h"

#include "drop.h"

/* The search's callback: bounds a triangle over a column. */
static void bound_triangle(void *user, uint32_t column, int32_t triangle, const float corners[9])
{
    drop_tile *tile = user;
    (void)triangle;
    const double x = tile->x[column % DROP_TILE], y = tile->y[column / DROP_TILE];
    double *low = &tile->low[column], *high = &tile->high[column];
    const float *const corner[3] = {corners, corners + 3, corners + 6};
    /* `low` rounded up to binary32: heights up to it do not change the answer */
    const double bar = (double)caromi_drop_round_up(*low);
    const drop_bound bound = caromi_drop_triangle_bound(&tile->map->ball, corner, x, y, bar);
    *low = bound.low > *low ? bound.low : *low;
    *high = bound.high > *high ? bound.high : *high;
}

/* Bounds a tile's columns by one traversal of the BVH for each block of columns. */
void caromi_drop_search_tile(drop_tile *tile, uint32_t side)
{
    const drop_map *map = tile->map;
    float x[DROP_TILE], y[DROP_TILE];
    /* Coordinates in binary32, in which they are exact. */
    for (uint64_t i = 0; i < tile->nx; i++)
        x[i] = (float)tile->x[i];
    for (uint64_t j = 0; j < tile->ny; j++)
        y[j] = (float)tile->y[j];
    for (uint64_t j = 0; j < tile->ny; j++)
        for (uint64_t i = 0; i < tile->nx; i++)
            tile->low[j * DROP_TILE + i] = tile->high[j * DROP_TILE + i] = -HUGE_VAL;
    caromi_searches_of(map->mesh)->drop(&(caromi_drop_search){.mesh = &map->mesh->view,
                                                              .options = map->masks != NULL ? MESH_TRIANGLE_MASKS : 0,
                                                              .radius = (float)map->ball.r,
                                                              .x = x,
                                                              .y = y,
                                                              .nx = (uint32_t)tile->nx,
                                                              .ny = (uint32_t)tile->ny,
                                                              .side = side,
                                                              .stride = DROP_TILE,
                                                              .low = tile->low,
                                                              .high = tile->high,
                                                              .bound = bound_triangle,
                                                              .user = tile});
}

static int is_within(double x, double least, double most)
{
    return least <= x && x <= most;
}

/* The traversal's error bounds need magnitudes within limits. */
int caromi_drop_can_search_within(const drop_map *map, double farthest)
{
    const double scale = (double)map->mesh->view.frame.scale, radius = map->ball.r * scale;
    return map->mesh->info.triangle_count > 0 &&
           is_within(scale, 1 / (double)CAROMI_DROP_COORDINATE, (double)CAROMI_DROP_COORDINATE) &&
           (radius == 0 || is_within(radius, (double)CAROMI_DROP_LEAST, (double)CAROMI_DROP_MOST)) &&
           farthest * scale <= (double)CAROMI_DROP_FAR;
}

int caromi_drop_can_search(const drop_map *map)
{
    double farthest = 0;
    for (int axis = 0; axis < 2; axis++) {
        const double first = fabs((double)carom_lattice_coordinate(map->lattice, axis, 0));
        const double last = fabs((double)carom_lattice_coordinate(map->lattice, axis, map->lattice->dims[axis] - 1));
        farthest = first > farthest ? first : farthest;
        farthest = last > farthest ? last : farthest;
    }
    return caromi_drop_can_search_within(map, farthest);
}
