/* SPDX-License-Identifier: MIT */
/* Cells of the order of a cloud (docs/spheres.md, section 4): what the CPU's sort and a GPU's have in common. */
#ifndef CAROM_CLOUD_ORDER_H
#define CAROM_CLOUD_ORDER_H
#include "cloud_grid.h"
#include "wide_real.h"

/* Cells of a row of n spheres are fewer than this: else 2^shift neighbours are merged into one. */
#define CLOUD_CELLS_MOST(n) (4 * (n) + 8)
/* Spheres of a cell; a cell with more is crowded and may be subdivided. */
#define CLOUD_CROWD 32

/* A level of caromi_cloud_level, for kernels. */
typedef struct order_level {
    wide_real low[3], per[3], width; /* width: of a cell along x */
    int most[3], unused;
} order_level;

/* How spheres are brought into order; made by the host. */
typedef struct order_plan {
    order_level level[GRID_LEVELS];
    unsigned int level_count, y_bits,
        z_bits; /* bits of a row's coordinates, the lowest of its key; the level is above */
    unsigned int unused;
    unsigned char level_of[GRID_BINS]; /* of each class of reaches: exponent and two bits behind it */
} order_plan;

/* A pass of the radix sort goes by so many bits of the keys. */
#define ORDER_DIGIT_BITS 4
#define ORDER_DIGITS (1 << ORDER_DIGIT_BITS)

/* Adjacent spheres whose extent along their row a work-item finds. */
#define ORDER_RUN 16
#endif
