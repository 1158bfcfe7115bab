/* SPDX-License-Identifier: MIT */
/* Runs, items and undecided pairs of a scan or a search on a device. */
#include <math.h>
#include <string.h>

#include "device.h"

enum {
    UNDECIDED_LEAST = 1 << 12, /* undecided pairs; with fewer, a launch does not pay */
    HITS = 64,                 /* hits of one call of the scan's callback */
    LISTS_EACH = 8,            /* lists of each thread, if there are several threads */
    RUNS_EACH = 8,             /* runs of each sphere that the first allocation has room for */
    RUNS_MOST = 1 << 22        /* most runs of a list, or twice the number of spheres if that is more */
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

/* Computes the number of items that a list's runs are cut into. */
static void count_items(caromi_run_list *list)
{
    list->items = list->cut = list->run = list->at = 0;
    for (uint64_t r = 0; r < list->runs.count; r++)
        list->items += (list->runs.item[r].end - list->runs.item[r].begin + CLOUD_ITEM - 1) / CLOUD_ITEM;
}

/* Task: lists the runs of a share of the spheres. */
static void list_task(void *user, uint64_t task, uint32_t thread)
{
    const caromi_device_work *work = user;
    caromi_run_list *list = &work->lists[task];
    const uint64_t count = work->end - work->begin;
    (void)thread;
    list->runs.count = 0;
    list->is_short = 0;
    work->list(work, work->begin + caromi_slice_start(count, work->list_count, task),
               work->begin + caromi_slice_start(count, work->list_count, task + 1), &list->found);
    if (work->scan->best == NULL)
        count_items(list);
}

/* Lists the runs of as many spheres as there is memory for. */
carom_status caromi_work_list(caromi_device_work *work, carom_error *err)
{
    const uint64_t all = work->scan->cells->count;
    work->end = all - work->begin < CAROMI_WORK_SPHERES ? all : work->begin + CAROMI_WORK_SPHERES;
    for (;;) {
        int is_short = 0;
        caromi_parallel(caromi_cloud_pool(work->scan->cloud), work->list_count, list_task, work);
        for (uint32_t i = 0; i < work->list_count; i++)
            is_short |= work->lists[i].is_short;
        if (!is_short)
            return CAROM_OK;
        if (work->end - work->begin == 1)
            return caromi_fail_memory(err, "no memory to list what the spheres of one row of cells are compared with");
        work->end = work->begin + (work->end - work->begin) / 2;
    }
}

/* One allocation for the arrays of all lists, which the context keeps for the next call. */
static int alloc_lists(caromi_device_work *work)
{
    const uint32_t threads = caromi_pool_threads(caromi_cloud_pool(work->scan->cloud));
    const uint64_t all = work->scan->cells->count, some = all < CAROMI_WORK_SPHERES ? all : CAROMI_WORK_SPHERES;
    work->list_count = threads > 1 ? LISTS_EACH * threads : 1;
    const uint64_t room = RUNS_EACH * (some / work->list_count + 1);
    work->runs = caromi_cached_alloc(work->context, work->list_count * room, sizeof *work->runs);
    work->lists = caromi_cached_alloc(work->context, work->list_count, sizeof *work->lists);
    if (work->lists == NULL || work->runs == NULL)
        return 0;
    /* Each list begins with its part of the common array. */
    for (uint32_t i = 0; i < work->list_count; i++) {
        caromi_run_list *list = &work->lists[i];
        list->context = work->context;
        list->most = 2 * all > RUNS_MOST ? 2 * all : RUNS_MOST;
        list->found.runs = &list->runs;
        list->found.flush = grow;
        list->found.ends = 0;
        list->runs = (caromi_cloud_runs){.capacity = room, .item = work->runs + i * room};
        list->own = NULL;
    }
    return 1;
}

/* ---- items ------------------------------------------------------------------------------------------------------- */

/* Runs the filter on the items, on the device. */
carom_status caromi_work_test(caromi_device_work *work, carom_stats *stats, carom_error *err)
{
    const caromi_cloud_items items = {work->item[ITEM_SLOT],       work->item[ITEM_BEGIN],   work->item[ITEM_LENGTH],
                                      work->item[ITEM_CANDIDATES], work->item[ITEM_CERTAIN], work->item[ITEM_NEAR]};
    return caromi_driver.cloud_test(work->copy, &items, work->items, stats, err);
}

/* ---- undecided pairs --------------------------------------------------------------------------------------------- */

void caromi_work_store(caromi_device_work *work, uint64_t at, const caromi_cloud_pair *pair)
{
    work->pair[PAIR_A][at] = pair->a;
    work->pair[PAIR_B][at] = pair->b;
    work->pair[PAIR_IMAGE][at] = pair->image;
    work->by[at] = pair->by;
}

/* Adds a pair to the buffer of the CPU's solver. */
void caromi_work_solve_here(caromi_cloud_found *found, uint32_t a, uint32_t b)
{
    found->undecided.a[found->undecided.count] = a;
    found->undecided.b[found->undecided.count++] = b;
    if (found->undecided.count >= CAROMI_CLOUD_FLUSH)
        found->flush(found);
}

/* Exact mode's pair program needs binary64; on devices without it, the CPU's solver computes the pairs. */
carom_status caromi_work_solve(caromi_device_work *work, carom_stats *stats, carom_error *err)
{
    const caromi_cloud_undecided pairs = {work->pair[PAIR_A], work->pair[PAIR_B], work->pair[PAIR_IMAGE], work->t,
                                          work->state,        work->parts};
    const int exact = work->scan->cloud->exact;
    work->undecided_count =
        work->undecided_count < CAROMI_WORK_UNDECIDED ? work->undecided_count : CAROMI_WORK_UNDECIDED;
    work->is_solved =
        work->undecided_count >= UNDECIDED_LEAST && (!exact || caromi_driver.has_fp64(work->scan->cloud->device));
    return work->is_solved ? caromi_driver.cloud_solve(work->copy, &pairs, work->undecided_count, exact, stats, err)
                           : CAROM_OK;
}

/* Emits the hits among solved pairs; pairs that the device left undecided go to the CPU's solver. */
void caromi_work_emit(caromi_device_work *work, uint64_t begin, uint64_t end, uint32_t thread)
{
    const caromi_cloud_scan *scan = work->scan;
    caromi_cloud_found *found = caromi_narrow_phase_found(&work->narrow, thread);
    caromi_cloud_pair hits[HITS];
    uint32_t count = 0;
    for (uint64_t i = begin; i < end; i++) {
        /* Left undecided by the device: the searching sphere comes first. */
        if (!work->is_solved || isnan(work->t[i])) {
            caromi_work_solve_here(found, work->pair[work->by[i]][i], work->pair[!work->by[i]][i]);
            continue;
        }
        if (!caromi_narrow_phase_is_hit(scan, work->t[i], work->state[i], work->parts[i]))
            continue;
        hits[count++] = (caromi_cloud_pair){work->pair[PAIR_A][i],
                                            work->pair[PAIR_B][i],
                                            work->t[i],
                                            work->state[i],
                                            (uint8_t)work->pair[PAIR_IMAGE][i],
                                            work->by[i]};
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
    uint32_t item[ITEM_COLUMNS][CAROMI_WORK_ITEMS], pair[PAIR_COLUMNS][CAROMI_WORK_UNDECIDED];
    float t[CAROMI_WORK_UNDECIDED];
    uint8_t by[CAROMI_WORK_UNDECIDED], state[CAROMI_WORK_UNDECIDED], parts[CAROMI_WORK_UNDECIDED];
} work_arrays;

/* Allocates the columns of items and of undecided pairs. */
static carom_status alloc_work(caromi_device_work *work, carom_error *err)
{
    work_arrays *arrays = work->arrays = caromi_cached_alloc(work->context, 1, sizeof *arrays);
    if (!alloc_lists(work) || arrays == NULL)
        return caromi_fail_memory(err, "no memory to list pairs of spheres for a device");
    for (int k = 0; k < ITEM_COLUMNS; k++)
        work->item[k] = arrays->item[k];
    for (int k = 0; k < PAIR_COLUMNS; k++)
        work->pair[k] = arrays->pair[k];
    work->by = arrays->by;
    work->t = arrays->t;
    work->state = arrays->state;
    work->parts = arrays->parts;
    return CAROM_OK;
}

/* Allocates everything, and copies the spheres to the device. */
carom_status caromi_work_open(caromi_device_work *work, const caromi_cloud_scan *scan, caromi_work_list_fn *list,
                              carom_stats *stats, carom_error *err)
{
    const caromi_cloud *cloud = scan->cloud;
    memset(work, 0, sizeof *work);
    work->scan = scan;
    work->context = cloud->context;
    work->view = caromi_narrow_phase_view(scan);
    work->list = list;
    CHECK(caromi_narrow_phase_begin(scan, &work->narrow, err));
    CHECK(alloc_work(work, err));
    return caromi_driver.cloud_open(cloud->device, cloud, scan->cells, &work->copy, stats, err);
}

void caromi_work_close(caromi_device_work *work, carom_stats *stats)
{
    const carom_context *context = work->context;
    caromi_driver.cloud_close(work->copy);
    if (work->narrow.works != NULL)
        caromi_narrow_phase_end(&work->narrow, stats);
    for (uint32_t i = 0; work->lists != NULL && work->runs != NULL && i < work->list_count; i++)
        caromi_cached_free(context, work->lists[i].own);
    caromi_cached_free(context, work->lists);
    caromi_cached_free(context, work->runs);
    caromi_cached_free(context, work->arrays);
}
