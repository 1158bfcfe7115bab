/* SPDX-License-Identifier: MIT */
/* Spheres into rows of cells: what cells.c and rows.c share while they build. */
#ifndef CAROM_HOST_CLOUD_BUILD_H
#define CAROM_HOST_CLOUD_BUILD_H
#include <stdatomic.h>

#include "cloud.h"

/* A row as a part of the cloud sees it, by hash. */
typedef struct caromi_build_row {
    int32_t y, z;
    uint32_t level;
} caromi_build_row;

typedef struct caromi_build_part {
    uint64_t begin, end; /* spheres */
    uint64_t count;
    uint32_t *counts;       /* [rows] its spheres in each; then where the next one goes */
    caromi_build_row *rows; /* by hash */
    uint32_t row_count, row_room;
    uint32_t *table;
    uint64_t mask; /* of the table */
    int is_short;  /* of memory */
} caromi_build_part;

typedef struct caromi_build {
    const caromi_cloud *cloud;
    const caromi_cloud_slice *slice;
    const caromi_cloud_extent *extent;
    caromi_cloud_cells *cells;
    uint8_t level_of[CAROMI_REACHES];
    const uint8_t *own_level; /* [spheres] by index; NULL: by reach */
    caromi_build_part *parts;
    uint32_t part_count;
    uint64_t dense_rows; /* 0: by hash */
    uint32_t *row_of;    /* [spheres] within its part */
    char *records;
    size_t record_size;
    int has_given;
    uint64_t row_tasks;
    _Atomic uint64_t doubled; /* caromi_cloud_cells */
} caromi_build;

/* A part that is fed. */
typedef struct caromi_build_feed {
    caromi_build *job;
    caromi_build_part *part;
} caromi_build_feed;

/* Gives the spheres of a part to `use`, whose user is a caromi_build_feed. */
void caromi_build_pass(caromi_build *job, caromi_build_part *part, caromi_cloud_use_fn *use);
/* Of each sphere of a batch: its level, and its cell along an axis. */
void caromi_build_levels(const caromi_build *job, const caromi_cloud_batch *batch, int32_t *level);
void caromi_build_cells(const caromi_build *job, const caromi_cloud_batch *batch, const int32_t *level, int axis,
                        int32_t *cell);
/* Task: a part finds the row of each of its spheres, and counts. */
caromi_task_fn caromi_build_enter;
/* The rows of all parts, of which there are at most `rows`, in the order of (level, z, y), and where each part's
 * spheres go in them. 0: no memory. */
int caromi_build_join(caromi_build *job, uint64_t rows);

#endif
