/* SPDX-License-Identifier: MIT */
#ifndef CAROM_HOST_CLOUD_BEST_H
#define CAROM_HOST_CLOUD_BEST_H
#include "cloud.h"

/* For each sphere, by index: its first partner, UINT32_MAX without one. */
typedef struct caromi_partners {
    uint32_t *other;
    float *t;
    uint8_t *state;
} caromi_partners;
/* any: whichever partner is found first. */
carom_status caromi_cloud_partners(const caromi_cloud *cloud, int any, const caromi_partners *to, carom_stats *stats,
                                   carom_error *err);
#endif
