/* SPDX-License-Identifier: MIT */
#include "staging.h"

#include <string.h>

#include "buffer.h"
#include "arrays.h"

/* Inputs and outputs, each up to three arrays; and memory of the call's own. */
enum { STAGING_MAX = 2 * 3 * CAROMI_ARRAYS_MAX + CAROMI_STAGING_WORK };
enum { PIECE = 1 << 20 }; /* bytes that are read and written at a time around gaps */

carom_status caromi_staging_prepare(carom_context *context, carom_error *err)
{
    if (context->staging == NULL)
        context->staging = caromi_alloc(context, STAGING_MAX, sizeof *context->staging);
    return context->staging != NULL
               ? CAROM_OK
               : caromi_fail_memory(err, "no memory for a buffer (%zu bytes)", STAGING_MAX * sizeof *context->staging);
}

/* ---- locations of the arrays ------------------------------------------------------------------------------------- */

static carom_status add_part(carom_context *context, const caromi_array *array, int part, int is_output,
                             carom_error *err)
{
    union {
        const void *given;
        char *bytes; /* an address in a buffer's range, which the library owns */
    } base = {array->base[part]};
    char *begin = base.bytes, *end = begin + (array->count - 1) * array->stride + array->size;
    carom_buffer *buffer = caromi_buffer_at(context, begin, end);
    const char *letter = caromi_letter_of(array, part);
    if (buffer == NULL && caromi_is_foreign(begin, end))
        return caromi_fail_argument(
            err, "%s%s lies in a buffer of another context; the array must lie in one of its own or in none",
            array->name, letter);
    if (buffer == NULL)
        return CAROM_OK;
    if (begin < buffer->base)
        return caromi_fail_argument(
            err, "%s%s begins %llu bytes before the buffer that it ends in; an array lies in one buffer or in none",
            array->name, letter, (unsigned long long)(buffer->base - begin));
    if (end > buffer->base + buffer->bytes)
        return caromi_fail_argument(
            err, "%s%s reaches beyond the end of its buffer: %llu bytes from offset %llu on, of %llu", array->name,
            letter, (unsigned long long)(end - begin), (unsigned long long)(begin - buffer->base),
            (unsigned long long)buffer->bytes);
    if (buffer->mapped != 0)
        return caromi_fail_argument(err,
                                    "%s%s lies in a buffer that is mapped; it must be unmapped before a call uses it",
                                    array->name, letter);
    if ((buffer->use & (is_output ? CAROM_ACCESS_WRITE : CAROM_ACCESS_READ)) == 0)
        return caromi_fail_argument(
            err,
            is_output ? "%s%s is an output, but lies in memory that was made with CL_MEM_READ_ONLY or "
                        "CL_MEM_HOST_READ_ONLY"
                      : "%s%s is an input, but lies in memory that was made with CL_MEM_WRITE_ONLY",
            array->name, letter);
    if (buffer->store != NULL)
        context->staging[context->staging_count++] = (caromi_staging_copy){.buffer = buffer,
                                                                           .begin = begin,
                                                                           .end = end,
                                                                           .is_output = is_output,
                                                                           .count = array->count,
                                                                           .stride = array->stride,
                                                                           .size = array->size,
                                                                           .written = array->written};
    return CAROM_OK;
}

static carom_status add_arrays(carom_context *context, const caromi_arrays *arrays, carom_error *err)
{
    for (uint32_t i = 0; i < arrays->in_count; i++)
        for (int part = 0; part < caromi_parts_of(&arrays->in_array[i]); part++)
            CHECK(add_part(context, &arrays->in_array[i], part, CAROMI_IS_INPUT, err));
    for (uint32_t i = 0; i < arrays->out_count; i++)
        for (int part = 0; part < caromi_parts_of(&arrays->out_array[i]); part++)
            CHECK(add_part(context, &arrays->out_array[i], part, CAROMI_IS_OUTPUT, err));
    return CAROM_OK;
}

void caromi_staging_add_work(carom_context *context, carom_buffer *buffer)
{
    context->staging[context->staging_count++] =
        (caromi_staging_copy){.buffer = buffer, .begin = buffer->base, .end = buffer->base + buffer->bytes};
}

void caromi_staging_drop_work(carom_context *context, uint32_t held)
{
    context->staging_count = held;
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
static element_range written_of(const carom_context *context, const caromi_staging_copy *copy, carom_status status)
{
    const caromi_written *written = &copy->written;
    const uint64_t unknown = status == CAROM_OK ? copy->count : 0;
    uint64_t answered = context->staging_answered != UINT64_MAX ? context->staging_answered : unknown;
    if (written->extent == CAROMI_SINGLE)
        return (element_range){0, copy->count};
    if (written->extent == CAROMI_PER_RECORD)
        return (element_range){copy->answered, *written->end < copy->count ? *written->end : copy->count};
    if (written->extent != CAROMI_PER_OFFSET)
        return (element_range){context->staging_from,
                               answered < copy->count && status != CAROM_OK ? answered : copy->count};
    if (answered < *written->end - written->begin) /* the list ended within a piece of the batch */
        answered = *written->end - written->begin;
    return (element_range){written->begin + copy->answered,
                           answered < copy->count - written->begin ? written->begin + answered + 1 : copy->count};
}

/* Whether there are bytes between the elements of an output that no output of the call fills. */
static int has_gaps(const carom_context *context, const caromi_staging_copy *copy)
{
    size_t filled = 0;
    for (uint32_t i = 0; i < context->staging_count; i++) {
        const caromi_staging_copy *other = &context->staging[i];
        const size_t apart =
            (size_t)(other->begin < copy->begin ? copy->begin - other->begin : other->begin - copy->begin);
        if (other->is_output && other->stride == copy->stride && other->count == copy->count &&
            other->written.extent == copy->written.extent && apart < copy->stride)
            filled += other->size;
    }
    return copy->count > 1 && filled < copy->stride;
}

/* ---- transfers --------------------------------------------------------------------------------------------------- */

static carom_status read_bytes(carom_context *context, const byte_run *run, char *to, carom_error *err)
{
    const double start = caromi_now();
    const uint64_t bytes = (uint64_t)(run->end - run->begin);
    CHECK(caromi_driver.memory_read(run->buffer->store, (uint64_t)(run->begin - run->buffer->base), to, bytes, err));
    context->staging_traffic.brought += bytes;
    context->staging_traffic.bringing += caromi_now() - start;
    return CAROM_OK;
}

static carom_status write_bytes(carom_context *context, const byte_run *run, const char *from, carom_error *err)
{
    const uint64_t bytes = (uint64_t)(run->end - run->begin);
    CHECK(caromi_driver.memory_write(run->buffer->store, (uint64_t)(run->begin - run->buffer->base), from, bytes, err));
    context->staging_traffic.returned += bytes;
    return CAROM_OK;
}

static carom_status open_ranges(caromi_staging_copy *copies, uint32_t count, carom_error *err)
{
    for (uint32_t i = 0; i < count; i++)
        copies[i].is_on_host = 1;
    for (uint32_t i = 0; i < count; i++)
        if (!caromi_range_open(copies[i].begin, copies[i].end))
            return caromi_fail_memory(err, "no memory to bring %llu bytes of a buffer to the host",
                                      (unsigned long long)(copies[i].end - copies[i].begin));
    return CAROM_OK;
}

/* Whether an output is read before the call: a single number, as some calls leave it alone, and bytes between elements.
 * Not those between records, of which only the call finds out how many there are. */
static int is_read_first(const carom_context *context, const caromi_staging_copy *copy)
{
    return copy->written.extent == CAROMI_SINGLE ||
           (copy->written.extent != CAROMI_PER_RECORD && has_gaps(context, copy));
}

/* Brings copies to the host: their pages, and the contents of inputs and of some outputs, or of all. */
static carom_status show(carom_context *context, caromi_staging_copy *copies, uint32_t count, int reads_outputs,
                         carom_error *err)
{
    if (context->enqueued != NULL)
        return CAROM_ERROR_UNSUPPORTED; /* it becomes an ordinary job */
    byte_run runs[STAGING_MAX];
    uint32_t run_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (copies[i].is_output && copies[i].is_on_host) /* the call has begun to write it */
            continue;
        copies[i].is_read = !copies[i].is_output || reads_outputs || is_read_first(context, &copies[i]);
        if (copies[i].is_read)
            add_run(runs, &run_count, (byte_run){copies[i].buffer, copies[i].begin, copies[i].end, 0});
    }
    run_count = join_runs(runs, run_count);
    CHECK(open_ranges(copies, count, err));
    for (uint32_t i = 0; i < run_count; i++)
        CHECK(read_bytes(context, &runs[i], runs[i].begin, err));
    return CAROM_OK;
}

/* Copies the bytes of an output's written elements that lie in a run to `piece`, which stands for the run. */
static void put_elements(const caromi_staging_copy *copy, element_range written, const byte_run *run, char *piece)
{
    if (copy->end <= run->begin || run->end <= copy->begin)
        return;
    const uint64_t before = run->begin > copy->begin ? (uint64_t)(run->begin - copy->begin) / copy->stride : 0;
    for (uint64_t i = before > written.from ? before : written.from; i < written.to; i++) {
        const char *element = copy->begin + i * copy->stride, *last = element + copy->size;
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
static carom_status write_around_gaps(carom_context *context, const byte_run *run, carom_status status,
                                      carom_error *err)
{
    const size_t all = (size_t)(run->end - run->begin), size = all < PIECE ? all : PIECE;
    char *piece = caromi_alloc(context, 1, size);
    carom_status written = CAROM_OK;
    if (piece == NULL)
        return caromi_fail_memory(err, "no memory to return outputs whose elements have gaps (%zu bytes)", size);
    for (char *at = run->begin; written == CAROM_OK && at < run->end; at += size) {
        const byte_run part = {run->buffer, at, (size_t)(run->end - at) < size ? run->end : at + size, 1};
        written = read_bytes(context, &part, piece, err);
        for (uint32_t i = 0; written == CAROM_OK && i < context->staging_count; i++)
            if (context->staging[i].is_output)
                put_elements(&context->staging[i], written_of(context, &context->staging[i], status), &part, piece);
        if (written == CAROM_OK)
            written = write_bytes(context, &part, piece, err);
    }
    caromi_free(context, piece);
    return written;
}

/* Writes back what a call with this status has written. */
static carom_status write_back(carom_context *context, carom_status status, carom_error *err)
{
    byte_run runs[STAGING_MAX];
    const double start = caromi_now(), brought = context->staging_traffic.bringing;
    uint32_t count = 0;
    for (uint32_t i = 0; i < context->staging_count; i++) {
        const caromi_staging_copy *copy = &context->staging[i];
        const element_range elements =
            copy->is_output && copy->is_on_host ? written_of(context, copy, status) : (element_range){0, 0};
        if (elements.from < elements.to)
            add_run(runs, &count,
                    (byte_run){copy->buffer, copy->begin + elements.from * copy->stride,
                               copy->begin + (elements.to - 1) * copy->stride + copy->size,
                               !copy->is_read && has_gaps(context, copy)});
    }
    count = join_runs(runs, count);
    for (uint32_t i = 0; i < count; i++)
        CHECK(runs[i].has_gaps ? write_around_gaps(context, &runs[i], status, err)
                               : write_bytes(context, &runs[i], runs[i].begin, err));
    context->staging_traffic.returning = caromi_now() - start - (context->staging_traffic.bringing - brought);
    return CAROM_OK;
}

/* ---- the copies of a call ---------------------------------------------------------------------------------------- */

carom_status caromi_staging_begin(carom_context *context, const caromi_arrays *arrays, int can_stay, carom_error *err)
{
    const uint32_t held = context->staging_count;
    CHECK(add_arrays(context, arrays, err));
    if (context->staging_count == held)
        return CAROM_OK;
    if (held == 0)
        context->staging_traffic = (caromi_traffic){0};
    context->staging_is_on_host = 0;
    context->staging_from = 0;
    context->staging_answered = UINT64_MAX;
    context->staging_is_unused = (can_stay & CAROMI_PREPARES) != 0;
    if (can_stay == CAROMI_PREPARES) /* a call that prepares treats them like arrays in host memory */
        context->staging_count = held;
    return can_stay != 0 ? CAROM_OK : caromi_staging_bring(context, 0, err);
}

/* Elements of a list's array that a device has written when it has answered so many queries: records, or offsets from
 * that of the first query on. */
static uint64_t answered_of(const caromi_staging_copy *copy, uint64_t queries)
{
    if (!copy->is_output || queries == 0)
        return 0;
    return copy->written.extent == CAROMI_PER_RECORD   ? *copy->written.end
           : copy->written.extent == CAROMI_PER_OFFSET ? queries + 1
                                                       : 0;
}

carom_status caromi_staging_bring(carom_context *context, uint64_t answered, carom_error *err)
{
    if (context->staging_is_unused)
        return CAROM_OK;
    CHECK(show(context, context->staging, context->staging_count, answered == CAROMI_SOME, err));
    context->staging_from = answered != CAROMI_SOME ? answered : 0;
    for (uint32_t i = 0; i < context->staging_count; i++)
        context->staging[i].answered = answered_of(&context->staging[i], context->staging_from);
    context->staging_is_on_host = 1;
    return CAROM_OK;
}

carom_status caromi_staging_bring_array(carom_context *context, const void *base, carom_error *err)
{
    const char *begin = base;
    for (uint32_t i = 0; !context->staging_is_unused && i < context->staging_count;
         i++) /* several inputs may begin at that address */
        if (context->staging[i].begin == begin && !context->staging[i].is_on_host)
            CHECK(show(context, &context->staging[i], 1, 0, err));
    return CAROM_OK;
}

carom_status caromi_staging_bring_index(carom_context *context, const void *base, carom_error *err)
{
    if (base == NULL)
        return CAROM_OK;
    return caromi_resident_buffer(context, base) != NULL ? caromi_staging_bring_array(context, base, err)
                                                         : caromi_staging_bring(context, 0, err);
}

const carom_buffer *caromi_resident_buffer(const carom_context *context, const void *base)
{
    const char *at = base;
    for (uint32_t i = 0; caromi_has_residents(context) && i < context->staging_count; i++)
        if (context->staging[i].begin <= at && at < context->staging[i].end)
            return context->staging[i].buffer;
    return NULL;
}

/* Whether a call with this status has answers: a list without memory for more still has the records of earlier queries.
 */
static int has_answers(carom_status status)
{
    return status == CAROM_OK || status == CAROM_ERROR_CANCELLED || status == CAROM_ERROR_OUT_OF_MEMORY;
}

/* Adds the staging copies to the statistics; the times of caromi_run do not include them. */
static void add_traffic(const caromi_traffic *traffic, carom_stats *stats)
{
    stats->brought += traffic->brought;
    stats->returned += traffic->returned;
    stats->download += traffic->bringing;
    stats->upload += traffic->returning;
    stats->total += traffic->bringing + traffic->returning;
}

carom_status caromi_staging_end(carom_context *context, carom_status status, carom_stats *stats, carom_error *err)
{
    const uint32_t count = context->staging_count;
    if (has_answers(status)) {
        const carom_status written = write_back(context, status, err);
        status = written != CAROM_OK ? written : status;
    }
    if (stats != NULL && context->staging_traffic.brought + context->staging_traffic.returned > 0 &&
        (status == CAROM_OK || status == CAROM_ERROR_CANCELLED))
        add_traffic(&context->staging_traffic, stats);
    for (uint32_t i = 0; i < count; i++)
        if (context->staging[i].is_on_host)
            caromi_buffer_close(context->staging[i].buffer, context->staging[i].begin, context->staging[i].end);
    caromi_buffers_trim(context, CAROMI_BUFFERS_KEPT);
    context->staging_count = 0;
    return status;
}
