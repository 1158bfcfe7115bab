/* SPDX-License-Identifier: MIT */
/* All hits on a mesh by a device, part by part of the batch. A first pass counts hits, the counts are summed, and a
 * second pass writes the hits. On devices that share memory with the host the first pass already writes hits: there is
 * room for INLINE_HITS per query, which the queries of a work-item share. Only queries whose hits did not fit are
 * searched for again. */
#include <stdatomic.h>
#include <string.h>

#include "device.h"
#include "host/mesh/block.h"
#include "host/mesh/list.h"

enum {
    QUERIES = 1 << 18,                            /* counted in one pass, or */
    INLINE_QUERIES = (1 << 16) - 64,              /* this many, one launch of a CPU device, with room for */
    INLINE_HITS = 16,                             /* this many hits of each, 16 MiB in all, */
    INLINE_MOST = CAROMI_SHARE_MAX * INLINE_HITS, /* and this many of a work-item */
    STAGES_PER_THREAD = 4,
    HITS_HELD = 1 << 23 /* limit of hits per part; fewer if the device has less memory */
};

/* Impossible results of a device. */
enum list_fault { FAULT_NONE, FAULT_TRIANGLE, FAULT_FEATURE, FAULT_COUNT };

/* A thread's memory to choose contacts: a copy of a query's records, and as much room again. */
typedef struct list_chooser {
    caromi_contact_scratch scratch;
    mesh_record *records;
    uint32_t room;
} list_chooser;

typedef struct list_part {
    const caromi_list_batch *batch;
    uint64_t first, queries;
    uint64_t counted;     /* counted queries from `first` on; the part takes those whose hits fit */
    int32_t *hits, *from; /* [counted] number of hits, and where to write them */
    int32_t *start;       /* [counted] where the records of the query's work-item begin; -1: not all of them fit */
    int32_t *again;       /* [queries] number of hits found by the second pass */
    uint8_t *state;       /* [counted] */
    uint64_t room;        /* limit of hits; a single query may exceed it */
    uint64_t all;         /* hits of the part */
    uint64_t found;       /* those of them that the second pass writes */
    mesh_record *records; /* [found] */
    cl_mem memory;        /* device buffer of `records` */
    cl_mem inline_hits;   /* [INLINE_QUERIES][INLINE_HITS] output of the first pass; NULL: it only counts */
    mesh_record *written; /* `inline_hits` mapped for the host */
    uint64_t gone;        /* counted queries that come before the part */
    int fill;
    atomic_int corrupt;   /* an enum list_fault */
    caromi_stage *stages; /* one per task that sorts hits */
    uint32_t stage_count;
    list_chooser *choosers; /* one per thread, for contacts */
    int is_stopped;         /* another device has failed: parts are not delivered */
    const carom_context *context;
} list_part;

uint32_t caromi_list_program(const caromi_list_batch *batch)
{
    if (batch->contacts != NULL)
        return caromi_search_program(CAROMI_PROGRAM_MESH_CONTACTS, batch->sweep.exact, 0);
    const uint32_t search =
        batch->search == CAROMI_MESH_OVERLAPS ? CAROMI_PROGRAM_MESH_OVERLAPS : CAROMI_PROGRAM_MESH_LIST;
    return caromi_search_program(search, batch->sweep.exact, batch->sweep.options);
}

static carom_status launch_list(caromi_device *d, caromi_cl_slot *slot, const void *user, carom_error *err)
{
    const list_part *p = user;
    const caromi_mesh_batch *sweep = &p->batch->sweep;
    caromi_arguments a = caromi_arguments_of(d, caromi_list_program(p->batch));
    const cl_uint found = (cl_uint)p->found;
    const cl_int each = p->fill ? -1 : p->inline_hits != NULL ? INLINE_HITS : 0;
    const cl_mem *memory = p->fill ? &p->memory : &p->inline_hits;
    const int one = p->batch->any != NULL, columns = sweep->kind->in;
    CHECK(caromi_sort_chunk(d, slot, sweep->mesh, columns, sweep->options, err));
    const uint64_t items = caromi_set_search(d, slot, &a, sweep->mesh, sweep->options, slot->padded, (uint32_t)columns,
                                             (uint32_t)columns + 1);
    if (p->batch->contacts != NULL)
        caromi_set_edges(d, &a, sweep->mesh);
    if (*memory != NULL)
        caromi_set_argument(&a, memory, sizeof *memory);
    else /* no hits are written if they are only counted: any buffer will do */
        caromi_set_columns(&a, slot->out, 1);
    caromi_set_argument(&a, &found, sizeof found);
    caromi_set_argument(&a, &each, sizeof each);
    caromi_set_argument(&a, &one, sizeof one);
    caromi_set_columns(&a, &slot->in[columns], 1);
    caromi_set_columns(&a, slot->out, 3);
    return caromi_launch_search(d, slot, &a, items, err);
}

/* `in`: the columns of the queries, where each one's hits go, and masks if there are any. */
static caromi_stream stream_of(const caromi_device *d, const list_part *p, uint64_t count, const caromi_in_column *in,
                               const caromi_out_column *out)
{
    const caromi_mesh_batch *sweep = &p->batch->sweep;
    return (caromi_stream){.count = count,
                           .chunk = d->gpu ? QUERIES : d->max_items,
                           .takes_ends = 1,
                           .in_count = (uint32_t)(sweep->kind->in + 1 + (sweep->mask.base != NULL)),
                           .out_count = 3,
                           .in = in,
                           .out = out,
                           .out_size = {4, 1, 4},
                           .extra = caromi_sort_chunk_bytes(d),
                           .launch = launch_list,
                           .user = p};
}

/* One pass over the part. The first fetches counts and states. The second writes the hits of queries that have a place,
 * and counts them again. */
static carom_status stream_part(caromi_device *d, list_part *p, int fill, carom_stats *stats, carom_error *err)
{
    static const float none = 0;
    const caromi_mesh_batch *sweep = &p->batch->sweep;
    const int masks = sweep->mask.base != NULL, places = fill || p->inline_hits != NULL, columns = sweep->kind->in;
    caromi_in_column in[CAROMI_MESH_IN + 2];
    const caromi_out_column out[3] = {{fill ? p->again : p->hits, sizeof *p->hits},
                                      {fill ? NULL : p->state, 1},
                                      {fill || p->inline_hits == NULL ? NULL : p->start, sizeof *p->start}};
    uint64_t done = 0;
    for (int c = 0; c < columns; c++)
        in[c] = caromi_column_from(&sweep->in[c], p->first);
    in[columns] =
        places ? (caromi_in_column){.base = p->from, .stride = sizeof *p->from} : (caromi_in_column){.base = &none};
    if (masks)
        in[columns + 1] = caromi_column_from(&sweep->mask, p->first);
    const caromi_stream s = stream_of(d, p, p->queries, in, out);
    p->fill = fill;
    return caromi_stream_run(d, &s, &done, stats, err);
}

/* Hits that a buffer may hold in a quarter of the device's memory. */
static uint64_t first_room(const caromi_device *d)
{
    const uint64_t by_buffer = d->info.max_allocation / sizeof(mesh_record),
                   by_total = d->info.memory / 4 / sizeof(mesh_record);
    uint64_t room = HITS_HELD;
    room = room < by_buffer || by_buffer == 0 ? room : by_buffer; /* 0: the device does not say */
    return room < by_total || by_total == 0 ? room : by_total;
}

/* The end of the queries of one work-item: all of them have the same `start`. */
static uint64_t end_of_item(const list_part *p, uint64_t first)
{
    uint64_t end = first + 1;
    while (end < p->counted && p->start[end] == p->start[first])
        end++;
    return end;
}

/* Checks the counts of the first pass, and finds the work-items that have written all their hits. */
static carom_status check_counts(const caromi_device *d, list_part *p, carom_error *err)
{
    const uint64_t end = p->first + p->counted;
    for (uint64_t i = 0; i < p->counted; i++) {
        if (p->hits[i] == MESH_LOOP_TRUNCATED)
            return caromi_fail_truncated(d, p->first, end, err);
        if ((uint32_t)p->hits[i] > p->batch->sweep.mesh->info.triangle_count)
            return caromi_fail_corrupt(d, "numbers of hits", p->first, end, err);
        if (p->inline_hits == NULL)
            p->start[i] = -1;
    }
    for (uint64_t first = 0, next; p->inline_hits != NULL && first < p->counted; first = next) {
        uint64_t hits = 0;
        next = end_of_item(p, first);
        if (p->start[first] != (int32_t)(first * INLINE_HITS) || next - first > CAROMI_SHARE_MAX)
            return caromi_fail_corrupt(d, "places of hits", p->first, end, err);
        for (uint64_t i = first; i < next; i++)
            hits += (uint32_t)p->hits[i];
        for (uint64_t i = first; hits > (next - first) * INLINE_HITS && i < next; i++)
            p->start[i] = -1;
    }
    return CAROM_OK;
}

/* Assigns each query the place of its hits, or -1 if none are to be written, as for an any-hit query that is already
 * answered. Queries whose hits do not fit wait for the next part. */
static void scan(list_part *p)
{
    p->found = p->all = 0;
    for (p->queries = 0; p->queries < p->counted; p->queries++) {
        const uint64_t i = p->queries;
        const uint32_t hits = caromi_is_answered(p->batch, p->state[i]) ? 0 : (uint32_t)p->hits[i];
        if (p->all + hits > p->room && i > 0)
            break;
        p->all += hits;
        p->from[i] = hits > 0 && p->start[i] < 0 ? (int32_t)p->found : -1;
        p->found += p->start[i] < 0 ? hits : 0;
    }
}

/* Checks that the second pass found as many hits per query as the first. Otherwise some of the records were not
 * written. */
static carom_status check_again(const caromi_device *d, const list_part *p, carom_error *err)
{
    for (uint64_t i = 0; i < p->queries; i++) {
        if (p->again[i] == MESH_LOOP_TRUNCATED)
            return caromi_fail_truncated(d, p->first, p->first + p->queries, err);
        if (p->again[i] != (p->from[i] < 0 ? 0 : p->hits[i]))
            return caromi_fail_corrupt(d, "numbers of hits", p->first, p->first + p->queries, err);
    }
    return CAROM_OK;
}

static carom_status fetch_hits(caromi_device *d, list_part *p, carom_stats *stats, carom_error *err)
{
    const uint64_t bytes = p->found * sizeof *p->records;
    p->records = caromi_alloc(p->context, p->found, sizeof *p->records);
    if (p->records == NULL)
        return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory for %llu hits", (unsigned long long)p->found);
    CHECK(caromi_make_buffer(d, "hits", CL_MEM_WRITE_ONLY, bytes, NULL, &p->memory, err));
    CHECK(stream_part(d, p, 1, stats, err));
    CHECK(check_again(d, p, err));
    const double start = caromi_now();
    const carom_status status =
        caromi_read(d, d->slots[0].queue, p->memory, 0, p->records, bytes, 1, NULL, "hits", err);
    stats->download += caromi_now() - start;
    return status;
}

/* Only exact mode leaves features open. */
static enum list_fault fault_of(const list_part *p, const mesh_record *records, uint32_t hits)
{
    const uint32_t none = p->batch->sweep.exact ? FEATURE_NONE : FEATURE_V0;
    uint32_t triangles = 0, features = 0;
    for (uint32_t k = 0; k < hits; k++) {
        triangles |= (uint32_t)records[k].triangle >= p->batch->sweep.mesh->info.triangle_count;
        features |= (uint32_t)records[k].state - none > FEATURE_FACE - none;
    }
    return triangles ? FAULT_TRIANGLE : p->batch->contacts != NULL && features ? FAULT_FEATURE : FAULT_NONE;
}

/* Makes room for so many records, twice. 0: no memory. */
static int reserve_chooser(const carom_context *context, list_chooser *c, uint32_t hits)
{
    if (hits <= c->room)
        return 1;
    caromi_free(context, c->records);
    c->room = 0;
    c->records = caromi_alloc(context, hits, 2 * sizeof *c->records);
    c->room = c->records != NULL ? hits : 0;
    return c->records != NULL;
}

/* Query i of the part, with its records. */
static void take_query(list_part *p, caromi_stage *s, uint32_t thread, uint64_t i, const mesh_record *records,
                       uint32_t hits)
{
    const uint32_t row = (uint32_t)(p->first + i - s->first);
    const enum list_fault fault = fault_of(p, records, hits);
    if (fault != FAULT_NONE)
        atomic_store(&p->corrupt, fault);
    else if (p->batch->contacts == NULL || hits == 0)
        s->full = !caromi_stage_take(p->context, p->batch, s, row, p->state[i], records, hits);
    else {
        list_chooser *c = &p->choosers[thread];
        s->full = !reserve_chooser(p->context, c, hits);
        if (s->full)
            return;
        const caromi_mesh_query query = caromi_mesh_query_of(&p->batch->sweep, p->first + i);
        memcpy(c->records, records, hits * sizeof *records);
        s->full = !caromi_stage_take_contacts(p->context, p->batch, &c->scratch, s, row, &query, p->state[i],
                                              c->records, hits, c->records + hits);
    }
}

/* Sorts the records of the work-item of queries [first, end) by query. 0: their numbers differ from the counts. */
static int sort_item(const list_part *p, uint64_t first, uint64_t end, uint32_t *start, mesh_record *sorted)
{
    const mesh_record *records = p->written + first * INLINE_HITS;
    const int32_t *hits = p->hits - p->gone;
    uint32_t next[CAROMI_SHARE_MAX], all = 0;
    for (uint64_t i = first; i < end; i++) {
        start[i - first] = next[i - first] = all;
        all += (uint32_t)hits[i];
    }
    for (uint32_t k = 0; k < all; k++) {
        const uint32_t i = (uint32_t)records[k].query;
        if (i >= end - first || next[i] == start[i] + (uint32_t)hits[first + i])
            return 0;
        sorted[next[i]++] = records[k];
    }
    return 1;
}

/* Adds query i of the part and the following ones of its work-item to the stage; returns the next query. A stage may
 * begin in the middle of a work-item. */
static uint64_t take_item(list_part *p, caromi_stage *s, uint32_t thread, uint64_t i)
{
    mesh_record sorted[INLINE_MOST];
    uint32_t start[CAROMI_SHARE_MAX];
    const uint64_t first = (uint64_t)p->start[i] / INLINE_HITS, stage_end = s->first - p->first + s->queries;
    const uint64_t item_end = end_of_item(p, i), end = item_end < stage_end ? item_end : stage_end;
    if (!sort_item(p, first, p->gone + item_end, start, sorted)) {
        atomic_store(&p->corrupt, FAULT_COUNT);
        return end;
    }
    for (; !s->full && i < end; i++)
        take_query(p, s, thread, i, sorted + start[p->gone + i - first], (uint32_t)p->hits[i]);
    return end;
}

static void take_stage(void *user, uint64_t task, uint32_t thread)
{
    list_part *p = user;
    caromi_stage *s = &p->stages[task];
    const uint64_t first = s->first - p->first, end = first + s->queries;
    s->count = s->total = 0;
    s->full = 0;
    for (uint64_t i = first; !s->full && !atomic_load(&p->corrupt) && i < end;) {
        if (p->start[i] >= 0) {
            i = take_item(p, s, thread, i);
            continue;
        }
        const uint32_t hits = p->from[i] < 0 ? 0 : (uint32_t)p->hits[i];
        take_query(p, s, thread, i, hits > 0 ? p->records + p->from[i] : NULL, hits);
        i++;
    }
}

/* Of several devices each waits for its turn. */
static carom_status deliver(list_part *p, carom_stats *stats, carom_error *err)
{
    caromi_turns *turns = p->batch->turns;
    const int takes_turns = turns != NULL && turns->is_open;
    p->is_stopped = takes_turns && !caromi_turns_wait(turns, p->first);
    if (p->is_stopped)
        return CAROM_OK;
    const double start = caromi_now();
    CHECK(caromi_stages_deliver(p->context, p->batch, p->stages, p->stage_count, stats, err));
    stats->compute += caromi_now() - start;
    if (takes_turns)
        caromi_turns_pass(turns, p->first + p->queries);
    return CAROM_OK;
}

static carom_status take_part(const caromi_device *d, list_part *p, carom_stats *stats, carom_error *err)
{
    static const char *const names[] = {
        [FAULT_TRIANGLE] = "triangles", [FAULT_FEATURE] = "features", [FAULT_COUNT] = "queries of hits"};
    const double start = caromi_now();
    for (uint64_t i = 0; i < p->stage_count; i++) {
        p->stages[i].first = p->first + caromi_slice_start(p->queries, p->stage_count, i);
        p->stages[i].queries =
            (uint32_t)(p->first + caromi_slice_start(p->queries, p->stage_count, i + 1) - p->stages[i].first);
    }
    atomic_store(&p->corrupt, FAULT_NONE);
    caromi_parallel(p->context->pool, p->stage_count, take_stage, p);
    const int fault = atomic_load(&p->corrupt);
    if (fault != FAULT_NONE)
        return caromi_fail_corrupt(d, names[fault], p->first, p->first + p->queries, err);
    for (uint32_t i = 0; i < p->stage_count; i++)
        if (p->stages[i].full)
            return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory for %llu hits",
                               (unsigned long long)p->all);
    stats->compute += caromi_now() - start;
    return deliver(p, stats, err);
}

static void release_hits(list_part *p)
{
    caromi_release_buffer(&p->memory);
    caromi_free(p->context, p->records);
    p->records = NULL;
}

static carom_status try_part(caromi_device *d, list_part *p, carom_stats *stats, carom_error *err)
{
    scan(p);
    carom_status status = p->found > 0 ? fetch_hits(d, p, stats, err) : CAROM_OK;
    if (status == CAROM_OK)
        status = take_part(d, p, stats, err);
    release_hits(p);
    return status;
}

/* If memory is short, the limit of hits is halved, down to one query. The counting pass is not repeated. */
static carom_status run_part(caromi_device *d, list_part *p, carom_stats *stats, carom_error *err)
{
    for (uint64_t before = UINT64_MAX;; before = p->queries) {
        carom_error why = {CAROM_OK, 0, ""};
        const carom_status status = try_part(d, p, stats, &why);
        if (status != CAROM_ERROR_OUT_OF_MEMORY || p->queries <= 1 || p->queries == before) {
            if (status != CAROM_OK && err != NULL)
                *err = why;
            return status;
        }
        caromi_stages_empty(p->context, p->stages, p->stage_count);
        p->room = p->all / 2;
        caromi_log(d->context, CAROM_LOG_INFO, "%s has no memory for %llu hits at a time; trying half", d->info.name,
                   (unsigned long long)p->all);
    }
}

/* Goes on to the next part, and keeps the counts of its queries. */
static void go_on(list_part *p)
{
    p->first += p->queries;
    p->counted -= p->queries;
    p->hits += p->queries;
    p->from += p->queries;
    p->state += p->queries;
    p->start += p->queries;
    p->gone += p->queries;
}

/* Allocates the output of the first pass. A list works without it, and any-hit queries do not use it. */
static void open_inline_hits(caromi_device *d, list_part *p)
{
    carom_error why = {CAROM_OK, 0, ""};
    const uint64_t bytes = (uint64_t)INLINE_QUERIES * INLINE_HITS * sizeof(mesh_record);
    if (!d->unified || p->batch->any != NULL)
        return;
    if (d->inline_hits == NULL &&
        caromi_make_buffer(d, "the first hits of each query", CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, NULL,
                           &d->inline_hits, &why) != CAROM_OK)
        caromi_log(d->context, CAROM_LOG_INFO, "hits are counted before any is written: %s", why.message);
    p->inline_hits = d->inline_hits;
}

void caromi_inline_hits_release(caromi_device *d)
{
    caromi_release_buffer(&d->inline_hits);
}

static carom_status map_inline_hits(caromi_device *d, list_part *p, carom_error *err)
{
    void *written;
    if (p->inline_hits == NULL)
        return CAROM_OK;
    CHECK(caromi_map(d, d->slots[0].queue, p->inline_hits, CL_MAP_READ, p->counted * INLINE_HITS * sizeof *p->written,
                     1, &written, NULL, "hits", err));
    p->written = written;
    return CAROM_OK;
}

/* Waits for the unmap, because the device must not write before it has ended. */
static void unmap_inline_hits(caromi_device *d, list_part *p)
{
    cl_event event = NULL;
    if (p->written != NULL &&
        caromi_unmap(d, d->slots[0].queue, p->inline_hits, p->written, &event, NULL) == CAROM_OK) {
        caromi_wait(event);
        caromi_release_event(event);
    }
    p->written = NULL;
}

/* The first pass over `queries` from `first` on. */
static carom_status count_hits(caromi_device *d, list_part *p, uint64_t first, uint64_t queries, carom_stats *stats,
                               carom_error *err)
{
    unmap_inline_hits(d, p);
    p->room = first_room(d);
    p->first = first;
    p->gone = 0;
    p->queries = p->counted = queries;
    for (uint64_t i = 0; p->inline_hits != NULL && i < p->counted; i++)
        p->from[i] = (int32_t)(i * INLINE_HITS);
    CHECK(stream_part(d, p, 0, stats, err));
    CHECK(check_counts(d, p, err));
    return map_inline_hits(d, p, err);
}

static carom_status open_choosers(caromi_device *d, list_part *p, carom_error *err)
{
    const uint32_t threads = caromi_pool_threads(p->context->pool);
    if (p->batch->contacts == NULL)
        return CAROM_OK;
    CHECK(caromi_upload_edges(d, p->batch->sweep.mesh, err));
    p->choosers = caromi_alloc(p->context, threads, sizeof *p->choosers);
    if (p->choosers == NULL)
        return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory to choose contacts (%u threads)", threads);
    memset(p->choosers, 0, threads * sizeof *p->choosers);
    return CAROM_OK;
}

static void close_choosers(list_part *p)
{
    for (uint32_t i = 0; p->choosers != NULL && i < caromi_pool_threads(p->context->pool); i++) {
        caromi_contact_scratch_free(p->context, &p->choosers[i].scratch);
        caromi_free(p->context, p->choosers[i].records);
    }
    caromi_free(p->context, p->choosers);
}

/* An any-hit query is undecided if it has hits, and none that is decided. marks: numbers of hits, states. */
static uint32_t list_undecided(const void *user, const void *const *marks, uint32_t count, uint32_t *rows)
{
    const int32_t *hits = marks[0];
    const uint8_t *states = marks[1];
    uint32_t found = 0;
    (void)user;
    for (uint32_t i = 0; i < count; i++)
        if (states[i] == CAROM_MISS && hits[i] != 0)
            rows[found++] = i;
    return found;
}

static carom_status answer_undecided(const carom_context *c, const void *user, const caromi_in_column *in,
                                     const caromi_out_column *out, uint64_t count, carom_stats *stats, carom_error *err)
{
    caromi_list_batch batch = *((const list_part *)user)->batch;
    caromi_mesh_batch *sweep = &batch.sweep;
    memcpy(sweep->in, in, (size_t)sweep->kind->in * sizeof *in);
    sweep->mask = sweep->mask.base != NULL ? in[sweep->kind->in + 1] : sweep->mask;
    sweep->begin = 0;
    sweep->count = count;
    batch.any = out[1].base;
    return caromi_cpu_list(c, &batch, 0, count, stats, err);
}
static const caromi_undecided undecided_any = {list_undecided, answer_undecided};

/* Numbers of hits that cannot be: then the states are wrong too. */
static carom_status check_any(const caromi_device *d, const void *user, const void *hits, size_t stride, uint64_t count,
                              uint64_t first, uint64_t end, carom_error *err)
{
    const uint64_t most = ((const list_part *)user)->batch->sweep.mesh->info.triangle_count;
    int corrupt = 0, truncated = 0;
    for (uint64_t i = 0; i < count; i++) {
        int32_t number;
        memcpy(&number, (const char *)hits + i * stride, sizeof number);
        corrupt |= (uint32_t)number > most;
        truncated |= number == MESH_LOOP_TRUNCATED;
    }
    return truncated ? caromi_fail_truncated(d, first, end, err)
           : corrupt ? caromi_fail_corrupt(d, "numbers of hits", first, end, err)
                     : CAROM_OK;
}

static void states_to_hits(uint8_t *any, uint64_t first, uint64_t end)
{
    for (uint64_t i = first; i < end; i++)
        any[i] = any[i] == CAROM_INVALID ? CAROM_OVERLAP_INVALID : any[i] != CAROM_MISS;
}

/* Any-hit queries in fast mode, or whose answers stay on the device: the search's states say all, but in exact mode for
 * a few. */
static carom_status stream_any(caromi_device *d, list_part *p, uint64_t end, uint64_t *done, carom_stats *stats,
                               carom_error *err)
{
    static const float none = 0;
    const caromi_mesh_batch *sweep = &p->batch->sweep;
    const int columns = sweep->kind->in;
    caromi_in_column in[CAROMI_MESH_IN + 2];
    const caromi_out_column out[3] = {{NULL, 4}, {p->batch->any, 1}, {NULL, 4}};
    memcpy(in, sweep->in, (size_t)columns * sizeof *in);
    in[columns] = (caromi_in_column){.base = &none};
    in[columns + 1] = sweep->mask;
    caromi_stream s = stream_of(d, p, end, in, out);
    const int stays = caromi_is_resident(d, p->batch->any);
    const uint64_t first = *done;
    s.states_as_hits = stays ? 2 : 0;
    if (sweep->exact) {
        s.mark[1] = 1;
        s.mark_count = 2;
        s.undecided = &undecided_any;
    } else {
        s.mark_count = 1;
        s.check = check_any;
    }
    const carom_status status = caromi_stream_run(d, &s, done, stats, err);
    if (!stays)
        states_to_hits(p->batch->any, first, *done);
    return status;
}

/* The queries of the next first pass: the next part that is dealt out, or from `done` on. Returns how many. */
static uint64_t next_queries(const list_part *p, uint64_t done, uint64_t end, uint64_t *first)
{
    caromi_turns *turns = p->batch->turns;
    const uint64_t most = p->inline_hits != NULL ? INLINE_QUERIES : QUERIES;
    if (turns != NULL && turns->is_open)
        return caromi_turns_take(turns, most, first);
    *first = done;
    return end - done < most ? end - done : most;
}

carom_status caromi_stream_list(caromi_device *d, const caromi_list_batch *batch, uint64_t end, uint64_t *done,
                                carom_stats *stats, carom_error *err)
{
    const carom_context *c = d->context;
    list_part p = {.batch = batch, .context = c};
    CHECK(caromi_upload_mesh(d, batch->sweep.mesh, err));
    if (batch->any != NULL && (!batch->sweep.exact || caromi_is_resident(d, batch->any)))
        return stream_any(d, &p, end, done, stats, err);
    p.stage_count = STAGES_PER_THREAD * caromi_pool_threads(c->pool);
    CHECK(caromi_stages_create(c, p.stage_count, QUERIES / p.stage_count + 1, &p.stages, err));
    int32_t *hits = caromi_alloc(c, QUERIES, sizeof *hits), *from = caromi_alloc(c, QUERIES, sizeof *from);
    int32_t *start = caromi_alloc(c, QUERIES, sizeof *start);
    uint8_t *state = caromi_alloc(c, QUERIES, 1);
    p.again = caromi_alloc(c, QUERIES, sizeof *p.again);
    carom_status status =
        hits != NULL && from != NULL && start != NULL && state != NULL && p.again != NULL
            ? CAROM_OK
            : caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory to stage %d queries", QUERIES);
    if (status == CAROM_OK)
        status = open_choosers(d, &p, err);
    if (status == CAROM_OK)
        open_inline_hits(d, &p);
    while (status == CAROM_OK && !p.is_stopped) {
        uint64_t first = 0;
        const uint64_t queries = p.counted == 0 ? next_queries(&p, *done, end, &first) : p.counted;
        if (queries == 0)
            break;
        if (p.counted == 0) {
            p.hits = hits;
            p.from = from;
            p.start = start;
            p.state = state;
            status = count_hits(d, &p, first, queries, stats, err);
        }
        if (status == CAROM_OK)
            status = run_part(d, &p, stats, err);
        *done += status == CAROM_OK && !p.is_stopped ? p.queries : 0;
        go_on(&p);
    }
    unmap_inline_hits(d, &p);
    caromi_free(c, hits);
    caromi_free(c, from);
    caromi_free(c, start);
    caromi_free(c, p.again);
    caromi_free(c, state);
    close_choosers(&p);
    caromi_stages_destroy(c, p.stages, p.stage_count);
    return status;
}

carom_status caromi_device_list(caromi_device *d, const void *list_batch, uint64_t end, uint64_t *done,
                                carom_stats *stats, carom_error *err)
{
    const caromi_list_batch *batch = list_batch;
    if (caromi_program_needs_fp64(caromi_list_program(batch)) && !d->info.fp64)
        return caromi_lacks_fp64(d, stats);
    caromi_fit_stack(d, batch->sweep.mesh);
    carom_status status = caromi_probe_list(d, batch, err);
    if (status == CAROM_OK)
        status = caromi_stream_list(d, batch, end, done, stats, err);
    return status;
}
