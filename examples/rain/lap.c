/* SPDX-License-Identifier: MIT */
/* The questions of a lap: which spheres take part, what they hit of the mesh, whom they meet. */
#include "lap.h"

#include <stdlib.h>
#include <string.h>

int rain_lap_create(rain_lap *l, const rain_world *world, uint64_t n)
{
    const float cell = world->largest;
    *l = (rain_lap){.per_length = 1.0f / cell, .reach = world->largest + 2.0f * world->tolerance};
    for (int a = 0; a < 3; a++)
        l->cells[a] = (uint64_t)((world->upper[a] - world->lower[a]) / cell) + 1;
    l->mark = rain_alloc(l->cells[0] * l->cells[1] * l->cells[2], 1);
    l->sphere = rain_alloc(n, sizeof *l->sphere);
    l->center = rain_alloc(3 * n, sizeof *l->center);
    l->velocity = rain_alloc(3 * n, sizeof *l->velocity);
    l->motion = rain_alloc(3 * n, sizeof *l->motion);
    l->radius = rain_alloc(n, sizeof *l->radius);
    l->flyer = rain_alloc(n, sizeof *l->flyer);
    l->triangle = rain_alloc(n, sizeof *l->triangle);
    l->t = rain_alloc(n, sizeof *l->t);
    l->normal = rain_alloc(3 * n, sizeof *l->normal);
    l->query = rain_alloc(n, sizeof *l->query);
    l->met = rain_alloc(n + 1, sizeof *l->met);
    return l->mark && l->sphere && l->center && l->velocity && l->motion && l->radius && l->flyer && l->triangle &&
           l->t && l->normal && l->query && l->met;
}

void rain_lap_destroy(rain_lap *l)
{
    void *arrays[] = {l->mark,     l->sphere, l->center, l->velocity, l->motion, l->radius,  l->flyer,
                      l->triangle, l->t,      l->normal, l->query,    l->met,    l->partner, l->partner_t};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        free(arrays[i]);
    *l = (rain_lap){0};
}

/* ---- who takes part ---------------------------------------------------------------------------------------------- */

/* The cell of a coordinate, which never falls when the coordinate grows. */
static uint64_t cell_of(const rain_lap *l, const rain_world *world, float at, int a)
{
    const float cell = (at - world->lower[a]) * l->per_length;
    return cell < 0.0f ? 0 : cell >= (float)l->cells[a] ? l->cells[a] - 1 : (uint64_t)cell;
}

/* Mark the cells of all centres within reach of sphere i, which are those in the bounds of its motion and of what the
 * largest sphere adds. */
static void mark_motion(const rain_lap *l, const rain_world *world, const rain_spheres *s, uint64_t i, float left)
{
    const float reach = s->radius[i] + l->reach;
    uint64_t low[3], high[3];
    for (int a = 0; a < 3; a++) {
        const float center = s->center[3 * i + (uint64_t)a], motion = s->velocity[3 * i + (uint64_t)a] * left;
        low[a] = cell_of(l, world, center - reach + (motion < 0.0f ? motion : 0.0f), a);
        high[a] = cell_of(l, world, center + reach + (motion > 0.0f ? motion : 0.0f), a);
    }
    for (uint64_t z = low[2]; z <= high[2]; z++)
        for (uint64_t y = low[1]; y <= high[1]; y++)
            memset(l->mark + (z * l->cells[1] + y) * l->cells[0] + low[0], 1, high[0] - low[0] + 1);
}

static int is_marked(const rain_lap *l, const rain_world *world, const float *center)
{
    const uint64_t x = cell_of(l, world, center[0], 0), y = cell_of(l, world, center[1], 1);
    return l->mark[(cell_of(l, world, center[2], 2) * l->cells[1] + y) * l->cells[0] + x];
}

static void add_sphere(rain_lap *l, const rain_spheres *s, uint64_t i, float left)
{
    const uint64_t n = l->count++;
    l->sphere[n] = (uint32_t)i;
    l->radius[n] = s->radius[i];
    for (uint64_t a = 0; a < 3; a++) {
        l->center[3 * n + a] = s->center[3 * i + a];
        l->velocity[3 * n + a] = s->velocity[3 * i + a];
        l->motion[3 * n + a] = s->velocity[3 * i + a] * left;
    }
    l->query[n] = left > 0.0f ? (int32_t)l->flying : -1;
    if (left > 0.0f)
        l->flyer[l->flying++] = (uint32_t)n;
}

uint64_t rain_lap_gather(rain_lap *l, const rain_world *world, const rain_spheres *s, const float *left)
{
    memset(l->mark, 0, l->cells[0] * l->cells[1] * l->cells[2]);
    for (uint64_t i = 0; i < s->count; i++)
        if (left[i] > 0.0f)
            mark_motion(l, world, s, i, left[i]);
    l->count = l->flying = 0;
    for (uint64_t i = 0; i < s->count; i++)
        if (left[i] > 0.0f || is_marked(l, world, s->center + 3 * i))
            add_sphere(l, s, i, left[i]);
    return l->flying;
}

/* ---- carom's answers --------------------------------------------------------------------------------------------- */

static const float lap_end = 1.0f;

static int ask_mesh(rain_lap *l, const rain_world *world)
{
    const carom_mesh_sweep_desc desc = {
        .batch = {.size = sizeof desc,
                  .count = l->flying,
                  .accuracy = world->accuracy,
                  .select = carom_uints_of(l->flyer),
                  .elements = l->count},
        .center = carom_xyz(l->center),
        .velocity = carom_xyz(l->motion),
        .radius = carom_scalars_of(l->radius),
        .t_max = {.data = &lap_end, .stride = CAROM_REPEAT},
        .start = CAROM_START_SKIP_PARTING,
    };
    const carom_mesh_hit_result out = {
        .size = sizeof out, .triangle = l->triangle, .t = l->t, .normal = carom_xyz_out(l->normal)};
    carom_error err;
    return carom_mesh_sweep_first(world->mesh, &desc, &out, NULL, &err) == CAROM_OK ||
           rain_fail("mesh: %s", err.message);
}

static int make_room(rain_lap *l, uint64_t records)
{
    free(l->partner);
    free(l->partner_t);
    l->partner = rain_alloc(records, sizeof *l->partner);
    l->partner_t = rain_alloc(records, sizeof *l->partner_t);
    l->room = records;
    return l->partner && l->partner_t;
}

/* All pairs that meet in the lap, under both spheres. A list that is too short is asked for again. */
static int ask_pairs(rain_lap *l, const rain_world *world)
{
    const carom_cloud_desc desc = {
        .batch = {.size = sizeof desc, .count = l->count, .accuracy = world->accuracy},
        .center = carom_xyz(l->center),
        .velocity = carom_xyz(l->motion),
        .radius = carom_scalars_of(l->radius),
        .t_max = {.data = &lap_end, .stride = CAROM_REPEAT},
        .start = CAROM_START_SKIP_PARTING,
        .full = 1,
    };
    carom_list_totals totals = {.total = 2 * l->count};
    carom_error err;
    do {
        if (totals.total > l->room && !make_room(l, totals.total + totals.total / 4))
            return 0;
        const carom_cloud_pair_list list = {.size = sizeof list,
                                            .capacity = l->room,
                                            .offsets = l->met,
                                            .b = l->partner,
                                            .t = l->partner_t,
                                            .totals = &totals};
        if (carom_cloud_list(world->context, &desc, &list, NULL, &err) != CAROM_OK)
            return rain_fail("spheres: %s", err.message);
    } while (totals.stored < totals.total);
    return 1;
}

int rain_lap_ask(rain_lap *l, const rain_world *world, rain_times *times)
{
    const double start = rain_seconds();
    if (!ask_mesh(l, world))
        return 0;
    const double between = rain_seconds();
    times->mesh += between - start;
    if (!ask_pairs(l, world))
        return 0;
    times->cloud += rain_seconds() - between;
    return 1;
}
