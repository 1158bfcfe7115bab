/* SPDX-License-Identifier: MIT */
/* Distances of lattice nodes (host/lattice/lattice.h) on a GPU: a stream without inputs. Kernels compute the nodes'
 * coordinates, and answer a chunk tile by tile (kernels/lattice_tile.h). */
#include <math.h>
#include <string.h>

#include "device.h"
#include "host/lattice/lattice.h"
#include "host/mesh/block.h"
#include "host/mesh/query.h"

typedef double wide_real; /* as in kernels/wide.h */
#include "kernels/lattice_box.h"

enum {
    CENTER = 3,           /* columns of coordinates, in the slot's inputs */
    CHUNK = 1 << 20,      /* nodes of a chunk, about */
    CHUNK_MOST = 1 << 22, /* where a layer of tiles has more nodes than CHUNK */
    EDGE = 4,             /* of a tile in a large lattice */
    TIMED = 16,           /* most launches of a box that are timed */
    TRIANGLE = 0,
    DISTANCE = 1,
    POINT = 3 /* output columns, in the order of caromi_closest_triangle */
};

/* The user data of the stream's callbacks. Rows are numbers of nodes from the batch's first on. */
typedef struct lattice_job {
    const caromi_lattice_batch *batch;
    caromi_mesh_batch points; /* kind, mesh and outputs, for the functions of closest points */
} lattice_job;

/* ---- chunks ------------------------------------------------------------------------------------------------------ */

/* Doubles the edges of a tile, the shortest first, until it has LATTICE_TILE nodes. No edge grows beyond the box if
 * another one can. */
static void set_tiles(lattice_box *box)
{
    memset(box->shift, 0, sizeof box->shift);
    for (unsigned nodes = 1; nodes < LATTICE_TILE; nodes *= 2) {
        int shortest = -1;
        for (int axis = 0; axis < 3; axis++)
            if (1u << box->shift[axis] < box->count[axis] && (shortest < 0 || box->shift[axis] < box->shift[shortest]))
                shortest = axis;
        box->shift[shortest < 0 ? 2 : shortest]++;
    }
}

static uint64_t tiles_along(const lattice_box *box, int axis)
{
    const uint64_t edge = UINT64_C(1) << box->shift[axis];
    return (box->count[axis] + edge - 1) / edge;
}

/* The least box around a chunk's nodes. */
static lattice_box box_of(const caromi_lattice_batch *batch, uint64_t first, uint64_t count)
{
    const carom_lattice *lattice = &batch->lattice;
    const uint64_t row = lattice->dims[0], height = lattice->dims[1], number = batch->begin + first,
                   last = number + count - 1;
    const uint64_t low[3] = {number % row, number / row % height, number / batch->slab},
                   high[3] = {last % row, last / row % height, last / batch->slab};
    /* Along an axis the box has the nodes between, if all higher coordinates are the same; else all nodes. */
    const int one_slab = low[2] == high[2], one_row = one_slab && low[1] == high[1];
    const uint64_t begin[3] = {one_row ? low[0] : 0, one_slab ? low[1] : 0, low[2]},
                   end[3] = {one_row ? high[0] + 1 : row, one_slab ? high[1] + 1 : height, high[2] + 1};
    lattice_box box = {.spacing = lattice->spacing,
                       .at = (begin[2] * height + begin[1]) * row + begin[0] - number,
                       .row = row,
                       .slab = batch->slab,
                       .elements = count};
    for (int axis = 0; axis < 3; axis++) {
        box.origin[axis] = lattice->origin[axis];
        box.first[axis] = lattice->first[axis] + begin[axis];
        box.count[axis] = (unsigned)(end[axis] - begin[axis]);
    }
    set_tiles(&box);
    for (int axis = 0; axis < 2; axis++)
        box.tiles[axis] = (unsigned)tiles_along(&box, axis);
    return box;
}

/* On a GPU whole layers of tiles, if one is no more than CHUNK_MOST nodes; else whole rows of tiles; else any. */
static uint64_t chunk_of(const caromi_device *device, const caromi_lattice_batch *batch)
{
    const uint64_t layer = batch->slab <= CHUNK_MOST / EDGE ? EDGE * batch->slab : CHUNK_MOST + 1;
    const uint64_t row = batch->lattice.dims[0], rows = row <= CHUNK / 8 ? 8 * row : 1;
    return !device->gpu         ? device->max_items
           : layer > CHUNK_MOST ? CHUNK / rows * rows
           : layer > CHUNK      ? layer
                                : CHUNK / layer * layer;
}

/* Reserves the columns of coordinates, which only the kernel of closest points reads. */
static carom_status reserve_nodes(caromi_device *device, caromi_cl_slot *slot, uint64_t count, carom_error *err)
{
    for (int k = 0; k < CENTER; k++)
        CHECK(caromi_reserve(device, slot, &slot->in[k], count * sizeof(float), CAROMI_NO_HOST_POINTER, err));
    return CAROM_OK;
}

/* Launches some tiles of a chunk. is_timed: the statistics have its time. */
static carom_status launch_tiles(caromi_device *device, caromi_cl_slot *slot, const lattice_job *job,
                                 const lattice_box *box, uint64_t first, uint64_t tiles, int is_timed, carom_error *err)
{
    const caromi_lattice_batch *batch = job->batch;
    const cl_int stores_nodes = caromi_wants_points(&job->points);
    caromi_arguments arguments =
        caromi_arguments_of(device, CAROMI_PROGRAM_LATTICE_TILE + (uint32_t)(batch->exact != 0));
    caromi_set_tree(device, &arguments, batch->mesh, job->points.options);
    caromi_set_argument(&arguments, box, sizeof *box);
    caromi_set_uint(&arguments, first);
    caromi_set_argument(&arguments, &batch->band, sizeof batch->band);
    caromi_set_argument(&arguments, &stores_nodes, sizeof stores_nodes);
    for (int k = 0; k < CENTER; k++)
        caromi_set_column(&arguments, stores_nodes ? &slot->in[k] : &slot->out[DISTANCE]); /* any: not written */
    caromi_set_columns(&arguments, slot->out, DISTANCE + 1);
    return is_timed ? caromi_launch_groups(device, slot, &arguments, tiles, LATTICE_TILE, err)
                    : caromi_launch(device, slot->queue, &arguments, tiles * LATTICE_TILE, LATTICE_TILE, NULL, err);
}

/* Launches all tiles of a box. Launches of limited size take a limited time; a slot has room for few events. */
static carom_status launch_box(caromi_device *device, caromi_cl_slot *slot, const lattice_job *job,
                               const lattice_box *box, carom_error *err)
{
    const uint64_t tiles = tiles_along(box, 0) * tiles_along(box, 1) * tiles_along(box, 2),
                   most = device->max_items / LATTICE_TILE;
    for (uint64_t first = 0; first < tiles; first += most)
        CHECK(launch_tiles(device, slot, job, box, first, tiles - first < most ? tiles - first : most,
                           first < TIMED * most, err));
    return CAROM_OK;
}

/* Launches the tiles of a chunk and, if they are wanted, its points. A chunk that is shorter than a slab, or a row, is
 * cut where that ends: a box around both parts would be as large as the slab, or the row. */
static carom_status launch(caromi_device *device, caromi_cl_slot *slot, const void *user, carom_error *err)
{
    const lattice_job *job = user;
    const caromi_lattice_batch *batch = job->batch;
    const uint64_t row = batch->lattice.dims[0], end = slot->first + slot->count,
                   cut = row > slot->count           ? row
                         : batch->slab > slot->count ? batch->slab
                                                     : UINT64_MAX;
    if (caromi_wants_points(&job->points))
        CHECK(reserve_nodes(device, slot, slot->count, err));
    for (uint64_t first = slot->first, count; first < end; first += count) {
        const uint64_t left = cut - (batch->begin + first) % cut;
        count = left < end - first ? left : end - first;
        lattice_box box = box_of(batch, first, count);
        box.at += first - slot->first;
        box.elements = slot->count;
        CHECK(launch_box(device, slot, job, &box, err));
    }
    return caromi_wants_points(&job->points) ? caromi_launch_points(device, slot, &job->points, err) : CAROM_OK;
}

/* ---- undecided nodes --------------------------------------------------------------------------------------------- */

/* Answers rows by closest-point queries, whose limit is the band. */
static carom_status answer_rows(const carom_context *context, const void *user, const caromi_in_column *in,
                                const caromi_out_column *out, uint64_t first, const uint32_t *rows, uint64_t count,
                                carom_stats *stats, carom_error *err)
{
    static const float none = 0;
    const lattice_job *job = user;
    const caromi_lattice_batch *batch = job->batch;
    const caromi_mesh_kind *kind = job->points.kind;
    caromi_mesh_batch queries = job->points;
    float *at = caromi_alloc(context, count, CENTER * sizeof *at);
    (void)in; /* the stream has none */
    if (at == NULL)
        return caromi_fail_memory(err, "no memory for %llu undecided nodes", (unsigned long long)count);
    for (uint64_t i = 0; i < count; i++)
        caromi_lattice_columns(&batch->lattice, batch->begin + first + rows[i], 1, &at[i], &at[count + i],
                               &at[2 * count + i]);
    for (int k = 0; k < CENTER; k++)
        queries.in[MESH_CX + k] = (caromi_in_column){.base = at + (uint64_t)k * count, .stride = sizeof *at};
    queries.in[MESH_RADIUS] = (caromi_in_column){.base = &none};
    queries.in[MESH_MAX_DISTANCE] = (caromi_in_column){.base = &batch->band};
    queries.count = count;
    memset(queries.out, 0, sizeof queries.out);
    for (uint32_t k = 0; k < (caromi_wants_points(&job->points) ? kind->out : kind->search_out); k++)
        queries.out[kind->answer[k]] = out[k];
    const carom_status status = caromi_cpu_mesh(context, &queries, 0, count, stats, err);
    float *distance = queries.out[CAROMI_ANSWER_KEY].base;
    for (uint64_t i = 0; status == CAROM_OK && distance != NULL && i < count; i++)
        distance[i] = distance[i] > batch->band ? batch->band : distance[i];
    caromi_free(context, at);
    return status;
}

/* Decides an undecided row in integers. triangle: its own, if only the point is undecided. */
static void resolve_row(const lattice_job *job, uint64_t row, int is_open, int32_t triangle)
{
    const caromi_lattice_batch *batch = job->batch;
    const caromi_mesh_batch *points = &job->points;
    caromi_mesh_query query = {.mask = -1, .options = points->options};
    caromi_mesh_answer answer = {.triangle = triangle};
    caromi_lattice_columns(&batch->lattice, batch->begin + row, 1, &query.in[MESH_CX], &query.in[MESH_CX + 1],
                           &query.in[MESH_CX + 2]);
    query.in[MESH_MAX_DISTANCE] = batch->band;
    if (is_open) {
        points->kind->resolve(&points->mesh->view, &query, &answer);
        if (answer.triangle < 0)
            answer.key = batch->band;
        caromi_store_answer(points, 0, points->kind->search_out, &answer, row);
    }
    if (caromi_wants_points(points))
        caromi_resolve_points(points, query.in, answer.triangle, row);
}

/* Decides the undecided ones among delivered rows. */
static uint64_t resolve(const void *user, const void *const *marks, const uint64_t *rows, uint64_t first, size_t count)
{
    const lattice_job *job = user;
    const int32_t *triangles = marks[0];
    const float *distances = marks[1], *points = caromi_wants_points(&job->points) ? marks[2] : distances;
    uint64_t found = 0;
    (void)rows; /* consecutive */
    for (size_t i = 0; i < count; i++)
        if (isnan(distances[i]) || isnan(points[i])) {
            resolve_row(job, first + i, isnan(distances[i]), triangles[i]);
            found++;
        }
    return found;
}

static uint32_t list_undecided(const void *user, const void *const *marks, uint32_t count, uint32_t *rows)
{
    const lattice_job *job = user;
    return caromi_undecided_mesh_batch(&job->points, marks, count, rows);
}
static const caromi_undecided undecided_nodes = {list_undecided, answer_rows};

/* Checks the triangles of a chunk. */
static carom_status check_triangles(const caromi_device *device, const void *user, const void *triangles, size_t stride,
                                    uint64_t count, uint64_t first, uint64_t end, carom_error *err)
{
    return caromi_check_triangles(device, ((const lattice_job *)user)->points.mesh, triangles, stride, count, first,
                                  end, err);
}

/* ---- the stream -------------------------------------------------------------------------------------------------- */

carom_status caromi_stream_lattice(caromi_device *device, const caromi_lattice_batch *batch, uint64_t end,
                                   uint64_t *done, carom_stats *stats, carom_error *err)
{
    lattice_job job = {.batch = batch,
                       .points = {.kind = &caromi_closest_triangle,
                                  .mesh = batch->mesh,
                                  .exact = batch->exact,
                                  .options = batch->mesh->masks != NULL ? MESH_TRIANGLE_MASKS : 0}};
    const caromi_mesh_kind *kind = job.points.kind;
    memcpy(job.points.out, batch->out, sizeof job.points.out);
    const int wants_points = caromi_wants_points(&job.points);
    caromi_out_column out[CAROMI_ANSWERS];
    uint64_t answered = *done - batch->begin;
    const uint64_t before = answered;
    caromi_stream stream = {.count = end - batch->begin,
                            .chunk = chunk_of(device, batch),
                            .answers_any_count = 1,
                            .out_count = wants_points ? kind->out : kind->search_out,
                            .out = out,
                            .mark = {TRIANGLE, DISTANCE, POINT},
                            .mark_count = !batch->exact  ? 1
                                          : wants_points ? 3
                                                         : 2,
                            .resolve = batch->exact ? resolve : NULL,
                            .undecided = batch->exact ? &undecided_nodes : NULL,
                            .extra = wants_points ? CENTER * sizeof(float) : 0,
                            .check = check_triangles,
                            .launch = launch,
                            .user = &job};
    for (uint32_t k = 0; k < stream.out_count; k++) {
        out[k] = batch->out[kind->answer[k]];
        stream.out_size[k] = (uint8_t)caromi_answer_size(kind->answer[k]);
    }
    const carom_status status = caromi_stream_past(device, batch->mesh, &stream, &answered, stats, err);
    *done += answered - before;
    return status;
}

/* A GPU of one lane with binary64; CPU devices only where the caller wants one lane. */
int caromi_lattice_serves(const caromi_device *device)
{
    const int is_meant = device->gpu || device->context->desc.device_lanes == 1;
    return is_meant && device->lanes == 1 && device->info.fp64 && device->max_group >= LATTICE_TILE;
}

carom_status caromi_device_lattice(caromi_device *device, const void *lattice_batch, uint64_t end, uint64_t *done,
                                   carom_stats *stats, carom_error *err)
{
    const caromi_lattice_batch *batch = lattice_batch;
    caromi_fit_stack(device, batch->mesh);
    CHECK(caromi_probe_lattice(device, batch, err));
    return caromi_stream_lattice(device, batch, end, done, stats, err);
}
