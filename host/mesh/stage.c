/* SPDX-License-Identifier: MIT */
/* Stages: buffers of hits between the search and the caller's list; see list.h. */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "host/bvh/triangle.h"
#include "block.h"
#include "list.h"

enum { INSERTION_RUN = 16 }; /* merge sort begins with runs of so many records, which are sorted by insertion */

/* ---- adding hits ------------------------------------------------------------------------------------------------- */

/* Enlarges the array for `more` further records. Returns 0 if there is no memory. */
static int reserve(const carom_context *context, caromi_stage *stage, size_t more)
{
    if (stage->capacity - stage->count >= more)
        return 1;
    const size_t capacity = stage->count + more + stage->capacity / 2 + CAROMI_BLOCK;
    mesh_record *records = caromi_alloc(context, capacity, sizeof *records);
    if (records == NULL)
        return 0;
    if (stage->count > 0)
        memcpy(records, stage->records, stage->count * sizeof *records);
    caromi_free(context, stage->records);
    stage->records = records;
    stage->capacity = capacity;
    return 1;
}

/* A sort key: time in the high half, triangle in the low half. Times are not negative, so their bit patterns have their
 * order. */
static uint64_t time_key(const mesh_record *record)
{
    uint32_t time_bits;
    memcpy(&time_bits, &record->t, sizeof time_bits);
    return (uint64_t)time_bits << 32 | (uint32_t)record->triangle;
}

/* Sorts few records by time, then triangle. */
static void insertion_sort(mesh_record *records, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        const mesh_record next = records[i];
        uint32_t at = i;
        for (; at > 0 && time_key(&next) < time_key(&records[at - 1]); at--)
            records[at] = records[at - 1];
        records[at] = next;
    }
}

/* Merges two adjacent runs. No branch depends on which record is next, because it would be mispredicted. */
static void merge(const mesh_record *left, uint32_t left_count, uint32_t count, mesh_record *merged)
{
    const mesh_record *const middle = left + left_count, *const end = left + count, *right = middle;
    while (left < middle && right < end) {
        const int is_right = time_key(right) < time_key(left);
        *merged++ = *(is_right ? right : left);
        right += is_right;
        left += !is_right;
    }
    memcpy(merged, left, (size_t)(middle - left) * sizeof *merged);
    memcpy(merged + (middle - left), right, (size_t)(end - right) * sizeof *merged);
}

/* Merge sort of records; behind them is scratch for as many again. */
static void merge_sort(mesh_record *records, uint32_t count)
{
    mesh_record *from = records, *to = records + count;
    for (uint32_t i = 0; i < count; i += INSERTION_RUN)
        insertion_sort(records + i, count - i < INSERTION_RUN ? count - i : INSERTION_RUN);
    for (uint64_t run = INSERTION_RUN; run < count; run *= 2) {
        for (uint64_t i = 0; i < count; i += 2 * run) {
            const uint32_t merged = (uint32_t)(count - i < 2 * run ? count - i : 2 * run);
            merge(from + i, merged < run ? merged : (uint32_t)run, merged, to + i);
        }
        mesh_record *const sorted = to;
        to = from;
        from = sorted;
    }
    if (from != records)
        memcpy(records, from, count * sizeof *records);
}

/* Decides an overlap at once: it is in integers. */
static void decide_overlap(const caromi_mesh_query *query, const float *corners, mesh_record *record,
                           caromi_hit_outcome *outcome)
{
    record->t = 0;
    if (outcome->one_is_enough && outcome->has_hit) {
        record->state = CAROM_MISS;
        return;
    }
    outcome->rung = CAROMI_INTEGERS;
    if (caromi_resolve_overlap(query, corners))
        outcome->has_hit = 1;
    else
        record->state = CAROM_MISS;
}

void caromi_add_undecided_record(const caromi_list_batch *batch, const caromi_mesh_query *query, float until,
                                 mesh_record *record, caromi_undecided_hits *undecided, caromi_hit_outcome *outcome)
{
    const carom_mesh *mesh = batch->sweep.mesh;
    const int is_overlap = batch->search == CAROMI_MESH_OVERLAPS;
    caromi_mesh_query own = *query;
    float corners[9];
    if (outcome->rung < CAROMI_SECOND_FILTER)
        outcome->rung = CAROMI_SECOND_FILTER;
    caromi_triangle_corners(mesh, (uint32_t)record->triangle, corners);
    if ((own.options & MESH_CARRIED) != 0)
        caromi_scene_velocity(mesh->scene, (uint32_t)record->triangle, own.carried);
    if (caromi_hit_is_outside(&own, corners, !is_overlap, until)) {
        record->t = 0;
        record->state = CAROM_MISS;
    } else if (is_overlap) {
        decide_overlap(&own, corners, record, outcome);
    } else {
        caromi_undecided_hits_add(undecided, &own, corners, own.in[MESH_T_MAX], record, outcome);
    }
}

void caromi_add_undecided_records(const caromi_list_batch *batch, const caromi_mesh_query *query, mesh_record *records,
                                  uint32_t count, caromi_undecided_hits *undecided, caromi_hit_outcome *outcome)
{
    const float until = batch->search == CAROMI_MESH_OVERLAPS ? 0 : query->in[MESH_T_MAX];
    for (uint32_t i = 0; i < count; i++)
        if (isnan(records[i].t))
            caromi_add_undecided_record(batch, query, until, &records[i], undecided, outcome);
}

/* Removes the records that are no hits; returns how many are left. */
static uint32_t keep_hits(mesh_record *records, uint32_t count)
{
    uint32_t hits = 0;
    for (uint32_t i = 0; i < count; i++) {
        records[hits] = records[i];
        hits += records[i].state != CAROM_MISS;
    }
    return hits;
}

/* Adds the hits of a query to a stage, sorted. */
int caromi_stage_add(const carom_context *context, const caromi_list_batch *batch, caromi_stage *stage, uint32_t row,
                     int state, const mesh_record *records, uint32_t count, caromi_rung rung)
{
    /* The state alone may be the whole answer: then no record is stored. */
    if (caromi_is_answered(batch, state))
        count = 0;
    /* Twice the space if hits are sorted: the second half is scratch for the merge sort. */
    if (!reserve(context, stage, (batch->counts_only ? 1 : 2) * (size_t)count))
        return 0;
    mesh_record *stored = NULL; /* without hits, stage->records may still be NULL */
    if (count > 0)
        stored = memcpy(stage->records + stage->count, records, count * sizeof *stored);
    stage->rung[row] = (uint8_t)rung;
    stage->start[row] = stage->count;
    stage->hits[row] = rung == CAROMI_FIRST_FILTER || batch->contacts != NULL ? count : keep_hits(stored, count);
    if (!batch->counts_only && stage->hits[row] > 1)
        merge_sort(stored, stage->hits[row]);
    stage->count += stage->hits[row];
    stage->total += stage->hits[row];
    /* An overlap query that stops at the first hit answers yes, no or invalid. */
    if (batch->any != NULL)
        batch->any[stage->first + row] =
            state == CAROM_INVALID ? CAROM_OVERLAP_INVALID : state != CAROM_MISS || stage->hits[row] > 0;
    return 1;
}

/* Chooses the contacts of a query among its records, and adds them. */
int caromi_stage_add_contacts(const carom_context *context, const caromi_list_batch *batch,
                              caromi_contact_scratch *scratch, caromi_stage *stage, uint32_t row,
                              const caromi_mesh_query *query, int state, mesh_record *records, uint32_t count,
                              mesh_record *spare)
{
    uint8_t by_integers = 0;
    const int64_t chosen = (batch->sweep.mesh->scene != NULL ? caromi_choose_in_scene : caromi_choose_contacts)(
        context, &batch->sweep, batch->contacts, scratch, query, records, count, spare, &by_integers);
    return chosen >= 0 && caromi_stage_add(context, batch, stage, row, state, records, (uint32_t)chosen,
                                           by_integers ? CAROMI_INTEGERS : CAROMI_FIRST_FILTER);
}

/* ---- scattering to the list -------------------------------------------------------------------------------------- */

/* The scatter of all stages to the list. */
typedef struct scatter_job {
    const carom_context *context;
    const caromi_list_batch *batch;
    caromi_stage *stages;
    caromi_mesh_block *blocks; /* [threads]; NULL if no points are wanted */
    uint64_t complete;         /* only hits of queries before this one fit into the list */
    caromi_rung_sums rungs;
} scatter_job;

/* Up to a block of hits: the first one's position in the list, queries and records. */
typedef struct hit_run {
    uint64_t at, query[CAROMI_BLOCK];
    const mesh_record *record[CAROMI_BLOCK];
    size_t count;
} hit_run;

/* Writes hits with their points. Points that the kernel leaves undecided are decided in integers, and their queries
 * marked. */
static void write_contacts(scatter_job *job, caromi_stage *stage, const hit_run *run, caromi_mesh_block *block)
{
    const caromi_mesh_batch *sweep = &job->batch->sweep;
    caromi_gather_rows(sweep->in, sweep->kind->in, run->query, run->count, block->in);
    for (size_t i = 0; i < run->count; i++) {
        block->row[i] = run->at + i;
        block->triangle[i] = run->record[i]->triangle;
        block->state[i] = (uint8_t)run->record[i]->state;
        block->key[i] = run->record[i]->t;
        block->depth[i] = block->in[MESH_RADIUS][i] - run->record[i]->t + 0.0f; /* -0 becomes +0 */
    }
    caromi_block_points(job->context, sweep, block, run->count);
    caromi_block_store(sweep, block, run->count);
    /* A NaN marks a point that the exact kernel left undecided. */
    for (size_t i = 0; sweep->exact && i < run->count; i++) {
        float query[CAROMI_MESH_IN];
        if (!isnan(block->point[0][i]))
            continue;
        for (int column = 0; column < sweep->kind->in; column++)
            query[column] = block->in[column][i];
        caromi_resolve_points(sweep, query, block->triangle[i], block->row[i]);
        stage->rung[run->query[i] - stage->first] = CAROMI_INTEGERS;
    }
}

/* The patch of a triangle: a number of its own mesh. */
static uint32_t patch_of(const carom_scene *scene, const caromi_contacts *contacts, int32_t triangle)
{
    if (scene == NULL)
        return contacts->patches.of[triangle];
    const caromi_scene_triangle of = caromi_scene_find(scene, (uint32_t)triangle);
    return contacts->patches_of_mesh[of.mesh_number].of[of.triangle];
}

/* Writes the patch of each hit's triangle. */
static void write_patches(const carom_scene *scene, const caromi_contacts *contacts, const hit_run *run)
{
    for (size_t i = 0; i < run->count; i++)
        contacts->patch_of_hit[run->at + i] = patch_of(scene, contacts, run->record[i]->triangle);
}

/* Writes a run of hits to the columns that the caller wants. */
static void write_run(scatter_job *job, caromi_stage *stage, const hit_run *run, uint32_t thread)
{
    const carom_hit_list *list = job->batch->list;
    const carom_scene *scene = job->batch->sweep.mesh->scene;
    for (size_t i = 0; list->query != NULL && i < run->count; i++)
        list->query[run->at + i] = run->query[i];
    if (job->batch->contacts != NULL && job->batch->contacts->patch_of_hit != NULL)
        write_patches(scene, job->batch->contacts, run);
    if (job->blocks != NULL) {
        write_contacts(job, stage, run, &job->blocks[thread]);
        return;
    }
    for (size_t i = 0; i < run->count; i++) {
        const mesh_record *record = run->record[i];
        int32_t triangle = record->triangle;
        const int32_t instance = scene != NULL ? caromi_scene_split(scene, &triangle) : -1;
        if (list->triangle != NULL)
            list->triangle[run->at + i] = triangle;
        if (list->instance != NULL)
            list->instance[run->at + i] = instance;
        if (list->state != NULL)
            list->state[run->at + i] = (uint8_t)record->state;
        if (list->t != NULL)
            list->t[run->at + i] = record->t;
    }
}

/* Task: writes the hits of one stage to the list, run by run, and the offset behind each query. */
static void scatter_stage(void *user, uint64_t task, uint32_t thread)
{
    scatter_job *job = user;
    caromi_stage *stage = &job->stages[task];
    const carom_hit_list *list = job->batch->list;
    uint64_t next = stage->base;
    caromi_rungs rungs = {0, 0};
    hit_run run = {.at = stage->base};
    for (uint32_t row = 0; row < stage->queries; row++) {
        const uint64_t query = stage->first + row;
        for (uint32_t i = 0; query < job->complete && i < stage->hits[row]; i++) {
            run.query[run.count] = query;
            run.record[run.count++] = &stage->records[stage->start[row] + i];
            /* A full run is written. */
            if (run.count == CAROMI_BLOCK) {
                write_run(job, stage, &run, thread);
                run.at += run.count;
                run.count = 0;
            }
        }
        next += stage->hits[row];
        if (list->offsets != NULL)
            list->offsets[query + 1] = next;
    }
    if (run.count > 0)
        write_run(job, stage, &run, thread);
    for (uint32_t row = 0; row < stage->queries; row++) {
        /* Statistics of exact mode. */
        caromi_rungs_count(&rungs, (caromi_rung)stage->rung[row]);
        if (job->batch->sweep.rungs != NULL && stage->rung[row] == CAROMI_INTEGERS)
            job->batch->sweep.rungs[stage->first + row] = CAROMI_SEARCH_BY_INTEGERS;
    }
    caromi_rungs_add(&job->rungs, rungs);
}

/* Counts the queries whose hits fit into the list. After the first that does not fit, none counts. */
static void find_complete(const carom_hit_list *list, const caromi_stage *stage)
{
    if (list->totals->complete != stage->first) /* an earlier query did not fit */
        return;
    for (uint32_t row = 0; row < stage->queries && list->capacity - list->totals->stored >= stage->hits[row]; row++) {
        list->totals->stored += stage->hits[row];
        list->totals->complete++;
    }
}

/* Writes the hits of all stages to the list, in the order of the queries. */
carom_status caromi_stages_scatter(const carom_context *context, const caromi_list_batch *batch, caromi_stage *stages,
                                   uint32_t count, carom_stats *stats, carom_error *err)
{
    const carom_hit_list *list = batch->list;
    scatter_job job = {.context = context, .batch = batch, .stages = stages};
    if (list == NULL) { /* counts or yes/no answers: nothing is written to a list */
        caromi_rungs rungs = {0, 0};
        for (uint32_t i = 0; i < count; i++)
            for (uint32_t row = 0; row < stages[i].queries; row++)
                caromi_rungs_count(&rungs, (caromi_rung)stages[i].rung[row]);
        caromi_count_rungs(stats, rungs);
        return CAROM_OK;
    }
    if (caromi_wants_points(&batch->sweep) || batch->sweep.out[CAROMI_ANSWER_DEPTH].base != NULL) {
        job.blocks = caromi_alloc(context, caromi_pool_threads(context->pool), sizeof *job.blocks);
        if (job.blocks == NULL)
            return caromi_fail_memory(err, "no memory to stage a batch (%u threads x %zu bytes)",
                                      caromi_pool_threads(context->pool), sizeof *job.blocks);
    }
    /* Prefix sum over the stages: where the hits of each begin in the list. */
    for (uint32_t i = 0; i < count; i++) {
        stages[i].base = list->totals->total;
        list->totals->total += stages[i].total;
        find_complete(list, &stages[i]);
    }
    job.complete = list->totals->complete;
    caromi_parallel(context->pool, count, scatter_stage, &job);
    caromi_count_rungs(stats, caromi_rungs_of(&job.rungs));
    caromi_free(context, job.blocks);
    return CAROM_OK;
}

/* ---- stages ------------------------------------------------------------------------------------------------------ */

/* Frees the records of stages. */
void caromi_stages_empty(const carom_context *context, caromi_stage *stages, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        caromi_free(context, stages[i].records);
        stages[i].records = NULL;
        stages[i].capacity = stages[i].count = 0;
    }
}

/* Frees stages and the arrays that they share. */
void caromi_stages_destroy(const carom_context *context, caromi_stage *stages, uint32_t count)
{
    if (stages == NULL)
        return;
    caromi_stages_empty(context, stages, count);
    caromi_free(context, stages[0].start);
    caromi_free(context, stages[0].hits);
    caromi_free(context, stages[0].rung);
    caromi_free(context, stages);
}

/* Allocates stages; their arrays are consecutive parts of common ones. */
carom_status caromi_stages_create(const carom_context *context, uint32_t count, uint32_t queries, caromi_stage **out,
                                  carom_error *err)
{
    const uint64_t all = (uint64_t)count * queries;
    caromi_stage *stages = caromi_alloc(context, count, sizeof *stages);
    if (stages != NULL) {
        memset(stages, 0, count * sizeof *stages);
        stages[0].start = caromi_alloc(context, all, sizeof *stages->start);
        stages[0].hits = caromi_alloc(context, all, sizeof *stages->hits);
        stages[0].rung = caromi_alloc(context, all, 1);
    }
    if (stages == NULL || stages[0].start == NULL || stages[0].hits == NULL || stages[0].rung == NULL) {
        caromi_stages_destroy(context, stages, count);
        return caromi_fail_memory(err, "no memory for the hits of %llu queries", (unsigned long long)all);
    }
    /* Each stage has its part of the common arrays. */
    for (uint32_t i = 1; i < count; i++) {
        stages[i].start = stages[i - 1].start + queries;
        stages[i].hits = stages[i - 1].hits + queries;
        stages[i].rung = stages[i - 1].rung + queries;
    }
    *out = stages;
    return CAROM_OK;
}
