/* SPDX-License-Identifier: MIT */
/* Memory, arguments and launches of clouds on a GPU, and the prefix sum. */
#include "grid.h"

carom_status caromi_grid_reserve(const grid_job *job, uint32_t memory, uint64_t elements, size_t size, carom_error *err)
{
    return caromi_reserve(job->device, job->slot, &job->device->grid[memory], (size_t)elements * size + size,
                          CAROMI_NO_HOST_POINTER, err);
}

carom_status caromi_grid_reserve_filters(const grid_job *job, uint32_t memory, carom_error *err)
{
    return caromi_grid_reserve(job, memory, job->options & CLOUD_MASKED ? job->spheres : 1, sizeof(cl_uint2), err);
}

const cl_mem *caromi_grid_memory_of(const grid_job *job, uint32_t memory)
{
    return &job->device->grid[memory].memory;
}

void caromi_grid_set_memory(const grid_job *job, caromi_arguments *arguments, uint32_t memory)
{
    caromi_set_argument(arguments, caromi_grid_memory_of(job, memory), sizeof(cl_mem));
}

void caromi_grid_set_periods(const grid_job *job, caromi_arguments *arguments)
{
    for (int k = 0; k < 3; k++)
        caromi_set_real(arguments, job->cloud->period[k]);
}

/* Waits where a slot has no room for the event of a further command. */
static carom_status wait_for_room(const grid_job *job, carom_error *err)
{
    return job->slot->compute.count < CAROMI_EVENTS_MAX ? CAROM_OK
                                                        : caromi_slot_settle(job->device, job->slot, job->stats, err);
}

/* Launches a kernel with a work-item for each of `items` elements. */
carom_status caromi_grid_launch(const grid_job *job, caromi_arguments *arguments, uint64_t items, carom_error *err)
{
    CHECK(wait_for_room(job, err));
    return caromi_launch_chunk(job->device, job->slot, arguments, items, err);
}

/* Launches a kernel whose work-items share `count` elements. */
carom_status caromi_grid_launch_each(const grid_job *job, caromi_arguments *arguments, uint64_t count, carom_error *err)
{
    const uint64_t most = job->device->max_items;
    caromi_set_uint(arguments, count);
    return count > 0 ? caromi_grid_launch(job, arguments, count < most ? count : most, err) : CAROM_OK;
}

/* Launches whole groups of GRID_GROUP work-items. */
carom_status caromi_grid_launch_groups(const grid_job *job, caromi_arguments *arguments, uint64_t groups,
                                       carom_error *err)
{
    CHECK(wait_for_room(job, err));
    return caromi_launch_groups(job->device, job->slot, arguments, groups, GRID_GROUP, err);
}

carom_status caromi_grid_clear(const grid_job *job, uint32_t memory, uint64_t words, carom_error *err)
{
    caromi_arguments arguments = caromi_arguments_of(job->device, CAROMI_PROGRAM_GRID_CLEAR);
    caromi_grid_set_memory(job, &arguments, memory);
    return caromi_grid_launch_each(job, &arguments, words, err);
}

/* Waits for all commands and reads some bytes. */
carom_status caromi_grid_read_back(const grid_job *job, uint32_t memory, size_t from, void *to, size_t bytes,
                                   carom_error *err)
{
    CHECK(caromi_slot_settle(job->device, job->slot, job->stats, err));
    return caromi_read(job->device, job->slot->queue, *caromi_grid_memory_of(job, memory), from, to, bytes, 1, NULL,
                       "spheres", err);
}

static uint64_t tiles_of(uint64_t numbers)
{
    return (numbers + GRID_TILE - 1) / GRID_TILE;
}

/* Enqueues the sums before each tile, and the total behind them. */
static carom_status sum_tiles(const grid_job *job, uint32_t counts, uint64_t numbers, carom_error *err)
{
    const uint64_t tiles = tiles_of(numbers);
    caromi_arguments sum = caromi_arguments_of(job->device, CAROMI_PROGRAM_GRID_SUM),
                     carry = caromi_arguments_of(job->device, CAROMI_PROGRAM_GRID_CARRY);
    CHECK(caromi_grid_reserve(job, CAROMI_GRID_SUMS, tiles, sizeof(cl_ulong), err));
    caromi_grid_set_memory(job, &sum, counts);
    caromi_grid_set_memory(job, &sum, CAROMI_GRID_SUMS);
    caromi_set_uint(&sum, numbers);
    CHECK(caromi_grid_launch_groups(job, &sum, tiles, err));
    caromi_grid_set_memory(job, &carry, CAROMI_GRID_SUMS);
    caromi_set_uint(&carry, tiles);
    return caromi_grid_launch_groups(job, &carry, 1, err);
}

carom_status caromi_grid_total(const grid_job *job, uint32_t counts, uint64_t numbers, uint64_t *total,
                               carom_error *err)
{
    CHECK(sum_tiles(job, counts, numbers, err));
    return caromi_grid_read_back(job, CAROMI_GRID_SUMS, tiles_of(numbers) * sizeof *total, total, sizeof *total, err);
}

carom_status caromi_grid_sum_up(const grid_job *job, uint32_t counts, uint32_t to, uint32_t program, uint64_t numbers,
                                carom_error *err)
{
    caromi_arguments offset = caromi_arguments_of(job->device, program);
    CHECK(sum_tiles(job, counts, numbers, err));
    caromi_grid_set_memory(job, &offset, counts);
    caromi_grid_set_memory(job, &offset, CAROMI_GRID_SUMS);
    caromi_grid_set_memory(job, &offset, to);
    caromi_set_uint(&offset, numbers);
    return caromi_grid_launch_groups(job, &offset, tiles_of(numbers), err);
}
