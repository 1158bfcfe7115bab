/* SPDX-License-Identifier: MIT */
/* What scans and searches on a device share: runs that the host lists, items that the device tests, and pairs that stay
 * open. */
#ifndef CAROM_HOST_CLOUD_DEVICE_H
#define CAROM_HOST_CLOUD_DEVICE_H
#include <stdatomic.h>

#include "ask.h"
#include "host/core/device.h"

/* Items as kernels/cloud_scan.cl has them, each of a sphere at `place` and 1 to CLOUD_ITEM others, and their bits. */
typedef struct caromi_cloud_items {
    const uint32_t *place, *begin, *length;
    uint32_t *some, *sure, *near;
} caromi_cloud_items;
static inline uint32_t caromi_cloud_item_bits(uint32_t length)
{
    return UINT32_MAX >> (CLOUD_ITEM - length);
}

/* Pairs by place, with the image of b, and what the pair program says of them: in exact mode, which needs binary64, t
 * is NaN where it leaves the pair undecided. */
typedef struct caromi_cloud_open {
    const uint32_t *a, *b, *image;
    float *t;
    uint8_t *state, *parts;
} caromi_cloud_open;

enum {
    CAROMI_WORK_SPHERES = 1 << 15, /* whose runs are listed at a time, about */
    CAROMI_WORK_ITEMS = 1 << 18,   /* for the device at a time */
    CAROMI_WORK_OPEN = 1 << 18     /* pairs for the device at a time */
};

/* The runs of a task, in memory that grows with them. */
typedef struct caromi_run_list {
    caromi_cloud_found found; /* first: the listing hands it over */
    caromi_cloud_runs runs;
    caromi_cloud_item *own; /* of these; NULL: the first, which all lists share */
    const carom_context *context;
    uint64_t most;
    int is_short;                /* of memory */
    uint64_t items, before, cut; /* that its runs make; those of the lists before it; those that are made already, */
    uint64_t run;                /* and of which run the next is, */
    uint32_t at;                 /* after how many others */
} caromi_run_list;

/* Lists the runs of spheres, by place, from `begin` on and below `end`. */
struct caromi_device_work;
typedef void caromi_work_list_fn(const struct caromi_device_work *work, uint64_t begin, uint64_t end,
                                 caromi_cloud_found *found);

typedef struct caromi_device_work {
    const caromi_cloud_scan *scan;
    const carom_context *context;
    caromi_cloud_view view;
    caromi_ask ask;
    caromi_cloud_copy *copy;
    caromi_work_list_fn *list;
    caromi_run_list *lists;
    caromi_cloud_item *runs; /* the first memory of all lists */
    uint32_t list_count;
    uint64_t begin, end;               /* spheres whose runs are in work */
    struct caromi_work_arrays *arrays; /* all that follow */
    uint32_t *item[6];                 /* place, begin, length; some, sure, near */
    uint64_t items;
    uint32_t *pair[3]; /* a, b, image of a pair that is open */
    uint8_t *by;       /* as in caromi_cloud_pair */
    float *t;
    uint8_t *state, *parts;
    int is_solved;               /* by the device */
    atomic_uint_fast64_t opened; /* pairs that are open, of which the first CAROMI_WORK_OPEN are kept */
} caromi_device_work;

/* Memory, and the cloud on its device. caromi_work_close in any case. */
carom_status caromi_work_open(caromi_device_work *w, const caromi_cloud_scan *scan, caromi_work_list_fn *list,
                              carom_stats *stats, carom_error *err);
void caromi_work_close(caromi_device_work *w, carom_stats *stats);

/* Lists runs of the spheres from w->begin on; w->end is where those end that there is memory for. */
carom_status caromi_work_list(caromi_device_work *w, carom_error *err);
/* The device tests the items. */
carom_status caromi_work_test(caromi_device_work *w, carom_stats *stats, carom_error *err);
/* The device solves the open pairs. Those that are few it is not asked about: is_solved says. */
carom_status caromi_work_solve(caromi_device_work *w, carom_stats *stats, carom_error *err);

/* Item i: from sphere `begin` on, as many below `end` as an item has. */
static inline void caromi_work_set_item(const caromi_device_work *w, uint64_t i, uint32_t place, uint32_t begin,
                                        uint32_t end)
{
    w->item[0][i] = place;
    w->item[1][i] = begin;
    w->item[2][i] = end - begin < CLOUD_ITEM ? end - begin : CLOUD_ITEM;
}
void caromi_work_keep(caromi_device_work *w, uint64_t at, const caromi_cloud_pair *pair);
/* Hands open pairs [begin, end) that are hits to the scan, and the undecided ones to the thread's own solver: as the
 * search of one sphere, if they come up in one. */
void caromi_work_take(caromi_device_work *w, uint64_t begin, uint64_t end, uint32_t thread);
/* For the thread's own solver. */
void caromi_work_ask_here(caromi_cloud_found *found, uint32_t a, uint32_t b);

static inline uint32_t caromi_lowest_bit(uint32_t bits)
{
    return (uint32_t)__builtin_ctz(bits);
}
#endif
