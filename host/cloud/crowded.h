/* SPDX-License-Identifier: MIT */
/* Levels by local density, for clouds with heaps of small spheres. */
#ifndef CAROM_HOST_CLOUD_CROWDED_H
#define CAROM_HOST_CLOUD_CROWDED_H
#include "cloud.h"

/* Whether enough pairs of spheres share cells for caromi_cloud_relevel to pay. */
int caromi_cloud_is_crowded(uint64_t doubled, uint64_t spheres);
/* Whether narrower cells, which save that many tests, pay for their making. */
int caromi_cloud_saves(double tests, uint64_t spheres);
/* Chooses new levels from crowded cells, coarse ones first, and the level of each sphere by index. Returns the number
 * of levels. 0: the old levels are as good, or there is no memory; nothing is written then. */
uint32_t caromi_cloud_relevel(const caromi_cloud *cloud, const caromi_cloud_cells *cells,
                              caromi_cloud_level levels[CAROMI_CLOUD_LEVELS], uint8_t *level_of);
/* Decides for each pair of levels which one's spheres search the other one's cells. directions.c. */
void caromi_cloud_direct(caromi_cloud_cells *cells);
#endif
