/* SPDX-License-Identifier: MIT */
/* Levels by place, for clouds whose small spheres lie together. */
#ifndef CAROM_HOST_CLOUD_CROWDED_H
#define CAROM_HOST_CLOUD_CROWDED_H
#include "cloud.h"

/* Whether so many pairs share cells that caromi_cloud_relevel may be worth it. */
int caromi_cloud_is_crowded(const caromi_cloud_cells *cells);
/* New levels, coarse ones first, and the level of each sphere by index, from cells that are crowded. Returns the number
 * of levels; 0: the old ones are as good, or there is no memory, and nothing is written. */
uint32_t caromi_cloud_relevel(const caromi_cloud *cloud, const caromi_cloud_cells *cells,
                              caromi_cloud_level levels[CAROMI_CLOUD_LEVELS], uint8_t *level_of);
/* Decides for each two levels from which of them the spheres of the other are searched for. directions.c. */
void caromi_cloud_direct(caromi_cloud_cells *cells);
#endif
