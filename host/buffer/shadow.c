/* SPDX-License-Identifier: MIT */
#include "shadow.h"

#include "buffer.h"
#include "host/arrays.h"
#include "range.h"

enum { SHADOWS_MAX = 2 * 3 * CAROMI_ARRAYS_MAX }; /* inputs and outputs of x y z */

carom_status caromi_shadows_prepare(carom_context *c, carom_error *err)
{
    if (c->shadows == NULL)
        c->shadows = caromi_alloc(c, SHADOWS_MAX, sizeof *c->shadows);
    return c->shadows != NULL ? CAROM_OK
                              : caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory for a buffer (%zu bytes)",
                                            SHADOWS_MAX * sizeof *c->shadows);
}

/* ---- where the arrays lie ---------------------------------------------------------------------------------------- */

static carom_status add_part(carom_context *c, const caromi_array *a, int part, int is_output, carom_error *err)
{
    union {
        const void *given;
        char *bytes; /* at a buffer's address, which is ours */
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
        c->shadows[c->shadow_count++] = (caromi_shadow){b, begin, end, is_output, 0};
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

/* Shadows by address, those that meet as one: members of structures are transferred once. Returns how many are left. */
static uint32_t merge(const caromi_shadow *shadows, uint32_t count, int outputs_only, caromi_shadow *runs)
{
    uint32_t sorted = 0, merged = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = sorted;
        if (outputs_only && !shadows[i].is_output)
            continue;
        for (; at > 0 && shadows[i].begin < runs[at - 1].begin; at--)
            runs[at] = runs[at - 1];
        runs[at] = shadows[i];
        sorted++;
    }
    for (uint32_t i = 0; i < sorted; i++) {
        caromi_shadow *last = &runs[merged > 0 ? merged - 1 : 0];
        if (merged == 0 || runs[i].buffer != last->buffer || runs[i].begin > last->end)
            runs[merged++] = runs[i];
        else if (runs[i].end > last->end)
            last->end = runs[i].end;
    }
    return merged;
}

/* Outputs are read too: what a call leaves out of a list or between strided answers stays as it is. */
static carom_status show(caromi_shadow *shadows, uint32_t count, carom_error *err)
{
    caromi_shadow runs[SHADOWS_MAX];
    const uint32_t merged = merge(shadows, count, 0, runs);
    for (uint32_t i = 0; i < count; i++)
        shadows[i].is_shown = 1;
    for (uint32_t i = 0; i < merged; i++) {
        const caromi_shadow *run = &runs[i];
        const uint64_t bytes = (uint64_t)(run->end - run->begin);
        if (!caromi_range_open(run->begin, run->end))
            return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0,
                               "no memory to bring %llu bytes of a buffer to the host", (unsigned long long)bytes);
        CHECK(caromi_device_memory_read(run->buffer->store, (uint64_t)(run->begin - run->buffer->base), run->begin,
                                        bytes, err));
    }
    return CAROM_OK;
}

static carom_status write_back(const caromi_shadow *shadows, uint32_t count, carom_error *err)
{
    caromi_shadow runs[SHADOWS_MAX];
    const uint32_t merged = merge(shadows, count, 1, runs);
    for (uint32_t i = 0; i < merged; i++)
        CHECK(caromi_device_memory_write(runs[i].buffer->store, (uint64_t)(runs[i].begin - runs[i].buffer->base),
                                         runs[i].begin, (uint64_t)(runs[i].end - runs[i].begin), err));
    return CAROM_OK;
}

carom_status caromi_shadows_begin(carom_context *c, const caromi_arrays *a, int can_stay, carom_error *err)
{
    const uint32_t held = c->shadow_count;
    CHECK(add_arrays(c, a, err));
    if (c->shadow_count == held)
        return CAROM_OK;
    c->shadows_shown = 0;
    c->shadows_unasked = (can_stay & CAROMI_PREPARES) != 0;
    if (can_stay == CAROMI_PREPARES) /* as if they were in the program's memory */
        c->shadow_count = held;
    return can_stay != 0 ? CAROM_OK : caromi_shadows_bring(c, err);
}

carom_status caromi_shadows_bring(carom_context *c, carom_error *err)
{
    if (c->shadows_unasked)
        return CAROM_OK;
    CHECK(show(c->shadows, c->shadow_count, err));
    c->shadows_shown = 1;
    return CAROM_OK;
}

carom_status caromi_shadows_bring_input(carom_context *c, const void *base, carom_error *err)
{
    const char *begin = base;
    for (uint32_t i = 0; !c->shadows_unasked && i < c->shadow_count; i++) /* several inputs may begin there */
        if (c->shadows[i].begin == begin && !c->shadows[i].is_shown)
            CHECK(show(&c->shadows[i], 1, err));
    return CAROM_OK;
}

carom_status caromi_shadows_bring_index(carom_context *c, const void *base, carom_error *err)
{
    if (base == NULL)
        return CAROM_OK;
    return caromi_resident_buffer(c, base) != NULL ? caromi_shadows_bring_input(c, base, err)
                                                   : caromi_shadows_bring(c, err);
}

const carom_buffer *caromi_resident_buffer(const carom_context *c, const void *base)
{
    const char *at = base;
    for (uint32_t i = 0; caromi_has_residents(c) && i < c->shadow_count; i++)
        if (c->shadows[i].begin <= at && at < c->shadows[i].end)
            return c->shadows[i].buffer;
    return NULL;
}

/* A list that runs out of memory has the records of the queries before. */
static int has_answers(carom_status status)
{
    return status == CAROM_OK || status == CAROM_ERROR_CANCELLED || status == CAROM_ERROR_OUT_OF_MEMORY;
}

carom_status caromi_shadows_end(carom_context *c, uint32_t held, carom_status status, carom_error *err)
{
    const caromi_shadow *own = c->shadows + held;
    const uint32_t count = c->shadow_count - held;
    if (c->shadows_shown && has_answers(status)) {
        const carom_status written = write_back(own, count, err);
        status = written != CAROM_OK ? written : status;
    }
    for (uint32_t i = 0; i < count; i++)
        if (own[i].is_shown)
            caromi_range_close(own[i].begin, own[i].end);
    c->shadow_count = held;
    return status;
}
