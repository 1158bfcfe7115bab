/* SPDX-License-Identifier: MIT */
#include "staging.h"

#include "buffer.h"
#include "arrays.h"
#include "range.h"

enum { STAGING_MAX = 2 * 3 * CAROMI_ARRAYS_MAX }; /* inputs and outputs, each up to three arrays */

carom_status caromi_staging_prepare(carom_context *c, carom_error *err)
{
    if (c->staging == NULL)
        c->staging = caromi_alloc(c, STAGING_MAX, sizeof *c->staging);
    return c->staging != NULL ? CAROM_OK
                              : caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory for a buffer (%zu bytes)",
                                            STAGING_MAX * sizeof *c->staging);
}

/* ---- locations of the arrays ------------------------------------------------------------------------------------- */

/* Whether the elements fill their bytes without gaps: packed, or x, y and z interleaved. */
static int is_packed(const caromi_array *a)
{
    const char *const x = a->base[0], *const y = a->base[1], *const z = a->base[2];
    return a->stride == a->size || (y != NULL && a->stride == 3 * a->size && y == x + a->size && z == y + a->size);
}

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
    if (b->store != NULL)
        c->staging[c->staging_count++] = (caromi_staging_copy){.buffer = b,
                                                               .begin = begin,
                                                               .end = end,
                                                               .is_output = is_output,
                                                               .stored = a->stored,
                                                               .stride = a->stride,
                                                               .size = a->size,
                                                               .is_packed = is_packed(a)};
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

/* ---- transfers --------------------------------------------------------------------------------------------------- */

/* The end of a copy's bytes that are transferred; its beginning if there are none. */
static char *end_of(const caromi_staging_copy *s, int back)
{
    if (!back)
        return s->stored != NULL && s->is_packed ? s->begin : s->end;
    if (!s->is_output || (s->stored != NULL && *s->stored == 0))
        return s->begin;
    return s->stored != NULL ? s->begin + (*s->stored - 1) * s->stride + s->size : s->end;
}

/* Sorts copies by address and merges adjacent ones, so that interleaved members of structures are transferred once.
 * back: to the device. Returns the number of merged copies. */
static uint32_t merge(const caromi_staging_copy *copies, uint32_t count, int back, caromi_staging_copy *runs)
{
    uint32_t sorted = 0, merged = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = sorted;
        char *const end = end_of(&copies[i], back);
        if (end == copies[i].begin)
            continue;
        for (; at > 0 && copies[i].begin < runs[at - 1].begin; at--)
            runs[at] = runs[at - 1];
        runs[at] = copies[i];
        runs[at].end = end;
        sorted++;
    }
    for (uint32_t i = 0; i < sorted; i++) {
        caromi_staging_copy *last = &runs[merged > 0 ? merged - 1 : 0];
        if (merged == 0 || runs[i].buffer != last->buffer || runs[i].begin > last->end)
            runs[merged++] = runs[i];
        else if (runs[i].end > last->end)
            last->end = runs[i].end;
    }
    return merged;
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

/* Brings copies to the host. Outputs are read too: the bytes between strided answers must keep their values, and so
 * must answers that a cancelled call does not reach. Packed records of a list are not read, as only stored records are
 * written back. */
static carom_status show(carom_context *c, caromi_staging_copy *copies, uint32_t count, carom_error *err)
{
    caromi_staging_copy runs[STAGING_MAX];
    const double start = caromi_now();
    const uint32_t merged = merge(copies, count, 0, runs);
    CHECK(open_ranges(copies, count, err));
    for (uint32_t i = 0; i < merged; i++) {
        const uint64_t bytes = (uint64_t)(runs[i].end - runs[i].begin);
        CHECK(caromi_driver.memory_read(runs[i].buffer->store, (uint64_t)(runs[i].begin - runs[i].buffer->base),
                                        runs[i].begin, bytes, err));
        c->staging_traffic.brought += bytes;
    }
    c->staging_traffic.bringing += caromi_now() - start;
    return CAROM_OK;
}

static carom_status write_back(carom_context *c, const caromi_staging_copy *copies, uint32_t count, carom_error *err)
{
    caromi_staging_copy runs[STAGING_MAX];
    const double start = caromi_now();
    const uint32_t merged = merge(copies, count, 1, runs);
    for (uint32_t i = 0; i < merged; i++) {
        const uint64_t bytes = (uint64_t)(runs[i].end - runs[i].begin);
        CHECK(caromi_driver.memory_write(runs[i].buffer->store, (uint64_t)(runs[i].begin - runs[i].buffer->base),
                                         runs[i].begin, bytes, err));
        c->staging_traffic.returned += bytes;
    }
    c->staging_traffic.returning += caromi_now() - start;
    return CAROM_OK;
}

carom_status caromi_staging_begin(carom_context *c, const caromi_arrays *a, int can_stay, carom_error *err)
{
    const uint32_t held = c->staging_count;
    CHECK(add_arrays(c, a, err));
    if (c->staging_count == held)
        return CAROM_OK;
    if (held == 0)
        c->staging_traffic = (caromi_traffic){0};
    c->staging_is_on_host = 0;
    c->staging_is_unused = (can_stay & CAROMI_PREPARES) != 0;
    if (can_stay == CAROMI_PREPARES) /* a call that prepares treats them like arrays in host memory */
        c->staging_count = held;
    return can_stay != 0 ? CAROM_OK : caromi_staging_bring(c, err);
}

carom_status caromi_staging_bring(carom_context *c, carom_error *err)
{
    if (c->staging_is_unused)
        return CAROM_OK;
    CHECK(show(c, c->staging, c->staging_count, err));
    c->staging_is_on_host = 1;
    return CAROM_OK;
}

carom_status caromi_staging_bring_input(carom_context *c, const void *base, carom_error *err)
{
    const char *begin = base;
    for (uint32_t i = 0; !c->staging_is_unused && i < c->staging_count;
         i++) /* several inputs may begin at that address */
        if (c->staging[i].begin == begin && !c->staging[i].is_on_host)
            CHECK(show(c, &c->staging[i], 1, err));
    return CAROM_OK;
}

carom_status caromi_staging_bring_index(carom_context *c, const void *base, carom_error *err)
{
    if (base == NULL)
        return CAROM_OK;
    return caromi_resident_buffer(c, base) != NULL ? caromi_staging_bring_input(c, base, err)
                                                   : caromi_staging_bring(c, err);
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
        const carom_status written = write_back(c, c->staging, count, err);
        status = written != CAROM_OK ? written : status;
    }
    if (stats != NULL && c->staging_traffic.brought + c->staging_traffic.returned > 0 &&
        (status == CAROM_OK || status == CAROM_ERROR_CANCELLED))
        add_traffic(&c->staging_traffic, stats);
    for (uint32_t i = 0; i < count; i++)
        if (c->staging[i].is_on_host)
            caromi_range_close(c->staging[i].begin, c->staging[i].end);
    c->staging_count = 0;
    return status;
}
