/* SPDX-License-Identifier: MIT */
/* Packs a chunk's columns into one transfer each way, for devices with memory of their own. The columns lie side by
 * side in a transfer block, and a kernel copies between the block and the columns (kernels/block.cl). The overhead of
 * one transfer equals thousands of rows; the copy is cheap, as the device's memory is many times faster than the bus.
 * Sub-buffers of the block would need no copy, but crash NVIDIA's driver 580.159. */
#include "device.h"

/* The rows from one column to the next; a single column needs no padding. */
static size_t pitch_of(const caromi_cl_slot *slot, const caromi_cl_block *b)
{
    const uint64_t line = CAROMI_BLOCK_LINE;
    return (size_t)(b->count == 1 ? slot->padded : (slot->padded + line - 1) / line * line);
}

static size_t bytes_of(const caromi_cl_slot *slot, const caromi_cl_block *b)
{
    size_t bytes = 0;
    for (uint32_t k = 0; k < b->count; k++)
        bytes += pitch_of(slot, b) * b->size[k];
    return bytes;
}

void caromi_block_add(caromi_cl_block *b, caromi_cl_column *column, uint8_t size)
{
    assert(b->count < COLUMNS_MAX && (size == 1 || size == sizeof(cl_uint)));
    b->column[b->count] = column;
    b->size[b->count++] = size;
}

carom_status caromi_block_place(caromi_device *d, caromi_cl_slot *slot, caromi_cl_block *b, carom_error *err)
{
    if (b->count == 0)
        return CAROM_OK;
    CHECK(caromi_reserve(d, slot, &b->memory, bytes_of(slot, b), CAROMI_HOST_POINTER, err));
    char *host = b->memory.host;
    for (uint32_t k = 0; k < b->count; k++) {
        b->column[k]->host = host;
        host += pitch_of(slot, b) * b->size[k];
    }
    return CAROM_OK;
}

static carom_status launch(caromi_device *d, caromi_cl_slot *slot, const caromi_cl_block *b, uint32_t program,
                           caromi_cl_events *events, carom_error *err)
{
    const cl_ulong pitch = pitch_of(slot, b);
    const cl_uint count = b->count;
    cl_uint bytes = 0;
    cl_event event = NULL;
    for (uint32_t k = 0; k < count; k++)
        bytes |= (cl_uint)(b->size[k] == 1) << k;
    CHECK(caromi_program_build(d, program, err));
    caromi_arguments a = caromi_arguments_of(d, program);
    caromi_set_columns(&a, &b->memory, 1);
    caromi_set_argument(&a, &pitch, sizeof pitch);
    caromi_set_argument(&a, &count, sizeof count);
    caromi_set_argument(&a, &bytes, sizeof bytes);
    for (uint32_t k = 0; k < COLUMNS_MAX; k++) /* arguments beyond `count` are never read, but must be set */
        caromi_set_columns(&a, b->column[k < count ? k : 0], 1);
    CHECK(caromi_launch(d, slot->queue, &a, slot->padded, CAROMI_GROUP, &event, err));
    caromi_add_event(events, event);
    return CAROM_OK;
}

/* The device's end of the transfer. A single column needs no packing: it goes straight to its own memory. */
static cl_mem partner_of(const caromi_cl_block *b)
{
    return b->count == 1 ? caromi_column_memory(b->column[0]) : b->memory.memory;
}

carom_status caromi_block_send(caromi_device *d, caromi_cl_slot *slot, const caromi_cl_block *b, carom_error *err)
{
    cl_event event = NULL;
    if (b->count == 0)
        return CAROM_OK;
    CHECK(caromi_write(d, slot->queue, partner_of(b), b->memory.host, bytes_of(slot, b), &event, NULL, err));
    caromi_add_event(&slot->upload, event);
    return b->count == 1 ? CAROM_OK : launch(d, slot, b, CAROMI_PROGRAM_BLOCK_SPLIT, &slot->upload, err);
}

carom_status caromi_block_fetch(caromi_device *d, caromi_cl_slot *slot, const caromi_cl_block *b, carom_error *err)
{
    cl_event event = NULL;
    if (b->count == 0)
        return CAROM_OK;
    if (b->count > 1)
        CHECK(launch(d, slot, b, CAROMI_PROGRAM_BLOCK_JOIN, &slot->download, err));
    CHECK(caromi_read(d, slot->queue, partner_of(b), 0, b->memory.host, bytes_of(slot, b), 0, &event, NULL, err));
    caromi_add_event(&slot->download, event);
    return CAROM_OK;
}
