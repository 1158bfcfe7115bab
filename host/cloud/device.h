/* SPDX-License-Identifier: MIT */
/* The work that scans and searches on a device have in common. A run is a sphere and a range of other spheres, listed
 * by the host (broad phase). An item is a part of a run, one work-item's filter tests. Undecided pairs are those that
 * the filter leaves undecided, for the solver. */
#ifndef CAROM_HOST_CLOUD_DEVICE_H
#define CAROM_HOST_CLOUD_DEVICE_H
#include <stdatomic.h>

#include "narrow_phase.h"
#include "host/core/device.h"

/* Columns of items, as in kernels/cloud_scan.cl: the sphere at `slot` against 1 to CLOUD_ITEM spheres from `begin` on.
 * Results are bit masks of these spheres. */
typedef struct caromi_cloud_items {
    const uint32_t *slot, *begin, *length;
    uint32_t *candidates; /* spheres that the filter cannot exclude */
    uint32_t *certain;    /* the ones among them that certainly overlap */
    uint32_t *near;       /* and that are certainly within the margin */
} caromi_cloud_items;
static inline uint32_t caromi_cloud_item_bits(uint32_t length)
{
    return UINT32_MAX >> (CLOUD_ITEM - length);
}

/* Columns of undecided pairs: slots, image of b, and the pair program's results. In exact mode, which needs binary64, t
 * is NaN for pairs that the program leaves undecided. */
typedef struct caromi_cloud_undecided {
    const uint32_t *a, *b, *image;
    float *t;
    uint8_t *state, *parts;
} caromi_cloud_undecided;

enum {
    CAROMI_WORK_SPHERES = 1 << 15,  /* spheres whose runs are listed at a time, about */
    CAROMI_WORK_ITEMS = 1 << 18,    /* items of a launch */
    CAROMI_WORK_UNDECIDED = 1 << 18 /* undecided pairs of a launch */
};

/* A growing array of runs, filled by one task. */
typedef struct caromi_run_list {
    caromi_cloud_found found; /* first member: the listing's callback gets a pointer to it, which is cast back */
    caromi_cloud_runs runs;
    caromi_cloud_item *own; /* array of the runs, if it has grown; NULL: still a part of the work's first allocation */
    const carom_context *context;
    uint64_t most;               /* runs that the array may grow to */
    int is_short;                /* out of memory */
    uint64_t items, before, cut; /* items of all its runs; items of the lists before it; items that are cut already */
    uint64_t run;                /* the run of the next item */
    uint32_t at;                 /* number of the next item within that run */
} caromi_run_list;

/* Lists the runs of the spheres in slots [begin, end). */
struct caromi_device_work;
typedef void caromi_work_list_fn(const struct caromi_device_work *work, uint64_t begin, uint64_t end,
                                 caromi_cloud_found *found);

/* Indices of the arrays of a work: columns of caromi_cloud_items and of undecided pairs. */
enum { ITEM_SLOT, ITEM_BEGIN, ITEM_LENGTH, ITEM_CANDIDATES, ITEM_CERTAIN, ITEM_NEAR, ITEM_COLUMNS };
enum { PAIR_A, PAIR_B, PAIR_IMAGE, PAIR_COLUMNS };

typedef struct caromi_device_work {
    const caromi_cloud_scan *scan;
    const carom_context *context;
    caromi_cloud_view view;
    caromi_narrow_phase narrow;
    caromi_cloud_copy *copy;
    caromi_work_list_fn *list;
    caromi_run_list *lists;
    caromi_cloud_item *runs; /* first allocation, common to all lists */
    uint32_t list_count;
    uint64_t begin, end;               /* slots of the spheres whose runs are listed now */
    struct caromi_work_arrays *arrays; /* one allocation for the arrays that follow */
    uint32_t *item[ITEM_COLUMNS];
    uint64_t items; /* number of items of the launch */
    uint32_t *pair[PAIR_COLUMNS];
    uint8_t *by; /* see caromi_cloud_pair */
    float *t;
    uint8_t *state, *parts;
    int is_solved;                        /* whether the device has solved the undecided pairs */
    atomic_uint_fast64_t undecided_count; /* number of undecided pairs; only the first CAROMI_WORK_UNDECIDED are kept */
} caromi_device_work;

/* Allocates the memory and copies the cloud to the device. Call caromi_work_close even if this fails. */
carom_status caromi_work_open(caromi_device_work *work, const caromi_cloud_scan *scan, caromi_work_list_fn *list,
                              carom_stats *stats, carom_error *err);
void caromi_work_close(caromi_device_work *work, carom_stats *stats);

/* Lists the runs of spheres from work->begin on, as many as there is memory for; sets work->end. */
carom_status caromi_work_list(caromi_device_work *work, carom_error *err);
/* Runs the filter on the items, on the device. */
carom_status caromi_work_test(caromi_device_work *work, carom_stats *stats, carom_error *err);
/* Solves the undecided pairs on the device and sets is_solved. Few pairs are not worth a launch: they are left to the
 * CPU.
 */
carom_status caromi_work_solve(caromi_device_work *work, carom_stats *stats, carom_error *err);

/* Sets item i: the sphere at `slot` against the next CLOUD_ITEM spheres of [begin, end). */
static inline void caromi_work_set_item(const caromi_device_work *work, uint64_t i, uint32_t slot, uint32_t begin,
                                        uint32_t end)
{
    work->item[ITEM_SLOT][i] = slot;
    work->item[ITEM_BEGIN][i] = begin;
    work->item[ITEM_LENGTH][i] = end - begin < CLOUD_ITEM ? end - begin : CLOUD_ITEM;
}
void caromi_work_store(caromi_device_work *work, uint64_t at, const caromi_cloud_pair *pair);
/* Passes the hits among undecided pairs [begin, end) to the scan's callback, and the undecided pairs to the CPU's
 * solver. In a search for best partners the pairs are of one sphere. */
void caromi_work_emit(caromi_device_work *work, uint64_t begin, uint64_t end, uint32_t thread);
/* Adds a pair to the buffer of the CPU's solver. */
void caromi_work_solve_here(caromi_cloud_found *found, uint32_t a, uint32_t b);

/* The answer of a device that needs no such work. One of these is asked for, the others are NULL. */
typedef struct caromi_grid_result {
    const carom_cloud_pair_list *list;
    int full;           /* a list: a pair stands under both spheres */
    uint32_t *partners; /* the number of partners of each sphere */
    const carom_cloud_partner_result *first;
    uint8_t *hit;    /* whether each has a partner */
    uint32_t *order; /* the spheres in the order of cells; the cloud rests (caromi_cloud_resting) */
} caromi_grid_result;
static inline int caromi_grid_finds_best(const caromi_grid_result *result)
{
    return result->first != NULL || result->hit != NULL;
}

static inline uint32_t caromi_lowest_bit(uint32_t bits)
{
    return (uint32_t)__builtin_ctz(bits);
}
#endif
