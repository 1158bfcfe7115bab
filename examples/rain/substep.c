/* SPDX-License-Identifier: MIT */
/* The questions of a substep: which spheres take part, what they hit of the mesh, whom they meet. */
#include "substep.h"

#include <stdlib.h>
#include <string.h>

int rain_substep_create(rain_substep *sub, const rain_world *world, uint64_t n)
{
    const float cell = world->largest;
    *sub = (rain_substep){.per_length = 1.0f / cell, .reach = world->largest + 2.0f * world->tolerance};
    for (int a = 0; a < 3; a++)
        sub->cells[a] = (uint64_t)((world->upper[a] - world->lower[a]) / cell) + 1;
    sub->mark = rain_alloc(sub->cells[0] * sub->cells[1] * sub->cells[2], 1);
    sub->sphere = rain_alloc(n, sizeof *sub->sphere);
    sub->center = rain_alloc(3 * n, sizeof *sub->center);
    sub->velocity = rain_alloc(3 * n, sizeof *sub->velocity);
    sub->motion = rain_alloc(3 * n, sizeof *sub->motion);
    sub->radius = rain_alloc(n, sizeof *sub->radius);
    sub->active = rain_alloc(n, sizeof *sub->active);
    sub->triangle = rain_alloc(n, sizeof *sub->triangle);
    sub->t = rain_alloc(n, sizeof *sub->t);
    sub->normal = rain_alloc(3 * n, sizeof *sub->normal);
    sub->query = rain_alloc(n, sizeof *sub->query);
    sub->offsets = rain_alloc(n + 1, sizeof *sub->offsets);
    return sub->mark && sub->sphere && sub->center && sub->velocity && sub->motion && sub->radius && sub->active &&
           sub->triangle && sub->t && sub->normal && sub->query && sub->offsets;
}

void rain_substep_destroy(rain_substep *sub)
{
    void *arrays[] = {sub->mark,   sub->sphere,  sub->center,   sub->velocity, sub->motion,
                      sub->radius, sub->active,  sub->triangle, sub->t,        sub->normal,
                      sub->query,  sub->offsets, sub->partner,  sub->partner_t};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        free(arrays[i]);
    *sub = (rain_substep){0};
}

/* ---- who takes part ---------------------------------------------------------------------------------------------- */

/* The cell of a coordinate, which never falls when the coordinate grows. */
static uint64_t cell_of(const rain_substep *sub, const rain_world *world, float at, int a)
{
    const float cell = (at - world->lower[a]) * sub->per_length;
    return cell < 0.0f ? 0 : cell >= (float)sub->cells[a] ? sub->cells[a] - 1 : (uint64_t)cell;
}

/* Mark the cells of all centres within reach of sphere i, which are those in the bounds of its motion and of what the
 * largest sphere adds. */
static void mark_motion(const rain_substep *sub, const rain_world *world, const rain_spheres *s, uint64_t i, float left)
{
    const float reach = s->radius[i] + sub->reach;
    uint64_t low[3], high[3];
    for (int a = 0; a < 3; a++) {
        const float center = s->center[3 * i + (uint64_t)a], motion = s->velocity[3 * i + (uint64_t)a] * left;
        low[a] = cell_of(sub, world, center - reach + (motion < 0.0f ? motion : 0.0f), a);
        high[a] = cell_of(sub, world, center + reach + (motion > 0.0f ? motion : 0.0f), a);
    }
    for (uint64_t z = low[2]; z <= high[2]; z++)
        for (uint64_t y = low[1]; y <= high[1]; y++)
            memset(sub->mark + (z * sub->cells[1] + y) * sub->cells[0] + low[0], 1, high[0] - low[0] + 1);
}

static int is_marked(const rain_substep *sub, const rain_world *world, const float *center)
{
    const uint64_t x = cell_of(sub, world, center[0], 0), y = cell_of(sub, world, center[1], 1);
    return sub->mark[(cell_of(sub, world, center[2], 2) * sub->cells[1] + y) * sub->cells[0] + x];
}

static void add_sphere(rain_substep *sub, const rain_spheres *s, uint64_t i, float left)
{
    const uint64_t n = sub->count++;
    sub->sphere[n] = (uint32_t)i;
    sub->radius[n] = s->radius[i];
    for (uint64_t a = 0; a < 3; a++) {
        sub->center[3 * n + a] = s->center[3 * i + a];
        sub->velocity[3 * n + a] = s->velocity[3 * i + a];
        sub->motion[3 * n + a] = s->velocity[3 * i + a] * left;
    }
    sub->query[n] = left > 0.0f ? (int32_t)sub->active_count : -1;
    if (left > 0.0f)
        sub->active[sub->active_count++] = (uint32_t)n;
}

uint64_t rain_substep_gather(rain_substep *sub, const rain_world *world, const rain_spheres *s, const float *left)
{
    memset(sub->mark, 0, sub->cells[0] * sub->cells[1] * sub->cells[2]);
    for (uint64_t i = 0; i < s->count; i++)
        if (left[i] > 0.0f)
            mark_motion(sub, world, s, i, left[i]);
    sub->count = sub->active_count = 0;
    for (uint64_t i = 0; i < s->count; i++)
        if (left[i] > 0.0f || is_marked(sub, world, s->center + 3 * i))
            add_sphere(sub, s, i, left[i]);
    return sub->active_count;
}

/* ---- carom's answers --------------------------------------------------------------------------------------------- */

static const float substep_end = 1.0f;

static void count_answers(const carom_stats *stats, rain_counts *counts)
{
    counts->on_device += stats->on_device;
    counts->on_cpu += stats->on_cpu;
    counts->fallen_back += stats->fallen_back;
}

static int query_mesh(rain_substep *sub, const rain_world *world, rain_counts *counts)
{
    const carom_mesh_sweep_desc desc = {
        .batch = {.size = sizeof desc,
                  .count = sub->active_count,
                  .accuracy = world->accuracy,
                  .select = carom_uints_of(sub->active),
                  .elements = sub->count},
        .center = carom_xyz(sub->center),
        .velocity = carom_xyz(sub->motion),
        .radius = carom_scalars_of(sub->radius),
        .t_max = {.data = &substep_end, .stride = CAROM_REPEAT},
        .start = CAROM_START_SKIP_PARTING,
    };
    const carom_mesh_hit_result out = {
        .size = sizeof out, .triangle = sub->triangle, .t = sub->t, .normal = carom_xyz_out(sub->normal)};
    carom_stats stats = {.size = sizeof stats};
    carom_error err;
    if (carom_mesh_sweep_first(world->mesh, &desc, &out, &stats, &err) != CAROM_OK)
        return rain_fail("mesh: %s", err.message);
    count_answers(&stats, counts);
    return 1;
}

static int make_room(rain_substep *sub, uint64_t records)
{
    free(sub->partner);
    free(sub->partner_t);
    sub->partner = rain_alloc(records, sizeof *sub->partner);
    sub->partner_t = rain_alloc(records, sizeof *sub->partner_t);
    sub->room = records;
    return sub->partner && sub->partner_t;
}

/* All pairs that meet in the substep, under both spheres. A list that is too short is asked for again. */
static int query_pairs(rain_substep *sub, const rain_world *world, rain_counts *counts)
{
    const carom_cloud_desc desc = {
        .batch = {.size = sizeof desc, .count = sub->count, .accuracy = world->accuracy},
        .center = carom_xyz(sub->center),
        .velocity = carom_xyz(sub->motion),
        .radius = carom_scalars_of(sub->radius),
        .t_max = {.data = &substep_end, .stride = CAROM_REPEAT},
        .start = CAROM_START_SKIP_PARTING,
        .full = 1,
    };
    carom_list_totals totals = {.total = 2 * sub->count};
    carom_stats stats = {.size = sizeof stats};
    carom_error err;
    do {
        if (totals.total > sub->room && !make_room(sub, totals.total + totals.total / 4))
            return 0;
        const carom_cloud_pair_list list = {.size = sizeof list,
                                            .capacity = sub->room,
                                            .offsets = sub->offsets,
                                            .b = sub->partner,
                                            .t = sub->partner_t,
                                            .totals = &totals};
        if (carom_cloud_list(world->context, &desc, &list, &stats, &err) != CAROM_OK)
            return rain_fail("spheres: %s", err.message);
    } while (totals.stored < totals.total);
    count_answers(&stats, counts);
    return 1;
}

int rain_substep_query(rain_substep *sub, const rain_world *world, rain_times *times, rain_counts *counts)
{
    const double start = rain_seconds();
    if (!query_mesh(sub, world, counts))
        return 0;
    const double between = rain_seconds();
    times->mesh += between - start;
    if (!query_pairs(sub, world, counts))
        return 0;
    times->cloud += rain_seconds() - between;
    return 1;
}
