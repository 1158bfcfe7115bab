/* SPDX-License-Identifier: MIT */
/* Memory of the slots' columns: allocated when a chunk first needs it, kept from chunk to chunk. */
#include <string.h>

#include "device.h"

static void unmap(const caromi_device *d, caromi_cl_slot *slot, caromi_cl_column *c)
{
    if (c->host != NULL && (d->unified || c->pinned != NULL)) /* else the host pointer belongs to a block */
        (void)caromi_unmap(d, slot->queue, c->pinned ? c->pinned : caromi_column_memory(c), c->host, NULL, NULL);
    c->host = NULL;
}

static void release_direct(caromi_cl_column *c)
{
    if (!c->shared)
        caromi_release_buffer(&c->direct);
    c->direct = NULL;
    c->shared = 0;
}

static void release_column(const caromi_device *d, caromi_cl_slot *slot, caromi_cl_column *c)
{
    unmap(d, slot, c);
    caromi_release_buffer(&c->pinned);
    caromi_release_buffer(&c->memory);
    release_direct(c);
    memset(c, 0, sizeof *c);
}

static void release_events(caromi_cl_events *e)
{
    for (uint32_t i = 0; i < e->count; i++)
        caromi_release_event(e->event[i]);
    e->count = 0;
}

void caromi_slot_retire(caromi_cl_slot *slot)
{
    release_events(&slot->upload);
    release_events(&slot->compute);
    release_events(&slot->download);
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < COLUMNS_MAX; i++)
            release_direct(side ? &slot->out[i] : &slot->in[i]);
    slot->count = 0;
}

void caromi_slot_release(const caromi_device *d, caromi_cl_slot *slot)
{
    for (int i = 0; i < COLUMNS_MAX; i++)
        if (slot->out[i].direct != NULL) /* left by a chunk that was never finished */
            unmap(d, slot, &slot->out[i]);
    caromi_slot_retire(slot);
    for (int i = 0; i < COLUMNS_MAX; i++) {
        release_column(d, slot, &slot->in[i]);
        release_column(d, slot, &slot->out[i]);
    }
    release_column(d, slot, &slot->sent.memory);
    release_column(d, slot, &slot->fetched.memory);
    for (int i = 0; i < CAROMI_SORT_COLUMNS; i++)
        release_column(d, slot, &slot->sort[i]);
    for (int i = 0; i < CAROMI_COMPACT_MEMORIES; i++)
        release_column(d, slot, &slot->compact[i]);
    release_column(d, slot, &slot->rows);
}

/* Waits for the unmaps before the release: an unmap is a command, which holds the memory while it runs. */
void caromi_columns_release(caromi_device *d)
{
    for (int i = 0; i < CAROMI_SLOTS; i++) {
        caromi_slot_release(d, &d->slots[i]);
        (void)caromi_finish(d, d->slots[i].queue, NULL);
    }
    caromi_release_buffer(&d->empty_histogram);
}

carom_status caromi_reserve(caromi_device *d, caromi_cl_slot *slot, caromi_cl_column *c, size_t bytes,
                            enum caromi_host_access access, carom_error *err)
{
    if (c->capacity < bytes) {
        release_column(d, slot, c);
        CHECK(caromi_make_buffer(d, "a column", CL_MEM_READ_WRITE | (d->unified ? CL_MEM_ALLOC_HOST_PTR : 0), bytes,
                                 NULL, &c->memory, err));
        c->capacity = bytes;
    }
    if (d->unified || access == CAROMI_NO_HOST_POINTER || c->pinned != NULL)
        return CAROM_OK;
    CHECK(caromi_make_buffer(d, "a pinned column", CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, c->capacity, NULL,
                             &c->pinned, err));
    return caromi_map(d, slot->queue, c->pinned, CL_MAP_READ | CL_MAP_WRITE, c->capacity, 1, &c->host, NULL, "pinned",
                      err);
}
