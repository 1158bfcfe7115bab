/* SPDX-License-Identifier: MIT */
/* The order of a cloud's spheres by cells on a GPU, index for index the CPU's (host/cloud/order.c). Kernels measure the
 * cloud and draw the sample that the host would draw; from these the host chooses levels as for itself. Then kernels
 * sort (kernels/cloud_order.cl). Where the CPU would choose levels by density, in a second sort, the order is the
 * host's. */
#include <math.h>
#include <string.h>

#include "grid.h"
#include "host/cloud/crowded.h"
#include "kernels/cloud_order.h"

_Static_assert((int)GRID_LEVELS == (int)CAROMI_CLOUD_LEVELS, "a plan has room for all levels");
_Static_assert((int)GRID_BINS == (int)CAROMI_REACHES, "bins of reaches are the CPU's classes");

/* An order, while it is made. Keys and indices are in one of two memories each. */
typedef struct order_job {
    grid_job *job;
    order_plan plan;
    uint64_t valid;
    uint32_t row_bits, number_bits, cell_bits; /* of the rows' keys, of their numbers, of the cells in a row */
    uint32_t key, index, other_key, other_index;
} order_job;

enum { BEGIN = CAROMI_GRID_STARTS, LOW = CAROMI_GRID_BUCKETS, HIGH = CAROMI_GRID_COUNTS }; /* of each row */

/* ---- the plan ---------------------------------------------------------------------------------------------------- */

/* The number that stands for an integer in the order of the numbers: grid_ordered. */
static double number_of(cl_uint ordered)
{
    const cl_uint bits = ordered >> 31 ? ordered & INT32_MAX : ~ordered;
    float number;
    memcpy(&number, &bits, sizeof number);
    return (double)number;
}

static void set_extent(const grid_measure *measure, caromi_cloud_extent *extent)
{
    cl_uint largest = 0;
    for (int class = 0; class < CAROMI_REACHES; class ++) {
        extent->reaches[class] = measure->count[class];
        extent->valid += measure->count[class];
        largest = measure->reach[class] > largest ? measure->reach[class] : largest;
    }
    memcpy(&extent->largest, &largest, sizeof extent->largest);
    for (int k = 0; k < 3; k++) {
        extent->low[k] = extent->valid > 0 ? number_of(~measure->below[k]) : (double)INFINITY;
        extent->high[k] = extent->valid > 0 ? number_of(measure->above[k]) : -(double)INFINITY;
    }
}

static carom_status draw_sample(const grid_job *job, caromi_cloud_sample *sample, carom_error *err)
{
    caromi_arguments arguments = caromi_arguments_of(job->device, CAROMI_PROGRAM_ORDER_SAMPLE);
    sample->spheres = job->spheres;
    sample->count = (uint32_t)caromi_cloud_samples(job->spheres);
    CHECK(caromi_grid_reserve(job, CAROMI_GRID_DRAWN, sample->count, sizeof *sample->row, err));
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_SPHERES);
    caromi_grid_set_memory(job, &arguments, CAROMI_GRID_DRAWN);
    caromi_set_uint(&arguments, job->spheres);
    CHECK(caromi_grid_launch_each(job, &arguments, sample->count, err));
    return caromi_grid_read_back(job, CAROMI_GRID_DRAWN, 0, sample->row, sample->count * sizeof *sample->row, err);
}

static carom_status measure(const grid_job *job, caromi_cloud_extent *extent, carom_error *err)
{
    caromi_cloud_sample sample;
    grid_measure found;
    memset(extent, 0, sizeof *extent);
    CHECK(caromi_grid_measure(job, CAROMI_PROGRAM_ORDER_MEASURE, err));
    CHECK(draw_sample(job, &sample, err));
    CHECK(caromi_grid_read_back(job, CAROMI_GRID_MEASURE, 0, &found, offsetof(grid_measure, second), err));
    set_extent(&found, extent);
    if (extent->valid > job->spheres)
        return caromi_fail_corrupt(job->device, "sizes of spheres", 0, job->spheres, err);
    caromi_cloud_sides(&sample, extent->side);
    caromi_cloud_find_kinds(&sample, extent->side, &extent->kinds);
    return CAROM_OK;
}

static uint32_t bits_of(uint64_t most)
{
    uint32_t bits = 0;
    while (most >> bits != 0)
        bits++;
    return bits;
}

/* The levels for kernels, and how many bits all numbers take. */
static void set_plan(order_job *order, const caromi_cloud_level *levels, uint32_t count)
{
    order_plan *plan = &order->plan;
    const uint64_t spheres = order->job->spheres;
    uint64_t most[3] = {0, 0, 0};
    double rows = 1; /* that of the invalid spheres */
    for (uint32_t number = 0; number < count; number++) {
        const caromi_cloud_level *level = &levels[number];
        plan->level[number].width = 1 / level->per[0];
        for (int k = 0; k < 3; k++) {
            plan->level[number].low[k] = level->low[k];
            plan->level[number].per[k] = level->per[k];
            plan->level[number].most[k] = level->most[k];
            most[k] = (uint64_t)level->most[k] > most[k] ? (uint64_t)level->most[k] : most[k];
        }
        rows += (level->most[1] + 1.0) * (level->most[2] + 1.0);
    }
    const uint64_t cells_most = CLOUD_CELLS_MOST(spheres);
    plan->level_count = count;
    plan->y_bits = bits_of(most[1]);
    plan->z_bits = bits_of(most[2]);
    order->row_bits = plan->y_bits + plan->z_bits + bits_of(order->valid < spheres ? count : count - 1);
    order->number_bits = bits_of(rows < (double)spheres ? (uint64_t)rows : spheres);
    order->cell_bits = bits_of(most[0] < cells_most ? most[0] : cells_most);
}

/* Few spheres share one cell, and are not measured. */
static carom_status make_plan(order_job *order, carom_error *err)
{
    const grid_job *job = order->job;
    caromi_cloud_level levels[CAROMI_CLOUD_LEVELS] = {{.begin_row = 0}};
    uint32_t count = 1;
    if (!caromi_cloud_is_one_cell(job->cloud)) {
        caromi_cloud_extent extent;
        CHECK(measure(job, &extent, err));
        order->valid = extent.valid;
        if (order->valid > 0)
            count = caromi_cloud_choose_levels(job->cloud, &extent, levels, order->plan.level_of);
    }
    set_plan(order, levels, count);
    CHECK(caromi_grid_reserve(job, CAROMI_GRID_PLAN, 1, sizeof order->plan, err));
    return caromi_write_at(job->device, job->slot->queue, *caromi_grid_memory_of(job, CAROMI_GRID_PLAN), 0,
                           &order->plan, sizeof order->plan, "levels of spheres", err);
}

/* ---- the radix sort ---------------------------------------------------------------------------------------------- */

static void swap(uint32_t *one, uint32_t *other)
{
    const uint32_t was = *one;
    *one = *other;
    *other = was;
}

/* One pass: keys with each digit in each tile, their prefix sum, and each key to its place. */
static carom_status sort_by_digit(order_job *order, cl_uint shift, carom_error *err)
{
    const grid_job *job = order->job;
    const uint64_t tiles = ((uint64_t)job->spheres + GRID_TILE - 1) / GRID_TILE;
    caromi_arguments count = caromi_arguments_of(job->device, CAROMI_PROGRAM_ORDER_COUNT),
                     scatter = caromi_arguments_of(job->device, CAROMI_PROGRAM_ORDER_SCATTER);
    CHECK(caromi_grid_reserve(job, CAROMI_GRID_LONG, ORDER_DIGITS * tiles, WORD, err));
    caromi_grid_set_memory(job, &count, order->key);
    caromi_set_uint(&count, shift);
    caromi_grid_set_memory(job, &count, CAROMI_GRID_LONG);
    caromi_set_uint(&count, job->spheres);
    CHECK(caromi_grid_launch_groups(job, &count, tiles, err));
    CHECK(caromi_grid_sum_up(job, CAROMI_GRID_LONG, CAROMI_GRID_LONG, CAROMI_PROGRAM_GRID_START, ORDER_DIGITS * tiles,
                             err));
    caromi_grid_set_memory(job, &scatter, order->key);
    caromi_grid_set_memory(job, &scatter, order->index);
    caromi_set_uint(&scatter, shift);
    caromi_grid_set_memory(job, &scatter, CAROMI_GRID_LONG);
    caromi_grid_set_memory(job, &scatter, order->other_key);
    caromi_grid_set_memory(job, &scatter, order->other_index);
    caromi_grid_set_memory(job, &scatter, CAROMI_GRID_TOTALS);
    caromi_set_uint(&scatter, job->spheres);
    CHECK(caromi_grid_launch_groups(job, &scatter, tiles, err));
    swap(&order->key, &order->other_key);
    swap(&order->index, &order->other_index);
    return CAROM_OK;
}

/* Sorts by `bits` bits of the keys from `first` on. */
static carom_status sort_by_bits(order_job *order, uint32_t first, uint32_t bits, carom_error *err)
{
    for (uint32_t done = 0; done < bits; done += ORDER_DIGIT_BITS)
        CHECK(sort_by_digit(order, first + done, err));
    return CAROM_OK;
}

/* ---- rows and cells ---------------------------------------------------------------------------------------------- */

static carom_status sort_by_row(order_job *order, carom_error *err)
{
    const grid_job *job = order->job;
    caromi_arguments keys = caromi_arguments_of(job->device, CAROMI_PROGRAM_ORDER_KEYS);
    const uint32_t both[2][2] = {{order->key, order->index}, {order->other_key, order->other_index}};
    for (int k = 0; k < 2; k++) {
        CHECK(caromi_grid_reserve(job, both[k][0], job->spheres, sizeof(cl_ulong), err));
        CHECK(caromi_grid_reserve(job, both[k][1], job->spheres, WORD, err));
    }
    caromi_grid_set_memory(job, &keys, CAROMI_GRID_SPHERES);
    caromi_grid_set_memory(job, &keys, CAROMI_GRID_PLAN);
    caromi_grid_set_memory(job, &keys, order->key);
    caromi_grid_set_memory(job, &keys, order->index);
    CHECK(caromi_grid_launch_each(job, &keys, job->spheres, err));
    return sort_by_bits(order, 0, order->row_bits, err);
}

/* Numbers the rows, and finds where each begins and ends. */
static carom_status find_rows(const order_job *order, carom_error *err)
{
    const grid_job *job = order->job;
    const uint64_t runs = ((uint64_t)job->spheres + ORDER_RUN - 1) / ORDER_RUN;
    caromi_arguments heads = caromi_arguments_of(job->device, CAROMI_PROGRAM_ORDER_HEADS),
                     rows = caromi_arguments_of(job->device, CAROMI_PROGRAM_ORDER_ROWS);
    CHECK(caromi_grid_reserve(job, CAROMI_GRID_OFFSETS, job->spheres, WORD, err));
    caromi_grid_set_memory(job, &heads, order->key);
    caromi_grid_set_memory(job, &heads, CAROMI_GRID_OFFSETS);
    CHECK(caromi_grid_launch_each(job, &heads, job->spheres, err));
    CHECK(caromi_grid_sum_up(job, CAROMI_GRID_OFFSETS, CAROMI_GRID_OFFSETS, CAROMI_PROGRAM_GRID_START, job->spheres,
                             err));
    CHECK(caromi_grid_reserve(job, BEGIN, job->spheres, WORD, err));
    CHECK(caromi_grid_reserve(job, LOW, job->spheres, WORD, err));
    CHECK(caromi_grid_reserve(job, HIGH, job->spheres, WORD, err));
    CHECK(caromi_grid_clear(job, LOW, job->spheres, err));
    CHECK(caromi_grid_clear(job, HIGH, job->spheres, err));
    caromi_grid_set_memory(job, &rows, CAROMI_GRID_SPHERES);
    caromi_grid_set_memory(job, &rows, CAROMI_GRID_PLAN);
    caromi_grid_set_memory(job, &rows, order->index);
    caromi_grid_set_memory(job, &rows, CAROMI_GRID_OFFSETS);
    caromi_grid_set_memory(job, &rows, BEGIN);
    caromi_grid_set_memory(job, &rows, LOW);
    caromi_grid_set_memory(job, &rows, HIGH);
    caromi_set_uint(&rows, job->spheres);
    return caromi_grid_launch_each(job, &rows, runs, err);
}

/* Sorts by cell within each row: by cell, then by row. */
static carom_status sort_by_cell(order_job *order, carom_error *err)
{
    enum { ROW_SHIFT = 32 };
    const grid_job *job = order->job;
    caromi_arguments cells = caromi_arguments_of(job->device, CAROMI_PROGRAM_ORDER_CELLS);
    caromi_grid_set_memory(job, &cells, CAROMI_GRID_SPHERES);
    caromi_grid_set_memory(job, &cells, CAROMI_GRID_PLAN);
    caromi_grid_set_memory(job, &cells, order->index);
    caromi_grid_set_memory(job, &cells, CAROMI_GRID_OFFSETS);
    caromi_grid_set_memory(job, &cells, BEGIN);
    caromi_grid_set_memory(job, &cells, LOW);
    caromi_grid_set_memory(job, &cells, HIGH);
    caromi_grid_set_memory(job, &cells, order->key);
    CHECK(caromi_grid_launch_each(job, &cells, job->spheres, err));
    CHECK(sort_by_bits(order, 0, order->cell_bits, err));
    return sort_by_bits(order, ROW_SHIFT, order->number_bits, err);
}

/* ---- crowded cells ----------------------------------------------------------------------------------------------- */

static carom_status count_shared(const order_job *order, uint64_t *pairs, carom_error *err)
{
    const grid_job *job = order->job;
    caromi_arguments shared = caromi_arguments_of(job->device, CAROMI_PROGRAM_ORDER_SHARED);
    caromi_grid_set_memory(job, &shared, order->key);
    caromi_grid_set_memory(job, &shared, CAROMI_GRID_OFFSETS);
    CHECK(caromi_grid_launch_each(job, &shared, order->valid, err)); /* the invalid spheres come behind */
    return caromi_grid_total(job, CAROMI_GRID_OFFSETS, order->valid, pairs, err);
}

/* Twice the tests that narrower cells would save. */
static carom_status count_saved(const order_job *order, uint64_t *tests, carom_error *err)
{
    const grid_job *job = order->job;
    caromi_arguments crowds = caromi_arguments_of(job->device, CAROMI_PROGRAM_ORDER_CROWDS);
    caromi_grid_set_memory(job, &crowds, CAROMI_GRID_SPHERES);
    caromi_grid_set_memory(job, &crowds, CAROMI_GRID_PLAN);
    caromi_grid_set_memory(job, &crowds, order->index);
    caromi_grid_set_memory(job, &crowds, BEGIN);
    caromi_grid_set_memory(job, &crowds, LOW);
    caromi_grid_set_memory(job, &crowds, HIGH);
    caromi_grid_set_memory(job, &crowds, order->key);
    caromi_grid_set_memory(job, &crowds, CAROMI_GRID_OFFSETS);
    CHECK(caromi_grid_launch_each(job, &crowds, job->spheres, err));
    return caromi_grid_total(job, CAROMI_GRID_OFFSETS, job->spheres, tests, err);
}

/* Declines an order for which the CPU would choose levels by density. */
static carom_status decline_crowds(const order_job *order, carom_error *err)
{
    grid_job *job = order->job;
    uint64_t pairs = 0, tests = 0;
    if (order->valid == 0) /* none, or so few that they share one cell */
        return CAROM_OK;
    CHECK(count_shared(order, &pairs, err));
    if (!caromi_cloud_is_crowded(pairs, order->valid))
        return CAROM_OK;
    CHECK(count_saved(order, &tests, err));
    job->is_declined = caromi_cloud_saves(0.5 * (double)tests, order->valid);
    return CAROM_OK;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

/* Copies the order to the caller's array, on the device or in the program's memory. */
static carom_status give(const order_job *order, carom_error *err)
{
    const grid_job *job = order->job;
    uint32_t *const to = job->result->order;
    const size_t bytes = (size_t)job->spheres * sizeof *to;
    const caromi_resident at = caromi_resident_at(job->device, to);
    if (at.memory == NULL)
        return caromi_grid_read_back(job, order->index, 0, to, bytes, err);
    CHECK(caromi_copy_range(job->device, job->slot->queue, *caromi_grid_memory_of(job, order->index), 0, at.memory,
                            (size_t)at.at, bytes, err));
    return caromi_finish(job->device, job->slot->queue, err);
}

carom_status caromi_grid_order(grid_job *job, carom_error *err)
{
    order_job order = {.job = job,
                       .key = CAROMI_GRID_KEYS,
                       .index = CAROMI_GRID_INDICES,
                       .other_key = CAROMI_GRID_SORTED,
                       .other_index = CAROMI_GRID_RANKS};
    CHECK(caromi_grid_read_spheres(job, err));
    CHECK(make_plan(&order, err));
    CHECK(sort_by_row(&order, err));
    CHECK(find_rows(&order, err));
    CHECK(sort_by_cell(&order, err));
    CHECK(decline_crowds(&order, err));
    CHECK(caromi_grid_check(job, err));
    return job->is_declined ? CAROM_OK : give(&order, err);
}
