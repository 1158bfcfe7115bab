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

uint64_t caromi_end_of_item(const caromi_list_part *part, uint64_t first)
{
    uint64_t end = first + 1;
    while (end < part->counted && part->start[end] == part->start[first])
        end++;
    return end;
}

/* Checks records; only in exact mode may a feature be undecided. */
static enum list_fault fault_of(const caromi_list_part *part, const mesh_record *records, uint32_t hits)
{
    const uint32_t none = part->batch->sweep.exact ? FEATURE_NONE : FEATURE_V0;
    uint32_t triangles = 0, features = 0;
    for (uint32_t k = 0; k < hits; k++) {
        triangles |= (uint32_t)records[k].triangle >= part->batch->sweep.mesh->info.triangle_count;
        features |= (uint32_t)records[k].state - none > FEATURE_FACE - none;
    }
    return triangles ? FAULT_TRIANGLE : part->batch->contacts != NULL && features ? FAULT_FEATURE : FAULT_NONE;
}

/* Grows the buffers to `hits` records. Returns 0 if there is no memory. */
static int reserve_chooser(const carom_context *context, struct caromi_list_chooser *list_chooser, uint32_t hits)
{
    if (hits <= list_chooser->capacity)
        return 1;
    caromi_free(context, list_chooser->records);
    list_chooser->capacity = 0;
    list_chooser->records = caromi_alloc(context, hits, 2 * sizeof *list_chooser->records);
    list_chooser->capacity = list_chooser->records != NULL ? hits : 0;
    return list_chooser->records != NULL;
}

/* Exact mode: decides the undecided records of query i. Returns the last rung that was needed. */
static caromi_rung decide_records(const caromi_list_part *part, uint64_t i, mesh_record *records, uint32_t hits)
{
    caromi_hit_outcome outcome = {.one_is_enough = part->batch->any != NULL};
    caromi_undecided_hits undecided;
    if (!part->batch->sweep.exact || hits == 0 || caromi_is_answered(part->batch, part->state[i]))
        return CAROMI_FIRST_FILTER;
    const caromi_mesh_query query = caromi_mesh_query_of(&part->batch->sweep, part->first + i);
    caromi_undecided_hits_begin(&undecided, part->context->isa);
    caromi_add_undecided_records(part->batch, &query, records, hits, &undecided, &outcome);
    caromi_undecided_hits_decide(&undecided);
    return outcome.rung;
}

/* Adds query i of the part, with its records, to a stage. */
static void add_query(caromi_list_part *part, caromi_stage *stage, uint32_t thread, uint64_t i, mesh_record *records,
                      uint32_t hits)
{
    const uint32_t row = (uint32_t)(part->first + i - stage->first);
    const enum list_fault fault = fault_of(part, records, hits);
    if (fault != FAULT_NONE)
        atomic_store(&part->corrupt, fault);
    else if (part->batch->contacts == NULL || hits == 0)
        stage->full = !caromi_stage_add(part->context, part->batch, stage, row, part->state[i], records, hits,
                                        part->batch->contacts == NULL ? decide_records(part, i, records, hits)
                                                                      : CAROMI_FIRST_FILTER);
    else {
        struct caromi_list_chooser *list_chooser = &part->choosers[thread];
        stage->full = !reserve_chooser(part->context, list_chooser, hits);
        if (stage->full)
            return;
        const caromi_mesh_query query = caromi_mesh_query_of(&part->batch->sweep, part->first + i);
        memcpy(list_chooser->records, records, hits * sizeof *records);
        stage->full =
            !caromi_stage_add_contacts(part->context, part->batch, &list_chooser->scratch, stage, row, &query,
                                       part->state[i], list_chooser->records, hits, list_chooser->records + hits);
    }
}

/* Counting sort by query of the records of one work-item, queries [first, end). Returns 0 if their numbers differ from
 * the counts. */
static int sort_item(const caromi_list_part *part, uint64_t first, uint64_t end, uint32_t *start, mesh_record *sorted)
{
    const mesh_record *records = part->written + first * CAROMI_INLINE_HITS;
    const int32_t *hits = part->hits - part->gone;
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
static uint64_t add_item(caromi_list_part *part, caromi_stage *stage, uint32_t thread, uint64_t i)
{
    mesh_record sorted[INLINE_MOST];
    uint32_t start[CAROMI_SHARE_MAX];
    const uint64_t first = (uint64_t)part->start[i] / CAROMI_INLINE_HITS,
                   stage_end = stage->first - part->first + stage->queries;
    const uint64_t item_end = caromi_end_of_item(part, i), end = item_end < stage_end ? item_end : stage_end;
    if (!sort_item(part, first, part->gone + item_end, start, sorted)) {
        atomic_store(&part->corrupt, FAULT_COUNT);
        return end;
    }
    for (; !stage->full && i < end; i++)
        add_query(part, stage, thread, i, sorted + start[part->gone + i - first], (uint32_t)part->hits[i]);
    return end;
}

/* Task: adds the hits of a stage's queries. */
static void fill_stage(void *user, uint64_t task, uint32_t thread)
{
    caromi_list_part *part = user;
    caromi_stage *stage = &part->stages[task];
    const uint64_t first = stage->first - part->first, end = first + stage->queries;
    stage->count = stage->total = 0;
    stage->full = 0;
    for (uint64_t i = first; !stage->full && !atomic_load(&part->corrupt) && i < end;) {
        if (part->start[i] >= 0) {
            i = add_item(part, stage, thread, i);
            continue;
        }
        const uint32_t hits = part->from[i] < 0 ? 0 : (uint32_t)part->hits[i];
        add_query(part, stage, thread, i, hits > 0 ? part->records + part->from[i] : NULL, hits);
        i++;
    }
}

/* Writes the part's hits to the list. With several devices, each waits until its part is next in the order of the
 * batch. */
static carom_status scatter(caromi_list_part *part, carom_stats *stats, carom_error *err)
{
    caromi_sequencer *turns = part->batch->turns;
    const int is_ordered = turns != NULL && turns->is_shared;
    part->is_stopped = is_ordered && !caromi_sequencer_wait(turns, part->first);
    if (part->is_stopped)
        return CAROM_OK;
    const double start = caromi_now();
    CHECK(caromi_stages_scatter(part->context, part->batch, part->stages, part->stage_count, stats, err));
    stats->host += caromi_now() - start;
    if (is_ordered)
        caromi_sequencer_commit(turns, part->first + part->queries);
    return CAROM_OK;
}

/* Adds a part's hits to the stages, checks them, and writes them to the list. */
carom_status caromi_add_part(const caromi_device *device, caromi_list_part *part, carom_stats *stats, carom_error *err)
{
    static const char *const names[] = {
        [FAULT_TRIANGLE] = "triangles", [FAULT_FEATURE] = "features", [FAULT_COUNT] = "queries of hits"};
    const double start = caromi_now();
    for (uint64_t i = 0; i < part->stage_count; i++) {
        part->stages[i].first = part->first + caromi_slice_start(part->queries, part->stage_count, i);
        part->stages[i].queries = (uint32_t)(part->first + caromi_slice_start(part->queries, part->stage_count, i + 1) -
                                             part->stages[i].first);
    }
    atomic_store(&part->corrupt, FAULT_NONE);
    caromi_parallel(part->context->pool, part->stage_count, fill_stage, part);
    const int fault = atomic_load(&part->corrupt);
    if (fault != FAULT_NONE)
        return caromi_fail_corrupt(device, names[fault], part->first, part->first + part->queries, err);
    for (uint32_t i = 0; i < part->stage_count; i++)
        if (part->stages[i].full)
            return caromi_fail_memory(err, "no memory for %llu hits", (unsigned long long)part->all);
    stats->host += caromi_now() - start;
    return scatter(part, stats, err);
}

/* Allocates what the threads need to choose contacts. */
carom_status caromi_open_choosers(caromi_device *device, caromi_list_part *part, carom_error *err)
{
    const uint32_t threads = caromi_pool_threads(part->context->pool);
    if (part->batch->contacts == NULL)
        return CAROM_OK;
    CHECK(caromi_upload_edges(device, part->batch->sweep.mesh, part->batch->sweep.mask.base != NULL, err));
    part->choosers = caromi_alloc(part->context, threads, sizeof *part->choosers);
    if (part->choosers == NULL)
        return caromi_fail_memory(err, "no memory to choose contacts (%u threads)", threads);
    memset(part->choosers, 0, threads * sizeof *part->choosers);
    return CAROM_OK;
}

void caromi_close_choosers(caromi_list_part *part)
{
    for (uint32_t i = 0; part->choosers != NULL && i < caromi_pool_threads(part->context->pool); i++) {
        caromi_contact_scratch_free(part->context, &part->choosers[i].scratch);
        caromi_free(part->context, part->choosers[i].records);
    }
    caromi_free(part->context, part->choosers);
}
