/* SPDX-License-Identifier: MIT */
/* carom between the commands of a program that has OpenCL of its own: turns in its queue, events to wait for, events of
 * jobs. The device is PoCL as it is, which shares the host's memory, and seen as discrete. */
#include "tests/support/cl_caller.h"
#include "tests/support/scenes.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { COUNT = 3008 /* whole groups of lanes */, SIDES = 6, STEPS = 20, BYTES = 4 * COUNT };
static const carom_status bad = CAROM_ERROR_INVALID_ARGUMENT;

/* ---- a simulation of the caller ---------------------------------------------------------------------------------- */

/* Heights of balls over a mesh. A kernel raises them, carom sweeps them down, a kernel takes the time to contact. The
 * same numbers from the kernels and from C: each operation is rounded once. */
static const char kernels[] = "__kernel void rise(__global float *z)\n"
                              "{\n"
                              "    uint i = get_global_id(0);\n"
                              "    z[i] = z[i] * 0.5f + (float)(i & 255u) * 0x1p-6f + 2.0f;\n"
                              "}\n"
                              "__kernel void fall(__global float *z, __global const float *t)\n"
                              "{\n"
                              "    uint i = get_global_id(0);\n"
                              "    if (t[i] < 1000.0f)\n"
                              "        z[i] = z[i] - t[i];\n"
                              "}\n";

typedef struct simulation {
    caller cl;
    cl_program program;
    cl_kernel rise, fall;
    cl_mem z_memory, t_memory;
    carom_context *context;
    carom_mesh *mesh;
    carom_buffer *z, *t;
    float x[COUNT], y[COUNT], radius;
} simulation;

static const float zeros[] = {0, 0}, down = -1;

static void place(simulation *s)
{
    for (uint32_t i = 0; i < COUNT; i++) {
        s->x[i] = (float)(i % 61) / 61 - 0.5f;
        s->y[i] = (float)(i % 53) / 53 - 0.5f;
    }
    s->radius = 0.0625f;
}

static cl_kernel kernel(const simulation *s, const char *name, cl_uint arguments)
{
    const cl_mem memories[] = {s->z_memory, s->t_memory};
    cl_int code;
    const cl_kernel made = clCreateKernel(s->program, name, &code);
    assert_int_equal(code, CL_SUCCESS);
    for (cl_uint i = 0; i < arguments; i++)
        assert_int_equal(clSetKernelArg(made, i, sizeof memories[i], &memories[i]), CL_SUCCESS);
    return made;
}

/* The caller's queue, and whether calls take their turn in it. */
enum { NO_TURNS, TURNS, TURNS_OUT_OF_ORDER };

static void put_out_of_order(caller *cl)
{
    cl_int code;
    assert_int_equal(clReleaseCommandQueue(cl->queue), CL_SUCCESS);
    cl->queue = clCreateCommandQueue(cl->context, cl->device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &code);
    if (code == CL_INVALID_QUEUE_PROPERTIES) {
        assert_int_equal(clReleaseContext(cl->context), CL_SUCCESS);
        test_skip("queues out of order", "this device has none");
    }
    assert_int_equal(code, CL_SUCCESS);
}

static simulation *open_simulation(void **state, int order)
{
    static simulation s;
    static float nothing[COUNT];
    const char *text = kernels;
    cl_int code;
    carom_context_desc desc = test_desc(CAROM_BACKEND_OPENCL);
    carom_error err = {0};
    s.cl = caller_open(state);
    if (order == TURNS_OUT_OF_ORDER)
        put_out_of_order(&s.cl);
    s.program = clCreateProgramWithSource(s.cl.context, 1, &text, NULL, &code);
    assert_int_equal(clBuildProgram(s.program, 1, &s.cl.device, "-cl-std=CL1.2", NULL, NULL), CL_SUCCESS);
    s.z_memory = memory_of(&s.cl, CL_MEM_READ_WRITE, BYTES);
    s.t_memory = memory_of(&s.cl, CL_MEM_READ_WRITE, BYTES);
    put(&s.cl, s.z_memory, nothing, BYTES);
    put(&s.cl, s.t_memory, nothing, BYTES);
    s.rise = kernel(&s, "rise", 1);
    s.fall = kernel(&s, "fall", 2);
    desc.device = NULL;
    const carom_opencl_desc cl = {.size = sizeof cl,
                                  .context = s.cl.context,
                                  .device = s.cl.device,
                                  .queue = order != NO_TURNS ? s.cl.queue : NULL};
    test_ok("context", carom_context_create_opencl(&desc, &cl, &s.context, &err), &err);
    scene shape = scene_sphere(SIDES);
    s.mesh = scene_mesh(s.context, &shape);
    scene_free(&shape);
    s.z = wrap(s.context, s.z_memory, 0, BYTES);
    s.t = wrap(s.context, s.t_memory, 0, BYTES);
    place(&s);
    return &s;
}

static void close_simulation(simulation *s)
{
    carom_buffer_destroy(s->z);
    carom_buffer_destroy(s->t);
    carom_mesh_destroy(s->mesh);
    carom_context_destroy(s->context);
    assert_int_equal(clReleaseKernel(s->rise), CL_SUCCESS);
    assert_int_equal(clReleaseKernel(s->fall), CL_SUCCESS);
    assert_int_equal(clReleaseProgram(s->program), CL_SUCCESS);
    assert_int_equal(clReleaseMemObject(s->z_memory), CL_SUCCESS);
    assert_int_equal(clReleaseMemObject(s->t_memory), CL_SUCCESS);
    caller_close(&s->cl);
    cl_expect_none("events");
}

/* x and y lie with the program: the balls stay in place but for their height. */
static carom_mesh_sweep_desc sweep_of(const simulation *s, const float *z, uint64_t count)
{
    return (carom_mesh_sweep_desc){.batch = {.size = sizeof(carom_mesh_sweep_desc), .count = count},
                                   .center = carom_soa(s->x, s->y, z),
                                   .velocity = {&zeros[0], &zeros[1], &down, CAROM_REPEAT},
                                   .radius = {&s->radius, CAROM_REPEAT}};
}

/* The heights after so many steps, by the CPU and C. */
static void expect_heights(const simulation *s, int steps, const char *what)
{
    static float z[COUNT], t[COUNT], got[COUNT];
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 1);
    scene shape = scene_sphere(SIDES);
    carom_mesh *mesh = scene_mesh(cpu, &shape);
    const carom_mesh_sweep_desc desc = sweep_of(s, z, COUNT);
    const carom_mesh_hit_result out = {.size = sizeof out, .t = t};
    memset(z, 0, sizeof z);
    for (int step = 0; step < steps; step++) {
        for (uint32_t i = 0; i < COUNT; i++)
            z[i] = z[i] * 0.5f + (float)(i & 255u) * 0x1p-6f + 2.0f;
        assert_int_equal(carom_mesh_sweep_first(mesh, &desc, &out, NULL, NULL), CAROM_OK);
        for (uint32_t i = 0; i < COUNT; i++)
            z[i] = t[i] < 1000.0f ? z[i] - t[i] : z[i];
    }
    get(&s->cl, s->z_memory, got, BYTES);
    if (memcmp(z, got, BYTES) != 0)
        fail_msg("%s: other heights", what);
    scene_free(&shape);
    carom_mesh_destroy(mesh);
    carom_context_destroy(cpu);
}

static void launch(const simulation *s, cl_kernel k, cl_uint waits, const cl_event *wait, cl_event *event)
{
    const size_t items = COUNT;
    assert_int_equal(clEnqueueNDRangeKernel(s->cl.queue, k, 1, NULL, &items, NULL, waits, wait, event), CL_SUCCESS);
}

/* The sweep as a job; count 0 is an empty batch. */
static carom_job *sweep(const simulation *s, uint64_t count, carom_job *const *wait, uint32_t waits)
{
    carom_mesh_sweep_desc desc = sweep_of(s, carom_buffer_address(s->z), count);
    const carom_mesh_hit_result out = {.size = sizeof out, .t = carom_buffer_address(s->t)};
    carom_job *job = NULL;
    carom_error err = {0};
    desc.batch.job = &job;
    desc.batch.wait = wait;
    desc.batch.wait_count = waits;
    test_ok("sweep", carom_mesh_sweep_first(s->mesh, &desc, &out, NULL, &err), &err);
    return job;
}

/* clFinish of Mesa 22.3 holds the lock of the queue, which clWaitForEvents of another thread needs for an event of that
 * queue. So the queue would wait for a job, and the job for the queue. A wait for an event holds no lock. */
static int finish_holds_lock(const simulation *s)
{
    cl_platform_id platform;
    char name[64] = "";
    assert_int_equal(clGetDeviceInfo(s->cl.device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL), CL_SUCCESS);
    assert_int_equal(clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name, name, NULL), CL_SUCCESS);
    return strcmp(name, "rusticl") == 0;
}

static void finish(const simulation *s)
{
    cl_event last;
    if (!finish_holds_lock(s)) {
        assert_int_equal(clFinish(s->cl.queue), CL_SUCCESS);
        return;
    }
    assert_int_equal(clEnqueueMarkerWithWaitList(s->cl.queue, 0, NULL, &last), CL_SUCCESS);
    assert_int_equal(clWaitForEvents(1, &last), CL_SUCCESS);
    assert_int_equal(clReleaseEvent(last), CL_SUCCESS);
}

static void ends_well(carom_job *job)
{
    carom_error err = {0};
    test_ok("job", carom_job_wait(job, (double)INFINITY, &err), &err);
    carom_job_destroy(job);
}

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

static cl_event event_of(carom_job *job)
{
    cl_event event = NULL;
    carom_error err = {0};
    test_ok("carom_job_get_event", carom_job_get_event(job, &event, &err), &err);
    return event;
}

static cl_int state_of(cl_event event)
{
    cl_int state = CL_QUEUED;
    assert_int_equal(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL), CL_SUCCESS);
    return state;
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

static void expect_event(cl_event event, cl_int expected)
{
    const struct timespec moment = {0, 1000000};
    while (state_of(event) > CL_COMPLETE) /* it is set just after the wait for its job is over */
        (void)nanosleep(&moment, NULL);
    assert_int_equal(state_of(event), expected);
    assert_int_equal(clReleaseEvent(event), CL_SUCCESS);
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

/* ---- what is refused, and what fails ----------------------------------------------------------------------------- */

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
        ON_BOTH(test_turns),       ON_BOTH(test_no_hidden_wait),  ON_BOTH(test_blocking_turn),
        ON_BOTH(test_failed_turn), ON_BOTH(test_events),          ON_BOTH(test_events_of_jobs),
        ON_BOTH(test_bad_event),   ON_BOTH(test_no_overtaking),   ON_BOTH(test_bad_command),
        ON_BOTH(test_refused),     ON_BOTH(test_child),           ON_BOTH(test_failing_turns),
        ON_BOTH(test_lost),        ON_BOTH(test_scarce_contexts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
