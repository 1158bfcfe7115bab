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
    l->query = rain_alloc(n, sizeof *l->query);
    l->role = rain_alloc(n, 1);
    l->met = rain_alloc(n + 1, sizeof *l->met);
    return l->mark && l->sphere && l->center && l->velocity && l->motion && l->radius && l->flyer && l->triangle &&
           l->t && l->normal && l->query && l->role && l->met;
}

void rain_lap_destroy(rain_lap *l)
{
    void *arrays[] = {l->mark, l->sphere, l->center, l->velocity, l->motion, l->radius,  l->flyer,    l->triangle,
                      l->t,    l->normal, l->query,  l->role,     l->met,    l->partner, l->partner_t};
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

/* What the loops of rain_lap_gather share. */
typedef struct gathering {
    rain_lap *lap;
    const rain_world *world;
    const rain_spheres *spheres;
    const float *left;
    uint64_t count[RAIN_PARTS], flying[RAIN_PARTS]; /* of each part, then of all parts before it */
} gathering;

/* In the layers of cells [from, to): mark the cells of all centres within reach of sphere i, which are those in the
 * bounds of its motion and of what the largest sphere adds. */
static void mark_motion(const gathering *g, uint64_t i, uint64_t from, uint64_t to)
{
    const rain_lap *l = g->lap;
    const float reach = g->spheres->radius[i] + l->reach;
    uint64_t low[3], high[3];
    for (int a = 2; a >= 0; a--) {
        const float center = g->spheres->center[3 * i + (uint64_t)a];
        const float motion = g->spheres->velocity[3 * i + (uint64_t)a] * g->left[i];
        low[a] = cell_of(l, g->world, center - reach + (motion < 0.0f ? motion : 0.0f), a);
        high[a] = cell_of(l, g->world, center + reach + (motion > 0.0f ? motion : 0.0f), a);
        if (a == 2 && (high[2] < from || low[2] >= to))
            return;
    }
    for (uint64_t z = low[2] < from ? from : low[2]; z <= high[2] && z < to; z++) {
        for (uint64_t y = low[1]; y <= high[1]; y++) {
            uint64_t *row = l->mark + (z * l->cells[1] + y) * l->words;
            for (uint64_t x = low[0]; x <= high[0]; x = (x | 63) + 1) { /* a word at a time */
                const uint64_t last = high[0] < (x | 63) ? high[0] : x | 63;
                row[x / 64] |= (~UINT64_C(0) >> (63 - last % 64)) & (~UINT64_C(0) << x % 64);
            }
        }
    }
}

static void mark_layers(void *user, unsigned part, uint64_t from, uint64_t to)
{
    const gathering *g = user;
    const rain_lap *l = g->lap;
    const uint64_t layer = l->words * l->cells[1];
    (void)part;
    memset(l->mark + from * layer, 0, (to - from) * layer * sizeof *l->mark);
    for (uint64_t i = 0; i < g->spheres->count; i++)
        if (g->left[i] > 0.0f)
            mark_motion(g, i, from, to);
}

static int is_marked(const rain_lap *l, const rain_world *world, const float *center)
{
    const uint64_t x = cell_of(l, world, center[0], 0), y = cell_of(l, world, center[1], 1);
    const uint64_t *row = l->mark + (cell_of(l, world, center[2], 2) * l->cells[1] + y) * l->words;
    return row[x / 64] >> x % 64 & 1;
}

enum { ABSENT, OBSTACLE, FLIES };

static void choose(void *user, unsigned part, uint64_t from, uint64_t to)
{
    gathering *g = user;
    uint64_t count = 0, flying = 0;
    for (uint64_t i = from; i < to; i++) {
        const int flies = g->left[i] > 0.0f;
        const int takes_part = flies || is_marked(g->lap, g->world, g->spheres->center + 3 * i);
        g->lap->role[i] = flies ? FLIES : takes_part ? OBSTACLE : ABSENT;
        count += (uint64_t)takes_part;
        flying += (uint64_t)flies;
    }
    g->count[part] = count;
    g->flying[part] = flying;
}

static void copy(void *user, unsigned part, uint64_t from, uint64_t to)
{
    const gathering *g = user;
    const rain_lap *l = g->lap;
    const rain_spheres *s = g->spheres;
    uint64_t n = g->count[part], k = g->flying[part];
    for (uint64_t i = from; i < to; i++) {
        if (l->role[i] == ABSENT)
            continue;
        l->sphere[n] = (uint32_t)i;
        l->radius[n] = s->radius[i];
        for (uint64_t a = 0; a < 3; a++) {
            l->center[3 * n + a] = s->center[3 * i + a];
            l->velocity[3 * n + a] = s->velocity[3 * i + a];
            l->motion[3 * n + a] = s->velocity[3 * i + a] * g->left[i];
        }
        l->query[n] = l->role[i] == FLIES ? (int32_t)k : -1;
        if (l->role[i] == FLIES)
            l->flyer[k++] = (uint32_t)n;
        n++;
    }
}

/* The places before each part's first; returns how many there are in all. */
static uint64_t sum_up(uint64_t *counts, unsigned parts)
{
    uint64_t all = 0;
    for (unsigned i = 0; i < parts; i++) {
        const uint64_t count = counts[i];
        counts[i] = all;
        all += count;
    }
    return all;
}

uint64_t rain_lap_gather(rain_lap *l, const rain_world *world, const rain_spheres *s, const float *left)
{
    gathering g = {.lap = l, .world = world, .spheres = s, .left = left};
    const unsigned parts = rain_parts(world, s->count);
    rain_split(parts, l->cells[2], mark_layers, &g);
    rain_split(parts, s->count, choose, &g);
    l->count = sum_up(g.count, parts);
    l->flying = sum_up(g.flying, parts);
    if (l->flying > 0)
        rain_split(parts, s->count, copy, &g);
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
    const carom_spheres_desc desc = {
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
        const carom_sphere_pair_list list = {.size = sizeof list,
                                             .capacity = l->room,
                                             .offsets = l->met,
                                             .b = l->partner,
                                             .t = l->partner_t,
                                             .totals = &totals};
        if (carom_spheres_list(world->context, &desc, &list, NULL, &err) != CAROM_OK)
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
