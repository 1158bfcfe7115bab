/* SPDX-License-Identifier: MIT */
/* How many pairs each sphere has, added up by all threads of a scan. */
#ifndef CAROM_HOST_CLOUD_COUNTS_H
#define CAROM_HOST_CLOUD_COUNTS_H
#include "cloud.h"

/* A pair counts for its lower index a, where begin <= a < end, and, `full`, for b too. Each thread adds to sums of its
 * own, as far as there are, and all are joined after each slice. Where all pairs count for both, sums
 * are by place in the cells: partners are near each other there. */
typedef struct caromi_counts {
    const caromi_cloud *cloud;
    const caromi_cloud_cells *cells; /* of the slice in work */
    uint32_t *counts;                /* [spheres] */
    int full, is_by_place;
    uint32_t threads, sum_count;
    uint32_t *sums;   /* [sum_count][spheres] */
    uint32_t *places; /* [spheres] their own numbers, in place of indices; NULL: by index */
} caromi_counts;

/* Begins with counts of 0. */
carom_status caromi_counts_open(caromi_counts *c, const caromi_cloud *cloud, int full, uint32_t *counts,
                                carom_error *err);
/* The cells of the next slice. */
void caromi_counts_enter(caromi_counts *c, caromi_cloud_cells *cells);
/* Joins what a slice has added. */
void caromi_counts_join(caromi_counts *c);
void caromi_counts_close(caromi_counts *c);

caromi_cloud_take_fn caromi_counts_take; /* user: the counts */
caromi_cloud_take_sure_fn caromi_counts_take_sure;
#endif
