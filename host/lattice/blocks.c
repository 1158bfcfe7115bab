/* SPDX-License-Identifier: MIT */
/* Distances by tiles of nodes. cpu/lattice/template.h finds the closest triangle of each node. This file gives tiles to
 * threads, decides the nodes that the filter leaves undecided in integers, computes closest points and stores the
 * answers. */
#include <math.h>
#include <string.h>

#include "host/mesh/block.h"
#include "tiles.h"

/* The user data of the tiles' callbacks. */
typedef struct tile_job {
    caromi_mesh_batch points; /* kind, mesh and outputs, for the functions of blocks */
    float *distances;         /* the caller's array, if distances are the only output; else NULL */
} tile_job;

/* ---- answers ----------------------------------------------------------------------------------------------------- */

/* Decides in integers a distance that the filter of exact mode left undecided. */
static void resolve(const caromi_lattice_batch *batch, const float center[3], float *distance, int32_t *triangle)
{
    caromi_mesh_query query = {.mask = -1, .options = batch->mesh->masks != NULL ? MESH_TRIANGLE_MASKS : 0};
    float depth;
    memcpy(query.in, center, 3 * sizeof *center);
    query.in[MESH_MAX_DISTANCE] = batch->band;
    caromi_single_searches_of(&batch->mesh->view)->closest(&batch->mesh->view, &query, triangle, distance, &depth);
}

/* Finishes a node: decides an undecided distance (NaN), and replaces distances beyond the band. Returns 1 if integers
 * were needed. */
static int finish_node(const caromi_lattice_batch *batch, const float center[3], float *distance, int32_t *triangle)
{
    const int undecided = isnan(*distance);
    if (undecided)
        resolve(batch, center, distance, triangle);
    if (*distance > batch->band || isinf(*distance)) { /* infinite: all triangles are masked out */
        *distance = batch->band;
        *triangle = -1;
    }
    return undecided;
}

static uint64_t number_of(const caromi_lattice_batch *batch, const uint64_t node[3])
{
    return (node[2] * batch->lattice.dims[1] + node[1]) * batch->lattice.dims[0] + node[0] - batch->begin;
}

/* ---- distances alone --------------------------------------------------------------------------------------------- */

static float *distances_alone(const caromi_lattice_batch *batch)
{
    const caromi_out_column *key = &batch->out[CAROMI_ANSWER_KEY];
    for (int a = 0; a < CAROMI_ANSWERS; a++)
        if (a != CAROMI_ANSWER_KEY && batch->out[a].base != NULL)
            return NULL;
    return key->stride == sizeof(float) ? (float *)key->base : NULL;
}

/* Task: fills a slab with the band, before tiles write the nodes within it. Copies one row, as memcpy reaches memory
 * bandwidth. */
static void leave_slab(void *user, uint64_t task, uint32_t thread)
{
    const caromi_tiles *tiles = user;
    const caromi_lattice_batch *batch = tiles->batch;
    const tile_job *job = tiles->user;
    float row[2048], *to = job->distances + ((tiles->first + task) * batch->slab - batch->begin);
    const uint64_t most = sizeof row / sizeof *row;
    (void)thread;
    for (uint64_t i = 0; i < most && i < batch->slab; i++)
        row[i] = batch->band;
    for (uint64_t i = 0; i < batch->slab; i += most)
        memcpy(to + i, row, (batch->slab - i < most ? batch->slab - i : most) * sizeof *row);
}

/* Stores the distances of a tile straight into the caller's array, which the band fills beforehand. */
static void distances_of_tile(const caromi_tiles *tiles, caromi_lattice_tile *tile, const uint64_t first[3],
                              caromi_tile_memory *own)
{
    const caromi_lattice_batch *batch = tiles->batch;
    const tile_job *job = tiles->user;
    tile->row = batch->lattice.dims[0];
    tile->slab = batch->slab;
    tile->distance = job->distances + number_of(batch, first);
    if (caromi_searches_of(batch->mesh)->lattice(tile) != CAROMI_LATTICE_UNDECIDED)
        return;
    for (uint32_t k = 0; k < tile->count[2]; k++)
        for (uint32_t j = 0; j < tile->count[1]; j++)
            for (uint32_t i = 0; i < tile->count[0]; i++) {
                float *distance = tile->distance + (k * tile->slab + j * tile->row + i);
                int32_t triangle;
                if (isnan(*distance))
                    own->resolved += (uint64_t)finish_node(
                        batch, (const float[]){tile->at[0][i], tile->at[1][j], tile->at[2][k]}, distance, &triangle);
            }
}

/* ---- all answers ------------------------------------------------------------------------------------------------- */

/* Computes and stores the closest points of a block of nodes. In exact mode a point that the filter leaves undecided is
 * NaN, and is computed by integers after the store. counted: nodes that `resolved` has counted already. */
static void store_block(const tile_job *job, caromi_tile_memory *own, const uint8_t *counted, size_t count)
{
    const caromi_mesh_batch *batch = &job->points;
    caromi_mesh_block *block = own->extra;
    const int wants_points = caromi_wants_points(batch);
    if (wants_points)
        caromi_block_points(batch->mesh->context, batch, block, count);
    caromi_block_store(batch, block, count);
    for (size_t i = 0; wants_points && batch->exact && i < count; i++)
        if (isnan(block->point[0][i])) {
            const float in[] = {block->in[0][i], block->in[1][i], block->in[2][i], 0};
            caromi_resolve_points(batch, in, block->triangle[i], block->row[i]);
            own->resolved += !counted[i];
        }
}

/* Stores row j of slab k of a tile, block by block. first: number of the row's first node. */
static void store_row(const caromi_tiles *tiles, const caromi_lattice_tile *tile, uint32_t j, uint32_t k,
                      uint64_t first, caromi_tile_memory *own)
{
    const size_t at = k * tile->slab + j * tile->row;
    caromi_mesh_block *block = own->extra;
    uint8_t counted[CAROMI_TILE];
    for (uint32_t i = 0; i < tile->count[0]; i++) {
        const float center[] = {tile->at[0][i], tile->at[1][j], tile->at[2][k]};
        float distance = own->distance[at + i];
        int32_t triangle = own->triangle[at + i];
        counted[i] = (uint8_t)finish_node(tiles->batch, center, &distance, &triangle);
        own->resolved += counted[i];
        for (int c = 0; c < 3; c++)
            block->in[c][i] = center[c];
        block->row[i] = first + i;
        block->key[i] = distance;
        block->triangle[i] = triangle;
    }
    store_block(tiles->user, own, counted, tile->count[0]);
}

static void answers_of_tile(const caromi_tiles *tiles, caromi_lattice_tile *tile, const uint64_t first[3],
                            caromi_tile_memory *own)
{
    (void)caromi_tile_find(tiles, tile, own);
    for (uint32_t k = 0; k < tile->count[2]; k++)
        for (uint32_t j = 0; j < tile->count[1]; j++)
            store_row(tiles, tile, j, k,
                      number_of(tiles->batch, (const uint64_t[]){first[0], first[1] + j, first[2] + k}), own);
}

/* ---- both -------------------------------------------------------------------------------------------------------- */

/* Whether the error bounds of the tile search hold for this lattice and mesh. */
int caromi_lattice_has_blocks(const caromi_lattice_batch *batch)
{
    const carom_mesh_info *mesh = &batch->mesh->info;
    float largest = 0, farthest = 0;
    if (mesh->triangle_count == 0)
        return 0;
    for (int k = 0; k < 3; k++) {
        const float first = carom_lattice_coordinate(&batch->lattice, k, 0);
        const float last = carom_lattice_coordinate(&batch->lattice, k, batch->lattice.dims[k] - 1);
        largest = fmaxf(largest, fmaxf(fabsf(mesh->lower[k]), fabsf(mesh->upper[k])));
        farthest = fmaxf(farthest, fmaxf(fabsf(first), fabsf(last)));
    }
    return largest >= CAROMI_LATTICE_LEAST && largest <= CAROMI_LATTICE_MOST &&
           farthest <= largest * CAROMI_LATTICE_FAR;
}

/* Answers whole slabs, tile by tile. */
carom_status caromi_lattice_blocks(const carom_context *context, const caromi_lattice_batch *batch, uint64_t first,
                                   uint64_t end, carom_stats *stats, carom_error *err)
{
    carom_mesh *mesh = batch->mesh;
    tile_job job = {.points = {.kind = &caromi_closest_triangle,
                               .mesh = mesh,
                               .exact = batch->exact,
                               .options = mesh->masks != NULL ? MESH_TRIANGLE_MASKS : 0},
                    .distances = distances_alone(batch)};
    caromi_tiles tiles = {.batch = batch,
                          .first = first / batch->slab,
                          .end = end / batch->slab,
                          .answer = job.distances != NULL ? distances_of_tile : answers_of_tile,
                          .user = &job,
                          .extra = job.distances != NULL ? 0 : sizeof(caromi_mesh_block)};
    memcpy(job.points.out, batch->out, sizeof job.points.out);
    if (job.distances != NULL)
        caromi_parallel(context->pool, tiles.end - tiles.first, leave_slab, &tiles);
    return caromi_tiles_run(context, &tiles, stats, err);
}
