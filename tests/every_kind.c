/* SPDX-License-Identifier: MIT */
#include "every_kind.h"

#include <math.h>

enum { SEED = 137, MODEL = 1 << 11 };

static void aim(balls *b)
{
    enum { SOME = 512 };
    for (size_t i = 0; i < b->count; i++)
        if (i % (b->count / SOME) > 0)
            b->column[0][i] = NAN;
    for (int c = 0; c < BALL_RADIUS; c++)
        b->column[c][0] = 0.0f;
    b->column[BALL_RADIUS][0] = 3.0f;
}

static void repeat(float *const *from, float **to, int columns, size_t count)
{
    for (int c = 0; c < columns; c++)
        for (size_t i = 0; i < count; i++)
            to[c][i] = from[c][i % MODEL];
}

/* The same few again and again. */
world world_new(size_t count, int sides)
{
    world w = {queries_alloc(SWEEP, count), scene_sphere(sides), balls_alloc(count)};
    queries some = queries_family(SWEEP, 0, SEED, MODEL);
    balls few = balls_mixed(SEED, MODEL);
    repeat(some.column, w.sweeps.column, query_columns(SWEEP), count);
    repeat(few.column, w.b.column, BALL_COLUMNS, count);
    aim(&w.b);
    queries_free(&some);
    balls_free(&few);
    return w;
}

void world_free(world *w)
{
    queries_free(&w->sweeps);
    scene_free(&w->s);
    balls_free(&w->b);
}

results results_new(size_t count)
{
    results r = {.capacity = count}; /* there are fewer hits than queries */
    const size_t most = r.capacity, sizes[] = {(count + 1) * sizeof *r.offsets, most * sizeof *r.triangle,
                                               most * sizeof *r.t, 3 * most * sizeof *r.point, most};
    unsigned char *at[COUNT_OF(sizes)];
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        r.size += sizes[i];
    r.block = at[0] = test_alloc(r.size, 1);
    for (size_t i = 1; i < COUNT_OF(sizes); i++)
        at[i] = at[i - 1] + sizes[i - 1];
    r.offsets = (uint64_t *)(void *)at[0];
    r.triangle = (int32_t *)(void *)at[1];
    r.t = (float *)(void *)at[2];
    r.point = (float *)(void *)at[3];
    r.state = at[4];
    return r;
}

static carom_status ask_pairs(const world *w, carom_context *context, carom_mesh *mesh, const results *r,
                              carom_stats *stats, carom_error *err)
{
    const inputs in = inputs_of(&w->sweeps);
    const carom_sweep_pairs_desc desc = {.size = sizeof desc,
                                         .count = w->sweeps.count,
                                         .center = in.points[0],
                                         .velocity = in.points[1],
                                         .radius = in.scalars[0],
                                         .p0 = in.points[2],
                                         .p1 = in.points[3],
                                         .p2 = in.points[4]};
    const carom_sweep_result out = {.state = r->state, .t_first = r->t};
    (void)mesh;
    return carom_sweep_pairs(context, &desc, &out, stats, err);
}

static carom_points_out points_of(const results *r)
{
    return (carom_points_out){r->point, r->point + 1, r->point + 2, 3 * sizeof *r->point};
}

static carom_status ask_first(const world *w, carom_context *context, carom_mesh *mesh, const results *r,
                              carom_stats *stats, carom_error *err)
{
    const carom_mesh_sweep_desc desc = balls_desc(&w->b, 0, w->b.count);
    const carom_mesh_hit_result out = {.triangle = r->triangle, .state = r->state, .t = r->t, .point = points_of(r)};
    (void)context;
    return carom_mesh_sweep_first(mesh, &desc, &out, stats, err);
}

static carom_status ask_list(const world *w, carom_context *context, carom_mesh *mesh, const results *r,
                             carom_stats *stats, carom_error *err)
{
    const carom_mesh_sweep_desc desc = balls_desc(&w->b, 0, w->b.count);
    carom_mesh_hit_list list = {.size = sizeof list,
                                .capacity = r->capacity,
                                .offsets = r->offsets,
                                .triangle = r->triangle,
                                .t = r->t,
                                .point = points_of(r)};
    (void)context;
    const carom_status status = carom_mesh_sweep_list(mesh, &desc, CAROM_HITS_ALL, &list, stats, err);
    assert_true(status != CAROM_OK || list.complete == w->b.count);
    return status;
}

static carom_status ask_any(const world *w, carom_context *context, carom_mesh *mesh, const results *r,
                            carom_stats *stats, carom_error *err)
{
    const carom_mesh_sweep_desc desc = balls_desc(&w->b, 0, w->b.count);
    (void)context;
    return carom_mesh_sweep_any(mesh, &desc, r->state, stats, err);
}

static carom_status ask_overlaps(const world *w, carom_context *context, carom_mesh *mesh, const results *r,
                                 carom_stats *stats, carom_error *err)
{
    const carom_mesh_overlap_desc desc = balls_at_rest(&w->b, 0, w->b.count);
    carom_mesh_hit_list list = {
        .size = sizeof list, .capacity = r->capacity, .offsets = r->offsets, .triangle = r->triangle};
    (void)context;
    const carom_status status = carom_mesh_overlap_list(mesh, &desc, &list, stats, err);
    assert_true(status != CAROM_OK || list.complete == w->b.count);
    return status;
}

static carom_status ask_closest(const world *w, carom_context *context, carom_mesh *mesh, const results *r,
                                carom_stats *stats, carom_error *err)
{
    const carom_mesh_overlap_desc desc = balls_at_rest(&w->b, 0, w->b.count);
    const carom_mesh_closest_result out = {.triangle = r->triangle, .depth = r->t, .point = points_of(r)};
    (void)context;
    return carom_mesh_overlap_closest(mesh, &desc, &out, stats, err);
}

const kind every_kind[KIND_COUNT] = {{"pairs", ask_pairs}, {"first hits", ask_first},  {"all hits", ask_list},
                                     {"any hit", ask_any}, {"overlaps", ask_overlaps}, {"closest points", ask_closest}};
