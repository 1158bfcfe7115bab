/* SPDX-License-Identifier: MIT */
/* The queries of a chunk in an order along their mesh, made by the device itself: kernels/order.cl. */
#include "device.h"
#include "host/mesh/query_sort.h"

enum {
    QUERIES_MIN = 1 << 13, /* of fewer the launches cost more than the order brings */
    LEAVES_MIN = 1 << 6    /* all work-items meet those of a smaller mesh anyway */
};
_Static_assert(CELL_ITEMS >= CAROMI_GROUP, "a place for each item of a group");

static int is_worth_it(const caromi_device *d, const carom_mesh *mesh, uint64_t count)
{
    return d->lanes == 1 && !d->orders_not && (d->probing || (count >= QUERIES_MIN && mesh->leaf_count >= LEAVES_MIN));
}

static carom_status count_cells(caromi_device *d, caromi_cl_slot *slot, const carom_mesh *mesh, int columns,
                                carom_error *err)
{
    const int tells = columns >= CAROMI_MESH_IN; /* without a motion what is nearest is asked */
    const cell_grid grid = caromi_grid_of(&mesh->info);
    static const cl_uint none[CELL_KINDS] = {0}; /* written, not filled: Oclgrind takes what is filled for unknown */
    caromi_arguments a = caromi_arguments_of(d, CAROMI_PROGRAM_ORDER_COUNT);
    CHECK(caromi_write(d, slot->queue, slot->order[CAROMI_ORDER_CELLS].memory, none, sizeof none, NULL, "cells", err));
    caromi_set_columns(&a, slot->in, tells ? CAROMI_MESH_IN : 3);
    for (uint32_t i = tells ? CAROMI_MESH_IN : 3; i < CAROMI_MESH_IN; i++) /* any column: it is not read */
        caromi_set_columns(&a, slot->in, 1);
    caromi_set_clearance(&a, mesh);
    caromi_set_argument(&a, &tells, sizeof tells);
    for (int k = 0; k < 3; k++)
        caromi_set_argument(&a, &grid.lower[k], sizeof grid.lower[k]);
    for (int k = 0; k < 3; k++)
        caromi_set_argument(&a, &grid.per_length[k], sizeof grid.per_length[k]);
    caromi_set_columns(&a, &slot->order[CAROMI_ORDER_CELL], 3);
    return caromi_launch_chunk(d, slot, &a, slot->count, err);
}

carom_status caromi_find_starts(caromi_device *d, caromi_cl_slot *slot, const caromi_cl_column *counts, cl_uint kinds,
                                carom_error *err)
{
    caromi_arguments a = caromi_arguments_of(d, CAROMI_PROGRAM_ORDER_STARTS);
    caromi_set_columns(&a, counts, 1);
    caromi_set_argument(&a, &kinds, sizeof kinds);
    return caromi_launch_chunk(d, slot, &a, CAROMI_GROUP, err);
}

static carom_status place_rows(caromi_device *d, caromi_cl_slot *slot, carom_error *err)
{
    caromi_arguments a = caromi_arguments_of(d, CAROMI_PROGRAM_ORDER_ROWS);
    caromi_set_columns(&a, &slot->order[CAROMI_ORDER_CELL], CAROMI_ORDER_COLUMNS);
    return caromi_launch_chunk(d, slot, &a, slot->count, err);
}

static carom_status prepare(caromi_device *d, caromi_cl_slot *slot, carom_error *err)
{
    for (uint32_t i = 0; i < CAROMI_ORDER_COLUMNS; i++)
        CHECK(caromi_reserve(d, slot, &slot->order[i],
                             sizeof(cl_uint) * (size_t)(i == CAROMI_ORDER_CELLS ? CELL_KINDS + 1 : slot->count), 0,
                             err));
    for (uint32_t p = CAROMI_PROGRAM_ORDER_COUNT; p <= CAROMI_PROGRAM_ORDER_ROWS; p++)
        CHECK(caromi_program_build(d, p, err));
    return CAROM_OK;
}

carom_status caromi_order_chunk(caromi_device *d, caromi_cl_slot *slot, const carom_mesh *mesh, int columns,
                                carom_error *err)
{
    carom_error why = {CAROM_OK, 0, ""};
    slot->ordered = 0;
    if (!is_worth_it(d, mesh, slot->count))
        return CAROM_OK;
    const carom_status status = prepare(d, slot, &why);
    /* As for any column a smaller chunk may help, in the end one too small for an order. */
    if (status == CAROM_ERROR_OUT_OF_MEMORY)
        return caromi_fail(err, status, why.native_code, "%s", why.message);
    if (status != CAROM_OK) { /* as they come they are answered too */
        d->orders_not = 1;
        caromi_log(d->context, CAROM_LOG_WARNING, "%s takes queries as they come from now on: %s", d->info.name,
                   why.message);
        return CAROM_OK;
    }
    CHECK(count_cells(d, slot, mesh, columns, err));
    CHECK(caromi_find_starts(d, slot, &slot->order[CAROMI_ORDER_CELLS], CELL_KINDS, err));
    CHECK(place_rows(d, slot, err));
    slot->ordered = 1;
    return CAROM_OK;
}
