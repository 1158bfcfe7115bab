/* SPDX-License-Identifier: MIT */
/* The job that sorts spheres into rows of cells, shared by cells.c and rows.c. */
#ifndef CAROM_HOST_CLOUD_BUILD_H
#define CAROM_HOST_CLOUD_BUILD_H
#include <stdatomic.h>

#include "cloud.h"

/* A row of cells, the key of a part's hash table. */
typedef struct caromi_build_row {
    int32_t y, z;
    uint32_t level;
} caromi_build_row;

/* A part of the spheres, which one thread sorts. */
typedef struct caromi_build_part {
    uint64_t begin, end; /* indices of its spheres */
    uint64_t count;      /* spheres read so far in this pass */
    uint32_t *counts;    /* [rows] histogram of its spheres; after the prefix sum, where the row's next sphere goes */
    caromi_build_row *rows; /* the rows that it has met, in the order of meeting; unused if rows are dense */
    uint32_t row_count, row_capacity;
    uint32_t *table; /* hash table of row numbers */
    uint64_t mask;   /* slots of the hash table - 1 */
    int is_short;    /* out of memory */
} caromi_build_part;

/* The sort of a slice's spheres into cells, while it runs. */
typedef struct caromi_build {
    const caromi_cloud *cloud;
    const caromi_cloud_slice *slice;
    const caromi_cloud_extent *extent;
    caromi_cloud_cells *cells;
    uint8_t level_of[CAROMI_REACHES];
    const uint8_t *own_level; /* [spheres] level by index; NULL: level_of of the class of its reach */
    caromi_build_part *parts;
    uint32_t part_count;
    uint64_t dense_rows; /* number of rows, also without spheres, if each has a number of its own; 0: rows are found by
                            hash */
    uint32_t *row_of;    /* [spheres] number of its row within its part */
    char *records;       /* [spheres] between the sort by row and the sort by cell; see cells.c */
    size_t record_size;  /* bytes; shorter for spheres at rest */
    int has_given;       /* spheres move: records hold the caller's inputs too */
    uint64_t row_tasks;  /* tasks of the sort by cell */
    _Atomic uint64_t doubled; /* pairs of spheres that share a cell */
} caromi_build;

/* The user pointer of callbacks that read a part's spheres. */
typedef struct caromi_build_user {
    caromi_build *job;
    caromi_build_part *part;
} caromi_build_user;

/* Calls `use` for the spheres of a part, batch by batch; its user pointer is a caromi_build_user. */
void caromi_build_pass(caromi_build *job, caromi_build_part *part, caromi_cloud_use_fn *use);
/* Computes of each sphere of a batch its level, and its cell along an axis. */
void caromi_build_levels(const caromi_build *job, const caromi_cloud_batch *batch, int32_t *level);
void caromi_build_cells(const caromi_build *job, const caromi_cloud_batch *batch, const int32_t *level, int axis,
                        int32_t *cell);
/* Task: a part finds the row of each of its spheres (histogram pass). */
caromi_task_fn caromi_build_enter;
/* Merges the rows of all parts, at most `rows`, in the order of (level, z, y), and computes where each part's spheres
 * go (prefix sum). Returns 0 if there is no memory. */
int caromi_build_join(caromi_build *job, uint64_t rows);

#endif
