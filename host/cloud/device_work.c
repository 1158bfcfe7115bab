/* SPDX-License-Identifier: MIT */
/* Runs, items and open pairs of a scan or a search on a device. */
#include <math.h>
#include <string.h>

#include "device.h"

enum {
    OPEN_LEAST = 1 << 12,
    HITS = 64,      /* handed over at a time */
    LISTS_EACH = 4, /* for each thread */
    RUNS_FIRST = 1 << 12,
    RUNS_MOST = 1 << 22 /* of a task, or twice as many as spheres */
};

/* ---- runs -------------------------------------------------------------------------------------------------------- */

/* Twice as much memory. Without it the newest runs are lost, and the spheres are listed once more, fewer at a time. */
static void grow(caromi_cloud_found *found)
{
    caromi_run_list *list = (caromi_run_list *)(void *)found;
    caromi_cloud_runs *runs = &list->runs;
    caromi_cloud_item *more = NULL;
    if (runs->room < list->most)
        more = caromi_alloc(list->context, 2 * runs->room, sizeof *more);
    if (more == NULL) {
        list->is_short = 1;
        runs->count = 0;
        return;
    }
    memcpy(more, runs->item, runs->count * sizeof *more);
    caromi_free(list->context, runs->item);
    runs->item = more;
    runs->room *= 2;
}

static void list_task(void *user, uint64_t task, uint32_t thread)
{
    const caromi_device_work *w = user;
    caromi_run_list *list = &w->lists[task];
    const uint64_t count = w->end - w->begin;
    (void)thread;
    list->runs.count = 0;
    list->is_short = 0;
    w->list(w, w->begin + caromi_slice_start(count, w->list_count, task),
            w->begin + caromi_slice_start(count, w->list_count, task + 1), &list->found);
}

carom_status caromi_work_list(caromi_device_work *w, carom_error *err)
{
    const uint64_t all = w->scan->cells->count;
    w->end = all - w->begin < CAROMI_WORK_SPHERES ? all : w->begin + CAROMI_WORK_SPHERES;
    for (;;) {
        int is_short = 0;
        caromi_parallel(caromi_cloud_pool(w->scan->cloud), w->list_count, list_task, w);
        for (uint32_t i = 0; i < w->list_count; i++)
            is_short |= w->lists[i].is_short;
        if (!is_short)
            return CAROM_OK;
        if (w->end - w->begin == 1)
            return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0,
                               "no memory to list what the spheres of one row of cells are compared with");
        w->end = w->begin + (w->end - w->begin) / 2;
    }
}

static int alloc_lists(caromi_device_work *w)
{
    w->list_count = LISTS_EACH * caromi_pool_threads(caromi_cloud_pool(w->scan->cloud));
    w->lists = caromi_alloc(w->context, w->list_count, sizeof *w->lists);
    if (w->lists == NULL)
        return 0;
    for (uint32_t i = 0; i < w->list_count; i++) {
        caromi_run_list *list = &w->lists[i];
        list->context = w->context;
        list->most = 2 * w->scan->cells->count > RUNS_MOST ? 2 * w->scan->cells->count : RUNS_MOST;
        list->found.runs = &list->runs;
        list->found.take = grow;
        list->runs = (caromi_cloud_runs){.room = RUNS_FIRST};
        list->runs.item = caromi_alloc(w->context, RUNS_FIRST, sizeof *list->runs.item);
    }
    for (uint32_t i = 0; i < w->list_count; i++)
        if (w->lists[i].runs.item == NULL)
            return 0;
    return 1;
}

/* ---- items ------------------------------------------------------------------------------------------------------- */

void caromi_work_add_item(caromi_device_work *w, uint32_t place, uint32_t begin, uint32_t end)
{
    w->item[0][w->items] = place;
    w->item[1][w->items] = begin;
    w->item[2][w->items++] = end - begin < CLOUD_ITEM ? end - begin : CLOUD_ITEM;
}

carom_status caromi_work_test(caromi_device_work *w, carom_stats *stats, carom_error *err)
{
    const caromi_cloud_items items = {w->item[0], w->item[1], w->item[2], w->item[3], w->item[4], w->item[5]};
    return caromi_cloud_copy_test(w->copy, &items, w->items, stats, err);
}

/* ---- pairs that are open ----------------------------------------------------------------------------------------- */

void caromi_work_keep(caromi_device_work *w, uint64_t at, const caromi_cloud_pair *pair)
{
    w->pair[0][at] = pair->a;
    w->pair[1][at] = pair->b;
    w->pair[2][at] = pair->image;
    w->by[at] = pair->by;
}

void caromi_work_ask_here(caromi_cloud_found *found, uint32_t a, uint32_t b)
{
    found->open.a[found->open.count] = a;
    found->open.b[found->open.count++] = b;
    if (found->open.count >= CAROMI_CLOUD_ROOM)
        found->take(found);
}

/* Exact mode's pair program needs binary64; without it the CPU asks its own solver. */
carom_status caromi_work_solve(caromi_device_work *w, carom_stats *stats, carom_error *err)
{
    const caromi_cloud_open open = {w->pair[0], w->pair[1], w->pair[2], w->t, w->state, w->parts};
    const int exact = w->scan->cloud->exact;
    w->opened = w->opened < CAROMI_WORK_OPEN ? w->opened : CAROMI_WORK_OPEN;
    w->is_solved = w->opened >= OPEN_LEAST && (!exact || caromi_device_has_fp64(w->scan->cloud->device));
    return w->is_solved ? caromi_cloud_copy_solve(w->copy, &open, w->opened, exact, stats, err) : CAROM_OK;
}

void caromi_work_take(caromi_device_work *w, uint64_t begin, uint64_t end, uint32_t thread)
{
    const caromi_cloud_scan *scan = w->scan;
    caromi_cloud_found *found = caromi_ask_found(&w->ask, thread);
    caromi_cloud_pair hits[HITS];
    uint32_t count = 0;
    for (uint64_t i = begin; i < end; i++) {
        if (!w->is_solved || isnan(w->t[i])) { /* undecided */
            caromi_work_ask_here(found, w->pair[w->by[i]][i], w->pair[!w->by[i]][i]);
            continue;
        }
        if (!caromi_ask_is_hit(scan, w->t[i], w->state[i], w->parts[i]))
            continue;
        hits[count++] =
            (caromi_cloud_pair){w->pair[0][i], w->pair[1][i], w->t[i], w->state[i], (uint8_t)w->pair[2][i], w->by[i]};
        if (count == HITS) {
            scan->take(scan->user, thread, hits, count);
            count = 0;
        }
    }
    if (count)
        scan->take(scan->user, thread, hits, count);
    caromi_ask_take(found);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static carom_status alloc_work(caromi_device_work *w, carom_error *err)
{
    const carom_context *c = w->context;
    int complete = alloc_lists(w);
    for (int k = 0; k < 6; k++)
        complete &= (w->item[k] = caromi_alloc(c, CAROMI_WORK_ITEMS, sizeof *w->item[k])) != NULL;
    for (int k = 0; k < 3; k++)
        complete &= (w->pair[k] = caromi_alloc(c, CAROMI_WORK_OPEN, sizeof *w->pair[k])) != NULL;
    complete &= (w->by = caromi_alloc(c, CAROMI_WORK_OPEN, 1)) != NULL;
    complete &= (w->t = caromi_alloc(c, CAROMI_WORK_OPEN, sizeof *w->t)) != NULL;
    complete &= (w->state = caromi_alloc(c, CAROMI_WORK_OPEN, 1)) != NULL;
    complete &= (w->parts = caromi_alloc(c, CAROMI_WORK_OPEN, 1)) != NULL;
    return complete ? CAROM_OK
                    : caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory to list pairs of spheres for a device");
}

carom_status caromi_work_open(caromi_device_work *w, const caromi_cloud_scan *scan, caromi_work_list_fn *list,
                              carom_stats *stats, carom_error *err)
{
    const caromi_cloud *cloud = scan->cloud;
    memset(w, 0, sizeof *w);
    w->scan = scan;
    w->context = cloud->context;
    w->list = list;
    CHECK(caromi_ask_open(scan, &w->ask, err));
    CHECK(alloc_work(w, err));
    return caromi_cloud_copy_open(cloud->device, cloud, scan->cells, &w->copy, stats, err);
}

void caromi_work_close(caromi_device_work *w, carom_stats *stats)
{
    const carom_context *c = w->context;
    caromi_cloud_copy_close(w->copy);
    if (w->ask.works != NULL)
        caromi_ask_close(&w->ask, stats);
    for (uint32_t i = 0; w->lists != NULL && i < w->list_count; i++)
        caromi_free(c, w->lists[i].runs.item);
    caromi_free(c, w->lists);
    for (int k = 0; k < 6; k++)
        caromi_free(c, w->item[k]);
    for (int k = 0; k < 3; k++)
        caromi_free(c, w->pair[k]);
    caromi_free(c, w->by);
    caromi_free(c, w->t);
    caromi_free(c, w->state);
    caromi_free(c, w->parts);
}
