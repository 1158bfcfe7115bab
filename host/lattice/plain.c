/* SPDX-License-Identifier: MIT */
/* Answers each node by a closest-point query of host/mesh; node coordinates are computed in chunks, as columns. Devices
 * that have no tiles answer lattices this way. */
#include <math.h>

#include "host/mesh/block.h"
#include "host/mesh/query.h"
#include "host/core/device.h"
#include "inside.h"

enum {
    CHUNK = CAROMI_MESH_PIECE,
    DEVICE_CHUNK = 4 * CHUNK,
    COLUMNS = 4 /* x, y, z, and the distance, needed for the band even if the caller does not want it */
};

/* A chunk of nodes, as a batch of closest-point queries. */
typedef struct node_chunk {
    caromi_mesh_batch batch;
    float *column[COLUMNS];
    uint64_t capacity;
} node_chunk;

/* Describes a chunk of nodes as closest-point queries. */
static carom_status make_chunk(const caromi_lattice_batch *lattice, uint64_t capacity, node_chunk *chunk,
                               carom_error *err)
{
    static const float none = 0;
    carom_mesh *mesh = lattice->mesh;
    chunk->capacity = capacity;
    chunk->batch = (caromi_mesh_batch){.kind = &caromi_closest_triangle,
                                       .mesh = mesh,
                                       .exact = lattice->exact,
                                       .options = mesh->masks != NULL ? MESH_TRIANGLE_MASKS : 0};
    chunk->column[0] = caromi_alloc(mesh->context, capacity * COLUMNS, sizeof(float));
    if (chunk->column[0] == NULL)
        return caromi_fail_memory(err, "no memory for the nodes of a lattice (%llu x %zu bytes)",
                                  (unsigned long long)capacity, COLUMNS * sizeof(float));
    for (int k = 1; k < COLUMNS; k++)
        chunk->column[k] = chunk->column[0] + (uint64_t)k * capacity;
    for (int k = 0; k < 3; k++)
        chunk->batch.in[MESH_CX + k] = (caromi_in_column){.base = chunk->column[k], .stride = sizeof(float)};
    chunk->batch.in[MESH_RADIUS] = (caromi_in_column){.base = &none};
    chunk->batch.in[MESH_MAX_DISTANCE] = (caromi_in_column){.base = &lattice->band};
    return CAROM_OK;
}

/* Makes nodes [first, first + count) the queries of the chunk. */
static void fill_chunk(const caromi_lattice_batch *lattice, uint64_t first, uint64_t count, node_chunk *chunk)
{
    caromi_lattice_columns(&lattice->lattice, first, count, chunk->column[0], chunk->column[1], chunk->column[2]);
    chunk->batch.count = count;
    for (int a = 0; a < CAROMI_ANSWERS; a++)
        chunk->batch.out[a] = caromi_out_column_from(&lattice->out[a], first - lattice->begin);
    if (lattice->band < INFINITY && chunk->batch.out[CAROMI_ANSWER_KEY].base == NULL)
        chunk->batch.out[CAROMI_ANSWER_KEY] = (caromi_out_column){chunk->column[3], sizeof(float)};
}

/* Replaces the answers of nodes beyond the band. */
static void cut_to_band(float band, const caromi_mesh_batch *batch)
{
    const caromi_mesh_answer beyond = {.triangle = -1, .key = band, .feature = CAROM_FEATURE_NONE};
    const float *distance = batch->out[CAROMI_ANSWER_KEY].base; /* contiguous */
    for (uint64_t i = 0; band < INFINITY && i < batch->count; i++)
        if (distance[i] > band)
            caromi_store_answer(batch, 0, batch->kind->out, &beyond, i);
}

/* Answers nodes chunk by chunk on the CPU. */
carom_status caromi_lattice_plain(const carom_context *context, const caromi_lattice_batch *batch, uint64_t first,
                                  uint64_t end, carom_stats *stats, carom_error *err)
{
    node_chunk chunk;
    carom_status status = make_chunk(batch, end - first < CHUNK ? end - first : CHUNK, &chunk, err);
    for (uint64_t at = first; status == CAROM_OK && at < end; at += chunk.batch.count) {
        fill_chunk(batch, at, end - at < chunk.capacity ? end - at : chunk.capacity, &chunk);
        status = caromi_mesh_on_cpu(batch->mesh)(context, &chunk.batch, 0, chunk.batch.count, stats, err);
        cut_to_band(batch->band, &chunk.batch);
    }
    caromi_free(context, chunk.column[0]);
    return status;
}

/* Answers nodes chunk by chunk on a device; without nodes, only prepares it. */
static carom_status plain_on_device(caromi_device *device, const void *lattice_batch, uint64_t end, uint64_t *done,
                                    carom_stats *stats, carom_error *err)
{
    const caromi_lattice_batch *batch = lattice_batch;
    const int prepares = end == *done;
    const uint64_t left = (prepares ? batch->count : end) - *done;
    node_chunk chunk;
    carom_status status = make_chunk(batch, left < DEVICE_CHUNK ? left : DEVICE_CHUNK, &chunk, err);
    if (status == CAROM_OK && prepares) {
        uint64_t none = 0;
        fill_chunk(batch, *done, chunk.capacity, &chunk);
        status = caromi_driver.mesh(device, &chunk.batch, 0, &none, stats, err);
    }
    for (uint64_t answered = chunk.capacity; status == CAROM_OK && *done < end && answered != 0; *done += answered) {
        answered = 0;
        fill_chunk(batch, *done, end - *done < chunk.capacity ? end - *done : chunk.capacity, &chunk);
        status = caromi_driver.mesh(device, &chunk.batch, chunk.batch.count, &answered, stats, err);
        chunk.batch.count = answered;
        cut_to_band(batch->band, &chunk.batch);
    }
    caromi_free(batch->mesh->context, chunk.column[0]);
    return status;
}

int caromi_lattice_by_tiles(const caromi_device *device, const caromi_lattice_batch *batch)
{
    lattice_rays rays;
    return caromi_driver.lattice_serves(device) && caromi_lattice_has_blocks(batch) &&
           (batch->sign == CAROM_SIGN_NONE || caromi_lattice_rays(batch, 0, &rays));
}

/* Integers may have decided nodes that the CPU answers again: then it counts them. */
void caromi_lattice_keep_slabs(const caromi_lattice_batch *batch, uint64_t first, uint64_t end, uint64_t *done,
                               uint64_t before, carom_stats *stats)
{
    if (*done < end)
        *done = *done / batch->slab * batch->slab;
    const uint64_t most = before + (*done > first ? *done - first : 0);
    stats->by_integers = stats->by_integers < most ? stats->by_integers : most;
}

/* By tiles, if the device has them: then arrays may stay there. */
carom_status caromi_lattice_on_device(caromi_device *device, const void *lattice_batch, uint64_t end, uint64_t *done,
                                      carom_stats *stats, carom_error *err)
{
    const caromi_lattice_batch *batch = lattice_batch;
    const uint64_t first = *done, before = stats->by_integers;
    const int by_tiles = caromi_lattice_by_tiles(device, batch);
    if (!by_tiles || (batch->inside != NULL && batch->sign == CAROM_SIGN_NONE)) /* the host gives the signs */
        CHECK(caromi_staging_show_after(batch->mesh->context, *done - batch->begin, err));
    const carom_status status =
        (by_tiles ? caromi_driver.lattice : plain_on_device)(device, batch, end, done, stats, err);
    caromi_lattice_keep_slabs(batch, first, end, done, before, stats);
    return status;
}
