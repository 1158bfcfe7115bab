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
    l->words = l->cells[0] / 64 + 1;
    l->mark = rain_alloc(l->words * l->cells[1] * l->cells[2], sizeof *l->mark);
    l->sphere = rain_alloc(n, sizeof *l->sphere);
    l->center = rain_alloc(3 * n, sizeof *l->center);
    l->velocity = rain_alloc(3 * n, sizeof *l->velocity);
    l->motion = rain_alloc(3 * n, sizeof *l->motion);
    l->radius = rain_alloc(n, sizeof *l->radius);
    l->flyer = rain_alloc(n, sizeof *l->flyer);
    l->triangle = rain_alloc(n, sizeof *l->triangle);
    l->t = rain_alloc(n, sizeof *l->t);
    l->normal = rain_alloc(3 * n, sizeof *l->normal);
    l->partner = rain_alloc(n, sizeof *l->partner);
    l->partner_t = rain_alloc(n, sizeof *l->partner_t);
    return l->mark && l->sphere && l->center && l->velocity && l->motion && l->radius && l->flyer && l->triangle &&
           l->t && l->normal && l->partner && l->partner_t;
}

void rain_lap_destroy(rain_lap *l)
{
    void *arrays[] = {l->mark, l->sphere, l->center,  l->velocity,  l->motion, l->radius, l->flyer, l->triangle,
                      l->t,    l->normal, l->partner, l->partner_t, l->a,      l->b,      l->pair_t};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        free(arrays[i]);
    *l = (rain_lap){0};
}

/* ---- who takes part -------------------------------------------------------------------------------------------- */

/* The cell of a coordinate, which never falls when the coordinate grows. */
static uint64_t cell_of(const rain_lap *l, const rain_world *world, float at, int a)
{
    const float cell = (at - world->lower[a]) * l->per_length;
    return cell < 0.0f ? 0 : cell >= (float)l->cells[a] ? l->cells[a] - 1 : (uint64_t)cell;
}

/* Mark the cells of all centres within reach: bounds of the motion, and of what the largest sphere adds. */
static void mark_motion(rain_lap *l, const rain_world *world, const float *center, const float *motion, float radius)
{
    uint64_t low[3], high[3];
    const float reach = radius + l->reach;
    for (int a = 0; a < 3; a++) {
        low[a] = cell_of(l, world, center[a] - reach + (motion[a] < 0.0f ? motion[a] : 0.0f), a);
        high[a] = cell_of(l, world, center[a] + reach + (motion[a] > 0.0f ? motion[a] : 0.0f), a);
    }
    for (uint64_t z = low[2]; z <= high[2]; z++) {
        for (uint64_t y = low[1]; y <= high[1]; y++) {
            uint64_t *row = l->mark + (z * l->cells[1] + y) * l->words;
            for (uint64_t x = low[0]; x <= high[0]; x = (x | 63) + 1) { /* a word at a time */
                const uint64_t last = high[0] < (x | 63) ? high[0] : x | 63;
                row[x / 64] |= (~UINT64_C(0) >> (63 - last % 64)) & (~UINT64_C(0) << x % 64);
            }
        }
    }
}

static int is_marked(const rain_lap *l, const rain_world *world, const float *center)
{
    const uint64_t x = cell_of(l, world, center[0], 0), y = cell_of(l, world, center[1], 1);
    const uint64_t *row = l->mark + (cell_of(l, world, center[2], 2) * l->cells[1] + y) * l->words;
    return row[x / 64] >> x % 64 & 1;
}

static void mark_motions(rain_lap *l, const rain_world *world, const rain_spheres *s, const float *left)
{
    memset(l->mark, 0, l->words * l->cells[1] * l->cells[2] * sizeof *l->mark);
    for (uint64_t i = 0; i < s->count; i++) {
        float motion[3];
        if (!(left[i] > 0.0f))
            continue;
        for (uint64_t a = 0; a < 3; a++)
            motion[a] = s->velocity[3 * i + a] * left[i];
        mark_motion(l, world, s->center + 3 * i, motion, s->radius[i]);
    }
}

uint64_t rain_lap_gather(rain_lap *l, const rain_world *world, const rain_spheres *s, const float *left)
{
    l->count = l->flying = 0;
    for (uint64_t i = 0; i < s->count; i++)
        l->flying += left[i] > 0.0f;
    if (l->flying < s->count)
        mark_motions(l, world, s, left);
    for (uint64_t i = 0, k = 0; l->flying > 0 && i < s->count; i++) {
        const uint64_t n = l->count;
        if (left[i] > 0.0f)
            l->flyer[k++] = (uint32_t)n;
        else if (!is_marked(l, world, s->center + 3 * i))
            continue;
        l->sphere[n] = (uint32_t)i;
        l->radius[n] = s->radius[i];
        for (uint64_t a = 0; a < 3; a++) {
            l->center[3 * n + a] = s->center[3 * i + a];
            l->velocity[3 * n + a] = s->velocity[3 * i + a];
            l->motion[3 * n + a] = s->velocity[3 * i + a] * left[i];
        }
        l->count++;
    }
    return l->flying;
}

/* ---- carom's answers ------------------------------------------------------------------------------------------- */

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
    free(l->a);
    free(l->b);
    free(l->pair_t);
    l->a = rain_alloc(records, sizeof *l->a);
    l->b = rain_alloc(records, sizeof *l->b);
    l->pair_t = rain_alloc(records, sizeof *l->pair_t);
    l->room = records;
    return l->a && l->b && l->pair_t;
}

/* All pairs that meet in the lap. A list that is too short is asked for again. */
static int ask_pairs(rain_lap *l, const rain_world *world)
{
    const carom_spheres_desc desc = {
        .batch = {.size = sizeof desc, .count = l->count, .accuracy = world->accuracy},
        .center = carom_xyz(l->center),
        .velocity = carom_xyz(l->motion),
        .radius = carom_scalars_of(l->radius),
        .t_max = {.data = &lap_end, .stride = CAROM_REPEAT},
        .start = CAROM_START_SKIP_PARTING,
    };
    carom_list_totals totals = {.total = l->count};
    carom_error err;
    do {
        if (totals.total > l->room && !make_room(l, totals.total + totals.total / 4))
            return 0;
        const carom_sphere_pair_list list = {
            .size = sizeof list, .capacity = l->room, .a = l->a, .b = l->b, .t = l->pair_t, .totals = &totals};
        if (carom_spheres_list(world->context, &desc, &list, NULL, &err) != CAROM_OK)
            return rain_fail("spheres: %s", err.message);
    } while (totals.stored < totals.total);
    l->pairs = totals.total;
    return 1;
}

/* Each sphere's first partner of all it meets: the smallest (time, number). */
static void choose_partners(rain_lap *l)
{
    for (uint64_t n = 0; n < l->count; n++)
        l->partner[n] = -1;
    for (uint64_t k = 0; k < l->pairs; k++) {
        const int32_t pair[2] = {l->a[k], l->b[k]};
        for (int side = 0; side < 2; side++) {
            const int32_t n = pair[side], other = pair[1 - side], best = l->partner[n];
            if (best >= 0 && (l->partner_t[n] < l->pair_t[k] || (l->partner_t[n] == l->pair_t[k] && best < other)))
                continue;
            l->partner[n] = other;
            l->partner_t[n] = l->pair_t[k];
        }
    }
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
    choose_partners(l);
    return 1;
}
