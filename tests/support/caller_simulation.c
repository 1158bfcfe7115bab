/* SPDX-License-Identifier: MIT */
#include "caller_simulation.h"

#include "scenes.h"

#include <math.h>
#include <time.h>

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

simulation *open_simulation(void **state, int order)
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
    scene shape = scene_sphere(SIMULATION_SIDES);
    s.mesh = scene_mesh(s.context, &shape);
    scene_free(&shape);
    s.z = wrap(s.context, s.z_memory, 0, BYTES);
    s.t = wrap(s.context, s.t_memory, 0, BYTES);
    place(&s);
    return &s;
}

void close_simulation(simulation *s)
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

carom_mesh_sweep_desc sweep_of(const simulation *s, const float *z, uint64_t count)
{
    return (carom_mesh_sweep_desc){.batch = {.size = sizeof(carom_mesh_sweep_desc), .count = count},
                                   .center = carom_soa(s->x, s->y, z),
                                   .velocity = {&zeros[0], &zeros[1], &down, CAROM_REPEAT},
                                   .radius = {&s->radius, CAROM_REPEAT}};
}

void expect_heights(const simulation *s, int steps, const char *what)
{
    static float z[COUNT], t[COUNT], got[COUNT];
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 1);
    scene shape = scene_sphere(SIMULATION_SIDES);
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

void launch(const simulation *s, cl_kernel k, cl_uint waits, const cl_event *wait, cl_event *event)
{
    const size_t items = COUNT;
    assert_int_equal(clEnqueueNDRangeKernel(s->cl.queue, k, 1, NULL, &items, NULL, waits, wait, event), CL_SUCCESS);
}

carom_job *sweep(const simulation *s, uint64_t count, carom_job *const *wait, uint32_t waits)
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

void finish(const simulation *s)
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

void ends_well(carom_job *job)
{
    carom_error err = {0};
    test_ok("job", carom_job_wait(job, (double)INFINITY, &err), &err);
    carom_job_destroy(job);
}

cl_event event_of(carom_job *job)
{
    cl_event event = NULL;
    carom_error err = {0};
    test_ok("carom_job_get_event", carom_job_get_event(job, &event, &err), &err);
    return event;
}

cl_int state_of(cl_event event)
{
    cl_int state = CL_QUEUED;
    assert_int_equal(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL), CL_SUCCESS);
    return state;
}

void expect_event(cl_event event, cl_int expected)
{
    const struct timespec moment = {0, 1000000};
    while (state_of(event) > CL_COMPLETE) /* it is set just after the wait for its job is over */
        (void)nanosleep(&moment, NULL);
    assert_int_equal(state_of(event), expected);
    assert_int_equal(clReleaseEvent(event), CL_SUCCESS);
}
