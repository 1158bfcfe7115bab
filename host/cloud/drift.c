/* SPDX-License-Identifier: MIT */
#include "drift.h"

#include <math.h>
#include <string.h>

#include "cloud.h"

enum { TRIED_MOST = 16 }; /* spheres of a test */

static float median(float *numbers, uint32_t count)
{
    return caromi_cloud_select(numbers, count, count / 2);
}

/* Compares the speeds of a few spheres with their speeds relative to the median velocity. */
int caromi_drift_is_likely(const float *const velocity[3], uint32_t count, uint32_t tried)
{
    float component[TRIED_MOST], median_velocity[3], speed[TRIED_MOST], relative_speed[TRIED_MOST];
    for (int axis = 0; axis < 3; axis++) {
        for (uint32_t i = 0; i < tried; i++)
            component[i] = velocity[axis][i * (count - 1) / (tried - 1)];
        median_velocity[axis] = median(component, tried);
    }
    for (uint32_t i = 0; i < tried; i++) {
        speed[i] = relative_speed[i] = 0;
        for (int axis = 0; axis < 3; axis++) {
            /* Scaled so that sums do not overflow. */
            const float scaled = velocity[axis][i * (count - 1) / (tried - 1)] * 0x1p-8f;
            speed[i] += fabsf(scaled);
            relative_speed[i] += fabsf(scaled - median_velocity[axis] * 0x1p-8f);
        }
    }
    /* Most spheres move at less than half of their speed relative to the median velocity. */
    return median(relative_speed, tried) < median(speed, tried) / 2;
}

/* Along each axis: the median velocity, and the middle between the lower and the upper eighth. */
void caromi_drift_candidates(const float *const velocity[3], uint32_t count, float *scratch,
                             double drift[CAROMI_DRIFTS][3])
{
    for (int k = 0; k < 3; k++) {
        memcpy(scratch, velocity[k], count * sizeof *scratch);
        const double low = (double)caromi_cloud_select(scratch, count, count / 8);
        const double high = (double)caromi_cloud_select(scratch, count, count - 1 - count / 8);
        drift[0][k] = (double)median(scratch, count);
        drift[1][k] = low + (high - low) / 2;
    }
}
