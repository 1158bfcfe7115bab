/* SPDX-License-Identifier: MIT */
/* Where a pair batch runs: on the device as far as that goes, the rest on the CPU. */
#include <string.h>

#include "cl.h"

static carom_status run_on_cpu(const carom_context *c, const caromi_pair_batch *batch, uint64_t first, carom_error *err)
{
    const size_t each = caromi_cpu_scratch_size();
    void *scratch = caromi_alloc(c, c->threads, each);
    if (scratch == NULL)
        return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory to stage a batch (%u threads x %zu bytes)",
                           c->threads, each);
    caromi_cpu_pairs(c->isa, c->threads, scratch, batch, first, batch->count - first);
    caromi_free(c, scratch);
    return CAROM_OK;
}

carom_status caromi_run_pairs(carom_context *c, const caromi_pair_batch *batch, carom_stats *stats, carom_error *err)
{
    const double start = caromi_now();
    uint64_t done = 0;
    carom_stats local;
    memset(&local, 0, sizeof local);
    local.size = sizeof local;
    local.queries = batch->count;
    caromi_device *device;
    carom_status status = caromi_pick_device(c, batch->count, &device, err);
    if (status != CAROM_OK)
        return status;
    if (device != NULL) {
        carom_error cause = {CAROM_OK, 0, ""};
        status = caromi_device_pairs(device, batch, &done, &local, &cause);
        local.on_device = done;
        if (status != CAROM_OK)
            status = caromi_fall_back(c, status, batch->count - done, &local, &cause, err);
        if (status != CAROM_OK)
            return status;
    }
    if (done < batch->count) {
        const double cpu_start = caromi_now();
        status = run_on_cpu(c, batch, done, err);
        if (status != CAROM_OK)
            return status;
        local.on_cpu = batch->count - done;
        local.compute += caromi_now() - cpu_start;
    }
    local.total = caromi_now() - start;
    if (stats != NULL)
        *stats = local;
    return CAROM_OK;
}
