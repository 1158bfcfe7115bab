/* SPDX-License-Identifier: MIT */
/* All hits on a mesh by a device: hits are counted, the counts added up, and the hits filled in, part after part of the batch.
 * Where memory is shared, so that nothing has to be fetched, the first pass already writes the first few hits of each query:
 * those that have no more are not searched for again. */
#include <stdatomic.h>
#include <string.h>

#include "cl_device.h"
#include "mesh_list.h"

enum {
    QUERIES = 1 << 18,            /* counted at a time; */
    FEW_QUERIES = (1 << 16) - 64, /* or so many, a launch of a CPU device, with room for */
    FEW_HITS = 16,                /* hits of each, 16 MiB in all */
    STAGES_PER_THREAD = 4,
    HITS_HELD = 1 << 23 /* of a part, unless the device or what is free of its memory is too small */
};

typedef struct list_part {
    const caromi_list_batch *batch;
    uint64_t first, queries;
    uint64_t counted;     /* queries from the first on; the part has as many of them as there is room for their hits */
    int32_t *hits, *from; /* [counted] how many, and where they begin */
    int32_t *again;       /* [queries] how many the second pass has found */
    uint8_t *state;       /* [counted] */
    uint64_t room;        /* for hits; those of one query are taken whatever it is */
    uint64_t all;         /* hits of the part, */
    uint64_t found;       /* and of these what is searched for again */
    mesh_record *records; /* [found] */
    cl_mem memory;        /* for them */
    cl_mem few;           /* [FEW_QUERIES][FEW_HITS] what the first pass writes; NULL: it only counts */
    const mesh_record *mapped, *written; /* the same for the host, and from the part's first query on */
    int fill;
    atomic_int strange;   /* hits that cannot be */
    caromi_stage *stages; /* the threads put hits in order in so many pieces */
    uint32_t stage_count;
    const carom_context *context;
} list_part;

uint32_t caromi_list_program(const caromi_list_batch *batch)
{
    const uint32_t exact = (uint32_t)batch->sweep.exact;
    const uint32_t search =
        batch->search == CAROMI_MESH_OVERLAPS ? CAROMI_PROGRAM_MESH_OVERLAPS : CAROMI_PROGRAM_MESH_LIST;
    return caromi_program_for(search + exact, batch->sweep.options);
}

static carom_status launch_list(caromi_device *d, caromi_cl_slot *slot, const void *user, carom_error *err)
{
    const list_part *p = user;
    const caromi_mesh_batch *sweep = &p->batch->sweep;
    const cl_kernel kernel = d->programs[caromi_list_program(p->batch)].kernel;
    const cl_uint found = p->fill ? (cl_uint)p->found : p->few != NULL ? FEW_QUERIES * FEW_HITS : 0;
    const cl_uint most = p->fill ? UINT32_MAX : FEW_HITS;
    const cl_mem *memory = p->fill ? &p->memory : &p->few;
    const int one = p->batch->any != NULL;
    cl_uint next = 0;
    uint64_t items;
    /* What fills up the last vector has no place of its own for its hits. */
    cl_int code = caromi_set_question(d, slot, kernel, &next, sweep->mesh, sweep->options, slot->count, CAROMI_MESH_IN,
                                      CAROMI_MESH_IN + 1, &items);
    if (code == CL_SUCCESS) /* where hits are only counted none is written: any buffer will do */
        code = *memory != NULL ? clSetKernelArg(kernel, next++, sizeof *memory, memory)
                               : caromi_set_columns(kernel, &next, slot->out, 1);
    if (code == CL_SUCCESS)
        code = clSetKernelArg(kernel, next++, sizeof found, &found);
    if (code == CL_SUCCESS)
        code = clSetKernelArg(kernel, next++, sizeof most, &most);
    if (code == CL_SUCCESS)
        code = clSetKernelArg(kernel, next++, sizeof one, &one);
    if (code == CL_SUCCESS)
        code = caromi_set_columns(kernel, &next, &slot->in[CAROMI_MESH_IN], 1);
    if (code == CL_SUCCESS)
        code = caromi_set_columns(kernel, &next, slot->out, 2);
    if (code != CL_SUCCESS)
        return caromi_cl_fail(d, code, "clSetKernelArg", err);
    return caromi_enqueue_search(d, slot, kernel, next, items, err);
}

static caromi_in_column column_from(const caromi_in_column *column, uint64_t first)
{
    return (caromi_in_column){(const char *)column->base + first * column->stride, column->stride, NULL};
}

/* One pass over the part: counts and states are fetched by the first; all hits of those that have a place are written by the
 * second, which tells how many again. */
static carom_status stream_part(caromi_device *d, list_part *p, int fill, carom_stats *stats, carom_error *err)
{
    static const float none = 0;
    const caromi_mesh_batch *sweep = &p->batch->sweep;
    const int masks = sweep->mask.base != NULL, places = fill || p->few != NULL;
    caromi_in_column in[CAROMI_MESH_IN + 2];
    const caromi_out_column out[2] = {{fill ? p->again : p->hits, sizeof *p->hits}, {fill ? NULL : p->state, 1}};
    uint64_t done = 0;
    for (int c = 0; c < CAROMI_MESH_IN; c++)
        in[c] = column_from(&sweep->in[c], p->first);
    in[CAROMI_MESH_IN] =
        places ? (caromi_in_column){p->from, sizeof *p->from, NULL} : (caromi_in_column){&none, 0, NULL};
    if (masks)
        in[CAROMI_MESH_IN + 1] = column_from(&sweep->mask, p->first);
    const caromi_stream s = {.count = p->queries,
                             .chunk = d->gpu ? QUERIES : d->max_items,
                             .in_count = (uint32_t)(CAROMI_MESH_IN + 1 + masks),
                             .out_count = 2,
                             .in = in,
                             .out = out,
                             .out_size = {4, 1},
                             .mesh = sweep->mesh,
                             .launch = launch_list,
                             .user = p};
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

/* Whether the first pass has written all hits of a query. */
static int is_written(const list_part *p, uint64_t i)
{
    return p->hits[i] <= (p->written != NULL ? FEW_HITS : 0);
}

/* Where the hits of each query go; -1 if none are to be written, as of a query whose answer is known already. Those for
 * which there is no room wait for the next part. */
static carom_status scan(const caromi_device *d, list_part *p, carom_error *err)
{
    p->found = p->all = 0;
    for (p->queries = 0; p->queries < p->counted; p->queries++) {
        const uint64_t i = p->queries;
        if (p->hits[i] == MESH_CUT)
            return caromi_fail_cut(d, p->first, p->first + p->counted, err);
        if ((uint32_t)p->hits[i] > p->batch->sweep.mesh->info.triangle_count)
            return caromi_fail_strange(d, "numbers of hits", p->first, p->first + p->counted, err);
        if (caromi_is_answered(p->batch, p->state[i]))
            p->hits[i] = 0;
        const uint32_t missing = is_written(p, i) ? 0 : (uint32_t)p->hits[i];
        if (p->all + (uint32_t)p->hits[i] > p->room && i > 0)
            break;
        p->all += (uint32_t)p->hits[i];
        p->from[i] = missing > 0 ? (int32_t)p->found : -1;
        p->found += missing;
    }
    return CAROM_OK;
}

/* What the second pass has not found it has not written. */
static carom_status check_again(const caromi_device *d, const list_part *p, carom_error *err)
{
    for (uint64_t i = 0; i < p->queries; i++) {
        if (p->again[i] == MESH_CUT)
            return caromi_fail_cut(d, p->first, p->first + p->queries, err);
        if (p->again[i] != (p->from[i] < 0 ? 0 : p->hits[i]))
            return caromi_fail_strange(d, "numbers of hits", p->first, p->first + p->queries, err);
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
    const cl_int code = clEnqueueReadBuffer(d->slots[0].queue, p->memory, CL_TRUE, 0, bytes, p->records, 0, NULL, NULL);
    stats->download += caromi_now() - start;
    return code == CL_SUCCESS ? CAROM_OK : caromi_cl_fail(d, code, "clEnqueueReadBuffer (hits)", err);
}

static int are_strange(const list_part *p, const mesh_record *records, uint32_t count)
{
    uint32_t strange = 0;
    for (uint32_t i = 0; i < count; i++)
        strange |= (uint32_t)records[i].triangle >= p->batch->sweep.mesh->info.triangle_count;
    return strange != 0;
}

static void take_stage(void *user, uint64_t task, uint32_t thread)
{
    list_part *p = user;
    caromi_stage *s = &p->stages[task];
    (void)thread;
    s->count = s->total = 0;
    s->full = 0;
    for (uint32_t row = 0; !s->full && row < s->queries; row++) {
        const uint64_t i = s->first - p->first + row;
        const uint32_t hits = (uint32_t)p->hits[i];
        const mesh_record *records = NULL;
        if (hits > 0)
            records = is_written(p, i) ? p->written + i * FEW_HITS : p->records + p->from[i];
        if (are_strange(p, records, hits)) {
            atomic_store(&p->strange, 1);
            return;
        }
        s->full = !caromi_stage_take(p->context, p->batch, s, row, p->state[i], records, hits);
    }
}

static carom_status take_part(const caromi_device *d, list_part *p, carom_stats *stats, carom_error *err)
{
    const double start = caromi_now();
    for (uint64_t i = 0; i < p->stage_count; i++) {
        p->stages[i].first = p->first + caromi_slice_start(p->queries, p->stage_count, i);
        p->stages[i].queries =
            (uint32_t)(p->first + caromi_slice_start(p->queries, p->stage_count, i + 1) - p->stages[i].first);
    }
    atomic_store(&p->strange, 0);
    caromi_parallel(p->context->pool, p->stage_count, take_stage, p);
    if (atomic_load(&p->strange))
        return caromi_fail_strange(d, "triangles", p->first, p->first + p->queries, err);
    for (uint32_t i = 0; i < p->stage_count; i++)
        if (p->stages[i].full)
            return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory for %llu hits",
                               (unsigned long long)p->all);
    const carom_status status = caromi_stages_deliver(p->context, p->batch, p->stages, p->stage_count, stats, err);
    stats->compute += caromi_now() - start;
    return status;
}

static void release_hits(list_part *p)
{
    if (p->memory != NULL)
        (void)clReleaseMemObject(p->memory);
    caromi_free(p->context, p->records);
    p->memory = NULL;
    p->records = NULL;
}

static carom_status try_part(caromi_device *d, list_part *p, carom_stats *stats, carom_error *err)
{
    carom_status status = scan(d, p, err);
    if (status == CAROM_OK && p->found > 0)
        status = fetch_hits(d, p, stats, err);
    if (status == CAROM_OK)
        status = take_part(d, p, stats, err);
    release_hits(p);
    return status;
}

/* Where memory is short a part has half the hits, down to those of one query. Nobody is counted again for that. */
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

/* The queries that follow, and what is known of them. */
static void go_on(list_part *p)
{
    p->first += p->queries;
    p->counted -= p->queries;
    p->hits += p->queries;
    p->from += p->queries;
    p->state += p->queries;
    p->written += p->written != NULL ? p->queries * FEW_HITS : 0;
}

/* Memory for what the first pass writes. A list can do without; whether there is any hit at all it tells without one. */
static void open_few(caromi_device *d, list_part *p)
{
    carom_error why = {CAROM_OK, 0, ""};
    const uint64_t bytes = (uint64_t)FEW_QUERIES * FEW_HITS * sizeof(mesh_record);
    if (!d->unified || p->batch->any != NULL)
        return;
    if (d->few_hits == NULL &&
        caromi_make_buffer(d, "the first hits of each query", CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, NULL,
                           &d->few_hits, &why) != CAROM_OK)
        caromi_log(d->context, CAROM_LOG_INFO, "hits are counted before any is written: %s", why.message);
    p->few = d->few_hits;
}

void caromi_few_hits_release(caromi_device *d)
{
    if (d->few_hits != NULL)
        (void)clReleaseMemObject(d->few_hits);
    d->few_hits = NULL;
}

static carom_status map_few(caromi_device *d, list_part *p, carom_error *err)
{
    cl_int code = CL_SUCCESS;
    if (p->few != NULL)
        p->mapped = clEnqueueMapBuffer(d->slots[0].queue, p->few, CL_TRUE, CL_MAP_READ, 0,
                                       p->counted * FEW_HITS * sizeof *p->mapped, 0, NULL, NULL, &code);
    p->written = p->mapped;
    return code == CL_SUCCESS ? CAROM_OK : caromi_cl_fail(d, code, "clEnqueueMapBuffer (hits)", err);
}

/* Nothing is written there before it has ended. */
static void unmap_few(caromi_device *d, list_part *p)
{
    cl_event event = NULL;
    if (p->mapped != NULL && clEnqueueUnmapMemObject(d->slots[0].queue, p->few, (void *)(uintptr_t)p->mapped, 0, NULL,
                                                     &event) == CL_SUCCESS) {
        (void)clWaitForEvents(1, &event);
        (void)clReleaseEvent(event);
    }
    p->mapped = p->written = NULL;
}

/* The first pass over the queries from `first` on. */
static carom_status count_hits(caromi_device *d, list_part *p, uint64_t first, uint64_t end, carom_stats *stats,
                               carom_error *err)
{
    const uint64_t most = p->few != NULL ? FEW_QUERIES : QUERIES;
    unmap_few(d, p);
    p->room = first_room(d);
    p->first = first;
    p->queries = p->counted = end - first < most ? end - first : most;
    for (uint64_t i = 0; p->few != NULL && i < p->counted; i++)
        p->from[i] = (int32_t)(i * FEW_HITS);
    CHECK(stream_part(d, p, 0, stats, err));
    return map_few(d, p, err);
}

carom_status caromi_stream_list(caromi_device *d, const caromi_list_batch *batch, uint64_t end, uint64_t *done,
                                carom_stats *stats, carom_error *err)
{
    const carom_context *c = d->context;
    list_part p = {.batch = batch, .context = c};
    CHECK(caromi_upload_mesh(d, batch->sweep.mesh, err));
    p.stage_count = STAGES_PER_THREAD * caromi_pool_threads(c->pool);
    CHECK(caromi_stages_create(c, p.stage_count, QUERIES / p.stage_count + 1, &p.stages, err));
    int32_t *hits = caromi_alloc(c, QUERIES, sizeof *hits), *from = caromi_alloc(c, QUERIES, sizeof *from);
    uint8_t *state = caromi_alloc(c, QUERIES, 1);
    p.again = caromi_alloc(c, QUERIES, sizeof *p.again);
    carom_status status =
        hits != NULL && from != NULL && state != NULL && p.again != NULL
            ? CAROM_OK
            : caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory to stage %d queries", QUERIES);
    if (status == CAROM_OK)
        open_few(d, &p);
    while (status == CAROM_OK && *done < end) {
        if (p.counted == 0) {
            p.hits = hits;
            p.from = from;
            p.state = state;
            status = count_hits(d, &p, *done, end, stats, err);
        }
        if (status == CAROM_OK)
            status = run_part(d, &p, stats, err);
        *done += status == CAROM_OK ? p.queries : 0;
        go_on(&p);
    }
    unmap_few(d, &p);
    caromi_free(c, hits);
    caromi_free(c, from);
    caromi_free(c, p.again);
    caromi_free(c, state);
    caromi_stages_destroy(c, p.stages, p.stage_count);
    return status;
}

carom_status caromi_device_list(caromi_device *d, const void *list_batch, uint64_t end, uint64_t *done,
                                carom_stats *stats, carom_error *err)
{
    const caromi_list_batch *batch = list_batch;
    if (batch->sweep.exact && !d->info.fp64)
        return caromi_lacks_fp64(d, stats);
    const uint64_t mode = caromi_float_mode_set();
    caromi_fit_stack(d, batch->sweep.mesh);
    carom_status status = caromi_probe_list(d, batch, err);
    if (status == CAROM_OK)
        status = caromi_stream_list(d, batch, end, done, stats, err);
    caromi_float_mode_restore(mode);
    return status;
}
