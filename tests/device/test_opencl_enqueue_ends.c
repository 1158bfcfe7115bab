/* SPDX-License-Identifier: MIT */
/* How calls in the caller's queue end: with objects that are destroyed meanwhile, in a fork()ed child, and with calls
 * and commands of OpenCL that fail. */
#include "tests/support/resident_simulation.h"
#include "tests/support/scenes.h"

#include <math.h>
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- destruction ------------------------------------------------------------------------------------------------- */

/* Mesh, buffers and job are destroyed while the commands wait. */
static void test_destroyed(void **state)
{
    resident r = open_resident(state, TURNS);
    cl_int code;
    call_now(&r);
    const cl_event gate = clCreateUserEvent(r.s->cl.context, &code);
    launch(r.s, r.s->rise, 1, &gate, NULL);
    carom_job_destroy(submit(&r, NULL, 0, NULL));
    launch(r.s, r.s->fall, 0, NULL, NULL);
    carom_mesh_destroy(r.s->mesh);
    carom_buffer_destroy(r.s->z);
    carom_buffer_destroy(r.s->t);
    carom_buffer_destroy(r.x);
    r.s->mesh = NULL;
    r.s->z = r.s->t = r.x = NULL;
    (void)nanosleep(&(struct timespec){0, 20000000}, NULL);
    assert_int_equal(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
    finish(r.s);
    expect_heights(r.s, 1, "destroyed while the call waits");
    assert_int_equal(clReleaseEvent(gate), CL_SUCCESS);
    close_resident(&r);
}

static void test_mesh_moves(void **state)
{
    resident r = open_resident(state, TURNS);
    scene shape = scene_sphere(SIMULATION_SIDES);
    const carom_points vertices = carom_xyz(shape.vertices);
    carom_error err = {0};
    call_now(&r);
    for (int step = 0; step < 20; step++) {
        launch(r.s, r.s->rise, 0, NULL, NULL);
        carom_job_destroy(submit(&r, NULL, 0, NULL));
        launch(r.s, r.s->fall, 0, NULL, NULL);
        test_ok("update", carom_mesh_update(r.s->mesh, &vertices, CAROM_MESH_AUTO, &err), &err);
    }
    finish(r.s);
    expect_heights(r.s, 20, "a mesh that is updated");
    scene_free(&shape);
    close_resident(&r);
}

/* A context ends while the caller's queue waits for an event that the caller sets later: only carom's own commands have
 * to end. */
typedef struct ending {
    resident *r;
    atomic_int has_ended;
} ending;

static void *end_context(void *user)
{
    ending *e = user;
    carom_buffer_destroy(e->r->s->z);
    carom_buffer_destroy(e->r->s->t);
    carom_buffer_destroy(e->r->x);
    carom_buffer_destroy(e->r->y);
    carom_mesh_destroy(e->r->s->mesh);
    carom_context_destroy(e->r->s->context);
    atomic_store(&e->has_ended, 1);
    return NULL;
}

static void ends_behind_gate(void **state, int order)
{
    enum { MOST = 20000 /* ms */ };
    resident r = open_resident(state, order);
    ending e = {.r = &r};
    pthread_t thread;
    cl_int code;
    const float limit = 100;
    const cl_mem limit_memory = memory_of(&r.s->cl, CL_MEM_READ_WRITE, BYTES);
    carom_buffer *limits = wrap(r.s->context, limit_memory, 0, BYTES);
    for (int again = 0; again < 2; again++) { /* with limits on the device, so that the context has notes */
        carom_mesh_sweep_desc desc = sweep_of(r.s, carom_buffer_address(r.s->z), COUNT);
        const carom_mesh_hit_result out = {.size = sizeof out, .t = carom_buffer_address(r.s->t)};
        carom_job *job = NULL;
        carom_error err = {0};
        desc.center = carom_soa(carom_buffer_address(r.x), carom_buffer_address(r.y), carom_buffer_address(r.s->z));
        desc.t_max = (carom_scalars){carom_buffer_address(limits), CAROM_REPEAT};
        desc.batch.job = &job;
        put(&r.s->cl, limit_memory, &limit, sizeof limit);
        test_ok("a job", carom_mesh_sweep_first(r.s->mesh, &desc, &out, NULL, &err), &err);
        ends_well(job);
    }
    carom_buffer_destroy(limits);
    const cl_event gate = clCreateUserEvent(r.s->cl.context, &code);
    launch(r.s, r.s->rise, 1, &gate, NULL);
    assert_int_equal(pthread_create(&thread, NULL, end_context, &e), 0);
    for (int waited = 0; waited < MOST && !atomic_load(&e.has_ended); waited++)
        (void)nanosleep(&(struct timespec){0, 1000000}, NULL);
    const int has_ended = atomic_load(&e.has_ended);
    assert_int_equal(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(has_ended);
    finish(r.s);
    assert_int_equal(clReleaseEvent(gate), CL_SUCCESS);
    assert_int_equal(clReleaseMemObject(limit_memory), CL_SUCCESS);
    r.s->context = NULL;
    r.s->mesh = NULL;
    r.s->z = r.s->t = r.x = r.y = NULL;
    close_resident(&r);
}

static void test_ends_behind_gate(void **state)
{
    ends_behind_gate(state, TURNS);
}

static void test_ends_behind_gate_out_of_order(void **state)
{
    ends_behind_gate(state, TURNS_OUT_OF_ORDER);
}

static void test_fork(void **state)
{
    resident r = open_resident(state, TURNS);
    carom_error err = {0};
    int status = 0;
    call_now(&r);
    carom_job *job = submit(&r, NULL, 0, NULL);
    const pid_t child = fork();
    if (child == 0) {
        const int refused = carom_job_wait(job, 0, &err) == CAROM_ERROR_INVALID_ARGUMENT;
        carom_job_destroy(job);
        carom_mesh_destroy(r.s->mesh);
        _exit(refused ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    ends_well(job);
    close_resident(&r);
}

/* ---- failures ---------------------------------------------------------------------------------------------------- */

/* A call of OpenCL that fails while the call is enqueued, before its first command or behind it. */
static void test_fails_at_enqueue(void **state)
{
    static const cl_call faults[] = {CALL_MARKER, CALL_ARGUMENT, CALL_LAUNCH, CALL_FLUSH};
    for (size_t f = 0; f < COUNT_OF(faults); f++)
        for (int at = 1; at <= 2; at++) {
            resident r = open_resident(state, TURNS);
            call_now(&r);
            launch(r.s, r.s->rise, 0, NULL, NULL);
            cl_relieve();
            cl_sabotage(faults[f], at, 0);
            carom_job *job = NULL;
            carom_error err = {0};
            carom_status status = try_call(&r, (carom_batch){.job = &job}, NULL, &err);
            if (status == CAROM_OK) {
                status = carom_job_wait(job, (double)INFINITY, &err);
                carom_job_destroy(job);
            }
            if (at == 1)
                test_ok(cl_call_name(faults[f]), status, &err);
            cl_relieve();
            if (status == CAROM_OK) {
                launch(r.s, r.s->fall, 0, NULL, NULL);
                finish(r.s);
                expect_heights(r.s, 1, cl_call_name(faults[f]));
            }
            close_resident(&r);
        }
}

/* A command that fails on the device: the job has the error, and the context gives the device up at its next call. */
static void test_lost(void **state)
{
    resident r = open_resident(state, TURNS);
    carom_error err = {0};
    call_now(&r);
    carom_job *job = submit(&r, NULL, 0, NULL);
    cl_sabotage(CALL_COMMAND, 1, 0);
    test_error(carom_job_wait(job, (double)INFINITY, &err), CAROM_ERROR_DEVICE_LOST, &err,
               "a command of the call has failed (-5)");
    cl_relieve();
    carom_job_info info = {.size = sizeof info};
    test_ok("info", carom_job_get_info(job, &info, &err), &err);
    assert_true(info.has_ended && info.status == CAROM_ERROR_DEVICE_LOST && info.done == 0);
    carom_job *next = NULL;
    test_ok("a job", try_call(&r, (carom_batch){.job = &next, .wait = &job, .wait_count = 1}, NULL, &err), &err);
    test_error(carom_job_wait(next, (double)INFINITY, &err), CAROM_ERROR_DEVICE_LOST, &err,
               "batch.wait[0] has failed: a command of the call");
    carom_job_destroy(next);
    test_error(try_call(&r, (carom_batch){0}, NULL, &err), CAROM_ERROR_DEVICE_LOST, &err, "was given up: a command of");
    carom_job_destroy(job);
    close_resident(&r);
}

/* A command of the caller that fails before the call: the device stays. */
static void test_bad_command(void **state)
{
    resident r = open_resident(state, TURNS);
    carom_error err = {0};
    for (int i = 0; i < 20; i++) {
        cl_event risen, fallen;
        cl_int code;
        const cl_event bad_one = clCreateUserEvent(r.s->cl.context, &code);
        if (i == 0)
            call_now(&r);
        launch(r.s, r.s->rise, 1, &bad_one, &risen);
        carom_job *job = submit(&r, NULL, 0, NULL);
        launch(r.s, r.s->fall, 0, NULL, &fallen);
        assert_int_equal(clSetUserEventStatus(bad_one, -5), CL_SUCCESS);
        if (carom_job_wait(job, (double)INFINITY, &err) != CAROM_OK)
            test_error(err.status, CAROM_ERROR_DEVICE_LOST, &err, "a command of the caller has failed");
        finish(r.s);
        carom_job_destroy(job);
        call_now(&r);
        assert_int_equal(clReleaseEvent(bad_one), CL_SUCCESS);
        assert_int_equal(clReleaseEvent(risen), CL_SUCCESS);
        assert_int_equal(clReleaseEvent(fallen), CL_SUCCESS);
    }
    close_resident(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(test_destroyed),
        ON_BOTH(test_mesh_moves),
        ON_BOTH(test_ends_behind_gate),
        ON_BOTH(test_ends_behind_gate_out_of_order),
        ON_BOTH(test_fork),
        ON_BOTH(test_fails_at_enqueue),
        ON_BOTH(test_lost),
        ON_BOTH(test_bad_command),
    };
    return cmocka_run_group_tests_name("ends of calls in the caller's queue", tests, NULL, NULL);
}
