/* SPDX-License-Identifier: MIT */
/* A cloud at rest on a GPU, from the caller's arrays to the list in order: spheres are sorted into cells
 * (kernels/cloud_sort.cl), pairs are counted, then stored (cloud_pairs.cl), and brought into order (cloud_rows.cl). The
 * host learns three numbers between the launches, and in exact mode decides the pairs that the test leaves undecided.
 *
 * The path of a list:
 *   1. read_spheres    streams the caller's columns, or gathers them where they lie on the device (grid_read.c)
 *   2. sort_spheres    bounds and widths, a plan of levels, cells, and the spheres in the order of cells
 *   3. count_pairs     the number of pairs of each sphere; undecided pairs go to a list
 *   4. solve_undecided the solver, or in exact mode the host
 *   5. find_offsets    prefix sum: where each sphere's pairs begin, and how many spheres fit
 *   6. store_pairs     the pairs as keys, in any order within a sphere's row
 *   7. order_pairs     rows in order, into the caller's arrays on the device or a copy that is read back
 *   8. grid_columns.c  depth, normal and previous, likewise
 *
 * Of a cloud in motion grid_moving.c makes a list of all hits, in place of steps 1 to 4. An order has step 1 alone, and
 * grid_order.c. */
#include "grid.h"
#include "host/cloud/columns.h"
#include "host/cloud/watch.h"

enum {
    ROWS_SORTED = 1 << 10, /* rows that are sorted in a launch, which bounds its time */
    KEYS_MERGED = 1 << 26  /* pairs of giant rows of a launch, if it has several rows */
};

/* ---- the list ---------------------------------------------------------------------------------------------------- */

int caromi_grid_rows_are_possible(const grid_job *job, uint64_t keys)
{
    const grid_totals *t = &job->totals;
    return t->long_rows <= job->long_room && t->giant_rows <= job->long_room - t->long_rows &&
           (t->giant_rows == 0 || (t->longest > GRID_LONG_ROW && t->longest <= keys && t->longest <= INT32_MAX));
}

static carom_status find_offsets(grid_job *job, carom_error *err)
{
    const uint64_t capacity = job->result->list->capacity, begin = job->row_begin, end = job->row_end;
    const uint64_t long_most = capacity / GRID_LONG_ROW;
    const cl_uint room = job->long_room = (cl_uint)(long_most < end - begin ? long_most : end - begin);
    caromi_arguments totals = caromi_arguments_of(job->device, CAROMI_PROGRAM_GRID_TOTALS),
                     find = caromi_arguments_of(job->device, CAROMI_PROGRAM_GRID_FIND_LONG);
    CHECK(caromi_grid_reserve(job, CAROMI_GRID_LONG, room, WORD, err));
    CHECK(
        caromi_grid_sum_up(job, CAROMI_GRID_COUNTS, CAROMI_GRID_OFFSETS, CAROMI_PROGRAM_GRID_OFFSET, job->asked, err));
    caromi_grid_set_memory(job, &totals, CAROMI_GRID_OFFSETS);
    caromi_set_ulong(&totals, capacity);
    caromi_set_uint(&totals, job->row_begin);
    caromi_set_uint(&totals, job->row_end);
    caromi_grid_set_memory(job, &totals, CAROMI_GRID_TOTALS);
    CHECK(caromi_grid_launch(job, &totals, 1, err));
    caromi_grid_set_memory(job, &find, CAROMI_GRID_OFFSETS);
    caromi_set_uint(&find, job->row_begin);
    caromi_grid_set_memory(job, &find, CAROMI_GRID_LONG);
    caromi_set_uint(&find, room);
    caromi_grid_set_memory(job, &find, CAROMI_GRID_TOTALS);
    CHECK(caromi_grid_launch_each(job, &find, end - begin, err));
    const size_t searched = offsetof(grid_totals, long_rows); /* the search has read that far */
    CHECK(caromi_grid_read_back(job, CAROMI_GRID_TOTALS, searched, &job->totals.long_rows,
                                sizeof job->totals - searched, err));
    const grid_totals *t = &job->totals;
    if (t->stored > capacity || t->stored > t->total || t->complete < begin || t->complete > end ||
        !caromi_grid_rows_are_possible(job, t->stored))
        return caromi_fail_corrupt(job->device, "numbers of pairs", begin, end, err);
    job->is_declined = t->total >> CAROMI_PAIRS_BITS != 0; /* an error of the call, which the host reports */
    return CAROM_OK;
}

static carom_status store_pairs(grid_job *job, carom_error *err)
{
    job->row_end = (cl_uint)job->totals.complete;
    CHECK(caromi_grid_reserve(job, CAROMI_GRID_KEYS, job->totals.stored, sizeof(cl_ulong), err));
    CHECK(caromi_grid_reserve(job, CAROMI_GRID_OF, job->totals.stored, WORD, err));
    if (!job->cloud->is_moving)
        CHECK(caromi_grid_search(job, CAROMI_PROGRAM_GRID_STORE, err));
    return caromi_grid_add_undecided(job, CAROMI_PROGRAM_GRID_STORE_UNDECIDED, err);
}

/* Arguments that the kernels of long rows have in common: rows [first, first + rows) of their list. */
static caromi_arguments long_row_arguments(const grid_job *job, uint32_t keys, uint32_t program, cl_uint first,
                                           cl_uint rows)
{
    caromi_arguments arguments = caromi_arguments_of(job->device, program);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_OFFSETS);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_LONG);
    caromi_set_uint(&arguments, first);
    caromi_set_uint(&arguments, rows);
    caromi_set_uint(&arguments, job->row_end);
    caromi_set_ulong(&arguments, job->totals.stored);
    caromi_grid_set_memory(job, &arguments, keys);
    return arguments;
}

/* A group sorts a long row, in launches of some rows. */
static carom_status sort_long_rows(const grid_job *job, uint32_t keys, carom_error *err)
{
    const cl_uint all = job->totals.long_rows;
    for (cl_uint first = 0; first < all; first += ROWS_SORTED) {
        const cl_uint rows = all - first < ROWS_SORTED ? all - first : ROWS_SORTED;
        caromi_arguments arguments = long_row_arguments(job, keys, CAROMI_PROGRAM_GRID_SORT_LONG, first, rows);
        CHECK(caromi_grid_launch_groups(job, &arguments, rows, err));
    }
    return CAROM_OK;
}

/* One step of the merge sort in all giant rows, which are the last ones of the list. */
static carom_status merge_giant_rows(const grid_job *job, uint32_t keys, cl_uint bits, int is_mirrored,
                                     carom_error *err)
{
    const cl_uint all = job->totals.giant_rows, before = job->long_room - all;
    const cl_uint each = KEYS_MERGED / job->totals.longest, most = each > 1 ? each : 1;
    const uint64_t items = job->totals.longest < job->device->max_items ? job->totals.longest : job->device->max_items;
    for (cl_uint first = 0; first < all; first += most) {
        const cl_uint rows = all - first < most ? all - first : most;
        caromi_arguments arguments = long_row_arguments(job, keys, CAROMI_PROGRAM_GRID_MERGE, before + first, rows);
        caromi_set_uint(&arguments, bits);
        caromi_set_int(&arguments, is_mirrored);
        CHECK(caromi_grid_launch(job, &arguments, items, err));
    }
    return CAROM_OK;
}

static carom_status sort_giant_rows(const grid_job *job, uint32_t keys, carom_error *err)
{
    for (cl_uint sorted = 0; job->totals.giant_rows > 0 && (job->totals.longest - 1) >> sorted > 0; sorted++)
        for (cl_uint bits = sorted + 1; bits > 0; bits--)
            CHECK(merge_giant_rows(job, keys, bits - 1, bits > sorted, err));
    return CAROM_OK;
}

carom_status caromi_grid_sort_rows(const grid_job *job, uint32_t keys, carom_error *err)
{
    CHECK(sort_long_rows(job, keys, err));
    return sort_giant_rows(job, keys, err);
}

static carom_status order_pairs(grid_job *job, carom_error *err)
{
    static const size_t size[GRID_RECORD_COLUMNS] = {sizeof(int32_t), sizeof(int32_t), 1, sizeof(float), 3};
    const carom_cloud_pair_list *list = job->result->list;
    const uint64_t stored = job->totals.stored, most = job->device->max_items;
    grid_outputs columns = {.count = GRID_RECORD_COLUMNS,
                            .memory = CAROMI_GRID_COLUMN,
                            .elements = stored,
                            .size = size,
                            .base = {list->a, list->b, list->state, list->t, list->shift}};
    CHECK(caromi_grid_place_outputs(job, &columns, err));
    CHECK(caromi_grid_sort_rows(job, CAROMI_GRID_KEYS, err));
    /* Without a column, too: it checks the pairs from which further columns are made. */
    const int is_wanted = columns.wanted != 0 || caromi_columns_are_wanted(list);
    for (uint64_t first = 0; is_wanted && first < stored; first += most) {
        caromi_arguments arguments = caromi_arguments_of(job->device, CAROMI_PROGRAM_GRID_ORDER);
        caromi_grid_set_memory(job, &arguments, CAROMI_GRID_OFFSETS);
        caromi_grid_set_memory(job, &arguments, CAROMI_GRID_KEYS);
        caromi_grid_set_memory(job, &arguments, CAROMI_GRID_OF);
        caromi_grid_set_memory(job, &arguments, CAROMI_GRID_COUNTS);
        caromi_set_uint(&arguments, job->row_begin);
        caromi_set_uint(&arguments, job->row_end);
        caromi_set_ulong(&arguments, stored);
        caromi_grid_set_memory(job, &arguments, CAROMI_GRID_TOTALS);
        caromi_set_int(&arguments, job->options);
        caromi_set_uint(&arguments, job->first_b);
        caromi_grid_set_outputs(&arguments, &columns);
        caromi_set_ulong(&arguments, first);
        CHECK(caromi_grid_launch(job, &arguments, stored - first < most ? stored - first : most, err));
    }
    CHECK(caromi_grid_fetch_outputs(job, &columns, err));
    return caromi_grid_check(job, err);
}

/* Offsets of spheres [begin, end], where the caller wants them. */
static carom_status give_offsets(const grid_job *job, uint64_t end, carom_error *err)
{
    uint64_t *const to = job->result->list->offsets;
    const size_t from = job->row_begin * sizeof *to, bytes = (size_t)(end + 1) * sizeof *to - from;
    if (to == NULL)
        return CAROM_OK;
    const caromi_resident at = caromi_resident_at(job->device, to + job->row_begin);
    if (at.memory == NULL)
        return caromi_grid_read_back(job, CAROMI_GRID_OFFSETS, from, to + job->row_begin, bytes, err);
    CHECK(caromi_copy_range(job->device, job->slot->queue, *caromi_grid_memory_of(job, CAROMI_GRID_OFFSETS), from,
                            at.memory, (size_t)at.at, bytes, err));
    return caromi_finish(job->device, job->slot->queue, err);
}

static carom_status answer_list(grid_job *job, carom_error *err)
{
    carom_list_totals *totals = job->result->list->totals;
    const uint64_t end = job->row_end;
    CHECK(find_offsets(job, err));
    if (job->is_declined)
        return CAROM_OK;
    CHECK(give_offsets(job, end, err));
    if (job->totals.stored > 0) {
        CHECK(store_pairs(job, err));
        CHECK(order_pairs(job, err));
        CHECK(caromi_grid_fill_columns(job, err));
        CHECK(caromi_grid_find_previous(job, err));
    }
    if (job->is_declined)
        return CAROM_OK;
    totals->total = job->totals.total;
    totals->complete = job->totals.complete;
    totals->stored = job->totals.stored;
    return CAROM_OK;
}

static carom_status answer_count(grid_job *job, carom_error *err)
{
    caromi_arguments arguments = caromi_arguments_of(job->device, CAROMI_PROGRAM_GRID_PARTNERS);
    uint64_t total = 0;
    static const size_t size = WORD;
    grid_outputs out = {.count = 1,
                        .memory = CAROMI_GRID_COLUMN,
                        .elements = job->asked,
                        .size = &size,
                        .base = {job->result->partners}};
    CHECK(caromi_grid_total(job, CAROMI_GRID_COUNTS, job->asked, &total, err));
    job->is_declined = total / (job->options & GRID_FULL ? 2 : 1) >> CAROMI_PAIRS_BITS != 0;
    if (job->is_declined)
        return CAROM_OK;
    CHECK(caromi_grid_place_outputs(job, &out, err));
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_SPHERES);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_COUNTS);
    caromi_grid_set_output(&arguments, &out, 0);
    CHECK(caromi_grid_launch_each(job, &arguments, job->asked, err));
    return caromi_grid_fetch_outputs(job, &out, err);
}

/* First and any partners. Partners that only touch are known from the undecided pairs alone. */
static carom_status answer_best(const grid_job *job, carom_error *err)
{
    static const size_t size[GRID_PARTNER_COLUMNS] = {sizeof(int32_t), 1, sizeof(float), 1};
    const carom_cloud_partner_result none = {0}, *first = job->result->first != NULL ? job->result->first : &none;
    grid_outputs columns = {.count = GRID_PARTNER_COLUMNS,
                            .memory = CAROMI_GRID_COLUMN,
                            .elements = job->asked,
                            .size = size,
                            .base = {first->other, first->state, first->t, job->result->hit}};
    caromi_arguments arguments = caromi_arguments_of(job->device, CAROMI_PROGRAM_GRID_PARTNER),
                     touch = caromi_arguments_of(job->device, CAROMI_PROGRAM_GRID_TOUCH);
    CHECK(caromi_grid_place_outputs(job, &columns, err));
    if (job->cloud->is_moving)
        CHECK(caromi_grid_find_partners(job, &arguments, err));
    else {
        caromi_grid_set_memory(job, &arguments, CAROMI_GRID_SPHERES);
        caromi_grid_set_memory(job, &arguments, CAROMI_GRID_COUNTS);
    }
    caromi_set_uint(&arguments, job->first_b);
    caromi_grid_set_outputs(&arguments, &columns);
    CHECK(caromi_grid_launch_each(job, &arguments, job->asked, err));
    if (job->cloud->is_moving)
        return caromi_grid_fetch_outputs(job, &columns, err);
    caromi_grid_set_memory(job, &touch, CAROMI_GRID_INDICES);
    caromi_grid_set_memory(job, &touch, CAROMI_GRID_UNDECIDED);
    caromi_grid_set_memory(job, &touch, CAROMI_GRID_STATES);
    caromi_grid_set_memory(job, &touch, CAROMI_GRID_COUNTS);
    caromi_grid_set_output(&touch, &columns, GRID_OTHER_STATE);
    caromi_set_uint(&touch, job->asked);
    caromi_set_uint(&touch, job->spheres);
    CHECK(caromi_grid_launch_each(job, &touch, first->state != NULL ? job->totals.undecided : 0, err));
    return caromi_grid_fetch_outputs(job, &columns, err);
}

/* Finds the pairs of spheres at rest: each sphere's are counted, or its best partner is kept. */
static carom_status find_at_rest(grid_job *job, carom_error *err)
{
    CHECK(caromi_grid_check_before(job, err));
    if (job->is_declined)
        return CAROM_OK;
    CHECK(caromi_grid_read_spheres(job, err));
    CHECK(caromi_grid_sort_spheres(job, err));
    if (job->is_declined)
        return CAROM_OK;
    CHECK(caromi_grid_count_pairs(job, err));
    return job->is_declined ? CAROM_OK : caromi_grid_solve_undecided(job, err);
}

static carom_status answer(grid_job *job, carom_error *err)
{
    CHECK(caromi_grid_reserve(job, CAROMI_GRID_TOTALS, 1, sizeof(grid_totals), err));
    CHECK(caromi_grid_clear(job, CAROMI_GRID_TOTALS, sizeof(grid_totals) / WORD, err));
    if (job->result->order != NULL)
        return caromi_grid_order(job, err);
    CHECK(job->cloud->is_moving ? caromi_grid_find_hits(job, err) : find_at_rest(job, err));
    if (job->is_declined)
        return CAROM_OK;
    return job->result->list != NULL             ? answer_list(job, err)
           : caromi_grid_finds_best(job->result) ? answer_best(job, err)
                                                 : answer_count(job, err);
}

static int has_filters(const caromi_cloud *cloud)
{
    return cloud->mask.base != NULL || cloud->group.base != NULL;
}

static uint64_t spheres_of(const caromi_cloud *cloud)
{
    return cloud->count + (cloud->second != NULL ? cloud->second->count : 0);
}

static int options_of(const caromi_cloud *cloud, const caromi_grid_result *result)
{
    const caromi_cloud *second = cloud->second;
    const int is_masked = has_filters(cloud) || (second != NULL && has_filters(second));
    return (is_masked ? CLOUD_MASKED : 0) | (cloud->margin > 0 ? CLOUD_MARGIN : 0) |
           (!cloud->is_split && (result->full || result->list == NULL) ? GRID_FULL : 0) |
           (cloud->is_moving                   ? CLOUD_BOUNDS_ONLY | GRID_MOVING
            : cloud->start == CAROM_START_SKIP ? GRID_SKIPS_CONTACT
                                               : 0) |
           (caromi_cloud_is_periodic(cloud) ? GRID_IMAGED : 0);
}

static grid_job job_of(caromi_device *device, const caromi_cloud *cloud, const caromi_grid_result *result,
                       carom_stats *stats)
{
    return (grid_job){.device = device,
                      .slot = &device->slots[0],
                      .cloud = cloud,
                      .result = result,
                      .stats = stats,
                      .spheres = (cl_uint)spheres_of(cloud),
                      .asked = (cl_uint)caromi_cloud_asked(cloud),
                      .split = cloud->is_split ? (cl_uint)cloud->split : GRID_ONE_CLOUD,
                      .first_b = cloud->is_split ? (cl_uint)cloud->split : 0,
                      .row_begin = (cl_uint)cloud->begin,
                      .row_end = (cl_uint)cloud->end,
                      .options = options_of(cloud, result),
                      .placed = cloud->is_moving ? CAROMI_GRID_BALLS : CAROMI_GRID_SPHERES};
}

static uint64_t spheres_most(const caromi_cloud *cloud)
{
    return !caromi_cloud_is_periodic(cloud) ? GRID_SPHERES_MOST
           : cloud->is_moving               ? GRID_IMAGED_MOVING_MOST
                                            : GRID_IMAGED_SPHERES_MOST;
}

carom_status caromi_grid_run(caromi_device *device, const caromi_cloud *cloud, const caromi_grid_result *result,
                             int *answered, carom_stats *stats, carom_error *err)
{
    grid_job job = job_of(device, cloud, result, stats);
    *answered = 0;
    if (spheres_of(cloud) == 0 || spheres_of(cloud) > spheres_most(cloud))
        return CAROM_OK;
    const carom_status status = answer(&job, err);
    if (status != CAROM_OK) { /* commands may still run in the caller's arrays */
        (void)caromi_finish(device, job.slot->queue, NULL);
        caromi_slot_retire(job.slot);
    }
    *answered = status == CAROM_OK && !job.is_declined;
    return status;
}

static carom_status probe(caromi_device *device, const caromi_cloud *cloud, int is_order, carom_error *err)
{
    if (is_order)
        return caromi_grid_probe_order(device, err);
    CHECK(caromi_grid_probe(device, err));
    return cloud->is_moving ? caromi_grid_probe_moving(device, err) : CAROM_OK;
}

carom_status caromi_grid_prepare(caromi_device *device, const caromi_cloud *cloud, int is_order, carom_error *err)
{
    const grid_job job = job_of(device, cloud, &(caromi_grid_result){0}, NULL);
    if (is_order && !device->info.fp64)
        return CAROM_OK;
    CHECK(probe(device, cloud, is_order, err));
    return caromi_grid_prepare_reading(&job, err);
}

carom_status caromi_grid_answer(caromi_device *device, const caromi_cloud *cloud, const caromi_grid_result *result,
                                int *answered, carom_stats *stats, carom_error *err)
{
    *answered = 0;
    if (result->order != NULL && !device->info.fp64)
        return CAROM_OK;
    CHECK(probe(device, cloud, result->order != NULL, err));
    if (result->list != NULL && caromi_columns_have_numbers(result->list) && !device->info.fp64)
        return CAROM_OK;
    return caromi_grid_run(device, cloud, result, answered, stats, err);
}

void caromi_grid_release(caromi_device *device)
{
    for (int k = 0; k < CAROMI_GRID_MEMORIES; k++)
        caromi_column_release(device, &device->slots[0], &device->grid[k]);
}
