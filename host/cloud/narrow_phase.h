/* SPDX-License-Identifier: MIT */
/* The narrow phase of a scan, and the rules that make a pair a hit. */
#ifndef CAROM_HOST_CLOUD_NARROW_PHASE_H
#define CAROM_HOST_CLOUD_NARROW_PHASE_H
#include "cloud.h"

/* The pair of a periodic image of the sphere in slot p with the sphere in slot q. The sphere of the lower index
 * becomes a; b gets the image number that keeps their distance. */
caromi_cloud_pair caromi_narrow_phase_orient(const caromi_cloud_scan *scan, int image, uint32_t p, uint32_t q);
/* Whether a pair is a hit of the scan's slice, by the start policy. */
int caromi_narrow_phase_is_hit(const caromi_cloud_scan *scan, float t, uint8_t state, uint8_t parts);

/* The buffers of a scan, one per thread. They begin empty, and caromi_narrow_phase_flush is their callback. */
typedef struct caromi_narrow_phase {
    const carom_context *context;
    struct caromi_narrow_work *works;
    uint32_t threads;
} caromi_narrow_phase;
carom_status caromi_narrow_phase_begin(const caromi_cloud_scan *scan, caromi_narrow_phase *ask, carom_error *err);
/* Adds the number of pairs decided in integer arithmetic to the statistics, if these are not NULL. */
void caromi_narrow_phase_end(caromi_narrow_phase *ask, carom_stats *stats);
caromi_cloud_found *caromi_narrow_phase_found(const caromi_narrow_phase *ask, uint32_t thread);
/* Empties a buffer into the scan's callbacks: certain pairs as they are, undecided pairs through the solver.
 * caromi_narrow_phase_flush_certain empties the certain pairs alone. */
void caromi_narrow_phase_flush(caromi_cloud_found *found);
void caromi_narrow_phase_flush_certain(caromi_cloud_found *found);

/* The cells as the scan of a slice sees them, with the rule for pairs that overlap where the slice begins. */
caromi_cloud_view caromi_narrow_phase_view(const caromi_cloud_scan *scan);
/* The first row of cells whose spheres begin at or behind a slot. */
uint32_t caromi_row_from(const caromi_cloud_cells *cells, uint64_t place);

/* Refuses a list or a count if a sample shows before the scan that it would have too many pairs. dense.c. */
carom_status caromi_refuse_dense(const caromi_cloud_scan *scan, carom_error *err);

/* caromi_cloud_run on the cloud's device: the scan for all pairs (device.c), the search for best partners
 * (device_search.c). */
carom_status caromi_cloud_run_on_device(const caromi_cloud_scan *scan, carom_stats *stats, carom_error *err);
carom_status caromi_cloud_search_on_device(const caromi_cloud_scan *scan, carom_stats *stats, carom_error *err);
#endif
