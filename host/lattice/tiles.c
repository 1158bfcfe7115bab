/* SPDX-License-Identifier: MIT */
#include "tiles.h"

#include <math.h>

#include "host/mesh/mesh.h"

enum { TILES_PER_THREAD = 8, LEAST_EDGE = 8 };

static size_t round_up(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

static caromi_tile_memory *memory_of(const caromi_tiles *tiles, uint32_t thread)
{
    return (caromi_tile_memory *)(void *)(tiles->memory + thread * tiles->each);
}

/* Searches the closest triangle of each node in a tile. */
caromi_lattice_state caromi_tile_find(const caromi_tiles *tiles, caromi_lattice_tile *tile, caromi_tile_memory *own)
{
    for (size_t i = 0; own->is_used && i < CAROMI_TILE_NODES; i++)
        own->distance[i] = INFINITY;
    tile->row = CAROMI_TILE;
    tile->slab = (size_t)CAROMI_TILE * CAROMI_TILE;
    tile->distance = own->distance;
    tile->triangle = own->triangle;
    const caromi_lattice_state state = caromi_searches_of(tiles->batch->mesh)->lattice(tile);
    own->is_used = state != CAROMI_LATTICE_BEYOND;
    return state;
}

/* Task: describes a tile, and answers its nodes. */
static void run_tile(void *user, uint64_t task, uint32_t thread)
{
    const caromi_tiles *tiles = user;
    const caromi_lattice_batch *batch = tiles->batch;
    const carom_mesh *mesh = batch->mesh;
    caromi_tile_memory *own = memory_of(tiles, thread);
    if (caromi_watch_look(mesh->context->watch))
        return;
    const uint64_t place[3] = {task % tiles->numbers[0], task / tiles->numbers[0] % tiles->numbers[1],
                               task / tiles->numbers[0] / tiles->numbers[1]};
    /* The tile, with the coordinates of its nodes. */
    caromi_lattice_tile tile = {.mesh = &mesh->view,
                                .vertices = mesh->vertices,
                                .indices = mesh->indices,
                                .options = mesh->masks != NULL ? MESH_TRIANGLE_MASKS : 0,
                                .exact = batch->exact,
                                .band = batch->band,
                                .limits = tiles->limits,
                                .scratch = (char *)own->extra + round_up(tiles->extra)};
    uint64_t first[3];
    for (int k = 0; k < 3; k++) {
        const uint64_t end = k == 2 ? tiles->end : batch->lattice.dims[k];
        first[k] = (k == 2 ? tiles->first : 0) + place[k] * tiles->edge;
        tile.count[k] = (uint32_t)(end - first[k] < tiles->edge ? end - first[k] : tiles->edge);
        tile.at[k] = own->at[k];
        for (uint32_t i = 0; i < tile.count[k]; i++)
            own->at[k][i] = carom_lattice_coordinate(&batch->lattice, k, first[k] + i);
    }
    tiles->answer(tiles, &tile, first, own);
}

/* Sets the side of a tile; returns the number of tiles. */
static uint64_t set_edge(caromi_tiles *tiles, uint64_t edge)
{
    const uint64_t *dims = tiles->batch->lattice.dims;
    const uint64_t nodes[3] = {dims[0], dims[1], tiles->end - tiles->first};
    uint64_t all = 1;
    tiles->edge = edge;
    for (int k = 0; k < 3; k++) {
        tiles->numbers[k] = (nodes[k] + edge - 1) / edge;
        all *= tiles->numbers[k];
    }
    return all;
}

/* Cuts the slabs into tiles, at least TILES_PER_THREAD for each thread, and answers them. */
carom_status caromi_tiles_run(const carom_context *context, caromi_tiles *tiles, carom_stats *stats, carom_error *err)
{
    const uint32_t threads = caromi_pool_threads(context->pool);
    const size_t before = round_up(sizeof(caromi_tile_memory));
    uint64_t edge = CAROMI_TILE, number = set_edge(tiles, edge);
    /* Smaller tiles, if there are too few for all threads. */
    while (number < (uint64_t)threads * TILES_PER_THREAD && edge > LEAST_EDGE)
        number = set_edge(tiles, edge /= 2);
    tiles->each = before + round_up(tiles->extra) + round_up(caromi_searches_of(tiles->batch->mesh)->lattice_scratch);
    tiles->memory = caromi_alloc(context, threads, tiles->each);
    if (tiles->memory == NULL)
        return caromi_fail_memory(err, "no memory for the blocks of a lattice (%u threads x %zu bytes)", threads,
                                  tiles->each);
    /* Each thread has memory of its own. */
    for (uint32_t t = 0; t < threads; t++) {
        caromi_tile_memory *own = memory_of(tiles, t);
        own->resolved = 0;
        own->is_used = 1;
        own->extra = (char *)own + before;
    }
    caromi_parallel(context->pool, number, run_tile, tiles);
    for (uint32_t t = 0; t < threads; t++)
        stats->by_integers += memory_of(tiles, t)->resolved;
    caromi_free(context, tiles->memory);
    return caromi_went_on(context);
}
