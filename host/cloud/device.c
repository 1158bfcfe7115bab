/* SPDX-License-Identifier: MIT */
/* The scan of a list or a count on a device. The CPU goes through the cells and lists what is to be compared; the
 * device compares, and asks the solver about the pairs that stay open. Rules, and what exact mode leaves undecided, are
 * the CPU's, as in a scan of its own: so are the answers, which do not depend on which pairs are looked at. */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "ask.h"
#include "host/opencl/opencl.h"

enum {
    SPHERES = 1 << 17, /* whose runs are listed at a time, about */
    ITEMS = 1 << 18,   /* for the device at a time */
    OPEN = 1 << 18,    /* pairs for the device at a time, */
    OPEN_LEAST = 1 << 12,
    HITS = 64,      /* handed over at a time */
    TASK = 1 << 12, /* items or pairs that a thread takes at a time */
    LISTS_EACH = 4, /* for each thread */
    RUNS_FIRST = 1 << 12,
    RUNS_MOST = 1 << 22 /* of a task, or twice as many as spheres */
};

/* The runs of a task, and memory that grows with them. */
typedef struct run_list {
    caromi_cloud_found found; /* first: the listing hands it over */
    caromi_cloud_runs runs;
    const carom_context *context;
    uint64_t most;
    int is_short; /* of memory */
} run_list;

typedef struct device_scan {
    const caromi_cloud_scan *scan;
    const carom_context *context;
    caromi_ask ask;
    caromi_cloud_copy *copy;
    run_list *lists;
    uint32_t list_count;
    uint64_t begin, end; /* spheres whose rows are in work */
    uint32_t *item[6];   /* place, begin, length; some, sure, near */
    uint64_t items;
    uint32_t *pair[3]; /* a, b, image */
    uint8_t *by;       /* as in caromi_cloud_pair */
    float *t;
    uint8_t *state, *parts;
    int is_solved;               /* those kept, by the device */
    atomic_uint_fast64_t opened; /* pairs that are open, of which the first OPEN are kept */
} device_scan;

/* ---- runs -------------------------------------------------------------------------------------------------------- */

/* Twice as much memory. Without it the newest runs are lost, and the spheres are listed once more, fewer at a time. */
static void grow(caromi_cloud_found *found)
{
    run_list *list = (run_list *)(void *)found;
    caromi_cloud_runs *runs = &list->runs;
    caromi_cloud_item *more = NULL;
    if (runs->room < list->most)
        more = caromi_task_alloc(list->context, 2 * runs->room, sizeof *more);
    if (more == NULL) {
        list->is_short = 1;
        runs->count = 0;
        return;
    }
    memcpy(more, runs->item, runs->count * sizeof *more);
    caromi_task_free(list->context, runs->item);
    runs->item = more;
    runs->room *= 2;
}

static void list_task(void *user, uint64_t task, uint32_t thread)
{
    const device_scan *s = user;
    const caromi_cloud_cells *cells = s->scan->cells;
    run_list *list = &s->lists[task];
    const uint64_t count = s->end - s->begin;
    const uint64_t begin = s->begin + caromi_slice_start(count, s->list_count, task),
                   end = s->begin + caromi_slice_start(count, s->list_count, task + 1);
    (void)thread;
    list->runs.count = 0;
    list->is_short = 0;
    s->context->isa->cloud_runs(&cells->view, caromi_row_from(cells, begin), caromi_row_from(cells, end), &list->found);
}

/* Runs of the spheres from s->begin on; s->end is where those end that there is memory for. */
static carom_status list_runs(device_scan *s, carom_error *err)
{
    const uint64_t all = s->scan->cells->count;
    s->end = all - s->begin < SPHERES ? all : s->begin + SPHERES;
    for (;;) {
        int is_short = 0;
        caromi_parallel(s->context->pool, s->list_count, list_task, s);
        for (uint32_t i = 0; i < s->list_count; i++)
            is_short |= s->lists[i].is_short;
        if (!is_short)
            return CAROM_OK;
        if (s->end - s->begin == 1)
            return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0,
                               "no memory to list what the spheres of one row of cells are compared with");
        s->end = s->begin + (s->end - s->begin) / 2;
    }
}

static int alloc_lists(device_scan *s)
{
    s->list_count = LISTS_EACH * caromi_pool_threads(s->context->pool);
    s->lists = caromi_alloc(s->context, s->list_count, sizeof *s->lists);
    if (s->lists == NULL)
        return 0;
    for (uint32_t i = 0; i < s->list_count; i++) {
        run_list *list = &s->lists[i];
        list->context = s->context;
        list->most = 2 * s->scan->cells->count > RUNS_MOST ? 2 * s->scan->cells->count : RUNS_MOST;
        list->found.runs = &list->runs;
        list->found.take = grow;
        list->runs = (caromi_cloud_runs){.room = RUNS_FIRST};
        list->runs.item = caromi_alloc(s->context, RUNS_FIRST, sizeof *list->runs.item);
    }
    for (uint32_t i = 0; i < s->list_count; i++)
        if (s->lists[i].runs.item == NULL)
            return 0;
    return 1;
}

/* ---- pairs that are open ----------------------------------------------------------------------------------------- */

/* A pair that the device's solver is to be asked about; 0: there is no room. */
static int keep_open(device_scan *s, const caromi_cloud_pair *pair)
{
    const uint64_t at = atomic_fetch_add_explicit(&s->opened, 1, memory_order_relaxed);
    if (at >= OPEN)
        return 0;
    s->pair[0][at] = pair->a;
    s->pair[1][at] = pair->b;
    s->pair[2][at] = pair->image;
    s->by[at] = pair->by;
    return 1;
}

static uint32_t lowest_bit(uint32_t bits)
{
    return (uint32_t)__builtin_ctz(bits);
}

/* For the thread's own solver. */
static void ask_here(caromi_cloud_found *found, uint32_t a, uint32_t b)
{
    found->open.a[found->open.count] = a;
    found->open.b[found->open.count++] = b;
    if (found->open.count >= CAROMI_CLOUD_ROOM)
        found->take(found);
}

/* The bits of an item, each a pair, into what the thread has found. */
static void take_item(device_scan *s, uint64_t i, caromi_cloud_found *found)
{
    const uint32_t *index = s->scan->cells->index, place = s->item[0][i], begin = s->item[1][i];
    const uint32_t sure = s->item[4][i], near = s->item[5][i] & ~sure;
    caromi_cloud_pair pair;
    for (uint32_t left = s->item[3][i]; left != 0; left &= left - 1) {
        const uint32_t bit = left & -left, other = begin + lowest_bit(left);
        if (bit & (sure | near)) {
            caromi_cloud_pairs *pairs = bit & sure ? &found->sure : &found->near;
            pairs->a[pairs->count] = index[place];
            pairs->b[pairs->count++] = index[other];
        } else if (caromi_ask_orient(s->scan, place, other, &pair) && !keep_open(s, &pair))
            ask_here(found, place, other);
    }
    if ((found->sure.count | found->near.count) >= CAROMI_CLOUD_ROOM)
        caromi_ask_take_sure(found);
}

static void take_items(void *user, uint64_t task, uint32_t thread)
{
    device_scan *s = user;
    caromi_cloud_found *found = caromi_ask_found(&s->ask, thread);
    const uint64_t begin = task * TASK, end = s->items - begin < TASK ? s->items : begin + TASK;
    for (uint64_t i = begin; i < end; i++)
        if (s->item[3][i] != 0)
            take_item(s, i, found);
    caromi_ask_take(found);
}

/* Pairs that the device's solver has answered, or, of few, those that it is not worth asking about. */
static void take_open(void *user, uint64_t task, uint32_t thread)
{
    device_scan *s = user;
    const caromi_cloud_scan *scan = s->scan;
    caromi_cloud_found *found = caromi_ask_found(&s->ask, thread);
    caromi_cloud_pair hits[HITS];
    uint32_t count = 0;
    const uint64_t all = s->opened, begin = task * TASK, end = all - begin < TASK ? all : begin + TASK;
    for (uint64_t i = begin; i < end; i++) {
        if (!s->is_solved || isnan(s->t[i])) { /* undecided */
            ask_here(found, s->pair[0][i], s->pair[1][i]);
            continue;
        }
        if (!caromi_ask_is_hit(scan, s->t[i], s->state[i], s->parts[i]))
            continue;
        hits[count++] =
            (caromi_cloud_pair){s->pair[0][i], s->pair[1][i], s->t[i], s->state[i], (uint8_t)s->pair[2][i], s->by[i]};
        if (count == HITS) {
            scan->take(scan->user, thread, hits, count);
            count = 0;
        }
    }
    if (count)
        scan->take(scan->user, thread, hits, count);
    caromi_ask_take(found);
}

/* ---- items ------------------------------------------------------------------------------------------------------- */

static uint64_t tasks_of(uint64_t count)
{
    return (count + TASK - 1) / TASK;
}

/* Exact mode's pair program needs binary64; without it the CPU asks its own solver. */
static carom_status solve_open(device_scan *s, carom_stats *stats, carom_error *err)
{
    const caromi_cloud_open open = {s->pair[0], s->pair[1], s->pair[2], s->t, s->state, s->parts};
    const int exact = s->scan->cloud->exact;
    s->opened = s->opened < OPEN ? s->opened : OPEN;
    s->is_solved = s->opened >= OPEN_LEAST && (!exact || caromi_device_has_fp64(s->scan->cloud->device));
    if (s->is_solved)
        CHECK(caromi_cloud_copy_solve(s->copy, &open, s->opened, exact, stats, err));
    caromi_parallel(s->context->pool, tasks_of(s->opened), take_open, s);
    return CAROM_OK;
}

static carom_status run_items(device_scan *s, carom_stats *stats, carom_error *err)
{
    const caromi_cloud_items items = {s->item[0], s->item[1], s->item[2], s->item[3], s->item[4], s->item[5]};
    if (s->items == 0)
        return CAROM_OK;
    CHECK(caromi_cloud_copy_test(s->copy, &items, s->items, stats, err));
    s->opened = 0;
    caromi_parallel(s->context->pool, tasks_of(s->items), take_items, s);
    s->items = 0;
    return solve_open(s, stats, err);
}

/* Cuts runs into items. */
static carom_status run_list_of(device_scan *s, const caromi_cloud_runs *runs, carom_stats *stats, carom_error *err)
{
    for (uint64_t r = 0; r < runs->count; r++) {
        const caromi_cloud_item *run = &runs->item[r];
        for (uint32_t begin = run->begin; begin < run->end; begin += CLOUD_ITEM) {
            s->item[0][s->items] = run->place;
            s->item[1][s->items] = begin;
            s->item[2][s->items++] = run->end - begin < CLOUD_ITEM ? run->end - begin : CLOUD_ITEM;
            if (s->items == ITEMS)
                CHECK(run_items(s, stats, err));
        }
    }
    return CAROM_OK;
}

static carom_status run_scan(device_scan *s, carom_stats *stats, carom_error *err)
{
    for (s->begin = 0; s->begin < s->scan->cells->count; s->begin = s->end) {
        CHECK(list_runs(s, err));
        for (uint32_t i = 0; i < s->list_count; i++)
            CHECK(run_list_of(s, &s->lists[i].runs, stats, err));
    }
    return run_items(s, stats, err);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static carom_status alloc_scan(device_scan *s, carom_error *err)
{
    const carom_context *c = s->context;
    int complete = alloc_lists(s);
    for (int k = 0; k < 6; k++)
        complete &= (s->item[k] = caromi_alloc(c, ITEMS, sizeof *s->item[k])) != NULL;
    for (int k = 0; k < 3; k++)
        complete &= (s->pair[k] = caromi_alloc(c, OPEN, sizeof *s->pair[k])) != NULL;
    complete &= (s->by = caromi_alloc(c, OPEN, 1)) != NULL;
    complete &= (s->t = caromi_alloc(c, OPEN, sizeof *s->t)) != NULL;
    complete &= (s->state = caromi_alloc(c, OPEN, 1)) != NULL;
    complete &= (s->parts = caromi_alloc(c, OPEN, 1)) != NULL;
    return complete ? CAROM_OK
                    : caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory to list pairs of spheres for a device");
}

static void free_scan(device_scan *s)
{
    const carom_context *c = s->context;
    for (uint32_t i = 0; s->lists != NULL && i < s->list_count; i++)
        caromi_free(c, s->lists[i].runs.item);
    caromi_free(c, s->lists);
    for (int k = 0; k < 6; k++)
        caromi_free(c, s->item[k]);
    for (int k = 0; k < 3; k++)
        caromi_free(c, s->pair[k]);
    caromi_free(c, s->by);
    caromi_free(c, s->t);
    caromi_free(c, s->state);
    caromi_free(c, s->parts);
}

carom_status caromi_cloud_run_on_device(const caromi_cloud_scan *scan, carom_stats *stats, carom_error *err)
{
    const caromi_cloud *cloud = scan->cloud;
    device_scan s = {.scan = scan, .context = cloud->context};
    CHECK(caromi_ask_open(scan, &s.ask, err));
    carom_status status = alloc_scan(&s, err);
    if (status == CAROM_OK)
        status = caromi_cloud_copy_open(cloud->device, cloud, scan->cells, &s.copy, stats, err);
    if (status == CAROM_OK)
        status = run_scan(&s, stats, err);
    *cloud->device_failed |= status != CAROM_OK;
    caromi_cloud_copy_close(s.copy);
    caromi_ask_close(&s.ask, stats);
    free_scan(&s);
    return status;
}
