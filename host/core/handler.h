/* SPDX-License-Identifier: MIT */
/* How every call with a batch is answered: by its type (calls/type.h), which says what members its descriptor and its
 * result have, and by a handler. From the type follow the checks of arguments and arrays, the columns of a batch, and
 * the copy that a job works on. */
#ifndef CAROM_HOST_CORE_HANDLER_H
#define CAROM_HOST_CORE_HANDLER_H
#include <string.h>

#include "arrays.h"
#include "calls/type.h"

enum { CAROMI_NO_WHICH = 0 };
/* A call by its arguments. */
typedef struct caromi_request {
    void *subject; /* a context or a mesh */
    const void *desc, *out;
    int which; /* the argument of that name, if the call has it; else CAROMI_NO_WHICH */
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

/* Runs a checked call that has a progress function. progress.c */
carom_status caromi_run_watched(const caromi_handler *handler, carom_context *context, const caromi_request *request,
                                carom_error *err);

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

CAROMI_LIST caromi_add_member(caromi_arrays *arrays, const caromi_member *member, const void *base, uint64_t count)
{
    const void *at = (const char *)base + member->offset;
    if (member->kind == CAROMI_POINTS)
        caromi_reads_points(arrays, member->name, at, count);
    else if (member->kind == CAROMI_SCALARS)
        caromi_reads_scalars(arrays, member->name, at, count);
    else if (member->kind == CAROMI_UINTS)
        caromi_reads_uints(arrays, member->name, at, count);
    else if (member->kind == CAROMI_NUMBER)
        caromi_reads_one(arrays, member->name, caromi_pointer_at(base, member->offset), member->size);
    else if (member->kind == CAROMI_POINTS_OUT)
        caromi_writes_points(arrays, member->name, at, count);
    else
        caromi_writes(arrays, member->name, caromi_pointer_at(base, member->offset), count, member->size);
}

CAROMI_LIST caromi_list_request(caromi_arrays *arrays, const caromi_call_type *type, const caromi_handler *handler,
                                const caromi_request *request, const uint64_t extent[CAROMI_EXTENTS])
{
    const carom_list_totals *totals = type->totals != 0 ? caromi_pointer_at(request->out, type->totals) : NULL;
    const carom_batch *batch = caromi_batch_of(request->desc);
    caromi_reads_one(arrays, "desc", request->desc, type->desc_size);
    CAROMI_UNROLL_MEMBERS
    for (int i = 0; i < (int)type->in.count; i++)
        caromi_add_member(arrays, &type->in.at[i], request->desc, extent[type->in.at[i].extent]);
    if (type->serves & CAROMI_SERVES_SELECT)
        caromi_reads_uints(arrays, "batch.select", &batch->select, batch->count);
    arrays->written = (caromi_written){CAROMI_PER_QUERY, 0, NULL};
    if (type->out_size == 0)
        caromi_writes(arrays, type->out_argument, request->out, batch->count, type->out_element);
    arrays->written.extent = CAROMI_SINGLE;
    if (type->out_size != 0)
        caromi_reads_one(arrays, type->out_argument, request->out, type->out_size);
    caromi_writes(arrays, "stats", request->stats, 1, sizeof *request->stats);
    caromi_writes(arrays, "totals", totals, 1, sizeof *totals);
    CAROMI_UNROLL_MEMBERS
    for (int i = 0; i < (int)type->out.count; i++) {
        const caromi_extent_kind kind = (caromi_extent_kind)type->out.at[i].extent;
        arrays->written = (caromi_written){kind, batch->begin,
                                           totals == NULL              ? NULL
                                           : kind == CAROMI_PER_RECORD ? &totals->stored
                                                                       : &totals->complete};
        caromi_add_member(arrays, &type->out.at[i], request->out, extent[type->out.at[i].extent]);
    }
    arrays->written = (caromi_written){CAROMI_SINGLE, 0, NULL};
    if (handler->more != NULL)
        handler->more(arrays, request);
}

CAROMI_INLINED carom_status caromi_check_view(const caromi_member *member, const void *desc, carom_error *err)
{
    const void *view = (const char *)desc + member->offset;
    if (member->kind == CAROMI_POINTS)
        return member->is_needed ? caromi_check_points(view, member->name, err)
                                 : caromi_check_optional_points(view, member->name, err);
    if (member->kind == CAROMI_SCALARS)
        return member->is_needed ? caromi_check_scalars(view, member->name, err)
                                 : caromi_check_optional_scalars(view, member->name, err);
    return member->kind == CAROMI_UINTS ? caromi_check_optional_uints(view, member->name, err) : CAROM_OK;
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
        const caromi_member *member = &type->out.at[i];
        if (member->kind == CAROMI_POINTS_OUT)
            CHECK(caromi_check_points_out((const void *)((const char *)out + member->offset), member->name, err));
        else if (member->is_needed && caromi_pointer_at(out, member->offset) == NULL)
            return caromi_fail_argument(err, "%s must not be NULL", member->name);
    }
    return CAROM_OK;
}

CAROMI_INLINED void caromi_set_inputs(caromi_members members, const void *desc, caromi_index first, caromi_index second,
                                      caromi_in_column *columns)
{
    CAROMI_UNROLL_MEMBERS
    for (int i = 0; i < (int)members.count; i++) {
        const caromi_member *member = &members.at[i];
        const void *view = (const char *)desc + member->offset;
        if (member->column == CAROMI_NO_COLUMN || caromi_pointer_at(view, 0) == NULL)
            continue;
        const caromi_index index = member->extent == CAROMI_PER_B ? second : first;
        if (member->kind == CAROMI_POINTS)
            caromi_points_to_columns(view, index, &columns[member->column]);
        else if (member->kind == CAROMI_SCALARS)
            caromi_scalars_to_column(view, index, &columns[member->column]);
        else if (member->kind == CAROMI_UINTS)
            caromi_uints_to_column(view, index, &columns[member->column]);
    }
}

CAROMI_INLINED void caromi_set_outputs(caromi_members members, const void *out, caromi_out_column *columns)
{
    CAROMI_UNROLL_MEMBERS
    for (int i = 0; i < (int)members.count; i++) {
        const caromi_member *member = &members.at[i];
        if (member->column == CAROMI_NO_COLUMN)
            continue;
        if (member->kind == CAROMI_POINTS_OUT)
            caromi_points_out_to_columns((const void *)((const char *)out + member->offset), &columns[member->column]);
        else
            columns[member->column] = (caromi_out_column){caromi_pointer_at(out, member->offset), member->size};
    }
}

CAROMI_LIST caromi_set_extents(const caromi_call_type *type, const caromi_request *request,
                               uint64_t extent[CAROMI_EXTENTS])
{
    const carom_batch *batch = caromi_batch_of(request->desc);
    for (int i = 0; i < CAROMI_EXTENTS; i++)
        extent[i] = batch->count;
    extent[CAROMI_PER_ELEMENT] = batch->select.data != NULL ? batch->elements : batch->count;
    extent[CAROMI_PER_OFFSET] = batch->count + 1;
    extent[CAROMI_PER_RECORD] = type->totals != 0 ? caromi_capacity_of(request->out) : 0;
}

/* Everything that a call checks without reading an element. Of a job that is all: it makes the call again, and what
 * jobs before it use may change meanwhile, so buffers are the job's concern. */
CAROMI_INLINED carom_status caromi_check_request(const caromi_call_type *type, const caromi_handler *handler,
                                                 carom_context *context, const caromi_request *request,
                                                 carom_error *err)
{
    const carom_batch *batch = caromi_batch_of(request->desc);
    uint64_t extent[CAROMI_EXTENTS];
    CHECK(caromi_check_batch(batch, type->desc_size, type->desc_name, type->serves, err));
    if (type->out_size != 0)
        CHECK(caromi_check_outputs(type, request->out, err));
    caromi_set_extents(type, request, extent);
    if (handler->check != NULL)
        CHECK(handler->check(request, extent, err));
    if (batch->count > 0)
        CHECK(caromi_check_inputs(type, request->desc, err));
    CAROMI_CHECK_STAYING_ARRAYS(caromi_use_of(batch, type->stays), batch->job == NULL ? context : NULL, err,
                                caromi_list_request, type, handler, request, extent);
    return CAROM_OK;
}

CAROMI_INLINED carom_status caromi_answer_request(const caromi_call_type *type, const caromi_handler *handler,
                                                  carom_context *context, const caromi_request *request,
                                                  carom_error *err)
{
    CHECK(caromi_check_request(type, handler, context, request, err));
    const carom_batch *batch = caromi_batch_of(request->desc);
    if (batch->job != NULL)
        return CAROM_OK;
    return batch->progress.fn == NULL || batch->prepare ? handler->run(request, err)
                                                        : caromi_run_watched(handler, context, request, err);
}

/* The whole of a public function with a batch. Inlined into each, where the type is known: a call of one query
 * pays for its members alone. */
CAROMI_INLINED carom_status caromi_answer(const caromi_call_type *type, const caromi_handler *handler,
                                          carom_context *context, const caromi_request *request, carom_error *err)
{
    if (request->desc == NULL || request->out == NULL)
        return caromi_fail_argument(err, "%s must not be NULL", request->desc == NULL ? "desc" : type->out_argument);
    CHECK(caromi_check_stats(request->stats, err));
    const carom_batch *batch = caromi_batch_of(request->desc);
    const int is_job = batch->job != NULL;
    if ((is_job || batch->wait_count > 0) && batch->size == type->desc_size)
        CHECK(caromi_meet_jobs(batch, err));
    CAROMI_CALL(is_job ? NULL : context, request->stats, err,
                caromi_answer_request(type, handler, context, request, err),
                if (is_job && status_ == CAROM_OK) status_ = caromi_submit(
                    context,
                    &(const caromi_call){type->call, request->subject, request->desc, type->desc_size, request->out,
                                         type->out_size, request->which, request->stats, type->enqueues},
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
