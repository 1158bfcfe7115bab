/* SPDX-License-Identifier: MIT */
/* Lists of hits on the CPU: searches the batch part by part, as list.h describes. */
#include <math.h>
#include <string.h>

#include "clearance.h"
#include "block.h"
#include "list.h"
#include "query_sort.h"

enum {
    BLOCK = CAROMI_BLOCK,
    PART = 1 << 13,        /* most queries of a stage */
    HITS_EACH = 4,         /* hits per query that the first allocation has room for */
    STAGES_PER_THREAD = 4, /* stages per thread, so that no thread waits long for another */
    HITS_HELD = 1 << 22    /* most hits of all stages together; if queries have many hits, stages get fewer queries */
};

/* The records of a search, followed by scratch of the same size for sorting them. */
typedef struct list_found {
    mesh_record *records;
    uint32_t capacity;
} list_found;

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
static int search_block(list_job *job, caromi_mesh_block *b, uint32_t thread, caromi_mesh_queries *q)
{
    const caromi_list_batch *batch = job->batch;
    for (int c = 0; c < batch->sweep.kind->in; c++)
        q->in[c] = b->in[c];
    q->mask = batch->sweep.mask.base != NULL ? b->mask : NULL;
    for (list_found *found = &job->found[thread];;) {
        q->records = found->records;
        q->capacity = found->capacity;
        if (q->capacity > 0)
            job->context->isa->mesh[batch->search][batch->sweep.exact](&job->view, q);
        if (q->capacity > 0 && q->found <= q->capacity)
            return 1;
        const uint32_t least = q->capacity > 0 ? q->found : HITS_EACH * (uint32_t)q->count;
        const uint32_t capacity = least < UINT32_MAX - least / 2 ? least + least / 2 : UINT32_MAX;
        caromi_free(job->context, found->records);
        found->capacity = 0;
        found->records = caromi_alloc(job->context, capacity, 2 * sizeof *found->records);
        if (found->records == NULL)
            return 0;
        found->capacity = capacity;
    }
}

static caromi_mesh_query query_in_block(const caromi_mesh_batch *batch, const caromi_mesh_block *b, size_t i)
{
    caromi_mesh_query q = {.mask = batch->mask.base != NULL ? b->mask[i] : -1, .options = batch->options};
    for (int c = 0; c < batch->kind->in; c++)
        q.in[c] = b->in[c][i];
    return q;
}

/* Adds the records of a query to the stage. Contacts are chosen in place, as the search's records are not needed
 * afterwards. */
static int add_query(list_job *job, caromi_stage *s, uint32_t thread, const caromi_mesh_block *b,
                     const caromi_mesh_queries *q, size_t i, mesh_record *records, uint32_t count)
{
    const uint32_t row = (uint32_t)(b->row[i] - s->first);
    if (job->batch->contacts == NULL)
        return caromi_stage_add(job->context, job->batch, s, row, b->state[i], records, count);
    const caromi_mesh_query query = query_in_block(&job->batch->sweep, b, i);
    return caromi_stage_add_contacts(job->context, job->batch, &job->choosers[thread], s, row, &query, b->state[i],
                                     records, count, q->records);
}

/* Adds the records of a block to the stage, query by query. */
static int add_block(list_job *job, caromi_stage *s, uint32_t thread, const caromi_mesh_block *b,
                     const caromi_mesh_queries *q)
{
    mesh_record *sorted = q->records + q->capacity;
    uint32_t end[BLOCK] = {0}, start = 0;
    int whole = 1;
    for (uint32_t i = 0; i < q->found; i++)
        end[q->records[i].query]++;
    for (size_t i = 0; i < q->count; i++) {
        const uint32_t count = end[i];
        end[i] = start;
        start += count;
    }
    for (uint32_t i = 0; i < q->found; i++)
        sorted[end[q->records[i].query]++] = q->records[i];
    start = 0;
    job->choosers[thread].ahead = sorted;
    job->choosers[thread].end = sorted + q->found;
    for (size_t i = 0; whole && i < q->count; i++) {
        whole = add_query(job, s, thread, b, q, i, sorted + start, end[i] - start);
        start = end[i];
    }
    return whole;
}

/* Adds culled queries, which hit nothing, to the stage. */
static int add_clear(const list_job *job, caromi_stage *s, const caromi_mesh_block *b, uint32_t count)
{
    int whole = 1;
    for (uint32_t i = 0; whole && i < count; i++)
        whole = caromi_stage_add(job->context, job->batch, s, (uint32_t)(b->row[i] - s->first), CAROM_MISS, NULL, 0);
    return whole;
}

static void search_stage(void *user, uint64_t task, uint32_t thread)
{
    list_job *job = user;
    const caromi_mesh_batch *sweep = &job->batch->sweep;
    const int columns = sweep->kind->in;
    caromi_stage *s = &job->stages[task];
    caromi_mesh_block *b = &job->blocks[thread];
    /* Few enough queries that their hits can be counted in 32 bits. */
    const uint64_t most = UINT32_MAX / (sweep->mesh->info.triangle_count + 1);
    const uint32_t block = most < BLOCK ? (uint32_t)most : BLOCK;
    void *scratch = NULL;
    if (job->scratch != NULL && s->queries > BLOCK)
        scratch = job->scratch + (size_t)thread * job->part * caromi_sort_bytes(sweep->mesh, columns);
    const caromi_sorted_queries queries =
        caromi_sort_queries(sweep->mesh, sweep->in, columns, sweep->options, s->first, s->queries, scratch);
    s->count = s->total = 0;
    for (uint32_t from = 0, n; !s->full && from < s->queries; from += n) {
        n = caromi_sorted_block_size(&queries, from, block);
        caromi_mesh_queries q = {
            .state = b->state, .count = n, .options = sweep->options, .one_is_enough = job->batch->any != NULL};
        caromi_block_gather(sweep, b, &queries, from, n);
        const int whole = from >= queries.active ? add_clear(job, s, b, n)
                                                 : search_block(job, b, thread, &q) && add_block(job, s, thread, b, &q);
        s->full = !whole || (s->queries > BLOCK && s->count > job->most);
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
    uint32_t part = job->part < BLOCK ? job->part : BLOCK, used = stages;
    while (done < count) {
        const uint64_t next = share_out(job, used, part, done, count);
        job->most = 4 * (size_t)HITS_HELD / used;
        caromi_parallel(job->context->pool, used, search_stage, job);
        if (any_full(job, used)) {
            if (used == 1 && part == 1)
                return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory for the hits of query %llu",
                                   (unsigned long long)done);
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
    return CAROM_OK;
}

carom_status caromi_cpu_list(const carom_context *c, const void *list_batch, uint64_t first, uint64_t end,
                             carom_stats *stats, carom_error *err)
{
    const uint32_t threads = end - first > BLOCK ? caromi_pool_threads(c->pool) : 1;
    const uint32_t stages = end - first > BLOCK ? STAGES_PER_THREAD * threads : 1;
    const caromi_list_batch *batch = list_batch;
    carom_mesh *mesh = batch->sweep.mesh;
    list_job job = {
        .context = c, .batch = batch, .threads = threads, .part = end - first < PART ? (uint32_t)(end - first) : PART};
    job.view = mesh->view;
    if (batch->contacts != NULL) {
        const caromi_culling *culling = caromi_culling_of(batch->contacts->edges, batch->sweep.mask.base != NULL);
        job.view.opposites = culling->opposites;
        job.view.cones = culling->has_cones ? culling->cones : NULL;
    }
    carom_status status = caromi_stages_create(c, stages, job.part, &job.stages, err);
    if (status != CAROM_OK)
        return status;
    job.blocks = caromi_alloc(c, threads, sizeof *job.blocks);
    job.found = caromi_alloc(c, threads, sizeof *job.found);
    /* If there is no memory for sorting, queries stay unsorted; the answers are the same. */
    if (job.part > BLOCK) {
        if (batch->contacts == NULL)
            caromi_clearance_report(mesh, end - first);
        job.scratch = caromi_alloc(c, (uint64_t)threads * job.part, caromi_sort_bytes(mesh, batch->sweep.kind->in));
    }
    job.choosers = caromi_alloc(c, threads, sizeof *job.choosers);
    if (job.found != NULL)
        memset(job.found, 0, threads * sizeof *job.found);
    if (job.choosers != NULL)
        memset(job.choosers, 0, threads * sizeof *job.choosers);
    status = job.blocks != NULL && job.found != NULL && job.choosers != NULL
                 ? run_parts(&job, stages, first, end, stats, err)
                 : caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory to stage a batch (%u threads x %zu bytes)",
                               threads, sizeof *job.blocks);
    for (uint32_t i = 0; job.found != NULL && i < threads; i++)
        caromi_free(c, job.found[i].records);
    for (uint32_t i = 0; job.choosers != NULL && i < threads; i++)
        caromi_contact_scratch_free(c, &job.choosers[i]);
    caromi_free(c, job.choosers);
    caromi_free(c, job.found);
    caromi_free(c, job.blocks);
    caromi_free(c, job.scratch);
    caromi_stages_destroy(c, job.stages, stages);
    return status;
}
