/* SPDX-License-Identifier: MIT */
/* The scan of a list or a count on a device. The CPU goes through the cells and lists what is to be compared; the
 * device compares, and asks the solver about the pairs that stay open. Rules, and what exact mode leaves undecided, are
 * the CPU's, as in a scan of its own: so are the answers, which do not depend on which pairs are looked at. */
#include "device.h"

enum { TASK = 1 << 12 }; /* items or pairs that a thread takes at a time */

static void list_rows(const caromi_device_work *w, uint64_t begin, uint64_t end, caromi_cloud_found *found)
{
    const caromi_cloud_cells *cells = w->scan->cells;
    w->context->isa->cloud_runs(&cells->view, caromi_row_from(cells, begin), caromi_row_from(cells, end), found);
}

/* A pair that the device's solver is to be asked about; 0: there is no room. */
static int keep_open(caromi_device_work *w, const caromi_cloud_pair *pair)
{
    const uint64_t at = atomic_fetch_add_explicit(&w->opened, 1, memory_order_relaxed);
    if (at >= CAROMI_WORK_OPEN)
        return 0;
    caromi_work_keep(w, at, pair);
    return 1;
}

/* The bits of an item, each a pair, into what the thread has found. */
static void take_item(caromi_device_work *w, uint64_t i, caromi_cloud_found *found)
{
    const uint32_t *index = w->scan->cells->index, place = w->item[0][i], begin = w->item[1][i];
    const uint32_t sure = w->item[4][i], near = w->item[5][i] & ~sure;
    caromi_cloud_pair pair;
    for (uint32_t left = w->item[3][i]; left != 0; left &= left - 1) {
        const uint32_t bit = left & -left, other = begin + caromi_lowest_bit(left);
        if (bit & (sure | near)) {
            caromi_cloud_pairs *pairs = bit & sure ? &found->sure : &found->near;
            pairs->a[pairs->count] = index[place];
            pairs->b[pairs->count++] = index[other];
        } else if (caromi_ask_orient(w->scan, place, other, &pair) && !keep_open(w, &pair))
            caromi_work_ask_here(found, place, other);
    }
    if ((found->sure.count | found->near.count) >= CAROMI_CLOUD_ROOM)
        caromi_ask_take_sure(found);
}

static void take_items(void *user, uint64_t task, uint32_t thread)
{
    caromi_device_work *w = user;
    caromi_cloud_found *found = caromi_ask_found(&w->ask, thread);
    const uint64_t begin = task * TASK, end = w->items - begin < TASK ? w->items : begin + TASK;
    for (uint64_t i = begin; i < end; i++)
        if (w->item[3][i] != 0)
            take_item(w, i, found);
    caromi_ask_take(found);
}

static void take_open(void *user, uint64_t task, uint32_t thread)
{
    caromi_device_work *w = user;
    const uint64_t all = w->opened, begin = task * TASK;
    caromi_work_take(w, begin, all - begin < TASK ? all : begin + TASK, thread);
}

static uint64_t tasks_of(uint64_t count)
{
    return (count + TASK - 1) / TASK;
}

static carom_status run_items(caromi_device_work *w, carom_stats *stats, carom_error *err)
{
    if (w->items == 0)
        return CAROM_OK;
    CHECK(caromi_work_test(w, stats, err));
    w->opened = 0;
    caromi_parallel(caromi_cloud_pool(w->scan->cloud), tasks_of(w->items), take_items, w);
    w->items = 0;
    CHECK(caromi_work_solve(w, stats, err));
    caromi_parallel(caromi_cloud_pool(w->scan->cloud), tasks_of(w->opened), take_open, w);
    return CAROM_OK;
}

/* Cuts runs into items. */
static carom_status run_list_of(caromi_device_work *w, const caromi_cloud_runs *runs, carom_stats *stats,
                                carom_error *err)
{
    for (uint64_t r = 0; r < runs->count; r++) {
        const caromi_cloud_item *run = &runs->item[r];
        for (uint32_t begin = run->begin; begin < run->end; begin += CLOUD_ITEM) {
            caromi_work_add_item(w, run->place, begin, run->end);
            if (w->items == CAROMI_WORK_ITEMS)
                CHECK(run_items(w, stats, err));
        }
    }
    return CAROM_OK;
}

static carom_status run_scan(caromi_device_work *w, carom_stats *stats, carom_error *err)
{
    for (w->begin = 0; w->begin < w->scan->cells->count; w->begin = w->end) {
        CHECK(caromi_work_list(w, err));
        for (uint32_t i = 0; i < w->list_count; i++)
            CHECK(run_list_of(w, &w->lists[i].runs, stats, err));
    }
    return run_items(w, stats, err);
}

carom_status caromi_cloud_run_on_device(const caromi_cloud_scan *scan, carom_stats *stats, carom_error *err)
{
    caromi_device_work w;
    carom_status status = caromi_work_open(&w, scan, list_rows, stats, err);
    if (status == CAROM_OK)
        status = run_scan(&w, stats, err);
    *scan->cloud->device_failed |= status != CAROM_OK;
    caromi_work_close(&w, stats);
    return status;
}
