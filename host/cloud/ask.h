/* SPDX-License-Identifier: MIT */
/* The narrow phase of a scan, and the rules that make a pair a hit. */
#ifndef CAROM_HOST_CLOUD_ASK_H
#define CAROM_HOST_CLOUD_ASK_H
#include "cloud.h"

/* The pair of a periodic image of the sphere at place p with the sphere at place q. The sphere of the lower index
 * becomes a; b gets the image number that keeps their distance. */
caromi_cloud_pair caromi_ask_orient(const caromi_cloud_scan *scan, int image, uint32_t p, uint32_t q);
/* Whether a pair is a hit of the scan's slice, by the start policy. */
int caromi_ask_is_hit(const caromi_cloud_scan *scan, float t, uint8_t state, uint8_t parts);

/* The buffers of a scan, one per thread. They begin empty, and caromi_ask_take is their callback. */
typedef struct caromi_ask {
    const carom_context *context;
    struct caromi_ask_work *works;
    uint32_t threads;
} caromi_ask;
carom_status caromi_ask_open(const caromi_cloud_scan *scan, caromi_ask *ask, carom_error *err);
/* Adds the number of pairs decided in integer arithmetic to the statistics, if these are not NULL. */
void caromi_ask_close(caromi_ask *ask, carom_stats *stats);
caromi_cloud_found *caromi_ask_found(const caromi_ask *ask, uint32_t thread);
/* Empties a buffer into the scan's callbacks: sure pairs as they are, open pairs through the solver.
 * caromi_ask_take_sure empties the sure pairs alone. */
void caromi_ask_take(caromi_cloud_found *found);
void caromi_ask_take_sure(caromi_cloud_found *found);

/* The cells as the scan of a slice sees them, with the rule for pairs that overlap where the slice begins. */
caromi_cloud_view caromi_ask_view(const caromi_cloud_scan *scan);
/* The first row of cells whose spheres begin at or behind a place. */
uint32_t caromi_row_from(const caromi_cloud_cells *cells, uint64_t place);

/* Refuses a list or a count if a sample shows before the scan that it would have too many pairs. dense.c. */
carom_status caromi_refuse_dense(const caromi_cloud_scan *scan, carom_error *err);

/* caromi_cloud_run on the cloud's device: the scan for all pairs (device.c), the search for best partners
 * (device_search.c). */
carom_status caromi_cloud_run_on_device(const caromi_cloud_scan *scan, carom_stats *stats, carom_error *err);
carom_status caromi_cloud_search_on_device(const caromi_cloud_scan *scan, carom_stats *stats, carom_error *err);
#endif
