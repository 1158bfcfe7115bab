/* SPDX-License-Identifier: MIT */
/* What is refused of a program's own OpenCL, and what fails in its queue. The device is PoCL as it is, which shares the
 * host's memory, and seen as discrete. */
#include "tests/support/caller_simulation.h"

#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

static const carom_status bad = CAROM_ERROR_INVALID_ARGUMENT;

static void test_refused(void **state)
{
    simulation *s = open_simulation(state, NO_TURNS);
    caller stranger = caller_on(s->cl.device);
    carom_context_desc desc = test_desc(CAROM_BACKEND_OPENCL);
    carom_context *own = test_cpu(CAROM_ISA_AUTO, 1), *none = NULL;
    carom_error err = {0};
    carom_job *job = NULL, *ended = sweep(s, 0, NULL, 0);
    cl_event event = NULL;
    cl_int code;
    const cl_event foreign = clCreateUserEvent(stranger.context, &code);
    const carom_opencl_desc cl = {
        .size = sizeof cl, .context = s->cl.context, .device = s->cl.device, .queue = stranger.queue};
    test_error(carom_job_wrap_event(s->context, foreign, &job, &err), bad, &err, "event belongs to another cl_context");
    test_error(carom_job_wrap_event(own, foreign, &job, &err), bad, &err, "context was not made by");
    test_error(carom_job_wrap_event(NULL, foreign, &job, &err), bad, &err, "context");
    test_error(carom_job_wrap_event(s->context, NULL, &job, &err), bad, &err, "event");
    test_error(carom_job_wrap_event(s->context, foreign, NULL, &err), bad, &err, "out");
    test_error(carom_job_get_event(NULL, &event, &err), bad, &err, "job");
    test_error(carom_job_get_event(ended, NULL, &err), bad, &err, "out");
    desc.device = NULL;
    test_error(carom_context_create_opencl(&desc, &cl, &none, &err), bad, &err, "cl.queue belongs to another context");
    assert_true(job == NULL && event == NULL && none == NULL);
    assert_int_equal(clReleaseEvent(foreign), CL_SUCCESS);
    carom_job_destroy(ended);
    carom_context_destroy(own);
    caller_close(&stranger);
    close_simulation(s);
}

/* In a child of fork() there is no OpenCL, nor in a context that auto makes there on the CPU. */
static void test_child(void **state)
{
    simulation *s = open_simulation(state, TURNS);
    carom_context_desc desc = test_desc(CAROM_BACKEND_AUTO);
    const carom_opencl_desc cl = {
        .size = sizeof cl, .context = s->cl.context, .device = s->cl.device, .queue = s->cl.queue};
    cl_int code;
    const cl_event event = clCreateUserEvent(s->cl.context, &code);
    const pid_t child = fork();
    int status = 0;
    if (child == 0) {
        carom_context *context = NULL;
        carom_job *job = NULL;
        desc.device = NULL;
        const int made = carom_context_create_opencl(&desc, &cl, &context, NULL) == CAROM_OK;
        const carom_status of_parent = carom_job_wrap_event(s->context, event, &job, NULL);
        const carom_status own = made ? carom_job_wrap_event(context, event, &job, NULL) : CAROM_OK;
        carom_context_destroy(context);
        _exit(!made || of_parent != CAROM_ERROR_NO_DEVICE || own != CAROM_ERROR_NO_DEVICE);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(clReleaseEvent(event), CL_SUCCESS);
    close_simulation(s);
}

/* Each call of OpenCL that a turn makes fails once: the call says so, and the queue goes on. */
static void test_failing_turns(void **state)
{
    static const cl_call kinds[] = {CALL_USER_EVENT, CALL_MARKER, CALL_BARRIER, CALL_FLUSH};
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
        simulation *s = open_simulation(state, TURNS);
        carom_mesh_sweep_desc desc = sweep_of(s, carom_buffer_address(s->z), COUNT);
        const carom_mesh_hit_result out = {.size = sizeof out, .t = carom_buffer_address(s->t)};
        carom_job *job = NULL;
        carom_error err = {0};
        desc.batch.job = &job;
        launch(s, s->rise, 0, NULL, NULL);
        cl_sabotage(kinds[k], 1, 0);
        const carom_status status = carom_mesh_sweep_first(s->mesh, &desc, &out, NULL, &err);
        cl_relieve();
        test_error(status, kinds[k] == CALL_USER_EVENT ? CAROM_ERROR_OUT_OF_MEMORY : CAROM_ERROR_DEVICE_LOST, &err,
                   cl_call_name(kinds[k]));
        assert_null(job);
        ends_well(sweep(s, COUNT, NULL, 0));
        launch(s, s->fall, 0, NULL, NULL);
        finish(s);
        expect_heights(s, 1, cl_call_name(kinds[k]));
        close_simulation(s);
    }
}

static int allocations_left;

static void *scarce_alloc(void *user, size_t size, size_t alignment)
{
    (void)user;
    return allocations_left-- == 0 ? NULL : aligned_alloc(alignment, size);
}

static void scarce_free(void *user, void *memory)
{
    (void)user;
    free(memory);
}

/* Whatever allocation fails: a context that there is takes its turns, also where auto stays on the CPU. */
static void test_scarce_contexts(void **state)
{
    caller c = caller_open(state);
    const carom_opencl_desc cl = {.size = sizeof cl, .context = c.context, .device = c.device, .queue = c.queue};
    carom_context_desc desc = test_desc(CAROM_BACKEND_AUTO);
    desc.device = NULL;
    desc.allocator = (carom_allocator){scarce_alloc, scarce_free, NULL};
    for (int at = 0, more = 1; more; at++) {
        const carom_sweep_pairs_desc nothing = {.batch.size = sizeof nothing};
        const carom_sweep_result out = {.size = sizeof out};
        carom_context *context = NULL;
        carom_error err = {0};
        allocations_left = at;
        const carom_status status = carom_context_create_opencl(&desc, &cl, &context, &err);
        more = allocations_left < 0;
        allocations_left = -1;
        cl_relieve();
        if (status == CAROM_OK) {
            test_ok("nothing", carom_sweep_pairs(context, &nothing, &out, NULL, &err), &err);
            assert_int_equal(cl_calls(CALL_MARKER), 1);
        } else {
            test_error(status, CAROM_ERROR_OUT_OF_MEMORY, &err, "no memory for");
        }
        carom_context_destroy(context);
    }
    caller_close(&c);
    cl_expect_none("scarce contexts");
}

/* A device that dies in a job: the job ends, and the caller's queue and events go on. */
static void test_lost(void **state)
{
    simulation *s = open_simulation(state, TURNS);
    carom_error err = {0};
    ends_well(sweep(s, COUNT, NULL, 0));
    cl_int code;
    const cl_event gate = clCreateUserEvent(s->cl.context, &code);
    launch(s, s->rise, 1, &gate, NULL);
    carom_job *job = sweep(s, COUNT, NULL, 0);
    const cl_event swept = event_of(job);
    cl_sabotage(CALL_COMMAND, 1, 1);
    assert_int_equal(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
    assert_int_equal(carom_job_wait(job, (double)INFINITY, &err), CAROM_ERROR_DEVICE_LOST);
    expect_event(swept, -(cl_int)CAROM_ERROR_DEVICE_LOST);
    cl_relieve();
    finish(s);
    carom_job_destroy(job);
    assert_int_equal(clReleaseEvent(gate), CL_SUCCESS);
    close_simulation(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(test_refused), ON_BOTH(test_child),           ON_BOTH(test_failing_turns),
        ON_BOTH(test_lost),    ON_BOTH(test_scarce_contexts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
