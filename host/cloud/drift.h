/* SPDX-License-Identifier: MIT */
/* A velocity common to most spheres of a cloud, as on a conveyor or in free fall. */
#ifndef CAROM_HOST_CLOUD_DRIFT_H
#define CAROM_HOST_CLOUD_DRIFT_H
#include <stdint.h>

/* Whether the spheres' speeds relative to their median velocity are much less than their speeds, judged by `tried` (at
 * most 16) of `count` spheres. Takes a few hundred instructions, which is negligible for clouds without a drift. */
int caromi_drift_is_likely(const float *const velocity[3], uint32_t count, uint32_t tried);

/* Candidates for the common velocity: the median of each component, and the middle between two streams. */
enum { CAROMI_DRIFTS = 2 };
void caromi_drift_candidates(const float *const velocity[3], uint32_t count, float *room /* [count] */,
                             double drift[CAROMI_DRIFTS][3]);
#endif
