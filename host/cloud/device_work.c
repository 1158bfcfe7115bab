/* SPDX-License-Identifier: MIT */
/* Runs, items and undecided pairs of a scan or a search on a device. */
#include <math.h>
#include <string.h>

#include "device.h"

enum {
    UNDECIDED_LEAST = 1 << 12,
    HITS = 64,          /* hits of one call of the scan's callback */
    LISTS_EACH = 8,     /* lists of each thread, if there are several threads */
    RUNS_EACH = 8,      /* runs of each sphere that the first allocation has room for */
    RUNS_MOST = 1 << 22 /* most runs of a list, or twice the number of spheres if that is more */
};

/* ---- runs -------------------------------------------------------------------------------------------------------- */

/* The listing's callback when the array is full: doubles it. If there is no memory, the runs are dropped, and
 * caromi_work_list begins again with half of the spheres. */
static void grow(caromi_cloud_found *found)
{
    caromi_run_list *list = (caromi_run_list *)(void *)found;
    caromi_cloud_runs *runs = &list->runs;
    caromi_cloud_item *more = NULL;
    if (runs->capacity < list->most)
        more = caromi_cached_alloc(list->context, 2 * runs->capacity, sizeof *more);
    if (more == NULL) {
        list->is_short = 1;
        runs->count = 0;
        return;
    }
    memcpy(more, runs->item, runs->count * sizeof *more);
    caromi_cached_free(list->context, list->own);
    runs->item = list->own = more;
    runs->capacity *= 2;
}

static void count_items(caromi_run_list *list)
{
    list->items = list->cut = list->run = list->at = 0;
    for (uint64_t r = 0; r < list->runs.count; r++)
        list->items += (list->runs.item[r].end - list->runs.item[r].begin + CLOUD_ITEM - 1) / CLOUD_ITEM;
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
    if (w->scan->best == NULL)
        count_items(list);
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

/* One allocation for the arrays of all lists, which the context keeps for the next call. */
static int alloc_lists(caromi_device_work *w)
{
    const uint32_t threads = caromi_pool_threads(caromi_cloud_pool(w->scan->cloud));
    const uint64_t all = w->scan->cells->count, some = all < CAROMI_WORK_SPHERES ? all : CAROMI_WORK_SPHERES;
    w->list_count = threads > 1 ? LISTS_EACH * threads : 1;
    const uint64_t room = RUNS_EACH * (some / w->list_count + 1);
    w->runs = caromi_cached_alloc(w->context, w->list_count * room, sizeof *w->runs);
    w->lists = caromi_cached_alloc(w->context, w->list_count, sizeof *w->lists);
    if (w->lists == NULL || w->runs == NULL)
        return 0;
    for (uint32_t i = 0; i < w->list_count; i++) {
        caromi_run_list *list = &w->lists[i];
        list->context = w->context;
        list->most = 2 * all > RUNS_MOST ? 2 * all : RUNS_MOST;
        list->found.runs = &list->runs;
        list->found.flush = grow;
        list->found.ends = 0;
        list->runs = (caromi_cloud_runs){.capacity = room, .item = w->runs + i * room};
        list->own = NULL;
    }
    return 1;
}

/* ---- items ------------------------------------------------------------------------------------------------------- */

carom_status caromi_work_test(caromi_device_work *w, carom_stats *stats, carom_error *err)
{
    const caromi_cloud_items items = {w->item[0], w->item[1], w->item[2], w->item[3], w->item[4], w->item[5]};
    return caromi_driver.cloud_test(w->copy, &items, w->items, stats, err);
}

/* ---- undecided pairs --------------------------------------------------------------------------------------------- */

void caromi_work_store(caromi_device_work *w, uint64_t at, const caromi_cloud_pair *pair)
{
    w->pair[0][at] = pair->a;
    w->pair[1][at] = pair->b;
    w->pair[2][at] = pair->image;
    w->by[at] = pair->by;
}

void caromi_work_solve_here(caromi_cloud_found *found, uint32_t a, uint32_t b)
{
    found->undecided.a[found->undecided.count] = a;
    found->undecided.b[found->undecided.count++] = b;
    if (found->undecided.count >= CAROMI_CLOUD_FLUSH)
        found->flush(found);
}

/* Exact mode's pair program needs binary64; on devices without it, the CPU's solver computes the pairs. */
carom_status caromi_work_solve(caromi_device_work *w, carom_stats *stats, carom_error *err)
{
    const caromi_cloud_undecided open = {w->pair[0], w->pair[1], w->pair[2], w->t, w->state, w->parts};
    const int exact = w->scan->cloud->exact;
    w->undecided_count = w->undecided_count < CAROMI_WORK_UNDECIDED ? w->undecided_count : CAROMI_WORK_UNDECIDED;
    w->is_solved = w->undecided_count >= UNDECIDED_LEAST && (!exact || caromi_driver.has_fp64(w->scan->cloud->device));
    return w->is_solved ? caromi_driver.cloud_solve(w->copy, &open, w->undecided_count, exact, stats, err) : CAROM_OK;
}

void caromi_work_emit(caromi_device_work *w, uint64_t begin, uint64_t end, uint32_t thread)
{
    const caromi_cloud_scan *scan = w->scan;
    caromi_cloud_found *found = caromi_narrow_phase_found(&w->narrow, thread);
    caromi_cloud_pair hits[HITS];
    uint32_t count = 0;
    for (uint64_t i = begin; i < end; i++) {
        if (!w->is_solved || isnan(w->t[i])) { /* undecided */
            caromi_work_solve_here(found, w->pair[w->by[i]][i], w->pair[!w->by[i]][i]);
            continue;
        }
        if (!caromi_narrow_phase_is_hit(scan, w->t[i], w->state[i], w->parts[i]))
            continue;
        hits[count++] =
            (caromi_cloud_pair){w->pair[0][i], w->pair[1][i], w->t[i], w->state[i], (uint8_t)w->pair[2][i], w->by[i]};
        if (count == HITS) {
            scan->emit(scan->user, thread, hits, count);
            count = 0;
        }
    }
    if (count)
        scan->emit(scan->user, thread, hits, count);
    caromi_narrow_phase_flush(found);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* The arrays of a work, in one allocation that the context keeps for the next call. */
typedef struct caromi_work_arrays {
    uint32_t item[6][CAROMI_WORK_ITEMS], pair[3][CAROMI_WORK_UNDECIDED];
    float t[CAROMI_WORK_UNDECIDED];
    uint8_t by[CAROMI_WORK_UNDECIDED], state[CAROMI_WORK_UNDECIDED], parts[CAROMI_WORK_UNDECIDED];
} work_arrays;

static carom_status alloc_work(caromi_device_work *w, carom_error *err)
{
    work_arrays *arrays = w->arrays = caromi_cached_alloc(w->context, 1, sizeof *arrays);
    if (!alloc_lists(w) || arrays == NULL)
        return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory to list pairs of spheres for a device");
    for (int k = 0; k < 6; k++)
        w->item[k] = arrays->item[k];
    for (int k = 0; k < 3; k++)
        w->pair[k] = arrays->pair[k];
    w->by = arrays->by;
    w->t = arrays->t;
    w->state = arrays->state;
    w->parts = arrays->parts;
    return CAROM_OK;
}

carom_status caromi_work_open(caromi_device_work *w, const caromi_cloud_scan *scan, caromi_work_list_fn *list,
                              carom_stats *stats, carom_error *err)
{
    const caromi_cloud *cloud = scan->cloud;
    memset(w, 0, sizeof *w);
    w->scan = scan;
    w->context = cloud->context;
    w->view = caromi_narrow_phase_view(scan);
    w->list = list;
    CHECK(caromi_narrow_phase_begin(scan, &w->narrow, err));
    CHECK(alloc_work(w, err));
    return caromi_driver.cloud_open(cloud->device, cloud, scan->cells, &w->copy, stats, err);
}

void caromi_work_close(caromi_device_work *w, carom_stats *stats)
{
    const carom_context *c = w->context;
    caromi_driver.cloud_close(w->copy);
    if (w->narrow.works != NULL)
        caromi_narrow_phase_end(&w->narrow, stats);
    for (uint32_t i = 0; w->lists != NULL && w->runs != NULL && i < w->list_count; i++)
        caromi_cached_free(c, w->lists[i].own);
    caromi_cached_free(c, w->lists);
    caromi_cached_free(c, w->runs);
    caromi_cached_free(c, w->arrays);
}
