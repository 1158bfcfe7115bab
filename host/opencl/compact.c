/* SPDX-License-Identifier: MIT */
/* Compaction of first hits on devices with memory of their own: kernels/compact.cl makes records of a chunk's hits and
 * of the rows that exact mode leaves undecided. Only these records are downloaded. */
#include <stdatomic.h>
#include <string.h>

#include "probe.h"

enum { ROWS = 1 << 9 /* records of a task */ };

static cl_uint runs_of(const caromi_cl_slot *slot)
{
    return (cl_uint)((slot->count + COMPACT_RUN - 1) / COMPACT_RUN);
}

static int has_contacts(const caromi_stream *stream)
{
    return stream->out_count == CAROMI_HIT_CONTACT;
}

static size_t words_of(const caromi_stream *stream)
{
    return has_contacts(stream) ? COMPACT_WORDS : COMPACT_CONTACT;
}

/* Falls back to whole columns: for one chunk if there is no memory, as a later chunk may get it; else permanently. */
static void give_up(caromi_device *device, const carom_error *why)
{
    /* The probe itself must fail without memory. */
    const int is_short = why->status == CAROM_ERROR_OUT_OF_MEMORY && !device->probing;
    if (!is_short || !device->compaction_was_short)
        caromi_log(device->context, CAROM_LOG_WARNING, "%s sends first hits in whole columns%s: %s", device->info.name,
                   is_short ? " where memory is short" : " from now on", why->message);
    device->compaction_was_short |= is_short;
    device->compaction_unavailable |= !is_short;
}

/* Whether a chunk is compacted; allocates the memory of its records. */
static int compacts(caromi_device *device, const caromi_stream *stream, caromi_cl_slot *slot)
{
    carom_error why = {CAROM_OK, 0, ""};
    caromi_cl_column *starts = &slot->compact[CAROMI_COMPACT_STARTS], *records = &slot->compact[CAROMI_COMPACT_RECORDS];
    if (device->unified || device->compaction_unavailable)
        return 0;
    if (caromi_reserve(device, slot, starts, (runs_of(slot) + 1) * sizeof(cl_uint), CAROMI_NO_HOST_POINTER, &why) ==
            CAROM_OK &&
        caromi_reserve(device, slot, &slot->compact[CAROMI_COMPACT_FOUND], sizeof(cl_uint), CAROMI_HOST_POINTER,
                       &why) == CAROM_OK &&
        caromi_reserve(device, slot, records, (size_t)slot->count * words_of(stream) * sizeof(cl_uint),
                       CAROMI_HOST_POINTER, &why) == CAROM_OK)
        return 1;
    give_up(device, &why);
    return 0;
}

/* ---------------------------------------------------------------- on the device */

/* Launches one of the two kernels: its last argument is the number of rows, and it has one work-group for each run of
 * rows. */
_Static_assert((int)COMPACT_ITEMS == (int)CAROMI_GROUP, "a group is launched for each run");
static carom_status launch(caromi_device *device, caromi_cl_slot *slot, caromi_arguments *arguments, carom_error *err)
{
    const cl_uint rows = (cl_uint)slot->count;
    caromi_set_argument(arguments, &rows, sizeof rows);
    return caromi_launch_chunk(device, slot, arguments, (uint64_t)runs_of(slot) * COMPACT_ITEMS, err);
}

static carom_status count_rows(caromi_device *device, caromi_cl_slot *slot, carom_error *err)
{
    caromi_arguments arguments = caromi_arguments_of(device, CAROMI_PROGRAM_COMPACT_COUNT);
    caromi_set_column(&arguments, &slot->out[CAROMI_HIT_TRIANGLE]);
    caromi_set_column(&arguments, &slot->out[CAROMI_HIT_T]);
    caromi_set_column(&arguments, &slot->compact[CAROMI_COMPACT_STARTS]);
    return launch(device, slot, &arguments, err);
}

static carom_status fill_records(caromi_device *device, const caromi_stream *stream, caromi_cl_slot *slot,
                                 carom_error *err)
{
    caromi_arguments arguments = caromi_arguments_of(device, CAROMI_PROGRAM_COMPACT_FILL);
    const int contact = has_contacts(stream);
    caromi_set_columns(&arguments, slot->out, stream->out_count);
    for (uint32_t i = stream->out_count; i < CAROMI_HIT_CONTACT; i++) /* any column: it is not read */
        caromi_set_column(&arguments, slot->out);
    caromi_set_argument(&arguments, &contact, sizeof contact);
    caromi_set_columns(&arguments, slot->compact, CAROMI_COMPACT_COLUMNS);
    return launch(device, slot, &arguments, err);
}

/* Enqueues the compaction and the download of the number of records. The records are downloaded when that number has
 * arrived. It goes to pinned memory: with other memory, drivers block in a non-blocking read, and the chunks of two
 * slots would never overlap. */
static carom_status fetch_count(caromi_device *device, const caromi_stream *stream, caromi_cl_slot *slot,
                                carom_error *err)
{
    const caromi_cl_column *starts = &slot->compact[CAROMI_COMPACT_STARTS];
    const cl_uint runs = runs_of(slot);
    cl_uint *found = slot->compact[CAROMI_COMPACT_FOUND].host;
    cl_event event = NULL;
    CHECK(count_rows(device, slot, err));
    CHECK(caromi_prefix_sum(device, slot, starts, runs, err));
    CHECK(fill_records(device, stream, slot, err));
    *found = UINT32_MAX; /* an impossible number, in case the read fails */
    CHECK(caromi_read(device, slot->queue, starts->memory, runs * sizeof *found, found, sizeof *found, CAROMI_NO_WAIT,
                      &event, "number of hits", err));
    caromi_add_event(&slot->download, event);
    return CAROM_OK;
}

/* ---------------------------------------------------------------- and on its way out */

/* A downloaded chunk of records. */
typedef struct unpack_job {
    const caromi_device *device;
    const caromi_stream *stream;
    const caromi_cl_slot *slot;
    caromi_rung_sums rungs;
    atomic_int refused;
} unpack_job;

static void put(const caromi_stream *stream, uint32_t column, uint64_t row, const void *value)
{
    const caromi_out_column *c = &stream->out[column];
    if (c->base != NULL)
        memcpy((char *)c->base + row * c->stride, value, stream->out_size[column]);
}

/* Writes a record's values to the caller's columns. */
static void put_record(const caromi_stream *stream, uint64_t row, const uint32_t *record)
{
    const uint8_t state = (uint8_t)record[COMPACT_BYTES], feature = (uint8_t)(record[COMPACT_BYTES] >> 8);
    put(stream, CAROMI_HIT_TRIANGLE, row, &record[COMPACT_TRIANGLE]);
    put(stream, CAROMI_HIT_STATE, row, &state);
    put(stream, CAROMI_HIT_T, row, &record[COMPACT_T]);
    if (!has_contacts(stream))
        return;
    for (uint32_t k = 0; k < OUT_FEATURE; k++)
        put(stream, CAROMI_HIT_FIRST + k, row, &record[COMPACT_CONTACT + k]);
    put(stream, CAROMI_HIT_FIRST + OUT_FEATURE, row, &feature);
}

/* Checks that records are possible for the chunk: rows ascend and are in range. */
static carom_status check_records(const unpack_job *job, uint64_t from, uint64_t count, carom_error *err)
{
    const caromi_stream *stream = job->stream;
    const caromi_cl_slot *slot = job->slot;
    const size_t words = words_of(stream);
    const uint32_t *record = (const uint32_t *)slot->compact[CAROMI_COMPACT_RECORDS].host + from * words;
    const uint64_t end = slot->first + slot->count;
    uint64_t next = from > 0 ? (uint64_t)(record - words)[COMPACT_ROW] + 1 : 0;
    int corrupt = 0;
    if (stream->check != NULL)
        CHECK(stream->check(job->device, stream->user, record + COMPACT_TRIANGLE, words * sizeof *record, count,
                            slot->first, end, err));
    for (uint64_t i = 0; i < count; i++, record += words) {
        corrupt |= record[COMPACT_ROW] < next || record[COMPACT_ROW] >= slot->count;
        next = (uint64_t)record[COMPACT_ROW] + 1;
    }
    return corrupt ? caromi_fail_corrupt(job->device, "places of hits", slot->first, end, err) : CAROM_OK;
}

/* Task: checks records, scatters them to their rows, and decides undecided rows in integers. */
static void unpack(void *user, uint64_t begin, uint64_t end, uint32_t thread)
{
    unpack_job *job = user;
    const caromi_stream *stream = job->stream;
    const size_t words = words_of(stream);
    const uint32_t *records = (const uint32_t *)job->slot->compact[CAROMI_COMPACT_RECORDS].host + begin * words;
    const size_t count = (size_t)(end - begin);
    uint64_t rows[ROWS];
    uint32_t triangle[ROWS], t[ROWS], x[ROWS];
    const void *const marks[3] = {triangle, t, x};
    (void)thread;
    if (check_records(job, begin, count, NULL) != CAROM_OK) {
        atomic_store(&job->refused, 1);
        return; /* impossible numbers would lead outside the arrays */
    }
    for (size_t i = 0; i < count; i++) {
        const uint32_t *record = records + i * words;
        rows[i] = job->slot->first + record[COMPACT_ROW];
        triangle[i] = record[COMPACT_TRIANGLE];
        t[i] = record[COMPACT_T];
        x[i] = has_contacts(stream) ? record[COMPACT_CONTACT + OUT_POINT_X] : 0;
        put_record(stream, rows[i], record);
    }
    if (stream->resolve != NULL)
        caromi_rungs_add(&job->rungs, stream->resolve(stream->user, marks, rows, 0, count));
}

/* Downloads the number of records, then the records. */
static carom_status fetch_records(caromi_device *device, const caromi_stream *stream, caromi_cl_slot *slot,
                                  carom_error *err)
{
    const caromi_cl_column *records = &slot->compact[CAROMI_COMPACT_RECORDS];
    const size_t words = words_of(stream);
    const uint64_t end = slot->first + slot->count;
    slot->found = *(const cl_uint *)slot->compact[CAROMI_COMPACT_FOUND].host;
    if (slot->found > slot->count)
        return caromi_fail_corrupt(device, "numbers of hits", slot->first, end, err);
    if (slot->found == 0)
        return CAROM_OK;
    return caromi_read(device, slot->queue, records->memory, CAROMI_BEGIN, records->host,
                       slot->found * words * sizeof(cl_uint), CAROMI_WAIT, NULL, "hits", err);
}

/* Scatters the downloaded records of a chunk to the caller's columns. */
static carom_status scatter(caromi_device *device, const caromi_stream *stream, caromi_cl_slot *slot,
                            carom_stats *stats, carom_error *err)
{
    const double start = caromi_now();
    const caromi_out_column *triangle = &stream->out[CAROMI_HIT_TRIANGLE];
    unpack_job job = {.device = device, .stream = stream, .slot = slot};
    CHECK(fetch_records(device, stream, slot, err));
    const double fetched = caromi_now();
    assert(triangle->base != NULL && triangle->stride == sizeof(int32_t));
    memset((int32_t *)triangle->base + slot->first, 0xff, (size_t)slot->count * sizeof(int32_t)); /* -1: none */
    if (slot->found > 0)
        caromi_parallel_runs(device->context->pool, slot->found, ROWS, unpack, &job);
    caromi_count_rungs(stats, caromi_rungs_of(&job.rungs));
    stats->download += fetched - start;
    stats->host += caromi_now() - fetched;
    return job.refused ? check_records(&job, 0, slot->found, err) : CAROM_OK;
}

/* Sets the compaction callbacks of a stream of first hits. */
void caromi_compact_stream(caromi_stream *stream)
{
    stream->compacts = compacts;
    stream->fetch = fetch_count;
    stream->scatter = scatter;
    stream->extra += stream->out_count * (uint32_t)sizeof(uint32_t);
}

/* ---------------------------------------------------------------- the probe */

enum { PROBE_ROWS = 10 * COMPACT_RUN + 7 };

/* The probe: columns of first hits as inputs, and the expected outputs. */
typedef struct compact_probe {
    uint32_t in[CAROMI_HIT_CONTACT][PROBE_ROWS], got[CAROMI_HIT_CONTACT][PROBE_ROWS],
        expected[CAROMI_HIT_CONTACT][PROBE_ROWS];
} compact_probe;

/* Makes runs of rows with no row to keep, with only such rows, and mixed ones. A row is kept if it has a hit or is
 * undecided. */
static void make_probe(compact_probe *data)
{
    uint8_t kept_rows[PROBE_ROWS]; /* all inputs are made first, as byte columns share their memory */
    uint64_t state = 5;
    memset(data->got, 0xa5, sizeof data->got);
    memset(data->expected, 0xa5, sizeof data->expected);
    memset(data->expected[CAROMI_HIT_TRIANGLE], 0xff, sizeof data->expected[CAROMI_HIT_TRIANGLE]);
    for (uint32_t i = 0; i < PROBE_ROWS; i++) {
        const uint64_t r = caromi_probe_next(&state);
        const uint32_t kind = i / COMPACT_RUN % 4, kept = kind == 1 || (kind > 1 && (r & 7) == 0);
        for (uint32_t c = 0; c < CAROMI_HIT_CONTACT; c++)
            data->in[c][i] = (uint32_t)caromi_probe_next(&state);
        data->in[CAROMI_HIT_T][i] = (uint32_t)(r >> 32) & 0xff7fffff; /* finite */
        data->in[CAROMI_HIT_TRIANGLE][i] = kept ? (uint32_t)(r >> 8) & 0x7fffffff : UINT32_MAX;
        if (kept && (r & 8) != 0) { /* undecided */
            data->in[CAROMI_HIT_TRIANGLE][i] = UINT32_MAX;
            data->in[CAROMI_HIT_T][i] |= 0x7f800001;
        }
        kept_rows[i] = (uint8_t)kept;
    }
    for (uint32_t i = 0; i < PROBE_ROWS; i++)
        for (uint32_t c = 0; kept_rows[i] && c < CAROMI_HIT_CONTACT; c++) {
            const size_t size = caromi_hit_size(c);
            memcpy((char *)data->expected[c] + i * size, (const char *)data->in[c] + i * size, size);
        }
}

static carom_status launch_probe(caromi_device *device, caromi_cl_slot *slot, const void *user, carom_error *err)
{
    const uint32_t *out_count = user;
    for (uint32_t c = 0; c < *out_count; c++)
        CHECK(caromi_copy(device, slot->queue, slot->in[c].memory, slot->out[c].memory,
                          (size_t)slot->padded * caromi_hit_size(c), err));
    return CAROM_OK;
}

/* out_count: number of output columns, with contacts or without. */
static carom_status run_probe(caromi_device *device, compact_probe *data, uint32_t out_count, carom_error *err)
{
    caromi_in_column in[CAROMI_HIT_CONTACT];
    caromi_out_column out[CAROMI_HIT_CONTACT];
    caromi_stream stream = {.count = PROBE_ROWS,
                            .chunk = PROBE_ROWS,
                            .in_count = CAROMI_HIT_CONTACT,
                            .out_count = out_count,
                            .in = in,
                            .out = out,
                            .launch = launch_probe,
                            .user = &out_count};
    uint64_t done = 0;
    carom_stats stats = {.size = sizeof stats};
    /* The inputs are copied to the outputs by the launch, then compacted. */
    make_probe(data);
    for (uint32_t c = 0; c < CAROMI_HIT_CONTACT; c++) {
        stream.out_size[c] = caromi_hit_size(c);
        in[c] = (caromi_in_column){.base = data->in[c], .stride = sizeof(uint32_t)};
        out[c] = (caromi_out_column){data->got[c], stream.out_size[c]};
    }
    caromi_compact_stream(&stream);
    carom_status status = caromi_stream_run(device, &stream, &done, &stats, err);
    for (uint32_t c = 0; status == CAROM_OK && !device->compaction_unavailable && c < out_count; c++)
        status = caromi_probe_compare(device, CAROMI_PROGRAM_COMPACT_FILL, PROBE_ROWS, c, data->got[c],
                                      data->expected[c], stream.out_size[c], err);
    return status;
}

/* Builds and probes the compaction; a device without it downloads columns instead. */
carom_status caromi_probe_compact(caromi_device *device, carom_error *err)
{
    static const uint32_t programs[] = {CAROMI_PROGRAM_PREFIX_SUM, CAROMI_PROGRAM_COMPACT_COUNT,
                                        CAROMI_PROGRAM_COMPACT_FILL};
    carom_error why = {CAROM_OK, 0, ""};
    if (device->unified || device->compaction_unavailable || device->programs[CAROMI_PROGRAM_COMPACT_FILL].probed)
        return CAROM_OK;
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++)
        if (caromi_program_build(device, programs[i], &why) != CAROM_OK) {
            give_up(device, &why);
            return CAROM_OK;
        }
    compact_probe *data = caromi_alloc(device->context, 1, sizeof *data);
    if (data == NULL)
        return caromi_fail_memory(err, "no memory for the bit probe (%zu bytes)", sizeof *data);
    device->probing = 1;
    carom_status status = run_probe(device, data, CAROMI_HIT_FIRST, err);
    if (status == CAROM_OK)
        status = run_probe(device, data, CAROMI_HIT_CONTACT, err);
    device->probing = 0;
    device->programs[CAROMI_PROGRAM_COMPACT_FILL].probed = status == CAROM_OK;
    caromi_free(device->context, data);
    return status;
}
