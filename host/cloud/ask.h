/* SPDX-License-Identifier: MIT */
/* The narrow phase of a scan, and its rules. */
#ifndef CAROM_HOST_CLOUD_ASK_H
#define CAROM_HOST_CLOUD_ASK_H
#include "cloud.h"

/* The pair of an image of the sphere at place p with the sphere at place q: the lower index is a, and the other,
 * shifted as far from it, b. */
caromi_cloud_pair caromi_ask_orient(const caromi_cloud_scan *scan, int image, uint32_t p, uint32_t q);
/* Whether a pair is a hit of the scan's slice, by the start policy. */
int caromi_ask_is_hit(const caromi_cloud_scan *scan, float t, uint8_t state, uint8_t parts);

/* What each thread of a scan finds. Each thread's begins empty, with caromi_ask_take. */
typedef struct caromi_ask {
    const carom_context *context;
    struct caromi_ask_work *works;
    uint32_t threads;
} caromi_ask;
carom_status caromi_ask_open(const caromi_cloud_scan *scan, caromi_ask *ask, carom_error *err);
/* Adds the pairs settled in integers to the statistics; NULL: not wanted. */
void caromi_ask_close(caromi_ask *ask, carom_stats *stats);
caromi_cloud_found *caromi_ask_found(const caromi_ask *ask, uint32_t thread);
/* Hands all that was found to the scan: sure pairs, which are at rest, and those open pairs that the
 * solver finds to be hits; sure pairs alone. */
void caromi_ask_take(caromi_cloud_found *found);
void caromi_ask_take_sure(caromi_cloud_found *found);

/* The view of the cells for the scan's slice: with what pairs are that have begun before it. */
caromi_cloud_view caromi_ask_view(const caromi_cloud_scan *scan);
/* The first row that begins at or behind a place. */
uint32_t caromi_row_from(const caromi_cloud_cells *cells, uint64_t place);

/* Refuses a list or a count that would have too many pairs, where that is plain beforehand. dense.c. */
carom_status caromi_refuse_dense(const caromi_cloud_scan *scan, carom_error *err);

/* caromi_cloud_run on the cloud's device: a scan, device.c, and a search for best partners, device_search.c. */
carom_status caromi_cloud_run_on_device(const caromi_cloud_scan *scan, carom_stats *stats, carom_error *err);
carom_status caromi_cloud_search_on_device(const caromi_cloud_scan *scan, carom_stats *stats, carom_error *err);
#endif
