/* SPDX-License-Identifier: MIT */
/* Exact mode with columns that stay on the device. The host downloads the marks of a chunk, and the inputs of its
 * undecided rows, which a kernel gathers. The CPU answers these rows, and another kernel scatters the answers to their
 * rows. */
#include <string.h>

#include "device.h"

/* Host copies of the columns, for some rows of a chunk. */
typedef struct row_copies {
    caromi_device *device;
    const caromi_stream *stream;
    caromi_cl_slot *slot;
    const uint32_t *rows; /* numbers of the rows within the chunk */
    uint32_t count;
    float *memory;        /* of the copies */
    int rows_are_sent;    /* the slot has the rows, */
    const void *elements; /* and the elements that this index of the caller selects; NULL: of none */
    caromi_in_column in[COLUMNS_MAX];
    caromi_out_column out[COLUMNS_MAX];
} row_copies;

/* Allocates inputs and answers in one piece. */
static carom_status make_copies(row_copies *copies, carom_error *err)
{
    const caromi_stream *stream = copies->stream;
    const uint64_t words = (uint64_t)stream->in_count + stream->out_count;
    float *memory = caromi_alloc(copies->device->context, copies->count, words * sizeof *memory);
    if (memory == NULL)
        return caromi_fail_memory(err, "no memory for %u undecided queries", copies->count);
    copies->memory = memory;
    for (uint32_t i = 0; i < stream->in_count; i++, memory += copies->count)
        copies->in[i] = (caromi_in_column){.base = memory, .stride = sizeof *memory};
    for (uint32_t i = 0; i < stream->out_count; i++, memory += copies->count)
        copies->out[i] = (caromi_out_column){stream->out[i].base != NULL ? memory : NULL, stream->out_size[i]};
    return CAROM_OK;
}

/* ---- in ---------------------------------------------------------------------------------------------------------- */

/* Sends the rows, unless the slot has them. */
static carom_status send_rows(row_copies *copies, carom_error *err)
{
    const size_t bytes = copies->count * sizeof *copies->rows;
    if (copies->rows_are_sent)
        return CAROM_OK;
    CHECK(caromi_reserve(copies->device, copies->slot, &copies->slot->rows, bytes, CAROMI_NO_HOST_POINTER, err));
    CHECK(caromi_write_at(copies->device, copies->slot->queue, copies->slot->rows.memory, CAROMI_BEGIN, copies->rows,
                          bytes, "rows", err));
    copies->rows_are_sent = 1;
    return CAROM_OK;
}

/* Has the device find the elements that a column's index selects for the rows, unless the slot has them. The index lies
 * on the device, as the column does. */
static carom_status find_elements(row_copies *copies, uint32_t column, carom_error *err)
{
    const void *index = copies->stream->in[column].index.base;
    CHECK(send_rows(copies, err));
    if (index == NULL || copies->elements == index)
        return CAROM_OK;
    copies->elements = index;
    return caromi_gather_elements(copies->device, copies->stream, copies->slot, column, copies->count, err);
}

static carom_status copy_input(row_copies *copies, uint32_t column, carom_error *err)
{
    const caromi_stream *stream = copies->stream;
    float *to = (float *)(uintptr_t)copies->in[column].base;
    const size_t bytes = copies->count * sizeof *to;
    for (uint32_t i = 0; stream->residents->in[column].memory == NULL && i < copies->count; i++)
        caromi_gather(&to[i], &stream->in[column], copies->slot->first + copies->rows[i], 1);
    if (stream->residents->in[column].memory == NULL)
        return CAROM_OK;
    CHECK(find_elements(copies, column, err));
    CHECK(caromi_reserve(copies->device, copies->slot, &copies->slot->in[column], bytes, CAROMI_NO_HOST_POINTER, err));
    CHECK(caromi_gather_resident_rows(copies->device, stream, copies->slot, column, copies->count, err));
    return caromi_read(copies->device, copies->slot->queue, copies->slot->in[column].memory, CAROMI_BEGIN, to, bytes,
                       CAROMI_WAIT, NULL, "undecided queries", err);
}

/* ---- out --------------------------------------------------------------------------------------------------------- */

static carom_status put_output(row_copies *copies, uint32_t column, carom_error *err)
{
    const caromi_stream *stream = copies->stream;
    const size_t size = stream->out_size[column];
    const char *from = copies->out[column].base;
    if (from == NULL)
        return CAROM_OK;
    if (!caromi_output_stays(stream, column)) {
        for (uint32_t i = 0; i < copies->count; i++)
            caromi_scatter(&stream->out[column], copies->slot->first + copies->rows[i], from + i * size, 1, size);
        return CAROM_OK;
    }
    CHECK(send_rows(copies, err));
    CHECK(caromi_reserve(copies->device, copies->slot, &copies->slot->out[column], copies->count * size,
                         CAROMI_NO_HOST_POINTER, err));
    CHECK(caromi_write_at(copies->device, copies->slot->queue, copies->slot->out[column].memory, CAROMI_BEGIN, from,
                          copies->count * size, "decided queries", err));
    return caromi_scatter_resident_rows(copies->device, stream, copies->slot, column, copies->count, err);
}

static carom_status answer(row_copies *copies, carom_stats *stats, carom_error *err)
{
    const caromi_stream *stream = copies->stream;
    for (uint32_t i = 0; i < stream->in_count; i++)
        CHECK(copy_input(copies, i, err));
    CHECK(stream->undecided->answer(copies->device->context, stream->user, copies->in, copies->out, copies->slot->first,
                                    copies->rows, copies->count, stats, err));
    for (uint32_t i = 0; i < stream->out_count; i++)
        CHECK(put_output(copies, i, err));
    return caromi_finish(copies->device, copies->slot->queue, err);
}

/* Copies the inputs of undecided rows to the host, answers them on the CPU, and copies the answers back. */
carom_status caromi_answer_undecided(caromi_device *device, const caromi_stream *stream, caromi_cl_slot *slot,
                                     const uint32_t *rows, uint32_t count, carom_stats *stats, carom_error *err)
{
    row_copies copies = {.device = device, .stream = stream, .slot = slot, .rows = rows, .count = count};
    const double start = caromi_now();
    const uint64_t chunk = slot->count;
    CHECK(make_copies(&copies, err));
    caromi_slot_retire(slot); /* rows go into the slot's own columns, not into the caller's arrays */
    slot->count = chunk;
    const carom_status status = answer(&copies, stats, err);
    caromi_free(device->context, copies.memory);
    stats->host += caromi_now() - start;
    return status;
}
