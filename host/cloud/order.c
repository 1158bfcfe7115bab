/* SPDX-License-Identifier: MIT */
/* The order of spheres by cell, as a permutation for the caller. */
#include <string.h>

#include "cloud.h"

/* The spheres in cells come first, then the spheres in no cell (not valid), by index. is_written: [spheres] zeros. */
static void write_order(const caromi_cloud_cells *cells, uint64_t count, uint8_t *is_written, uint32_t *order)
{
    uint64_t slot = 0;
    for (; slot < cells->count; slot++) {
        order[slot] = cells->index[slot];
        is_written[order[slot]] = 1;
    }
    for (uint64_t i = 0; i < count; i++)
        if (!is_written[i])
            order[slot++] = (uint32_t)i;
}

caromi_cloud caromi_cloud_resting(const caromi_cloud *cloud)
{
    caromi_cloud resting = *cloud;
    resting.is_moving = 0; /* positions at time 0 */
    memset(resting.period, 0, sizeof resting.period);
    resting.mask.base = resting.group.base = NULL;
    resting.margin = 0;
    return resting;
}

/* Sorts the spheres at time 0 into cells, and writes their indices by cell. */
carom_status caromi_cloud_order(const caromi_cloud *cloud, uint32_t *order, carom_error *err)
{
    const caromi_cloud_slice instant = {.begin = 0};
    const caromi_cloud resting = caromi_cloud_resting(cloud);
    caromi_cloud_cells cells;
    uint8_t *is_written = caromi_alloc(cloud->context, cloud->count + 1, 1);
    if (is_written == NULL)
        return caromi_fail_memory(err, "no memory for the order of %llu spheres", (unsigned long long)cloud->count);
    memset(is_written, 0, cloud->count);
    const carom_status status = caromi_cloud_build(&resting, &instant, &cells, err);
    if (status == CAROM_OK) {
        write_order(&cells, cloud->count, is_written, order);
        caromi_cloud_free(&resting, &cells);
    }
    caromi_free(cloud->context, is_written);
    return status;
}
