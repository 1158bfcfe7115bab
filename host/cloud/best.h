/* SPDX-License-Identifier: MIT */
#ifndef CAROM_HOST_CLOUD_BEST_H
#define CAROM_HOST_CLOUD_BEST_H
#include "cloud.h"

/* The answer of each sphere that answers are about, by index. */
typedef struct caromi_partners {
    uint32_t *other; /* index of its partner; UINT32_MAX: none */
    float *t;
    uint8_t *state;
} caromi_partners;
/* Fills `to` for all these spheres. any: an arbitrary partner; else the first in time, then by index. */
carom_status caromi_cloud_partners(const caromi_cloud *cloud, int any, const caromi_partners *to, carom_stats *stats,
                                   carom_error *err);
#endif
