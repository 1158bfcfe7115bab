/* SPDX-License-Identifier: MIT */
/* The call for drops at given places: height, triangle, point and feature. Places are sorted along the mesh and
 * answered in blocks:
 *
 *   search    the search of drop maps, one traversal for each place (cpu/lattice/drop_template.h): bounds of the
 *             height, and the triangles that may lead to it
 *   heights   bounds that round up to one binary32 number are the height; else integers decide (drop_resolve.c)
 *   contacts  a pair kernel of each place and each of these triangles: point and feature
 *   choose    the highest triangle, of several the lowest index (drop_touch.c) */
#include <math.h>
#include <string.h>

#include "calls/lattice.h"
#include "cpu/lattice/drop.h"
#include "host/core/handler.h"
#include "host/mesh/mesh.h"
#include "host/mesh/query.h"
#include "host/mesh/query_sort.h"
#include "drop_touch.h"

enum {
    COLUMNS = 3, /* x, y, and 0 for z: places are sorted seen from above */
    PAIRS = 512  /* pairs of a place and a triangle between two runs of the kernel */
};

/* A checked batch. */
typedef struct place_batch {
    drop_map map;
    double farthest; /* places with a larger coordinate are not searched; < 0: none is */
    caromi_in_column in[COLUMNS], mask;
    caromi_out_column out[CAROMI_ANSWERS];
    int wants_triangle, wants_point; /* wants_point: or a feature */
} place_batch;

/* A block of places on the CPU. */
typedef struct place_block {
    const place_batch *batch;
    uint64_t row[CAROMI_BLOCK];
    float at[COLUMNS][CAROMI_BLOCK];
    int32_t mask[CAROMI_BLOCK];
    /* The places that are searched: their number in the block, their columns, their bounds and triangles. */
    uint32_t count, place[CAROMI_BLOCK];
    float x[CAROMI_BLOCK], y[CAROMI_BLOCK];
    int32_t mask_of[CAROMI_BLOCK];
    double low[CAROMI_BLOCK], high[CAROMI_BLOCK];
    caromi_drop_found found[CAROMI_BLOCK];
    /* Pairs of a searched place and a triangle, which wait for the kernel. */
    uint32_t pair_count;
    uint32_t first_pair[CAROMI_BLOCK]; /* of each searched place that waits */
    uint32_t waiting, waits[CAROMI_BLOCK];
    float in[IN_SWEEP_RESTING][PAIRS], real[OUT_FEATURE][PAIRS];
    uint8_t feature_of[PAIRS];
    /* Answers, by the number in the block. */
    float height[CAROMI_BLOCK], point[3][CAROMI_BLOCK];
    int32_t triangle[CAROMI_BLOCK];
    uint8_t feature[CAROMI_BLOCK];
    caromi_rung rung[CAROMI_BLOCK]; /* the last that the place has reached */
} place_block;

/* ---- answers ----------------------------------------------------------------------------------------------------- */

static void reach(place_block *block, uint32_t number, caromi_rung rung)
{
    if (block->rung[number] < rung)
        block->rung[number] = rung;
}

static void answer_none(place_block *block, uint32_t number, float height)
{
    block->height[number] = height;
    block->triangle[number] = -1;
    block->feature[number] = FEATURE_NONE;
    for (int k = 0; k < 3; k++)
        block->point[k][number] = 0;
}

static void answer_place(place_block *block, uint32_t number, const drop_place *place)
{
    block->height[number] = place->z;
    block->triangle[number] = place->best.triangle;
    block->feature[number] = place->best.feature;
    for (int k = 0; k < 3; k++)
        block->point[k][number] = place->best.point[k];
    if (place->by_integers)
        reach(block, number, CAROMI_INTEGERS);
}

/* Answers a place by itself, in integers where need be. z: its height if is_known. */
static void answer_alone(const place_batch *batch, place_block *block, uint32_t number, int is_known, float z)
{
    const float x = block->at[0][number], y = block->at[1][number];
    const int32_t mask = block->mask[number];
    if (!is_known) {
        caromi_rung rung;
        z = caromi_drop_resolve(&batch->map, x, y, mask, -HUGE_VAL, &rung);
        reach(block, number, rung);
    }
    drop_place place = caromi_drop_place_of(&batch->map, x, y, z, mask);
    if (z > -INFINITY && batch->wants_triangle)
        caromi_drop_consider_all(&place);
    if (z > -INFINITY)
        answer_place(block, number, &place);
    else
        answer_none(block, number, -INFINITY);
}

static void scatter(const caromi_out_column *to, const uint64_t *rows, const void *from, size_t count, size_t size)
{
    if (to->base == NULL)
        return;
    for (size_t i = 0; i < count; i++)
        memcpy((char *)to->base + rows[i] * to->stride, (const char *)from + i * size, size);
}

static void store(const place_batch *batch, const place_block *block, size_t count)
{
    scatter(&batch->out[CAROMI_ANSWER_KEY], block->row, block->height, count, sizeof *block->height);
    scatter(&batch->out[CAROMI_ANSWER_TRIANGLE], block->row, block->triangle, count, sizeof *block->triangle);
    scatter(&batch->out[CAROMI_ANSWER_FEATURE], block->row, block->feature, count, 1);
    for (int k = 0; k < 3; k++)
        scatter(&batch->out[CAROMI_ANSWER_POINT + k], block->row, block->point[k], count, sizeof **block->point);
}

/* ---- search ------------------------------------------------------------------------------------------------------ */

/* The search's callback: bounds a triangle over a place. */
static void bound_triangle(void *user, uint32_t slot, int32_t triangle, const float corners[9])
{
    place_block *block = user;
    const float *const corner[3] = {corners, corners + 3, corners + 6};
    double *low = &block->low[slot], *high = &block->high[slot];
    /* Below it a triangle is left out. */
    const double bar = nextafter(*low, -HUGE_VAL);
    const drop_bound bound = caromi_drop_triangle_bound(&block->batch->map.ball, corner, (double)block->x[slot],
                                                        (double)block->y[slot], bar);
    *low = bound.low > *low ? bound.low : *low;
    *high = bound.high > *high ? bound.high : *high;
    if (block->batch->wants_triangle && bound.high > -HUGE_VAL)
        caromi_drop_find(&block->found[slot], triangle, bound.low, bound.high);
}

/* Lists the places that are searched, and answers the others. */
static void list_places(const place_batch *batch, place_block *block, uint32_t count)
{
    block->count = 0;
    for (uint32_t i = 0; i < count; i++) {
        const float x = block->at[0][i], y = block->at[1][i];
        block->rung[i] = CAROMI_FIRST_FILTER;
        if (batch->mask.base == NULL)
            block->mask[i] = -1;
        if (!isfinite(x) || !isfinite(y)) {
            answer_none(block, i, INFINITY);
        } else if (block->mask[i] == 0) {
            answer_none(block, i, -INFINITY);
        } else if (fabs((double)x) > batch->farthest || fabs((double)y) > batch->farthest) {
            answer_alone(batch, block, i, 0, 0);
        } else {
            const uint32_t slot = block->count++;
            block->place[slot] = i;
            block->x[slot] = x;
            block->y[slot] = y;
            block->mask_of[slot] = block->mask[i];
            block->low[slot] = block->high[slot] = block->found[slot].low = -HUGE_VAL;
            block->found[slot].count = 0;
        }
    }
}

static void search(const place_batch *batch, place_block *block)
{
    const carom_mesh *mesh = batch->map.mesh;
    if (block->count > 0)
        caromi_searches_of(mesh)->drop(&(caromi_drop_search){.mesh = &mesh->view,
                                                             .options = mesh->masks != NULL ? MESH_TRIANGLE_MASKS : 0,
                                                             .radius = (float)batch->map.ball.r,
                                                             .is_list = 1,
                                                             .mask = block->mask_of,
                                                             .x = block->x,
                                                             .y = block->y,
                                                             .nx = block->count,
                                                             .ny = 1,
                                                             .side = 1,
                                                             .low = block->low,
                                                             .high = block->high,
                                                             .found = batch->wants_triangle ? block->found : NULL,
                                                             .bound = bound_triangle,
                                                             .user = block});
}

/* ---- contacts ---------------------------------------------------------------------------------------------------- */

/* Chooses among the triangles of a place whose pairs the kernel has answered. */
static void choose(const place_batch *batch, place_block *block, uint32_t slot)
{
    const caromi_drop_found *found = &block->found[slot];
    const uint32_t number = block->place[slot];
    drop_place place =
        caromi_drop_place_of(&batch->map, block->x[slot], block->y[slot], block->height[number], block->mask_of[slot]);
    for (int i = 0; i < found->count; i++) {
        const uint32_t pair = block->first_pair[slot] + (uint32_t)i;
        drop_candidate candidate = {.triangle = found->triangle[i],
                                    .bound = {found->lows[i], found->highs[i]},
                                    .feature = block->feature_of[pair]};
        for (int k = 0; k < 3; k++)
            candidate.point[k] = block->real[OUT_POINT_X + k][pair];
        if (isnan(candidate.point[0]) || !(place.start > place.z))
            caromi_drop_touch_by_integers(&place, &candidate);
        caromi_drop_consider(&place, &candidate);
    }
    answer_place(block, number, &place);
}

/* Runs the kernel on all pairs that wait, and answers their places. */
static void run_pairs(const carom_context *context, const place_batch *batch, place_block *block)
{
    const uint32_t lanes = context->isa->lanes, padded = (block->pair_count + lanes - 1) / lanes * lanes;
    const float *in[IN_SWEEP_RESTING];
    void *out[OUT_CONTACT];
    for (int k = 0; k < IN_SWEEP_RESTING; k++) {
        in[k] = block->in[k];
        for (uint32_t i = block->pair_count; i < padded; i++)
            block->in[k][i] = block->in[k][block->pair_count - 1];
    }
    for (int k = 0; k < OUT_FEATURE; k++)
        out[k] = block->real[k];
    out[OUT_FEATURE] = block->feature_of;
    if (padded > 0)
        context->isa->pairs[CAROMI_PAIR_contact_exact](in, out, padded, 0);
    for (uint32_t i = 0; i < block->waiting; i++)
        choose(batch, block, block->waits[i]);
    block->pair_count = block->waiting = 0;
}

/* Adds the pairs of a place. */
static void add_pairs(const place_batch *batch, place_block *block, uint32_t slot)
{
    const drop_place place = caromi_drop_place_of(&batch->map, block->x[slot], block->y[slot],
                                                  block->height[block->place[slot]], block->mask_of[slot]);
    block->waits[block->waiting++] = slot;
    block->first_pair[slot] = block->pair_count;
    for (int i = 0; i < block->found[slot].count; i++)
        caromi_drop_pair_of(&place, block->found[slot].triangle[i], &block->in[0][block->pair_count++], PAIRS);
}

/* The height of a searched place, rounded up. */
static float height_of(const place_batch *batch, place_block *block, uint32_t slot)
{
    const float z = caromi_drop_round_up(block->low[slot]);
    if (caromi_drop_round_up(block->high[slot]) <= z)
        return z;
    caromi_rung rung;
    const float height =
        caromi_drop_resolve(&batch->map, block->x[slot], block->y[slot], block->mask_of[slot], block->low[slot], &rung);
    reach(block, block->place[slot], rung);
    return height;
}

/* Answers the places that have been searched. */
static void answer_found(const carom_context *context, const place_batch *batch, place_block *block)
{
    block->pair_count = block->waiting = 0;
    for (uint32_t slot = 0; slot < block->count; slot++) {
        const uint32_t number = block->place[slot];
        const caromi_drop_found *found = &block->found[slot];
        const float z = height_of(batch, block, slot);
        answer_none(block, number, z);
        if (!(z > -INFINITY) || !batch->wants_triangle)
            continue;
        if (found->count > CAROMI_DROP_FOUND)
            answer_alone(batch, block, number, 1, z);
        else if (found->count == 1 && !batch->wants_point)
            block->triangle[number] = found->triangle[0];
        else
            add_pairs(batch, block, slot);
        if (block->pair_count > PAIRS - CAROMI_DROP_FOUND)
            run_pairs(context, batch, block);
    }
    run_pairs(context, batch, block);
}

/* ---- the batch --------------------------------------------------------------------------------------------------- */

typedef struct place_job {
    const carom_context *context;
    const place_batch *batch;
} place_job;

static caromi_rungs run_block(const void *user, void *own, const caromi_sorted_queries *queries, uint32_t from,
                              uint32_t count)
{
    const place_job *job = user;
    const place_batch *batch = job->batch;
    place_block *block = own;
    caromi_rungs rungs = {0, 0};
    block->batch = batch;
    caromi_sorted_gather(queries, from, count, block->row, block->at);
    for (uint32_t i = 0; batch->mask.base != NULL && i < count; i++)
        memcpy(&block->mask[i], caromi_element(&batch->mask, block->row[i]), sizeof block->mask[i]);
    list_places(batch, block, count);
    search(batch, block);
    answer_found(job->context, batch, block);
    store(batch, block, count);
    for (uint32_t i = 0; i < count; i++)
        caromi_rungs_count(&rungs, block->rung[i]);
    return rungs;
}

static carom_status on_cpu(const carom_context *context, const void *places, uint64_t first, uint64_t end,
                           carom_stats *stats, carom_error *err)
{
    const place_batch *batch = places;
    const place_job job = {context, batch};
    CHECK(caromi_mesh_bring(batch->map.mesh, err));
    return caromi_run_blocks(context, batch->map.mesh, batch->in, COLUMNS, 0, first, end, sizeof(place_block),
                             CAROMI_BLOCK, run_block, &job, stats, err);
}

static carom_status check(const caromi_request *request, uint64_t *extent, carom_error *err)
{
    const carom_mesh_drop_at_desc *desc = request->desc;
    (void)extent;
    return caromi_check_ball(desc->radius, err);
}

/* Describes a checked descriptor. */
static void describe(const carom_mesh_drop_at_desc *desc, const void *out, carom_mesh *mesh, place_batch *batch)
{
    static const float none = 0;
    const caromi_index index = caromi_index_of(&desc->batch.select);
    *batch = (place_batch){.map = {.mesh = mesh, .ball = caromi_drop_ball_of(desc->radius)}};
    caromi_set_inputs(caromi_type_of_mesh_drop_at()->in, desc, index, index, batch->in);
    batch->in[2] = (caromi_in_column){.base = &none};
    caromi_uints_to_column(&desc->mask, index, &batch->mask);
    caromi_set_outputs(caromi_type_of_mesh_drop_at()->out, out, batch->out);
    batch->farthest =
        caromi_drop_can_search_within(&batch->map, 0) ? (double)CAROMI_DROP_FAR / (double)mesh->view.frame.scale : -1;
    for (int k = 0; k < 3; k++)
        batch->wants_point |= batch->out[CAROMI_ANSWER_POINT + k].base != NULL;
    batch->wants_point |= batch->out[CAROMI_ANSWER_FEATURE].base != NULL;
    batch->wants_triangle = batch->wants_point || batch->out[CAROMI_ANSWER_TRIANGLE].base != NULL;
}

/* One answer is served in both modes: the exact one. */
static carom_status run(const caromi_request *request, carom_error *err)
{
    const carom_mesh_drop_at_desc *desc = request->desc;
    carom_mesh *mesh = request->subject;
    place_batch batch;
    CHECK(caromi_check_select(&desc->batch, err));
    CHECK(caromi_mesh_bring(mesh, err));
    describe(desc, request->out, mesh, &batch);
    const caromi_batch all = {.batch = &batch,
                              .count = desc->batch.count,
                              .on_cpu = on_cpu,
                              .piece = CAROMI_MESH_PIECE,
                              .reports = desc->batch.progress.fn != NULL,
                              .prepare = desc->batch.prepare,
                              .exact = 1,
                              .name = "the drop at places",
                              .pace = &mesh->drop_at_pace};
    return caromi_run(mesh->context, &all, request->stats, err);
}

static const caromi_handler drop_at = {.check = check, .run = run};
carom_status carom_mesh_drop_at(carom_mesh *mesh, const carom_mesh_drop_at_desc *desc,
                                const carom_mesh_drop_at_result *out, carom_stats *stats, carom_error *err)
{
    CHECK_NOT_NULL(mesh, "mesh", err);
    CHECK(caromi_mesh_only(mesh, "carom_mesh_drop_at", err));
    return caromi_answer(caromi_type_of_mesh_drop_at(), &drop_at, mesh->context,
                         &(caromi_request){mesh, desc, out, CAROMI_NO_WHICH, stats}, err);
}
