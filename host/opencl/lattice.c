/* SPDX-License-Identifier: MIT */
/* Distances of lattice nodes (host/lattice/lattice.h) on a GPU: a stream without inputs. Kernels compute the nodes'
 * coordinates, and answer a chunk tile by tile (kernels/lattice_tile.h). */
#include <math.h>
#include <string.h>

#include "host/lattice/inside.h"
#include "host/mesh/block.h"
#include "abilities.h"
#include "lattice.h"
#include "host/mesh/query.h"

enum {
    CENTER = 3,           /* columns of coordinates, in the slot's inputs */
    CHUNK = 1 << 20,      /* nodes of a chunk, about */
    CHUNK_MOST = 1 << 22, /* where a layer of tiles has more nodes than CHUNK */
    BOX_MOST = 3,         /* nodes of a box for each node of its chunk: two more slabs, or rows */
    EDGE = 4,             /* of a tile in a large lattice */
    DEEPEST = 1 << 16,    /* slabs of a chunk with signs: a work-item adds up a column of these */
    TIMED = 8,            /* most launches of a kind and a box that are timed: a slot has room for few events */
    GROUPS = 2048,        /* that fill a device, when few columns are shared by several */
    LEAVES_LEAST = 32,    /* of a share */
    LEAVES_MOST = 1 << 15,
    TRIANGLE = 0,
    DISTANCE = 1,
    POINT = 3 /* output columns, in the order of caromi_closest_triangle */
};

/* ---- chunks ------------------------------------------------------------------------------------------------------ */

static uint64_t tiles_along(const lattice_box *box, int axis)
{
    const uint64_t edge = UINT64_C(1) << box->shift[axis];
    return (box->count[axis] + edge - 1) / edge;
}

/* Doubles the edges of a tile along the first `axes` axes, the shortest first, until it has LATTICE_TILE nodes, or
 * columns. No edge grows beyond the box if another one can. */
static void set_tiles(lattice_box *box, int axes)
{
    memset(box->shift, 0, sizeof box->shift);
    for (unsigned nodes = 1; nodes < LATTICE_TILE; nodes *= 2) {
        int shortest = -1;
        for (int axis = 0; axis < axes; axis++)
            if (1u << box->shift[axis] < box->count[axis] && (shortest < 0 || box->shift[axis] < box->shift[shortest]))
                shortest = axis;
        box->shift[shortest < 0 ? axes - 1 : shortest]++;
    }
    for (int axis = 0; axis < 2; axis++)
        box->tiles[axis] = (unsigned)tiles_along(box, axis);
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
    set_tiles(&box, 3);
    return box;
}

/* On a GPU whole layers of tiles, if one is no more than CHUNK_MOST nodes; else whole rows of tiles; else any. With
 * signs a chunk is as large as may be, because each looks at all that is above it, but not so deep that a launch takes
 * long. */
uint64_t caromi_lattice_chunk(const caromi_device *device, const caromi_lattice_batch *batch)
{
    const uint64_t deep = batch->slab < CHUNK_MOST / DEEPEST ? DEEPEST * batch->slab : CHUNK_MOST,
                   wanted = batch->sign != CAROM_SIGN_NONE ? deep : CHUNK;
    const uint64_t layer = batch->slab <= CHUNK_MOST / EDGE ? EDGE * batch->slab : CHUNK_MOST + 1;
    const uint64_t row = batch->lattice.dims[0], rows = row <= CHUNK / 8 ? 8 * row : 1;
    return !device->gpu         ? device->max_items
           : layer > CHUNK_MOST ? wanted / rows * rows
           : layer > wanted     ? layer
                                : wanted / layer * layer;
}

caromi_lattice_job caromi_lattice_job_of(const caromi_lattice_batch *batch)
{
    return (caromi_lattice_job){.batch = batch,
                                .points = {.kind = &caromi_closest_triangle,
                                           .mesh = batch->mesh,
                                           .exact = batch->exact,
                                           .options = batch->mesh->masks != NULL ? MESH_TRIANGLE_MASKS : 0}};
}

/* Reserves the columns of coordinates, which only the kernel of closest points reads. */
static carom_status reserve_nodes(caromi_device *device, caromi_cl_slot *slot, uint64_t count, carom_error *err)
{
    for (int k = 0; k < CENTER; k++)
        CHECK(caromi_reserve(device, slot, &slot->in[k], count * sizeof(float), CAROMI_NO_HOST_POINTER, err));
    return CAROM_OK;
}

/* ---- launches ---------------------------------------------------------------------------------------------------- */

/* Launches `groups` work-groups, in launches of limited size, which take a limited time. The kernel's argument
 * `first_argument` is the number of the launch's first group. The last launch is among the timed ones, because the host
 * waits for these. */
static carom_status launch_groups(caromi_device *device, caromi_cl_slot *slot, const caromi_arguments *of,
                                  cl_uint first_argument, uint64_t groups, carom_error *err)
{
    const uint64_t most = device->max_items / LATTICE_TILE;
    for (uint64_t first = 0; first < groups; first += most) {
        const uint64_t count = groups - first < most ? groups - first : most;
        caromi_arguments arguments = *of;
        arguments.next = first_argument;
        caromi_set_uint(&arguments, first);
        arguments.next = of->next;
        CHECK(first < (TIMED - 1) * most || count == groups - first
                  ? caromi_launch_groups(device, slot, &arguments, count, LATTICE_TILE, err)
                  : caromi_launch(device, slot->queue, &arguments, count * LATTICE_TILE, LATTICE_TILE, NULL, err));
    }
    return CAROM_OK;
}

/* Launches all tiles of a box. */
static carom_status launch_tiles(caromi_device *device, caromi_cl_slot *slot, const caromi_lattice_job *job,
                                 const lattice_box *box, const caromi_cl_column *answers, carom_error *err)
{
    const caromi_lattice_batch *batch = job->batch;
    const cl_int stores_nodes = caromi_wants_points(&job->points), is_signed = batch->sign != CAROM_SIGN_NONE;
    const uint64_t tiles = tiles_along(box, 0) * tiles_along(box, 1) * tiles_along(box, 2);
    caromi_arguments arguments =
        caromi_arguments_of(device, CAROMI_PROGRAM_LATTICE_TILE + (uint32_t)(batch->exact != 0));
    caromi_set_tree(device, &arguments, batch->mesh, job->points.options);
    caromi_set_argument(&arguments, box, sizeof *box);
    const cl_uint first = arguments.next++;
    caromi_set_argument(&arguments, &batch->band, sizeof batch->band);
    caromi_set_int(&arguments, is_signed);
    caromi_set_column(&arguments, is_signed ? &slot->levels : &answers[TRIANGLE]); /* any: not read */
    caromi_set_int(&arguments, stores_nodes);
    for (int k = 0; k < CENTER; k++)
        caromi_set_column(&arguments, stores_nodes ? &slot->in[k] : &answers[DISTANCE]); /* any: not written */
    caromi_set_columns(&arguments, answers, DISTANCE + 1);
    return launch_groups(device, slot, &arguments, first, tiles, err);
}

/* The logarithm of the number of parts in which groups share the leaves: enough for all of the device, and none with
 * very many leaves. */
static cl_uint shares_of(const carom_mesh *mesh, uint64_t tiles)
{
    cl_uint log2 = 0;
    while (mesh->leaf_count >> log2 > LEAVES_MOST ||
           (tiles << log2 < GROUPS && mesh->leaf_count >> log2 > LEAVES_LEAST))
        log2++;
    return log2;
}

/* Finds the nodes of a box that are inside the mesh. */
static carom_status launch_inside(caromi_device *device, caromi_cl_slot *slot, const caromi_lattice_job *job,
                                  const lattice_box *box, carom_error *err)
{
    const caromi_lattice_batch *batch = job->batch;
    const uint64_t columns = (uint64_t)box->count[0] * box->count[1], nodes = columns * box->count[2];
    lattice_box of_columns = *box;
    lattice_rays rays;
    (void)caromi_lattice_rays(
        batch, carom_lattice_coordinate(&batch->lattice, AXIS_Z, box->first[2] - batch->lattice.first[2]), &rays);
    for (int axis = 0; axis < 2; axis++) {
        rays.first[axis] = (float)(box->first[axis] - batch->lattice.first[axis]);
        rays.end[axis] = rays.first[axis] + (float)box->count[axis];
    }
    set_tiles(&of_columns, 2);
    /* No crossings yet. */
    CHECK(caromi_reserve(device, slot, &slot->levels, (nodes + 1) * sizeof(cl_int), CAROMI_NO_HOST_POINTER, err));
    caromi_arguments clear = caromi_arguments_of(device, CAROMI_PROGRAM_LATTICE_CLEAR);
    caromi_set_column(&clear, &slot->levels);
    CHECK(caromi_launch_chunk(device, slot, &clear, nodes + 1, err));
    /* The crossings of each column. */
    const uint64_t tiles = tiles_along(&of_columns, 0) * tiles_along(&of_columns, 1);
    const cl_uint shares_log2 = shares_of(batch->mesh, tiles);
    caromi_arguments arguments = caromi_arguments_of(device, CAROMI_PROGRAM_LATTICE_COLUMNS);
    caromi_set_tree(device, &arguments, batch->mesh, job->points.options);
    caromi_set_argument(&arguments, &of_columns, sizeof of_columns);
    caromi_set_argument(&arguments, &rays, sizeof rays);
    const cl_uint first = arguments.next++;
    caromi_set_uint(&arguments, shares_log2);
    caromi_set_column(&arguments, &slot->levels);
    CHECK(launch_groups(device, slot, &arguments, first, tiles << shares_log2, err));
    /* Their sums from above. */
    caromi_arguments inside = caromi_arguments_of(device, CAROMI_PROGRAM_LATTICE_INSIDE);
    caromi_set_argument(&inside, box, sizeof *box);
    caromi_set_int(&inside, batch->sign == CAROM_SIGN_PARITY);
    caromi_set_column(&inside, &slot->levels);
    return caromi_launch_chunk(device, slot, &inside, columns, err);
}

/* A chunk that is shorter than a slab, or a row, is cut where that ends: a box around both parts would be as large as
 * the slab, or the row. */
carom_status caromi_launch_lattice(caromi_device *device, caromi_cl_slot *slot, const caromi_lattice_job *job,
                                   const caromi_cl_column *answers, carom_error *err)
{
    const caromi_lattice_batch *batch = job->batch;
    const uint64_t row = batch->lattice.dims[0], end = slot->first + slot->count,
                   cut = row > slot->count           ? row
                         : batch->slab > slot->count ? batch->slab
                                                     : UINT64_MAX;
    for (uint64_t first = slot->first, count; first < end; first += count) {
        const uint64_t left = cut - (batch->begin + first) % cut;
        count = left < end - first ? left : end - first;
        lattice_box box = box_of(batch, first, count);
        box.at += first - slot->first;
        box.elements = slot->count;
        if (batch->sign != CAROM_SIGN_NONE)
            CHECK(launch_inside(device, slot, job, &box, err));
        CHECK(launch_tiles(device, slot, job, &box, answers, err));
    }
    return CAROM_OK;
}

/* Launches the tiles of a chunk and, if they are wanted, its points. */
static carom_status launch(caromi_device *device, caromi_cl_slot *slot, const void *user, carom_error *err)
{
    const caromi_lattice_job *job = user;
    const int wants_points = caromi_wants_points(&job->points);
    if (wants_points)
        CHECK(reserve_nodes(device, slot, slot->count, err));
    CHECK(caromi_launch_lattice(device, slot, job, slot->out, err));
    return wants_points ? caromi_launch_points(device, slot, &job->points, err) : CAROM_OK;
}

/* ---- undecided nodes --------------------------------------------------------------------------------------------- */

/* The distance of a node with its sign, if there is one. A zero stays +0. */
static float signed_of(const caromi_lattice_batch *batch, uint64_t node, float distance)
{
    return batch->sign != CAROM_SIGN_NONE && caromi_inside_node(batch->inside, node) ? 0.0f - distance : distance;
}

/* Answers rows by closest-point queries, whose limit is the band. */
static carom_status answer_rows(const carom_context *context, const void *user, const caromi_in_column *in,
                                const caromi_out_column *out, uint64_t first, const uint32_t *rows, uint64_t count,
                                carom_stats *stats, carom_error *err)
{
    static const float none = 0;
    const caromi_lattice_job *job = user;
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
        distance[i] =
            signed_of(batch, batch->begin + first + rows[i], distance[i] > batch->band ? batch->band : distance[i]);
    caromi_free(context, at);
    return status;
}

/* Decides an undecided row in integers. triangle: its own, if only the point is undecided. */
static void resolve_row(const caromi_lattice_job *job, uint64_t row, int is_open, int32_t triangle)
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
        answer.key = signed_of(batch, batch->begin + row, answer.key);
        caromi_store_answer(points, 0, points->kind->search_out, &answer, row);
    }
    if (caromi_wants_points(points))
        caromi_resolve_points(points, query.in, answer.triangle, row);
}

/* Decides the undecided ones among delivered rows. */
static caromi_rungs resolve(const void *user, const void *const *marks, const uint64_t *rows, uint64_t first,
                            size_t count)
{
    const caromi_lattice_job *job = user;
    const int32_t *triangles = marks[0];
    const float *distances = marks[1], *points = caromi_wants_points(&job->points) ? marks[2] : distances;
    caromi_rungs rungs = {0, 0};
    (void)rows; /* consecutive */
    for (size_t i = 0; i < count; i++)
        if (isnan(distances[i]) || isnan(points[i])) {
            resolve_row(job, first + i, isnan(distances[i]), triangles[i]);
            rungs.integers++;
        }
    return rungs;
}

static uint32_t list_undecided(const void *user, const void *const *marks, uint32_t count, uint32_t *rows)
{
    const caromi_lattice_job *job = user;
    return caromi_undecided_mesh_batch(&job->points, marks, count, rows);
}
static const caromi_undecided undecided_nodes = {list_undecided, answer_rows};

/* Checks the triangles of a chunk. */
static carom_status check_triangles(const caromi_device *device, const void *user, const void *triangles, size_t stride,
                                    uint64_t count, uint64_t first, uint64_t end, carom_error *err)
{
    return caromi_check_triangles(device, ((const caromi_lattice_job *)user)->points.mesh, triangles, stride, count,
                                  first, end, err);
}

/* ---- the stream -------------------------------------------------------------------------------------------------- */

carom_status caromi_stream_lattice(caromi_device *device, const caromi_lattice_batch *batch, uint64_t end,
                                   uint64_t *done, carom_stats *stats, carom_error *err)
{
    caromi_lattice_job job = caromi_lattice_job_of(batch);
    const caromi_mesh_kind *kind = job.points.kind;
    memcpy(job.points.out, batch->out, sizeof job.points.out);
    const int wants_points = caromi_wants_points(&job.points);
    caromi_out_column out[CAROMI_ANSWERS];
    uint64_t answered = *done - batch->begin;
    const uint64_t before = answered;
    caromi_stream stream = {.count = end - batch->begin,
                            .chunk = caromi_lattice_chunk(device, batch),
                            .answers_any_count = 1,
                            .out_count = wants_points ? kind->out : kind->search_out,
                            .out = out,
                            .mark = {TRIANGLE, DISTANCE, POINT},
                            .mark_count = !batch->exact  ? 1
                                          : wants_points ? 3
                                                         : 2,
                            .resolve = batch->exact ? resolve : NULL,
                            .undecided = batch->exact ? &undecided_nodes : NULL,
                            .extra = (wants_points ? CENTER * sizeof(float) : 0) +
                                     (batch->sign != CAROM_SIGN_NONE ? BOX_MOST * sizeof(cl_int) : 0),
                            .check = check_triangles,
                            .launch = launch,
                            .user = &job};
    for (uint32_t k = 0; k < stream.out_count; k++) {
        out[k] = batch->out[kind->answer[k]];
        stream.out_size[k] = (uint8_t)caromi_answer_size(kind->answer[k]);
    }
    CHECK(caromi_upload_mesh(device, batch->mesh, err));
    const carom_status status = caromi_stream_run(device, &stream, &answered, stats, err);
    *done += answered - before;
    return status;
}

/* Whether the device answers by tiles; and has binary64. */
int caromi_lattice_serves(const caromi_device *device)
{
    return caromi_has_ability(device, CAROMI_ANSWERS_TILES) && device->info.fp64 && device->max_group >= LATTICE_TILE;
}

carom_status caromi_device_lattice(caromi_device *device, const void *lattice_batch, uint64_t end, uint64_t *done,
                                   carom_stats *stats, carom_error *err)
{
    const caromi_lattice_batch *batch = lattice_batch;
    carom_error why = {CAROM_OK, 0, ""};
    caromi_fit_stack(device, batch->mesh);
    const carom_status status = caromi_probe_lattice(device, batch, &why);
    if (status != CAROM_OK)
        return caromi_leave_batch(device, CAROMI_ANSWERS_TILES, status, &why, stats, err);
    return caromi_stream_lattice(device, batch, end, done, stats, err);
}
