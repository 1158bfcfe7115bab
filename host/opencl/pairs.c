/* SPDX-License-Identifier: MIT */
/* Pair batches on a device. */
#include <stdio.h>
#include <string.h>

#include "cpu/resolve.h"
#include "host/core/fallback.h"
#include "device.h"

static carom_status launch_pairs(caromi_device *device, caromi_cl_slot *slot, const void *user, carom_error *err)
{
    const caromi_pair_batch *batch = user;
    const caromi_pair_shape *shape = &caromi_pair_shapes[batch->kernel];
    caromi_arguments arguments = caromi_arguments_of(device, batch->kernel);
    caromi_set_columns(&arguments, slot->in, shape->in_count);
    caromi_set_columns(&arguments, slot->out, shape->out_count);
    return caromi_launch_chunk(device, slot, &arguments, slot->padded / device->lanes, err);
}

static caromi_rungs resolve_pairs(const void *user, const void *const *marks, const uint64_t *rows, uint64_t first,
                                  size_t count)
{
    assert(rows == NULL);
    (void)rows;
    return caromi_resolve_pairs(user, marks[0], first, count);
}

static uint32_t list_undecided(const void *user, const void *const *marks, uint32_t count, uint32_t *rows)
{
    return caromi_undecided_pairs(user, marks[0], count, rows);
}

static carom_status answer_undecided(const carom_context *context, const void *user, const caromi_in_column *in,
                                     const caromi_out_column *out, uint64_t first, const uint32_t *rows, uint64_t count,
                                     carom_stats *stats, carom_error *err)
{
    (void)first, (void)rows;
    caromi_pair_batch batch = *(const caromi_pair_batch *)user;
    const caromi_pair_shape *shape = &caromi_pair_shapes[batch.kernel];
    memcpy(batch.in, in, shape->in_count * sizeof *in);
    memcpy(batch.out, out, shape->out_count * sizeof *out);
    batch.count = count;
    return caromi_pairs_on_cpu(context, &batch, 0, count, stats, err);
}
static const caromi_undecided undecided_pairs = {list_undecided, answer_undecided};

/* Streams a batch of pairs through a device. */
carom_status caromi_stream_pairs(caromi_device *device, const caromi_pair_batch *batch, uint64_t end, uint64_t *done,
                                 carom_stats *stats, carom_error *err)
{
    const caromi_pair_shape *shape = &caromi_pair_shapes[batch->kernel];
    const int resolves = caromi_is_exact(batch->kernel) && !device->probing;
    caromi_stream stream = {.count = end,
                            /* Small enough that several chunks are in flight. */
                            .chunk = device->gpu ? 1u << 18 : device->max_items * device->lanes,
                            .in_count = shape->in_count,
                            .out_count = shape->out_count,
                            .in = batch->in,
                            .out = batch->out,
                            .resolve = resolves ? resolve_pairs : NULL,
                            .mark_count = resolves ? 1 : 0,
                            .undecided = resolves ? &undecided_pairs : NULL,
                            .launch = launch_pairs,
                            .user = batch};
    for (uint32_t c = 0; c < shape->out_count; c++)
        stream.out_size[c] = (uint8_t)caromi_out_size(shape, c);
    return caromi_stream_run(device, &stream, done, stats, err);
}

carom_status caromi_lacks_fp64(const caromi_device *device, const char *what, carom_stats *stats)
{
    char reason[128];
    (void)snprintf(reason, sizeof reason, "%.60s has no binary64, which %s", device->info.name, what);
    caromi_decline(device->context, stats, reason);
    return CAROM_OK;
}

carom_status caromi_device_pairs(caromi_device *device, const void *pair_batch, uint64_t end, uint64_t *done,
                                 carom_stats *stats, carom_error *err)
{
    const caromi_pair_batch *batch = pair_batch;
    if (caromi_program_needs_fp64(batch->kernel) && !device->info.fp64)
        return caromi_lacks_fp64(device, "exact mode needs", stats);
    carom_status status = caromi_probe_pairs(device, batch->kernel, err);
    if (status == CAROM_OK)
        status = caromi_stream_pairs(device, batch, end, done, stats, err);
    return status;
}
