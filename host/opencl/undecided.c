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
    uint32_t *elements;     /* [count] scratch: the rows' values in an index of the caller */
    const void *sent_index; /* the contents of the slot's index: elements by this index of the caller, or rows (NULL) */
    caromi_in_column in[COLUMNS_MAX];
    caromi_out_column out[COLUMNS_MAX];
} row_copies;

/* Allocates elements, inputs and answers in one piece. */
static carom_status make_copies(row_copies *c, carom_error *err)
{
    const caromi_stream *s = c->stream;
    const uint64_t words = 1 + (uint64_t)s->in_count + s->out_count;
    uint32_t *memory = caromi_alloc(c->device->context, c->count, words * sizeof *memory);
    if (memory == NULL)
        return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory for %u undecided queries", c->count);
    c->elements = memory;
    for (uint32_t i = 0; i < s->in_count; i++)
        c->in[i] = (caromi_in_column){.base = memory += c->count, .stride = sizeof *memory};
    for (uint32_t i = 0; i < s->out_count; i++) {
        memory += c->count;
        c->out[i] = (caromi_out_column){s->out[i].base != NULL ? memory : NULL, s->out_size[i]};
    }
    return CAROM_OK;
}

/* ---- in ---------------------------------------------------------------------------------------------------------- */

/* Sends the index that a column needs, unless the slot has it. */
static carom_status send_index(row_copies *c, const caromi_index *index, carom_error *err)
{
    const void *wanted = index != NULL && index->base != NULL ? index->base : (const void *)c->rows;
    if (c->sent_index == wanted)
        return CAROM_OK;
    for (uint32_t i = 0; wanted != c->rows && i < c->count; i++)
        c->elements[i] = (uint32_t)caromi_index_at(index, c->slot->first + c->rows[i]);
    CHECK(caromi_reserve(c->device, c->slot, &c->slot->rows, c->count * sizeof *c->rows, CAROMI_NO_HOST_POINTER, err));
    CHECK(caromi_write_at(c->device, c->slot->queue, c->slot->rows.memory, 0, wanted == c->rows ? c->rows : c->elements,
                          c->count * sizeof *c->rows, "rows", err));
    c->sent_index = wanted;
    return CAROM_OK;
}

static carom_status copy_input(row_copies *c, uint32_t column, carom_error *err)
{
    const caromi_stream *s = c->stream;
    float *to = (float *)(uintptr_t)c->in[column].base;
    const size_t bytes = c->count * sizeof *to;
    for (uint32_t i = 0; s->residents->in[column].memory == NULL && i < c->count; i++)
        caromi_gather(&to[i], &s->in[column], c->slot->first + c->rows[i], 1);
    if (s->residents->in[column].memory == NULL)
        return CAROM_OK;
    CHECK(send_index(c, &s->in[column].index, err));
    CHECK(caromi_reserve(c->device, c->slot, &c->slot->in[column], bytes, CAROMI_NO_HOST_POINTER, err));
    CHECK(caromi_gather_resident_rows(c->device, s, c->slot, column, c->count, err));
    return caromi_read(c->device, c->slot->queue, c->slot->in[column].memory, 0, to, bytes, 1, NULL,
                       "undecided queries", err);
}

/* ---- out --------------------------------------------------------------------------------------------------------- */

static carom_status put_output(row_copies *c, uint32_t column, carom_error *err)
{
    const caromi_stream *s = c->stream;
    const size_t size = s->out_size[column];
    const char *from = c->out[column].base;
    if (from == NULL)
        return CAROM_OK;
    if (!caromi_output_stays(s, column)) {
        for (uint32_t i = 0; i < c->count; i++)
            caromi_scatter(&s->out[column], c->slot->first + c->rows[i], from + i * size, 1, size);
        return CAROM_OK;
    }
    CHECK(send_index(c, NULL, err));
    CHECK(caromi_reserve(c->device, c->slot, &c->slot->out[column], c->count * size, CAROMI_NO_HOST_POINTER, err));
    CHECK(caromi_write_at(c->device, c->slot->queue, c->slot->out[column].memory, 0, from, c->count * size,
                          "decided queries", err));
    return caromi_scatter_resident_rows(c->device, s, c->slot, column, c->count, err);
}

static carom_status answer(row_copies *c, carom_stats *stats, carom_error *err)
{
    const caromi_stream *s = c->stream;
    for (uint32_t i = 0; i < s->in_count; i++)
        CHECK(copy_input(c, i, err));
    CHECK(s->undecided->answer(c->device->context, s->user, c->in, c->out, c->count, stats, err));
    for (uint32_t i = 0; i < s->out_count; i++)
        CHECK(put_output(c, i, err));
    return caromi_finish(c->device, c->slot->queue, err);
}

carom_status caromi_answer_undecided(caromi_device *d, const caromi_stream *s, caromi_cl_slot *slot,
                                     const uint32_t *rows, uint32_t count, carom_stats *stats, carom_error *err)
{
    row_copies c = {.device = d, .stream = s, .slot = slot, .rows = rows, .count = count};
    const double start = caromi_now();
    const uint64_t chunk = slot->count;
    CHECK(make_copies(&c, err));
    caromi_slot_retire(slot); /* rows go into the slot's own columns, not into the caller's arrays */
    slot->count = chunk;
    const carom_status status = answer(&c, stats, err);
    caromi_free(d->context, c.elements);
    stats->host += caromi_now() - start;
    return status;
}
