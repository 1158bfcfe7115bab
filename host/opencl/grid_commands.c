/* SPDX-License-Identifier: MIT */
/* Memory, arguments and launches of clouds on a GPU, and the prefix sum. */
#include "grid.h"

enum { WORD = sizeof(cl_uint) };

carom_status caromi_grid_reserve(const grid_job *job, uint32_t memory, uint64_t elements, size_t size, carom_error *err)
{
    return caromi_reserve(job->device, job->slot, &job->device->grid[memory], (size_t)elements * size + size,
                          CAROMI_NO_HOST_POINTER, err);
}

const cl_mem *caromi_grid_memory_of(const grid_job *job, uint32_t memory)
{
    return &job->device->grid[memory].memory;
}

void caromi_grid_set_memory(const grid_job *job, caromi_arguments *arguments, uint32_t memory)
{
    caromi_set_argument(arguments, caromi_grid_memory_of(job, memory), sizeof(cl_mem));
}

void caromi_grid_set_uint(caromi_arguments *arguments, cl_uint value)
{
    caromi_set_argument(arguments, &value, sizeof value);
}

void caromi_grid_set_int(caromi_arguments *arguments, cl_int value)
{
    caromi_set_argument(arguments, &value, sizeof value);
}

void caromi_grid_set_ulong(caromi_arguments *arguments, cl_ulong value)
{
    caromi_set_argument(arguments, &value, sizeof value);
}

void caromi_grid_set_real(caromi_arguments *arguments, cl_float value)
{
    caromi_set_argument(arguments, &value, sizeof value);
}

caromi_arguments caromi_grid_arguments_of(const grid_job *job, uint32_t program)
{
    return caromi_arguments_of(job->device, program);
}

/* Waits where a slot has no room for the event of a further command. */
static carom_status wait_for_room(const grid_job *job, carom_error *err)
{
    return job->slot->compute.count < CAROMI_EVENTS_MAX ? CAROM_OK
                                                        : caromi_slot_finish(job->device, job->slot, job->stats, err);
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
    caromi_grid_set_uint(arguments, (cl_uint)count);
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
    caromi_arguments arguments = caromi_grid_arguments_of(job, CAROMI_PROGRAM_GRID_CLEAR);
    caromi_grid_set_memory(job, &arguments, memory);
    return caromi_grid_launch_each(job, &arguments, words, err);
}

/* Waits for all commands and reads some bytes. */
carom_status caromi_grid_read_back(const grid_job *job, uint32_t memory, size_t from, void *to, size_t bytes,
                                   carom_error *err)
{
    CHECK(caromi_slot_finish(job->device, job->slot, job->stats, err));
    return caromi_read(job->device, job->slot->queue, *caromi_grid_memory_of(job, memory), from, to, bytes, 1, NULL,
                       "spheres", err);
}

/* Enqueues the prefix sum of `numbers` counts; the sum of all follows the last one. The program decides whether sums
 * have 32 bits or 64. */
carom_status caromi_grid_sum_up(const grid_job *job, uint32_t counts, uint32_t to, uint32_t program, uint64_t numbers,
                                carom_error *err)
{
    const uint64_t tiles = (numbers + GRID_TILE - 1) / GRID_TILE;
    caromi_arguments sum = caromi_grid_arguments_of(job, CAROMI_PROGRAM_GRID_SUM),
                     carry = caromi_grid_arguments_of(job, CAROMI_PROGRAM_GRID_CARRY),
                     offset = caromi_grid_arguments_of(job, program);
    CHECK(caromi_grid_reserve(job, CAROMI_GRID_SUMS, tiles, sizeof(cl_ulong), err));
    caromi_grid_set_memory(job, &sum, counts);
    caromi_grid_set_memory(job, &sum, CAROMI_GRID_SUMS);
    caromi_grid_set_uint(&sum, (cl_uint)numbers);
    CHECK(caromi_grid_launch_groups(job, &sum, tiles, err));
    caromi_grid_set_memory(job, &carry, CAROMI_GRID_SUMS);
    caromi_grid_set_uint(&carry, (cl_uint)tiles);
    CHECK(caromi_grid_launch_groups(job, &carry, 1, err));
    if (program == CAROMI_GRID_SUM_ALONE)
        return CAROM_OK; /* only the sum of all is wanted */
    caromi_grid_set_memory(job, &offset, counts);
    caromi_grid_set_memory(job, &offset, CAROMI_GRID_SUMS);
    caromi_grid_set_memory(job, &offset, to);
    caromi_grid_set_uint(&offset, (cl_uint)numbers);
    return caromi_grid_launch_groups(job, &offset, tiles, err);
}
