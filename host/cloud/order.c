/* SPDX-License-Identifier: MIT */
/* The order of spheres by cell, as a permutation for the caller. */
#include <string.h>

#include "cloud.h"

/* The spheres in cells come first, then the spheres in no cell (not valid), by index. is_placed: [spheres] zeros. */
static void write_order(const caromi_cloud_cells *cells, uint64_t count, uint8_t *is_placed, uint32_t *order)
{
    uint64_t place = 0;
    for (; place < cells->count; place++) {
        order[place] = cells->index[place];
        is_placed[order[place]] = 1;
    }
    for (uint64_t i = 0; i < count; i++)
        if (!is_placed[i])
            order[place++] = (uint32_t)i;
}

carom_status caromi_cloud_order(const caromi_cloud *cloud, uint32_t *order, carom_error *err)
{
    const caromi_cloud_slice instant = {.begin = 0};
    caromi_cloud resting = *cloud;
    caromi_cloud_cells cells;
    resting.is_moving = 0; /* positions at time 0 */
    memset(resting.period, 0, sizeof resting.period);
    resting.mask.base = NULL;
    resting.margin = 0;
    uint8_t *is_placed = caromi_alloc(cloud->context, cloud->count + 1, 1);
    if (is_placed == NULL)
        return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory for the order of %llu spheres",
                           (unsigned long long)cloud->count);
    memset(is_placed, 0, cloud->count);
    const carom_status status = caromi_cloud_build(&resting, &instant, &cells, err);
    if (status == CAROM_OK) {
        write_order(&cells, cloud->count, is_placed, order);
        caromi_cloud_free(&resting, &cells);
    }
    caromi_free(cloud->context, is_placed);
    return status;
}
