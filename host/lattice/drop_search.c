/* SPDX-License-Identifier: MIT */
/* Columns by themselves, where many triangles share one: a traversal in binary32 finds the few triangles that can
 * decide each (cpu/drop_template.h). They are bounded in binary64 like the features that are painted. */
#include "cpu/drop.h"

#include "drop.h"

/* Bounds of the candidates, the most promising first. */
static drop_bound bound_candidates(const drop_tile *tile, double x, double y, caromi_drop_candidate *candidates,
                                   int count)
{
    drop_bound all = DROP_NONE;
    double bar = -HUGE_VAL; /* `low` rounded up to binary32: nothing up to it changes the answer */
    for (; count > 0; count--) {
        int best = 0;
        for (int i = 1; i < count; i++)
            best = candidates[i].upper > candidates[best].upper ? i : best;
        if (!((double)candidates[best].upper > bar))
            break;
        const float *at = candidates[best].corner, *const corner[3] = {at, at + 3, at + 6};
        const drop_bound bound = caromi_drop_triangle_bound(&tile->map->ball, corner, x, y, bar);
        all.low = bound.low > all.low ? bound.low : all.low;
        all.high = bound.high > all.high ? bound.high : all.high;
        bar = (double)caromi_drop_round_up(all.low);
        candidates[best] = candidates[count - 1];
    }
    return all;
}

static void take_candidates(void *user, uint32_t i, uint32_t j, caromi_drop_candidate *candidates, int count)
{
    drop_tile *tile = user;
    drop_bound bound = {-HUGE_VAL, HUGE_VAL}; /* the column stays open */
    if (count >= 0)
        bound = bound_candidates(tile, tile->x[i], tile->y[j], candidates, count);
    tile->low[j * DROP_TILE + i] = bound.low;
    tile->high[j * DROP_TILE + i] = bound.high;
}

void caromi_drop_search_tile(drop_tile *tile, uint32_t side)
{
    const drop_map *map = tile->map;
    float x[DROP_TILE], y[DROP_TILE];
    for (uint64_t i = 0; i < tile->nx; i++)
        x[i] = (float)tile->x[i];
    for (uint64_t j = 0; j < tile->ny; j++)
        y[j] = (float)tile->y[j];
    map->mesh->context->isa->drop(&(caromi_drop_search){.mesh = &map->mesh->view,
                                                        .options = map->masks != NULL ? MESH_TRIANGLE_MASKS : 0,
                                                        .radius = (float)map->ball.r,
                                                        .x = x,
                                                        .y = y,
                                                        .nx = (uint32_t)tile->nx,
                                                        .ny = (uint32_t)tile->ny,
                                                        .side = side,
                                                        .take = take_candidates,
                                                        .user = tile});
}

static int is_within(double x, double least, double most)
{
    return least <= x && x <= most;
}

int caromi_drop_can_search(const drop_map *map)
{
    const carom_mesh_info *info = &map->mesh->info;
    const double scale = (double)map->mesh->view.frame.scale, r = map->ball.r * scale;
    double farthest = 0;
    for (int axis = 0; axis < 2; axis++) {
        const double first = fabs((double)carom_lattice_coordinate(map->lattice, axis, 0));
        const double last = fabs((double)carom_lattice_coordinate(map->lattice, axis, map->lattice->dims[axis] - 1));
        farthest = first > farthest ? first : farthest;
        farthest = last > farthest ? last : farthest;
    }
    return info->triangle_count > 0 &&
           is_within(scale, 1 / (double)CAROMI_DROP_COORDINATE, (double)CAROMI_DROP_COORDINATE) &&
           (r == 0 || is_within(r, (double)CAROMI_DROP_LEAST, (double)CAROMI_DROP_MOST)) &&
           farthest * scale <= (double)CAROMI_DROP_FAR;
}
