/* SPDX-License-Identifier: MIT */
/* Sorts the queries of a chunk along their mesh, on the device. kernels/query_sort.cl */
#include "device.h"
#include "host/mesh/query_sort.h"

enum {
    QUERIES_MIN = 1 << 13, /* with fewer queries, the launches cost more than the order gains */
    LEAVES_MIN = 1 << 6    /* with fewer leaves, all work-items visit the same leaves anyway */
};

static int is_worth_it(const caromi_device *device, const carom_mesh *mesh, uint64_t count)
{
    return device->lanes == 1 && !device->sort_unavailable &&
           (device->probing || (count >= QUERIES_MIN && mesh->leaf_count >= LEAVES_MIN));
}

/* Clears the histogram by a copy on the device. An upload would come from memory that is not pinned, and Oclgrind
 * treats memory set by a fill command as uninitialised. */
static carom_status clear_histogram(caromi_device *device, caromi_cl_slot *slot, carom_error *err)
{
    cl_uint none[CELL_KINDS] = {0};
    if (device->empty_histogram == NULL)
        CHECK(caromi_make_buffer(device, "cells", CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof none, none,
                                 &device->empty_histogram, err));
    return caromi_copy(device, slot->queue, device->empty_histogram, slot->sort[CAROMI_SORT_HISTOGRAM].memory,
                       sizeof none, err);
}

/* Enqueues the kernel that finds the cell of each query and counts queries by cell. */
static carom_status enqueue_histogram(caromi_device *device, caromi_cl_slot *slot, const carom_mesh *mesh, int columns,
                                      int options, carom_error *err)
{
    const int has_motion = columns >= CAROMI_MESH_IN; /* else closest-point queries */
    const cell_grid grid = caromi_grid_of(&mesh->info);
    caromi_arguments arguments = caromi_arguments_of(device, CAROMI_PROGRAM_SORT_HISTOGRAM);
    CHECK(clear_histogram(device, slot, err));
    caromi_set_columns(&arguments, slot->in, has_motion ? CAROMI_MESH_IN : 3);
    for (uint32_t i = has_motion ? CAROMI_MESH_IN : 3; i < CAROMI_MESH_IN; i++) /* any column: it is not read */
        caromi_set_column(&arguments, slot->in);
    caromi_set_clearance(device, &arguments, mesh);
    caromi_set_argument(&arguments, &has_motion, sizeof has_motion);
    caromi_set_argument(&arguments, &options, sizeof options);
    for (int k = 0; k < 3; k++)
        caromi_set_argument(&arguments, &grid.lower[k], sizeof grid.lower[k]);
    for (int k = 0; k < 3; k++)
        caromi_set_argument(&arguments, &grid.per_length[k], sizeof grid.per_length[k]);
    caromi_set_columns(&arguments, &slot->sort[CAROMI_SORT_CELL], 3);
    return caromi_launch_chunk(device, slot, &arguments, slot->count, err);
}

carom_status caromi_prefix_sum(caromi_device *device, caromi_cl_slot *slot, const caromi_cl_column *counts,
                               cl_uint kinds, carom_error *err)
{
    caromi_arguments arguments = caromi_arguments_of(device, CAROMI_PROGRAM_PREFIX_SUM);
    caromi_set_column(&arguments, counts);
    caromi_set_argument(&arguments, &kinds, sizeof kinds);
    return caromi_launch_group(device, slot, &arguments, PREFIX_ITEMS, err);
}

static carom_status enqueue_scatter(caromi_device *device, caromi_cl_slot *slot, carom_error *err)
{
    caromi_arguments arguments = caromi_arguments_of(device, CAROMI_PROGRAM_SORT_SCATTER);
    caromi_set_columns(&arguments, &slot->sort[CAROMI_SORT_CELL], CAROMI_SORT_COLUMNS);
    return caromi_launch_chunk(device, slot, &arguments, slot->count, err);
}

static carom_status prepare(caromi_device *device, caromi_cl_slot *slot, carom_error *err)
{
    for (uint32_t i = 0; i < CAROMI_SORT_COLUMNS; i++)
        CHECK(caromi_reserve(device, slot, &slot->sort[i],
                             sizeof(cl_uint) * (size_t)(i == CAROMI_SORT_HISTOGRAM ? CELL_KINDS + 1 : slot->count),
                             CAROMI_NO_HOST_POINTER, err));
    for (uint32_t p = CAROMI_PROGRAM_SORT_HISTOGRAM; p <= CAROMI_PROGRAM_SORT_SCATTER; p++)
        CHECK(caromi_program_build(device, p, err));
    return CAROM_OK;
}

/* Enqueues cell, prefix sum and scatter kernels. */
carom_status caromi_sort_chunk(caromi_device *device, caromi_cl_slot *slot, const carom_mesh *mesh, int columns,
                               int options, carom_error *err)
{
    carom_error why = {CAROM_OK, 0, ""};
    slot->sorted = 0;
    if (!is_worth_it(device, mesh, slot->count))
        return CAROM_OK;
    const carom_status status = prepare(device, slot, &why);
    /* A smaller chunk may fit, in the end one that is too small to be sorted. */
    if (status == CAROM_ERROR_OUT_OF_MEMORY)
        return caromi_fail(err, status, why.native_code, "%s", why.message);
    if (status != CAROM_OK) { /* without its programs, queries stay unsorted */
        device->sort_unavailable = 1;
        caromi_log(device->context, CAROM_LOG_WARNING, "%s takes queries as they come from now on: %s",
                   device->info.name, why.message);
        return CAROM_OK;
    }
    CHECK(enqueue_histogram(device, slot, mesh, columns, options, err));
    CHECK(caromi_prefix_sum(device, slot, &slot->sort[CAROMI_SORT_HISTOGRAM], CELL_KINDS, err));
    CHECK(enqueue_scatter(device, slot, err));
    slot->sorted = 1;
    return CAROM_OK;
}
