/* SPDX-License-Identifier: MIT */
/* Where a batch runs: on the device as far as that goes, the rest on the CPU. */
#include <string.h>

#include "cl.h"

carom_status caromi_run(carom_context *c, const caromi_batch *batch, carom_stats *stats, carom_error *err)
{
    const double start = caromi_now();
    uint64_t done = 0;
    carom_stats local;
    memset(&local, 0, sizeof local);
    local.size = sizeof local;
    local.queries = batch->count;
    caromi_device *device = NULL;
    carom_status status = caromi_pick_device(c, batch, &device, &local, err);
    if (status == CAROM_OK && device != NULL) {
        carom_error cause = {CAROM_OK, 0, ""};
        const double device_start = caromi_now();
        status = batch->on_device(device, batch->batch, &done, &local, &cause);
        local.on_device = done;
        if (status != CAROM_OK)
            status = caromi_fall_back(c, status, batch->count - done, &local, &cause, err);
        else if (done == batch->count)
            caromi_learn_device(batch, caromi_now() - device_start);
    }
    if (status == CAROM_OK && done < batch->count) {
        const double cpu_start = caromi_now();
        local.on_cpu = batch->count - done;
        status = batch->on_cpu(c, batch->batch, done, &local, err);
        const double seconds = caromi_now() - cpu_start;
        local.compute += seconds;
        if (done == 0)
            caromi_learn_cpu(batch, seconds);
    }
    local.by_proof = batch->exact ? batch->count - local.by_integers : 0;
    local.total = caromi_now() - start;
    if (status == CAROM_OK && stats != NULL)
        *stats = local;
    return status;
}

static carom_status pairs_on_cpu(const carom_context *c, const void *batch, uint64_t first, carom_stats *stats,
                                 carom_error *err)
{
    const caromi_pair_batch *pairs = batch;
    const size_t each = caromi_cpu_scratch_size();
    const uint32_t threads = caromi_pool_threads(c->pool);
    void *scratch = caromi_alloc(c, threads, each);
    if (scratch == NULL)
        return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory to stage a batch (%u threads x %zu bytes)",
                           threads, each);
    stats->by_integers += caromi_cpu_pairs(c->isa, c->pool, scratch, pairs, first, pairs->count - first);
    caromi_free(c, scratch);
    return CAROM_OK;
}

carom_status caromi_run_pairs(carom_context *c, const caromi_pair_batch *batch, carom_stats *stats, carom_error *err)
{
    const caromi_batch run = {.batch = batch,
                              .count = batch->count,
                              .on_device = caromi_device_pairs,
                              .on_cpu = pairs_on_cpu,
                              .exact = caromi_is_exact(batch->kernel),
                              .name = caromi_pair_shapes[batch->kernel].name,
                              .pace = &c->paces[batch->kernel]};
    return caromi_run(c, &run, stats, err);
}
