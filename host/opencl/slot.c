/* SPDX-License-Identifier: MIT */
/* Memory for the columns of chunks: taken when a chunk first needs it, kept from chunk to chunk. */
#include <string.h>

#include "device.h"

static void unmap(caromi_cl_slot *slot, caromi_cl_column *c)
{
    if (c->host != NULL)
        (void)clEnqueueUnmapMemObject(slot->queue, c->pinned ? c->pinned : caromi_column_memory(c), c->host, 0, NULL,
                                      NULL);
    c->host = NULL;
}

static void release_column(caromi_cl_slot *slot, caromi_cl_column *c)
{
    unmap(slot, c);
    if (c->pinned != NULL)
        (void)clReleaseMemObject(c->pinned);
    if (c->memory != NULL)
        (void)clReleaseMemObject(c->memory);
    if (c->direct != NULL && !c->shared)
        (void)clReleaseMemObject(c->direct);
    memset(c, 0, sizeof *c);
}

static void release_events(caromi_cl_events *e)
{
    for (uint32_t i = 0; i < e->count; i++)
        (void)clReleaseEvent(e->event[i]);
    e->count = 0;
}

void caromi_slot_retire(caromi_cl_slot *slot)
{
    release_events(&slot->upload);
    release_events(&slot->compute);
    release_events(&slot->download);
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < COLUMNS_MAX; i++) {
            caromi_cl_column *c = side ? &slot->out[i] : &slot->in[i];
            if (c->direct != NULL && !c->shared)
                (void)clReleaseMemObject(c->direct);
            c->direct = NULL;
            c->shared = 0;
        }
    slot->count = 0;
}

void caromi_slot_release(caromi_cl_slot *slot)
{
    for (int i = 0; i < COLUMNS_MAX; i++)
        if (slot->out[i].direct != NULL) /* a chunk that was never finished */
            unmap(slot, &slot->out[i]);
    caromi_slot_retire(slot);
    for (int i = 0; i < COLUMNS_MAX; i++) {
        release_column(slot, &slot->in[i]);
        release_column(slot, &slot->out[i]);
    }
    for (int i = 0; i < CAROMI_ORDER_COLUMNS; i++)
        release_column(slot, &slot->order[i]);
    for (int i = 0; i < CAROMI_COMPACT_COLUMNS; i++)
        release_column(slot, &slot->compact[i]);
}

/* Unmapping is a command too, and holds the memory as long as it lasts. */
void caromi_columns_release(caromi_device *d)
{
    for (int i = 0; i < CAROMI_SLOTS; i++) {
        caromi_slot_release(&d->slots[i]);
        (void)clFinish(d->slots[i].queue);
    }
}

carom_status caromi_reserve(caromi_device *d, caromi_cl_slot *slot, caromi_cl_column *c, size_t bytes, int reached,
                            carom_error *err)
{
    cl_int code;
    if (c->capacity < bytes) {
        release_column(slot, c);
        CHECK(caromi_make_buffer(d, "a column", CL_MEM_READ_WRITE | (d->unified ? CL_MEM_ALLOC_HOST_PTR : 0), bytes,
                                 NULL, &c->memory, err));
        c->capacity = bytes;
    }
    if (d->unified || !reached || c->pinned != NULL)
        return CAROM_OK;
    CHECK(caromi_make_buffer(d, "a pinned column", CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, c->capacity, NULL,
                             &c->pinned, err));
    c->host = clEnqueueMapBuffer(slot->queue, c->pinned, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, c->capacity, 0, NULL,
                                 NULL, &code);
    if (c->host == NULL || code != CL_SUCCESS)
        return caromi_cl_fail(d, code, "clEnqueueMapBuffer (pinned)", err);
    return CAROM_OK;
}
