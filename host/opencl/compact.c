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

static int has_contacts(const caromi_stream *s)
{
    return s->out_count == CAROMI_HIT_CONTACT;
}

static size_t words_of(const caromi_stream *s)
{
    return has_contacts(s) ? COMPACT_WORDS : COMPACT_CONTACT;
}

/* Falls back to whole columns: for one chunk if there is no memory, as a later chunk may get it; else permanently. */
static void give_up(caromi_device *d, const carom_error *why)
{
    const int is_short =
        why->status == CAROM_ERROR_OUT_OF_MEMORY && !d->probing; /* the probe itself must fail without memory */
    if (!is_short || !d->compaction_was_short)
        caromi_log(d->context, CAROM_LOG_WARNING, "%s sends first hits in whole columns%s: %s", d->info.name,
                   is_short ? " where memory is short" : " from now on", why->message);
    d->compaction_was_short |= is_short;
    d->compaction_unavailable |= !is_short;
}

/* Whether a chunk is compacted; allocates the memory of its records. */
static int compacts(caromi_device *d, const caromi_stream *s, caromi_cl_slot *slot)
{
    carom_error why = {CAROM_OK, 0, ""};
    caromi_cl_column *starts = &slot->compact[CAROMI_COMPACT_STARTS], *records = &slot->compact[CAROMI_COMPACT_RECORDS];
    if (d->unified || d->compaction_unavailable)
        return 0;
    if (caromi_reserve(d, slot, starts, (runs_of(slot) + 1) * sizeof(cl_uint), CAROMI_NO_HOST_POINTER, &why) ==
            CAROM_OK &&
        caromi_reserve(d, slot, &slot->compact[CAROMI_COMPACT_FOUND], sizeof(cl_uint), CAROMI_HOST_POINTER, &why) ==
            CAROM_OK &&
        caromi_reserve(d, slot, records, (size_t)slot->count * words_of(s) * sizeof(cl_uint), CAROMI_HOST_POINTER,
                       &why) == CAROM_OK)
        return 1;
    give_up(d, &why);
    return 0;
}

/* ---------------------------------------------------------------- on the device */

/* Launches one of the two kernels: its last argument is the number of rows, and it has one work-group for each run of
 * rows. */
_Static_assert((int)COMPACT_ITEMS == (int)CAROMI_GROUP, "a group is launched for each run");
static carom_status launch(caromi_device *d, caromi_cl_slot *slot, caromi_arguments *a, carom_error *err)
{
    const cl_uint rows = (cl_uint)slot->count;
    caromi_set_argument(a, &rows, sizeof rows);
    return caromi_launch_chunk(d, slot, a, (uint64_t)runs_of(slot) * COMPACT_ITEMS, err);
}

static carom_status count_rows(caromi_device *d, caromi_cl_slot *slot, carom_error *err)
{
    caromi_arguments a = caromi_arguments_of(d, CAROMI_PROGRAM_COMPACT_COUNT);
    caromi_set_columns(&a, &slot->out[CAROMI_HIT_TRIANGLE], 1);
    caromi_set_columns(&a, &slot->out[CAROMI_HIT_T], 1);
    caromi_set_columns(&a, &slot->compact[CAROMI_COMPACT_STARTS], 1);
    return launch(d, slot, &a, err);
}

static carom_status fill_records(caromi_device *d, const caromi_stream *s, caromi_cl_slot *slot, carom_error *err)
{
    caromi_arguments a = caromi_arguments_of(d, CAROMI_PROGRAM_COMPACT_FILL);
    const int contact = has_contacts(s);
    caromi_set_columns(&a, slot->out, s->out_count);
    for (uint32_t i = s->out_count; i < CAROMI_HIT_CONTACT; i++) /* any column: it is not read */
        caromi_set_columns(&a, slot->out, 1);
    caromi_set_argument(&a, &contact, sizeof contact);
    caromi_set_columns(&a, slot->compact, CAROMI_COMPACT_COLUMNS);
    return launch(d, slot, &a, err);
}

/* Enqueues the compaction and the download of the number of records. The records are downloaded when that number has
 * arrived. It goes to pinned memory: with other memory, drivers block in a non-blocking read, and the chunks of two
 * slots would never overlap. */
static carom_status fetch_count(caromi_device *d, const caromi_stream *s, caromi_cl_slot *slot, carom_error *err)
{
    const caromi_cl_column *starts = &slot->compact[CAROMI_COMPACT_STARTS];
    const cl_uint runs = runs_of(slot);
    cl_uint *found = slot->compact[CAROMI_COMPACT_FOUND].host;
    cl_event event = NULL;
    CHECK(count_rows(d, slot, err));
    CHECK(caromi_prefix_sum(d, slot, starts, runs, err));
    CHECK(fill_records(d, s, slot, err));
    *found = UINT32_MAX; /* an impossible number, in case the read fails */
    CHECK(caromi_read(d, slot->queue, starts->memory, runs * sizeof *found, found, sizeof *found, 0, &event,
                      "number of hits", err));
    caromi_add_event(&slot->download, event);
    return CAROM_OK;
}

/* ---------------------------------------------------------------- and on its way out */

typedef struct unpack_job {
    const caromi_device *device;
    const caromi_stream *stream;
    const caromi_cl_slot *slot;
    atomic_uint_fast64_t resolved;
    atomic_int refused;
} unpack_job;

static void put(const caromi_stream *s, uint32_t column, uint64_t row, const void *value)
{
    const caromi_out_column *c = &s->out[column];
    if (c->base != NULL)
        memcpy((char *)c->base + row * c->stride, value, s->out_size[column]);
}

static void put_record(const caromi_stream *s, uint64_t row, const uint32_t *record)
{
    const uint8_t state = (uint8_t)record[COMPACT_BYTES], feature = (uint8_t)(record[COMPACT_BYTES] >> 8);
    put(s, CAROMI_HIT_TRIANGLE, row, &record[COMPACT_TRIANGLE]);
    put(s, CAROMI_HIT_STATE, row, &state);
    put(s, CAROMI_HIT_T, row, &record[COMPACT_T]);
    if (!has_contacts(s))
        return;
    for (uint32_t k = 0; k < OUT_FEATURE; k++)
        put(s, CAROMI_HIT_FIRST + k, row, &record[COMPACT_CONTACT + k]);
    put(s, CAROMI_HIT_FIRST + OUT_FEATURE, row, &feature);
}

/* Checks that records are possible for the chunk: rows ascend and are in range. */
static carom_status check_records(const unpack_job *job, uint64_t from, uint64_t count, carom_error *err)
{
    const caromi_stream *s = job->stream;
    const caromi_cl_slot *slot = job->slot;
    const size_t words = words_of(s);
    const uint32_t *record = (const uint32_t *)slot->compact[CAROMI_COMPACT_RECORDS].host + from * words;
    const uint64_t end = slot->first + slot->count;
    uint64_t next = from > 0 ? (uint64_t)(record - words)[COMPACT_ROW] + 1 : 0;
    int corrupt = 0;
    if (s->check != NULL)
        CHECK(s->check(job->device, s->user, record + COMPACT_TRIANGLE, words * sizeof *record, count, slot->first, end,
                       err));
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
    const caromi_stream *s = job->stream;
    const size_t words = words_of(s);
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
        x[i] = has_contacts(s) ? record[COMPACT_CONTACT + OUT_POINT_X] : 0;
        put_record(s, rows[i], record);
    }
    if (s->resolve != NULL)
        atomic_fetch_add(&job->resolved, s->resolve(s->user, marks, rows, 0, count));
}

static carom_status fetch_records(caromi_device *d, const caromi_stream *s, caromi_cl_slot *slot, carom_error *err)
{
    const caromi_cl_column *records = &slot->compact[CAROMI_COMPACT_RECORDS];
    const size_t words = words_of(s);
    const uint64_t end = slot->first + slot->count;
    slot->found = *(const cl_uint *)slot->compact[CAROMI_COMPACT_FOUND].host;
    if (slot->found > slot->count)
        return caromi_fail_corrupt(d, "numbers of hits", slot->first, end, err);
    if (slot->found == 0)
        return CAROM_OK;
    return caromi_read(d, slot->queue, records->memory, 0, records->host, slot->found * words * sizeof(cl_uint), 1,
                       NULL, "hits", err);
}

static carom_status scatter(caromi_device *d, const caromi_stream *s, caromi_cl_slot *slot, carom_stats *stats,
                            carom_error *err)
{
    const double start = caromi_now();
    const caromi_out_column *triangle = &s->out[CAROMI_HIT_TRIANGLE];
    unpack_job job = {.device = d, .stream = s, .slot = slot};
    CHECK(fetch_records(d, s, slot, err));
    const double fetched = caromi_now();
    assert(triangle->base != NULL && triangle->stride == sizeof(int32_t));
    memset((int32_t *)triangle->base + slot->first, 0xff, (size_t)slot->count * sizeof(int32_t)); /* -1: none */
    if (slot->found > 0)
        caromi_parallel_runs(d->context->pool, slot->found, ROWS, unpack, &job);
    stats->by_integers += job.resolved;
    stats->download += fetched - start;
    stats->host += caromi_now() - fetched;
    return job.refused ? check_records(&job, 0, slot->found, err) : CAROM_OK;
}

void caromi_compact_stream(caromi_stream *s)
{
    s->compacts = compacts;
    s->fetch = fetch_count;
    s->scatter = scatter;
    s->extra += s->out_count * (uint32_t)sizeof(uint32_t);
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
static void make_probe(compact_probe *p)
{
    uint8_t kept_rows[PROBE_ROWS]; /* all inputs are made first, as byte columns share their memory */
    uint64_t state = 5;
    memset(p->got, 0xa5, sizeof p->got);
    memset(p->expected, 0xa5, sizeof p->expected);
    memset(p->expected[CAROMI_HIT_TRIANGLE], 0xff, sizeof p->expected[CAROMI_HIT_TRIANGLE]);
    for (uint32_t i = 0; i < PROBE_ROWS; i++) {
        const uint64_t r = caromi_probe_next(&state);
        const uint32_t kind = i / COMPACT_RUN % 4, kept = kind == 1 || (kind > 1 && (r & 7) == 0);
        for (uint32_t c = 0; c < CAROMI_HIT_CONTACT; c++)
            p->in[c][i] = (uint32_t)caromi_probe_next(&state);
        p->in[CAROMI_HIT_T][i] = (uint32_t)(r >> 32) & 0xff7fffff; /* finite */
        p->in[CAROMI_HIT_TRIANGLE][i] = kept ? (uint32_t)(r >> 8) & 0x7fffffff : UINT32_MAX;
        if (kept && (r & 8) != 0) { /* undecided */
            p->in[CAROMI_HIT_TRIANGLE][i] = UINT32_MAX;
            p->in[CAROMI_HIT_T][i] |= 0x7f800001;
        }
        kept_rows[i] = (uint8_t)kept;
    }
    for (uint32_t i = 0; i < PROBE_ROWS; i++)
        for (uint32_t c = 0; kept_rows[i] && c < CAROMI_HIT_CONTACT; c++) {
            const size_t size = caromi_hit_size(c);
            memcpy((char *)p->expected[c] + i * size, (const char *)p->in[c] + i * size, size);
        }
}

static carom_status launch_probe(caromi_device *d, caromi_cl_slot *slot, const void *user, carom_error *err)
{
    const uint32_t *out_count = user;
    for (uint32_t c = 0; c < *out_count; c++)
        CHECK(caromi_copy(d, slot->queue, slot->in[c].memory, slot->out[c].memory,
                          (size_t)slot->padded * caromi_hit_size(c), err));
    return CAROM_OK;
}

/* out_count: number of output columns, with contacts or without. */
static carom_status run_probe(caromi_device *d, compact_probe *p, uint32_t out_count, carom_error *err)
{
    caromi_in_column in[CAROMI_HIT_CONTACT];
    caromi_out_column out[CAROMI_HIT_CONTACT];
    caromi_stream s = {.count = PROBE_ROWS,
                       .chunk = PROBE_ROWS,
                       .in_count = CAROMI_HIT_CONTACT,
                       .out_count = out_count,
                       .in = in,
                       .out = out,
                       .launch = launch_probe,
                       .user = &out_count};
    uint64_t done = 0;
    carom_stats stats = {.size = sizeof stats};
    make_probe(p);
    for (uint32_t c = 0; c < CAROMI_HIT_CONTACT; c++) {
        s.out_size[c] = caromi_hit_size(c);
        in[c] = (caromi_in_column){.base = p->in[c], .stride = sizeof(uint32_t)};
        out[c] = (caromi_out_column){p->got[c], s.out_size[c]};
    }
    caromi_compact_stream(&s);
    carom_status status = caromi_stream_run(d, &s, &done, &stats, err);
    for (uint32_t c = 0; status == CAROM_OK && !d->compaction_unavailable && c < out_count; c++)
        status = caromi_probe_compare(d, CAROMI_PROGRAM_COMPACT_FILL, PROBE_ROWS, c, p->got[c], p->expected[c],
                                      s.out_size[c], err);
    return status;
}

carom_status caromi_probe_compact(caromi_device *d, carom_error *err)
{
    static const uint32_t programs[] = {CAROMI_PROGRAM_PREFIX_SUM, CAROMI_PROGRAM_COMPACT_COUNT,
                                        CAROMI_PROGRAM_COMPACT_FILL};
    carom_error why = {CAROM_OK, 0, ""};
    if (d->unified || d->compaction_unavailable || d->programs[CAROMI_PROGRAM_COMPACT_FILL].probed)
        return CAROM_OK;
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++)
        if (caromi_program_build(d, programs[i], &why) != CAROM_OK) {
            give_up(d, &why);
            return CAROM_OK;
        }
    compact_probe *p = caromi_alloc(d->context, 1, sizeof *p);
    if (p == NULL)
        return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory for the bit probe (%zu bytes)", sizeof *p);
    d->probing = 1;
    carom_status status = run_probe(d, p, CAROMI_HIT_FIRST, err);
    if (status == CAROM_OK)
        status = run_probe(d, p, CAROMI_HIT_CONTACT, err);
    d->probing = 0;
    d->programs[CAROMI_PROGRAM_COMPACT_FILL].probed = status == CAROM_OK;
    caromi_free(d->context, p);
    return status;
}
