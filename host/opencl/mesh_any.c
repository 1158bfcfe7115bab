/* SPDX-License-Identifier: MIT */
/* Any-hit queries on a device: the search's states are the answers, except for a few undecided ones in exact mode. */
#include <string.h>

#include "host/mesh/block.h"
#include "mesh_list.h"

/* Lists undecided queries: they have hits, but no decided one. marks: numbers of hits, states. */
static uint32_t list_undecided(const void *user, const void *const *marks, uint32_t count, uint32_t *rows)
{
    const int32_t *hits = marks[0];
    const uint8_t *states = marks[1];
    uint32_t found = 0;
    (void)user;
    for (uint32_t i = 0; i < count; i++)
        if (states[i] == CAROM_MISS && hits[i] != 0)
            rows[found++] = i;
    return found;
}

static carom_status answer_undecided(const carom_context *context, const void *user, const caromi_in_column *in,
                                     const caromi_out_column *out, uint64_t first, const uint32_t *rows, uint64_t count,
                                     carom_stats *stats, carom_error *err)
{
    (void)first, (void)rows;
    caromi_list_batch batch = *((const caromi_list_part *)user)->batch;
    caromi_mesh_batch *sweep = &batch.sweep;
    memcpy(sweep->in, in, (size_t)sweep->kind->in * sizeof *in);
    sweep->mask = sweep->mask.base != NULL ? in[sweep->kind->in + 1] : sweep->mask;
    sweep->begin = 0;
    sweep->count = count;
    batch.any = out[1].base;
    return caromi_cpu_list(context, &batch, 0, count, stats, err);
}
static const caromi_undecided undecided_any = {list_undecided, answer_undecided};

/* Checks the numbers of hits: if they are impossible, the states are wrong too. */
static carom_status check_any(const caromi_device *device, const void *user, const void *hits, size_t stride,
                              uint64_t count, uint64_t first, uint64_t end, carom_error *err)
{
    const uint64_t most = ((const caromi_list_part *)user)->batch->sweep.mesh->info.triangle_count;
    int corrupt = 0, truncated = 0;
    for (uint64_t i = 0; i < count; i++) {
        int32_t number;
        memcpy(&number, (const char *)hits + i * stride, sizeof number);
        corrupt |= (uint32_t)number > most;
        truncated |= number == MESH_LOOP_TRUNCATED;
    }
    return truncated ? caromi_fail_truncated(device, first, end, err)
           : corrupt ? caromi_fail_corrupt(device, "numbers of hits", first, end, err)
                     : CAROM_OK;
}

static void states_to_hits(uint8_t *any, uint64_t first, uint64_t end)
{
    for (uint64_t i = first; i < end; i++)
        any[i] = any[i] == CAROM_INVALID ? CAROM_OVERLAP_INVALID : any[i] != CAROM_MISS;
}

/* Streams any-hit queries in fast mode, or with answers that stay on the device. */
carom_status caromi_stream_any(caromi_device *device, caromi_list_part *part, uint64_t end, uint64_t *done,
                               carom_stats *stats, carom_error *err)
{
    static const float none = 0;
    const caromi_mesh_batch *sweep = &part->batch->sweep;
    const int columns = sweep->kind->in;
    caromi_in_column in[CAROMI_MESH_IN + 2];
    const caromi_out_column out[3] = {{NULL, 4}, {part->batch->any, 1}, {NULL, 4}};
    memcpy(in, sweep->in, (size_t)columns * sizeof *in);
    in[columns] = (caromi_in_column){.base = &none};
    in[columns + 1] = sweep->mask;
    caromi_stream stream = caromi_list_stream(device, part, end, in, out);
    const int stays = caromi_is_resident(device, part->batch->any);
    const uint64_t first = *done;
    stream.states_as_hits = stays ? 2 : 0;
    if (sweep->exact) {
        stream.mark[1] = 1;
        stream.mark_count = 2;
        stream.undecided = &undecided_any;
    } else {
        stream.mark_count = 1;
        stream.check = check_any;
    }
    const carom_status status = caromi_stream_run(device, &stream, done, stats, err);
    if (!stays)
        states_to_hits(part->batch->any, first, *done);
    return status;
}
