/* SPDX-License-Identifier: MIT */
/* Stages: buffers of hits between the search and the caller's list; see list.h. */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "block.h"
#include "list.h"

enum { RUN = 16 }; /* records that are sorted by insertion; such runs are then merged */

/* ---- taking ------------------------------------------------------------------------------------------------------ */

static int reserve(const carom_context *context, caromi_stage *s, size_t more)
{
    if (s->capacity - s->count >= more)
        return 1;
    const size_t capacity = s->count + more + s->capacity / 2 + CAROMI_BLOCK;
    mesh_record *records = caromi_alloc(context, capacity, sizeof *records);
    if (records == NULL)
        return 0;
    if (s->count > 0)
        memcpy(records, s->records, s->count * sizeof *records);
    caromi_free(context, s->records);
    s->records = records;
    s->capacity = capacity;
    return 1;
}

/* A key in the order of time, then triangle. Times are not negative, so their bit patterns have their order. */
static uint64_t key(const mesh_record *r)
{
    uint32_t t;
    memcpy(&t, &r->t, sizeof t);
    return (uint64_t)t << 32 | (uint32_t)r->triangle;
}

static void insert_all(mesh_record *records, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        const mesh_record next = records[i];
        uint32_t at = i;
        for (; at > 0 && key(&next) < key(&records[at - 1]); at--)
            records[at] = records[at - 1];
        records[at] = next;
    }
}

/* Merges two adjacent runs. No branch depends on which record is next, because it would be mispredicted. */
static void merge(const mesh_record *left, uint32_t left_count, uint32_t count, mesh_record *to)
{
    const mesh_record *const middle = left + left_count, *const end = left + count, *right = middle;
    while (left < middle && right < end) {
        const int is_right = key(right) < key(left);
        *to++ = *(is_right ? right : left);
        right += is_right;
        left += !is_right;
    }
    memcpy(to, left, (size_t)(middle - left) * sizeof *to);
    memcpy(to + (middle - left), right, (size_t)(end - right) * sizeof *to);
}

/* Merge sort of records; behind them is scratch for as many again. */
static void put_in_order(mesh_record *records, uint32_t count)
{
    mesh_record *from = records, *to = records + count;
    for (uint32_t i = 0; i < count; i += RUN)
        insert_all(records + i, count - i < RUN ? count - i : RUN);
    for (uint64_t run = RUN; run < count; run *= 2) {
        for (uint64_t i = 0; i < count; i += 2 * run) {
            const uint32_t both = (uint32_t)(count - i < 2 * run ? count - i : 2 * run);
            merge(from + i, both < run ? both : (uint32_t)run, both, to + i);
        }
        mesh_record *const sorted = to;
        to = from;
        from = sorted;
    }
    if (from != records)
        memcpy(records, from, count * sizeof *records);
}

/* Decides undecided records in integers, in place; returns the number of hits. */
static uint32_t resolve(const caromi_list_batch *batch, uint64_t query, mesh_record *records, uint32_t count,
                        uint8_t *by_integers)
{
    const caromi_mesh_query q = caromi_mesh_query_of(&batch->sweep, query);
    float corners[9];
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        mesh_record r = records[i];
        if (isnan(r.t)) {
            for (int k = 0; k < 9; k++)
                corners[k] = caromi_corner(batch->sweep.mesh, (uint32_t)r.triangle, k / 3)[k % 3];
            *by_integers = 1;
            if (!caromi_resolve_hit(&q, corners, batch->search == CAROMI_MESH_OVERLAPS, &r))
                continue;
        }
        records[kept++] = r;
        if (batch->any != NULL)
            break;
    }
    return kept;
}

int caromi_stage_add(const carom_context *context, const caromi_list_batch *batch, caromi_stage *s, uint32_t row,
                     int state, const mesh_record *records, uint32_t count)
{
    if (caromi_is_answered(batch, state)) /* the state is the whole answer, and no record is needed */
        count = 0;
    if (!reserve(context, s,
                 (batch->counts_only ? 1 : 2) * (size_t)count)) /* twice: the second half is scratch for sorting */
        return 0;
    mesh_record *to = NULL; /* without hits there may be no records yet */
    if (count > 0)
        to = memcpy(s->records + s->count, records, count * sizeof *to);
    s->by_integers[row] = 0;
    s->start[row] = s->count;
    s->hits[row] = batch->sweep.exact && batch->contacts == NULL
                       ? resolve(batch, s->first + row, to, count, &s->by_integers[row])
                       : count;
    if (!batch->counts_only && s->hits[row] > 1)
        put_in_order(to, s->hits[row]);
    s->count += s->hits[row];
    s->total += s->hits[row];
    if (batch->any != NULL)
        batch->any[s->first + row] =
            state == CAROM_INVALID ? CAROM_OVERLAP_INVALID : state != CAROM_MISS || s->hits[row] > 0;
    return 1;
}

int caromi_stage_add_contacts(const carom_context *context, const caromi_list_batch *batch,
                              caromi_contact_scratch *scratch, caromi_stage *s, uint32_t row,
                              const caromi_mesh_query *query, int state, mesh_record *records, uint32_t count,
                              mesh_record *spare)
{
    uint8_t by_integers = 0;
    const int64_t chosen = caromi_choose_contacts(context, &batch->sweep, batch->contacts, scratch, query, records,
                                                  count, spare, &by_integers);
    if (chosen < 0 || !caromi_stage_add(context, batch, s, row, state, records, (uint32_t)chosen))
        return 0;
    s->by_integers[row] |= by_integers;
    return 1;
}

/* ---- delivering -------------------------------------------------------------------------------------------------- */

typedef struct scatter_job {
    const carom_context *context;
    const caromi_list_batch *batch;
    caromi_stage *stages;
    caromi_mesh_block *blocks; /* [threads]; NULL if no points are wanted */
    uint64_t complete;         /* only hits of queries before this one fit into the list */
    atomic_uint_fast64_t resolved;
} scatter_job;

/* Up to a block of hits: the first one's position in the list, queries and records. */
typedef struct hit_run {
    uint64_t at, query[CAROMI_BLOCK];
    const mesh_record *record[CAROMI_BLOCK];
    size_t count;
} hit_run;

/* Writes hits with their points. Points that the kernel leaves undecided are decided in integers, and their queries
 * marked. */
static void write_contacts(scatter_job *job, caromi_stage *s, const hit_run *run, caromi_mesh_block *b)
{
    const caromi_mesh_batch *sweep = &job->batch->sweep;
    caromi_gather_rows(sweep->in, sweep->kind->in, run->query, run->count, b->in);
    for (size_t i = 0; i < run->count; i++) {
        b->row[i] = run->at + i;
        b->triangle[i] = run->record[i]->triangle;
        b->state[i] = (uint8_t)run->record[i]->state;
        b->key[i] = run->record[i]->t;
        b->depth[i] = b->in[MESH_RADIUS][i] - run->record[i]->t + 0.0f; /* -0 becomes +0 */
    }
    caromi_block_points(job->context, sweep, b, run->count);
    caromi_block_store(sweep, b, run->count);
    for (size_t i = 0; sweep->exact && i < run->count; i++) {
        float query[CAROMI_MESH_IN];
        if (!isnan(b->point[0][i]))
            continue;
        for (int c = 0; c < sweep->kind->in; c++)
            query[c] = b->in[c][i];
        caromi_resolve_points(sweep, query, b->triangle[i], b->row[i]);
        s->by_integers[run->query[i] - s->first] = 1;
    }
}

static void write_patches(const caromi_contacts *contacts, const hit_run *run)
{
    for (size_t i = 0; i < run->count; i++)
        contacts->patch_of_hit[run->at + i] = contacts->patch[run->record[i]->triangle];
}

static void write_run(scatter_job *job, caromi_stage *s, const hit_run *run, uint32_t thread)
{
    const carom_hit_list *list = job->batch->list;
    for (size_t i = 0; list->query != NULL && i < run->count; i++)
        list->query[run->at + i] = run->query[i];
    if (job->batch->contacts != NULL && job->batch->contacts->patch_of_hit != NULL)
        write_patches(job->batch->contacts, run);
    if (job->blocks != NULL) {
        write_contacts(job, s, run, &job->blocks[thread]);
        return;
    }
    for (size_t i = 0; i < run->count; i++) {
        const mesh_record *r = run->record[i];
        if (list->triangle != NULL)
            list->triangle[run->at + i] = r->triangle;
        if (list->state != NULL)
            list->state[run->at + i] = (uint8_t)r->state;
        if (list->t != NULL)
            list->t[run->at + i] = r->t;
    }
}

static void scatter_stage(void *user, uint64_t task, uint32_t thread)
{
    scatter_job *job = user;
    caromi_stage *s = &job->stages[task];
    const carom_hit_list *list = job->batch->list;
    uint64_t next = s->base, resolved = 0;
    hit_run run = {.at = s->base};
    for (uint32_t row = 0; row < s->queries; row++) {
        const uint64_t query = s->first + row;
        for (uint32_t i = 0; query < job->complete && i < s->hits[row]; i++) {
            run.query[run.count] = query;
            run.record[run.count++] = &s->records[s->start[row] + i];
            if (run.count == CAROMI_BLOCK) {
                write_run(job, s, &run, thread);
                run.at += run.count;
                run.count = 0;
            }
        }
        next += s->hits[row];
        if (list->offsets != NULL)
            list->offsets[query + 1] = next;
    }
    if (run.count > 0)
        write_run(job, s, &run, thread);
    for (uint32_t row = 0; row < s->queries; row++)
        resolved += s->by_integers[row];
    atomic_fetch_add(&job->resolved, resolved);
}

/* Counts the queries whose hits fit into the list. After the first that does not fit, none counts. */
static void find_complete(const carom_hit_list *list, const caromi_stage *s)
{
    if (list->totals->complete != s->first) /* an earlier query did not fit */
        return;
    for (uint32_t row = 0; row < s->queries && list->capacity - list->totals->stored >= s->hits[row]; row++) {
        list->totals->stored += s->hits[row];
        list->totals->complete++;
    }
}

carom_status caromi_stages_scatter(const carom_context *context, const caromi_list_batch *batch, caromi_stage *stages,
                                   uint32_t count, carom_stats *stats, carom_error *err)
{
    const carom_hit_list *list = batch->list;
    scatter_job job = {.context = context, .batch = batch, .stages = stages};
    if (list == NULL) {
        for (uint32_t i = 0; i < count; i++)
            for (uint32_t row = 0; row < stages[i].queries; row++)
                stats->by_integers += stages[i].by_integers[row];
        return CAROM_OK;
    }
    if (caromi_wants_points(&batch->sweep) || batch->sweep.out[CAROMI_ANSWER_DEPTH].base != NULL) {
        job.blocks = caromi_alloc(context, caromi_pool_threads(context->pool), sizeof *job.blocks);
        if (job.blocks == NULL)
            return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory to stage a batch (%u threads x %zu bytes)",
                               caromi_pool_threads(context->pool), sizeof *job.blocks);
    }
    for (uint32_t i = 0; i < count; i++) {
        stages[i].base = list->totals->total;
        list->totals->total += stages[i].total;
        find_complete(list, &stages[i]);
    }
    job.complete = list->totals->complete;
    caromi_parallel(context->pool, count, scatter_stage, &job);
    stats->by_integers += job.resolved;
    caromi_free(context, job.blocks);
    return CAROM_OK;
}

/* ---- stages ------------------------------------------------------------------------------------------------------ */

void caromi_stages_empty(const carom_context *context, caromi_stage *stages, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        caromi_free(context, stages[i].records);
        stages[i].records = NULL;
        stages[i].capacity = stages[i].count = 0;
    }
}

void caromi_stages_destroy(const carom_context *context, caromi_stage *stages, uint32_t count)
{
    if (stages == NULL)
        return;
    caromi_stages_empty(context, stages, count);
    caromi_free(context, stages[0].start);
    caromi_free(context, stages[0].hits);
    caromi_free(context, stages[0].by_integers);
    caromi_free(context, stages);
}

carom_status caromi_stages_create(const carom_context *context, uint32_t count, uint32_t queries, caromi_stage **out,
                                  carom_error *err)
{
    const uint64_t all = (uint64_t)count * queries;
    caromi_stage *stages = caromi_alloc(context, count, sizeof *stages);
    if (stages != NULL) {
        memset(stages, 0, count * sizeof *stages);
        stages[0].start = caromi_alloc(context, all, sizeof *stages->start);
        stages[0].hits = caromi_alloc(context, all, sizeof *stages->hits);
        stages[0].by_integers = caromi_alloc(context, all, 1);
    }
    if (stages == NULL || stages[0].start == NULL || stages[0].hits == NULL || stages[0].by_integers == NULL) {
        caromi_stages_destroy(context, stages, count);
        return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory for the hits of %llu queries",
                           (unsigned long long)all);
    }
    for (uint32_t i = 1; i < count; i++) {
        stages[i].start = stages[i - 1].start + queries;
        stages[i].hits = stages[i - 1].hits + queries;
        stages[i].by_integers = stages[i - 1].by_integers + queries;
    }
    *out = stages;
    return CAROM_OK;
}
