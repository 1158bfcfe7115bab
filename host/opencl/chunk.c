/* SPDX-License-Identifier: MIT */
/* A chunk of a stream: gathers and sends its inputs, enqueues its kernels, fetches and scatters its outputs. Where host
 * and device share memory, contiguous columns are not copied at all. */
#include <stdatomic.h>
#include <string.h>

#include "device.h"
#include "enqueue.h"
#include "host/core/buffer.h"
#include "host/core/staging.h"

enum {
    SLAB = 1 << 13,  /* rows that a task gathers or scatters; for fewer, waking a thread costs more */
    GROUP_MOST = 16, /* most rows of the incomplete group at a batch's end: the largest number of lanes */
    ROWS = 1 << 9    /* rows of a block, which stay in a core's cache */
};

/* ---------------------------------------------------------------- gather and scatter on all cores */

/* Columns of a chunk that the host gathers or scatters. */
typedef struct copy_job {
    const caromi_stream *stream;
    caromi_cl_slot *slot;
    uint32_t columns[COLUMNS_MAX], count;
} copy_job;

/* Gathers some rows of all staged inputs, from the caller's arrays to the slot. */
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

/* Scatters some rows of all staged outputs, from the slot to the caller's arrays. */
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

/* Task: gathers a slab. */
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

enum { DIRECT_INPUT, DIRECT_OUTPUT };
/* Wraps the caller's array as a buffer, if it need not be copied. */
static void try_direct(const caromi_device *device, caromi_cl_slot *slot, int is_output, uint32_t column, char *base,
                       size_t size)
{
    const size_t bytes = (size_t)slot->padded * size;
    caromi_cl_column *columns = is_output ? slot->out : slot->in;
    if ((uintptr_t)base % size != 0)
        return;
    columns[column].direct = caromi_wrap_array(device, is_output ? CL_MEM_WRITE_ONLY : CL_MEM_READ_ONLY, base, bytes);
}

/* Copies the incomplete group at a batch's end, padded to all lanes: creating a buffer with these few rows is faster
 * than commands are. */
static void copy_group(caromi_device *device, const caromi_in_column *from, caromi_cl_slot *slot, uint32_t column)
{
    float rows[GROUP_MOST];
    caromi_gather(rows, from, slot->first, (size_t)slot->count);
    for (uint64_t i = slot->count; i < slot->padded; i++)
        rows[i] = rows[slot->count - 1];
    (void)caromi_make_buffer(device, "a column", CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, slot->padded * sizeof *rows,
                             rows, &slot->in[column].direct, NULL);
}

/* Prepares an input column. Two buffers must not overlap: an array that occurs twice is one buffer, an overlapping one
 * is copied. */
static void place_input(caromi_device *device, const caromi_stream *stream, caromi_cl_slot *slot, uint32_t column)
{
    const caromi_in_column *c = &stream->in[column];
    if (device->unified && slot->padded != slot->count && slot->padded <= GROUP_MOST) {
        copy_group(device, c, slot, column);
        return;
    }
    if (!device->unified || slot->padded != slot->count || c->index.base != NULL || c->stride != sizeof(float))
        return;
    const char *base = (const char *)c->base + slot->first * sizeof(float);
    for (uint32_t i = 0; i < column; i++) {
        const char *other = (const char *)stream->in[i].base + slot->first * sizeof(float);
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
    try_direct(device, slot, DIRECT_INPUT, column, array.read_only, sizeof(float));
}

/* Unmaps a column that the host has filled. */
static carom_status unmap_input(caromi_device *device, caromi_cl_slot *slot, caromi_cl_column *column, carom_error *err)
{
    cl_event event = NULL;
    void *host = column->host;
    column->host = NULL;
    CHECK(caromi_unmap(device, slot->queue, column->memory, host, &event, err));
    caromi_add_event(&slot->upload, event);
    return CAROM_OK;
}

/* Gathers and uploads the inputs of a chunk. */
static carom_status send_inputs(caromi_device *device, const caromi_stream *stream, caromi_cl_slot *slot,
                                carom_stats *stats, carom_error *err)
{
    const double start = caromi_now();
    copy_job job = {.stream = stream, .slot = slot};
    uint32_t staged = 0, gathers = 0, gathered[COLUMNS_MAX];
    slot->sent.count = 0;
    /* Where each column comes from: used in place, gathered on the device, or staged by the host. */
    for (uint32_t i = 0; i < stream->in_count; i++) {
        caromi_cl_column *column = &slot->in[i];
        const size_t bytes = (size_t)slot->padded * sizeof(float);
        const int stays = caromi_input_stays(stream, i);
        if (stays)
            caromi_place_resident_input(stream, slot, i);
        else
            place_input(device, stream, slot, i);
        if (column->direct != NULL)
            continue;
        CHECK(caromi_reserve(device, slot, column, bytes, CAROMI_NO_HOST_POINTER, err));
        if (stays) {
            gathered[gathers++] = i;
            continue;
        }
        if (device->unified)
            CHECK(caromi_map(device, slot->queue, column->memory, CL_MAP_WRITE_INVALIDATE_REGION, bytes, CAROMI_WAIT,
                             &column->host, NULL, NULL, err));
        else
            caromi_block_add(&slot->sent, column, sizeof(float));
        job.columns[staged++] = i;
    }
    CHECK(caromi_gather_residents(device, stream, slot, gathered, gathers, err));
    /* The host gathers staged columns on all threads, then sends them. */
    job.count = staged;
    CHECK(caromi_block_place(device, slot, &slot->sent, err));
    if (staged > 0)
        caromi_parallel(device->context->pool, slabs_of(slot), gather_slab, &job);
    for (uint32_t i = 0; device->unified && i < staged; i++)
        CHECK(unmap_input(device, slot, &slot->in[job.columns[i]], err));
    CHECK(caromi_block_send(device, slot, &slot->sent, err));
    stats->host += staged ? caromi_now() - start : 0;
    return CAROM_OK;
}

/* ---------------------------------------------------------------- outputs of a chunk */

/* Whether an output column is a mark. */
static int is_mark(const caromi_stream *stream, uint32_t column)
{
    for (uint32_t k = 0; k < stream->mark_count; k++)
        if (stream->mark[k] == column)
            return 1;
    return 0;
}

/* Whether the host needs an output column of the chunk. */
static int is_fetched(const caromi_stream *stream, const caromi_cl_slot *slot, uint32_t column)
{
    return !slot->compacts &&
           (is_mark(stream, column) || (!caromi_output_stays(stream, column) && stream->out[column].base != NULL));
}

/* Chooses or allocates the memory of a chunk's outputs. */
static carom_status place_outputs(caromi_device *device, const caromi_stream *stream, caromi_cl_slot *slot,
                                  carom_error *err)
{
    slot->fetched.count = 0;
    for (uint32_t i = 0; i < stream->out_count; i++) {
        const caromi_out_column *column = &stream->out[i];
        const uint8_t size = stream->out_size[i];
        if (caromi_output_stays(stream, i) && is_mark(stream, i)) /* is scattered on the device, and downloaded too */
            slot->out[i].direct = NULL;
        else if (caromi_output_stays(stream, i))
            caromi_place_resident_output(stream, slot, i);
        else if (device->unified && slot->padded == slot->count && column->base != NULL && column->stride == size)
            try_direct(device, slot, DIRECT_OUTPUT, i, (char *)column->base + slot->first * size, size);
        if (slot->out[i].direct != NULL)
            continue;
        CHECK(caromi_reserve(device, slot, &slot->out[i], (size_t)slot->padded * size, CAROMI_NO_HOST_POINTER, err));
        if (!device->unified && is_fetched(stream, slot, i))
            caromi_block_add(&slot->fetched, &slot->out[i], size);
    }
    return caromi_block_place(device, slot, &slot->fetched, err);
}

/* Unmaps a buffer over a caller's array right after its map: the data stays visible there, and one wait covers both
 * commands. If the mapped address is not known before the map is done (rusticl), unmap_outputs() does it. */
static void unmap_direct(const caromi_device *device, caromi_cl_slot *slot, caromi_cl_column *column)
{
    cl_event event = NULL;
    if (column->direct == NULL ||
        caromi_unmap(device, slot->queue, column->direct, column->host, &event, NULL) != CAROM_OK)
        return;
    column->host = NULL;
    caromi_add_event(&slot->download, event);
}

/* Enqueues the download of the outputs: a map, which makes the kernel's writes visible, or the read of a transfer
 * block. */
static carom_status fetch_outputs(caromi_device *device, const caromi_stream *stream, caromi_cl_slot *slot,
                                  carom_error *err)
{
    for (uint32_t i = 0; i < stream->out_count; i++) {
        caromi_cl_column *column = &slot->out[i];
        const size_t bytes = (size_t)slot->padded * stream->out_size[i];
        cl_event event = NULL;
        if (caromi_output_stays(stream, i) && column->direct == NULL)
            CHECK(caromi_scatter_resident(device, stream, slot, i, err));
        if (!device->unified || !is_fetched(stream, slot, i))
            continue;
        CHECK(caromi_map(device, slot->queue, caromi_column_memory(column), CL_MAP_READ, bytes, CAROMI_NO_WAIT,
                         &column->host, &event, NULL, err));
        caromi_add_event(&slot->download, event);
        unmap_direct(device, slot, column);
    }
    return caromi_block_fetch(device, slot, &slot->fetched, err);
}

/* Enqueues all commands of a chunk. */
carom_status caromi_chunk_start(caromi_device *device, const caromi_stream *stream, caromi_cl_slot *slot,
                                carom_stats *stats, carom_error *err)
{
    carom_status status = send_inputs(device, stream, slot, stats, err);
    if (status == CAROM_OK)
        slot->compacts = stream->compacts != NULL && stream->compacts(device, stream, slot);
    if (status == CAROM_OK)
        status = place_outputs(device, stream, slot, err);
    if (status == CAROM_OK)
        status = stream->launch(device, slot, stream->user, err);
    if (status == CAROM_OK)
        status = slot->compacts ? stream->fetch(device, stream, slot, err) : fetch_outputs(device, stream, slot, err);
    return status;
}

/* The commands of a chunk for which the host has not waited. */
uint32_t caromi_chunk_events(const caromi_cl_slot *slot)
{
    return slot->upload.count + slot->compute.count + slot->download.count;
}

/* Waits for all commands of a chunk. The queue is in order, so it waits for the last command first: the thread wakes
 * once instead of once per command. */
carom_status caromi_chunk_await(const caromi_device *device, const caromi_cl_slot *slot, carom_error *err)
{
    const caromi_cl_events *const groups[] = {&slot->download, &slot->compute, &slot->upload};
    cl_event last_first[3 * CAROMI_EVENTS_MAX];
    uint32_t count = 0;
    for (size_t g = 0; g < sizeof groups / sizeof groups[0]; g++)
        for (uint32_t i = groups[g]->count; i > 0; i--)
            last_first[count++] = groups[g]->event[i - 1];
    return count > 0 ? caromi_check_events(device, last_first, count, err) : CAROM_OK;
}

/* Adds the durations of a chunk's commands to the statistics. */
static void add_times(const caromi_device *device, const caromi_cl_slot *slot, carom_stats *stats)
{
    if (!device->timed)
        return;
    caromi_add_durations(slot->upload.event, slot->upload.count, &stats->upload);
    caromi_add_durations(slot->compute.event, slot->compute.count, &stats->compute);
    caromi_add_durations(slot->download.event, slot->download.count, &stats->download);
}

carom_status caromi_slot_settle(const caromi_device *device, caromi_cl_slot *slot, carom_stats *stats, carom_error *err)
{
    const carom_status status = caromi_chunk_await(device, slot, err);
    if (status == CAROM_OK)
        add_times(device, slot, stats);
    caromi_slot_forget(slot);
    return status;
}

carom_status caromi_slot_finish(const caromi_device *device, caromi_cl_slot *slot, carom_stats *stats, carom_error *err)
{
    const carom_status status = caromi_slot_settle(device, slot, stats, err);
    caromi_slot_retire(slot);
    return status;
}

/* The host's address of an output column of a finished chunk. */
static const char *arrived(const caromi_stream *stream, const caromi_cl_slot *slot, uint32_t column)
{
    return slot->out[column].direct ? (const char *)stream->out[column].base + slot->first * stream->out_size[column]
                                    : (const char *)slot->out[column].host;
}

/* The host's work on a downloaded chunk, slab by slab: it checks the rows, scatters staged columns, and decides
 * undecided rows in integers. All threads do that in one pass, as rows come from memory, while the device works on the
 * next chunk. */
typedef struct arrival {
    copy_job copy;
    const caromi_device *device;
    caromi_rung_sums rungs;
    atomic_int refused;
    uint32_t *undecided; /* list of undecided rows, if columns stay on the device; NULL: they are decided at once */
    atomic_uint undecided_count;
} arrival;

/* Checks the values of mark[0] in some rows. */
static carom_status check_rows(const arrival *a, uint64_t from, uint64_t count, carom_error *err)
{
    const caromi_stream *stream = a->copy.stream;
    const caromi_cl_slot *slot = a->copy.slot;
    const size_t size = stream->out_size[stream->mark[0]];
    return stream->check(a->device, stream->user, arrived(stream, slot, stream->mark[0]) + from * size, size, count,
                         slot->first, slot->first + slot->count, err);
}

/* Decides undecided rows in integers, or lists them. */
static void resolve_rows(arrival *a, uint64_t from, size_t count)
{
    const caromi_stream *stream = a->copy.stream;
    const void *marks[CAROMI_MARKS] = {NULL, NULL, NULL, NULL};
    uint32_t rows[SLAB];
    for (uint32_t k = 0; k < stream->mark_count; k++)
        if (stream->mark[k] != CAROMI_NO_MARK)
            marks[k] = arrived(stream, a->copy.slot, stream->mark[k]) + from * stream->out_size[stream->mark[k]];
    if (a->undecided == NULL) {
        caromi_rungs_add(&a->rungs, stream->resolve(stream->user, marks, NULL, a->copy.slot->first + from, count));
        return;
    }
    const uint32_t found = stream->undecided->list(stream->user, marks, (uint32_t)count, rows);
    const uint32_t at = atomic_fetch_add(&a->undecided_count, found);
    for (uint32_t i = 0; i < found; i++)
        a->undecided[at + i] = (uint32_t)from + rows[i];
}

/* Task: the host's work on a slab. */
static void process_slab(void *user, uint64_t slab, uint32_t thread)
{
    arrival *a = user;
    const caromi_stream *stream = a->copy.stream;
    const uint64_t from = slab * SLAB, left = a->copy.slot->count - from, count = left < SLAB ? left : SLAB;
    (void)thread;
    if (stream->check != NULL && check_rows(a, from, count, NULL) != CAROM_OK) {
        atomic_store(&a->refused, 1);
        return; /* impossible numbers would lead outside the arrays */
    }
    copy_slab(&a->copy, slab, scatter_rows);
    if (stream->resolve != NULL || a->undecided != NULL)
        resolve_rows(a, from, (size_t)count);
}

/* Runs the host's work on a chunk. undecided: receives the list of undecided rows, *count of them; NULL: they are
 * decided at once. */
static carom_status process_rows(caromi_device *device, const caromi_stream *stream, caromi_cl_slot *slot,
                                 uint32_t *undecided, uint32_t *count, carom_stats *stats, carom_error *err)
{
    const double start = caromi_now();
    arrival a = {.copy = {.stream = stream, .slot = slot}, .device = device, .undecided = undecided};
    for (uint32_t i = 0; i < stream->out_count; i++)
        if (stream->out[i].base != NULL && slot->out[i].direct == NULL && !caromi_output_stays(stream, i))
            a.copy.columns[a.copy.count++] = i;
    if (a.copy.count == 0 && stream->check == NULL && stream->resolve == NULL && undecided == NULL)
        return CAROM_OK;
    caromi_parallel(device->context->pool, slabs_of(slot), process_slab, &a);
    caromi_count_rungs(stats, caromi_rungs_of(&a.rungs));
    *count = a.undecided_count;
    stats->host += caromi_now() - start;
    return a.refused ? check_rows(&a, 0, slot->count, err) : CAROM_OK;
}

/* Unmaps columns that are still mapped: the caller's arrays must be unmapped before the call returns. */
static carom_status unmap_outputs(caromi_device *device, const caromi_stream *stream, caromi_cl_slot *slot,
                                  carom_error *err)
{
    int late = 0;
    for (uint32_t i = 0; device->unified && i < stream->out_count; i++) {
        caromi_cl_column *column = &slot->out[i];
        if (column->host == NULL)
            continue;
        void *host = column->host;
        column->host = NULL;
        late |= column->direct != NULL;
        CHECK(caromi_unmap(device, slot->queue, caromi_column_memory(column), host, NULL, err));
    }
    return late ? caromi_finish(device, slot->queue, err) : CAROM_OK;
}

/* Delivers a chunk whose columns are downloaded. */
static carom_status scatter_columns(caromi_device *device, const caromi_stream *stream, caromi_cl_slot *slot,
                                    carom_stats *stats, carom_error *err)
{
    const int lists = stream->residents != NULL && stream->undecided != NULL;
    uint32_t *undecided = lists ? caromi_alloc(device->context, slot->count, sizeof *undecided) : NULL, count = 0;
    if (lists && undecided == NULL)
        return caromi_fail_memory(err, "no memory to list %llu undecided queries", (unsigned long long)slot->count);
    carom_status status = process_rows(device, stream, slot, undecided, &count, stats, err);
    if (status == CAROM_OK)
        status = unmap_outputs(device, stream, slot, err);
    if (status == CAROM_OK && count > 0)
        status = caromi_answer_undecided(device, stream, slot, undecided, count, stats, err);
    caromi_free(device->context, undecided);
    return status;
}

/* Waits for the chunk and delivers it. */
carom_status caromi_chunk_finish(caromi_device *device, const caromi_stream *stream, caromi_cl_slot *slot,
                                 carom_stats *stats, carom_error *err)
{
    carom_status status = caromi_chunk_await(device, slot, err);
    if (status == CAROM_OK)
        add_times(device, slot, stats);
    if (status == CAROM_OK && slot->compacts)
        status = stream->scatter(device, stream, slot, stats, err);
    else if (status == CAROM_OK)
        status = scatter_columns(device, stream, slot, stats, err);
    if (status == CAROM_OK)
        caromi_slot_retire(slot);
    return status;
}
