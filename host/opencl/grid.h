/* SPDX-License-Identifier: MIT */
/* Clouds that a GPU sorts and searches by itself. grid.c has the path of a list, grid_moving.c what motion adds,
 * grid_order.c an order, grid_*probe.c the probes. */
#ifndef CAROM_HOST_OPENCL_GRID_H
#define CAROM_HOST_OPENCL_GRID_H
#include "device.h"
#include "host/cloud/device.h"
#include "kernels/cloud_grid.h"

/* Runs a cloud without a probe. Sets *answered to 0 if the device leaves the cloud to others. */
carom_status caromi_grid_run(caromi_device *device, const caromi_cloud *cloud, const caromi_grid_result *result,
                             int *answered, carom_stats *stats, carom_error *err);
/* Builds the programs at their first use, and compares lists of a small cloud with the CPU's. */
carom_status caromi_grid_probe(caromi_device *device, carom_error *err);
/* The same for clouds in motion, and for orders. */
carom_status caromi_grid_probe_moving(caromi_device *device, carom_error *err);
carom_status caromi_grid_probe_order(caromi_device *device, carom_error *err);
/* Whether the masks and groups of two spheres of a probe allow a pair. Its columns are packed. */
int caromi_grid_probe_meets(const caromi_cloud *cloud, uint32_t a, uint32_t b);

enum {
    WORD = sizeof(cl_uint),
    GROUPS = 128,           /* of a kernel whose groups share all spheres */
    CAROMI_GRID_OUTPUTS = 6 /* arrays that are placed together */
};

/* A call on a device. */
typedef struct grid_job {
    caromi_device *device;
    caromi_cl_slot *slot; /* whose queue runs all commands; the memory is the device's own */
    const caromi_cloud *cloud;
    const caromi_grid_result *result;
    carom_stats *stats;
    cl_uint spheres, row_begin, row_end; /* only pairs whose sphere a is in [row_begin, row_end) */
    cl_uint asked;                       /* spheres that answers are about: of two clouds the first one's */
    cl_uint split, first_b; /* of two clouds the number of the first one's spheres; else GRID_ONE_CLOUD, 0 */
    cl_int options;
    uint32_t placed;               /* memory of the spheres that are sorted: in motion, of the balls in a slice */
    cl_uint hits_most;             /* in motion: room in the list of hits */
    cl_uint capacity;              /* of undecided pairs there is room for so many */
    cl_uint rounds, imaged_rounds; /* of the first search through the cells; of the one from images */
    cl_uint long_room;             /* for spheres in the list of long rows */
    grid_totals totals;
    int is_declined; /* too many spheres share cells, or too many pairs, undecided or all; a wrong earlier list; an
                        order's levels are chosen by density */
} grid_job;

/* ---- memory, arguments, launches (grid_commands.c) --------------------------------------------------------------- */

carom_status caromi_grid_reserve(const grid_job *job, uint32_t memory, uint64_t elements, size_t size,
                                 carom_error *err);
/* Reserves memory for the masks and groups of all spheres, if these have any. */
carom_status caromi_grid_reserve_filters(const grid_job *job, uint32_t memory, carom_error *err);
const cl_mem *caromi_grid_memory_of(const grid_job *job, uint32_t memory);
void caromi_grid_set_memory(const grid_job *job, caromi_arguments *arguments, uint32_t memory);
void caromi_grid_set_periods(const grid_job *job, caromi_arguments *arguments);
/* Launches a kernel with a work-item for each of `items` elements. */
carom_status caromi_grid_launch(const grid_job *job, caromi_arguments *arguments, uint64_t items, carom_error *err);
/* Launches a kernel whose work-items share `count` elements. */
carom_status caromi_grid_launch_each(const grid_job *job, caromi_arguments *arguments, uint64_t count,
                                     carom_error *err);
/* Launches whole groups of GRID_GROUP work-items. */
carom_status caromi_grid_launch_groups(const grid_job *job, caromi_arguments *arguments, uint64_t groups,
                                       carom_error *err);
carom_status caromi_grid_clear(const grid_job *job, uint32_t memory, uint64_t words, carom_error *err);
/* Waits for all commands and reads some bytes. */
carom_status caromi_grid_read_back(const grid_job *job, uint32_t memory, size_t from, void *to, size_t bytes,
                                   carom_error *err);
/* Waits for the total of `numbers` counts. */
carom_status caromi_grid_total(const grid_job *job, uint32_t counts, uint64_t numbers, uint64_t *total,
                               carom_error *err);
/* Enqueues the prefix sum of `numbers` counts; the total follows the last one. The program decides whether sums have 32
 * bits or 64. */
carom_status caromi_grid_sum_up(const grid_job *job, uint32_t counts, uint32_t to, uint32_t program, uint64_t numbers,
                                carom_error *err);

/* ---- the caller's arrays (grid_outputs.c) ------------------------------------------------------------------------ */

/* Output arrays of as many elements each: `base` is NULL of an array that is not wanted. The fields before `wanted` are
 * the caller's; placing moves each `base` to the first element of this job. */
typedef struct grid_outputs {
    uint32_t count, memory;      /* memory: of the first array's copy; the others' follow */
    uint64_t before, elements;   /* elements of each array that others have written, and those of this job */
    const size_t *size, *stride; /* of elements in bytes; stride NULL: in all arrays they are adjacent */
    void *base[CAROMI_GRID_OUTPUTS];
    cl_uint wanted; /* a bit for each */
    caromi_resident at[CAROMI_GRID_OUTPUTS];
    int is_copy[CAROMI_GRID_OUTPUTS]; /* the array is in the caller's memory, or not wanted */
} grid_outputs;

carom_status caromi_grid_place_outputs(const grid_job *job, grid_outputs *all, carom_error *err);
/* Arguments of one array: memory, where it begins and, if the outputs have strides, the stride. */
void caromi_grid_set_output(caromi_arguments *arguments, const grid_outputs *all, uint32_t k);
/* The mask `wanted`, and the arguments of all arrays. */
void caromi_grid_set_outputs(caromi_arguments *arguments, const grid_outputs *all);
/* Waits for the kernels, and reads back the copies. */
carom_status caromi_grid_fetch_outputs(const grid_job *job, const grid_outputs *all, carom_error *err);

/* ---- steps of a call --------------------------------------------------------------------------------------------- */

/* grid_read.c: brings the caller's columns to the device; prepares that for columns that lie there. */
carom_status caromi_grid_read_spheres(const grid_job *job, carom_error *err);
carom_status caromi_grid_prepare_reading(const grid_job *job, carom_error *err);
/* grid_sort.c: enqueues a kernel that takes bounds and histogram of all spheres, by the program for widths or reaches;
 * sorts the spheres. */
carom_status caromi_grid_measure(const grid_job *job, uint32_t program, carom_error *err);
carom_status caromi_grid_sort_spheres(grid_job *job, carom_error *err);
/* grid_order.c: the order of cells. */
carom_status caromi_grid_order(grid_job *job, carom_error *err);
/* grid_draw.c: what slices of a cloud in motion are chosen from. */
carom_status caromi_grid_draw(const grid_job *job, caromi_cloud_drawn *drawn, carom_error *err);
/* grid_moving.c: the hits of a cloud in motion, as if they were its undecided pairs, solved. */
carom_status caromi_grid_find_hits(grid_job *job, carom_error *err);
/* grid_endless.c: lists the pairs that may meet from `begin` on; totals.meeting is their number. */
carom_status caromi_grid_meet_endless(grid_job *job, float begin, carom_error *err);
/* The first partners among these. The arguments are of the kernel that writes them, and lack the outputs. */
carom_status caromi_grid_find_partners(const grid_job *job, caromi_arguments *arguments, carom_error *err);
/* grid_pairs.c */
carom_status caromi_grid_count_pairs(grid_job *job, carom_error *err);
/* Reserves memory for the rows of all spheres, without pairs. */
carom_status caromi_grid_reserve_rows(const grid_job *job, carom_error *err);
carom_status caromi_grid_solve_undecided(const grid_job *job, carom_error *err);
/* Adds undecided pairs that are hits to the rows, by the program that counts or the one that stores. */
carom_status caromi_grid_add_undecided(const grid_job *job, uint32_t program, carom_error *err);
/* Searches from all spheres, by the program that counts pairs or the one that stores them; in a periodic cloud also
 * from their images. */
carom_status caromi_grid_search(grid_job *job, uint32_t program, carom_error *err);
/* Sorts the keys of long rows before row_end in a memory, by the list of these rows and the totals. grid.c */
carom_status caromi_grid_sort_rows(const grid_job *job, uint32_t keys, carom_error *err);
/* Whether the totals may hold these numbers of long rows, in which `keys` keys lie. grid.c */
int caromi_grid_rows_are_possible(const grid_job *job, uint64_t keys);
/* Waits for all commands and reads the numbers of searches and undecided pairs. Fails if the device has gone wrong. */
carom_status caromi_grid_check(grid_job *job, carom_error *err);
/* grid_columns.c: depth and normal, and the places in an earlier list, where the caller wants these. */
carom_status caromi_grid_fill_columns(grid_job *job, carom_error *err);
carom_status caromi_grid_find_previous(grid_job *job, carom_error *err);
/* Declines a call with an earlier list on the device that is not in order: the host reports it. */
carom_status caromi_grid_check_before(grid_job *job, carom_error *err);
#endif
