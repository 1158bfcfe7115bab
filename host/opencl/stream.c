/* SPDX-License-Identifier: MIT */
/* Streams columns through a device, chunk by chunk. While one chunk computes, the next one is gathered and uploaded,
 * and the one before is downloaded. Where host and device share memory, contiguous columns are not copied at all. */
#include <stdatomic.h>
#include <string.h>

#include "device.h"

enum {
    SLAB = 1 << 13,         /* rows that a task gathers or scatters; for fewer, waking a thread costs more */
    FEW = 16,               /* most rows of the incomplete group at a batch's end: the largest number of lanes */
    ROWS = 1 << 9,          /* rows of a block, which stay in a core's cache */
    CHUNK_MARKED = 1 << 22, /* most queries of a chunk if only marks cross the bus */
    CHUNK_FLOOR = 1 << 12   /* least queries of a chunk: if there is no memory even for these, the device fails */
};

/* ---------------------------------------------------------------- gather and scatter on all cores */

typedef struct copy_job {
    const caromi_stream *stream;
    caromi_cl_slot *slot;
    uint32_t columns[COLUMNS_MAX], count;
} copy_job;

static void gather_rows(const copy_job *job, uint64_t from, size_t count)
{
    for (uint32_t k = 0; k < job->count; k++) {
        const uint32_t c = job->columns[k];
        float *to = job->slot->in[c].host;
        caromi_gather(to + from, &job->stream->in[c], job->slot->first + from, count);
        if (from + count == job->slot->count) /* pads the last group of lanes with copies of its last row */
            for (uint64_t i = from + count; i < job->slot->padded; i++)
                to[i] = to[from + count - 1];
    }
}

static void scatter_rows(const copy_job *job, uint64_t from, size_t count)
{
    for (uint32_t k = 0; k < job->count; k++) {
        const uint32_t c = job->columns[k];
        const size_t size = job->stream->out_size[c];
        const char *data = job->slot->out[c].host;
        caromi_scatter(&job->stream->out[c], job->slot->first + from, data + from * size, count, size);
    }
}

/* Visits a slab in blocks of rows, all columns of one block before the next: the caller's interleaved records are then
 * read from memory once. */
static void copy_slab(const copy_job *job, uint64_t slab, void (*rows)(const copy_job *, uint64_t, size_t))
{
    const uint64_t left = job->slot->count - slab * SLAB, count = left < SLAB ? left : SLAB;
    for (uint64_t i = 0; i < count; i += ROWS)
        rows(job, slab * SLAB + i, count - i < ROWS ? (size_t)(count - i) : ROWS);
}

static uint64_t slabs_of(const caromi_cl_slot *slot)
{
    return (slot->count + SLAB - 1) / SLAB;
}

static void gather_slab(void *user, uint64_t task, uint32_t thread)
{
    (void)thread;
    copy_slab(user, task, gather_rows);
}

/* ---------------------------------------------------------------- inputs of a chunk */

static int range_overlaps(const char *a, const char *b, size_t bytes)
{
    return a < b + bytes && b < a + bytes;
}

/* Wraps the caller's array as a buffer, if it need not be copied. */
static void try_direct(const caromi_device *d, caromi_cl_slot *slot, int output, uint32_t column, char *base,
                       size_t size)
{
    const size_t bytes = (size_t)slot->padded * size;
    caromi_cl_column *columns = output ? slot->out : slot->in;
    if ((uintptr_t)base % size != 0)
        return;
    columns[column].direct = caromi_wrap_array(d, output ? CL_MEM_WRITE_ONLY : CL_MEM_READ_ONLY, base, bytes);
}

/* Copies the incomplete group at a batch's end, padded to all lanes: creating a buffer with these few rows is faster
 * than commands are. */
static void copy_group(caromi_device *d, const caromi_in_column *from, caromi_cl_slot *slot, uint32_t column)
{
    float rows[FEW];
    caromi_gather(rows, from, slot->first, (size_t)slot->count);
    for (uint64_t i = slot->count; i < slot->padded; i++)
        rows[i] = rows[slot->count - 1];
    (void)caromi_make_buffer(d, "a column", CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, slot->padded * sizeof *rows, rows,
                             &slot->in[column].direct, NULL);
}

/* Prepares an input column. Two buffers must not overlap: an array that occurs twice is one buffer, an overlapping one
 * is copied. */
static void place_input(caromi_device *d, const caromi_stream *s, caromi_cl_slot *slot, uint32_t column)
{
    const caromi_in_column *c = &s->in[column];
    if (d->unified && slot->padded != slot->count && slot->padded <= FEW) {
        copy_group(d, c, slot, column);
        return;
    }
    if (!d->unified || slot->padded != slot->count || c->index.base != NULL || c->stride != sizeof(float))
        return;
    const char *base = (const char *)c->base + slot->first * sizeof(float);
    for (uint32_t i = 0; i < column; i++) {
        const char *other = (const char *)s->in[i].base + slot->first * sizeof(float);
        if (slot->in[i].direct == NULL || !range_overlaps(base, other, slot->padded * sizeof(float)))
            continue;
        if (base == other) {
            slot->in[column].direct = slot->in[i].direct;
            slot->in[column].shared = 1;
        }
        return;
    }
    union {
        const char *given;
        char *read_only; /* const is cast away: the buffer is created read-only */
    } array = {base};
    try_direct(d, slot, 0, column, array.read_only, sizeof(float));
}

static carom_status unmap_input(caromi_device *d, caromi_cl_slot *slot, caromi_cl_column *c, carom_error *err)
{
    cl_event event = NULL;
    void *host = c->host;
    c->host = NULL;
    CHECK(caromi_unmap(d, slot->queue, c->memory, host, &event, err));
    caromi_add_event(&slot->upload, event);
    return CAROM_OK;
}

static carom_status send_inputs(caromi_device *d, const caromi_stream *s, caromi_cl_slot *slot, carom_stats *stats,
                                carom_error *err)
{
    const double start = caromi_now();
    copy_job job = {.stream = s, .slot = slot};
    uint32_t staged = 0, gathers = 0, gathered[COLUMNS_MAX];
    slot->sent.count = 0;
    for (uint32_t i = 0; i < s->in_count; i++) {
        caromi_cl_column *c = &slot->in[i];
        const size_t bytes = (size_t)slot->padded * sizeof(float);
        const int stays = caromi_input_stays(s, i);
        if (stays)
            caromi_place_resident_input(s, slot, i);
        else
            place_input(d, s, slot, i);
        if (c->direct != NULL)
            continue;
        CHECK(caromi_reserve(d, slot, c, bytes, CAROMI_NO_HOST_POINTER, err));
        if (stays) {
            gathered[gathers++] = i;
            continue;
        }
        if (d->unified)
            CHECK(caromi_map(d, slot->queue, c->memory, CL_MAP_WRITE_INVALIDATE_REGION, bytes, 1, &c->host, NULL, NULL,
                             err));
        else
            caromi_block_add(&slot->sent, c, sizeof(float));
        job.columns[staged++] = i;
    }
    CHECK(caromi_gather_residents(d, s, slot, gathered, gathers, err));
    job.count = staged;
    CHECK(caromi_block_place(d, slot, &slot->sent, err));
    if (staged > 0)
        caromi_parallel(d->context->pool, slabs_of(slot), gather_slab, &job);
    for (uint32_t i = 0; d->unified && i < staged; i++)
        CHECK(unmap_input(d, slot, &slot->in[job.columns[i]], err));
    CHECK(caromi_block_send(d, slot, &slot->sent, err));
    stats->host += staged ? caromi_now() - start : 0;
    return CAROM_OK;
}

/* ---------------------------------------------------------------- outputs of a chunk */

static int is_mark(const caromi_stream *s, uint32_t column)
{
    for (uint32_t k = 0; k < s->mark_count; k++)
        if (s->mark[k] == column)
            return 1;
    return 0;
}

/* Whether the host needs an output column of the chunk. */
static int is_fetched(const caromi_stream *s, const caromi_cl_slot *slot, uint32_t column)
{
    return !slot->compacts && (is_mark(s, column) || (!caromi_output_stays(s, column) && s->out[column].base != NULL));
}

static carom_status place_outputs(caromi_device *d, const caromi_stream *s, caromi_cl_slot *slot, carom_error *err)
{
    slot->fetched.count = 0;
    for (uint32_t i = 0; i < s->out_count; i++) {
        const caromi_out_column *c = &s->out[i];
        const uint8_t size = s->out_size[i];
        if (caromi_output_stays(s, i) && is_mark(s, i)) /* is scattered on the device, and downloaded too */
            slot->out[i].direct = NULL;
        else if (caromi_output_stays(s, i))
            caromi_place_resident_output(s, slot, i);
        else if (d->unified && slot->padded == slot->count && c->base != NULL && c->stride == size)
            try_direct(d, slot, 1, i, (char *)c->base + slot->first * size, size);
        if (slot->out[i].direct != NULL)
            continue;
        CHECK(caromi_reserve(d, slot, &slot->out[i], (size_t)slot->padded * size, CAROMI_NO_HOST_POINTER, err));
        if (!d->unified && is_fetched(s, slot, i))
            caromi_block_add(&slot->fetched, &slot->out[i], size);
    }
    return caromi_block_place(d, slot, &slot->fetched, err);
}

/* Unmaps a buffer over a caller's array right after its map: the data stays visible there, and one wait covers both
 * commands. If the mapped address is not known before the map is done (rusticl), unmap_outputs() does it. */
static void unmap_direct(const caromi_device *d, caromi_cl_slot *slot, caromi_cl_column *c)
{
    cl_event event = NULL;
    if (c->direct == NULL || caromi_unmap(d, slot->queue, c->direct, c->host, &event, NULL) != CAROM_OK)
        return;
    c->host = NULL;
    caromi_add_event(&slot->download, event);
}

/* Enqueues the download of the outputs: a map, which makes the kernel's writes visible, or the read of a transfer
 * block. */
static carom_status fetch_outputs(caromi_device *d, const caromi_stream *s, caromi_cl_slot *slot, carom_error *err)
{
    for (uint32_t i = 0; i < s->out_count; i++) {
        caromi_cl_column *c = &slot->out[i];
        const size_t bytes = (size_t)slot->padded * s->out_size[i];
        cl_event event = NULL;
        if (caromi_output_stays(s, i) && c->direct == NULL)
            CHECK(caromi_scatter_resident(d, s, slot, i, err));
        if (!d->unified || !is_fetched(s, slot, i))
            continue;
        CHECK(caromi_map(d, slot->queue, caromi_column_memory(c), CL_MAP_READ, bytes, 0, &c->host, &event, NULL, err));
        caromi_add_event(&slot->download, event);
        unmap_direct(d, slot, c);
    }
    return caromi_block_fetch(d, slot, &slot->fetched, err);
}

static carom_status start_chunk(caromi_device *d, const caromi_stream *s, caromi_cl_slot *slot, carom_stats *stats,
                                carom_error *err)
{
    carom_status status = send_inputs(d, s, slot, stats, err);
    if (status == CAROM_OK)
        slot->compacts = s->compacts != NULL && s->compacts(d, s, slot);
    if (status == CAROM_OK)
        status = place_outputs(d, s, slot, err);
    if (status == CAROM_OK)
        status = s->launch(d, slot, s->user, err);
    if (status == CAROM_OK)
        status = slot->compacts ? s->fetch(d, s, slot, err) : fetch_outputs(d, s, slot, err);
    return status == CAROM_OK ? caromi_flush(d, slot->queue, err) : status;
}

/* Waits for all commands of a chunk. The queue is in order, so it waits for the last command first: the thread wakes
 * once instead of once per command. */
static carom_status await(const caromi_device *d, const caromi_cl_slot *slot, carom_error *err)
{
    const caromi_cl_events *const groups[] = {&slot->download, &slot->compute, &slot->upload};
    cl_event last_first[3 * CAROMI_EVENTS_MAX];
    uint32_t count = 0;
    for (size_t g = 0; g < sizeof groups / sizeof groups[0]; g++)
        for (uint32_t i = groups[g]->count; i > 0; i--)
            last_first[count++] = groups[g]->event[i - 1];
    return count > 0 ? caromi_check_events(d, last_first, count, err) : CAROM_OK;
}

static void add_times(const caromi_device *d, const caromi_cl_slot *slot, carom_stats *stats)
{
    if (!d->timed)
        return;
    caromi_add_durations(slot->upload.event, slot->upload.count, &stats->upload);
    caromi_add_durations(slot->compute.event, slot->compute.count, &stats->compute);
    caromi_add_durations(slot->download.event, slot->download.count, &stats->download);
}

/* The host's address of an output column of a finished chunk. */
static const char *arrived(const caromi_stream *s, const caromi_cl_slot *slot, uint32_t column)
{
    return slot->out[column].direct ? (const char *)s->out[column].base + slot->first * s->out_size[column]
                                    : (const char *)slot->out[column].host;
}

/* The host's work on a downloaded chunk, slab by slab: it checks the rows, scatters staged columns, and decides
 * undecided rows in integers. All threads do that in one pass, as rows come from memory, while the device works on the
 * next chunk. */
typedef struct arrival {
    copy_job copy;
    const caromi_device *device;
    atomic_uint_fast64_t resolved;
    atomic_int refused;
    uint32_t *undecided; /* list of undecided rows, if columns stay on the device; NULL: they are decided at once */
    atomic_uint undecided_count;
} arrival;

static carom_status check_rows(const arrival *a, uint64_t from, uint64_t count, carom_error *err)
{
    const caromi_stream *s = a->copy.stream;
    const caromi_cl_slot *slot = a->copy.slot;
    const size_t size = s->out_size[s->mark[0]];
    return s->check(a->device, s->user, arrived(s, slot, s->mark[0]) + from * size, size, count, slot->first,
                    slot->first + slot->count, err);
}

static void resolve_rows(arrival *a, uint64_t from, size_t count)
{
    const caromi_stream *s = a->copy.stream;
    const void *marks[3] = {NULL, NULL, NULL};
    uint32_t rows[SLAB];
    for (uint32_t k = 0; k < s->mark_count; k++)
        if (s->mark[k] != CAROMI_NO_MARK)
            marks[k] = arrived(s, a->copy.slot, s->mark[k]) + from * s->out_size[s->mark[k]];
    if (a->undecided == NULL) {
        atomic_fetch_add(&a->resolved, s->resolve(s->user, marks, NULL, a->copy.slot->first + from, count));
        return;
    }
    const uint32_t found = s->undecided->list(s->user, marks, (uint32_t)count, rows);
    const uint32_t at = atomic_fetch_add(&a->undecided_count, found);
    for (uint32_t i = 0; i < found; i++)
        a->undecided[at + i] = (uint32_t)from + rows[i];
}

static void process_slab(void *user, uint64_t slab, uint32_t thread)
{
    arrival *a = user;
    const caromi_stream *s = a->copy.stream;
    const uint64_t from = slab * SLAB, left = a->copy.slot->count - from, count = left < SLAB ? left : SLAB;
    (void)thread;
    if (s->check != NULL && check_rows(a, from, count, NULL) != CAROM_OK) {
        atomic_store(&a->refused, 1);
        return; /* impossible numbers would lead outside the arrays */
    }
    copy_slab(&a->copy, slab, scatter_rows);
    if (s->resolve != NULL || a->undecided != NULL)
        resolve_rows(a, from, (size_t)count);
}

/* Runs the host's work on a chunk. undecided: receives the list of undecided rows, *count of them; NULL: they are
 * decided at once. */
static carom_status process_rows(caromi_device *d, const caromi_stream *s, caromi_cl_slot *slot, uint32_t *undecided,
                                 uint32_t *count, carom_stats *stats, carom_error *err)
{
    const double start = caromi_now();
    arrival a = {.copy = {.stream = s, .slot = slot}, .device = d, .undecided = undecided};
    for (uint32_t i = 0; i < s->out_count; i++)
        if (s->out[i].base != NULL && slot->out[i].direct == NULL && !caromi_output_stays(s, i))
            a.copy.columns[a.copy.count++] = i;
    if (a.copy.count == 0 && s->check == NULL && s->resolve == NULL && undecided == NULL)
        return CAROM_OK;
    caromi_parallel(d->context->pool, slabs_of(slot), process_slab, &a);
    stats->by_integers += a.resolved;
    *count = a.undecided_count;
    stats->host += caromi_now() - start;
    return a.refused ? check_rows(&a, 0, slot->count, err) : CAROM_OK;
}

/* Unmaps columns that are still mapped: the caller's arrays must be unmapped before the call returns. */
static carom_status unmap_outputs(caromi_device *d, const caromi_stream *s, caromi_cl_slot *slot, carom_error *err)
{
    int late = 0;
    for (uint32_t i = 0; d->unified && i < s->out_count; i++) {
        caromi_cl_column *c = &slot->out[i];
        if (c->host == NULL)
            continue;
        void *host = c->host;
        c->host = NULL;
        late |= c->direct != NULL;
        CHECK(caromi_unmap(d, slot->queue, caromi_column_memory(c), host, NULL, err));
    }
    return late ? caromi_finish(d, slot->queue, err) : CAROM_OK;
}

/* Delivers a chunk whose columns are downloaded. */
static carom_status scatter_columns(caromi_device *d, const caromi_stream *s, caromi_cl_slot *slot, carom_stats *stats,
                                    carom_error *err)
{
    const int lists = s->residents != NULL && s->undecided != NULL;
    uint32_t *undecided = lists ? caromi_alloc(d->context, slot->count, sizeof *undecided) : NULL, count = 0;
    if (lists && undecided == NULL)
        return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory to list %llu undecided queries",
                           (unsigned long long)slot->count);
    carom_status status = process_rows(d, s, slot, undecided, &count, stats, err);
    if (status == CAROM_OK)
        status = unmap_outputs(d, s, slot, err);
    if (status == CAROM_OK && count > 0)
        status = caromi_answer_undecided(d, s, slot, undecided, count, stats, err);
    caromi_free(d->context, undecided);
    return status;
}

/* Waits for the chunk and delivers it. */
static carom_status finish_chunk(caromi_device *d, const caromi_stream *s, caromi_cl_slot *slot, carom_stats *stats,
                                 carom_error *err)
{
    carom_status status = await(d, slot, err);
    if (status == CAROM_OK)
        add_times(d, slot, stats);
    if (status == CAROM_OK && slot->compacts)
        status = s->scatter(d, s, slot, stats, err);
    else if (status == CAROM_OK)
        status = scatter_columns(d, s, slot, stats, err);
    if (status == CAROM_OK)
        caromi_slot_retire(slot);
    return status;
}

/* ---------------------------------------------------------------- the whole stream */

/* Sets the slot to the chunk at `first`. If kernels need whole groups of lanes, the incomplete group at the batch's end
 * is a small chunk of its own, so that all other columns can be used in place. */
static void cut_chunk(const caromi_device *d, const caromi_stream *s, uint64_t first, uint64_t chunk,
                      caromi_cl_slot *slot)
{
    const uint64_t left = s->count - first, n = left < chunk ? left : chunk,
                   lanes = s->answers_any_count ? 1 : d->lanes;
    slot->first = first;
    slot->count = d->unified && n >= lanes ? n - n % lanes : n;
    slot->padded = (slot->count + lanes - 1) / lanes * lanes;
}

/* Ends a stream after a failure: delivers earlier chunks, discards the failed one and all later ones. No command may
 * still run when the CPU continues in the caller's arrays. clFinish alone does not ensure that: in rusticl (Mesa 22.3)
 * it does not wait for commands that clFlush sent before. */
static void abandon(caromi_device *d, const caromi_stream *s, caromi_cl_slot *failed, uint64_t *done,
                    carom_stats *stats)
{
    for (int i = 0; i < CAROMI_SLOTS; i++) {
        caromi_cl_slot *slot = &d->slots[i];
        const uint64_t count = slot->count;
        if (slot != failed && count > 0 && slot->first == *done && finish_chunk(d, s, slot, stats, NULL) == CAROM_OK)
            *done += count;
    }
    for (int i = 0; i < CAROMI_SLOTS; i++) {
        (void)await(d, &d->slots[i], NULL);
        (void)caromi_finish(d, d->slots[i].queue, NULL);
    }
    caromi_columns_release(d);
}

static carom_status run_chunks(caromi_device *d, const caromi_stream *s, uint64_t chunk, uint64_t *done,
                               carom_stats *stats, carom_error *err)
{
    uint64_t next = *done;
    carom_status status = CAROM_OK;
    for (uint32_t turn = 0; status == CAROM_OK && *done < s->count; turn = (turn + 1) % CAROMI_SLOTS) {
        caromi_cl_slot *slot = &d->slots[turn];
        if (slot->count > 0) {
            const uint64_t count = slot->count;
            status = finish_chunk(d, s, slot, stats, err);
            *done += status == CAROM_OK ? count : 0;
        }
        if (status == CAROM_OK && next < s->count) {
            cut_chunk(d, s, next, chunk, slot);
            next += slot->count;
            status = start_chunk(d, s, slot, stats, err);
        }
        if (status != CAROM_OK)
            abandon(d, s, slot, done, stats);
    }
    return status;
}

/* The bytes of a query on the device; *most: its bytes in the largest buffer. Discrete devices have a transfer block
 * each way too. */
static uint64_t bytes_of_query(const caromi_device *d, const caromi_stream *s, uint64_t *most)
{
    const uint64_t in = s->in_count * sizeof(float);
    uint64_t out = 0;
    for (uint32_t i = 0; i < s->out_count; i++)
        out += s->out_size[i];
    *most = d->unified ? sizeof(float) : in > out ? in : out;
    return (in + out) * (d->unified ? 1 : 2) + s->extra;
}

/* The size of chunks: no buffer exceeds the device's limit, and both slots fit into a quarter of its memory. */
static uint64_t first_chunk(const caromi_device *d, const caromi_stream *s)
{
    const uint64_t cached = 1u << 16; /* chunks of a CPU device, small enough that staging copies stay in its caches */
    uint64_t most, chunk = s->chunk;
    const uint64_t bytes = bytes_of_query(d, s, &most);
    for (uint32_t i = 0; d->unified && i < s->in_count; i++)
        if ((s->in[i].index.base != NULL || s->in[i].stride > sizeof(float)) && chunk > cached)
            chunk = cached;
    const uint64_t buffer = d->info.max_allocation / most, line = buffer > CAROMI_BLOCK_LINE ? CAROMI_BLOCK_LINE : 1;
    const uint64_t by_buffer = buffer - buffer % line, by_total = d->info.memory / 4 / (CAROMI_SLOTS * bytes);
    chunk = chunk < s->count ? chunk : s->count;
    chunk = chunk < by_buffer || by_buffer == 0 ? chunk : by_buffer; /* 0: the device does not say */
    chunk = chunk < by_total || by_total == 0 ? chunk : by_total;
    const uint32_t wanted = d->probing ? 0 : d->context->desc.device_chunk;
    chunk = wanted != 0 && wanted < chunk ? wanted : chunk;
    return chunk > d->lanes && chunk < s->count ? chunk - chunk % d->lanes : chunk;
}

static carom_status run_all(caromi_device *d, const caromi_stream *s, uint64_t *done, carom_stats *stats,
                            carom_error *err)
{
    for (uint64_t chunk = first_chunk(d, s);; chunk /= 2) {
        carom_error why = {CAROM_OK, 0, ""};
        const carom_status status = run_chunks(d, s, chunk, done, stats, &why);
        if (status != CAROM_ERROR_OUT_OF_MEMORY || chunk / 2 < CHUNK_FLOOR) {
            if (status != CAROM_OK && err != NULL)
                *err = why;
            return status;
        }
        caromi_log(d->context, CAROM_LOG_INFO, "%s has no memory for %llu queries at a time; trying half", d->info.name,
                   (unsigned long long)chunk);
    }
}

/* Triangles that stay on the device are not checked, as the host would have to download them. Unwanted triangles are
 * not checked either if all answers stay. */
carom_status caromi_stream_run(caromi_device *d, const caromi_stream *stream, uint64_t *done, carom_stats *stats,
                               carom_error *err)
{
    caromi_residents residents;
    if (*done >= stream->count) /* only prepares: builds and allocates */
        return caromi_prepare_residents(d, stream, err);
    if (!caromi_find_residents(d, stream, &residents))
        return run_all(d, stream, done, stats, err);
    caromi_stream own = *stream;
    own.residents = &residents;
    assert(own.compacts == NULL); /* with compaction no column stays on the device */
    own.resolve = NULL;           /* would need the inputs on the host */
    if (own.check != NULL &&
        (caromi_output_stays(&own, own.mark[0]) || (own.out[own.mark[0]].base == NULL && caromi_answers_stay(&own)))) {
        own.check = NULL;
        own.mark[0] = CAROMI_NO_MARK;
    }
    /* Chunks are short so that transfers overlap with kernels. Without transfers, a chunk is as large as a launch may
     * be. */
    if (d->gpu && caromi_inputs_stay(&own) && caromi_answers_stay(&own))
        own.chunk = own.undecided == NULL || d->max_items < CHUNK_MARKED ? d->max_items : CHUNK_MARKED;
    return run_all(d, &own, done, stats, err);
}
