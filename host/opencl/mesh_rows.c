/* SPDX-License-Identifier: MIT */
/* Lists of hits whose arrays stay on the device. The kernels are in kernels/mesh_rows.cl; the prefix sum and the sort
 * of long rows are those of clouds.
 *
 * The path of a chunk:
 *   1. search    counts the candidates of each row, or finds its first hit
 *   2. sum_up    prefix sums: where the candidates of each row begin
 *   3. fill      a second pass writes the candidates as records, from which keys are made; of contacts those that are
 *                chosen (mesh_rows_contacts.c)
 *   4. decide    exact mode: the host decides the candidates that the search leaves undecided, and chooses contacts of
 *                rows that were left undecided (mesh_rows_decide.c)
 *   5. place     how many rows fit into the list; their offsets
 *   6. order     hits in the order of their rows, into the caller's arrays
 *   7. points    points and normals of the hits (mesh_rows_points.c)
 *
 * Fast mode fills only the rows that fit. A chunk for whose records there is no memory is halved, as any other. */
#include "mesh_rows.h"

#include <string.h>

#include "host/mesh/block.h"
#include "mesh_copy.h"

enum {
    RECORD_BYTES = 48, /* device memory of a candidate, about */
    ROW_BYTES = 48     /* and of a row */
};

static void set_memory(const caromi_rows *rows, caromi_arguments *arguments, uint32_t memory)
{
    caromi_grid_set_memory(&rows->job, arguments, memory);
}

static carom_status reserve(const caromi_rows *rows, uint32_t memory, uint64_t elements, size_t size, carom_error *err)
{
    return caromi_grid_reserve(&rows->job, memory, elements, size, err);
}

static uint32_t triangles_of(const caromi_rows *rows)
{
    return rows->batch->sweep.mesh->info.triangle_count;
}

carom_status caromi_rows_report(caromi_rows *rows, carom_error *err)
{
    const uint64_t end = rows->first + rows->rows;
    CHECK(caromi_grid_read_back(&rows->job, CAROMI_ROWS_REPORT, 0, &rows->report, sizeof rows->report, err));
    if (rows->report.faults & ROWS_TRUNCATED)
        return caromi_fail_truncated(rows->job.device, rows->first, end, err);
    if (rows->report.faults != 0)
        return caromi_fail_corrupt(rows->job.device, "hits", rows->first, end, err);
    return caromi_grid_clear(&rows->job, CAROMI_ROWS_REPORT, sizeof rows->report / WORD, err);
}

/* ---- search ------------------------------------------------------------------------------------------------------ */

static carom_status reserve_rows(const caromi_rows *rows, carom_error *err)
{
    static const uint32_t words[] = {CAROMI_ROWS_HITS,  CAROMI_ROWS_FROM,      CAROMI_ROWS_AGAIN,
                                     CAROMI_ROWS_LONG,  CAROMI_ROWS_TRIANGLE,  CAROMI_ROWS_T,
                                     CAROMI_ROWS_STATE, CAROMI_ROWS_UNDECIDED, CAROMI_ROWS_UNDECIDED_OF};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        CHECK(reserve(rows, words[i], rows->rows, WORD, err));
    CHECK(reserve(rows, CAROMI_ROWS_SLOTS, rows->rows, sizeof(cl_ulong), err));
    CHECK(reserve(rows, CAROMI_ROWS_TOTALS, 1, sizeof rows->job.totals, err));
    CHECK(reserve(rows, CAROMI_ROWS_REPORT, 1, sizeof rows->report, err));
    return caromi_grid_clear(&rows->job, CAROMI_ROWS_REPORT, sizeof rows->report / WORD, err);
}

/* One of the search's two passes. Its states and starts are not needed. */
static carom_status launch_pass(const caromi_rows *rows, int fills, carom_error *err)
{
    const grid_job *job = &rows->job;
    const caromi_list_pass pass = {.records =
                                       *caromi_grid_memory_of(job, fills ? CAROMI_ROWS_RECORDS : CAROMI_ROWS_HITS),
                                   .found = fills ? (cl_uint)rows->candidates : 0,
                                   .each = fills ? CAROMI_FILLS : CAROMI_COUNTS,
                                   .mask = (uint32_t)rows->batch->sweep.kind->in,
                                   .from = *caromi_grid_memory_of(job, CAROMI_ROWS_FROM),
                                   .hits = *caromi_grid_memory_of(job, fills ? CAROMI_ROWS_AGAIN : CAROMI_ROWS_HITS),
                                   .state = *caromi_grid_memory_of(job, CAROMI_ROWS_STATE),
                                   .start = *caromi_grid_memory_of(job, CAROMI_ROWS_TRIANGLE)};
    return caromi_launch_pass(job->device, job->slot, rows->batch, &pass, err);
}

static carom_status count_candidates(const caromi_rows *rows, carom_error *err)
{
    caromi_arguments check = caromi_arguments_of(rows->job.device, CAROMI_PROGRAM_ROWS_CHECK);
    CHECK(launch_pass(rows, 0, err));
    set_memory(rows, &check, CAROMI_ROWS_HITS);
    caromi_set_uint(&check, triangles_of(rows));
    set_memory(rows, &check, CAROMI_ROWS_REPORT);
    return caromi_grid_launch_each(&rows->job, &check, rows->rows, err);
}

static carom_status find_first(caromi_rows *rows, carom_error *err)
{
    caromi_device *device = rows->job.device;
    const caromi_mesh_batch *sweep = &rows->batch->sweep;
    const uint32_t program = caromi_list_program(rows->batch);
    caromi_arguments search = caromi_arguments_of(device, program),
                     count = caromi_arguments_of(device, CAROMI_PROGRAM_ROWS_FIRST);
    const uint32_t in = (uint32_t)sweep->kind->in;
    caromi_cl_slot *slot = rows->job.slot;
    CHECK(caromi_reserve_far(device, slot, program, sweep->mesh, slot->padded, err));
    const uint64_t items =
        caromi_set_search(device, slot, &search, program, sweep->mesh, sweep->options, slot->padded, in, in);
    set_memory(rows, &search, CAROMI_ROWS_TRIANGLE);
    set_memory(rows, &search, CAROMI_ROWS_STATE);
    set_memory(rows, &search, CAROMI_ROWS_T);
    CHECK(caromi_launch_search(device, slot, &search, program, items, err));
    set_memory(rows, &count, CAROMI_ROWS_TRIANGLE);
    set_memory(rows, &count, CAROMI_ROWS_T);
    caromi_set_uint(&count, triangles_of(rows));
    set_memory(rows, &count, CAROMI_ROWS_HITS);
    set_memory(rows, &count, CAROMI_ROWS_REPORT);
    set_memory(rows, &count, CAROMI_ROWS_UNDECIDED);
    set_memory(rows, &count, CAROMI_ROWS_UNDECIDED_OF);
    return caromi_grid_launch_each(&rows->job, &count, rows->rows, err);
}

static carom_status search(caromi_rows *rows, carom_error *err)
{
    const caromi_mesh_batch *sweep = &rows->batch->sweep;
    CHECK(reserve_rows(rows, err));
    CHECK(caromi_sort_chunk(rows->job.device, rows->job.slot, sweep->mesh, sweep->kind->in, sweep->options, err));
    return rows->batch->is_first ? find_first(rows, err) : count_candidates(rows, err);
}

/* ---- totals ------------------------------------------------------------------------------------------------------ */

/* Prefix sums of the rows' numbers. */
static carom_status sum_up(const caromi_rows *rows, uint32_t sums, carom_error *err)
{
    return caromi_grid_sum_up(&rows->job, CAROMI_ROWS_HITS, sums, CAROMI_PROGRAM_GRID_OFFSET, rows->rows, err);
}

/* Reads how many of the rows have at most `capacity` hits together, and lists the ones with many candidates, of which
 * there are at most `candidates`. */
static carom_status find_totals(caromi_rows *rows, uint64_t capacity, uint64_t candidates, carom_error *err)
{
    enum { FIRST = offsetof(grid_totals, long_rows) }; /* the numbers before it are of clouds */
    grid_job *job = &rows->job;
    grid_totals *t = &job->totals;
    const uint64_t long_most = candidates / GRID_LONG_ROW;
    const cl_uint room = job->long_room = (cl_uint)(long_most < rows->rows ? long_most : rows->rows);
    caromi_arguments totals = caromi_arguments_of(job->device, CAROMI_PROGRAM_GRID_TOTALS),
                     find = caromi_arguments_of(job->device, CAROMI_PROGRAM_GRID_FIND_LONG);
    CHECK(reserve(rows, CAROMI_ROWS_LONG, room, WORD, err));
    CHECK(caromi_grid_clear(job, CAROMI_ROWS_TOTALS, sizeof *t / WORD, err));
    set_memory(rows, &totals, rows->places);
    caromi_set_ulong(&totals, capacity);
    caromi_set_uint(&totals, 0);
    caromi_set_uint(&totals, rows->rows);
    set_memory(rows, &totals, CAROMI_ROWS_TOTALS);
    CHECK(caromi_grid_launch(job, &totals, 1, err));
    set_memory(rows, &find, CAROMI_ROWS_SLOTS);
    caromi_set_uint(&find, 0);
    set_memory(rows, &find, CAROMI_ROWS_LONG);
    caromi_set_uint(&find, room);
    set_memory(rows, &find, CAROMI_ROWS_TOTALS);
    CHECK(caromi_grid_launch_each(job, &find, rows->rows, err));
    CHECK(caromi_grid_read_back(job, CAROMI_ROWS_TOTALS, FIRST, &t->long_rows, sizeof *t - FIRST, err));
    return t->stored <= capacity && t->stored <= t->total && t->complete <= rows->rows &&
                   caromi_grid_rows_are_possible(job, candidates)
               ? CAROM_OK
               : caromi_fail_corrupt(job->device, "numbers of hits", rows->first, rows->first + rows->rows, err);
}

/* The records that the list still has room for: none after a query that did not fit. */
static uint64_t room_of(const caromi_rows *rows)
{
    const carom_hit_list *list = rows->batch->list;
    return list->totals->complete == rows->first ? list->capacity - list->totals->stored : 0;
}

/* ---- fill -------------------------------------------------------------------------------------------------------- */

/* The caller's column of patches, if it is wanted. */
static uint32_t *patches_of(const caromi_list_batch *batch)
{
    return batch->contacts != NULL ? batch->contacts->patch_of_hit : NULL;
}

/* Whether any column of records is wanted. */
static int wants_records(const caromi_list_batch *batch)
{
    const carom_hit_list *list = batch->list;
    return list->query != NULL || list->triangle != NULL || list->state != NULL || list->t != NULL ||
           batch->sweep.out[CAROMI_ANSWER_DEPTH].base != NULL || patches_of(batch) != NULL ||
           caromi_wants_points(&batch->sweep);
}

static carom_status reserve_records(const caromi_rows *rows, carom_error *err)
{
    const carom_device_info *info = &rows->job.device->info;
    const uint64_t count = rows->candidates;
    if (count > INT32_MAX || (info->memory != 0 && count > info->memory / 2 / RECORD_BYTES) ||
        (info->max_allocation != 0 && count > info->max_allocation / sizeof(mesh_record)))
        return caromi_fail_memory(err, "no memory for %llu hits", (unsigned long long)count);
    CHECK(reserve(rows, CAROMI_ROWS_KEYS, count, sizeof(cl_ulong), err));
    CHECK(reserve(rows, CAROMI_ROWS_OF, count, WORD, err));
    if (rows->batch->is_first)
        return CAROM_OK;
    CHECK(reserve(rows, CAROMI_ROWS_RECORDS, count, sizeof(mesh_record), err));
    const uint64_t undecided = rows->batch->sweep.exact && rows->batch->contacts == NULL ? count : 1;
    CHECK(reserve(rows, CAROMI_ROWS_UNDECIDED, undecided, WORD, err));
    return reserve(rows, CAROMI_ROWS_UNDECIDED_OF, undecided, WORD, err);
}

/* Writes the records of rows before `end`. */
static carom_status fill_records(const caromi_rows *rows, cl_uint end, carom_error *err)
{
    caromi_arguments keys = caromi_arguments_of(rows->job.device, CAROMI_PROGRAM_ROWS_KEYS),
                     again = caromi_arguments_of(rows->job.device, CAROMI_PROGRAM_ROWS_AGAIN);
    CHECK(launch_pass(rows, 1, err));
    set_memory(rows, &again, CAROMI_ROWS_HITS);
    set_memory(rows, &again, CAROMI_ROWS_FROM);
    set_memory(rows, &again, CAROMI_ROWS_AGAIN);
    set_memory(rows, &again, CAROMI_ROWS_REPORT);
    CHECK(caromi_grid_launch_each(&rows->job, &again, rows->rows, err));
    if (rows->batch->contacts != NULL)
        return caromi_rows_choose(rows, err);
    set_memory(rows, &keys, CAROMI_ROWS_RECORDS);
    set_memory(rows, &keys, CAROMI_ROWS_SLOTS);
    caromi_set_uint(&keys, end);
    caromi_set_uint(&keys, triangles_of(rows));
    caromi_set_int(&keys, rows->batch->sweep.exact);
    set_memory(rows, &keys, CAROMI_ROWS_KEYS);
    set_memory(rows, &keys, CAROMI_ROWS_OF);
    set_memory(rows, &keys, CAROMI_ROWS_REPORT);
    set_memory(rows, &keys, CAROMI_ROWS_UNDECIDED);
    set_memory(rows, &keys, CAROMI_ROWS_UNDECIDED_OF);
    return caromi_grid_launch_each(&rows->job, &keys, rows->candidates, err);
}

static carom_status key_first(const caromi_rows *rows, carom_error *err)
{
    caromi_arguments keys = caromi_arguments_of(rows->job.device, CAROMI_PROGRAM_ROWS_FIRST_KEYS);
    set_memory(rows, &keys, CAROMI_ROWS_FROM);
    set_memory(rows, &keys, CAROMI_ROWS_TRIANGLE);
    set_memory(rows, &keys, CAROMI_ROWS_T);
    set_memory(rows, &keys, CAROMI_ROWS_STATE);
    caromi_set_uint(&keys, triangles_of(rows));
    set_memory(rows, &keys, CAROMI_ROWS_KEYS);
    set_memory(rows, &keys, CAROMI_ROWS_OF);
    set_memory(rows, &keys, CAROMI_ROWS_REPORT);
    return caromi_grid_launch_each(&rows->job, &keys, rows->rows, err);
}

/* Makes the keys of the candidates of rows before `end`. */
static carom_status fill(caromi_rows *rows, cl_uint end, uint64_t candidates, carom_error *err)
{
    caromi_arguments slots = caromi_arguments_of(rows->job.device, CAROMI_PROGRAM_ROWS_SLOTS);
    rows->candidates = candidates;
    if (candidates == 0)
        return CAROM_OK;
    CHECK(reserve_records(rows, err));
    set_memory(rows, &slots, CAROMI_ROWS_SLOTS);
    caromi_set_uint(&slots, end);
    set_memory(rows, &slots, CAROMI_ROWS_FROM);
    CHECK(caromi_grid_launch_each(&rows->job, &slots, rows->rows, err));
    return rows->batch->is_first ? key_first(rows, err) : fill_records(rows, end, err);
}

/* ---- order ------------------------------------------------------------------------------------------------------- */

/* Keys lie where the candidates do. */
static carom_status sort_long_rows(const caromi_rows *rows, carom_error *err)
{
    grid_job job = rows->job;
    job.row_end = (cl_uint)job.totals.complete;
    job.totals.stored = rows->candidates;
    return caromi_grid_sort_rows(&job, CAROMI_GRID_KEYS, err);
}

/* Stores the hits of complete rows in their order. */
static carom_status order(caromi_rows *rows, carom_error *err)
{
    static const size_t size[ROWS_COLUMNS] = {sizeof(uint64_t), sizeof(int32_t), 1,
                                              sizeof(float),    sizeof(float),   sizeof(uint32_t)};
    const carom_hit_list *list = rows->batch->list;
    const int points = caromi_wants_points(&rows->batch->sweep);
    caromi_arguments arguments = caromi_arguments_of(rows->job.device, CAROMI_PROGRAM_ROWS_ORDER);
    grid_outputs columns = {.count = ROWS_COLUMNS,
                            .memory = CAROMI_GRID_COLUMN,
                            .before = list->totals->stored,
                            .elements = rows->job.totals.stored,
                            .size = size,
                            .base = {list->query, list->triangle, list->state, list->t,
                                     rows->batch->sweep.out[CAROMI_ANSWER_DEPTH].base, patches_of(rows->batch)}};
    CHECK(caromi_grid_place_outputs(&rows->job, &columns, err));
    CHECK(reserve(rows, CAROMI_ROWS_SORTED_ROW, points ? columns.elements : 1, WORD, err));
    CHECK(reserve(rows, CAROMI_ROWS_SORTED_TRIANGLE, points ? columns.elements : 1, WORD, err));
    CHECK(sort_long_rows(rows, err));
    columns.wanted |= points ? 1u << ROWS_POINTS : 0;
    set_memory(rows, &arguments, CAROMI_ROWS_SLOTS);
    set_memory(rows, &arguments, rows->places);
    set_memory(rows, &arguments, CAROMI_ROWS_KEYS);
    set_memory(rows, &arguments, CAROMI_ROWS_OF);
    caromi_set_uint(&arguments, rows->job.totals.complete);
    caromi_set_ulong(&arguments, rows->first);
    caromi_grid_set_outputs(&arguments, &columns);
    caromi_set_column(&arguments, &rows->job.slot->in[MESH_RADIUS]);
    caromi_rows_set_patches(rows, &arguments);
    set_memory(rows, &arguments, CAROMI_ROWS_SORTED_ROW);
    set_memory(rows, &arguments, CAROMI_ROWS_SORTED_TRIANGLE);
    CHECK(caromi_grid_launch_each(&rows->job, &arguments, rows->candidates, err));
    CHECK(caromi_grid_fetch_outputs(&rows->job, &columns, err));
    return points ? caromi_rows_points(rows, err) : CAROM_OK;
}

/* Writes the offsets behind the chunk's rows, and that of the batch's first query. */
static carom_status give_offsets(const caromi_rows *rows, carom_error *err)
{
    const carom_hit_list *list = rows->batch->list;
    const uint64_t begin = rows->batch->sweep.begin;
    caromi_arguments arguments = caromi_arguments_of(rows->job.device, CAROMI_PROGRAM_ROWS_OFFSETS);
    static const size_t size = sizeof *list->offsets;
    grid_outputs to = {.count = 1,
                       .memory = CAROMI_GRID_COLUMN,
                       .before = rows->first,
                       .elements = rows->rows + 1ull,
                       .size = &size,
                       .base = {list->offsets}};
    if (list->offsets == NULL)
        return CAROM_OK;
    CHECK(caromi_grid_place_outputs(&rows->job, &to, err));
    if (to.is_copy[0]) { /* it begins with the second offset */
        to.base[0] = list->offsets + rows->first + 1;
        to.elements = rows->rows;
    }
    set_memory(rows, &arguments, rows->places);
    caromi_set_ulong(&arguments, list->totals->total);
    caromi_grid_set_output(&arguments, &to, 0);
    caromi_set_ulong(&arguments, to.is_copy[0] ? UINT64_MAX : 0);
    caromi_set_uint(&arguments, !to.is_copy[0] && rows->first == begin);
    CHECK(caromi_grid_launch_each(&rows->job, &arguments, rows->rows, err));
    return caromi_grid_fetch_outputs(&rows->job, &to, err);
}

/* ---- a chunk ----------------------------------------------------------------------------------------------------- */

/* Exact mode and contacts: the candidates of all rows are decided before hits are counted. */
static carom_status decide(caromi_rows *rows, carom_error *err)
{
    const int is_chosen = rows->batch->contacts != NULL;
    uint64_t candidates = 0;
    CHECK(sum_up(rows, CAROMI_ROWS_SLOTS, err));
    CHECK(caromi_grid_read_back(&rows->job, CAROMI_ROWS_SLOTS, rows->rows * sizeof candidates, &candidates,
                                sizeof candidates, err));
    CHECK(fill(rows, rows->rows, candidates, err));
    CHECK(caromi_rows_report(rows, err));
    if (rows->report.undecided == 0 && !is_chosen)
        return CAROM_OK;
    rows->places = CAROMI_ROWS_PLACES;
    CHECK(reserve(rows, CAROMI_ROWS_PLACES, rows->rows, sizeof(cl_ulong), err));
    if (rows->report.undecided > 0)
        CHECK(is_chosen ? caromi_rows_decide_contacts(rows, err) : caromi_rows_decide(rows, err));
    return sum_up(rows, CAROMI_ROWS_PLACES, err);
}

static carom_status answer_chunk(caromi_rows *rows, carom_error *err)
{
    const carom_hit_list *list = rows->batch->list;
    const int decides = rows->batch->contacts != NULL || (rows->batch->sweep.exact && !rows->batch->is_first);
    CHECK(search(rows, err));
    CHECK(caromi_rows_report(rows, err));
    if (rows->report.undecided > 0)
        CHECK(caromi_rows_decide_first(rows, err));
    CHECK(decides ? decide(rows, err) : sum_up(rows, CAROMI_ROWS_SLOTS, err));
    CHECK(find_totals(rows, room_of(rows), decides ? rows->candidates : room_of(rows), err));
    CHECK(give_offsets(rows, err));
    if (rows->job.totals.stored > 0 && wants_records(rows->batch)) {
        if (!decides) {
            CHECK(fill(rows, (cl_uint)rows->job.totals.complete, rows->job.totals.stored, err));
            CHECK(caromi_rows_report(rows, err));
        }
        CHECK(order(rows, err));
    }
    CHECK(caromi_slot_settle(rows->job.device, rows->job.slot, rows->job.stats, err));
    if (list->totals->complete == rows->first)
        list->totals->complete += rows->job.totals.complete;
    list->totals->stored += rows->job.totals.stored;
    list->totals->total += rows->job.totals.total;
    return CAROM_OK;
}

/* A list on its way through a stream. */
typedef struct rows_call {
    const caromi_list_batch *batch;
    carom_stats *stats;
} rows_call;

static carom_status launch_rows(caromi_device *device, caromi_cl_slot *slot, const void *user, carom_error *err)
{
    const rows_call *call = user;
    caromi_rows rows = {.job = {.device = device, .slot = slot, .stats = call->stats},
                        .batch = call->batch,
                        .rows = (cl_uint)slot->count,
                        .first = slot->first,
                        .places = CAROMI_ROWS_SLOTS};
    const carom_status status = answer_chunk(&rows, err);
    const int has_rungs = call->batch->sweep.exact && rows.rung != NULL;
    caromi_rungs rungs = {0, 0};
    for (cl_uint i = 0; has_rungs && status == CAROM_OK && i < rows.rows; i++)
        caromi_rungs_count(&rungs, (caromi_rung)rows.rung[i]);
    caromi_count_rungs(call->stats, rungs);
    caromi_free(device->context, rows.rung);
    return status;
}

carom_status caromi_stream_rows(caromi_device *device, const caromi_list_batch *batch, uint64_t end, uint64_t *done,
                                carom_stats *stats, carom_error *err)
{
    const caromi_mesh_batch *sweep = &batch->sweep;
    const rows_call call = {batch, stats};
    caromi_in_column in[CAROMI_MESH_IN + 1];
    const caromi_stream stream = {.count = end,
                                  .chunk = device->gpu ? CAROMI_LIST_QUERIES : device->max_items,
                                  .answers_any_count = 1,
                                  .in_count = (uint32_t)sweep->kind->in + (sweep->mask.base != NULL),
                                  .in = in,
                                  .extra = ROW_BYTES + caromi_sort_chunk_bytes(device) +
                                           caromi_far_bytes(device, sweep->mesh),
                                  .largest = caromi_far_bytes(device, sweep->mesh),
                                  .launch = launch_rows,
                                  .user = &call};
    memcpy(in, sweep->in, (size_t)sweep->kind->in * sizeof *in);
    in[sweep->kind->in] = sweep->mask;
    if (batch->contacts != NULL && sweep->mesh->edges != NULL) {
        CHECK(caromi_upload_mesh(device, sweep->mesh, err));
        CHECK(caromi_upload_edges(device, sweep->mesh, sweep->mask.base != NULL, err));
        CHECK(caromi_upload_tables(device, sweep->mesh, batch->contacts, err));
    }
    return caromi_stream_past(device, sweep, &stream, done, stats, err);
}

carom_status caromi_build_rows(caromi_device *device, carom_error *err)
{
    static const uint32_t shared[] = {CAROMI_PROGRAM_GRID_CLEAR,     CAROMI_PROGRAM_GRID_SUM,
                                      CAROMI_PROGRAM_GRID_CARRY,     CAROMI_PROGRAM_GRID_OFFSET,
                                      CAROMI_PROGRAM_GRID_TOTALS,    CAROMI_PROGRAM_GRID_FIND_LONG,
                                      CAROMI_PROGRAM_GRID_SORT_LONG, CAROMI_PROGRAM_GRID_MERGE};
    for (size_t i = 0; i < sizeof shared / sizeof shared[0]; i++)
        CHECK(caromi_program_build(device, shared[i], err));
    for (uint32_t program = CAROMI_PROGRAM_ROWS_CHECK; program <= CAROMI_PROGRAM_ROWS_POINTS; program++)
        CHECK(caromi_program_build(device, program, err));
    return caromi_probe_resident(device, err);
}
