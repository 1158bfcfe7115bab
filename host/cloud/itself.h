/* SPDX-License-Identifier: MIT */
/* A cloud at rest against itself: one search of one cloud, and the pairs of spheres with themselves. */
#ifndef CAROM_HOST_CLOUD_ITSELF_H
#define CAROM_HOST_CLOUD_ITSELF_H
#include "best.h"
#include "records.h"

/* Whether both clouds of a call are the same arrays, of spheres at rest in an open box. */
int caromi_cloud_is_against_itself(const carom_cloud_desc *desc, const caromi_cloud *cloud);
/* Adds the pair of each valid sphere with itself, where the cloud is against itself, to one of these: records of a
 * list, counts of partners by index, first partners. The others are NULL. */
void caromi_cloud_add_itself(const caromi_cloud *cloud, caromi_records *records, uint32_t *counts,
                             caromi_partners *partners);
#endif
