/* SPDX-License-Identifier: MIT */
/* The caller's arrays that a cloud or a list on a GPU fills: where they lie on the device, or copies that are read
 * back. */
#include "grid.h"
#include "cpu/columns.h"

carom_status caromi_grid_place_outputs(const grid_job *job, grid_outputs *all, carom_error *err)
{
    for (uint32_t k = 0; k < all->count; k++) {
        const int is_wanted = all->base[k] != NULL;
        const uint32_t memory = all->memory + k;
        const size_t stride = all->stride != NULL ? all->stride[k] : all->size[k];
        all->wanted |= is_wanted ? 1u << k : 0;
        if (is_wanted)
            all->base[k] = (char *)all->base[k] + all->before * stride;
        all->at[k] = caromi_resident_at(job->device, all->base[k]);
        all->is_copy[k] = all->at[k].memory == NULL;
        if (!all->is_copy[k])
            continue;
        CHECK(caromi_grid_reserve(job, memory, is_wanted ? all->elements : 1, all->size[k], err));
        all->at[k].memory = *caromi_grid_memory_of(job, memory);
    }
    return CAROM_OK;
}

void caromi_grid_set_output(caromi_arguments *arguments, const grid_outputs *all, uint32_t k)
{
    caromi_set_resident(arguments, &all->at[k]);
    if (all->stride != NULL)
        caromi_set_ulong(arguments, all->is_copy[k] ? all->size[k] : all->stride[k]);
}

void caromi_grid_set_outputs(caromi_arguments *arguments, const grid_outputs *all)
{
    caromi_set_uint(arguments, all->wanted);
    for (uint32_t k = 0; k < all->count; k++)
        caromi_grid_set_output(arguments, all, k);
}

/* Reads elements that are not adjacent in the caller's memory, some at a time. */
static carom_status fetch_scattered(const grid_job *job, const grid_outputs *all, uint32_t k, carom_error *err)
{
    enum { BYTES = 1 << 18 };
    const size_t size = all->size[k], most = BYTES / size;
    const caromi_out_column to = {all->base[k], all->stride[k]};
    char *some = caromi_alloc(job->device->context, BYTES, 1);
    carom_status status = CAROM_OK;
    if (some == NULL)
        return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory to read a column (%d bytes)", BYTES);
    for (uint64_t first = 0; status == CAROM_OK && first < all->elements; first += most) {
        const size_t count = all->elements - first < most ? (size_t)(all->elements - first) : most;
        status = caromi_read(job->device, job->slot->queue, all->at[k].memory, (size_t)first * size, some, count * size,
                             CAROMI_WAIT, NULL, "records", err);
        if (status == CAROM_OK)
            caromi_scatter(&to, first, some, count, size);
    }
    caromi_free(job->device->context, some);
    return status;
}

carom_status caromi_grid_fetch_outputs(const grid_job *job, const grid_outputs *all, carom_error *err)
{
    CHECK(caromi_slot_settle(job->device, job->slot, job->stats, err));
    for (uint32_t k = 0; k < all->count; k++) {
        if (!all->is_copy[k] || all->base[k] == NULL || all->elements == 0)
            continue;
        if (all->stride != NULL && all->stride[k] != all->size[k])
            CHECK(fetch_scattered(job, all, k, err));
        else
            CHECK(caromi_read(job->device, job->slot->queue, all->at[k].memory, CAROMI_BEGIN, all->base[k],
                              (size_t)all->elements * all->size[k], CAROMI_WAIT, NULL, "records", err));
    }
    return CAROM_OK;
}
