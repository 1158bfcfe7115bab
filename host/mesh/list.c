/* SPDX-License-Identifier: MIT */
/* Lists of hits on the CPU: searches the batch part by part, as list.h describes. */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "clearance.h"
#include "block.h"
#include "list.h"
#include "mesh.h"
#include "query_sort.h"

enum {
    BLOCK = CAROMI_BLOCK,
    PART = 1 << 13,        /* most queries of a stage */
    HITS_EACH = 4,         /* hits per query that the first allocation has room for */
    ANY_HITS = 1 << 16,    /* far more than an any-hit query records */
    STAGES_PER_THREAD = 4, /* stages per thread, so that no thread waits long for another */
    HITS_HELD = 1 << 22    /* most hits of all stages together; if queries have many hits, stages get fewer queries */
};

/* The records of a search, followed by scratch of the same size for sorting them. */
typedef struct list_found {
    mesh_record *records;
    uint32_t capacity;
} list_found;

/* A list of hits while it is made. */
typedef struct list_job {
    const carom_context *context;
    const caromi_list_batch *batch;
    caromi_mesh_view view;
    caromi_mesh_block *blocks; /* [threads], like the next three members */
    list_found *found;
    caromi_contact_scratch *choosers; /* for contacts */
    char *scratch;                    /* for sorting a part's queries; or NULL */
    caromi_stage *stages;
    uint32_t threads;
    uint32_t part; /* most queries of a stage */
    size_t most;   /* most hits of a stage, if it has more queries than a block */
} list_job;

/* Searches for the queries of a block, with a growing buffer until all records fit. Returns 0 if there is no memory. */
static int search_block(list_job *job, caromi_mesh_block *block, uint32_t thread, caromi_mesh_queries *queries)
{
    const caromi_list_batch *batch = job->batch;
    for (int c = 0; c < batch->sweep.kind->in; c++)
        queries->in[c] = block->in[c];
    queries->mask = batch->sweep.mask.base != NULL ? block->mask : NULL;
    for (list_found *found = &job->found[thread];;) {
        queries->records = found->records;
        queries->capacity = found->capacity;
        if (queries->capacity > 0)
            caromi_mesh_table_of(job->context->isa, &job->view)
                ->search[batch->search][batch->sweep.exact](&job->view, queries);
        if (queries->capacity > 0 && queries->found <= queries->capacity)
            return 1;
        /* The buffer is too small: a larger one, and the search is repeated. */
        const uint32_t least = queries->capacity > 0 ? queries->found : HITS_EACH * (uint32_t)queries->count;
        const uint32_t capacity = least < UINT32_MAX - least / 2 ? least + least / 2 : UINT32_MAX;
        caromi_free(job->context, found->records);
        found->capacity = 0;
        found->records = caromi_alloc(job->context, capacity, 2 * sizeof *found->records);
        if (found->records == NULL)
            return 0;
        found->capacity = capacity;
    }
}

static caromi_mesh_query query_in_block(const caromi_mesh_batch *batch, const caromi_mesh_block *block, size_t i)
{
    caromi_mesh_query query = {.isa = batch->mesh->context->isa,
                               .mask = batch->mask.base != NULL ? block->mask[i] : -1,
                               .options = batch->options};
    for (int c = 0; c < batch->kind->in; c++)
        query.in[c] = block->in[c][i];
    return query;
}

/* The records of a block, sorted by query. */
typedef struct sorted_records {
    mesh_record *records;
    uint32_t end[BLOCK];               /* of each query's records */
    caromi_hit_outcome outcome[BLOCK]; /* of exact mode */
} sorted_records;

static uint32_t first_record(const sorted_records *sorted, size_t i)
{
    return i > 0 ? sorted->end[i - 1] : 0;
}

/* Counting sort of the records by query: histogram, prefix sum, scatter. */
static void sort_records(const caromi_mesh_queries *queries, sorted_records *sorted)
{
    uint32_t *end = sorted->end, start = 0;
    sorted->records = queries->records + queries->capacity;
    memset(end, 0, queries->count * sizeof *end);
    for (uint32_t i = 0; i < queries->found; i++)
        end[queries->records[i].query]++;
    for (size_t i = 0; i < queries->count; i++) {
        const uint32_t count = end[i];
        end[i] = start;
        start += count;
    }
    for (uint32_t i = 0; i < queries->found; i++)
        sorted->records[end[queries->records[i].query]++] = queries->records[i];
}

/* Exact mode: decides the undecided records of all queries together. (Contacts are decided when they are chosen.) */
static void decide_records(const list_job *job, const caromi_mesh_block *block, size_t count, sorted_records *sorted)
{
    const caromi_list_batch *batch = job->batch;
    caromi_undecided_hits undecided;
    caromi_undecided_hits_begin(&undecided, job->context->isa);
    for (size_t i = 0; i < count; i++) {
        uint32_t at = first_record(sorted, i);
        sorted->outcome[i] = (caromi_hit_outcome){.one_is_enough = batch->any != NULL};
        while (at < sorted->end[i] && !isnan(sorted->records[at].t))
            at++;
        if (at == sorted->end[i] || caromi_is_answered(batch, block->state[i]))
            continue;
        const caromi_mesh_query query = query_in_block(&batch->sweep, block, i);
        caromi_add_undecided_records(batch, &query, sorted->records + at, sorted->end[i] - at, &undecided,
                                     &sorted->outcome[i]);
    }
    caromi_undecided_hits_decide(&undecided);
}

/* Adds the records of a query to the stage. Contacts are chosen in place, as the search's records are not needed
 * afterwards. */
static int add_query(list_job *job, caromi_stage *stage, uint32_t thread, const caromi_mesh_block *block,
                     const caromi_mesh_queries *queries, size_t i, const sorted_records *sorted)
{
    const uint32_t row = (uint32_t)(block->row[i] - stage->first), from = first_record(sorted, i);
    mesh_record *records = sorted->records + from;
    if (job->batch->contacts == NULL)
        return caromi_stage_add(job->context, job->batch, stage, row, block->state[i], records, sorted->end[i] - from,
                                sorted->outcome[i].rung);
    const caromi_mesh_query query = query_in_block(&job->batch->sweep, block, i);
    return caromi_stage_add_contacts(job->context, job->batch, &job->choosers[thread], stage, row, &query,
                                     block->state[i], records, sorted->end[i] - from, queries->records);
}

/* Adds the records of a block to the stage, query by query, in the order of the block. */
static int add_block(list_job *job, caromi_stage *stage, uint32_t thread, const caromi_mesh_block *block,
                     const caromi_mesh_queries *queries)
{
    sorted_records sorted;
    int complete = 1;
    sort_records(queries, &sorted);
    if (job->batch->sweep.exact && job->batch->contacts == NULL)
        decide_records(job, block, queries->count, &sorted);
    else
        memset(sorted.outcome, 0, queries->count * sizeof *sorted.outcome);
    job->choosers[thread].ahead = sorted.records;
    job->choosers[thread].end = sorted.records + queries->found;
    for (size_t i = 0; complete && i < queries->count; i++)
        complete = add_query(job, stage, thread, block, queries, i, &sorted);
    return complete;
}

/* Adds culled queries, which hit nothing, to the stage. */
static int add_clear(const list_job *job, caromi_stage *stage, const caromi_mesh_block *block, uint32_t count)
{
    int complete = 1;
    for (uint32_t i = 0; complete && i < count; i++)
        complete = caromi_stage_add(job->context, job->batch, stage, (uint32_t)(block->row[i] - stage->first),
                                    CAROM_MISS, NULL, 0, CAROMI_FIRST_FILTER);
    return complete;
}

/* Task: searches the queries of a stage, block by block, and stores their hits there. */
static void search_stage(void *user, uint64_t task, uint32_t thread)
{
    list_job *job = user;
    const caromi_mesh_batch *sweep = &job->batch->sweep;
    const int columns = sweep->kind->in;
    caromi_stage *stage = &job->stages[task];
    caromi_mesh_block *b = &job->blocks[thread];
    /* Few enough queries that their hits can be counted in 32 bits. In fast mode the search of an any-hit query ends
     * with the pairs that are in flight when the first hit is found. */
    const uint64_t hits = job->batch->any != NULL && !sweep->exact ? ANY_HITS : sweep->mesh->info.triangle_count + 1;
    const uint64_t most = UINT32_MAX / hits;
    const uint32_t block = most < BLOCK ? (uint32_t)most : BLOCK;
    void *scratch = NULL;
    if (job->scratch != NULL && stage->queries > BLOCK)
        scratch = job->scratch + (size_t)thread * job->part * caromi_sort_bytes(sweep->mesh, columns);
    const caromi_sorted_queries queries =
        caromi_sort_queries(sweep->mesh, sweep->in, columns, sweep->options, stage->first, stage->queries, scratch);
    stage->count = stage->total = 0;
    caromi_watch *watch = job->context->watch;
    for (uint32_t from = 0, n; !stage->full && from < stage->queries && !caromi_watch_look(watch); from += n) {
        n = caromi_sorted_block_size(&queries, from, block);
        caromi_mesh_queries q = {
            .state = b->state, .count = n, .options = sweep->options, .one_is_enough = job->batch->any != NULL};
        caromi_block_gather(sweep, b, &queries, from, n);
        const int complete = from >= queries.active
                                 ? add_clear(job, stage, b, n)
                                 : search_block(job, b, thread, &q) && add_block(job, stage, thread, b, &q);
        stage->full = !complete || (stage->queries > BLOCK && stage->count > job->most);
    }
}

/* The number of queries of the next part's stages, estimated from the hits of the last part. */
static uint32_t next_part(const list_job *job, uint32_t stages, uint32_t part)
{
    uint64_t queries = 0, hits = 0;
    for (uint32_t i = 0; i < stages; i++) {
        queries += job->stages[i].queries;
        hits += job->stages[i].count;
    }
    const uint64_t fits = hits > 0 ? HITS_HELD / stages * queries / hits : job->part;
    part = fits > 2 * (uint64_t)part ? 2 * part : (uint32_t)fits;
    part = part < 1 ? 1 : part;
    return part < job->part ? part : job->part;
}

/* Frees the memory of all hits. */
static void drop_hits(list_job *job, uint32_t stages)
{
    caromi_stages_empty(job->context, job->stages, stages);
    for (uint32_t i = 0; i < job->threads; i++) {
        caromi_free(job->context, job->found[i].records);
        job->found[i] = (list_found){NULL, 0};
    }
}

/* Distributes the queries from `first` on among the stages: `part` queries each or, in the last part, equal shares.
 * Returns the end of these queries. */
static uint64_t share_out(const list_job *job, uint32_t stages, uint32_t part, uint64_t first, uint64_t count)
{
    const uint64_t equal = (count - first + stages - 1) / stages;
    part = equal < part ? (uint32_t)equal : part;
    for (uint32_t i = 0; i < stages; i++) {
        const uint64_t left = count - first;
        job->stages[i].first = first;
        job->stages[i].queries = left < part ? (uint32_t)left : part;
        job->stages[i].full = 0;
        first += job->stages[i].queries;
    }
    return first;
}

static int any_full(const list_job *job, uint32_t stages)
{
    int full = 0;
    for (uint32_t i = 0; i < stages; i++)
        full |= job->stages[i].full;
    return full;
}

/* Answers queries [done, count), part by part. If a part's hits do not fit in memory, it is repeated with fewer
 * queries, down to one. */
static carom_status run_parts(list_job *job, uint32_t stages, uint64_t done, uint64_t count, carom_stats *stats,
                              carom_error *err)
{
    /* Hits are few at first, as their number is not known; any-hit queries keep next to none. */
    _Atomic uint32_t *const learned = job->batch->part;
    const uint32_t known = learned != NULL ? atomic_load_explicit(learned, memory_order_relaxed) : 0,
                   first = known > BLOCK ? known : BLOCK;
    uint32_t part = job->part < first || job->batch->any != NULL ? job->part : first, used = stages;
    while (done < count) {
        const uint64_t next = share_out(job, used, part, done, count);
        job->most = 4 * (size_t)HITS_HELD / used;
        caromi_parallel(job->context->pool, used, search_stage, job);
        CHECK(caromi_went_on(job->context));
        /* Too many hits: repeats the part with one stage, then with fewer queries. */
        if (any_full(job, used)) {
            if (used == 1 && part == 1)
                return caromi_fail_memory(err, "no memory for the hits of query %llu", (unsigned long long)done);
            drop_hits(job, used);
            part = used > 1 ? (part < BLOCK ? part : BLOCK) : part > 4 ? part / 4 : 1;
            used = 1;
            continue;
        }
        CHECK(caromi_stages_scatter(job->context, job->batch, job->stages, used, stats, err));
        done = next;
        part = next_part(job, used, part);
        used = part >= BLOCK ? stages : used;
    }
    if (learned != NULL)
        atomic_store_explicit(learned, part, memory_order_relaxed);
    return CAROM_OK;
}

/* Answers a list on the CPU: allocates what each thread needs, then runs the parts. */
carom_status caromi_cpu_list(const carom_context *context, const void *list_batch, uint64_t first, uint64_t end,
                             carom_stats *stats, carom_error *err)
{
    const uint32_t threads = end - first > BLOCK ? caromi_pool_threads(context->pool) : 1;
    const uint32_t stages = end - first > BLOCK ? STAGES_PER_THREAD * threads : 1;
    const caromi_list_batch *batch = list_batch;
    carom_mesh *mesh = batch->sweep.mesh;
    if (batch->list != NULL && batch->list->offsets != NULL && first == batch->sweep.begin)
        batch->list->offsets[first] = 0; /* a device that failed may have had to write it */
    list_job job = {.context = context,
                    .batch = batch,
                    .threads = threads,
                    .part = end - first < PART ? (uint32_t)(end - first) : PART};
    CHECK(caromi_mesh_bring(mesh, err));
    job.view = mesh->view;
    if (batch->contacts != NULL && mesh->scene == NULL) {
        const caromi_edges *edges;
        CHECK(caromi_edges_of(mesh, &edges, err));
        const caromi_culling *culling = caromi_culling_of(edges, batch->sweep.mask.base != NULL);
        job.view.opposites = culling->opposites;
        job.view.cones = culling->has_cones ? culling->cones : NULL;
    }
    /* Stages, and the buffers of each thread. */
    carom_status status = caromi_stages_create(context, stages, job.part, &job.stages, err);
    if (status != CAROM_OK)
        return status;
    job.blocks = caromi_alloc(context, threads, sizeof *job.blocks);
    job.found = caromi_alloc(context, threads, sizeof *job.found);
    /* If there is no memory for sorting, queries stay unsorted; the answers are the same. */
    if (job.part > BLOCK) {
        if (batch->contacts == NULL)
            caromi_clearance_report(mesh, end - first);
        job.scratch =
            caromi_alloc(context, (uint64_t)threads * job.part, caromi_sort_bytes(mesh, batch->sweep.kind->in));
    }
    job.choosers = caromi_alloc(context, threads, sizeof *job.choosers);
    if (job.found != NULL)
        memset(job.found, 0, threads * sizeof *job.found);
    if (job.choosers != NULL)
        memset(job.choosers, 0, threads * sizeof *job.choosers);
    status = job.blocks != NULL && job.found != NULL && job.choosers != NULL
                 ? run_parts(&job, stages, first, end, stats, err)
                 : caromi_fail_memory(err, "no memory to stage a batch (%u threads x %zu bytes)", threads,
                                      sizeof *job.blocks);
    /* Frees everything. */
    for (uint32_t i = 0; job.found != NULL && i < threads; i++)
        caromi_free(context, job.found[i].records);
    for (uint32_t i = 0; job.choosers != NULL && i < threads; i++)
        caromi_contact_scratch_free(context, &job.choosers[i]);
    caromi_free(context, job.choosers);
    caromi_free(context, job.found);
    caromi_free(context, job.blocks);
    caromi_free(context, job.scratch);
    caromi_stages_destroy(context, job.stages, stages);
    return status;
}
