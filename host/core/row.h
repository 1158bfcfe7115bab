/* SPDX-License-Identifier: MIT */
/* One table of calls: a constant row says which members a call's descriptor and result have. From it follow the checks
 * of arguments and arrays, the columns of a batch, and the copy that a job works on. */
#ifndef CAROM_HOST_CORE_ROW_H
#define CAROM_HOST_CORE_ROW_H
#include <stddef.h>
#include <string.h>

#include "arrays.h"

typedef enum caromi_member_kind {
    CAROMI_POINTS, /* views, which a call reads */
    CAROMI_SCALARS,
    CAROMI_UINTS,
    CAROMI_NUMBER,     /* one number by pointer, or NULL */
    CAROMI_POINTS_OUT, /* arrays, which it fills; NULL: not wanted */
    CAROMI_ARRAY,
} caromi_member_kind;

/* How many elements a member has. */
typedef enum caromi_extent_kind {
    CAROMI_PER_QUERY,   /* batch.count */
    CAROMI_PER_ELEMENT, /* batch.elements, if the batch selects from them; else batch.count */
    CAROMI_PER_A,       /* the same by the indices of a pair's first thing, and of its second */
    CAROMI_PER_B,
    CAROMI_PER_NODE,   /* of the slabs that a lattice answers */
    CAROMI_PER_OFFSET, /* batch.count + 1 */
    CAROMI_PER_RECORD, /* the capacity of a list */
    CAROMI_SINGLE,
    CAROMI_EXTENTS
} caromi_extent_kind;

enum { CAROMI_NO_COLUMN = 255 };

typedef struct caromi_member {
    const char *name;
    uint16_t offset;
    uint8_t kind, extent;
    uint8_t column;    /* the first of a batch that it fills */
    uint8_t size;      /* bytes of an element */
    uint8_t is_needed; /* NULL is an error */
} caromi_member;

typedef struct caromi_members {
    const caromi_member *at;
    uint32_t count;
} caromi_members;
/* A row with more members than there is room for does not compile. */
#define CAROMI_COUNT_OF(array) (sizeof(array) / sizeof *(array))
#define CAROMI_MEMBERS(array)                                                                                   \
    {                                                                                                           \
        array, CAROMI_COUNT_OF(array) + 0 * sizeof(char[CAROMI_COUNT_OF(array) <= CAROMI_MEMBERS_MAX ? 1 : -1]) \
    }

/* Spell a member of structure `type`. */
#define CAROMI_MEMBER(type, member, kind, extent, column, size, needed)     \
    {                                                                       \
#member, offsetof(type, member), kind, extent, column, size, needed \
    }
#define CAROMI_VIEW(type, member, kind, extent, column, needed) \
    CAROMI_MEMBER(type, member, kind, extent, column, sizeof(float), needed)
#define CAROMI_FILLED(type, member, extent, column) \
    CAROMI_MEMBER(type, member, CAROMI_ARRAY, extent, column, sizeof *((type *)0)->member, 0)
#define CAROMI_FILLED_POINTS(type, member, extent, column) \
    CAROMI_MEMBER(type, member, CAROMI_POINTS_OUT, extent, column, sizeof(float), 0)

/* Of calls that say yes or no to each query. */
static const caromi_member caromi_any_out[] = {
    CAROMI_MEMBER(carom_any_result, hit, CAROMI_ARRAY, CAROMI_PER_QUERY, CAROMI_NO_COLUMN, sizeof(uint8_t), 1),
};

/* A call by its arguments. */
typedef struct caromi_request {
    void *subject; /* a context or a mesh */
    const void *desc, *out;
    int which; /* of a call with one more argument */
    carom_stats *stats;
} caromi_request;

typedef struct caromi_row {
    const char *out_argument; /* "out" or "list" */
    const char *desc_name, *out_name;
    size_t desc_size, out_size; /* out_size 0: the result is an array, an element of `out_element` bytes for a query */
    size_t out_element;
    caromi_members in, out;
    uint8_t serves;  /* as caromi_check_batch has it */
    uint8_t stays;   /* a device can use the arrays where they lie */
    uint16_t totals; /* offset of a list's totals in the result; 0: no list */
    /* Checks options and sets extents that the batch alone does not tell. NULL: there are none. */
    carom_status (*check)(const caromi_request *request, uint64_t extent[CAROMI_EXTENTS], carom_error *err);
    /* Lists arrays that are no members. NULL: there are none. */
    void (*more)(caromi_arrays *arrays, const caromi_request *request);
    /* After all checks that read no element. */
    carom_status (*run)(const caromi_request *request, carom_error *err);
    caromi_job_call *job; /* the public function, as a job makes it */
} caromi_row;

/* The first members of a row. */
#define CAROMI_ROW_WITHOUT_INPUTS(desc, argument, result, outputs)                                  \
    .out_argument = (argument), .desc_name = #desc, .out_name = #result, .desc_size = sizeof(desc), \
    .out_size = sizeof(result), .out = CAROMI_MEMBERS(outputs)
#define CAROMI_ROW_OF(desc, inputs, argument, result, outputs) \
    CAROMI_ROW_WITHOUT_INPUTS(desc, argument, result, outputs), .in = CAROMI_MEMBERS(inputs)
#define CAROMI_ROW_OF_ARRAY(desc, inputs, argument, type)                                                   \
    .out_argument = (argument), .desc_name = #desc, .desc_size = sizeof(desc), .out_element = sizeof(type), \
    .in = CAROMI_MEMBERS(inputs)

#define CAROMI_EACH_MEMBER _Pragma("GCC unroll 16")

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

CAROMI_LIST caromi_list_request(caromi_arrays *a, const caromi_row *row, const caromi_request *r,
                                const uint64_t extent[CAROMI_EXTENTS])
{
    const carom_list_totals *totals = row->totals != 0 ? caromi_pointer_at(r->out, row->totals) : NULL;
    const carom_batch *batch = caromi_batch_of(r->desc);
    caromi_reads(a, "desc", r->desc, 1, 0, row->desc_size);
    CAROMI_EACH_MEMBER
    for (int i = 0; i < (int)row->in.count; i++)
        caromi_add_member(a, &row->in.at[i], r->desc, extent[row->in.at[i].extent]);
    if (row->serves & CAROMI_SERVES_SELECT)
        caromi_reads_uints(a, "batch.select", &batch->select, batch->count);
    if (row->out_size == 0)
        caromi_writes(a, row->out_argument, r->out, batch->count, row->out_element);
    else
        caromi_reads(a, row->out_argument, r->out, 1, 0, row->out_size);
    caromi_writes(a, "stats", r->stats, 1, sizeof *r->stats);
    caromi_writes(a, "totals", totals, 1, sizeof *totals);
    CAROMI_EACH_MEMBER
    for (int i = 0; i < (int)row->out.count; i++) {
        a->stored = row->out.at[i].extent == CAROMI_PER_RECORD ? &totals->stored : NULL;
        caromi_add_member(a, &row->out.at[i], r->out, extent[row->out.at[i].extent]);
    }
    a->stored = NULL;
    if (row->more != NULL)
        row->more(a, r);
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

CAROMI_INLINED carom_status caromi_check_inputs(const caromi_row *row, const void *desc, carom_error *err)
{
    CAROMI_EACH_MEMBER
    for (int i = 0; i < (int)row->in.count; i++)
        CHECK(caromi_check_view(&row->in.at[i], desc, err));
    return CAROM_OK;
}

CAROMI_INLINED carom_status caromi_check_outputs(const caromi_row *row, const void *out, carom_error *err)
{
    size_t size;
    memcpy(&size, out, sizeof size);
    CHECK(caromi_check_desc(size, row->out_size, row->out_name, err));
    if (row->totals != 0)
        CHECK_NOT_NULL(caromi_pointer_at(out, row->totals), "totals", err);
    CAROMI_EACH_MEMBER
    for (int i = 0; i < (int)row->out.count; i++) {
        const caromi_member *m = &row->out.at[i];
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
    CAROMI_EACH_MEMBER
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
    CAROMI_EACH_MEMBER
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

CAROMI_LIST caromi_set_extents(const caromi_row *row, const caromi_request *r, uint64_t extent[CAROMI_EXTENTS])
{
    const carom_batch *b = caromi_batch_of(r->desc);
    for (int i = 0; i < CAROMI_EXTENTS; i++)
        extent[i] = b->count;
    extent[CAROMI_PER_ELEMENT] = b->select.data != NULL ? b->elements : b->count;
    extent[CAROMI_PER_OFFSET] = b->count + 1;
    extent[CAROMI_PER_RECORD] = row->totals != 0 ? caromi_capacity_of(r->out) : 0;
}

/* Everything that a call checks without reading an element. Of a job that is all: it makes the call again, and what
 * jobs before it use may change meanwhile, so buffers are the job's concern. */
CAROMI_INLINED carom_status caromi_check_request(const caromi_row *row, carom_context *context, const caromi_request *r,
                                                 carom_error *err)
{
    const carom_batch *batch = caromi_batch_of(r->desc);
    uint64_t extent[CAROMI_EXTENTS];
    CHECK(caromi_check_batch(batch, row->desc_size, row->desc_name, row->serves, err));
    if (row->out_size != 0)
        CHECK(caromi_check_outputs(row, r->out, err));
    caromi_set_extents(row, r, extent);
    if (row->check != NULL)
        CHECK(row->check(r, extent, err));
    if (batch->count > 0)
        CHECK(caromi_check_inputs(row, r->desc, err));
    CAROMI_CHECK_STAYING_ARRAYS(caromi_use_of(batch, row->stays), batch->job == NULL ? context : NULL, err,
                                caromi_list_request, row, r, extent);
    return CAROM_OK;
}

CAROMI_INLINED carom_status caromi_answer_request(const caromi_row *row, carom_context *context,
                                                  const caromi_request *r, carom_error *err)
{
    CHECK(caromi_check_request(row, context, r, err));
    return caromi_batch_of(r->desc)->job != NULL ? CAROM_OK : row->run(r, err);
}

/* The whole of a public function with a batch. Inlined into each, where the row is known: a call of one query
 * pays for its members alone. */
CAROMI_INLINED carom_status caromi_answer(const caromi_row *row, carom_context *context, const caromi_request *r,
                                          carom_error *err)
{
    if (r->desc == NULL || r->out == NULL)
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, 0, "%s must not be NULL",
                           r->desc == NULL ? "desc" : row->out_argument);
    CHECK(caromi_check_stats(r->stats, err));
    const carom_batch *batch = caromi_batch_of(r->desc);
    const int is_job = batch->job != NULL;
    if ((is_job || batch->wait_count > 0) && batch->size == row->desc_size)
        CHECK(caromi_meet_jobs(batch, err));
    CAROMI_CALL(is_job ? NULL : context, r->stats, err, caromi_answer_request(row, context, r, err),
                if (is_job && status_ == CAROM_OK) status_ =
                    caromi_submit(context,
                                  &(const caromi_call){row->job, r->subject, r->desc, row->desc_size, r->out,
                                                       row->out_size, r->which, r->stats},
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
