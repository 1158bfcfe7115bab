/* SPDX-License-Identifier: MIT */
/* Memory of the slots' columns: allocated when a chunk first needs it, kept from chunk to chunk. */
#include <string.h>

#include "device.h"

static void unmap(const caromi_device *device, caromi_cl_slot *slot, caromi_cl_column *column)
{
    /* Else the host pointer belongs to a block. */
    if (column->host != NULL && (device->unified || column->pinned != NULL))
        (void)caromi_unmap(device, slot->queue, column->pinned ? column->pinned : caromi_column_memory(column),
                           column->host, NULL, NULL);
    column->host = NULL;
}

static void release_direct(caromi_cl_column *column)
{
    if (!column->shared)
        caromi_release_buffer(&column->direct);
    column->direct = NULL;
    column->shared = 0;
}

void caromi_column_release(const caromi_device *device, caromi_cl_slot *slot, caromi_cl_column *column)
{
    unmap(device, slot, column);
    caromi_release_buffer(&column->pinned);
    caromi_release_buffer(&column->memory);
    release_direct(column);
    memset(column, 0, sizeof *column);
}

static void release_events(caromi_cl_events *e)
{
    for (uint32_t i = 0; i < e->count; i++)
        caromi_release_event(e->event[i]);
    e->count = 0;
}

void caromi_slot_forget(caromi_cl_slot *slot)
{
    release_events(&slot->upload);
    release_events(&slot->compute);
    release_events(&slot->download);
}

/* Releases what belongs to one chunk. */
void caromi_slot_retire(caromi_cl_slot *slot)
{
    caromi_slot_forget(slot);
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < COLUMNS_MAX; i++)
            release_direct(side ? &slot->out[i] : &slot->in[i]);
    slot->count = 0;
}

/* Frees everything that a slot holds. */
void caromi_slot_release(const caromi_device *device, caromi_cl_slot *slot)
{
    for (int i = 0; i < COLUMNS_MAX; i++)
        if (slot->out[i].direct != NULL) /* left by a chunk that was never finished */
            unmap(device, slot, &slot->out[i]);
    caromi_slot_retire(slot);
    for (int i = 0; i < COLUMNS_MAX; i++) {
        caromi_column_release(device, slot, &slot->in[i]);
        caromi_column_release(device, slot, &slot->out[i]);
    }
    caromi_column_release(device, slot, &slot->sent.memory);
    caromi_column_release(device, slot, &slot->fetched.memory);
    for (int i = 0; i < CAROMI_SORT_COLUMNS; i++)
        caromi_column_release(device, slot, &slot->sort[i]);
    for (int i = 0; i < CAROMI_COMPACT_MEMORIES; i++)
        caromi_column_release(device, slot, &slot->compact[i]);
    caromi_column_release(device, slot, &slot->rows);
    caromi_column_release(device, slot, &slot->elements);
    caromi_column_release(device, slot, &slot->far);
    caromi_column_release(device, slot, &slot->levels);
}

/* Waits for the unmaps before the release: an unmap is a command, which holds the memory while it runs. */
void caromi_columns_release(caromi_device *device)
{
    for (int i = 0; i < CAROMI_SLOTS; i++) {
        caromi_slot_release(device, &device->slots[i]);
        (void)caromi_finish(device, device->slots[i].queue, NULL);
    }
    caromi_release_buffer(&device->empty_histogram);
}

/* Allocates a column's memory, unless it is large enough. */
carom_status caromi_reserve(caromi_device *device, caromi_cl_slot *slot, caromi_cl_column *column, size_t bytes,
                            enum caromi_host_access access, carom_error *err)
{
    if (column->capacity < bytes) {
        caromi_column_release(device, slot, column);
        CHECK(caromi_make_buffer(device, "a column", CL_MEM_READ_WRITE | (device->unified ? CL_MEM_ALLOC_HOST_PTR : 0),
                                 bytes, NULL, &column->memory, err));
        column->capacity = bytes;
    }
    if (device->unified || access == CAROMI_NO_HOST_POINTER || column->pinned != NULL)
        return CAROM_OK;
    CHECK(caromi_make_buffer(device, "a pinned column", CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, column->capacity,
                             NULL, &column->pinned, err));
    return caromi_map(device, slot->queue, column->pinned, CL_MAP_READ | CL_MAP_WRITE, column->capacity, CAROMI_WAIT,
                      &column->host, NULL, "pinned", err);
}
