/* SPDX-License-Identifier: MIT */
/* The answers to a call for spheres among themselves, by scans of cells. */
#ifndef CAROM_HOST_CLOUD_ANSWER_H
#define CAROM_HOST_CLOUD_ANSWER_H
#include "cloud.h"

/* A call of any kind: of the results behind `desc`, the one that is asked for is not NULL. */
typedef struct cloud_call {
    caromi_cloud cloud, second;
    caromi_cloud_watch watch;
    carom_context *context;
    const carom_cloud_desc *desc;
    const carom_cloud_pair_list *list;
    const carom_cloud_partner_result *first;
    const carom_any_result *any;
    const carom_cloud_count_result *count;
    uint32_t *order;
    int before_stays; /* the earlier list is on a device, and not checked */
} cloud_call;

/* Writes the result that a call asks for: a list of pairs, counts, first or any partners, or an order. */
carom_status caromi_cloud_answer(const cloud_call *call, carom_stats *stats, carom_error *err);
#endif
