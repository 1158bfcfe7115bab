/* SPDX-License-Identifier: MIT */
/* One column by itself, where many triangles share one: a traversal in binary32 finds the few triangles that can decide
 * it (cpu/drop_template.h). They are bounded in binary64 like the features that are painted. */
#include "cpu/drop.h"

#include "drop.h"

/* Bounds of the triangles that were found, the most promising first. */
static drop_bound bound_found(const drop_map *map, caromi_drop_column *column)
{
    drop_bound all = DROP_NONE;
    double bar = -HUGE_VAL; /* `low` rounded up to binary32: nothing up to it changes the answer */
    for (; column->count > 0; column->count--) {
        const float *corner[3];
        int best = 0;
        for (int i = 1; i < column->count; i++)
            best = column->upper[i] > column->upper[best] ? i : best;
        if (!((double)column->upper[best] > bar))
            break;
        for (int k = 0; k < 3; k++)
            corner[k] = caromi_corner(map->mesh, (uint32_t)column->triangle[best], k);
        const drop_bound bound =
            caromi_drop_triangle_bound(&map->ball, corner, (double)column->x, (double)column->y, bar);
        all.low = bound.low > all.low ? bound.low : all.low;
        all.high = bound.high > all.high ? bound.high : all.high;
        bar = (double)caromi_drop_round_up(all.low);
        column->triangle[best] = column->triangle[column->count - 1];
        column->upper[best] = column->upper[column->count - 1];
    }
    return all;
}

/* Without a radius. */
typedef struct plumb_search {
    const drop_map *map;
    double x, y;
    drop_bound all;
} plumb_search;

static void plumb_triangle(void *user, uint32_t triangle)
{
    plumb_search *s = user;
    const float *corner[3];
    for (int k = 0; k < 3; k++)
        corner[k] = caromi_corner(s->map->mesh, triangle, k);
    const drop_bound bound = caromi_drop_plumb_bound(corner, s->x, s->y);
    s->all.low = bound.low > s->all.low ? bound.low : s->all.low;
    s->all.high = bound.high > s->all.high ? bound.high : s->all.high;
}

static int is_lower(void *user, const double lower[2], const double upper[2], double top)
{
    const plumb_search *s = user;
    (void)lower;
    (void)upper;
    return top <= s->all.low;
}

static drop_bound search_plumb(const drop_map *map, double x, double y)
{
    plumb_search s = {map, x, y, DROP_NONE};
    caromi_drop_visit(&(drop_visitor){
        .map = map, .lower = {x, y}, .upper = {x, y}, .triangle = plumb_triangle, .skip = is_lower, .user = &s});
    return s.all;
}

int caromi_drop_search(const drop_map *map, double x, double y, drop_bound *bound)
{
    if (map->ball.r == 0) {
        *bound = search_plumb(map, x, y);
        return 1;
    }
    const carom_mesh *mesh = map->mesh;
    caromi_drop_column column;
    column.mesh = &mesh->view;
    column.options = map->masks != NULL ? MESH_TRIANGLE_MASKS : 0;
    column.x = (float)x;
    column.y = (float)y;
    column.radius = map->ball.radius;
    mesh->context->isa->drop(&column);
    if (column.count < 0)
        return 0;
    *bound = bound_found(map, &column);
    return 1;
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
    if (r == 0)
        return info->triangle_count > 0;
    return info->triangle_count > 0 &&
           is_within(scale, 1 / (double)CAROMI_DROP_COORDINATE, (double)CAROMI_DROP_COORDINATE) &&
           is_within(r, (double)CAROMI_DROP_LEAST, (double)CAROMI_DROP_MOST) &&
           farthest * scale <= (double)CAROMI_DROP_FAR;
}
