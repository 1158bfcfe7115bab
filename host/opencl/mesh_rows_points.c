/* SPDX-License-Identifier: MIT */
/* Points, normals and features of the hits of a list whose arrays stay on the device: the point kernel of first hits,
 * on the queries and triangles of the hits. */
#include <string.h>

#include "mesh_rows.h"

#include "host/mesh/block.h"
#include "host/mesh/mesh.h"

/* Columns of the slot's unused outputs: column 0 serves what the host reads. */
enum { POINT_IN = 1, POINT_TRIANGLE = POINT_IN + MESH_T_MAX, POINT_OUT, POINT_END = POINT_OUT + OUT_CONTACT };
_Static_assert((int)POINT_END <= (int)COLUMNS_MAX, "columns of the point kernel");

static size_t size_of(uint32_t column)
{
    return column == OUT_FEATURE ? 1 : sizeof(float);
}

static cl_mem column_of(const caromi_rows *rows, uint32_t column)
{
    return rows->job.slot->out[column].memory;
}

/* Input columns of the point kernel. */
static uint32_t columns_of(const caromi_rows *rows)
{
    return rows->batch->contacts != NULL ? MESH_RADIUS : MESH_T_MAX;
}

/* Gathers queries and triangles of hits [first, first + count), and enqueues the kernel. */
static carom_status compute(const caromi_rows *rows, uint64_t first, uint32_t count, carom_error *err)
{
    caromi_device *device = rows->job.device;
    caromi_cl_slot *slot = rows->job.slot;
    const caromi_mesh_batch *sweep = &rows->batch->sweep;
    const caromi_resident triangles = {*caromi_grid_memory_of(&rows->job, CAROMI_ROWS_SORTED_TRIANGLE), 0};
    const uint32_t columns = columns_of(rows);
    caromi_arguments arguments = caromi_arguments_of(device, caromi_batch_points_program(sweep));
    caromi_resident from[MESH_T_MAX];
    cl_mem to[MESH_T_MAX];
    for (uint32_t k = POINT_IN; k < POINT_END; k++)
        CHECK(caromi_reserve(device, slot, &slot->out[k], count * sizeof(float), CAROMI_NO_HOST_POINTER, err));
    for (uint32_t k = 0; k < columns; k++) {
        from[k] = (caromi_resident){caromi_column_memory(&slot->in[k]), 0};
        to[k] = column_of(rows, POINT_IN + k);
    }
    CHECK(caromi_gather_words(device, slot->queue, from, sizeof(float), to, columns,
                              caromi_grid_memory_of(&rows->job, CAROMI_ROWS_SORTED_ROW), first, count, err));
    const cl_mem triangle = column_of(rows, POINT_TRIANGLE);
    CHECK(caromi_gather_words(device, slot->queue, &triangles, sizeof(cl_int), &triangle, 1, NULL, first, count, err));
    caromi_set_triangles(device, &arguments, sweep->mesh);
    if (rows->batch->contacts == NULL)
        caromi_set_argument(&arguments, &sweep->options, sizeof sweep->options);
    caromi_set_columns(&arguments, &slot->out[POINT_IN], columns);
    caromi_set_column(&arguments, &slot->out[POINT_TRIANGLE]);
    caromi_set_columns(&arguments, &slot->out[POINT_OUT], OUT_CONTACT);
    return caromi_grid_launch(&rows->job, &arguments, count, err);
}

/* ---- undecided points -------------------------------------------------------------------------------------------- */

/* Inputs and triangles of undecided points, then the answers. */
typedef struct point_copy {
    float *column[POINT_END];
    uint32_t *scratch;
} point_copy;

/* Decides points on the host, and stores them in the kernel's columns. */
static carom_status decide(caromi_rows *rows, const point_copy *copy, carom_error *err)
{
    caromi_device *device = rows->job.device;
    caromi_cl_slot *slot = rows->job.slot;
    const uint32_t count = rows->report.undecided;
    const cl_mem *index = caromi_grid_memory_of(&rows->job, CAROMI_ROWS_UNDECIDED);
    caromi_mesh_batch batch = rows->batch->sweep;
    const uint32_t columns = columns_of(rows);
    cl_mem in[MESH_T_MAX + 1];
    float *to[MESH_T_MAX + 1];
    for (uint32_t k = 0; k <= columns; k++) {
        in[k] = column_of(rows, k < columns ? POINT_IN + k : POINT_TRIANGLE);
        to[k] = copy->column[k < columns ? POINT_IN + k : POINT_TRIANGLE];
    }
    CHECK(caromi_rows_fetch_points(rows, in, columns + 1, to, copy->scratch, err));
    memset(batch.out, 0, sizeof batch.out);
    for (uint32_t k = 0; k < OUT_CONTACT; k++)
        batch.out[CAROMI_ANSWER_POINT + k] = (caromi_out_column){copy->column[POINT_OUT + k], size_of(k)};
    for (uint32_t i = 0; i < count; i++) {
        float query[CAROMI_MESH_IN] = {0};
        int32_t triangle;
        for (uint32_t k = 0; k < columns; k++)
            query[k] = copy->column[POINT_IN + k][i];
        memcpy(&triangle, &copy->column[POINT_TRIANGLE][i], sizeof triangle);
        if ((uint32_t)triangle >= batch.mesh->info.triangle_count)
            return caromi_fail_corrupt(device, "triangles", rows->first, rows->first + rows->rows, err);
        caromi_resolve_points(&batch, query, triangle, i);
    }
    CHECK(caromi_reserve(device, slot, &slot->out[0], count * sizeof(float), CAROMI_NO_HOST_POINTER, err));
    for (uint32_t k = 0; k < OUT_CONTACT; k++) {
        const caromi_resident decided = {column_of(rows, POINT_OUT + k), 0};
        CHECK(caromi_write_at(device, slot->queue, slot->out[0].memory, CAROMI_BEGIN, copy->column[POINT_OUT + k],
                              count * size_of(k), "decided points", err));
        CHECK(caromi_scatter_column(device, slot, slot->out[0].memory,
                                    size_of(k) == 1 ? RESIDENT_BYTES : RESIDENT_WORDS, &decided, size_of(k), index, 0,
                                    count, err));
    }
    return CAROM_OK;
}

/* Exact mode: decides the points that the kernel leaves undecided. */
static carom_status decide_points(caromi_rows *rows, uint64_t first, uint32_t count, carom_error *err)
{
    const carom_context *context = rows->job.device->context;
    caromi_arguments list = caromi_arguments_of(rows->job.device, CAROMI_PROGRAM_ROWS_POINTS);
    const cl_mem x = column_of(rows, POINT_OUT);
    CHECK(caromi_grid_reserve(&rows->job, CAROMI_ROWS_UNDECIDED, count, WORD, err));
    CHECK(caromi_grid_reserve(&rows->job, CAROMI_ROWS_UNDECIDED_OF, count, WORD, err));
    caromi_set_argument(&list, &x, sizeof x);
    caromi_grid_set_memory(&rows->job, &list, CAROMI_ROWS_SORTED_ROW);
    caromi_set_uint(&list, first);
    caromi_grid_set_memory(&rows->job, &list, CAROMI_ROWS_REPORT);
    caromi_grid_set_memory(&rows->job, &list, CAROMI_ROWS_UNDECIDED);
    caromi_grid_set_memory(&rows->job, &list, CAROMI_ROWS_UNDECIDED_OF);
    CHECK(caromi_grid_launch_each(&rows->job, &list, count, err));
    CHECK(caromi_rows_report(rows, err));
    const uint32_t undecided = rows->report.undecided;
    if (undecided == 0)
        return CAROM_OK;
    float *memory = caromi_alloc(context, undecided, (POINT_END + 1) * sizeof *memory);
    point_copy copy = {.scratch = (uint32_t *)(void *)memory};
    if (memory == NULL)
        return caromi_fail_memory(err, "no memory for %u undecided points", undecided);
    for (size_t k = 0; k < POINT_END; k++)
        copy.column[k] = memory + (k + 1) * undecided;
    const double start = caromi_now();
    carom_status status = caromi_mesh_bring(rows->batch->sweep.mesh, err);
    if (status == CAROM_OK)
        status = decide(rows, &copy, err);
    rows->job.stats->host += caromi_now() - start;
    caromi_free(context, memory);
    return status;
}

/* ---- out --------------------------------------------------------------------------------------------------------- */

/* Writes a column of `count` hits to the caller's array, from element `first` on. */
static carom_status put(const caromi_rows *rows, uint32_t k, uint64_t first, uint32_t count, void *scratch,
                        carom_error *err)
{
    caromi_device *device = rows->job.device;
    const cl_command_queue queue = rows->job.slot->queue;
    const caromi_out_column *to = &rows->batch->sweep.out[CAROMI_ANSWER_POINT + k];
    const caromi_resident at = caromi_resident_at(device, to->base);
    const cl_mem from = column_of(rows, POINT_OUT + k);
    const uint32_t kind = size_of(k) == 1 ? RESIDENT_BYTES : RESIDENT_WORDS;
    if (to->base == NULL)
        return CAROM_OK;
    if (at.memory != NULL)
        return caromi_scatter_column(device, rows->job.slot, from, kind, &at, to->stride, NULL, first, count, err);
    CHECK(
        caromi_read(device, queue, from, CAROMI_BEGIN, scratch, count * size_of(k), CAROMI_WAIT, NULL, "points", err));
    caromi_scatter(to, first, scratch, count, size_of(k));
    return CAROM_OK;
}

carom_status caromi_rows_points(caromi_rows *rows, carom_error *err)
{
    const carom_context *context = rows->job.device->context;
    const uint64_t stored = rows->job.totals.stored, before = rows->batch->list->totals->stored;
    const uint64_t most = stored < rows->job.device->max_items ? stored : rows->job.device->max_items;
    carom_status status = CAROM_OK;
    float *scratch = caromi_alloc(context, most, sizeof *scratch);
    if (scratch == NULL)
        return caromi_fail_memory(err, "no memory for the points of %llu hits", (unsigned long long)most);
    for (uint64_t first = 0; status == CAROM_OK && first < stored; first += most) {
        const uint32_t count = (uint32_t)(stored - first < most ? stored - first : most);
        status = compute(rows, first, count, err);
        if (status == CAROM_OK && rows->batch->sweep.exact)
            status = decide_points(rows, first, count, err);
        for (uint32_t k = 0; status == CAROM_OK && k < OUT_CONTACT; k++)
            status = put(rows, k, before + first, count, scratch, err);
        if (status == CAROM_OK)
            status = caromi_slot_settle(rows->job.device, rows->job.slot, rows->job.stats, err);
    }
    caromi_free(context, scratch);
    return status;
}
