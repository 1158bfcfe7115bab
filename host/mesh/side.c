/* SPDX-License-Identifier: MIT */
#include "side.h"

#include <math.h>

#include "closing.h"
#include "cpu/mesh/rays.h"
#include "host/core/fallback.h"
#include "host/core/staging.h"
#include "mesh.h"

/* ---- rules ------------------------------------------------------------------------------------------------------- */

carom_status caromi_check_sign(carom_sign sign, int allow_open, carom_error *err)
{
    if (sign != CAROM_SIGN_NONE && sign != CAROM_SIGN_PARITY && sign != CAROM_SIGN_WINDING && sign != CAROM_SIGN_ROBUST)
        return caromi_fail_argument(err, "sign is %d; it must be none (0), parity (1), winding (2) or robust (3)",
                                    (int)sign);
    if (allow_open < 0 || allow_open > 1)
        return caromi_fail_argument(err, "allow_open is %d; it must be 0 or 1", allow_open);
    return CAROM_OK;
}

carom_status caromi_check_body(carom_mesh *mesh, carom_sign sign, int allow_open, carom_error *err)
{
    if (sign == CAROM_SIGN_NONE)
        return CAROM_OK;
    CHECK(caromi_mesh_only(mesh, "a sign", err));
    if (allow_open || sign == CAROM_SIGN_ROBUST)
        return CAROM_OK;
    CHECK(caromi_mesh_bring(mesh, err));
    return caromi_check_closed(mesh, sign, err);
}

/* For each place, the sum of the signs with which its ray crosses triangles. */
static void sum_crossings(const carom_mesh *mesh, const caromi_places *places, int32_t *sum)
{
    caromi_searches_of(mesh)->point_rays(&(caromi_point_rays){.mesh = &mesh->view,
                                                              .options = places->options,
                                                              .x = places->x,
                                                              .y = places->y,
                                                              .z = places->z,
                                                              .mask = places->mask,
                                                              .count = places->count,
                                                              .sum = sum});
}

/* Robust: by the crossings of the mesh and of its closing, and the solid angles of the latter. */
static void find_by_closings(carom_mesh *mesh, const caromi_places *places, const int32_t *sum, uint8_t *is_inside)
{
    const caromi_closing *closing = NULL;
    int32_t key = 0;
    caromi_watch *watch = mesh->context->watch;
    for (uint32_t i = 0; i < places->count && !caromi_watch_look(watch); i++) {
        const float place[] = {places->x[i], places->y[i], places->z[i]};
        const int32_t own = caromi_closing_key(mesh, places->mask[i]);
        if (closing == NULL || own != key)
            closing = caromi_closing_find(mesh, key = own);
        is_inside[i] =
            (uint8_t)(closing->count == 0
                          ? sum[i] != 0
                          : caromi_closing_inside(closing, place, sum[i] + caromi_closing_crossings(closing, place)));
    }
}

void caromi_find_sides(carom_mesh *mesh, carom_sign sign, const caromi_places *places, uint8_t *is_inside)
{
    int32_t sum[CAROMI_BLOCK];
    if (sign == CAROM_SIGN_NONE) {
        memset(is_inside, 0, places->count);
        return;
    }
    sum_crossings(mesh, places, sum);
    if (sign == CAROM_SIGN_ROBUST) {
        find_by_closings(mesh, places, sum, is_inside);
        return;
    }
    for (uint32_t i = 0; i < places->count; i++)
        is_inside[i] = (uint8_t)caromi_is_inside(sign, sum[i]);
}

/* ---- closings of a batch ----------------------------------------------------------------------------------------- */

/* Lists the keys of the queries' masks. */
static carom_status find_keys(const caromi_mesh_batch *batch, int32_t keys[CAROMI_CLOSINGS], uint32_t *count,
                              carom_error *err)
{
    int32_t last = 0; /* it needs no closing */
    *count = 0;
    for (uint64_t i = batch->begin; i < batch->count; i++) {
        int32_t mask;
        uint32_t at = 0;
        memcpy(&mask, caromi_element(&batch->mask, i), sizeof mask);
        const int32_t key = caromi_closing_key(batch->mesh, mask);
        if (key == last || key == 0)
            continue;
        last = key;
        while (at < *count && keys[at] != key)
            at++;
        if (at < *count)
            continue;
        if (*count == CAROMI_CLOSINGS)
            return caromi_fail(err, CAROM_ERROR_UNSUPPORTED, CAROMI_NO_NATIVE_CODE,
                               "query %llu: its mask is the %dth that selects triangles by other bits; sign robust "
                               "takes at most %d such masks in a call",
                               (unsigned long long)i, CAROMI_CLOSINGS + 1, CAROMI_CLOSINGS);
        keys[(*count)++] = key;
    }
    return CAROM_OK;
}

/* The host reads the masks of a batch. */
static carom_status show_masks(const caromi_mesh_batch *batch, carom_error *err)
{
    CHECK(caromi_staging_show_array(batch->mesh->context, batch->mask.base, err));
    return caromi_staging_show_index(batch->mesh->context, batch->mask.index.base, err);
}

/* Progress after a closing. The statistics of a call that ends here are those of a batch without answers. */
static carom_status report_closing(const caromi_mesh_batch *batch, carom_stats *stats, carom_error *err)
{
    const carom_status status = caromi_report(batch->mesh->context, "query", batch->begin, err);
    if (status == CAROM_ERROR_CANCELLED && stats != NULL)
        *stats = (carom_stats){.size = stats->size, .queries = batch->count - batch->begin};
    return status;
}

carom_status caromi_close_for(const caromi_mesh_batch *batch, const carom_batch *asked, carom_stats *stats,
                              carom_error *err)
{
    carom_mesh *mesh = batch->mesh;
    const caromi_closing *closing;
    int32_t keys[CAROMI_CLOSINGS] = {-1};
    uint32_t count = 1;
    if (batch->sign != CAROM_SIGN_ROBUST || mesh->info.triangle_count == 0)
        return CAROM_OK;
    CHECK(caromi_mesh_bring(mesh, err));
    CHECK(caromi_closing_look(mesh, err));
    if (mesh->masks != NULL && batch->mask.base != NULL) {
        if (asked->prepare)
            return CAROM_OK; /* no element is read */
        CHECK(show_masks(batch, err));
        CHECK(find_keys(batch, keys, &count, err));
    }
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0)
            CHECK(report_closing(batch, stats, err));
        CHECK(caromi_closing_of(mesh, keys[i], &closing, err));
    }
    return CAROM_OK;
}

uint32_t caromi_side_grain(const caromi_mesh_batch *batch)
{
    enum { PARTS = 1 << 10 };
    const caromi_closing_cache *cache = &batch->mesh->closings;
    int is_costly = 0;
    for (uint32_t i = 0; batch->sign == CAROM_SIGN_ROBUST && i < cache->count; i++)
        is_costly = is_costly || cache->of[i]->count > PARTS;
    return is_costly ? 1 : CAROMI_BLOCK;
}

/* ---- closest points ---------------------------------------------------------------------------------------------- */

/* Whether the query is valid: its answer may then have a side. */
static int is_valid(const float in[MESH_IN_RESTING])
{
    return isfinite(in[MESH_CX]) && isfinite(in[MESH_CY]) && isfinite(in[MESH_CZ]) && isfinite(in[MESH_RADIUS]) &&
           in[MESH_RADIUS] >= 0;
}

static void add_place(caromi_places *places, const float in[MESH_IN_RESTING], int32_t mask)
{
    places->x[places->count] = in[MESH_CX];
    places->y[places->count] = in[MESH_CY];
    places->z[places->count] = in[MESH_CZ];
    places->mask[places->count++] = mask;
}

/* Turns the sign of an answer inside. Zeros stay +0. */
static void turn(float radius, float *distance, float *depth, float *const gradient[3])
{
    *distance = -*distance;
    *depth = radius - *distance;
    for (int k = 0; k < 3; k++)
        *gradient[k] = 0 - *gradient[k];
}

void caromi_sign_block(const caromi_mesh_batch *batch, caromi_mesh_block *block, uint32_t count)
{
    uint32_t of_place[CAROMI_BLOCK];
    uint8_t is_inside[CAROMI_BLOCK];
    caromi_places places;
    places.count = 0;
    places.options = batch->options;
    for (uint32_t i = 0; i < count; i++) {
        float in[MESH_IN_RESTING];
        for (int c = 0; c < MESH_IN_RESTING; c++)
            in[c] = block->in[c][i];
        if (!(block->key[i] > 0) || !is_valid(in))
            continue;
        of_place[places.count] = i;
        add_place(&places, in, batch->mask.base != NULL ? block->mask[i] : -1);
    }
    caromi_find_sides(batch->mesh, batch->sign, &places, is_inside);
    for (uint32_t k = 0; k < places.count; k++) {
        const uint32_t i = of_place[k];
        float *const gradient[3] = {&block->normal[0][i], &block->normal[1][i], &block->normal[2][i]};
        if (is_inside[k])
            turn(block->in[MESH_RADIUS][i], &block->key[i], &block->depth[i], gradient);
    }
}

void caromi_sign_answer(const caromi_mesh_batch *batch, const caromi_mesh_query *query, caromi_mesh_answer *answer)
{
    uint8_t is_inside;
    caromi_places places;
    places.count = 0;
    places.options = batch->options;
    if (!(answer->key > 0) || !is_valid(query->in))
        return;
    add_place(&places, query->in, query->mask);
    caromi_find_sides(batch->mesh, batch->sign, &places, &is_inside);
    float *const gradient[3] = {&answer->normal[0], &answer->normal[1], &answer->normal[2]};
    if (is_inside)
        turn(query->in[MESH_RADIUS], &answer->key, &answer->depth, gradient);
}

/* ---- overlaps ---------------------------------------------------------------------------------------------------- */

typedef struct overlap_job {
    const caromi_mesh_batch *batch;
    uint8_t *overlaps;
} overlap_job;

/* A block of queries on the CPU. */
typedef struct overlap_block {
    uint64_t row[CAROMI_BLOCK];
    float in[MESH_IN_RESTING][CAROMI_BLOCK];
    uint64_t row_of_place[CAROMI_BLOCK];
    uint8_t is_inside[CAROMI_BLOCK];
    caromi_places places;
} overlap_block;

static caromi_rungs sign_overlaps(const void *user, void *own, const caromi_sorted_queries *queries, uint32_t from,
                                  uint32_t count)
{
    const overlap_job *job = user;
    const caromi_mesh_batch *batch = job->batch;
    overlap_block *block = own;
    block->places.count = 0;
    block->places.options = batch->options;
    caromi_sorted_gather(queries, from, count, block->row, block->in);
    for (uint32_t i = 0; i < count; i++) {
        const float in[MESH_IN_RESTING] = {block->in[MESH_CX][i], block->in[MESH_CY][i], block->in[MESH_CZ][i],
                                           block->in[MESH_RADIUS][i]};
        int32_t mask = -1;
        if (batch->mask.base != NULL)
            memcpy(&mask, caromi_element(&batch->mask, block->row[i]), sizeof mask);
        if (job->overlaps[block->row[i]] != 0)
            continue;
        block->row_of_place[block->places.count] = block->row[i];
        add_place(&block->places, in, mask);
    }
    caromi_find_sides(batch->mesh, batch->sign, &block->places, block->is_inside);
    for (uint32_t k = 0; k < block->places.count; k++)
        job->overlaps[block->row_of_place[k]] = block->is_inside[k];
    return (caromi_rungs){0, 0};
}

carom_status caromi_sign_overlaps(const carom_context *context, const caromi_mesh_batch *batch, uint8_t *overlaps,
                                  uint64_t first, uint64_t end, carom_stats *stats, carom_error *err)
{
    const overlap_job job = {batch, overlaps};
    return caromi_run_blocks(context, batch->mesh, batch->in, MESH_IN_RESTING, batch->options, first, end,
                             sizeof(overlap_block), caromi_side_grain(batch), sign_overlaps, &job, stats, err);
}

/* ---- devices ----------------------------------------------------------------------------------------------------- */

carom_status caromi_decline_mesh(const carom_mesh *mesh, const char *reason, uint64_t end, uint64_t done,
                                 carom_stats *stats)
{
    if (end != done)
        caromi_decline(mesh->context, stats, reason);
    return CAROM_OK;
}
