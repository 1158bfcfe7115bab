/* SPDX-License-Identifier: MIT */
/* The search for first or any partners on a device, in rounds. In each round every unfinished search submits some
 * items, twice as many as in the round before. So short searches test little in vain, and long ones need few rounds.
 * The device filters the items and solves undecided pairs. Hits end a search or shorten it, by the CPU's rules: indices
 * ascend within a cell, so no sphere behind a partner's index is better. */
#include "device.h"

enum {
    TASK = 1 << 8,        /* spheres of a task */
    ITEMS_FIRST = 32,     /* items of a sphere in the first round, one of each cell; doubled in each round */
    ITEMS_MOST = 1 << 12, /* most items of a sphere in a round, and of a task's buffer */
    UNDECIDED_FIRST = 16  /* undecided pairs of a sphere in the first round; doubled in each round */
};

/* An unfinished search: one sphere. */
typedef struct sphere_search {
    caromi_cloud_item *run, *end;        /* its runs, one for each cell, without the spheres that are tested already */
    uint32_t slot, item, items;          /* slot of the sphere; first item and number of items in this launch */
    uint32_t undecided, undecided_count; /* first undecided pair and number of undecided pairs in this launch */
    uint32_t stop, stop_at; /* the item and the slot where the search stopped, as it had too many undecided pairs */
    int is_done;
} sphere_search;

/* All searches of a call, in rounds of launches. */
typedef struct search_job {
    caromi_device_work *work;
    const caromi_cloud_best *best;
    sphere_search *searches;
    uint64_t begin, end; /* searches of this launch */
    uint64_t next;       /* searches [end, next) are submitting items */
    uint64_t count;
    atomic_uint_fast64_t items; /* items of the launch so far */
    uint32_t items_most, items_each,
        undecided_most; /* most of a search in this round: items, items of one cell, undecided pairs */
} search_job;

/* Lists the runs of the spheres in slots [begin, end), one for each cell of a search box. */
static void list_cells(const caromi_device_work *work, uint64_t begin, uint64_t end, caromi_cloud_found *found)
{
    const caromi_cloud_scan *scan = work->scan;
    work->context->isa->cloud_best_runs(&scan->cells->view, (uint32_t)begin, (uint32_t)end, scan->best, found);
}

/* The index of the best partner so far; UINT32_MAX: none. */
static uint32_t partner_of(const search_job *job, const sphere_search *search)
{
    return job->best->partner[search->slot];
}

/* ---- items ------------------------------------------------------------------------------------------------------- */

/* Whether no sphere of a run from `at` on is better than the search's partner, as indices ascend. */
static int is_over(const search_job *job, const sphere_search *search, uint32_t at, uint32_t end)
{
    return at >= end || job->work->scan->cells->index[at] > partner_of(job, search);
}

/* As many searches as fit into a task's buffer of items. */
static uint64_t searches_of_task(const search_job *job)
{
    return ITEMS_MOST / job->items_most;
}

/* A task's buffer of items, before their position in the launch is known. */
typedef struct submitted_items {
    uint32_t count;
    caromi_cloud_item item[ITEMS_MOST];
} submitted_items;

/* Adds the next items of a search to a task's buffer: up to items_each of each cell, up to items_most in all. */
static void submit(const search_job *job, sphere_search *search, submitted_items *to)
{
    const uint32_t most = to->count + job->items_most;
    search->item = to->count;
    for (const caromi_cloud_item *run = search->run; run < search->end && to->count < most; run++) {
        uint32_t at = run->begin;
        for (uint32_t k = 0; k < job->items_each && to->count < most && !is_over(job, search, at, run->end); k++) {
            to->item[to->count++] = (caromi_cloud_item){search->slot, at, run->end};
            at += CLOUD_ITEM;
        }
    }
    search->items = to->count - search->item;
}

/* Task: some searches from job->end on submit items. One atomic addition reserves positions for all of them; answers do
 * not depend on positions. */
static void submit_some(void *user, uint64_t task, uint32_t thread)
{
    search_job *job = user;
    const caromi_device_work *work = job->work;
    const uint64_t some = searches_of_task(job), begin = job->end + task * some;
    const uint64_t end = job->next - begin < some ? job->next : begin + some;
    submitted_items items;
    (void)thread;
    items.count = 0;
    for (uint64_t i = begin; i < end; i++)
        submit(job, &job->searches[i], &items);
    const uint64_t first = atomic_fetch_add_explicit(&job->items, items.count, memory_order_relaxed);
    for (uint64_t i = begin; i < end; i++)
        job->searches[i].item += (uint32_t)first;
    for (uint32_t i = 0; i < items.count; i++)
        caromi_work_set_item(work, first + i, items.item[i].slot, items.item[i].begin, items.item[i].end);
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

/* Results of an item, as bit masks of its spheres, without the searching sphere itself. */
typedef struct item_bits {
    uint32_t certain, undecided;
} item_bits;

/* The filter's result of an item: spheres that certainly overlap, and undecided ones. */
static item_bits bits_of(const search_job *job, const sphere_search *search, uint32_t item)
{
    const caromi_device_work *work = job->work;
    const uint32_t *index = work->scan->cells->index, begin = work->item[ITEM_BEGIN][item];
    item_bits bits = {work->item[ITEM_CERTAIN][item],
                      work->item[ITEM_CANDIDATES][item] & ~work->item[ITEM_CERTAIN][item]};
    const uint32_t own_index = index[search->slot], last_index = index[begin + work->item[ITEM_LENGTH][item] - 1];
    /* The searching sphere may be among the candidates: its own bit is cleared. */
    for (uint32_t candidates = index[begin] <= own_index && own_index <= last_index ? work->item[ITEM_CANDIDATES][item]
                                                                                    : 0;
         candidates != 0; candidates &= candidates - 1)
        if (index[begin + caromi_lowest_bit(candidates)] == own_index) {
            bits.certain &= ~(candidates & -candidates);
            bits.undecided &= ~(candidates & -candidates);
        }
    return bits;
}

/* Visits a search's undecided pairs whose index is below the partner's, up to job->undecided_most: counts them and, for
 * STORE_UNDECIDED, stores them from search->undecided on. */
typedef enum undecided_walk { COUNT_UNDECIDED, STORE_UNDECIDED } undecided_walk;
static void walk_undecided(const search_job *job, sphere_search *search, undecided_walk purpose)
{
    caromi_device_work *work = job->work;
    const uint32_t *index = work->scan->cells->index, partner = partner_of(job, search);
    search->undecided_count = 0;
    search->stop = search->item + search->items;
    /* A search for any partner needs no more pairs once it has one. */
    if (job->best->any && partner != UINT32_MAX)
        return;
    for (search->stop = search->item; search->stop < search->item + search->items; search->stop++) {
        const uint32_t begin = work->item[ITEM_BEGIN][search->stop];
        /* Indices ascend within an item: its first sphere has the lowest. */
        const int may_be_better =
            (work->item[ITEM_CANDIDATES][search->stop] & ~work->item[ITEM_CERTAIN][search->stop]) != 0 &&
            index[begin] <= partner;
        for (uint32_t left = may_be_better ? bits_of(job, search, search->stop).undecided : 0; left != 0;
             left &= left - 1) {
            search->stop_at = begin + caromi_lowest_bit(left);
            if (index[search->stop_at] > partner)
                continue;
            if (search->undecided_count == job->undecided_most)
                return;
            const caromi_cloud_pair pair =
                caromi_narrow_phase_orient(work->scan, CAROMI_IMAGE_OWN, search->slot, search->stop_at);
            if (purpose == STORE_UNDECIDED)
                caromi_work_store(work, search->undecided + search->undecided_count, &pair);
            search->undecided_count++;
        }
    }
}

/* Applies the certain hits of a search, which leave fewer pairs undecided, and counts the rest. */
static void apply_certain(const search_job *job, sphere_search *search)
{
    const caromi_device_work *work = job->work;
    const uint32_t *index = work->scan->cells->index;
    uint32_t *partner = &job->best->partner[search->slot];
    for (uint32_t i = search->item; i < search->item + search->items; i++) {
        const uint32_t certain = work->item[ITEM_CERTAIN][i] != 0 ? bits_of(job, search, i).certain : 0;
        if (certain != 0 && index[work->item[ITEM_BEGIN][i] + caromi_lowest_bit(certain)] < *partner)
            *partner = index[work->item[ITEM_BEGIN][i] + caromi_lowest_bit(certain)];
    }
    walk_undecided(job, search, COUNT_UNDECIDED);
}

/* Removes the tested spheres from a search's runs: the next round continues where walk_undecided stopped. */
static void advance(const search_job *job, const sphere_search *search)
{
    const caromi_device_work *work = job->work;
    caromi_cloud_item *run = search->run;
    for (uint32_t i = search->item; i < search->item + search->items && i <= search->stop; i++) {
        const uint32_t begin = work->item[ITEM_BEGIN][i];
        while (begin < run->begin || begin >= run->end)
            run++;
        run->begin = i == search->stop ? search->stop_at : begin + work->item[ITEM_LENGTH][i];
    }
}

/* Skips runs without better spheres; a search without runs is done, and so is one with any partner. */
static void end_if_done(const search_job *job, sphere_search *search)
{
    const int is_found = job->best->any && partner_of(job, search) != UINT32_MAX;
    while (search->run < search->end && is_over(job, search, search->run->begin, search->run->end))
        search->run++;
    search->is_done = is_found || search->run == search->end;
}

/* ---- rounds ------------------------------------------------------------------------------------------------------ */

/* The steps of a round after the filter, for each search. */
typedef void each_fn(search_job *job, sphere_search *search, uint32_t thread);

/* Step 1: applies certain hits. */
static void apply_each(search_job *job, sphere_search *search, uint32_t thread)
{
    (void)thread;
    apply_certain(job, search);
}

/* Step 2: stores the undecided pairs that fit, and moves on in the runs. */
static void store_each(search_job *job, sphere_search *search, uint32_t thread)
{
    (void)thread;
    if (search->undecided_count != 0)
        walk_undecided(job, search, STORE_UNDECIDED);
    advance(job, search);
}

/* Step 3: emits the solved pairs. */
static void emit_each(search_job *job, sphere_search *search, uint32_t thread)
{
    if (search->undecided_count != 0)
        caromi_work_emit(job->work, search->undecided, search->undecided + search->undecided_count, thread);
    end_if_done(job, search);
}

/* A loop over the searches of a launch; each sphere's answers come from one thread. */
typedef struct each_job {
    search_job *job;
    each_fn *each;
} each_job;

/* Task: one step for a range of searches. */
static void run_each(void *user, uint64_t begin, uint64_t end, uint32_t thread)
{
    const each_job *run = user;
    search_job *job = run->job;
    for (uint64_t i = job->begin + begin; i < job->begin + end; i++)
        run->each(job, &job->searches[i], thread);
}

static void for_each(search_job *job, each_fn *each)
{
    each_job run = {job, each};
    caromi_parallel_runs(caromi_cloud_pool(job->work->scan->cloud), job->end - job->begin, TASK, run_each, &run);
}

/* Prefix sum of the searches' undecided pairs. A search whose pairs do not fit repeats its items in the next round. */
static void assign_undecided(search_job *job)
{
    uint32_t undecided_count = 0;
    for (uint64_t i = job->begin; i < job->end; i++) {
        sphere_search *search = &job->searches[i];
        if (search->undecided_count > CAROMI_WORK_UNDECIDED - undecided_count)
            search->items = search->undecided_count = 0;
        search->undecided = undecided_count;
        undecided_count += search->undecided_count;
    }
    job->work->undecided_count = undecided_count;
}

/* Fills the launch: searches from job->begin on submit items until the launch is more than half full. Each step has
 * only as many searches as certainly fit. */
static void submit_all(search_job *job)
{
    caromi_pool *pool = caromi_cloud_pool(job->work->scan->cloud);
    job->items = 0;
    for (job->end = job->begin; job->end < job->count && job->items <= CAROMI_WORK_ITEMS / 2; job->end = job->next) {
        const uint64_t room = (CAROMI_WORK_ITEMS - job->items) / job->items_most, left = job->count - job->end;
        job->next = job->end + (left < room ? left : room);
        caromi_parallel(pool, (job->next - job->end + searches_of_task(job) - 1) / searches_of_task(job), submit_some,
                        job);
    }
    job->work->items = job->items;
}

/* One launch: filter the items, apply certain hits, solve the undecided pairs, emit the hits. */
static carom_status run_launch(search_job *job, carom_stats *stats, carom_error *err)
{
    caromi_device_work *work = job->work;
    submit_all(job);
    if (work->items == 0)
        return CAROM_OK;
    CHECK(caromi_work_test(work, stats, err));
    for_each(job, apply_each);
    assign_undecided(job);
    for_each(job, store_each);
    CHECK(caromi_work_solve(work, stats, err));
    for_each(job, emit_each);
    return CAROM_OK;
}

/* Compaction: keeps the unfinished searches. */
static void drop_done(search_job *job)
{
    uint64_t left = 0;
    for (uint64_t i = 0; i < job->count; i++)
        if (!job->searches[i].is_done)
            job->searches[left++] = job->searches[i];
    job->count = left;
}

static uint32_t twice(uint32_t number, uint32_t most)
{
    return 2 * number < most ? 2 * number : most;
}

/* Whether one item is likely to end a search: any partner will do, and cells hold so many spheres that nearly every
 * sphere has a hit in its own cell. */
static int is_dense(const search_job *job)
{
    const caromi_cloud_cells *cells = job->work->scan->cells;
    return job->best->any && cells->doubled > 16 * cells->count;
}

/* Rounds until no search is left. */
static carom_status run_rounds(search_job *job, carom_stats *stats, carom_error *err)
{
    job->items_most = is_dense(job) ? 1 : ITEMS_FIRST;
    job->items_each = 1;
    job->undecided_most = UNDECIDED_FIRST;
    for (drop_done(job); job->count > 0; drop_done(job)) {
        for (job->begin = 0; job->begin < job->count; job->begin = job->end)
            CHECK(run_launch(job, stats, err));
        job->items_most = job->items_most < ITEMS_FIRST ? ITEMS_FIRST : twice(job->items_most, ITEMS_MOST);
        job->items_each = twice(job->items_each, ITEMS_MOST);
        job->undecided_most = twice(job->undecided_most, CAROMI_WORK_UNDECIDED);
    }
    return CAROM_OK;
}

static void swap_runs(caromi_cloud_item *one, caromi_cloud_item *other)
{
    const caromi_cloud_item item = *one;
    *one = *other;
    *other = item;
}

/* Task: makes a search of each sphere in a list of runs, in which the runs of one sphere are consecutive; the run of
 * its own cell is moved to the front. Unused searches at the end of the list's share are marked as done. */
static void begin_list(void *user, uint64_t task, uint32_t thread)
{
    search_job *job = user;
    const caromi_device_work *work = job->work;
    caromi_cloud_item *run = work->lists[task].runs.item, *const end = run + work->lists[task].runs.count;
    const uint64_t all = work->end - work->begin, behind = caromi_slice_start(all, work->list_count, task + 1);
    uint64_t at = caromi_slice_start(all, work->list_count, task);
    (void)thread;
    while (run < end) {
        sphere_search *search = &job->searches[at++];
        *search = (sphere_search){.run = run, .slot = run->slot};
        for (; run < end && run->slot == search->slot; run++)
            if (run->begin <= run->slot && run->slot < run->end)
                swap_runs(search->run, run);
        search->end = run;
        end_if_done(job, search);
    }
    for (; at < behind; at++)
        job->searches[at].is_done = 1;
}

/* Makes the searches of the spheres whose runs are listed. */
static void begin_searches(search_job *job)
{
    const caromi_device_work *work = job->work;
    job->count = work->end - work->begin;
    caromi_parallel(caromi_cloud_pool(work->scan->cloud), work->list_count, begin_list, job);
}

/* Searches the partners of all spheres, a share of them at a time. */
static carom_status run_search(search_job *job, carom_stats *stats, carom_error *err)
{
    caromi_device_work *work = job->work;
    for (work->begin = 0; work->begin < work->scan->cells->count; work->begin = work->end) {
        CHECK(caromi_work_list(work, err));
        begin_searches(job);
        CHECK(run_rounds(job, stats, err));
    }
    return CAROM_OK;
}

/* Searches first or any partners on the device. Any failure here is the device's own. */
carom_status caromi_cloud_search_on_device(const caromi_cloud_scan *scan, carom_stats *stats, carom_error *err)
{
    caromi_device_work work;
    search_job job = {.work = &work, .best = scan->best};
    carom_status status = caromi_work_open(&work, scan, list_cells, stats, err);
    if (status == CAROM_OK &&
        (job.searches = caromi_cached_alloc(work.context, CAROMI_WORK_SPHERES, sizeof *job.searches)) == NULL)
        status = caromi_fail_memory(err, "no memory to search partners on a device");
    if (status == CAROM_OK)
        status = run_search(&job, stats, err);
    *scan->cloud->device_failed |= status != CAROM_OK;
    caromi_cached_free(work.context, job.searches);
    caromi_work_close(&work, stats);
    return status;
}
