/* SPDX-License-Identifier: MIT */
/* Turns a device's records for a part of a list batch into hits or contacts: all threads check the records, sort them
 * by query and write them to the list. */
#include <string.h>

#include "host/mesh/block.h"
#include "mesh_list.h"

enum { INLINE_MOST = CAROMI_SHARE_MAX * CAROMI_INLINE_HITS /* most records of a work-item */ };

/* Impossible results of a device. */
enum list_fault { FAULT_NONE, FAULT_TRIANGLE, FAULT_FEATURE, FAULT_COUNT };

/* A thread's memory for choosing contacts: a copy of a query's records, and scratch of the same size. */
struct caromi_list_chooser {
    caromi_contact_scratch scratch;
    mesh_record *records;
    uint32_t capacity;
};

uint64_t caromi_end_of_item(const caromi_list_part *p, uint64_t first)
{
    uint64_t end = first + 1;
    while (end < p->counted && p->start[end] == p->start[first])
        end++;
    return end;
}

/* Checks records; only in exact mode may a feature be undecided. */
static enum list_fault fault_of(const caromi_list_part *p, const mesh_record *records, uint32_t hits)
{
    const uint32_t none = p->batch->sweep.exact ? FEATURE_NONE : FEATURE_V0;
    uint32_t triangles = 0, features = 0;
    for (uint32_t k = 0; k < hits; k++) {
        triangles |= (uint32_t)records[k].triangle >= p->batch->sweep.mesh->info.triangle_count;
        features |= (uint32_t)records[k].state - none > FEATURE_FACE - none;
    }
    return triangles ? FAULT_TRIANGLE : p->batch->contacts != NULL && features ? FAULT_FEATURE : FAULT_NONE;
}

/* Grows the buffers to `hits` records. Returns 0 if there is no memory. */
static int reserve_chooser(const carom_context *context, struct caromi_list_chooser *c, uint32_t hits)
{
    if (hits <= c->capacity)
        return 1;
    caromi_free(context, c->records);
    c->capacity = 0;
    c->records = caromi_alloc(context, hits, 2 * sizeof *c->records);
    c->capacity = c->records != NULL ? hits : 0;
    return c->records != NULL;
}

/* Adds query i of the part, with its records, to a stage. */
static void add_query(caromi_list_part *p, caromi_stage *s, uint32_t thread, uint64_t i, const mesh_record *records,
                      uint32_t hits)
{
    const uint32_t row = (uint32_t)(p->first + i - s->first);
    const enum list_fault fault = fault_of(p, records, hits);
    if (fault != FAULT_NONE)
        atomic_store(&p->corrupt, fault);
    else if (p->batch->contacts == NULL || hits == 0)
        s->full = !caromi_stage_add(p->context, p->batch, s, row, p->state[i], records, hits);
    else {
        struct caromi_list_chooser *c = &p->choosers[thread];
        s->full = !reserve_chooser(p->context, c, hits);
        if (s->full)
            return;
        const caromi_mesh_query query = caromi_mesh_query_of(&p->batch->sweep, p->first + i);
        memcpy(c->records, records, hits * sizeof *records);
        s->full = !caromi_stage_add_contacts(p->context, p->batch, &c->scratch, s, row, &query, p->state[i], c->records,
                                             hits, c->records + hits);
    }
}

/* Counting sort by query of the records of one work-item, queries [first, end). Returns 0 if their numbers differ from
 * the counts. */
static int sort_item(const caromi_list_part *p, uint64_t first, uint64_t end, uint32_t *start, mesh_record *sorted)
{
    const mesh_record *records = p->written + first * CAROMI_INLINE_HITS;
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
static uint64_t add_item(caromi_list_part *p, caromi_stage *s, uint32_t thread, uint64_t i)
{
    mesh_record sorted[INLINE_MOST];
    uint32_t start[CAROMI_SHARE_MAX];
    const uint64_t first = (uint64_t)p->start[i] / CAROMI_INLINE_HITS, stage_end = s->first - p->first + s->queries;
    const uint64_t item_end = caromi_end_of_item(p, i), end = item_end < stage_end ? item_end : stage_end;
    if (!sort_item(p, first, p->gone + item_end, start, sorted)) {
        atomic_store(&p->corrupt, FAULT_COUNT);
        return end;
    }
    for (; !s->full && i < end; i++)
        add_query(p, s, thread, i, sorted + start[p->gone + i - first], (uint32_t)p->hits[i]);
    return end;
}

static void fill_stage(void *user, uint64_t task, uint32_t thread)
{
    caromi_list_part *p = user;
    caromi_stage *s = &p->stages[task];
    const uint64_t first = s->first - p->first, end = first + s->queries;
    s->count = s->total = 0;
    s->full = 0;
    for (uint64_t i = first; !s->full && !atomic_load(&p->corrupt) && i < end;) {
        if (p->start[i] >= 0) {
            i = add_item(p, s, thread, i);
            continue;
        }
        const uint32_t hits = p->from[i] < 0 ? 0 : (uint32_t)p->hits[i];
        add_query(p, s, thread, i, hits > 0 ? p->records + p->from[i] : NULL, hits);
        i++;
    }
}

/* Writes the part's hits to the list. With several devices, each waits until its part is next in the order of the
 * batch. */
static carom_status scatter(caromi_list_part *p, carom_stats *stats, carom_error *err)
{
    caromi_sequencer *turns = p->batch->turns;
    const int is_ordered = turns != NULL && turns->is_shared;
    p->is_stopped = is_ordered && !caromi_sequencer_wait(turns, p->first);
    if (p->is_stopped)
        return CAROM_OK;
    const double start = caromi_now();
    CHECK(caromi_stages_scatter(p->context, p->batch, p->stages, p->stage_count, stats, err));
    stats->host += caromi_now() - start;
    if (is_ordered)
        caromi_sequencer_commit(turns, p->first + p->queries);
    return CAROM_OK;
}

carom_status caromi_add_part(const caromi_device *d, caromi_list_part *p, carom_stats *stats, carom_error *err)
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
    caromi_parallel(p->context->pool, p->stage_count, fill_stage, p);
    const int fault = atomic_load(&p->corrupt);
    if (fault != FAULT_NONE)
        return caromi_fail_corrupt(d, names[fault], p->first, p->first + p->queries, err);
    for (uint32_t i = 0; i < p->stage_count; i++)
        if (p->stages[i].full)
            return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory for %llu hits",
                               (unsigned long long)p->all);
    stats->host += caromi_now() - start;
    return scatter(p, stats, err);
}

carom_status caromi_open_choosers(caromi_device *d, caromi_list_part *p, carom_error *err)
{
    const uint32_t threads = caromi_pool_threads(p->context->pool);
    if (p->batch->contacts == NULL)
        return CAROM_OK;
    CHECK(caromi_upload_edges(d, p->batch->sweep.mesh, p->batch->sweep.mask.base != NULL, err));
    p->choosers = caromi_alloc(p->context, threads, sizeof *p->choosers);
    if (p->choosers == NULL)
        return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory to choose contacts (%u threads)", threads);
    memset(p->choosers, 0, threads * sizeof *p->choosers);
    return CAROM_OK;
}

void caromi_close_choosers(caromi_list_part *p)
{
    for (uint32_t i = 0; p->choosers != NULL && i < caromi_pool_threads(p->context->pool); i++) {
        caromi_contact_scratch_free(p->context, &p->choosers[i].scratch);
        caromi_free(p->context, p->choosers[i].records);
    }
    caromi_free(p->context, p->choosers);
}
