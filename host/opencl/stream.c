/* SPDX-License-Identifier: MIT */
/* Streams columns through a device, chunk by chunk (chunk.c). While one chunk computes, the next one is gathered and
 * uploaded, and the one before is downloaded. */
#include "device.h"
#include "enqueue.h"
#include "host/core/buffer.h"
#include "host/core/staging.h"

enum {
    CHUNK_MARKED = 1 << 22, /* most queries of a chunk if only marks cross the bus */
    CHUNK_FLOOR = 1 << 12   /* least queries of a chunk: if there is no memory even for these, the device fails */
};

/* Sets the slot to the chunk at `first`. If kernels need whole groups of lanes, the incomplete group at the batch's end
 * is a small chunk of its own, so that all other columns can be used in place. */
static void cut_chunk(const caromi_device *device, const caromi_stream *stream, uint64_t first, uint64_t chunk,
                      caromi_cl_slot *slot)
{
    const uint64_t left = stream->count - first, n = left < chunk ? left : chunk,
                   lanes = stream->answers_any_count ? 1 : device->lanes;
    slot->first = first;
    slot->count = device->unified && n >= lanes ? n - n % lanes : n;
    slot->padded = (slot->count + lanes - 1) / lanes * lanes;
}

/* Ends a stream after a failure: delivers earlier chunks, discards the failed one and all later ones. No command may
 * still run when the CPU continues in the caller's arrays. clFinish alone does not ensure that: in rusticl (Mesa 22.3)
 * it does not wait for commands that clFlush sent before. */
static void abandon(caromi_device *device, const caromi_stream *stream, caromi_cl_slot *failed, uint64_t *done,
                    carom_stats *stats)
{
    for (int i = 0; i < CAROMI_SLOTS; i++) {
        caromi_cl_slot *slot = &device->slots[i];
        const uint64_t count = slot->count;
        if (slot != failed && count > 0 && slot->first == *done &&
            caromi_chunk_finish(device, stream, slot, stats, NULL) == CAROM_OK)
            *done += count;
    }
    for (int i = 0; i < CAROMI_SLOTS; i++) {
        (void)caromi_chunk_await(device, &device->slots[i], NULL);
        (void)caromi_finish(device, device->slots[i].queue, NULL);
    }
    caromi_columns_release(device);
}

/* Runs the stream: starts a chunk in one slot, then finishes the chunk in the other. */
static carom_status run_chunks(caromi_device *device, const caromi_stream *stream, uint64_t chunk, uint64_t *done,
                               carom_stats *stats, carom_error *err)
{
    uint64_t next = *done;
    carom_status status = CAROM_OK;
    for (uint32_t turn = 0; status == CAROM_OK && *done < stream->count; turn = (turn + 1) % CAROMI_SLOTS) {
        caromi_cl_slot *slot = &device->slots[turn];
        if (slot->count > 0) {
            const uint64_t count = slot->count;
            status = caromi_chunk_finish(device, stream, slot, stats, err);
            *done += status == CAROM_OK ? count : 0;
        }
        if (status == CAROM_OK && next < stream->count) {
            cut_chunk(device, stream, next, chunk, slot);
            next += slot->count;
            status = caromi_chunk_start(device, stream, slot, stats, err);
            if (status == CAROM_OK && caromi_chunk_events(slot) > 0) /* a chunk that has settled cannot fail any more */
                status = caromi_flush(device, slot->queue, err);
        }
        if (status != CAROM_OK)
            abandon(device, stream, slot, done, stats);
    }
    return status;
}

/* Enqueues all chunks of a call in the caller's queue, one after the other in one slot, whose memory the commands keep
 * as long as they need it. */
static carom_status enqueue_chunks(caromi_device *device, const caromi_stream *stream, uint64_t chunk, uint64_t *done,
                                   carom_stats *stats, carom_error *err)
{
    caromi_cl_slot *slot = &device->slots[0];
    const cl_command_queue own = slot->queue;
    carom_status status = CAROM_OK;
    slot->queue = caromi_enqueue_queue(device->context);
    while (status == CAROM_OK && *done < stream->count) {
        cut_chunk(device, stream, *done, chunk, slot);
        status = caromi_chunk_start(device, stream, slot, stats, err);
        *done += slot->count;
        caromi_slot_retire(slot);
    }
    slot->queue = own;
    return status;
}

/* The bytes of a query on the device; *most: its bytes in the largest buffer. Discrete devices have a transfer block
 * each way too. */
static uint64_t bytes_of_query(const caromi_device *device, const caromi_stream *stream, uint64_t *most)
{
    const uint64_t in = stream->in_count * sizeof(float);
    uint64_t out = 0;
    for (uint32_t i = 0; i < stream->out_count; i++)
        out += stream->out_size[i];
    *most = device->unified ? sizeof(float) : in > out ? in : out;
    *most = stream->largest > *most ? stream->largest : *most;
    return (in + out) * (device->unified ? 1 : 2) + stream->extra;
}

/* The size of chunks: no buffer exceeds the device's limit, and both slots fit into a quarter of its memory. */
static uint64_t first_chunk(const caromi_device *device, const caromi_stream *stream)
{
    const uint64_t cached = 1u << 16; /* chunks of a CPU device, small enough that staging copies stay in its caches */
    uint64_t most, chunk = stream->chunk;
    const uint64_t bytes = bytes_of_query(device, stream, &most);
    for (uint32_t i = 0; device->unified && i < stream->in_count; i++)
        if ((stream->in[i].index.base != NULL || stream->in[i].stride > sizeof(float)) && chunk > cached)
            chunk = cached;
    const uint64_t buffer = device->info.max_allocation / most,
                   line = buffer > CAROMI_BLOCK_LINE ? CAROMI_BLOCK_LINE : 1;
    const uint64_t by_buffer = buffer - buffer % line, by_total = device->info.memory / 4 / (CAROMI_SLOTS * bytes);
    chunk = chunk < stream->count ? chunk : stream->count;
    chunk = chunk < by_buffer || by_buffer == 0 ? chunk : by_buffer; /* 0: the device does not say */
    chunk = chunk < by_total || by_total == 0 ? chunk : by_total;
    const uint32_t wanted = device->probing ? 0 : device->context->desc.device_chunk;
    chunk = wanted != 0 && wanted < chunk ? wanted : chunk;
    return chunk > device->lanes && chunk < stream->count ? chunk - chunk % device->lanes : chunk;
}

/* Runs the stream, with smaller chunks if the device lacks memory. */
static carom_status run_all(caromi_device *device, const caromi_stream *stream, uint64_t *done, carom_stats *stats,
                            carom_error *err)
{
    for (uint64_t chunk = first_chunk(device, stream);; chunk /= 2) {
        carom_error why = {CAROM_OK, 0, ""};
        const carom_status status = run_chunks(device, stream, chunk, done, stats, &why);
        if (status != CAROM_ERROR_OUT_OF_MEMORY || chunk / 2 < CHUNK_FLOOR) {
            if (status != CAROM_OK && err != NULL)
                *err = why;
            return status;
        }
        caromi_log(device->context, CAROM_LOG_INFO, "%s has no memory for %llu queries at a time; trying half",
                   device->info.name, (unsigned long long)chunk);
    }
}

/* The host gathers inputs in its memory, by indices that may lie on the device. */
static carom_status bring_indices(const caromi_device *device, const caromi_stream *stream, carom_error *err)
{
    carom_context *context = (carom_context *)device->context; /* of the running call, whose staging copies change */
    for (uint32_t i = 0; i < stream->in_count; i++) {
        const void *index = stream->in[i].index.base;
        if (!caromi_input_stays(stream, i) && caromi_resident_buffer(context, index) != NULL)
            CHECK(caromi_staging_show_index(context, index, err));
    }
    return CAROM_OK;
}

/* Triangles that stay on the device are not checked, as the host would have to download them. Unwanted triangles are
 * not checked either if all answers stay. */
carom_status caromi_stream_run(caromi_device *device, const caromi_stream *stream, uint64_t *done, carom_stats *stats,
                               carom_error *err)
{
    caromi_residents residents;
    if (*done >= stream->count) /* only prepares: builds and allocates */
        return caromi_prepare_residents(device, stream, err);
    if (!caromi_find_residents(device, stream, &residents)) {
        CHECK(caromi_enqueue_refuse(device->context, err));
        CHECK(bring_indices(device, stream, err));
        return run_all(device, stream, done, stats, err);
    }
    caromi_stream own = *stream;
    own.residents = &residents;
    assert(own.compacts == NULL); /* with compaction no column stays on the device */
    own.resolve = NULL;           /* would need the inputs on the host */
    if (own.check != NULL &&
        (caromi_output_stays(&own, own.mark[0]) || (own.out[own.mark[0]].base == NULL && caromi_answers_stay(&own)))) {
        own.check = NULL;
        own.mark[0] = CAROMI_NO_MARK;
    }
    /* Chunks are short so that transfers overlap with kernels. Without transfers, a chunk is as large as a launch may
     * be, unless it consists of tiles of a lattice. */
    if (device->gpu && own.in_count > 0 && caromi_inputs_stay(&own) && caromi_answers_stay(&own))
        own.chunk = own.undecided == NULL || device->max_items < CHUNK_MARKED ? device->max_items : CHUNK_MARKED;
    if (device->context->enqueued == NULL) {
        CHECK(bring_indices(device, &own, err));
        return run_all(device, &own, done, stats, err);
    }
    if (!caromi_inputs_stay(&own) || !caromi_answers_stay(&own) || own.check != NULL || own.undecided != NULL)
        return caromi_enqueue_refuse(device->context, err);
    return enqueue_chunks(device, &own, first_chunk(device, &own), done, stats, err);
}
