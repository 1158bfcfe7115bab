/* SPDX-License-Identifier: MIT */
/* carom between the commands of a program that has OpenCL of its own: turns in its queue, events to wait for, events of
 * jobs. The device is PoCL as it is, which shares the host's memory, and seen as discrete. */
#include "tests/support/caller_simulation.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { STEPS = 20 };
static const carom_status bad = CAROM_ERROR_INVALID_ARGUMENT;

/* ---- turns in the queue ------------------------------------------------------------------------------------------ */

static void test_turns(void **state)
{
    simulation *s = open_simulation(state, TURNS);
    for (int step = 0; step < STEPS; step++) {
        launch(s, s->rise, 0, NULL, NULL);
        carom_job_destroy(sweep(s, COUNT, NULL, 0));
        launch(s, s->fall, 0, NULL, NULL);
    }
    finish(s);
    expect_heights(s, STEPS, "turns");
    close_simulation(s);
}

/* Nothing of a step runs, and no call waits, as long as an event of the caller is not set. */
static void test_no_hidden_wait(void **state)
{
    simulation *s = open_simulation(state, TURNS);
    carom_error err = {0};
    cl_int code;
    launch(s, s->rise, 0, NULL, NULL);
    ends_well(sweep(s, COUNT, NULL, 0)); /* the programs are built */
    launch(s, s->fall, 0, NULL, NULL);
    finish(s);
    const cl_event gate = clCreateUserEvent(s->cl.context, &code);
    cl_relieve();
    launch(s, s->rise, 1, &gate, NULL);
    carom_job *job = sweep(s, COUNT, NULL, 0);
    launch(s, s->fall, 0, NULL, NULL);
    carom_job *next = sweep(s, 0, NULL, 0);
    assert_int_equal(cl_calls(CALL_FINISH) + cl_calls(CALL_WAIT), 0);
    assert_int_equal(carom_job_wait(job, 0, &err), CAROM_ERROR_TIMEOUT);
    assert_int_equal(carom_job_wait(next, 0.02, &err), CAROM_ERROR_TIMEOUT);
    assert_int_equal(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
    ends_well(next);
    ends_well(job);
    finish(s);
    assert_int_equal(clReleaseEvent(gate), CL_SUCCESS);
    expect_heights(s, 2, "behind an event");
    close_simulation(s);
}

/* An event of the caller that another thread sets, after a time in which a call could begin too soon. */
typedef struct late_event {
    cl_event event;
    atomic_int is_set;
    pthread_t thread;
} late_event;

static void *set_event(void *user)
{
    late_event *g = user;
    (void)nanosleep(&(struct timespec){0, 20000000}, NULL);
    atomic_store(&g->is_set, 1);
    (void)clSetUserEventStatus(g->event, CL_COMPLETE);
    return NULL;
}

static void set_event_later(const simulation *s, late_event *g)
{
    cl_int code;
    atomic_init(&g->is_set, 0);
    g->event = clCreateUserEvent(s->cl.context, &code);
    assert_int_equal(code, CL_SUCCESS);
    assert_int_equal(pthread_create(&g->thread, NULL, set_event, g), 0);
}

static void end_event(late_event *g)
{
    assert_int_equal(pthread_join(g->thread, NULL), 0);
    assert_int_equal(clReleaseEvent(g->event), CL_SUCCESS);
}

/* Blocking calls take their turn as well, and so do the functions of buffers. */
static void test_blocking_turn(void **state)
{
    static float z[COUNT];
    late_event g;
    simulation *s = open_simulation(state, TURNS);
    const carom_mesh_sweep_desc desc = sweep_of(s, carom_buffer_address(s->z), COUNT);
    const carom_mesh_hit_result out = {.size = sizeof out, .t = carom_buffer_address(s->t)};
    carom_error err = {0};
    test_ok("sweep", carom_mesh_sweep_first(s->mesh, &desc, &out, NULL, &err), &err); /* the programs are built */
    set_event_later(s, &g);
    launch(s, s->rise, 1, &g.event, NULL);
    test_ok("sweep", carom_mesh_sweep_first(s->mesh, &desc, &out, NULL, &err), &err);
    assert_true(atomic_load(&g.is_set));
    end_event(&g);
    launch(s, s->fall, 0, NULL, NULL);
    launch(s, s->rise, 0, NULL, NULL);
    test_ok("read", carom_buffer_read(s->z, 0, z, BYTES, &err), &err);
    carom_job_destroy(sweep(s, COUNT, NULL, 0));
    launch(s, s->fall, 0, NULL, NULL);
    finish(s);
    expect_heights(s, 2, "blocking calls");
    assert_true(z[COUNT - 1] >= 2);
    close_simulation(s);
}

/* A job that fails lets the queue go on. */
static void test_failed_turn(void **state)
{
    simulation *s = open_simulation(state, TURNS);
    static const float never = NAN;
    carom_mesh_sweep_desc desc = sweep_of(s, carom_buffer_address(s->z), COUNT);
    const carom_mesh_hit_result out = {.size = sizeof out, .t = carom_buffer_address(s->t)};
    carom_job *job = NULL;
    carom_error err = {0};
    desc.batch.job = &job;
    desc.t_max = (carom_scalars){&never, CAROM_REPEAT};
    test_ok("sweep", carom_mesh_sweep_first(s->mesh, &desc, &out, NULL, &err), &err);
    launch(s, s->rise, 0, NULL, NULL);
    finish(s);
    test_error(carom_job_wait(job, (double)INFINITY, &err), bad, &err, "t_max is nan");
    carom_job_destroy(job);
    close_simulation(s);
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

static carom_job *wrap_event(const simulation *s, cl_event event)
{
    carom_job *job = NULL;
    carom_error err = {0};
    test_ok("carom_job_wrap_event", carom_job_wrap_event(s->context, event, &job, &err), &err);
    return job;
}

/* The same steps without a queue: each side waits for the other's events. */
static void test_events(void **state)
{
    simulation *s = open_simulation(state, NO_TURNS);
    for (int step = 0; step < STEPS; step++) {
        cl_event risen;
        launch(s, s->rise, 0, NULL, &risen);
        assert_int_equal(clFlush(s->cl.queue), CL_SUCCESS);
        carom_job *before = wrap_event(s, risen), *job = sweep(s, COUNT, &before, 1);
        const cl_event swept = event_of(job);
        launch(s, s->fall, 1, &swept, NULL);
        carom_job_destroy(before);
        carom_job_destroy(job);
        assert_int_equal(clReleaseEvent(risen), CL_SUCCESS);
        assert_int_equal(clReleaseEvent(swept), CL_SUCCESS);
    }
    finish(s);
    expect_heights(s, STEPS, "events");
    close_simulation(s);
}

/* Events of jobs that have ended, of an empty batch, of one that fails and of one that is cancelled. */
static void test_events_of_jobs(void **state)
{
    simulation *s = open_simulation(state, NO_TURNS);
    carom_error err = {0};
    cl_int code;
    const cl_event gate = clCreateUserEvent(s->cl.context, &code);
    carom_job *before = wrap_event(s, gate);
    carom_job *empty = sweep(s, 0, &before, 1), *cancelled = sweep(s, COUNT, &before, 1);
    const cl_event early = event_of(empty), other = event_of(empty), last = event_of(cancelled);
    assert_int_equal(state_of(early), CL_SUBMITTED);
    carom_job_cancel(cancelled);
    assert_int_equal(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
    assert_int_equal(carom_job_wait(empty, (double)INFINITY, &err), CAROM_OK);
    expect_event(early, CL_COMPLETE);
    expect_event(other, CL_COMPLETE);
    expect_event(event_of(empty), CL_COMPLETE);
    test_error(carom_job_wait(cancelled, (double)INFINITY, &err), CAROM_ERROR_CANCELLED, &err, "before it began");
    expect_event(last, -(cl_int)CAROM_ERROR_CANCELLED);
    expect_event(event_of(before), CL_COMPLETE);
    carom_job_destroy(before);
    carom_job_destroy(empty);
    carom_job_destroy(cancelled);
    assert_int_equal(clReleaseEvent(gate), CL_SUCCESS);
    close_simulation(s);
}

/* An event that ends badly: its job has failed, and so have those that wait for it. */
static void test_bad_event(void **state)
{
    simulation *s = open_simulation(state, NO_TURNS);
    carom_error err = {0};
    cl_int code;
    const cl_event gate = clCreateUserEvent(s->cl.context, &code);
    carom_job *before = wrap_event(s, gate), *job = sweep(s, COUNT, &before, 1);
    const cl_event swept = event_of(job);
    carom_job_cancel(before); /* without effect */
    assert_int_equal(carom_job_wait(before, 0.01, &err), CAROM_ERROR_TIMEOUT);
    assert_int_equal(clSetUserEventStatus(gate, -5), CL_SUCCESS);
    test_error(carom_job_wait(before, (double)INFINITY, &err), CAROM_ERROR_DEVICE_LOST, &err, "has failed (-5)");
    test_error(carom_job_wait(job, (double)INFINITY, &err), CAROM_ERROR_DEVICE_LOST, &err,
               "batch.wait[0] has failed: a command");
    assert_int_equal(err.native_code, -5);
    expect_event(swept, -(cl_int)CAROM_ERROR_DEVICE_LOST);
    carom_job_destroy(before);
    carom_job_destroy(job);
    assert_int_equal(clReleaseEvent(gate), CL_SUCCESS);
    close_simulation(s);
}

/* A job that fails before its turn: what comes after it in the queue stays behind what comes before it. */
static void test_no_overtaking(void **state)
{
    simulation *s = open_simulation(state, TURNS_OUT_OF_ORDER);
    carom_error err = {0};
    cl_event late;
    cl_int code;
    const cl_event gate = clCreateUserEvent(s->cl.context, &code), bad_one = clCreateUserEvent(s->cl.context, &code);
    carom_job *before = wrap_event(s, bad_one);
    launch(s, s->rise, 1, &gate, NULL);
    carom_job *job = sweep(s, COUNT, &before, 1);
    launch(s, s->fall, 0, NULL, &late);
    assert_int_equal(clFlush(s->cl.queue), CL_SUCCESS);
    assert_int_equal(clSetUserEventStatus(bad_one, -5), CL_SUCCESS);
    assert_int_equal(carom_job_wait(job, 0.02, &err), CAROM_ERROR_TIMEOUT);
    assert_true(state_of(late) > CL_COMPLETE);
    assert_int_equal(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
    test_error(carom_job_wait(job, (double)INFINITY, &err), CAROM_ERROR_DEVICE_LOST, &err, "batch.wait[0] has failed");
    finish(s);
    carom_job_destroy(before);
    carom_job_destroy(job);
    assert_int_equal(clReleaseEvent(gate), CL_SUCCESS);
    assert_int_equal(clReleaseEvent(bad_one), CL_SUCCESS);
    assert_int_equal(clReleaseEvent(late), CL_SUCCESS);
    close_simulation(s);
}

/* A command that fails in the caller's queue: the call behind it ends, whatever the driver makes of that, and the queue
 * goes on. PoCL 3.1 aborts if a command without an event comes behind one that failed. */
static void test_bad_command(void **state)
{
    simulation *s = open_simulation(state, TURNS);
    carom_error err = {0};
    cl_event risen;
    cl_int code;
    const cl_event bad_one = clCreateUserEvent(s->cl.context, &code);
    launch(s, s->rise, 1, &bad_one, &risen);
    carom_job *job = sweep(s, COUNT, NULL, 0);
    assert_int_equal(clSetUserEventStatus(bad_one, -5), CL_SUCCESS);
    if (carom_job_wait(job, (double)INFINITY, &err) != CAROM_OK)
        assert_int_equal(err.status, CAROM_ERROR_DEVICE_LOST);
    finish(s);
    carom_job_destroy(job);
    ends_well(sweep(s, COUNT, NULL, 0));
    assert_int_equal(clReleaseEvent(bad_one), CL_SUCCESS);
    assert_int_equal(clReleaseEvent(risen), CL_SUCCESS);
    close_simulation(s);
}

/* The same many times, and commands of the caller behind the job as well. While the driver walks what depends on the
 * failed command, the job already sees that its turn has failed. */
static void test_bad_commands(void **state)
{
    enum { TIMES = 20, BEHIND = 8 };
    simulation *s = open_simulation(state, TURNS);
    carom_error err = {0};
    cl_int code;
    for (int i = 0; i < TIMES; i++) {
        cl_event risen, behind[BEHIND];
        const cl_event bad_one = clCreateUserEvent(s->cl.context, &code);
        launch(s, s->rise, 1, &bad_one, &risen);
        carom_job *job = sweep(s, COUNT, NULL, 0);
        for (int k = 0; k < BEHIND; k++)
            launch(s, s->fall, 0, NULL, &behind[k]);
        assert_int_equal(clSetUserEventStatus(bad_one, -5), CL_SUCCESS);
        if (carom_job_wait(job, (double)INFINITY, &err) != CAROM_OK)
            assert_int_equal(err.status, CAROM_ERROR_DEVICE_LOST);
        finish(s);
        carom_job_destroy(job);
        for (int k = 0; k < BEHIND; k++)
            assert_int_equal(clReleaseEvent(behind[k]), CL_SUCCESS);
        assert_int_equal(clReleaseEvent(bad_one), CL_SUCCESS);
        assert_int_equal(clReleaseEvent(risen), CL_SUCCESS);
    }
    ends_well(sweep(s, COUNT, NULL, 0));
    close_simulation(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(test_turns),        ON_BOTH(test_no_hidden_wait), ON_BOTH(test_blocking_turn),
        ON_BOTH(test_failed_turn),  ON_BOTH(test_events),         ON_BOTH(test_events_of_jobs),
        ON_BOTH(test_bad_event),    ON_BOTH(test_no_overtaking),  ON_BOTH(test_bad_command),
        ON_BOTH(test_bad_commands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
