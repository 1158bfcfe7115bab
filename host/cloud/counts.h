/* SPDX-License-Identifier: MIT */
/* The number of pairs of each sphere, counted by all threads of a scan. */
#ifndef CAROM_HOST_CLOUD_COUNTS_H
#define CAROM_HOST_CLOUD_COUNTS_H
#include "cloud.h"

/* A pair counts for its lower index a if begin <= a < end, and, with `full`, for b too. Each of the first `sum_count`
 * threads has a column of sums; the columns are added to the counts after each slice. If every pair counts for both
 * spheres, sums are by slot instead of by index, as partners are close together there in memory. */
typedef struct caromi_counts {
    const caromi_cloud *cloud;
    const caromi_cloud_cells *cells; /* of the slice in work */
    uint32_t *counts;                /* [spheres] the result */
    int full;                        /* a pair counts for both spheres */
    int is_by_slot;                  /* sums are by slot, a sphere's place in the order of cells, not by its index */
    uint32_t threads, sum_count;
    uint32_t *sums;  /* [sum_count][spheres] */
    uint32_t *slots; /* [spheres] 0, 1, 2 ...: replaces view.index, so that the scan reports slots; NULL: sums are by
                         index */
} caromi_counts;

/* Sets all counts to 0. */
carom_status caromi_counts_begin(caromi_counts *c, const caromi_cloud *cloud, int full, uint32_t *counts,
                                 carom_error *err);
/* Begins a slice with these cells. */
void caromi_counts_enter(caromi_counts *c, caromi_cloud_cells *cells);
/* Ends a slice: adds its sums to the counts. */
void caromi_counts_join(caromi_counts *c);
void caromi_counts_end(caromi_counts *c);

caromi_cloud_emit_fn caromi_counts_add; /* user: the counts */
caromi_cloud_emit_certain_fn caromi_counts_add_certain;
#endif
