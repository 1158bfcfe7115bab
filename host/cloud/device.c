/* SPDX-License-Identifier: MIT */
/* The scan of all pairs on a device. The CPU walks through the cells (broad phase) and lists runs of spheres to
 * compare. The device filters them and solves the undecided pairs. The CPU applies the start policy and, in exact mode,
 * decides the pairs that the device leaves undecided. Answers are the CPU's bits, as they do not depend on the set of
 * pairs that is tested. */
#include <string.h>

#include "device.h"

enum { TASK = 1 << 12 }; /* items or pairs of a task */

/* Lists the runs of whole rows of cells: each sphere with the later spheres that may touch it. */
static void list_rows(const caromi_device_work *work, uint64_t begin, uint64_t end, caromi_cloud_found *found)
{
    const caromi_cloud_cells *cells = work->scan->cells;
    work->context->isa->cloud_runs(&cells->view, caromi_row_from(cells, begin), caromi_row_from(cells, end), found);
}

/* Moves undecided pairs into the device's next batch. Pairs that do not fit stay in `found`, for the CPU's solver. */
static void store_undecided(caromi_device_work *work, caromi_cloud_found *found)
{
    caromi_cloud_pairs *undecided = &found->undecided;
    const uint64_t first = atomic_fetch_add_explicit(&work->undecided_count, undecided->count, memory_order_relaxed);
    const uint64_t room = first < CAROMI_WORK_UNDECIDED ? CAROMI_WORK_UNDECIDED - first : 0;
    const uint32_t kept = undecided->count < room ? undecided->count : (uint32_t)room;
    for (uint32_t i = 0; i < kept; i++) {
        const caromi_cloud_pair pair =
            caromi_narrow_phase_orient(work->scan, CAROMI_IMAGE_OWN, undecided->a[i], undecided->b[i]);
        caromi_work_store(work, first + i, &pair);
    }
    undecided->count -= kept;
    memmove(undecided->a, undecided->a + kept, undecided->count * sizeof *undecided->a);
    memmove(undecided->b, undecided->b + kept, undecided->count * sizeof *undecided->b);
}

/* Task: reads the filter's results of some items: certain pairs are emitted, undecided ones stored. */
static void read_items(void *user, uint64_t begin, uint64_t end, uint32_t thread)
{
    caromi_device_work *work = user;
    const caromi_isa_table *isa = work->context->isa;
    caromi_cloud_found *found = caromi_narrow_phase_found(&work->narrow, thread);
    for (uint64_t i = begin; i < end;) {
        i = isa->cloud_answers(&work->view, work->item, i, end, found);
        store_undecided(work, found);
        caromi_narrow_phase_flush(found);
    }
}

/* Task: emits the hits among some solved pairs. */
static void emit_undecided(void *user, uint64_t begin, uint64_t end, uint32_t thread)
{
    caromi_work_emit(user, begin, end, thread);
}

/* One launch of the filter and, for the pairs that it leaves undecided, of the solver. */
static carom_status run_items(caromi_device_work *work, carom_stats *stats, carom_error *err)
{
    if (work->items == 0)
        return CAROM_OK;
    CHECK(caromi_work_test(work, stats, err));
    work->undecided_count = 0;
    caromi_parallel_runs(caromi_cloud_pool(work->scan->cloud), work->items, TASK, read_items, work);
    work->items = 0;
    CHECK(caromi_work_solve(work, stats, err));
    caromi_parallel_runs(caromi_cloud_pool(work->scan->cloud), work->undecided_count, TASK, emit_undecided, work);
    return CAROM_OK;
}

/* ---- items ------------------------------------------------------------------------------------------------------- */

/* Items [first, end) go into the next launch; they are numbered through all lists, each list from its `before` on. */
typedef struct cut_job {
    caromi_device_work *work;
    uint64_t first, end;
} cut_job;

/* Task: cuts one list's runs into items, as far as they belong to the launch. */
static void cut_runs(void *user, uint64_t task, uint32_t thread)
{
    const cut_job *job = user;
    caromi_device_work *work = job->work;
    caromi_run_list *list = &work->lists[task];
    (void)thread;
    for (; list->cut < list->items && list->before + list->cut < job->end; list->cut++) {
        const caromi_cloud_item *run = &list->runs.item[list->run];
        const uint32_t begin = run->begin + CLOUD_ITEM * list->at++;
        caromi_work_set_item(work, work->items + list->before + list->cut - job->first, run->slot, begin, run->end);
        if (run->end - begin <= CLOUD_ITEM) {
            list->run++;
            list->at = 0;
        }
    }
}

/* Cuts the listed runs into items, launch by launch; the last launch is filled with items of later lists. */
static carom_status run_lists(caromi_device_work *work, carom_stats *stats, carom_error *err)
{
    caromi_pool *pool = caromi_cloud_pool(work->scan->cloud);
    uint64_t all = 0; /* prefix sum of the lists' items */
    for (uint32_t i = 0; i < work->list_count; i++) {
        work->lists[i].before = all;
        all += work->lists[i].items;
    }
    for (cut_job job = {.work = work}; job.first < all; job.first = job.end) {
        const uint64_t room = CAROMI_WORK_ITEMS - work->items;
        job.end = all - job.first < room ? all : job.first + room;
        caromi_parallel(pool, work->list_count, cut_runs, &job);
        work->items += job.end - job.first;
        if (work->items == CAROMI_WORK_ITEMS)
            CHECK(run_items(work, stats, err));
    }
    return CAROM_OK;
}

static carom_status run_scan(caromi_device_work *work, carom_stats *stats, carom_error *err)
{
    for (work->begin = 0; work->begin < work->scan->cells->count; work->begin = work->end) {
        CHECK(caromi_work_list(work, err));
        CHECK(run_lists(work, stats, err));
    }
    return run_items(work, stats, err);
}

/* Scans all pairs on the device. Any failure here is the device's own. */
carom_status caromi_cloud_run_on_device(const caromi_cloud_scan *scan, carom_stats *stats, carom_error *err)
{
    caromi_device_work work;
    carom_status status = caromi_work_open(&work, scan, list_rows, stats, err);
    if (status == CAROM_OK)
        status = run_scan(&work, stats, err);
    *scan->cloud->device_failed |= status != CAROM_OK;
    caromi_work_close(&work, stats);
    return status;
}
