/* SPDX-License-Identifier: MIT */
/* Calls whose arrays all stay go straight into the caller's queue: no thread of the host begins them, no user event
 * ends them, and commands of the caller before and behind them keep their order. The device is PoCL as it is, and seen
 * as discrete. */
#include "tests/support/call_cases.h"
#include "tests/support/resident_simulation.h"

#include <math.h>

enum { LAPS = 1000, FEW_LAPS = 100, QUERIES = 2000, SHARE = 20 };

/* ---- order and bits ---------------------------------------------------------------------------------------------- */

static void run_laps(void **state, int order)
{
    resident r = open_resident(state, order);
    int before;
    launch(r.s, r.s->rise, 0, NULL, NULL);
    call_now(&r);
    launch(r.s, r.s->fall, 0, NULL, NULL);
    finish(r.s);
    begin_step(&before);
    for (int step = 1; step < LAPS; step++) {
        launch(r.s, r.s->rise, 0, NULL, NULL);
        carom_job_destroy(submit(&r, NULL, 0, NULL));
        launch(r.s, r.s->fall, 0, NULL, NULL);
    }
    expect_enqueued("laps", before);
    finish(r.s);
    expect_heights(r.s, LAPS, "laps");
    close_resident(&r);
}

static void test_laps(void **state)
{
    run_laps(state, TURNS);
}

static void test_laps_out_of_order(void **state)
{
    resident r = open_resident(state, TURNS_OUT_OF_ORDER);
    cl_event fallen = NULL;
    int before;
    call_now(&r);
    begin_step(&before);
    for (int step = 0; step < FEW_LAPS; step++) { /* a barrier of PoCL waits for each command before it */
        launch(r.s, r.s->rise, step > 0, step > 0 ? &fallen : NULL, NULL);
        carom_job_destroy(submit(&r, NULL, 0, NULL));
        if (step > 0)
            assert_int_equal(clReleaseEvent(fallen), CL_SUCCESS);
        launch(r.s, r.s->fall, 0, NULL, &fallen);
    }
    expect_enqueued("laps out of order", before);
    finish(r.s);
    assert_int_equal(clReleaseEvent(fallen), CL_SUCCESS);
    expect_heights(r.s, FEW_LAPS, "laps out of order");
    close_resident(&r);
}

/* Nothing runs, and no call waits, until an event of the caller is set. */
static void behind_gate(void **state, int order)
{
    resident r = open_resident(state, order);
    carom_error err = {0};
    cl_int code;
    int before;
    call_now(&r);
    const cl_event gate = clCreateUserEvent(r.s->cl.context, &code);
    begin_step(&before);
    launch(r.s, r.s->rise, 1, &gate, NULL);
    carom_job *job = submit(&r, NULL, 0, NULL);
    launch(r.s, r.s->fall, 0, NULL, NULL);
    expect_enqueued("behind an event", before);
    assert_int_equal(carom_job_wait(job, 0.02, &err), CAROM_ERROR_TIMEOUT);
    carom_job_cancel(job); /* without effect: its commands are in the queue */
    assert_int_equal(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
    ends_well(job);
    finish(r.s);
    assert_int_equal(clReleaseEvent(gate), CL_SUCCESS);
    expect_heights(r.s, 1, "behind an event");
    close_resident(&r);
}

static void test_gate(void **state)
{
    behind_gate(state, TURNS);
}

static void test_gate_out_of_order(void **state)
{
    behind_gate(state, TURNS_OUT_OF_ORDER);
}

/* Calls of all kinds see an enqueued call's answers: blocking ones, ordinary jobs, reads. */
static void test_later_calls(void **state)
{
    static float t[2][COUNT];
    resident r = open_resident(state, TURNS);
    carom_error err = {0};
    cl_int code;
    call_now(&r);
    const cl_event gate = clCreateUserEvent(r.s->cl.context, &code);
    launch(r.s, r.s->rise, 1, &gate, NULL);
    carom_job *first = submit(&r, NULL, 0, NULL);
    launch(r.s, r.s->fall, 0, NULL, NULL);
    launch(r.s, r.s->rise, 0, NULL, NULL);
    carom_job *ordinary = sweep(r.s, COUNT, NULL, 0), *behind = submit(&r, NULL, 0, NULL);
    launch(r.s, r.s->fall, 0, NULL, NULL);
    assert_int_equal(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
    test_ok("read", carom_buffer_read(r.s->t, 0, t[0], BYTES, &err), &err);
    assert_int_equal(carom_job_wait(first, 0, &err), CAROM_OK);
    assert_int_equal(carom_job_wait(behind, 0, &err), CAROM_OK);
    ends_well(first);
    ends_well(ordinary);
    ends_well(behind);
    expect_heights(r.s, 2, "calls behind an enqueued one");
    assert_int_equal(clReleaseEvent(gate), CL_SUCCESS);
    launch(r.s, r.s->rise, 0, NULL, NULL);
    ends_well(submit(&r, NULL, 0, NULL));
    test_ok("read", carom_buffer_read(r.s->t, 0, t[0], BYTES, &err), &err);
    call_now(&r);
    test_ok("read", carom_buffer_read(r.s->t, 0, t[1], BYTES, &err), &err);
    assert_memory_equal(t[0], t[1], BYTES);
    close_resident(&r);
}

/* ---- every call -------------------------------------------------------------------------------------------------- */

static void check_call(const simulation *s, call_choice choice, carom_mesh *mesh)
{
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 1);
    call_case *expected = call_case_answer(choice, QUERIES, SHARE, cpu), *c = call_case_make(choice, QUERIES, SHARE);
    const cl_mem memory = memory_of(&s->cl, CL_MEM_READ_WRITE, c->bytes);
    carom_buffer *buffer = wrap(s->context, memory, 0, c->bytes);
    carom_job *job = NULL;
    carom_error err = {0};
    int before;
    call_case_place(c, carom_buffer_address(buffer));
    call_case_batch(c)->prepare = 1;
    test_ok(call_case_name(c), call_case_ask(c, s->context, mesh, &err), &err);
    call_case_batch(c)->prepare = 0;
    for (int again = 0; again < 2; again++) { /* the first call makes memory */
        call_case_reset(c);
        put(&s->cl, memory, c->memory, c->bytes);
        call_case_batch(c)->job = &job;
        begin_step(&before);
        test_ok(call_case_name(c), call_case_ask(c, s->context, mesh, &err), &err);
        if (again) {
            expect_enqueued(call_case_name(c), before);
            assert_int_equal(c->stats.on_device, c->count);
        }
        ends_well(job);
        get(&s->cl, memory, c->memory, c->bytes);
        call_case_compare(expected, c, "enqueued");
    }
    carom_buffer_destroy(buffer);
    assert_int_equal(clReleaseMemObject(memory), CL_SUCCESS);
    call_case_free(c);
    call_case_free(expected);
    carom_context_destroy(cpu);
}

static void test_every_call(void **state)
{
    simulation *s = open_simulation(state, TURNS);
    scene shape = call_scene();
    carom_mesh *mesh = scene_mesh(s->context, &shape);
    for (int i = 0; i < call_choices(); i++)
        if (call_type(call_choice_at(i).number)->enqueues && call_choice_at(i).accuracy == CAROM_ACCURACY_FAST)
            check_call(s, call_choice_at(i), mesh);
    carom_mesh_destroy(mesh);
    scene_free(&shape);
    close_simulation(s);
}

/* ---- jobs of enqueued calls -------------------------------------------------------------------------------------- */

static void test_info(void **state)
{
    resident r = open_resident(state, TURNS);
    carom_stats stats = {.size = sizeof stats};
    carom_job_info info = {.size = sizeof info};
    carom_error err = {0};
    int before;
    call_now(&r);
    begin_step(&before);
    carom_job *job = submit(&r, NULL, 0, &stats);
    expect_enqueued("a job with statistics", before);
    assert_int_equal(carom_job_wait(job, (double)INFINITY, &err), CAROM_OK);
    test_ok("info", carom_job_get_info(job, &info, &err), &err);
    assert_true(info.has_ended && info.status == CAROM_OK && info.count == COUNT && info.done == COUNT);
    assert_true(info.stats.queries == COUNT && info.stats.on_device == COUNT && info.stats.total == 0);
    assert_memory_equal(&info.stats, &stats, sizeof stats);
    expect_event(event_of(job), CL_COMPLETE);
    carom_job_destroy(job);
    carom_job *empty = NULL;
    carom_mesh_sweep_desc desc = sweep_of(r.s, NULL, 0);
    const carom_mesh_hit_result out = {.size = sizeof out, .t = carom_buffer_address(r.s->t)};
    desc.batch.job = &empty;
    test_ok("an empty batch", carom_mesh_sweep_first(r.s->mesh, &desc, &out, NULL, &err), &err);
    ends_well(empty);
    close_resident(&r);
}

static carom_job *wrap_event(const simulation *s, cl_event event)
{
    carom_job *job = NULL;
    carom_error err = {0};
    test_ok("carom_job_wrap_event", carom_job_wrap_event(s->context, event, &job, &err), &err);
    return job;
}

/* A call waits for commands of other queues on the device, and for events that the host sets on the host. */
static void wait_for_others(void **state, int order)
{
    resident r = open_resident(state, order);
    cl_event risen;
    cl_int code;
    int before;
    call_now(&r);
    const cl_command_queue other = clCreateCommandQueue(r.s->cl.context, r.s->cl.device, 0, &code);
    const cl_event gate = clCreateUserEvent(r.s->cl.context, &code);
    const size_t items = COUNT;
    begin_step(&before);
    assert_int_equal(clEnqueueNDRangeKernel(other, r.s->rise, 1, NULL, &items, NULL, 1, &gate, &risen), CL_SUCCESS);
    assert_int_equal(clFlush(other), CL_SUCCESS);
    carom_job *before_it = wrap_event(r.s, risen), *job = submit(&r, &before_it, 1, NULL);
    carom_job *waits[] = {before_it, job};
    carom_job *next = submit(&r, waits, 2, NULL);
    launch(r.s, r.s->fall, 0, NULL, NULL);
    expect_enqueued("behind another queue", before);
    assert_int_equal(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
    carom_job_destroy(before_it);
    ends_well(job);
    ends_well(next);
    finish(r.s);
    expect_heights(r.s, 1, "behind another queue");
    carom_job *of_host = wrap_event(r.s, gate);
    begin_step(&before);
    job = submit(&r, &of_host, 1, NULL);
    expect_ordinary("behind a user event");
    ends_well(job);
    carom_job_destroy(of_host);
    assert_int_equal(clReleaseEvent(risen), CL_SUCCESS);
    assert_int_equal(clReleaseEvent(gate), CL_SUCCESS);
    assert_int_equal(clFinish(other), CL_SUCCESS);
    assert_int_equal(clReleaseCommandQueue(other), CL_SUCCESS);
    close_resident(&r);
}

static void test_waits(void **state)
{
    wait_for_others(state, TURNS);
}

static void test_waits_out_of_order(void **state)
{
    wait_for_others(state, TURNS_OUT_OF_ORDER);
}

static int cancel_never(void *user, uint64_t done, uint64_t count)
{
    (void)user, (void)done, (void)count;
    return 0;
}

/* Calls that need the host are ordinary jobs. */
static void test_ordinary(void **state)
{
    resident r = open_resident(state, TURNS);
    carom_error err = {0};
    carom_job *job = NULL;
    int before;
    begin_step(&before);
    job = submit(&r, NULL, 0, NULL);
    expect_ordinary("before the programs are built");
    ends_well(job);
    begin_step(&before);
    job = sweep(r.s, COUNT, NULL, 0);
    expect_ordinary("inputs of the program");
    ends_well(job);
    begin_step(&before);
    test_ok("progress", try_call(&r, (carom_batch){.job = &job, .progress = {cancel_never, NULL}}, NULL, &err), &err);
    expect_ordinary("with a progress function");
    ends_well(job);
    if (test_need_device().fp64) {
        begin_step(&before);
        test_ok("exact", try_call(&r, (carom_batch){.job = &job, .accuracy = CAROM_ACCURACY_EXACT}, NULL, &err), &err);
        expect_ordinary("exact mode");
        ends_well(job);
    }
    begin_step(&before);
    ends_well(submit(&r, NULL, 0, NULL));
    close_resident(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(test_laps),        ON_BOTH(test_laps_out_of_order),
        ON_BOTH(test_gate),        ON_BOTH(test_gate_out_of_order),
        ON_BOTH(test_later_calls), ON_BOTH(test_info),
        ON_BOTH(test_waits),       ON_BOTH(test_waits_out_of_order),
        ON_BOTH(test_ordinary),    ON_BOTH(test_every_call),
    };
    return cmocka_run_group_tests_name("calls in the caller's queue", tests, NULL, NULL);
}
