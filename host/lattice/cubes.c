/* SPDX-License-Identifier: MIT */
/* A cube's answer depends on the distance of its node: at most R - h, between the limits, or beyond R + h. On the CPU,
 * cpu/lattice/template.h classifies the nodes of a tile together. A device, and the CPU for meshes outside the tile
 * search's error bounds, computes each distance; tiles of a GPU compare it there (host/opencl/lattice_cubes.c).
 * Distances next to a limit are decided in integers. docs/volumes.md, section 4, has the proof. */
#include "cubes.h"

#include <math.h>
#include <string.h>

#include "host/mesh/query.h"
#include "host/core/device.h"
#include "inside.h"
#include "tiles.h"

enum { CHUNK = CAROMI_MESH_PIECE /* nodes whose distances are computed together */ };

/* ---- limits ------------------------------------------------------------------------------------------------------ */

/* Distances closer than 2^-18 (R + h) to a limit need an exact decision. */
caromi_cubes caromi_cubes_of(const caromi_lattice_batch *nodes, float radius, uint8_t *out)
{
    caromi_cubes cubes = {.nodes = *nodes, .cube = {radius, caromi_cube_half(nodes->lattice.spacing)}, .out = out};
    cubes.free = caromi_cube_bounds(&cubes.cube, CAROMI_CUBE_FREE);
    cubes.blocked = caromi_cube_bounds(&cubes.cube, CAROMI_CUBE_BLOCKED);
    const double margin = cubes.free.high * 0x1p-18 + 0x1p-140;
    cubes.certain =
        (caromi_lattice_limits){caromi_float_of(cubes.blocked.low - margin),
                                caromi_float_of(cubes.blocked.high + margin), caromi_float_of(cubes.free.low - margin)};
    cubes.nodes.band = caromi_float_of(cubes.free.high + margin);
    return cubes;
}

/* Whether the limits are far enough apart, and in a range of magnitudes, for the tile search's error bounds to hold. */
static int has_blocks(const caromi_cubes *cubes)
{
    const carom_mesh_info *mesh = &cubes->nodes.mesh->info;
    float largest = 0;
    for (int k = 0; k < 3; k++)
        largest = fmaxf(largest, fmaxf(fabsf(mesh->lower[k]), fabsf(mesh->upper[k])));
    return cubes->certain.inner_high < cubes->certain.outer_low &&
           cubes->free.high >= (double)largest / (double)CAROMI_LATTICE_FAR &&
           cubes->free.high <= (double)largest * (double)CAROMI_LATTICE_FAR && caromi_lattice_has_blocks(&cubes->nodes);
}

/* ---- one node ---------------------------------------------------------------------------------------------------- */

static carom_clearance resolve(const caromi_cubes *cubes, const float node[3])
{
    const caromi_mesh_view *mesh = &cubes->nodes.mesh->view;
    const int options = mesh->masks != NULL ? MESH_TRIANGLE_MASKS : 0;
    if (!caromi_single_searches_of(mesh)->cube(mesh, node, options, &cubes->cube, CAROMI_CUBE_FREE))
        return CAROM_CLEARANCE_FREE;
    return caromi_single_searches_of(mesh)->cube(mesh, node, options, &cubes->cube, CAROMI_CUBE_BLOCKED)
               ? CAROM_CLEARANCE_BLOCKED
               : CAROM_CLEARANCE_UNDECIDED;
}

carom_clearance caromi_cubes_resolve(const caromi_cubes *cubes, uint64_t node)
{
    float at[3];
    caromi_lattice_columns(&cubes->nodes.lattice, node, 1, &at[0], &at[1], &at[2]);
    return resolve(cubes, at);
}

/* The answer for a distance. A NaN (undecided by the filter) and a distance next to a limit are decided in integers,
 * and counted. */
static carom_clearance decide_closely(const caromi_cubes *cubes, const float node[3], float distance,
                                      uint64_t *resolved)
{
    if (!isnan(distance)) {
        const caromi_bounds d = caromi_distance_bounds(distance);
        if (d.high <= cubes->blocked.low)
            return CAROM_CLEARANCE_BLOCKED;
        if (d.low > cubes->free.high)
            return CAROM_CLEARANCE_FREE;
        if (d.high <= cubes->free.low && (d.low > cubes->blocked.high || cubes->blocked.high < 0.0))
            return CAROM_CLEARANCE_UNDECIDED;
    }
    ++*resolved;
    return resolve(cubes, node);
}

/* Answers a row of nodes; x: their coordinates along x. */
static void answer_row(const caromi_cubes *cubes, const float *distance, const float *x, float y, float z, size_t count,
                       uint8_t *out, uint64_t *resolved)
{
    const caromi_lattice_limits certain = cubes->certain;
    /* NaN: no distance is certainly beyond, so each takes the exact decision. */
    const float beyond = isinf(cubes->nodes.band) ? NAN : cubes->nodes.band;
    for (size_t i = 0; i < count; i++) {
        const float d = distance[i];
        if (d <= certain.inner_low)
            out[i] = CAROM_CLEARANCE_BLOCKED;
        else if (d >= beyond)
            out[i] = CAROM_CLEARANCE_FREE;
        else if (d >= certain.inner_high && d <= certain.outer_low)
            out[i] = CAROM_CLEARANCE_UNDECIDED;
        else
            out[i] = (uint8_t)decide_closely(cubes, (const float[]){x[i], y, z}, d, resolved);
    }
}

/* ---- tiles ------------------------------------------------------------------------------------------------------- */

/* Answers the nodes of a tile: classified by the search, or decided closely. */
static void answer_tile(const caromi_tiles *tiles, caromi_lattice_tile *tile, const uint64_t first[3],
                        caromi_tile_memory *own)
{
    const caromi_cubes *cubes = tiles->user;
    const uint64_t *dims = cubes->nodes.lattice.dims;
    uint8_t *out = cubes->out + ((first[2] * dims[1] + first[1]) * dims[0] + first[0] - cubes->nodes.begin);
    (void)caromi_tile_find(tiles, tile, own);
    for (uint32_t k = 0; k < tile->count[2]; k++)
        for (uint32_t j = 0; j < tile->count[1]; j++)
            answer_row(cubes, own->distance + (k * tile->slab + j * tile->row), tile->at[0], tile->at[1][j],
                       tile->at[2][k], tile->count[0], out + (k * dims[1] + j) * dims[0], &own->resolved);
}

/* Answers slabs [first, end) tile by tile. */
static carom_status by_tiles(const carom_context *context, const caromi_cubes *cubes, uint64_t first, uint64_t end,
                             carom_stats *stats, carom_error *err)
{
    caromi_tiles tiles = {.batch = &cubes->nodes,
                          .limits = &cubes->certain,
                          .first = first / cubes->nodes.slab,
                          .end = end / cubes->nodes.slab,
                          .answer = answer_tile,
                          .user = cubes};
    return caromi_tiles_run(context, &tiles, stats, err);
}

/* ---- one by one -------------------------------------------------------------------------------------------------- */

/* The next nodes, with memory for their distances and coordinates. */
typedef struct chunk {
    caromi_lattice_batch nodes;
    float *distance, *at[3];
} chunk;

/* Allocates the columns of a chunk of nodes. */
static carom_status make_chunk(const caromi_cubes *cubes, uint64_t capacity, chunk *out, carom_error *err)
{
    enum { COLUMNS = 4 };
    *out = (chunk){.nodes = cubes->nodes,
                   .distance = caromi_alloc(cubes->nodes.mesh->context, capacity * COLUMNS, sizeof(float))};
    if (out->distance == NULL)
        return caromi_fail_memory(err, "no memory for the nodes of a lattice (%llu x %zu bytes)",
                                  (unsigned long long)capacity, COLUMNS * sizeof(float));
    for (int k = 0; k < 3; k++)
        out->at[k] = out->distance + (uint64_t)(k + 1) * capacity;
    out->nodes.out[CAROMI_ANSWER_KEY] = (caromi_out_column){out->distance, sizeof(float)};
    return CAROM_OK;
}

/* Answers nodes [first, end) from the chunk's distances. Returns the number of nodes decided in integers. */
static uint64_t answer_chunk(const caromi_cubes *cubes, const chunk *of, uint64_t first, uint64_t end)
{
    uint64_t resolved = 0;
    caromi_lattice_columns(&cubes->nodes.lattice, first, end - first, of->at[0], of->at[1], of->at[2]);
    for (uint64_t i = 0; i < end - first; i++)
        answer_row(cubes, of->distance + i, of->at[0] + i, of->at[1][i], of->at[2][i], 1,
                   cubes->out + (first - cubes->nodes.begin) + i, &resolved);
    return resolved;
}

/* Answers nodes [*done, end) by their distances, on a device or, if that is NULL, on the CPU. If the device fails,
 * *done is where the CPU continues. */
static carom_status one_by_one(const carom_context *context, caromi_device *device, const caromi_cubes *cubes,
                               uint64_t end, uint64_t *done, carom_stats *stats, carom_error *err)
{
    const uint64_t capacity = end - *done < CHUNK ? end - *done : CHUNK;
    chunk own;
    carom_status status = make_chunk(cubes, capacity, &own, err);
    for (uint64_t next = *done; status == CAROM_OK && *done < end && *done == next;) {
        const uint64_t first = *done, before = stats->by_integers;
        next = end - first < capacity ? end : first + capacity;
        own.nodes.begin = first;
        if (device != NULL)
            status = caromi_lattice_on_device(device, &own.nodes, next, done, stats, err);
        else if ((status = caromi_lattice_plain(context, &own.nodes, first, next, stats, err)) == CAROM_OK)
            *done = next;
        if (*done > first)
            stats->by_integers += answer_chunk(cubes, &own, first, *done);
        /* A node may need integers for its distance and for its answer: it counts once. */
        if (stats->by_integers > before + (next - first))
            stats->by_integers = before + (next - first);
    }
    caromi_free(context, own.distance);
    return status;
}

/* ---- inside ------------------------------------------------------------------------------------------------------ */

/* Whether a node inside is blocked: its distance is negative, and at most R - h. */
static int is_blocked(const caromi_cubes *cubes, uint64_t node, uint8_t of_surface)
{
    const caromi_mesh_view *mesh = &cubes->nodes.mesh->view;
    float at[3];
    if ((double)cubes->cube.radius >= cubes->cube.half || of_surface == CAROM_CLEARANCE_FREE)
        return 1; /* R - h >= 0; farther than R + h from the surface */
    caromi_lattice_columns(&cubes->nodes.lattice, node, 1, &at[0], &at[1], &at[2]);
    return !caromi_single_searches_of(mesh)->cube(mesh, at, mesh->masks != NULL ? MESH_TRIANGLE_MASKS : 0, &cubes->cube,
                                                  CAROMI_CUBE_INSIDE);
}

static void sign_row(const void *user, const uint32_t *bits, uint64_t node)
{
    const caromi_cubes *cubes = user;
    uint8_t *out = cubes->out + (node - cubes->nodes.begin);
    for (uint64_t word = 0; word < cubes->inside->words; word++)
        for (uint32_t left = bits[word]; left != 0; left &= left - 1) {
            const uint64_t i = word * 32 + (uint64_t)__builtin_ctz(left);
            out[i] = is_blocked(cubes, node + i, out[i]) ? CAROM_CLEARANCE_BLOCKED : CAROM_CLEARANCE_UNDECIDED;
        }
}

void caromi_cubes_sign(const caromi_cubes *cubes, uint64_t first, uint64_t end)
{
    caromi_inside_rows(cubes->inside, first, end, sign_row, cubes);
}

/* ---- both -------------------------------------------------------------------------------------------------------- */

/* Answers nodes by tiles or, outside the error bounds of tiles, one by one. */
carom_status caromi_cubes_on_cpu(const carom_context *context, const void *cubes, uint64_t first, uint64_t end,
                                 carom_stats *stats, carom_error *err)
{
    const caromi_cubes *c = cubes;
    if (c->out == NULL)
        return CAROM_OK;
    if (c->nodes.mesh->info.triangle_count == 0) {
        memset(c->out + (first - c->nodes.begin), CAROM_CLEARANCE_FREE, end - first);
        return CAROM_OK;
    }
    if (first % c->nodes.slab == 0 && end % c->nodes.slab == 0 && has_blocks(c))
        return by_tiles(context, c, first, end, stats, err);
    return one_by_one(context, NULL, c, end, &first, stats, err);
}

carom_status caromi_cubes_on_device(caromi_device *device, const void *cubes, uint64_t end, uint64_t *done,
                                    carom_stats *stats, carom_error *err)
{
    const caromi_cubes *c = cubes;
    carom_context *context = c->nodes.mesh->context;
    const uint64_t first = *done, before = stats->by_integers;
    const int by_tiles = has_blocks(c) && caromi_lattice_by_tiles(device, &c->nodes);
    if (!by_tiles)
        CHECK(caromi_staging_show_after(context, first - c->nodes.begin, err));
    const carom_status status =
        by_tiles       ? caromi_driver.cubes(device, c, end, done, stats, err)
        : end == first ? caromi_lattice_on_device(device, &c->nodes, end, done, stats, err) /* only prepares it */
                       : one_by_one(context, device, c, end, done, stats, err);
    caromi_lattice_keep_slabs(&c->nodes, first, end, done, before, stats);
    return status;
}
