/* SPDX-License-Identifier: MIT */
/* How every call with a batch is answered: by its type (calls/type.h), which says what members its descriptor and its
 * result have, and by a handler. From the type follow the checks of arguments and arrays, the columns of a batch, and
 * the copy that a job works on. */
#ifndef CAROM_HOST_CORE_HANDLER_H
#define CAROM_HOST_CORE_HANDLER_H
#include <string.h>

#include "arrays.h"
#include "calls/type.h"

/* A call by its arguments. */
typedef struct caromi_request {
    void *subject; /* a context or a mesh */
    const void *desc, *out;
    int which; /* of a call with one more argument */
    carom_stats *stats;
} caromi_request;

/* Functions of a call that do not follow from its type. */
typedef struct caromi_handler {
    /* Checks options and sets extents that the batch alone does not tell. NULL: there are none. */
    carom_status (*check)(const caromi_request *request, uint64_t extent[CAROMI_EXTENTS], carom_error *err);
    /* Lists arrays that are no members. NULL: there are none. */
    void (*more)(caromi_arrays *arrays, const caromi_request *request);
    /* After all checks that read no element. */
    carom_status (*run)(const caromi_request *request, carom_error *err);
} caromi_handler;

#define CAROMI_UNROLL_MEMBERS _Pragma("GCC unroll 16")

static inline const carom_batch *caromi_batch_of(const void *desc)
{
    return desc; /* every descriptor begins with it */
}

/* Capacity of a list: behind its size, in every list. */
static inline uint64_t caromi_capacity_of(const void *list)
{
    uint64_t capacity;
    memcpy(&capacity, (const char *)list + sizeof(size_t), sizeof capacity);
    return capacity;
}

static inline void *caromi_pointer_at(const void *base, size_t offset)
{
    void *pointer;
    memcpy(&pointer, (const char *)base + offset, sizeof pointer);
    return pointer;
}

CAROMI_LIST caromi_add_member(caromi_arrays *a, const caromi_member *m, const void *base, uint64_t count)
{
    const void *at = (const char *)base + m->offset;
    if (m->kind == CAROMI_POINTS)
        caromi_reads_points(a, m->name, at, count);
    else if (m->kind == CAROMI_SCALARS)
        caromi_reads_scalars(a, m->name, at, count);
    else if (m->kind == CAROMI_UINTS)
        caromi_reads_uints(a, m->name, at, count);
    else if (m->kind == CAROMI_NUMBER)
        caromi_reads(a, m->name, caromi_pointer_at(base, m->offset), 1, 0, m->size);
    else if (m->kind == CAROMI_POINTS_OUT)
        caromi_writes_points(a, m->name, at, count);
    else
        caromi_writes(a, m->name, caromi_pointer_at(base, m->offset), count, m->size);
}

CAROMI_LIST caromi_list_request(caromi_arrays *a, const caromi_call_type *type, const caromi_handler *handler,
                                const caromi_request *r, const uint64_t extent[CAROMI_EXTENTS])
{
    const carom_list_totals *totals = type->totals != 0 ? caromi_pointer_at(r->out, type->totals) : NULL;
    const carom_batch *batch = caromi_batch_of(r->desc);
    caromi_reads(a, "desc", r->desc, 1, 0, type->desc_size);
    CAROMI_UNROLL_MEMBERS
    for (int i = 0; i < (int)type->in.count; i++)
        caromi_add_member(a, &type->in.at[i], r->desc, extent[type->in.at[i].extent]);
    if (type->serves & CAROMI_SERVES_SELECT)
        caromi_reads_uints(a, "batch.select", &batch->select, batch->count);
    if (type->out_size == 0)
        caromi_writes(a, type->out_argument, r->out, batch->count, type->out_element);
    else
        caromi_reads(a, type->out_argument, r->out, 1, 0, type->out_size);
    caromi_writes(a, "stats", r->stats, 1, sizeof *r->stats);
    caromi_writes(a, "totals", totals, 1, sizeof *totals);
    CAROMI_UNROLL_MEMBERS
    for (int i = 0; i < (int)type->out.count; i++) {
        a->stored = type->out.at[i].extent == CAROMI_PER_RECORD ? &totals->stored : NULL;
        caromi_add_member(a, &type->out.at[i], r->out, extent[type->out.at[i].extent]);
    }
    a->stored = NULL;
    if (handler->more != NULL)
        handler->more(a, r);
}

CAROMI_INLINED carom_status caromi_check_view(const caromi_member *m, const void *desc, carom_error *err)
{
    const void *view = (const char *)desc + m->offset;
    if (m->kind == CAROMI_POINTS)
        return m->is_needed ? caromi_check_points(view, m->name, err)
                            : caromi_check_optional_points(view, m->name, err);
    if (m->kind == CAROMI_SCALARS)
        return m->is_needed ? caromi_check_scalars(view, m->name, err)
                            : caromi_check_optional_scalars(view, m->name, err);
    return m->kind == CAROMI_UINTS ? caromi_check_optional_uints(view, m->name, err) : CAROM_OK;
}

CAROMI_INLINED carom_status caromi_check_inputs(const caromi_call_type *type, const void *desc, carom_error *err)
{
    CAROMI_UNROLL_MEMBERS
    for (int i = 0; i < (int)type->in.count; i++)
        CHECK(caromi_check_view(&type->in.at[i], desc, err));
    return CAROM_OK;
}

CAROMI_INLINED carom_status caromi_check_outputs(const caromi_call_type *type, const void *out, carom_error *err)
{
    size_t size;
    memcpy(&size, out, sizeof size);
    CHECK(caromi_check_desc(size, type->out_size, type->out_name, err));
    if (type->totals != 0)
        CHECK_NOT_NULL(caromi_pointer_at(out, type->totals), "totals", err);
    CAROMI_UNROLL_MEMBERS
    for (int i = 0; i < (int)type->out.count; i++) {
        const caromi_member *m = &type->out.at[i];
        if (m->kind == CAROMI_POINTS_OUT)
            CHECK(caromi_check_points_out((const void *)((const char *)out + m->offset), m->name, err));
        else if (m->is_needed && caromi_pointer_at(out, m->offset) == NULL)
            return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "%s must not be NULL", m->name);
    }
    return CAROM_OK;
}

CAROMI_INLINED void caromi_set_inputs(caromi_members members, const void *desc, caromi_index first, caromi_index second,
                                      caromi_in_column *columns)
{
    CAROMI_UNROLL_MEMBERS
    for (int i = 0; i < (int)members.count; i++) {
        const caromi_member *m = &members.at[i];
        const void *view = (const char *)desc + m->offset;
        if (m->column == CAROMI_NO_COLUMN || caromi_pointer_at(view, 0) == NULL)
            continue;
        const caromi_index index = m->extent == CAROMI_PER_B ? second : first;
        if (m->kind == CAROMI_POINTS)
            caromi_points_to_columns(view, index, &columns[m->column]);
        else if (m->kind == CAROMI_SCALARS)
            caromi_scalars_to_column(view, index, &columns[m->column]);
        else if (m->kind == CAROMI_UINTS)
            caromi_uints_to_column(view, index, &columns[m->column]);
    }
}

CAROMI_INLINED void caromi_set_outputs(caromi_members members, const void *out, caromi_out_column *columns)
{
    CAROMI_UNROLL_MEMBERS
    for (int i = 0; i < (int)members.count; i++) {
        const caromi_member *m = &members.at[i];
        if (m->column == CAROMI_NO_COLUMN)
            continue;
        if (m->kind == CAROMI_POINTS_OUT)
            caromi_points_out_to_columns((const void *)((const char *)out + m->offset), &columns[m->column]);
        else
            columns[m->column] = (caromi_out_column){caromi_pointer_at(out, m->offset), m->size};
    }
}

CAROMI_LIST caromi_set_extents(const caromi_call_type *type, const caromi_request *r, uint64_t extent[CAROMI_EXTENTS])
{
    const carom_batch *b = caromi_batch_of(r->desc);
    for (int i = 0; i < CAROMI_EXTENTS; i++)
        extent[i] = b->count;
    extent[CAROMI_PER_ELEMENT] = b->select.data != NULL ? b->elements : b->count;
    extent[CAROMI_PER_OFFSET] = b->count + 1;
    extent[CAROMI_PER_RECORD] = type->totals != 0 ? caromi_capacity_of(r->out) : 0;
}

/* Everything that a call checks without reading an element. Of a job that is all: it makes the call again, and what
 * jobs before it use may change meanwhile, so buffers are the job's concern. */
CAROMI_INLINED carom_status caromi_check_request(const caromi_call_type *type, const caromi_handler *handler,
                                                 carom_context *context, const caromi_request *r, carom_error *err)
{
    const carom_batch *batch = caromi_batch_of(r->desc);
    uint64_t extent[CAROMI_EXTENTS];
    CHECK(caromi_check_batch(batch, type->desc_size, type->desc_name, type->serves, err));
    if (type->out_size != 0)
        CHECK(caromi_check_outputs(type, r->out, err));
    caromi_set_extents(type, r, extent);
    if (handler->check != NULL)
        CHECK(handler->check(r, extent, err));
    if (batch->count > 0)
        CHECK(caromi_check_inputs(type, r->desc, err));
    CAROMI_CHECK_STAYING_ARRAYS(caromi_use_of(batch, type->stays), batch->job == NULL ? context : NULL, err,
                                caromi_list_request, type, handler, r, extent);
    return CAROM_OK;
}

CAROMI_INLINED carom_status caromi_answer_request(const caromi_call_type *type, const caromi_handler *handler,
                                                  carom_context *context, const caromi_request *r, carom_error *err)
{
    CHECK(caromi_check_request(type, handler, context, r, err));
    return caromi_batch_of(r->desc)->job != NULL ? CAROM_OK : handler->run(r, err);
}

/* The whole of a public function with a batch. Inlined into each, where the type is known: a call of one query
 * pays for its members alone. */
CAROMI_INLINED carom_status caromi_answer(const caromi_call_type *type, const caromi_handler *handler,
                                          carom_context *context, const caromi_request *r, carom_error *err)
{
    if (r->desc == NULL || r->out == NULL)
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "%s must not be NULL",
                           r->desc == NULL ? "desc" : type->out_argument);
    CHECK(caromi_check_stats(r->stats, err));
    const carom_batch *batch = caromi_batch_of(r->desc);
    const int is_job = batch->job != NULL;
    if ((is_job || batch->wait_count > 0) && batch->size == type->desc_size)
        CHECK(caromi_meet_jobs(batch, err));
    CAROMI_CALL(is_job ? NULL : context, r->stats, err, caromi_answer_request(type, handler, context, r, err),
                if (is_job && status_ == CAROM_OK) status_ =
                    caromi_submit(context,
                                  &(const caromi_call){type->call, r->subject, r->desc, type->desc_size, r->out,
                                                       type->out_size, r->which, r->stats},
                                  err));
}

/* A list without records, unless the call prepares. */
static inline void caromi_begin_list(const carom_batch *batch, uint64_t *offsets, carom_list_totals *totals)
{
    if (batch->prepare)
        return;
    *totals = (carom_list_totals){.complete = batch->begin};
    if (offsets != NULL)
        offsets[batch->begin] = 0;
}
#endif
