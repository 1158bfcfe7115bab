/* SPDX-License-Identifier: MIT */
#include "drift.h"

#include <math.h>
#include <string.h>

#include "cloud.h"

enum { TRIED_MOST = 16 };

static float median(float *x, uint32_t count)
{
    return caromi_cloud_select(x, count, count / 2);
}

int caromi_drift_is_likely(const float *const velocity[3], uint32_t count, uint32_t tried)
{
    float x[TRIED_MOST], middle[3], speed[TRIED_MOST], apart[TRIED_MOST];
    for (int k = 0; k < 3; k++) {
        for (uint32_t i = 0; i < tried; i++)
            x[i] = velocity[k][i * (count - 1) / (tried - 1)];
        middle[k] = median(x, tried);
    }
    for (uint32_t i = 0; i < tried; i++) {
        speed[i] = apart[i] = 0;
        for (int k = 0; k < 3; k++) {
            const float v =
                velocity[k][i * (count - 1) / (tried - 1)] * 0x1p-8f; /* scaled so that sums do not overflow */
            speed[i] += fabsf(v);
            apart[i] += fabsf(v - middle[k] * 0x1p-8f);
        }
    }
    return median(apart, tried) < median(speed, tried) / 2;
}

void caromi_drift_candidates(const float *const velocity[3], uint32_t count, float *room,
                             double drift[CAROMI_DRIFTS][3])
{
    for (int k = 0; k < 3; k++) {
        memcpy(room, velocity[k], count * sizeof *room);
        const double low = (double)caromi_cloud_select(room, count, count / 8);
        const double high = (double)caromi_cloud_select(room, count, count - 1 - count / 8);
        drift[0][k] = (double)median(room, count);
        drift[1][k] = low + (high - low) / 2;
    }
}
