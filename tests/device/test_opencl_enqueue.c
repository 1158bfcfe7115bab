/* SPDX-License-Identifier: MIT */
/* Calls whose arrays all stay go straight into the caller's queue: no thread of the host begins them, no user event
 * ends them, and commands of the caller before and behind them keep their order. The device is PoCL as it is, and seen
 * as discrete. */
#include "tests/support/call_cases.h"
#include "tests/support/caller_simulation.h"

#include <dirent.h>
#include <math.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LAPS = 1000, FEW_LAPS = 100, QUERIES = 2000, SHARE = 20 };

/* ---- a simulation whose arrays all lie in the caller's memory ---------------------------------------------------- */

typedef struct resident {
    simulation *s;
    cl_mem x_memory, y_memory;
    carom_buffer *x, *y;
} resident;

static resident open_resident(void **state, int order)
{
    resident r = {.s = open_simulation(state, order)};
    const caller *cl = &r.s->cl;
    r.x_memory = memory_of(cl, CL_MEM_READ_WRITE, BYTES);
    r.y_memory = memory_of(cl, CL_MEM_READ_WRITE, BYTES);
    put(cl, r.x_memory, r.s->x, BYTES);
    put(cl, r.y_memory, r.s->y, BYTES);
    r.x = wrap(r.s->context, r.x_memory, 0, BYTES);
    r.y = wrap(r.s->context, r.y_memory, 0, BYTES);
    return r;
}

static void close_resident(resident *r)
{
    carom_buffer_destroy(r->x);
    carom_buffer_destroy(r->y);
    assert_int_equal(clReleaseMemObject(r->x_memory), CL_SUCCESS);
    assert_int_equal(clReleaseMemObject(r->y_memory), CL_SUCCESS);
    close_simulation(r->s);
}

static carom_status try_call(const resident *r, carom_batch how, carom_stats *stats, carom_error *err)
{
    carom_mesh_sweep_desc desc = sweep_of(r->s, carom_buffer_address(r->s->z), COUNT);
    const carom_mesh_hit_result out = {.size = sizeof out, .t = carom_buffer_address(r->s->t)};
    desc.center = carom_soa(carom_buffer_address(r->x), carom_buffer_address(r->y), carom_buffer_address(r->s->z));
    how.size = desc.batch.size;
    how.count = how.count != 0 ? how.count : COUNT;
    desc.batch = how;
    return carom_mesh_sweep_first(r->s->mesh, &desc, &out, stats, err);
}

static void call_now(const resident *r)
{
    carom_error err = {0};
    test_ok("a call", try_call(r, (carom_batch){0}, NULL, &err), &err);
}

static carom_job *submit(const resident *r, carom_job *const *wait, uint32_t waits, carom_stats *stats)
{
    carom_job *job = NULL;
    carom_error err = {0};
    test_ok("a job", try_call(r, (carom_batch){.job = &job, .wait = wait, .wait_count = waits}, stats, &err), &err);
    return job;
}

/* ---- what the host does ------------------------------------------------------------------------------------------ */

static int threads(void)
{
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    assert_non_null(tasks);
    while (readdir(tasks) != NULL)
        count++;
    (void)closedir(tasks);
    return count;
}

/* Calls of OpenCL and threads since the beginning of a step. */
static void begin_step(int *before)
{
    cl_relieve();
    *before = threads();
}

static void expect_enqueued(const char *what, int before)
{
    const int waits = cl_calls(CALL_WAIT) + cl_calls(CALL_FINISH), copies = cl_calls(CALL_MAP) + cl_calls(CALL_WRITE);
    if (cl_calls(CALL_USER_EVENT) != 0 || waits != 0 || copies != 0 || cl_calls(CALL_BUFFER) != 0)
        fail_msg("%s: %d user events, %d waits, %d writes or maps", what, cl_calls(CALL_USER_EVENT), waits, copies);
    assert_int_equal(threads(), before);
}

static void expect_ordinary(const char *what)
{
    if (cl_calls(CALL_USER_EVENT) != 1)
        fail_msg("%s: %d user events, not 1", what, cl_calls(CALL_USER_EVENT));
}

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

/* ---- values that are refused ------------------------------------------------------------------------------------- */

enum { BAD_LIMIT = 17, BAD_INDEX = 2005, ELEMENTS = COUNT };

/* A sweep of selected elements within limits, both in the caller's memory. */
typedef struct checked {
    cl_mem select_memory, limit_memory;
    carom_buffer *select, *limit;
    uint32_t indices[COUNT];
    float limits[COUNT];
} checked;

static void open_checked(const resident *r, checked *c)
{
    c->select_memory = memory_of(&r->s->cl, CL_MEM_READ_WRITE, BYTES);
    c->limit_memory = memory_of(&r->s->cl, CL_MEM_READ_WRITE, BYTES);
    c->select = wrap(r->s->context, c->select_memory, 0, BYTES);
    c->limit = wrap(r->s->context, c->limit_memory, 0, BYTES);
    for (uint32_t i = 0; i < COUNT; i++) {
        c->indices[i] = COUNT - 1 - i;
        c->limits[i] = i % 3 == 0 ? -0.0f : (float)i;
    }
}

static void close_checked(checked *c)
{
    carom_buffer_destroy(c->select);
    carom_buffer_destroy(c->limit);
    assert_int_equal(clReleaseMemObject(c->select_memory), CL_SUCCESS);
    assert_int_equal(clReleaseMemObject(c->limit_memory), CL_SUCCESS);
}

static carom_status call_checked(const resident *r, const checked *c, carom_job **job, carom_job *const *wait,
                                 carom_error *err)
{
    carom_mesh_sweep_desc desc = sweep_of(r->s, carom_buffer_address(r->s->z), COUNT);
    const carom_mesh_hit_result out = {.size = sizeof out, .t = carom_buffer_address(r->s->t)};
    desc.center = carom_soa(carom_buffer_address(r->x), carom_buffer_address(r->y), carom_buffer_address(r->s->z));
    desc.batch.select = carom_uints_of(carom_buffer_address(c->select));
    desc.batch.elements = ELEMENTS;
    desc.t_max = carom_scalars_of(carom_buffer_address(c->limit));
    desc.batch.job = job;
    desc.batch.wait = wait;
    desc.batch.wait_count = wait != NULL;
    return carom_mesh_sweep_first(r->s->mesh, &desc, &out, NULL, err);
}

static void put_checked(const resident *r, const checked *c)
{
    put(&r->s->cl, c->select_memory, c->indices, BYTES);
    put(&r->s->cl, c->limit_memory, c->limits, BYTES);
}

/* The job says what the blocking call says; the queue goes on, and the device is kept. */
static void expect_refused(const resident *r, const checked *c, const char *sentence)
{
    carom_job *job = NULL, *next = NULL;
    carom_job_info info = {.size = sizeof info};
    carom_error err = {0};
    put_checked(r, c);
    cl_relieve();
    test_ok("a job", call_checked(r, c, &job, NULL, &err), &err);
    assert_int_equal(cl_calls(CALL_USER_EVENT), 0);
    test_ok("a job", call_checked(r, c, &next, &job, &err), &err);
    finish(r->s);
    test_error(carom_job_wait(job, (double)INFINITY, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, sentence);
    assert_string_equal(err.message, sentence);
    test_ok("info", carom_job_get_info(job, &info, &err), &err);
    assert_true(info.has_ended && info.status == CAROM_ERROR_INVALID_ARGUMENT && info.done == 0);
    expect_event(event_of(job), CL_COMPLETE);
    test_error(carom_job_wait(next, (double)INFINITY, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, sentence);
    carom_job_destroy(job);
    carom_job_destroy(next);
    assert_int_equal(call_checked(r, c, NULL, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT);
    assert_string_equal(err.message, sentence);
}

static void test_refused(void **state)
{
    static checked c;
    resident r = open_resident(state, TURNS);
    carom_error err = {0};
    carom_job *job = NULL;
    open_checked(&r, &c);
    put_checked(&r, &c);
    test_ok("a call", call_checked(&r, &c, NULL, NULL, &err), &err);
    const size_t fetched = cl_fetched;
    test_ok("a call", call_checked(&r, &c, NULL, NULL, &err), &err);
    assert_int_equal(cl_fetched - fetched, 2 * sizeof(cl_uint)); /* a word for each array */
    c.limits[c.indices[BAD_LIMIT]] = -1;
    c.limits[c.indices[BAD_LIMIT + 30]] = NAN;
    expect_refused(&r, &c, "query 17: t_max is -1; it must be >= 0");
    c.indices[BAD_INDEX] = UINT32_MAX;
    c.indices[BAD_INDEX + 1] = ELEMENTS;
    expect_refused(&r, &c, "query 2005: batch.select is 4294967295; it must be below batch.elements, 3008");
    c.indices[BAD_INDEX] = c.indices[BAD_INDEX + 1] = 0;
    c.limits[c.indices[BAD_LIMIT]] = c.limits[c.indices[BAD_LIMIT + 30]] = 1;
    put_checked(&r, &c);
    carom_job *kept = NULL;
    test_ok("a job", call_checked(&r, &c, &kept, NULL, &err), &err);
    for (int i = 0; i < LAPS + LAPS / 2; i++) { /* more than there are notes, whose jobs end meanwhile, but one */
        cl_relieve();
        test_ok("a job", call_checked(&r, &c, &job, NULL, &err), &err);
        assert_int_equal(cl_calls(CALL_USER_EVENT), 0);
        ends_well(job);
    }
    ends_well(kept);
    close_checked(&c);
    close_resident(&r);
}

/* An index on the device selects from limits in the program's memory. */
static void test_limits_of_the_program(void **state)
{
    static checked c;
    static float expected[COUNT], got[COUNT];
    resident r = open_resident(state, TURNS);
    carom_error err = {0};
    carom_mesh_sweep_desc desc = sweep_of(r.s, carom_buffer_address(r.s->z), COUNT);
    const carom_mesh_hit_result out = {.size = sizeof out, .t = carom_buffer_address(r.s->t)};
    open_checked(&r, &c);
    put_checked(&r, &c);
    test_ok("a call", call_checked(&r, &c, NULL, NULL, &err), &err);
    test_ok("a read", carom_buffer_read(r.s->t, 0, expected, BYTES, &err), &err);
    desc.center = carom_soa(carom_buffer_address(r.x), carom_buffer_address(r.y), carom_buffer_address(r.s->z));
    desc.batch.select = carom_uints_of(carom_buffer_address(c.select));
    desc.batch.elements = ELEMENTS;
    desc.t_max = carom_scalars_of(c.limits);
    test_ok("a call", carom_mesh_sweep_first(r.s->mesh, &desc, &out, NULL, &err), &err);
    test_ok("a read", carom_buffer_read(r.s->t, 0, got, BYTES, &err), &err);
    assert_memory_equal(expected, got, BYTES);
    close_checked(&c);
    close_resident(&r);
}

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
        ON_BOTH(test_laps),        ON_BOTH(test_laps_out_of_order),
        ON_BOTH(test_gate),        ON_BOTH(test_gate_out_of_order),
        ON_BOTH(test_later_calls), ON_BOTH(test_info),
        ON_BOTH(test_waits),       ON_BOTH(test_waits_out_of_order),
        ON_BOTH(test_ordinary),    ON_BOTH(test_destroyed),
        ON_BOTH(test_mesh_moves),  ON_BOTH(test_fails_at_enqueue),
        ON_BOTH(test_lost),        ON_BOTH(test_bad_command),
        ON_BOTH(test_refused),     ON_BOTH(test_fork),
        ON_BOTH(test_every_call),  ON_BOTH(test_limits_of_the_program),
    };
    return cmocka_run_group_tests_name("calls in the caller's queue", tests, NULL, NULL);
}
