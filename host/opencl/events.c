/* SPDX-License-Identifier: MIT */
/* Connects jobs with events of the caller's OpenCL. An event of the caller becomes a job that others wait for, and a
 * job can set events that the caller's commands wait for. With a queue of the caller, a call takes part in its order:
 * the job waits for a marker behind the queue's present commands, and a barrier makes later commands wait for the job.
 */
#include "carom/carom_opencl.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "device.h"
#include "host/core/call.h"
#include "shared.h"

static carom_status fail_call(cl_int code, const char *call, carom_error *err)
{
    return caromi_fail(err, code == CL_OUT_OF_HOST_MEMORY ? CAROM_ERROR_OUT_OF_MEMORY : CAROM_ERROR_DEVICE_LOST, code,
                       "%s in the caller's cl_context says %d", call, code);
}

/* ---- events of commands ------------------------------------------------------------------------------------------ */

/* A retained event whose command may still fail, or has failed. PoCL 3.1 aborts if a failing command has no event. It
 * also aborts if the event is released while another thread still propagates the failure to dependent commands. No call
 * reports the end of that, so a failed event is kept as long as the context. */
struct caromi_failed_event {
    caromi_failed_event *next;
    cl_event event;
};

static void push(_Atomic(caromi_failed_event *) *list, caromi_failed_event *kept)
{
    kept->next = atomic_load(list);
    while (!atomic_compare_exchange_weak(list, &kept->next, kept))
        continue;
}

static cl_int state_of(cl_event event)
{
    cl_int state = CL_COMPLETE;
    const cl_int code = clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
    return code == CL_SUCCESS ? state : CL_COMPLETE;
}

/* Keeps an event. If there is no memory for the list, its reference is never released. */
static void keep(const carom_context *context, cl_event event, cl_int state)
{
    caromi_failed_event *kept = caromi_alloc(context, 1, sizeof *kept);
    if (kept == NULL)
        return;
    kept->event = event;
    push(state < 0 ? &context->shared->failed : &context->shared->running, kept);
}

/* Releases the event of a command in the caller's queue, unless it may still fail. The context is its only owner. */
static void release_command(const carom_context *context, cl_event event)
{
    const cl_int state = state_of(event);
    if (state == CL_COMPLETE)
        (void)clReleaseEvent(event);
    else
        keep(context, event, state);
}

static void release_list(const carom_context *context, _Atomic(caromi_failed_event *) *list,
                         void (*release)(const carom_context *, cl_event))
{
    for (caromi_failed_event *kept = atomic_exchange(list, NULL), *next; kept != NULL; kept = next) {
        next = kept->next;
        release(context, kept->event);
        caromi_free(context, kept);
    }
}

static void release_in_any_state(const carom_context *context, cl_event event)
{
    (void)context;
    if (!caromi_opencl_is_inherited())
        (void)clReleaseEvent(event);
}

/* ---- the caller's OpenCL, kept ----------------------------------------------------------------------------------- */

/* Retains the caller's context and queue. */
carom_status caromi_shared_make(carom_context *context, const carom_opencl_desc *cl, carom_error *err)
{
    caromi_job_queue *jobs;
    caromi_shared *shared = caromi_alloc(context, 1, sizeof *shared);
    if (shared == NULL)
        return caromi_fail_memory(err, "no memory for a context (%zu bytes)", sizeof *shared);
    memset(shared, 0, sizeof *shared);
    shared->context = cl->context;
    shared->queue = cl->queue;
    atomic_init(&shared->failed, NULL);
    atomic_init(&shared->running, NULL);
    (void)clRetainContext(shared->context);
    if (shared->queue != NULL)
        (void)clRetainCommandQueue(shared->queue);
    context->shared = shared;
    return shared->queue != NULL ? caromi_queue_make(context, &jobs, err)
                                 : CAROM_OK; /* calls become jobs, in the order of the caller's queue */
}

/* Releases the caller's objects and the events that were kept. */
void caromi_shared_release(carom_context *context)
{
    caromi_shared *shared = context->shared;
    if (shared == NULL)
        return;
    caromi_enqueued_finish(context);
    caromi_enqueued_forget(context);
    release_list(context, &shared->failed, release_in_any_state);
    release_list(context, &shared->running, release_in_any_state);
    if (!caromi_opencl_is_inherited()) {
        if (shared->queue != NULL)
            (void)clReleaseCommandQueue(shared->queue);
        (void)clReleaseContext(shared->context);
    }
    caromi_free(context, shared);
    context->shared = NULL;
}

/* ---- events that a job sets -------------------------------------------------------------------------------------- */

/* An event that is set when a job ends. */
typedef struct event_listener {
    caromi_job_listener head;
    const carom_context *context;
    cl_event event;
    int is_gate;      /* the caller's queue waits for this event: it is completed even if the job fails */
    cl_event barrier; /* the command in the caller's queue that waits for a gate */
} event_listener;

static void set_event(caromi_job_listener *head, carom_status status)
{
    event_listener *listener = (event_listener *)(void *)head;
    (void)clSetUserEventStatus(listener->event, listener->is_gate ? CL_COMPLETE : -(cl_int)status);
    (void)clReleaseEvent(listener->event);
    if (listener->barrier != NULL)
        release_command(listener->context, listener->barrier);
    caromi_free(listener->context, listener);
}

enum { NO_GATE, GATE };
/* Makes a user event that a job will set. */
static carom_status make_listener(const carom_context *context, int is_gate, event_listener **out, carom_error *err)
{
    cl_int code;
    event_listener *l = caromi_alloc(context, 1, sizeof *l);
    if (l == NULL)
        return caromi_fail_memory(err, "no memory for an event (%zu bytes)", sizeof *l);
    *l = (event_listener){.head = {NULL, set_event}, .context = context, .is_gate = is_gate};
    l->event = clCreateUserEvent(context->shared->context, &code);
    if (l->event == NULL || code != CL_SUCCESS) {
        caromi_free(context, l);
        return fail_call(code, "clCreateUserEvent", err);
    }
    *out = l;
    return CAROM_OK;
}

static carom_status check_shared(const carom_context *context, const char *name, carom_error *err)
{
    if (!context->is_on_shared)
        return caromi_fail_argument(
            err, "%s was not made by carom_context_create_opencl, so it has no cl_context of the caller", name);
    return caromi_opencl_is_inherited() ? caromi_fail_inherited(err) : CAROM_OK;
}

/* Retains an event. */
static carom_status retain(cl_event event, carom_error *err)
{
    const cl_int code = clRetainEvent(event);
    return code == CL_SUCCESS ? CAROM_OK : fail_call(code, "clRetainEvent", err);
}

/* An event that is set when the job ends. */
static carom_status get_event(carom_job *job, cl_event *out, carom_error *err)
{
    event_listener *listener;
    CHECK_NOT_NULL(job, "job", err);
    CHECK_NOT_NULL(out, "out", err);
    const carom_context *context = caromi_job_context(job);
    CHECK(check_shared(context, "the job's context", err));
    cl_event event = caromi_job_event(job);
    if (event != NULL) {
        CHECK(retain(event, err));
        *out = event;
        return CAROM_OK;
    }
    CHECK(make_listener(context, NO_GATE, &listener, err));
    event = listener->event;
    const carom_status status = retain(event, err);
    if (status != CAROM_OK) {
        set_event(&listener->head, status);
        return status;
    }
    caromi_job_listen(job, &listener->head);
    *out = event;
    return CAROM_OK;
}

carom_status carom_job_get_event(carom_job *job, cl_event *out, carom_error *err)
{
    IN_FLOAT_MODE(get_event(job, out, err));
}

/* ---- events that a job waits for --------------------------------------------------------------------------------- */

static carom_status fail_event(cl_int state, carom_error *err)
{
    return caromi_fail(err, CAROM_ERROR_DEVICE_LOST, state, "a command of the caller has failed (%d)", state);
}

/* Polls the event: callbacks would be better, but PoCL 3.1 and Mesa 22.3 call none if an event fails. */
carom_status caromi_event_wait(void *event, double seconds, carom_error *err)
{
    const cl_event waited = event;
    const double end = caromi_now() + seconds;
    long nanoseconds = 10000;
    cl_int state = CL_QUEUED;
    if (isinf(seconds))
        (void)clWaitForEvents(1, &waited);
    for (;;) {
        const cl_int code = clGetEventInfo(waited, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
        if (code != CL_SUCCESS)
            return fail_call(code, "clGetEventInfo", err);
        if (state == CL_COMPLETE && !isinf(seconds))
            (void)clWaitForEvents(1, &waited); /* returns at once, and makes the command's results visible */
        if (state <= CL_COMPLETE)
            return state == CL_COMPLETE ? CAROM_OK : fail_event(state, err);
        if (caromi_now() >= end)
            return caromi_fail_running(seconds, err);
        (void)nanosleep(&(struct timespec){0, nanoseconds}, NULL);
        nanoseconds += nanoseconds < 1000000 ? nanoseconds / 2 : 0;
    }
}

/* Not a user event, which the host sets: commands behind one that fails would fail with it. */
int caromi_event_serves(const carom_context *context, void *event)
{
    cl_context own = NULL;
    cl_command_type type = CL_COMMAND_USER;
    return clGetEventInfo(event, CL_EVENT_CONTEXT, sizeof own, &own, NULL) == CL_SUCCESS &&
           own == context->shared->context &&
           clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL) == CL_SUCCESS &&
           type != CL_COMMAND_USER && state_of(event) >= 0;
}

/* Releases an event; a failed one is kept. */
void caromi_event_release(const carom_context *context, void *event)
{
    if (event == NULL || caromi_opencl_is_inherited())
        return;
    const cl_int state = state_of(event);
    if (state < 0)
        keep(context, event, state);
    else
        (void)clReleaseEvent(event);
}

/* Makes a job that ends with an event of the caller. */
static carom_status wrap_event(carom_context *c, cl_event event, carom_job **out, carom_error *err)
{
    cl_context context = NULL;
    CHECK_NOT_NULL(c, "context", err);
    CHECK_NOT_NULL(event, "event", err);
    CHECK_NOT_NULL(out, "out", err);
    CHECK(check_shared(c, "context", err));
    const cl_int code = clGetEventInfo(event, CL_EVENT_CONTEXT, sizeof context, &context, NULL);
    if (code != CL_SUCCESS)
        return caromi_fail(err, CAROM_ERROR_INVALID_ARGUMENT, code, "event: clGetEventInfo says %d", code);
    if (context != c->shared->context)
        return caromi_fail_argument(err, "event belongs to another cl_context than this context");
    CHECK(retain(event, err));
    const carom_status status = caromi_job_of_event(c, event, out, err);
    if (status != CAROM_OK)
        caromi_event_release(c, event);
    return status;
}

carom_status carom_job_wrap_event(carom_context *context, cl_event event, carom_job **out, carom_error *err)
{
    IN_FLOAT_MODE(wrap_event(context, event, out, err));
}

/* ---- order in the caller's queue --------------------------------------------------------------------------------- */

/* Enqueues a marker behind the present commands. */
static carom_status mark(const caromi_shared *shared, cl_event *out, carom_error *err)
{
    const cl_int code = clEnqueueMarkerWithWaitList(shared->queue, 0, NULL, out);
    return code == CL_SUCCESS ? CAROM_OK : fail_call(code, "clEnqueueMarkerWithWaitList", err);
}

static carom_status flush(const caromi_shared *shared, carom_error *err)
{
    const cl_int code = clFlush(shared->queue);
    return code == CL_SUCCESS ? CAROM_OK : fail_call(code, "clFlush", err);
}

/* Waits for the commands that are in the caller's queue now. */
carom_status caromi_shared_await(const carom_context *context, carom_error *err)
{
    cl_event marker;
    if (context->shared->queue == NULL || caromi_opencl_is_inherited())
        return CAROM_OK;
    CHECK(mark(context->shared, &marker, err));
    const carom_status status = flush(context->shared, err);
    const cl_int code = status == CAROM_OK ? clWaitForEvents(1, &marker) : CL_SUCCESS;
    release_command(context, marker);
    return code == CL_SUCCESS ? status : fail_call(code, "clWaitForEvents", err);
}

/* Makes a job wait for the commands that are in the caller's queue now. */
static carom_status wait_for_queue(carom_context *context, carom_job *job, carom_error *err)
{
    cl_event marker;
    carom_job *before;
    CHECK(mark(context->shared, &marker, err));
    const carom_status status = caromi_job_of_event(context, marker, &before, err);
    if (status == CAROM_OK)
        caromi_job_begin_after(job, before);
    else
        release_command(context, marker);
    return status;
}

/* Puts a job into the order of the caller's queue: behind present commands, before later ones. */
carom_status caromi_shared_enter(carom_context *context, carom_job *job, carom_error *err)
{
    event_listener *gate;
    if (context->shared->queue == NULL)
        return CAROM_OK;
    if (caromi_opencl_is_inherited())
        return caromi_fail_inherited(err);
    release_list(context, &context->shared->running, release_command);
    CHECK(wait_for_queue(context, job, err));
    CHECK(make_listener(context, GATE, &gate, err));
    const cl_int code = clEnqueueBarrierWithWaitList(context->shared->queue, 1, &gate->event, &gate->barrier);
    if (code != CL_SUCCESS) {
        set_event(&gate->head, CAROM_OK);
        return fail_call(code, "clEnqueueBarrierWithWaitList", err);
    }
    caromi_job_listen(job, &gate->head);
    return flush(context->shared, err);
}
