/* SPDX-License-Identifier: MIT */
#include "staging.h"

#include <string.h>

#include "buffer.h"
#include "arrays.h"

enum { STAGING_MAX = 2 * 3 * CAROMI_ARRAYS_MAX }; /* inputs and outputs, each up to three arrays */
enum { PIECE = 1 << 20 };                         /* bytes that are read and written at a time around gaps */

carom_status caromi_staging_prepare(carom_context *c, carom_error *err)
{
    if (c->staging == NULL)
        c->staging = caromi_alloc(c, STAGING_MAX, sizeof *c->staging);
    return c->staging != NULL ? CAROM_OK
                              : caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory for a buffer (%zu bytes)",
                                            STAGING_MAX * sizeof *c->staging);
}

/* ---- locations of the arrays ------------------------------------------------------------------------------------- */

static carom_status add_part(carom_context *c, const caromi_array *a, int part, int is_output, carom_error *err)
{
    union {
        const void *given;
        char *bytes; /* an address in a buffer's range, which the library owns */
    } base = {a->base[part]};
    char *begin = base.bytes, *end = begin + (a->count - 1) * a->stride + a->size;
    carom_buffer *b = caromi_buffer_at(c, begin, end);
    const char *letter = caromi_letter_of(a, part);
    if (b == NULL && caromi_is_foreign(begin, end))
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0,
                           "%s%s lies in a buffer of another context; the array must lie in one of its own or in none",
                           a->name, letter);
    if (b == NULL)
        return CAROM_OK;
    if (begin < b->base)
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0,
                           "%s%s begins %llu bytes before the buffer that it ends in; an array lies in one buffer or "
                           "in none",
                           a->name, letter, (unsigned long long)(b->base - begin));
    if (end > b->base + b->bytes)
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0,
                           "%s%s reaches beyond the end of its buffer: %llu bytes from offset %llu on, of %llu",
                           a->name, letter, (unsigned long long)(end - begin), (unsigned long long)(begin - b->base),
                           (unsigned long long)b->bytes);
    if (b->mapped != 0)
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0,
                           "%s%s lies in a buffer that is mapped; it must be unmapped before a call uses it", a->name,
                           letter);
    if ((b->use & (is_output ? CAROM_ACCESS_WRITE : CAROM_ACCESS_READ)) == 0)
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0,
                           is_output ? "%s%s is an output, but lies in memory that was made with CL_MEM_READ_ONLY or "
                                       "CL_MEM_HOST_READ_ONLY"
                                     : "%s%s is an input, but lies in memory that was made with CL_MEM_WRITE_ONLY",
                           a->name, letter);
    if (b->store != NULL)
        c->staging[c->staging_count++] = (caromi_staging_copy){.buffer = b,
                                                               .begin = begin,
                                                               .end = end,
                                                               .is_output = is_output,
                                                               .count = a->count,
                                                               .stride = a->stride,
                                                               .size = a->size,
                                                               .written = a->written};
    return CAROM_OK;
}

static carom_status add_arrays(carom_context *c, const caromi_arrays *a, carom_error *err)
{
    for (uint32_t i = 0; i < a->in_count; i++)
        for (int part = 0; part < caromi_parts_of(&a->in_array[i]); part++)
            CHECK(add_part(c, &a->in_array[i], part, 0, err));
    for (uint32_t i = 0; i < a->out_count; i++)
        for (int part = 0; part < caromi_parts_of(&a->out_array[i]); part++)
            CHECK(add_part(c, &a->out_array[i], part, 1, err));
    return CAROM_OK;
}

/* ---- runs of bytes ----------------------------------------------------------------------------------------------- */

/* Bytes of a buffer that are transferred at once. */
typedef struct byte_run {
    carom_buffer *buffer;
    char *begin, *end;
    int has_gaps; /* not all of them are the call's */
} byte_run;

/* Adds a run to those before it, by address. */
static void add_run(byte_run *runs, uint32_t *count, byte_run run)
{
    uint32_t at = (*count)++;
    for (; at > 0 && run.begin < runs[at - 1].begin; at--)
        runs[at] = runs[at - 1];
    runs[at] = run;
}

/* Joins runs, so that interleaved members of structures are transferred once. Returns their number. */
static uint32_t join_runs(byte_run *runs, uint32_t count)
{
    uint32_t joined = 0;
    for (uint32_t i = 0; i < count; i++) {
        const byte_run *next = &runs[i];
        byte_run *last = &runs[joined > 0 ? joined - 1 : 0];
        if (joined == 0 || next->buffer != last->buffer || next->begin > last->end ||
            (next->begin == last->end && next->has_gaps != last->has_gaps)) {
            runs[joined++] = *next;
            continue;
        }
        last->end = next->end > last->end ? next->end : last->end;
        last->has_gaps |= next->has_gaps;
    }
    return joined;
}

/* Elements [from, to) of an array. */
typedef struct element_range {
    uint64_t from, to;
} element_range;

/* The elements of an output that the call has written. */
static element_range written_of(const carom_context *c, const caromi_staging_copy *s, carom_status status)
{
    const caromi_written *w = &s->written;
    const uint64_t unknown = status == CAROM_OK ? s->count : 0;
    uint64_t answered = c->staging_answered != UINT64_MAX ? c->staging_answered : unknown;
    if (w->extent == CAROMI_SINGLE)
        return (element_range){0, s->count};
    if (w->extent == CAROMI_PER_RECORD)
        return (element_range){0, *w->end < s->count ? *w->end : s->count};
    if (w->extent != CAROMI_PER_OFFSET)
        return (element_range){c->staging_from, answered < s->count && status != CAROM_OK ? answered : s->count};
    if (answered < *w->end - w->begin) /* the list ended within a piece of the batch */
        answered = *w->end - w->begin;
    return (element_range){w->begin, answered < s->count - w->begin ? w->begin + answered + 1 : s->count};
}

/* Whether there are bytes between the elements of an output that no output of the call fills. */
static int has_gaps(const carom_context *c, const caromi_staging_copy *s)
{
    size_t filled = 0;
    for (uint32_t i = 0; i < c->staging_count; i++) {
        const caromi_staging_copy *o = &c->staging[i];
        const size_t apart = (size_t)(o->begin < s->begin ? s->begin - o->begin : o->begin - s->begin);
        if (o->is_output && o->stride == s->stride && o->count == s->count && o->written.extent == s->written.extent &&
            apart < s->stride)
            filled += o->size;
    }
    return s->count > 1 && filled < s->stride;
}

/* ---- transfers --------------------------------------------------------------------------------------------------- */

static carom_status read_bytes(carom_context *c, const byte_run *run, char *to, carom_error *err)
{
    const double start = caromi_now();
    const uint64_t bytes = (uint64_t)(run->end - run->begin);
    CHECK(caromi_driver.memory_read(run->buffer->store, (uint64_t)(run->begin - run->buffer->base), to, bytes, err));
    c->staging_traffic.brought += bytes;
    c->staging_traffic.bringing += caromi_now() - start;
    return CAROM_OK;
}

static carom_status write_bytes(carom_context *c, const byte_run *run, const char *from, carom_error *err)
{
    const uint64_t bytes = (uint64_t)(run->end - run->begin);
    CHECK(caromi_driver.memory_write(run->buffer->store, (uint64_t)(run->begin - run->buffer->base), from, bytes, err));
    c->staging_traffic.returned += bytes;
    return CAROM_OK;
}

static carom_status open_ranges(caromi_staging_copy *copies, uint32_t count, carom_error *err)
{
    for (uint32_t i = 0; i < count; i++)
        copies[i].is_on_host = 1;
    for (uint32_t i = 0; i < count; i++)
        if (!caromi_range_open(copies[i].begin, copies[i].end))
            return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0,
                               "no memory to bring %llu bytes of a buffer to the host",
                               (unsigned long long)(copies[i].end - copies[i].begin));
    return CAROM_OK;
}

/* Whether an output is read before the call: a single number, as some calls leave it alone, and bytes between elements.
 * Not those between records, of which only the call finds out how many there are. */
static int is_read_first(const carom_context *c, const caromi_staging_copy *s)
{
    return s->written.extent == CAROMI_SINGLE || (s->written.extent != CAROMI_PER_RECORD && has_gaps(c, s));
}

/* Brings copies to the host: their pages, and the contents of inputs and of some outputs, or of all. */
static carom_status show(carom_context *c, caromi_staging_copy *copies, uint32_t count, int reads_outputs,
                         carom_error *err)
{
    byte_run runs[STAGING_MAX];
    uint32_t run_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        copies[i].is_read = !copies[i].is_output || reads_outputs || is_read_first(c, &copies[i]);
        if (copies[i].is_read)
            add_run(runs, &run_count, (byte_run){copies[i].buffer, copies[i].begin, copies[i].end, 0});
    }
    run_count = join_runs(runs, run_count);
    CHECK(open_ranges(copies, count, err));
    for (uint32_t i = 0; i < run_count; i++)
        CHECK(read_bytes(c, &runs[i], runs[i].begin, err));
    return CAROM_OK;
}

/* Copies the bytes of an output's written elements that lie in a run to `piece`, which stands for the run. */
static void put_elements(const caromi_staging_copy *s, element_range written, const byte_run *run, char *piece)
{
    if (s->end <= run->begin || run->end <= s->begin)
        return;
    const uint64_t before = run->begin > s->begin ? (uint64_t)(run->begin - s->begin) / s->stride : 0;
    for (uint64_t i = before > written.from ? before : written.from; i < written.to; i++) {
        const char *element = s->begin + i * s->stride, *last = element + s->size;
        if (element >= run->end)
            return;
        const char *from = element > run->begin ? element : run->begin, *to = last < run->end ? last : run->end;
        if (from == element && to == from + sizeof(float))
            memcpy(piece + (from - run->begin), from, sizeof(float));
        else if (from < to)
            memcpy(piece + (from - run->begin), from, (size_t)(to - from));
    }
}

/* Writes a run back without a change of the bytes between its elements: reads it, piece by piece, and puts the elements
 * in. */
static carom_status write_around_gaps(carom_context *c, const byte_run *run, carom_status status, carom_error *err)
{
    const size_t all = (size_t)(run->end - run->begin), size = all < PIECE ? all : PIECE;
    char *piece = caromi_alloc(c, 1, size);
    carom_status written = CAROM_OK;
    if (piece == NULL)
        return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0,
                           "no memory to return outputs whose elements have gaps (%zu bytes)", size);
    for (char *at = run->begin; written == CAROM_OK && at < run->end; at += size) {
        const byte_run part = {run->buffer, at, (size_t)(run->end - at) < size ? run->end : at + size, 1};
        written = read_bytes(c, &part, piece, err);
        for (uint32_t i = 0; written == CAROM_OK && i < c->staging_count; i++)
            if (c->staging[i].is_output)
                put_elements(&c->staging[i], written_of(c, &c->staging[i], status), &part, piece);
        if (written == CAROM_OK)
            written = write_bytes(c, &part, piece, err);
    }
    caromi_free(c, piece);
    return written;
}

/* Writes back what a call with this status has written. */
static carom_status write_back(carom_context *c, carom_status status, carom_error *err)
{
    byte_run runs[STAGING_MAX];
    const double start = caromi_now(), brought = c->staging_traffic.bringing;
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->staging_count; i++) {
        const caromi_staging_copy *s = &c->staging[i];
        const element_range e = s->is_output ? written_of(c, s, status) : (element_range){0, 0};
        if (e.from < e.to)
            add_run(runs, &count,
                    (byte_run){s->buffer, s->begin + e.from * s->stride, s->begin + (e.to - 1) * s->stride + s->size,
                               !s->is_read && has_gaps(c, s)});
    }
    count = join_runs(runs, count);
    for (uint32_t i = 0; i < count; i++)
        CHECK(runs[i].has_gaps ? write_around_gaps(c, &runs[i], status, err)
                               : write_bytes(c, &runs[i], runs[i].begin, err));
    c->staging_traffic.returning = caromi_now() - start - (c->staging_traffic.bringing - brought);
    return CAROM_OK;
}

/* ---- the copies of a call ---------------------------------------------------------------------------------------- */

carom_status caromi_staging_begin(carom_context *c, const caromi_arrays *a, int can_stay, carom_error *err)
{
    const uint32_t held = c->staging_count;
    CHECK(add_arrays(c, a, err));
    if (c->staging_count == held)
        return CAROM_OK;
    if (held == 0)
        c->staging_traffic = (caromi_traffic){0};
    c->staging_is_on_host = 0;
    c->staging_from = 0;
    c->staging_answered = UINT64_MAX;
    c->staging_is_unused = (can_stay & CAROMI_PREPARES) != 0;
    if (can_stay == CAROMI_PREPARES) /* a call that prepares treats them like arrays in host memory */
        c->staging_count = held;
    return can_stay != 0 ? CAROM_OK : caromi_staging_bring(c, 0, err);
}

carom_status caromi_staging_bring(carom_context *c, uint64_t answered, carom_error *err)
{
    if (c->staging_is_unused)
        return CAROM_OK;
    CHECK(show(c, c->staging, c->staging_count, answered == CAROMI_SOME, err));
    c->staging_from = answered != CAROMI_SOME ? answered : 0;
    c->staging_is_on_host = 1;
    return CAROM_OK;
}

carom_status caromi_staging_bring_input(carom_context *c, const void *base, carom_error *err)
{
    const char *begin = base;
    for (uint32_t i = 0; !c->staging_is_unused && i < c->staging_count;
         i++) /* several inputs may begin at that address */
        if (c->staging[i].begin == begin && !c->staging[i].is_on_host)
            CHECK(show(c, &c->staging[i], 1, 0, err));
    return CAROM_OK;
}

carom_status caromi_staging_bring_index(carom_context *c, const void *base, carom_error *err)
{
    if (base == NULL)
        return CAROM_OK;
    return caromi_resident_buffer(c, base) != NULL ? caromi_staging_bring_input(c, base, err)
                                                   : caromi_staging_bring(c, 0, err);
}

const carom_buffer *caromi_resident_buffer(const carom_context *c, const void *base)
{
    const char *at = base;
    for (uint32_t i = 0; caromi_has_residents(c) && i < c->staging_count; i++)
        if (c->staging[i].begin <= at && at < c->staging[i].end)
            return c->staging[i].buffer;
    return NULL;
}

/* Whether a call with this status has answers: a list without memory for more still has the records of earlier queries.
 */
static int has_answers(carom_status status)
{
    return status == CAROM_OK || status == CAROM_ERROR_CANCELLED || status == CAROM_ERROR_OUT_OF_MEMORY;
}

/* Adds the staging copies to the statistics; the times of caromi_run do not include them. */
static void add_traffic(const caromi_traffic *t, carom_stats *stats)
{
    stats->brought += t->brought;
    stats->returned += t->returned;
    stats->download += t->bringing;
    stats->upload += t->returning;
    stats->total += t->bringing + t->returning;
}

carom_status caromi_staging_end(carom_context *c, carom_status status, carom_stats *stats, carom_error *err)
{
    const uint32_t count = c->staging_count;
    if (c->staging_is_on_host && has_answers(status)) {
        const carom_status written = write_back(c, status, err);
        status = written != CAROM_OK ? written : status;
    }
    if (stats != NULL && c->staging_traffic.brought + c->staging_traffic.returned > 0 &&
        (status == CAROM_OK || status == CAROM_ERROR_CANCELLED))
        add_traffic(&c->staging_traffic, stats);
    for (uint32_t i = 0; i < count; i++)
        if (c->staging[i].is_on_host)
            caromi_buffer_close(c->staging[i].buffer, c->staging[i].begin, c->staging[i].end);
    caromi_buffers_trim(c, CAROMI_BUFFERS_KEPT);
    c->staging_count = 0;
    return status;
}
