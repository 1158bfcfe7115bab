/* SPDX-License-Identifier: MIT */
/* Calls whose commands go straight into the caller's queue. A queue in order keeps the commands in order. In a queue
 * out of order each command waits for the one before it: the first is a barrier behind the queue's present commands,
 * and the last a barrier before later ones. The context lists its enqueued calls, because events of commands that may
 * still fail must not be released (events.c), and because a mesh whose memory the commands use must outlive them. */
#include "enqueue.h"

#include <string.h>

#include "device.h"
#include "host/core/values.h"
#include "shared.h"

enum { EVENTS_FIRST = 32 };
enum { NOTES = 1024, NOTE_WORDS = 2 * CAROMI_VALUES_MAX /* row and value of each check */ };

/* Findings of checks on the device, in page-locked memory: reads into any other would make drivers wait. */
struct caromi_notes {
    caromi_device *device; /* that has mapped them: they keep it open */
    cl_mem memory;
    const cl_uint *words; /* of `memory`, mapped: NOTE_WORDS of each note */
    atomic_uchar is_taken[NOTES];
    uint32_t next; /* the note to try first */
};

struct caromi_enqueued {
    caromi_enqueued *next;  /* in the order of the queue */
    atomic_uint references; /* the context's list, and the job */
    const carom_context *context;
    cl_command_queue queue;
    int is_out_of_order;
    const cl_event *wait; /* the call begins when these commands have ended; only while it is being enqueued */
    uint32_t wait_count;
    cl_event *event; /* of its commands: `leading` markers or barriers, then the call's own */
    uint32_t count, capacity, leading;
    caromi_values values[CAROMI_VALUES_MAX]; /* that are checked on the device */
    uint32_t value_count;
    uint64_t begin; /* of their rows */
    uint64_t moved; /* rows from the beginning of the caller's arrays to that of the columns */
    const cl_uint *found;
    atomic_uchar *note; /* given back with the call; NULL: none */
};

/* ---- one call ---------------------------------------------------------------------------------------------------- */

static cl_int state_of(cl_event event)
{
    cl_int state = CL_COMPLETE;
    const cl_int code = clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
    return code == CL_SUCCESS ? state : code;
}

static cl_event last_of(const caromi_enqueued *call)
{
    return call->event[call->count - 1];
}

static void release(caromi_enqueued *call)
{
    if (atomic_fetch_sub(&call->references, 1) != 1)
        return;
    for (uint32_t i = 0; i < call->count; i++)
        caromi_event_release(call->context, call->event[i]);
    if (call->note != NULL)
        atomic_store(call->note, 0);
    caromi_free(call->context, call->event);
    caromi_free(call->context, call);
}

void caromi_enqueued_release(caromi_enqueued *call)
{
    if (call != NULL)
        release(call);
}

/* Makes room for one more event. */
static carom_status make_room(caromi_enqueued *call, carom_error *err)
{
    if (call->count < call->capacity)
        return CAROM_OK;
    const uint32_t capacity = call->capacity > 0 ? 2 * call->capacity : EVENTS_FIRST;
    cl_event *events = caromi_alloc(call->context, capacity, sizeof *events);
    if (events == NULL)
        return caromi_fail_memory(err, "no memory for the events of %u commands", capacity);
    if (call->count > 0)
        memcpy(events, call->event, call->count * sizeof *events);
    caromi_free(call->context, call->event);
    call->event = events;
    call->capacity = capacity;
    return CAROM_OK;
}

/* Enqueues a marker or, in a queue out of order, a barrier behind all commands before. */
static carom_status separate(caromi_enqueued *call, uint32_t wait_count, const cl_event *wait, carom_error *err)
{
    CHECK(make_room(call, err));
    cl_event *event = &call->event[call->count];
    const cl_int code = call->is_out_of_order ? clEnqueueBarrierWithWaitList(call->queue, wait_count, wait, event)
                                              : clEnqueueMarkerWithWaitList(call->queue, wait_count, wait, event);
    call->count += code == CL_SUCCESS;
    return code == CL_SUCCESS ? CAROM_OK
                              : caromi_fail(err, CAROM_ERROR_DEVICE_LOST, code,
                                            "a command in the caller's queue: OpenCL says %d", code);
}

/* Separates the call from the commands before it. */
static carom_status begin_commands(caromi_enqueued *call, carom_error *err)
{
    if (call->is_out_of_order || call->wait_count == 0) /* a wait list alone would let it overtake other commands */
        CHECK(separate(call, 0, NULL, err));
    if (call->wait_count > 0)
        CHECK(separate(call, call->wait_count, call->wait, err));
    call->leading = call->count;
    return CAROM_OK;
}

cl_command_queue caromi_enqueue_queue(const carom_context *context)
{
    return context->enqueued != NULL ? context->enqueued->queue : NULL;
}

carom_status caromi_enqueue_command(const carom_context *context, caromi_links *links, carom_error *err)
{
    caromi_enqueued *call = context->enqueued;
    if (call == NULL)
        return CAROM_OK;
    if (call->leading == 0)
        CHECK(begin_commands(call, err));
    CHECK(make_room(call, err));
    *links = (caromi_links){call->is_out_of_order, &call->event[call->count - 1], &call->event[call->count]};
    if (!call->is_out_of_order)
        links->wait = NULL;
    return CAROM_OK;
}

void caromi_enqueue_count(const carom_context *context)
{
    if (context->enqueued != NULL)
        context->enqueued->count++;
}

carom_status caromi_enqueue_refuse(const carom_context *context, carom_error *err)
{
    return context->enqueued == NULL ? CAROM_OK
                                     : caromi_fail(err, CAROM_ERROR_UNSUPPORTED, CAROMI_NO_NATIVE_CODE,
                                                   "the call cannot be enqueued: the host has to work for it");
}

/* ---- values that are checked on the device ----------------------------------------------------------------------- */

carom_status caromi_enqueue_prepare(const carom_context *context, caromi_device *device, carom_error *err)
{
    caromi_shared *shared = context->shared;
    void *words = NULL;
    if (shared == NULL || shared->queue == NULL || shared->notes != NULL)
        return CAROM_OK;
    caromi_notes *notes = caromi_alloc(context, 1, sizeof *notes);
    if (notes == NULL)
        return caromi_fail_memory(err, "no memory for checks (%zu bytes)", sizeof *notes);
    memset(notes, 0, sizeof *notes);
    const size_t bytes = NOTES * NOTE_WORDS * sizeof *notes->words;
    carom_status status = caromi_make_buffer(device, "notes", CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, NULL,
                                             &notes->memory, err);
    if (status == CAROM_OK)
        status = caromi_map(device, device->slots[0].queue, notes->memory, CL_MAP_READ | CL_MAP_WRITE, bytes,
                            CAROMI_WAIT, &words, NULL, "notes", err);
    if (status != CAROM_OK) {
        caromi_release_buffer(&notes->memory);
        caromi_free(context, notes);
        return status;
    }
    notes->words = words;
    notes->device = device;
    device->references++;
    shared->notes = notes;
    return CAROM_OK;
}

/* Frees the notes; no call is left that has one. */
static void release_notes(carom_context *context)
{
    caromi_notes *notes = context->shared->notes;
    if (notes == NULL)
        return;
    if (!caromi_opencl_is_inherited()) {
        const cl_command_queue queue = notes->device->slots[0].queue;
        (void)caromi_unmap(notes->device, queue, notes->memory, (void *)(uintptr_t)notes->words, NULL, NULL);
        (void)caromi_finish(notes->device, queue, NULL);
        caromi_release_buffer(&notes->memory);
    }
    caromi_device_close(notes->device);
    caromi_free(context, notes);
}

/* Takes the next note that is free; NOTES: there is none. */
static uint32_t take_note(caromi_notes *notes)
{
    for (uint32_t tried = 0; tried < NOTES; tried++) {
        const uint32_t at = notes->next;
        unsigned char is_taken = 0;
        notes->next = (at + 1) % NOTES;
        if (atomic_compare_exchange_strong(&notes->is_taken[at], &is_taken, 1))
            return at;
    }
    return NOTES;
}

carom_status caromi_enqueue_values(const carom_context *context, const caromi_values *values, uint32_t count,
                                   uint64_t begin, void **to, carom_error *err)
{
    caromi_enqueued *call = context->enqueued;
    caromi_notes *notes = context->shared->notes;
    const uint32_t at = notes != NULL && call->note == NULL ? take_note(notes) : NOTES;
    if (at == NOTES)
        return caromi_enqueue_refuse(context, err);
    call->note = &notes->is_taken[at];
    call->found = notes->words + (size_t)at * NOTE_WORDS;
    *to = (void *)(uintptr_t)call->found;
    memcpy(call->values, values, count * sizeof *values);
    call->value_count = count;
    call->begin = begin;
    return CAROM_OK;
}

void caromi_enqueue_move(const carom_context *context, uint64_t row)
{
    if (context->enqueued != NULL)
        context->enqueued->moved = row;
}

/* Columns with an index begin where their array does. */
static const void *column_base(const caromi_enqueued *call, const caromi_in_column *array)
{
    return (const char *)array->base + (array->index.base == NULL ? call->moved * array->stride : 0);
}

int caromi_enqueue_is_limit(const carom_context *context, const caromi_in_column *column)
{
    const caromi_enqueued *call = context->enqueued;
    for (uint32_t i = 0; call != NULL && column->base != NULL && i < call->value_count; i++) {
        const caromi_in_column *limits = &call->values[i].column;
        if (call->values[i].are_limits && column_base(call, limits) == column->base && limits->stride == column->stride)
            return 1;
    }
    return 0;
}

uint32_t caromi_enqueue_last_index(const carom_context *context, const caromi_index *index)
{
    const caromi_enqueued *call = context->enqueued;
    uint32_t least = UINT32_MAX;
    int is_checked = 0;
    for (uint32_t i = 0; call != NULL && index->base != NULL && i < call->value_count; i++) {
        const caromi_values *values = &call->values[i];
        const uint32_t last = caromi_last_index(values);
        if (!values->are_limits && values->column.base == index->base && values->column.stride == index->stride) {
            least = last < least ? last : least;
            is_checked = 1;
        }
    }
    return is_checked || call == NULL ? least : UINT32_MAX - 1;
}

/* The error for a value that a check has refused. */
static carom_status find_refused(const caromi_enqueued *call, carom_error *err)
{
    for (uint32_t i = 0; i < call->value_count; i++)
        if (call->found[2 * i] != RESIDENT_NONE)
            return caromi_fail_value(&call->values[i], call->begin + call->found[2 * i], call->found[2 * i + 1], err);
    return CAROM_OK;
}

int caromi_enqueued_is_settled(caromi_enqueued *call)
{
    return call->value_count == 0 || caromi_enqueued_wait(call, 0, NULL) == CAROM_OK;
}

/* ---- the call in the queue --------------------------------------------------------------------------------------- */

/* Whether the queue is the device's own; *is_out_of_order: its commands may overtake each other. */
static int serves(cl_command_queue queue, const caromi_device *device, int *is_out_of_order)
{
    cl_device_id id = NULL;
    cl_command_queue_properties properties = 0;
    if (clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof id, &id, NULL) != CL_SUCCESS || id != device->id ||
        clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL) != CL_SUCCESS)
        return 0;
    *is_out_of_order = (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0;
    return 1;
}

int caromi_enqueue_begin(carom_context *context, void *const *events, uint32_t count)
{
    const caromi_shared *shared = context->shared;
    int is_out_of_order;
    if (shared->queue == NULL || caromi_opencl_is_inherited() || context->devices[0] == NULL ||
        caromi_enqueued_settle(context, NULL) != CAROM_OK ||
        !serves(shared->queue, context->devices[0], &is_out_of_order))
        return 0;
    caromi_enqueued *call = caromi_alloc(context, 1, sizeof *call);
    if (call == NULL)
        return 0;
    *call = (caromi_enqueued){.context = context,
                              .queue = shared->queue,
                              .is_out_of_order = is_out_of_order,
                              .wait = (const cl_event *)events,
                              .wait_count = count};
    atomic_init(&call->references, 1);
    context->enqueued = call;
    return 1;
}

/* Ends the commands of a call. */
static carom_status end_commands(caromi_enqueued *call, carom_error *err)
{
    if (call->leading == 0) /* an empty batch */
        CHECK(begin_commands(call, err));
    else if (call->is_out_of_order)
        CHECK(separate(call, 1, &(const cl_event){last_of(call)}, err));
    const cl_int code = clFlush(call->queue);
    return code == CL_SUCCESS
               ? CAROM_OK
               : caromi_fail(err, CAROM_ERROR_DEVICE_LOST, code, "clFlush in the caller's queue says %d", code);
}

caromi_enqueued *caromi_enqueue_end(carom_context *context, carom_status status)
{
    caromi_shared *shared = context->shared;
    caromi_enqueued *call = context->enqueued;
    if (status == CAROM_OK)
        status = end_commands(call, NULL);
    context->enqueued = NULL;
    call->wait = NULL;
    if (call->count == 0) {
        release(call);
        return NULL;
    }
    if (shared->last != NULL)
        shared->last->next = call;
    else
        shared->first = call;
    shared->last = call;
    if (status != CAROM_OK)
        return NULL;
    atomic_fetch_add(&call->references, 1); /* for the job */
    return call;
}

/* ---- the end of calls -------------------------------------------------------------------------------------------- */

void *caromi_enqueued_event(const caromi_enqueued *call)
{
    return last_of(call);
}

/* Whether a command of the caller before the call has failed, so that the device is not to blame. */
static int has_failed_before(const caromi_enqueued *call)
{
    int failed = 0;
    for (uint32_t i = 0; i < call->leading; i++)
        failed |= state_of(call->event[i]) < 0;
    return failed;
}

/* The error of a call whose commands have failed. */
static carom_status fail_commands(const caromi_enqueued *call, cl_int state, carom_error *err)
{
    return caromi_fail(err, CAROM_ERROR_DEVICE_LOST, state, "a command of the %s has failed (%d)",
                       has_failed_before(call) ? "caller" : "call", state);
}

carom_status caromi_enqueued_wait(caromi_enqueued *call, double seconds, carom_error *err)
{
    const carom_status status = caromi_event_wait(last_of(call), seconds, err);
    if (status == CAROM_ERROR_DEVICE_LOST)
        return fail_commands(call, state_of(last_of(call)), err);
    return status == CAROM_OK ? find_refused(call, err) : status;
}

static void drop_first(caromi_shared *shared)
{
    caromi_enqueued *call = shared->first;
    shared->first = call->next;
    shared->last = shared->first != NULL ? shared->last : NULL;
    release(call);
}

carom_status caromi_enqueued_settle(const carom_context *context, carom_error *err)
{
    caromi_shared *shared = context->shared;
    while (shared->first != NULL) {
        const cl_int state = state_of(last_of(shared->first));
        if (state > CL_COMPLETE)
            break;
        if (state < 0 && !has_failed_before(shared->first) && shared->lost.status == CAROM_OK)
            (void)fail_commands(shared->first, state, &shared->lost);
        drop_first(shared);
    }
    if (shared->lost.status != CAROM_OK && err != NULL)
        *err = shared->lost;
    return shared->lost.status;
}

int caromi_enqueued_in_flight(const carom_context *context)
{
    if (caromi_opencl_is_inherited())
        return 0;
    (void)caromi_enqueued_settle(context, NULL);
    return context->shared->first != NULL;
}

void caromi_enqueued_finish(const carom_context *context)
{
    if (!caromi_enqueued_in_flight(context))
        return;
    const cl_event last = last_of(context->shared->last);
    (void)clWaitForEvents(1, &last);
    (void)caromi_enqueued_settle(context, NULL);
}

void caromi_enqueued_forget(carom_context *context)
{
    while (context->shared->first != NULL)
        drop_first(context->shared);
    release_notes(context);
}
