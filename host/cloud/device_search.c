/* SPDX-License-Identifier: MIT */
/* The search for first or any partners on a device, in rounds. In each, every sphere whose search has not ended hands
 * in some items: more in each round, so few are tested in vain where a search ends at once, and rounds are few where it
 * is long. The device tests them. What is sure, and what the solver says about open pairs, may end a search or shorten
 * it, by the CPU's rules: a cell has ascending indices, so it has nothing better behind a partner's index. */
#include "device.h"

enum {
    TASK = 1 << 8,   /* spheres that a thread takes at a time */
    ITEMS_FIRST = 2, /* of a sphere in the first round; twice as many in each that follows */
    OPEN_FIRST = 16  /* pairs of those; likewise */
};

/* A sphere whose search goes on. */
typedef struct search {
    const caromi_cloud_item *run, *end; /* cells, */
    uint32_t at, place;                 /* from this sphere of the first of them on */
    uint32_t item, items;               /* of this launch */
    uint32_t open, opened;              /* its open pairs */
    uint32_t stop, stop_at;             /* the item, and its sphere, that was one open pair too many */
} search;

typedef struct search_job {
    caromi_device_work *work;
    const caromi_cloud_best *best;
    search *searches;
    uint64_t begin, end; /* of those, in this launch */
    uint64_t count;
    uint32_t items_most, open_most; /* of a search in this round */
} search_job;

static void list_cells(const caromi_device_work *w, uint64_t begin, uint64_t end, caromi_cloud_found *found)
{
    const caromi_cloud_scan *scan = w->scan;
    w->context->isa->cloud_best_runs(&scan->cells->view, (uint32_t)begin, (uint32_t)end, scan->best, found);
}

static uint32_t partner_of(const search_job *job, const search *s)
{
    return job->best->partner[s->place];
}

/* ---- items ------------------------------------------------------------------------------------------------------- */

/* The next item of a search, or none. Cells that have nothing better are passed over. */
static int next_item(const search_job *job, const search *s, const caromi_cloud_item **run, uint32_t *at)
{
    const uint32_t *index = job->work->scan->cells->index;
    while (*run < s->end && (*at >= (*run)->end || index[*at] > partner_of(job, s))) {
        ++*run;
        if (*run < s->end)
            *at = (*run)->begin;
    }
    return *run < s->end;
}

static void add_items(search_job *job, search *s)
{
    caromi_device_work *w = job->work;
    const caromi_cloud_item *run = s->run;
    uint32_t at = s->at;
    s->item = (uint32_t)w->items;
    s->items = 0;
    while (s->items < job->items_most && next_item(job, s, &run, &at)) {
        caromi_work_add_item(w, s->place, at, run->end);
        s->items++;
        at += CLOUD_ITEM;
    }
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

/* An item's others, in bits. */
typedef struct item_bits {
    uint32_t sure, open;
} item_bits;

static item_bits bits_of(const search_job *job, const search *s, uint32_t item)
{
    const caromi_device_work *w = job->work;
    const uint32_t *index = w->scan->cells->index, begin = w->item[1][item];
    item_bits bits = {w->item[4][item], w->item[3][item] & ~w->item[4][item]};
    const uint32_t own = index[s->place], last = index[begin + w->item[2][item] - 1];
    for (uint32_t left = index[begin] <= own && own <= last ? w->item[3][item] : 0; left != 0; left &= left - 1)
        if (index[begin + caromi_lowest_bit(left)] == own) { /* itself, or an image of it */
            bits.sure &= ~(left & -left);
            bits.open &= ~(left & -left);
        }
    return bits;
}

/* Open pairs with an index up to the partner's, which may have better images, up to as many as a search may have. Into
 * the work from s->open on, or only counted. */
static void walk_open(const search_job *job, search *s, int is_kept)
{
    caromi_device_work *w = job->work;
    const uint32_t *index = w->scan->cells->index, partner = partner_of(job, s);
    caromi_cloud_pair pair;
    s->opened = 0;
    s->stop = s->item + s->items;
    if (job->best->any && partner != UINT32_MAX)
        return;
    for (s->stop = s->item; s->stop < s->item + s->items; s->stop++) {
        const uint32_t begin = w->item[1][s->stop];
        for (uint32_t left = index[begin] <= partner ? bits_of(job, s, s->stop).open : 0; left != 0; left &= left - 1) {
            s->stop_at = begin + caromi_lowest_bit(left);
            if (index[s->stop_at] > partner || !caromi_ask_orient(w->scan, s->place, s->stop_at, &pair))
                continue;
            if (s->opened == job->open_most)
                return;
            if (is_kept)
                caromi_work_keep(w, s->open + s->opened, &pair);
            s->opened++;
        }
    }
}

/* Sure partners first, as they leave fewer pairs open. */
static void weigh(const search_job *job, search *s)
{
    const caromi_device_work *w = job->work;
    const uint32_t *index = w->scan->cells->index;
    uint32_t *partner = &job->best->partner[s->place];
    for (uint32_t i = s->item; i < s->item + s->items; i++) {
        const uint32_t sure = bits_of(job, s, i).sure;
        if (sure != 0 && index[w->item[1][i] + caromi_lowest_bit(sure)] < *partner)
            *partner = index[w->item[1][i] + caromi_lowest_bit(sure)];
    }
    walk_open(job, s, 0);
}

/* Goes on where the walk has stopped. */
static void advance(const search_job *job, search *s)
{
    const caromi_device_work *w = job->work;
    const uint32_t behind = s->item + s->items;
    if (s->items == 0)
        return;
    if (s->stop == behind)
        s->stop_at = w->item[1][behind - 1] + w->item[2][behind - 1] - 1;
    while (s->stop_at < s->run->begin || s->stop_at >= s->run->end)
        s->run++;
    s->at = s->stop_at + (s->stop == behind);
}

/* ---- rounds ------------------------------------------------------------------------------------------------------ */

typedef void each_fn(search_job *job, search *s, uint32_t thread);

static void weigh_each(search_job *job, search *s, uint32_t thread)
{
    (void)thread;
    weigh(job, s);
}

static void keep_each(search_job *job, search *s, uint32_t thread)
{
    (void)thread;
    if (s->opened != 0)
        walk_open(job, s, 1);
    advance(job, s);
}

static void take_each(search_job *job, search *s, uint32_t thread)
{
    caromi_work_take(job->work, s->open, s->open + s->opened, thread);
}

/* One sphere's answers come from one thread. */
typedef struct each_job {
    search_job *job;
    each_fn *each;
} each_job;

static void run_each(void *user, uint64_t task, uint32_t thread)
{
    const each_job *run = user;
    search_job *job = run->job;
    const uint64_t begin = job->begin + task * TASK, end = job->end - begin < TASK ? job->end : begin + TASK;
    for (uint64_t i = begin; i < end; i++)
        run->each(job, &job->searches[i], thread);
}

static void for_each(search_job *job, each_fn *each)
{
    each_job run = {job, each};
    caromi_parallel(caromi_cloud_pool(job->work->scan->cloud), (job->end - job->begin + TASK - 1) / TASK, run_each,
                    &run);
}

/* Where each search's open pairs go. */
static void place_open(search_job *job)
{
    uint32_t opened = 0;
    for (uint64_t i = job->begin; i < job->end; i++) {
        job->searches[i].open = opened;
        opened += job->searches[i].opened;
    }
    job->work->opened = opened;
}

/* Whether there is room for another search's items and open pairs. */
static int has_room(const search_job *job)
{
    return job->work->items + job->items_most <= CAROMI_WORK_ITEMS &&
           (job->end - job->begin + 1) * job->open_most <= CAROMI_WORK_OPEN;
}

/* Searches from job->begin on, as many as there is room for. */
static carom_status run_launch(search_job *job, carom_stats *stats, carom_error *err)
{
    caromi_device_work *w = job->work;
    w->items = 0;
    for (job->end = job->begin; job->end < job->count && has_room(job); job->end++)
        add_items(job, &job->searches[job->end]);
    if (w->items == 0)
        return CAROM_OK;
    CHECK(caromi_work_test(w, stats, err));
    for_each(job, weigh_each);
    place_open(job);
    for_each(job, keep_each);
    CHECK(caromi_work_solve(w, stats, err));
    for_each(job, take_each);
    return CAROM_OK;
}

/* Searches that go on. */
static void drop_done(search_job *job)
{
    uint64_t left = 0;
    for (uint64_t i = 0; i < job->count; i++) {
        search *s = &job->searches[i];
        const int is_found = job->best->any && partner_of(job, s) != UINT32_MAX;
        if (!is_found && next_item(job, s, &s->run, &s->at))
            job->searches[left++] = *s;
    }
    job->count = left;
}

static uint32_t twice(uint32_t number, uint32_t most)
{
    return 2 * number < most ? 2 * number : most;
}

static carom_status run_rounds(search_job *job, carom_stats *stats, carom_error *err)
{
    job->items_most = ITEMS_FIRST;
    job->open_most = OPEN_FIRST;
    for (drop_done(job); job->count > 0; drop_done(job)) {
        for (job->begin = 0; job->begin < job->count; job->begin = job->end)
            CHECK(run_launch(job, stats, err));
        job->items_most = twice(job->items_most, CAROMI_WORK_ITEMS);
        job->open_most = twice(job->open_most, CAROMI_WORK_OPEN);
    }
    return CAROM_OK;
}

/* The runs of one sphere lie together in its list. */
static void begin_searches(search_job *job)
{
    const caromi_device_work *w = job->work;
    job->count = 0;
    for (uint32_t i = 0; i < w->list_count; i++) {
        const caromi_cloud_item *run = w->lists[i].runs.item, *const end = run + w->lists[i].runs.count;
        while (run < end) {
            search *s = &job->searches[job->count++];
            *s = (search){.run = run, .at = run->begin, .place = run->place};
            while (run < end && run->place == s->place)
                run++;
            s->end = run;
        }
    }
}

static carom_status run_search(search_job *job, carom_stats *stats, carom_error *err)
{
    caromi_device_work *w = job->work;
    for (w->begin = 0; w->begin < w->scan->cells->count; w->begin = w->end) {
        CHECK(caromi_work_list(w, err));
        begin_searches(job);
        CHECK(run_rounds(job, stats, err));
    }
    return CAROM_OK;
}

carom_status caromi_cloud_search_on_device(const caromi_cloud_scan *scan, carom_stats *stats, carom_error *err)
{
    caromi_device_work w;
    search_job job = {.work = &w, .best = scan->best};
    carom_status status = caromi_work_open(&w, scan, list_cells, stats, err);
    if (status == CAROM_OK &&
        (job.searches = caromi_alloc(w.context, CAROMI_WORK_SPHERES, sizeof *job.searches)) == NULL)
        status = caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory to search partners on a device");
    if (status == CAROM_OK)
        status = run_search(&job, stats, err);
    *scan->cloud->device_failed |= status != CAROM_OK;
    caromi_free(w.context, job.searches);
    caromi_work_close(&w, stats);
    return status;
}
