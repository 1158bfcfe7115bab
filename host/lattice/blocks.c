/* SPDX-License-Identifier: MIT */
/* Distances by tiles of nodes: cpu/lattice_template.h finds the triangle of each node, this file hands out the tiles,
 * decides in integers what is left, computes points and stores. */
#include <math.h>
#include <string.h>

#include "cpu/lattice.h"
#include "host/mesh/block.h"
#include "lattice.h"

enum { TILES_PER_THREAD = 8, LEAST_EDGE = 8 };

/* A thread's memory; then the scratch of the instruction set. */
typedef struct tile_memory {
    float distance[CAROMI_TILE_NODES], at[3][CAROMI_TILE];
    int32_t triangle[CAROMI_TILE_NODES];
    caromi_mesh_block block;
    uint64_t settled; /* in integers */
} tile_memory;

/* The tiles of slabs [first, end). */
typedef struct tile_job {
    const caromi_lattice_batch *batch;
    caromi_mesh_batch points; /* kind, mesh and outputs, for the functions of blocks */
    char *memory;
    size_t each;      /* bytes of a thread's memory */
    float *distances; /* where they go, if nothing else is wanted; else NULL */
    uint64_t edge;    /* of a tile */
    uint64_t from[3]; /* the first node along each axis */
    uint64_t end[3];
    uint64_t tiles[3];
} tile_job;

static tile_memory *memory_of(const tile_job *job, uint32_t thread)
{
    return (tile_memory *)(void *)(job->memory + thread * job->each);
}

static size_t round_up(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

static caromi_mesh_query query_of(const tile_job *job, const float center[3])
{
    caromi_mesh_query q = {.mask = -1, .options = job->points.options};
    memcpy(q.in, center, 3 * sizeof *center);
    q.in[MESH_MAX_DISTANCE] = job->batch->band;
    return q;
}

/* Decides what exact mode has left open, and cuts to the band. Returns 1 if integers were needed. */
static int finish_node(const tile_job *job, const float center[3], float *distance, int32_t *triangle)
{
    const int undecided = isnan(*distance);
    if (undecided) {
        const caromi_mesh_query q = query_of(job, center);
        float depth;
        caromi_settle_closest(&job->batch->mesh->view, &q, triangle, distance, &depth);
    }
    if (*distance > job->batch->band || isinf(*distance)) { /* infinite: no triangle counts */
        *distance = job->batch->band;
        *triangle = -1;
    }
    return undecided;
}

/* Points of a block; what exact mode leaves open of them is settled after they are stored. */
static void store_block(const tile_job *job, tile_memory *own, const uint8_t *counted, size_t count)
{
    const caromi_mesh_batch *batch = &job->points;
    caromi_mesh_block *b = &own->block;
    const int wants_points = caromi_wants_points(batch);
    if (wants_points)
        caromi_block_points(batch->mesh->context, batch, b, count);
    caromi_block_store(batch, b, count);
    for (size_t i = 0; wants_points && batch->exact && i < count; i++)
        if (isnan(b->point[0][i])) {
            const float in[] = {b->in[0][i], b->in[1][i], b->in[2][i], 0};
            caromi_settle_points(batch, in, b->triangle[i], b->row[i]);
            own->settled += !counted[i];
        }
}

/* A row of distances, cut to the band; 0 if exact mode has left one of them open. */
static int store_distances(const float *distance, uint32_t count, float band, float *out)
{
    int open = 0;
    for (uint32_t i = 0; i < count; i++) {
        open |= isnan(distance[i]);
        out[i] = distance[i] <= band ? distance[i] : band;
    }
    return !open;
}

static float *distances_alone(const caromi_lattice_batch *batch)
{
    const caromi_out_column *key = &batch->out[CAROMI_ANSWER_KEY];
    for (int a = 0; a < CAROMI_ANSWERS; a++)
        if (a != CAROMI_ANSWER_KEY && batch->out[a].base != NULL)
            return NULL;
    return key->stride == sizeof(float) ? (float *)key->base : NULL;
}

/* One row of a tile's answers, in blocks. */
static void store_row(const tile_job *job, tile_memory *own, const uint64_t node[3], uint32_t count)
{
    const caromi_lattice_batch *batch = job->batch;
    const uint64_t first =
        (node[2] * batch->lattice.dims[1] + node[1]) * batch->lattice.dims[0] + node[0] - batch->begin;
    const uint32_t j = (uint32_t)((node[1] - job->from[1]) % job->edge),
                   k = (uint32_t)((node[2] - job->from[2]) % job->edge);
    const size_t at = (size_t)(k * CAROMI_TILE + j) * CAROMI_TILE;
    caromi_mesh_block *b = &own->block;
    uint8_t counted[CAROMI_TILE];
    if (job->distances != NULL && store_distances(own->distance + at, count, batch->band, job->distances + first))
        return;
    for (uint32_t i = 0; i < count; i++) {
        const float center[] = {own->at[0][i], own->at[1][j], own->at[2][k]};
        float distance = own->distance[at + i];
        int32_t triangle = own->triangle[at + i];
        counted[i] = (uint8_t)finish_node(job, center, &distance, &triangle);
        own->settled += counted[i];
        for (int c = 0; c < 3; c++)
            b->in[c][i] = center[c];
        b->row[i] = first + i;
        b->key[i] = distance;
        b->triangle[i] = triangle;
    }
    store_block(job, own, counted, count);
}

/* ---- tiles ------------------------------------------------------------------------------------------------------- */

static void run_tile(void *user, uint64_t task, uint32_t thread)
{
    const tile_job *job = user;
    const carom_mesh *mesh = job->batch->mesh;
    tile_memory *own = memory_of(job, thread);
    const uint64_t number[3] = {task % job->tiles[0], task / job->tiles[0] % job->tiles[1],
                                task / job->tiles[0] / job->tiles[1]};
    caromi_lattice_tile tile = {.mesh = &mesh->view,
                                .vertices = mesh->vertices,
                                .indices = mesh->indices,
                                .options = job->points.options,
                                .exact = job->batch->exact,
                                .band = job->batch->band,
                                .distance = own->distance,
                                .triangle = own->triangle,
                                .scratch = (char *)own + round_up(sizeof *own)};
    uint64_t first[3];
    for (int k = 0; k < 3; k++) {
        first[k] = job->from[k] + number[k] * job->edge;
        const uint64_t left = job->end[k] - first[k];
        tile.count[k] = (uint32_t)(left < job->edge ? left : job->edge);
        tile.at[k] = own->at[k];
        for (uint32_t i = 0; i < tile.count[k]; i++)
            own->at[k][i] = carom_lattice_coordinate(&job->batch->lattice, k, first[k] + i);
    }
    mesh->context->isa->lattice(&tile);
    for (uint64_t k = 0; k < tile.count[2]; k++)
        for (uint64_t j = 0; j < tile.count[1]; j++)
            store_row(job, own, (const uint64_t[]){first[0], first[1] + j, first[2] + k}, tile.count[0]);
}

static uint64_t set_tiles(tile_job *job, uint64_t edge)
{
    uint64_t tiles = 1;
    job->edge = edge;
    for (int k = 0; k < 3; k++) {
        job->tiles[k] = (job->end[k] - job->from[k] + edge - 1) / edge;
        tiles *= job->tiles[k];
    }
    return tiles;
}

/* Where the bounds of the blocks hold. */
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

carom_status caromi_lattice_blocks(const carom_context *context, const caromi_lattice_batch *batch, uint64_t first,
                                   uint64_t end, carom_stats *stats, carom_error *err)
{
    carom_mesh *mesh = batch->mesh;
    const uint32_t threads = caromi_pool_threads(context->pool);
    tile_job job = {.batch = batch,
                    .points = {.kind = &caromi_closest_triangle,
                               .mesh = mesh,
                               .exact = batch->exact,
                               .options = mesh->masks != NULL ? MESH_TRIANGLE_MASKS : 0},
                    .distances = distances_alone(batch),
                    .each = round_up(sizeof(tile_memory)) + round_up(context->isa->lattice_scratch),
                    .from = {0, 0, first / batch->slab},
                    .end = {batch->lattice.dims[0], batch->lattice.dims[1], end / batch->slab}};
    memcpy(job.points.out, batch->out, sizeof job.points.out);
    uint64_t edge = CAROMI_TILE, tiles = set_tiles(&job, edge);
    while (tiles < (uint64_t)threads * TILES_PER_THREAD && edge > LEAST_EDGE)
        tiles = set_tiles(&job, edge /= 2);
    job.memory = caromi_alloc(context, threads, job.each);
    if (job.memory == NULL)
        return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0,
                           "no memory for the blocks of a lattice (%u threads x %zu bytes)", threads, job.each);
    for (uint32_t t = 0; t < threads; t++)
        memory_of(&job, t)->settled = 0;
    caromi_parallel(context->pool, tiles, run_tile, &job);
    for (uint32_t t = 0; t < threads; t++)
        stats->by_integers += memory_of(&job, t)->settled;
    caromi_free(context, job.memory);
    return CAROM_OK;
}
