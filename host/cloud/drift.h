/* SPDX-License-Identifier: MIT */
/* The velocity that most spheres of a cloud have in common: on a conveyor, or in free fall. */
#ifndef CAROM_HOST_CLOUD_DRIFT_H
#define CAROM_HOST_CLOUD_DRIFT_H
#include <stdint.h>

/* Whether `tried` of `count` spheres, at most 16, move by less against each other than all of them do. A few hundred
 * instructions, so that clouds without a drift do not notice. */
int caromi_drift_is_likely(const float *const velocity[3], uint32_t count, uint32_t tried);

/* Candidates for the common velocity: the medians; the middle between two streams. */
enum { CAROMI_DRIFTS = 2 };
void caromi_drift_candidates(const float *const velocity[3], uint32_t count, float *room /* [count] */,
                             double drift[CAROMI_DRIFTS][3]);
#endif
