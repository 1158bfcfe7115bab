/* SPDX-License-Identifier: MIT */
/* All hits on a mesh by a device, part by part of the batch, in two passes: the first counts hits, a prefix sum assigns
 * their positions, and the second pass writes them. On devices that share memory with the host, the first pass already
 * writes hits: the queries of a work-item share space for CAROMI_INLINE_HITS hits each. Only work-items whose hits did
 * not fit run in the second pass. */
#include "mesh_list.h"

#include "host/mesh/block.h"

enum {
    STAGES_PER_THREAD = 4,
    HITS_HELD = 1 << 23 /* most hits of a part; fewer if the device has less memory */
};

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
    const caromi_list_part *p = user;
    const caromi_mesh_batch *sweep = &p->batch->sweep;
    caromi_arguments a = caromi_arguments_of(d, caromi_list_program(p->batch));
    const cl_uint found = (cl_uint)p->found;
    const cl_int each = p->fill ? -1 : p->inline_hits != NULL ? CAROMI_INLINE_HITS : 0;
    const cl_mem *memory = p->fill ? &p->memory : &p->inline_hits;
    const int one = p->batch->any != NULL, columns = sweep->kind->in;
    CHECK(caromi_sort_chunk(d, slot, sweep->mesh, columns, sweep->options, err));
    const uint64_t items = caromi_set_search(d, slot, &a, sweep->mesh, sweep->options, slot->padded, (uint32_t)columns,
                                             (uint32_t)columns + 1);
    if (p->batch->contacts != NULL)
        caromi_set_edges(d, &a, sweep->mesh, sweep->mask.base != NULL);
    if (*memory != NULL)
        caromi_set_argument(&a, memory, sizeof *memory);
    else /* if hits are only counted, none are written: any buffer will do */
        caromi_set_columns(&a, slot->out, 1);
    caromi_set_argument(&a, &found, sizeof found);
    caromi_set_argument(&a, &each, sizeof each);
    caromi_set_argument(&a, &one, sizeof one);
    caromi_set_columns(&a, &slot->in[columns], 1);
    caromi_set_columns(&a, slot->out, 3);
    return caromi_launch_search(d, slot, &a, items, err);
}

caromi_stream caromi_list_stream(const caromi_device *d, const caromi_list_part *p, uint64_t count,
                                 const caromi_in_column *in, const caromi_out_column *out)
{
    const caromi_mesh_batch *sweep = &p->batch->sweep;
    return (caromi_stream){.count = count,
                           .chunk = d->gpu ? CAROMI_LIST_QUERIES : d->max_items,
                           .answers_any_count = 1,
                           .in_count = (uint32_t)(sweep->kind->in + 1 + (sweep->mask.base != NULL)),
                           .out_count = 3,
                           .in = in,
                           .out = out,
                           .out_size = {4, 1, 4},
                           .extra = caromi_sort_chunk_bytes(d),
                           .launch = launch_list,
                           .user = p};
}

/* Runs one pass over the part. The first downloads counts and states. The second (fill) writes the hits of queries that
 * have a position, and counts them again. */
static carom_status stream_part(caromi_device *d, caromi_list_part *p, int fill, carom_stats *stats, carom_error *err)
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
    const caromi_stream s = caromi_list_stream(d, p, p->queries, in, out);
    p->fill = fill;
    return caromi_stream_run(d, &s, &done, stats, err);
}

/* The number of hits that fit into a quarter of the device's memory, and into one buffer. */
static uint64_t first_capacity(const caromi_device *d)
{
    const uint64_t by_buffer = d->info.max_allocation / sizeof(mesh_record),
                   by_total = d->info.memory / 4 / sizeof(mesh_record);
    uint64_t capacity = HITS_HELD;
    capacity = capacity < by_buffer || by_buffer == 0 ? capacity : by_buffer; /* 0: the device does not say */
    return capacity < by_total || by_total == 0 ? capacity : by_total;
}

/* Checks the counts of the first pass. Sets `start` to -1 for work-items whose hits did not all fit. */
static carom_status check_counts(const caromi_device *d, caromi_list_part *p, carom_error *err)
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
        next = caromi_end_of_item(p, first);
        if (p->start[first] != (int32_t)(first * CAROMI_INLINE_HITS) || next - first > CAROMI_SHARE_MAX)
            return caromi_fail_corrupt(d, "places of hits", p->first, end, err);
        for (uint64_t i = first; i < next; i++)
            hits += (uint32_t)p->hits[i];
        for (uint64_t i = first; hits > (next - first) * CAROMI_INLINE_HITS && i < next; i++)
            p->start[i] = -1;
    }
    return CAROM_OK;
}

/* Prefix sum: assigns each query the position of its hits, or -1 if the second pass need not write any, as for a
 * decided any-hit query. Queries whose hits do not fit go into the next part. */
static void scan(caromi_list_part *p)
{
    p->found = p->all = 0;
    for (p->queries = 0; p->queries < p->counted; p->queries++) {
        const uint64_t i = p->queries;
        const uint32_t hits = caromi_is_answered(p->batch, p->state[i]) ? 0 : (uint32_t)p->hits[i];
        if (p->all + hits > p->capacity && i > 0)
            break;
        p->all += hits;
        p->from[i] = hits > 0 && p->start[i] < 0 ? (int32_t)p->found : -1;
        p->found += p->start[i] < 0 ? hits : 0;
    }
}

/* Checks that the second pass found as many hits per query as the first; otherwise some records were not written. */
static carom_status check_again(const caromi_device *d, const caromi_list_part *p, carom_error *err)
{
    for (uint64_t i = 0; i < p->queries; i++) {
        if (p->again[i] == MESH_LOOP_TRUNCATED)
            return caromi_fail_truncated(d, p->first, p->first + p->queries, err);
        if (p->again[i] != (p->from[i] < 0 ? 0 : p->hits[i]))
            return caromi_fail_corrupt(d, "numbers of hits", p->first, p->first + p->queries, err);
    }
    return CAROM_OK;
}

static carom_status fetch_hits(caromi_device *d, caromi_list_part *p, carom_stats *stats, carom_error *err)
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

static void release_hits(caromi_list_part *p)
{
    caromi_release_buffer(&p->memory);
    caromi_free(p->context, p->records);
    p->records = NULL;
}

static carom_status try_part(caromi_device *d, caromi_list_part *p, carom_stats *stats, carom_error *err)
{
    scan(p);
    carom_status status = p->found > 0 ? fetch_hits(d, p, stats, err) : CAROM_OK;
    if (status == CAROM_OK)
        status = caromi_add_part(d, p, stats, err);
    release_hits(p);
    return status;
}

/* Writes a part's hits and adds them to the batch. If there is no memory, the limit of hits is halved, down to one
 * query. The counting pass is not repeated. */
static carom_status run_part(caromi_device *d, caromi_list_part *p, carom_stats *stats, carom_error *err)
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
        p->capacity = p->all / 2;
        caromi_log(d->context, CAROM_LOG_INFO, "%s has no memory for %llu hits at a time; trying half", d->info.name,
                   (unsigned long long)p->all);
    }
}

/* Moves on to the next part; the counts of its queries are kept. */
static void go_on(caromi_list_part *p)
{
    p->first += p->queries;
    p->counted -= p->queries;
    p->hits += p->queries;
    p->from += p->queries;
    p->state += p->queries;
    p->start += p->queries;
    p->gone += p->queries;
}

/* Allocates the first pass's buffer for hits. A list works without it, and any-hit queries do not use it. */
static void open_inline_hits(caromi_device *d, caromi_list_part *p)
{
    carom_error why = {CAROM_OK, 0, ""};
    const uint64_t bytes = (uint64_t)CAROMI_INLINE_QUERIES * CAROMI_INLINE_HITS * sizeof(mesh_record);
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

static carom_status map_inline_hits(caromi_device *d, caromi_list_part *p, carom_error *err)
{
    void *written;
    if (p->inline_hits == NULL)
        return CAROM_OK;
    CHECK(caromi_map(d, d->slots[0].queue, p->inline_hits, CL_MAP_READ,
                     p->counted * CAROMI_INLINE_HITS * sizeof *p->written, 1, &written, NULL, "hits", err));
    p->written = written;
    return CAROM_OK;
}

/* Unmaps the buffer and waits, as the device must not write before the unmap has ended. */
static void unmap_inline_hits(caromi_device *d, caromi_list_part *p)
{
    cl_event event = NULL;
    if (p->written != NULL &&
        caromi_unmap(d, d->slots[0].queue, p->inline_hits, p->written, &event, NULL) == CAROM_OK) {
        caromi_wait(event);
        caromi_release_event(event);
    }
    p->written = NULL;
}

/* Runs the first pass over `queries` queries from `first` on. */
static carom_status count_hits(caromi_device *d, caromi_list_part *p, uint64_t first, uint64_t queries,
                               carom_stats *stats, carom_error *err)
{
    unmap_inline_hits(d, p);
    p->capacity = first_capacity(d);
    p->first = first;
    p->gone = 0;
    p->queries = p->counted = queries;
    for (uint64_t i = 0; p->inline_hits != NULL && i < p->counted; i++)
        p->from[i] = (int32_t)(i * CAROMI_INLINE_HITS);
    CHECK(stream_part(d, p, 0, stats, err));
    CHECK(check_counts(d, p, err));
    return map_inline_hits(d, p, err);
}

/* The queries of the next first pass: the next part that this device gets among several, or else from `done` on.
 * Returns their number. */
static uint64_t next_queries(const caromi_list_part *p, uint64_t done, uint64_t end, uint64_t *first)
{
    caromi_sequencer *turns = p->batch->turns;
    const uint64_t most = p->inline_hits != NULL ? CAROMI_INLINE_QUERIES : CAROMI_LIST_QUERIES;
    if (turns != NULL && turns->is_shared)
        return caromi_sequencer_claim(turns, most, first);
    *first = done;
    return end - done < most ? end - done : most;
}

carom_status caromi_stream_list(caromi_device *d, const caromi_list_batch *batch, uint64_t end, uint64_t *done,
                                carom_stats *stats, carom_error *err)
{
    const carom_context *c = d->context;
    caromi_list_part p = {.batch = batch, .context = c};
    CHECK(caromi_upload_mesh(d, batch->sweep.mesh, err));
    if (batch->any != NULL && (!batch->sweep.exact || caromi_is_resident(d, batch->any)))
        return caromi_stream_any(d, &p, end, done, stats, err);
    p.stage_count = STAGES_PER_THREAD * caromi_pool_threads(c->pool);
    CHECK(caromi_stages_create(c, p.stage_count, CAROMI_LIST_QUERIES / p.stage_count + 1, &p.stages, err));
    int32_t *hits = caromi_alloc(c, CAROMI_LIST_QUERIES, sizeof *hits),
            *from = caromi_alloc(c, CAROMI_LIST_QUERIES, sizeof *from);
    int32_t *start = caromi_alloc(c, CAROMI_LIST_QUERIES, sizeof *start);
    uint8_t *state = caromi_alloc(c, CAROMI_LIST_QUERIES, 1);
    p.again = caromi_alloc(c, CAROMI_LIST_QUERIES, sizeof *p.again);
    carom_status status =
        hits != NULL && from != NULL && start != NULL && state != NULL && p.again != NULL
            ? CAROM_OK
            : caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory to stage %d queries", CAROMI_LIST_QUERIES);
    if (status == CAROM_OK)
        status = caromi_open_choosers(d, &p, err);
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
    caromi_close_choosers(&p);
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
