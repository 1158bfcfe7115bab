/* SPDX-License-Identifier: MIT */
/* Packs a chunk's columns into one transfer each way, for devices with memory of their own. The columns lie side by
 * side in a transfer block, and a kernel copies between the block and the columns (kernels/block.cl). The overhead of
 * one transfer equals thousands of rows; the copy is cheap, as the device's memory is many times faster than the bus.
 * Sub-buffers of the block would need no copy, but crash NVIDIA's driver 580.159. */
#include "device.h"

/* The rows from one column to the next; a single column needs no padding. */
static size_t pitch_of(const caromi_cl_slot *slot, const caromi_cl_block *block)
{
    const uint64_t line = CAROMI_BLOCK_LINE;
    return (size_t)(block->count == 1 ? slot->padded : (slot->padded + line - 1) / line * line);
}

static size_t bytes_of(const caromi_cl_slot *slot, const caromi_cl_block *block)
{
    size_t bytes = 0;
    for (uint32_t k = 0; k < block->count; k++)
        bytes += pitch_of(slot, block) * block->size[k];
    return bytes;
}

void caromi_block_add(caromi_cl_block *block, caromi_cl_column *column, uint8_t size)
{
    assert(block->count < COLUMNS_MAX && (size == 1 || size == sizeof(cl_uint)));
    block->column[block->count] = column;
    block->size[block->count++] = size;
}

/* Allocates the memory of a transfer block, and places its columns there. */
carom_status caromi_block_place(caromi_device *device, caromi_cl_slot *slot, caromi_cl_block *block, carom_error *err)
{
    if (block->count == 0)
        return CAROM_OK;
    CHECK(caromi_reserve(device, slot, &block->memory, bytes_of(slot, block), CAROMI_HOST_POINTER, err));
    char *host = block->memory.host;
    for (uint32_t k = 0; k < block->count; k++) {
        block->column[k]->host = host;
        host += pitch_of(slot, block) * block->size[k];
    }
    return CAROM_OK;
}

/* Launches the kernel that splits a block into its columns, or joins the columns. */
static carom_status launch(caromi_device *device, caromi_cl_slot *slot, const caromi_cl_block *block, uint32_t program,
                           caromi_cl_events *events, carom_error *err)
{
    const cl_ulong pitch = pitch_of(slot, block);
    const cl_uint count = block->count;
    cl_uint bytes = 0;
    cl_event event = NULL;
    for (uint32_t k = 0; k < count; k++)
        bytes |= (cl_uint)(block->size[k] == 1) << k;
    CHECK(caromi_program_build(device, program, err));
    caromi_arguments arguments = caromi_arguments_of(device, program);
    caromi_set_column(&arguments, &block->memory);
    caromi_set_argument(&arguments, &pitch, sizeof pitch);
    caromi_set_argument(&arguments, &count, sizeof count);
    caromi_set_argument(&arguments, &bytes, sizeof bytes);
    for (uint32_t k = 0; k < COLUMNS_MAX; k++) /* arguments beyond `count` are never read, but must be set */
        caromi_set_column(&arguments, block->column[k < count ? k : 0]);
    CHECK(caromi_launch(device, slot->queue, &arguments, slot->padded, CAROMI_GROUP, &event, err));
    caromi_add_event(events, event);
    return CAROM_OK;
}

/* The device's end of the transfer. A single column needs no packing: it goes straight to its own memory. */
static cl_mem partner_of(const caromi_cl_block *block)
{
    return block->count == 1 ? caromi_column_memory(block->column[0]) : block->memory.memory;
}

carom_status caromi_block_send(caromi_device *device, caromi_cl_slot *slot, const caromi_cl_block *block,
                               carom_error *err)
{
    cl_event event = NULL;
    if (block->count == 0)
        return CAROM_OK;
    CHECK(caromi_write(device, slot->queue, partner_of(block), block->memory.host, bytes_of(slot, block), &event, NULL,
                       err));
    caromi_add_event(&slot->upload, event);
    return block->count == 1 ? CAROM_OK : launch(device, slot, block, CAROMI_PROGRAM_BLOCK_SPLIT, &slot->upload, err);
}

carom_status caromi_block_fetch(caromi_device *device, caromi_cl_slot *slot, const caromi_cl_block *block,
                                carom_error *err)
{
    cl_event event = NULL;
    if (block->count == 0)
        return CAROM_OK;
    if (block->count > 1)
        CHECK(launch(device, slot, block, CAROMI_PROGRAM_BLOCK_JOIN, &slot->download, err));
    CHECK(caromi_read(device, slot->queue, partner_of(block), CAROMI_BEGIN, block->memory.host, bytes_of(slot, block),
                      CAROMI_NO_WAIT, &event, NULL, err));
    caromi_add_event(&slot->download, event);
    return CAROM_OK;
}
