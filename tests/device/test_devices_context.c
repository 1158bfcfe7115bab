/* SPDX-License-Identifier: MIT */
/* A context over several devices, but for its batches (test_devices.c): buffers, lists and parts that are refused,
 * prepared calls, jobs, the hooks of the allocator. */
#include "tests/support/several_devices.h"

#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- buffers ----------------------------------------------------------------------------------------------------- */

/* Buffers of several devices are the host's. */
static void test_buffers(void **state)
{
    (void)state;
    (void)need_devices();
    carom_context *context = listed(CAROM_BACKEND_OPENCL, 0);
    const carom_buffer_desc desc = {.size = sizeof desc, .bytes = 4096, .where = CAROM_BUFFER_DEVICE};
    carom_buffer_info info = {.size = sizeof info};
    carom_buffer *buffer = NULL;
    carom_error err = {0};
    test_ok("a buffer", carom_buffer_create(context, &desc, &buffer, &err), &err);
    test_ok("a buffer", carom_buffer_get_info(buffer, &info, &err), &err);
    assert_int_equal(info.where, CAROM_BUFFER_HOST);
    assert_int_equal(info.reachable, 1);
    carom_buffer_destroy(buffer);
    carom_context_destroy(context);
}

/* Closest points from arrays in the caller's memory: the first device answers all. If it fails, the other does. */
static void test_wrapped(void **state)
{
    (void)state;
    cl_context shared = part_context();
    carom_context *context = parts(shared, CAROM_BACKEND_OPENCL, 0), *cpu = test_cpu(CAROM_ISA_AUTO, 2);
    carom_mesh *mesh = scene_mesh(context, &few.s), *same = scene_mesh(cpu, &few.s);
    float *points = test_alloc(COUNT, 3 * sizeof *points), *got = test_alloc(COUNT, sizeof *got);
    float *distance = test_alloc(COUNT, sizeof *distance);
    carom_error err = {0};
    cl_int code;
    for (int i = 0; i < 3 * COUNT; i++)
        points[i] = few.b.column[i % 3][i / 3];
    carom_mesh_closest_desc d = {.batch = {.size = sizeof d, .count = COUNT}, .center = carom_xyz(points)};
    carom_mesh_closest_result out = {.size = sizeof out, .distance = distance};
    test_ok("closest", carom_mesh_closest(same, &d, &out, NULL, &err), &err);
    for (int round = 0; round < 2; round++) {
        cl_mem memory = clCreateBuffer(shared, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, 12 * COUNT, points, &code);
        carom_buffer *where = NULL;
        carom_stats stats = {.size = sizeof stats};
        assert_int_equal(code, CL_SUCCESS);
        test_ok("wrap", carom_buffer_wrap_opencl(context, memory, 0, 12 * COUNT, &where, &err), &err);
        d.center = carom_xyz(carom_buffer_address(where));
        out.distance = got;
        memset(got, 0, COUNT * sizeof *got);
        if (round == 1)
            cl_sabotage(CALL_LAUNCH, 1, 0);
        test_ok("closest", carom_mesh_closest(mesh, &d, &out, &stats, &err), &err);
        cl_relieve();
        assert_memory_equal(got, distance, COUNT * sizeof *got);
        assert_int_equal(stats.devices[round].queries, COUNT);
        carom_buffer_destroy(where);
        assert_int_equal(clReleaseMemObject(memory), CL_SUCCESS);
    }
    cl_mem memory = clCreateBuffer(shared, CL_MEM_READ_WRITE, 64, NULL, &code);
    carom_buffer *where = NULL;
    test_error(carom_buffer_wrap_opencl(context, memory, 0, 64, &where, &err), CAROM_ERROR_DEVICE_LOST, &err,
               "given up");
    assert_int_equal(clReleaseMemObject(memory), CL_SUCCESS);
    free(points);
    free(got);
    free(distance);
    carom_mesh_destroy(mesh);
    carom_mesh_destroy(same);
    carom_context_destroy(context);
    carom_context_destroy(cpu);
    assert_int_equal(clReleaseContext(shared), CL_SUCCESS);
    cl_expect_none("buffers around the caller's memory");
}

/* The first device, which alone can use the caller's memory, was refused: an error that says why, whatever auto has. */
static void test_refused_first(void **state)
{
    (void)state;
    cl_context shared = part_context();
    cl_int code;
    carom_buffer *where = NULL;
    carom_error err = {0};
    cl_sabotage(CALL_QUEUE, 1, 0);
    carom_context *context = parts(shared, CAROM_BACKEND_AUTO, 0);
    cl_relieve();
    cl_mem memory = clCreateBuffer(shared, CL_MEM_READ_WRITE, 64, NULL, &code);
    assert_int_equal(code, CL_SUCCESS);
    test_error(carom_buffer_wrap_opencl(context, memory, 0, 64, &where, &err), CAROM_ERROR_DEVICE_LOST, &err,
               "clCreateCommandQueue");
    assert_null(where);
    assert_int_equal(ask_all(&requests[SPHERES], context, NULL).devices[VICTIM].queries, COUNT);
    assert_int_equal(clReleaseMemObject(memory), CL_SUCCESS);
    carom_context_destroy(context);
    assert_int_equal(clReleaseContext(shared), CL_SUCCESS);
    cl_expect_none("a refused first device");
}

/* ---- bad lists --------------------------------------------------------------------------------------------------- */

static void test_bad_lists(void **state)
{
    static const struct {
        const char *list, *words;
        carom_status status;
    } bad[] = {
        {"0,0", "device '0': it is device 0, as is '0' before it", CAROM_ERROR_INVALID_ARGUMENT},
        {"0,pthread", "as is '0' before it", CAROM_ERROR_INVALID_ARGUMENT},
        {"0,,1", "a name of the list is empty", CAROM_ERROR_INVALID_ARGUMENT},
        {",", "a name of the list is empty", CAROM_ERROR_INVALID_ARGUMENT},
        {"0, ", "a name of the list is empty", CAROM_ERROR_INVALID_ARGUMENT},
        {"0,99", "device '99': there is no OpenCL device 99", CAROM_ERROR_NO_DEVICE},
        {"0,no such", "no OpenCL device is called 'no such'", CAROM_ERROR_NO_DEVICE},
        {"0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16", "more than 16", CAROM_ERROR_INVALID_ARGUMENT},
    };
    (void)state;
    (void)need_devices();
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        carom_context_desc desc = listed_desc(CAROM_BACKEND_OPENCL);
        carom_context *context = NULL;
        carom_error err = {0};
        desc.device = bad[i].list;
        test_error(carom_context_create(&desc, &context, &err), bad[i].status, &err, bad[i].words);
        assert_null(context);
        cl_expect_none(bad[i].list);
    }
    carom_context_desc desc = listed_desc(CAROM_BACKEND_OPENCL);
    carom_context *context = NULL;
    carom_error err = {0};
    carom_device_info info[DEVICES] = {{.size = sizeof *info}};
    uint32_t count = 0;
    desc.device = " 1 , 0 ";
    test_ok("spaces", carom_context_create(&desc, &context, &err), &err);
    assert_int_equal(carom_context_get_devices(context, info, DEVICES, &count, NULL), CAROM_OK);
    assert_true(count == 2 && info[0].index == 1 && info[1].index == 0);
    carom_context_destroy(context);
}

static void test_bad_parts(void **state)
{
    cl_context shared = part_context();
    cl_device_id twice[] = {part[0], part[0]}, none[] = {part[0], NULL};
    const struct {
        carom_opencl_desc cl;
        const char *words;
    } bad[] = {
        {{.device = part[0], .devices = part, .device_count = 2}, "both given"},
        {{.device = part[0], .device_count = 1}, "cl.devices is NULL, but cl.device_count is 1"},
        {{.devices = part}, "cl.device_count is 0"},
        {{.devices = part, .device_count = 17}, "cl.device_count is 17"},
        {{.devices = twice, .device_count = 2}, "cl.devices[1] is the same as another"},
        {{.devices = none, .device_count = 2}, "cl.devices[1] is NULL"},
        {{0}, "cl.device must not be NULL"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        carom_opencl_desc cl = bad[i].cl;
        carom_context *context = NULL;
        carom_error err = {0};
        cl.size = sizeof cl;
        cl.context = shared;
        test_error(carom_context_create_opencl(NULL, &cl, &context, &err), CAROM_ERROR_INVALID_ARGUMENT, &err,
                   bad[i].words);
    }
    cl_seen_members = (cl_device_id)(void *)&shared; /* which is only compared */
    for (uint32_t count = 1; count <= DEVICES; count++) {
        const carom_opencl_desc cl = {.size = sizeof cl, .context = shared, .devices = part, .device_count = count};
        carom_context *context = NULL;
        carom_error err = {0};
        test_error(carom_context_create_opencl(NULL, &cl, &context, &err), CAROM_ERROR_INVALID_ARGUMENT, &err,
                   count == 1 ? "cl.devices[0] is none of the devices" : "'cl.devices[0]': it is none of the devices");
    }
    cl_seen_members = NULL;
    assert_int_equal(clReleaseContext(shared), CL_SUCCESS);
}

/* ---- preparing, jobs --------------------------------------------------------------------------------------------- */

static carom_mesh_closest_desc closest_desc(void)
{
    const float *const *column = (const float *const *)few.b.column;
    return (carom_mesh_closest_desc){.batch = {.size = sizeof(carom_mesh_closest_desc), .count = COUNT},
                                     .center = carom_soa(column[0], column[1], column[2])};
}

/* What is asked for the closest points, on a context. */
typedef struct asking {
    carom_context *context;
    carom_mesh *mesh;
    float *distance;
} asking;

static asking asking_of(carom_context *context)
{
    return (asking){context, scene_mesh(context, &few.s), test_alloc(COUNT, sizeof(float))};
}

static carom_status ask_closest(const asking *a, const carom_mesh_closest_desc *d, carom_stats *stats, carom_error *err)
{
    const carom_mesh_closest_result out = {.size = sizeof out, .distance = a->distance};
    return carom_mesh_closest(a->mesh, d, &out, stats, err);
}

static void asking_free(asking *a)
{
    free(a->distance);
    carom_mesh_destroy(a->mesh);
    carom_context_destroy(a->context);
}

/* Each device builds its programs when the call prepares, and none later. */
static void test_prepared(void **state)
{
    (void)state;
    (void)need_devices();
    asking a = asking_of(listed(CAROM_BACKEND_OPENCL, 0));
    carom_mesh_closest_desc d = closest_desc();
    carom_stats stats = {.size = sizeof stats};
    carom_error err = {0};
    d.batch.prepare = 1;
    test_ok("prepare", ask_closest(&a, &d, &stats, &err), &err);
    assert_int_equal(stats.on_device, 0);
    d.batch.prepare = 0;
    cl_sabotage(CALL_BUILD, 0, 0);
    test_ok("closest", ask_closest(&a, &d, &stats, &err), &err);
    assert_int_equal(cl_calls(CALL_BUILD), 0);
    assert_true(stats.devices[0].queries > 0 && stats.devices[1].queries > 0);
    asking_free(&a);
    cl_expect_none("prepared devices");
}

/* Arrays lie with the first device, which is gone: the others are prepared. */
static void test_prepared_without_first(void **state)
{
    (void)state;
    cl_context shared = part_context();
    asking a = asking_of(parts(shared, CAROM_BACKEND_OPENCL, 0));
    carom_mesh_closest_desc d = closest_desc();
    carom_stats stats = {.size = sizeof stats};
    carom_error err = {0}, untouched = {0};
    carom_buffer *where = NULL;
    cl_int code;
    cl_mem memory = clCreateBuffer(shared, CL_MEM_READ_WRITE, 12 * COUNT, NULL, &code);
    assert_int_equal(code, CL_SUCCESS);
    test_ok("wrap", carom_buffer_wrap_opencl(a.context, memory, 0, 12 * COUNT, &where, &err), &err);
    d.center = carom_xyz(carom_buffer_address(where));
    cl_sabotage(CALL_LAUNCH, 1, 0);
    test_ok("closest", ask_closest(&a, &d, &stats, &err), &err);
    cl_relieve();
    assert_int_equal(stats.devices[0].status, CAROM_ERROR_DEVICE_LOST);
    d.center = carom_xyz(carom_buffer_address(where));
    d.max_distance = carom_scalars_of(few.b.max_distance);
    d.batch.prepare = 1;
    d.batch.accuracy = CAROM_ACCURACY_EXACT;
    warnings = 0;
    cl_sabotage(CALL_BUILD, 0, 0);
    assert_int_equal(ask_closest(&a, &d, &stats, &untouched), CAROM_OK);
    assert_int_equal(untouched.status, CAROM_OK);
    assert_int_equal(warnings, 0);
    assert_true(cl_calls(CALL_BUILD) > 0);
    cl_relieve();
    carom_buffer_destroy(where);
    assert_int_equal(clReleaseMemObject(memory), CL_SUCCESS);
    asking_free(&a);
    assert_int_equal(clReleaseContext(shared), CL_SUCCESS);
    cl_expect_none("prepared without the first");
}

/* A call that prepares says that no device has binary64, as the batch does. */
static void test_prepared_no_fp64(void **state)
{
    (void)state;
    (void)need_devices();
    cl_seen_as.no_fp64 = 1;
    asking a = asking_of(listed(CAROM_BACKEND_OPENCL, 0));
    carom_mesh_closest_desc d = closest_desc();
    carom_stats stats = {.size = sizeof stats};
    carom_error err = {0};
    d.batch.accuracy = CAROM_ACCURACY_EXACT;
    d.batch.prepare = 1;
    test_ok("prepare", ask_closest(&a, &d, &stats, &err), &err);
    assert_non_null(strstr(stats.fallback_reason, "no binary64"));
    assert_non_null(strstr(last_warning, "the CPU answers"));
    cl_seen_as = (cl_disguise){0};
    asking_free(&a);
    cl_expect_none("prepared without binary64");
}

/* A bit probe makes a mesh on a thread of its device, while a job of the context goes on. Destroys the context. */
static void expect_job(carom_context *context)
{
    const double soon = 120; /* a job that waits for itself does not end */
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 2);
    carom_mesh *mesh = scene_mesh(context, &few.s), *same = scene_mesh(cpu, &few.s);
    float *got = test_alloc(COUNT, sizeof *got), *distance = test_alloc(COUNT, sizeof *distance);
    carom_mesh_closest_result out = {.size = sizeof out, .distance = distance};
    carom_mesh_closest_desc d = closest_desc();
    carom_stats stats = {.size = sizeof stats};
    carom_job *job = NULL;
    carom_error err = {0};
    test_ok("closest", carom_mesh_closest(same, &d, &out, NULL, &err), &err);
    out.distance = got;
    d.batch.job = &job;
    test_ok("a job", carom_mesh_closest(mesh, &d, &out, &stats, &err), &err);
    test_ok("a job", carom_job_wait(job, soon, &err), &err);
    carom_job_destroy(job);
    assert_memory_equal(got, distance, COUNT * sizeof *got);
    expect_sums(&stats);
    free(got);
    free(distance);
    carom_mesh_destroy(mesh);
    carom_mesh_destroy(same);
    carom_context_destroy(context);
    carom_context_destroy(cpu);
}

static void test_job(void **state)
{
    (void)state;
    (void)need_devices();
    expect_job(listed(CAROM_BACKEND_OPENCL, 0));
    cl_expect_none("a job");
}

/* The caller's queue waits for the job, which must not wait for the queue then. */
static void test_turn(void **state)
{
    (void)state;
    cl_int code;
    cl_context shared = part_context();
    cl_command_queue queue = clCreateCommandQueue(shared, part[0], 0, &code);
    assert_int_equal(code, CL_SUCCESS);
    expect_job(parts_behind(shared, queue, CAROM_BACKEND_OPENCL, 0));
    assert_int_equal(clFinish(queue), CL_SUCCESS);
    assert_int_equal(clReleaseCommandQueue(queue), CL_SUCCESS);
    assert_int_equal(clReleaseContext(shared), CL_SUCCESS);
    cl_expect_none("a turn");
}

/* ---- child processes --------------------------------------------------------------------------------------------- */

enum { PATIENCE = 100 };

static int is_refused(carom_status status, const carom_error *err)
{
    return status == CAROM_ERROR_NO_DEVICE && strstr(err->message, "fork()") != NULL;
}

/* A child has no thread of a device or a driver. auto has the CPU's answers, opencl a sentence; new lists are refused.
 * What is inherited can be destroyed. */
static int is_well_in_child(carom_backend backend, carom_context *context, carom_mesh *mesh)
{
    const request *q = &requests[ASK_mesh_first];
    carom_context_desc desc = listed_desc(CAROM_BACKEND_OPENCL);
    carom_context *none = NULL;
    carom_error err = {0};
    int well = is_refused(carom_context_create(&desc, &none, &err), &err) && none == NULL;
    if (backend == CAROM_BACKEND_OPENCL) {
        batch_result r = batch_result_alloc(q, &few);
        well &= is_refused(request_ask(q, context, mesh, &few, &r, &err), &err);
        batch_result_free(&r);
    } else {
        const carom_stats stats = ask_all(q, context, mesh);
        well &= stats.on_cpu == COUNT && stats.fallen_back == COUNT;
        well &= strstr(stats.fallback_reason, "OpenCL was opened") != NULL;
    }
    carom_context_destroy(context);
    carom_mesh_destroy(mesh);
    return well;
}

static void test_child(void **state)
{
    (void)state;
    (void)need_devices();
    for (int backend = CAROM_BACKEND_AUTO; backend <= CAROM_BACKEND_OPENCL; backend += 2) {
        carom_context *context = listed((carom_backend)backend, 0);
        carom_mesh *mesh = scene_mesh(context, &few.s);
        int status = -1;
        assert_int_equal(ask_all(&requests[ASK_mesh_first], context, mesh).on_device, COUNT);
        const pid_t child = fork();
        if (child == 0) {
            alarm(PATIENCE);
            _exit(!is_well_in_child((carom_backend)backend, context, mesh));
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
        const carom_stats stats = ask_all(&requests[ASK_mesh_first], context, mesh);
        assert_true(stats.devices[0].queries > 0 && stats.devices[1].queries > 0);
        carom_mesh_destroy(mesh);
        carom_context_destroy(context);
        cl_expect_none("several devices after fork()");
    }
}

/* ---- hooks ------------------------------------------------------------------------------------------------------- */

static atomic_int inside, most_inside;

static void *hook_alloc(void *user, size_t size, size_t alignment)
{
    (void)user;
    const int now = ++inside;
    most_inside = now > most_inside ? now : most_inside;
    void *memory = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    inside--;
    return memory;
}

static void hook_free(void *user, void *memory)
{
    (void)user;
    const int now = ++inside;
    most_inside = now > most_inside ? now : most_inside;
    free(memory);
    inside--;
}

/* The allocator is never called by two threads at once. */
static void test_hooks(void **state)
{
    (void)state;
    (void)need_devices();
    carom_context_desc desc = listed_desc(CAROM_BACKEND_OPENCL);
    carom_context *context = NULL;
    carom_error err = {0};
    desc.allocator = (carom_allocator){hook_alloc, hook_free, NULL};
    test_ok("hooks", carom_context_create(&desc, &context, &err), &err);
    carom_mesh *mesh = scene_mesh(context, &few.s);
    for (int kind = ASK_mesh_first; kind < ASK_KINDS; kind++)
        (void)ask_all(&requests[kind], context, mesh);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    assert_int_equal(most_inside, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_buffers),
                                       cmocka_unit_test(test_wrapped),
                                       cmocka_unit_test(test_bad_lists),
                                       cmocka_unit_test(test_bad_parts),
                                       cmocka_unit_test(test_hooks),
                                       cmocka_unit_test(test_prepared),
                                       cmocka_unit_test(test_job),
                                       cmocka_unit_test(test_turn),
                                       cmocka_unit_test(test_child),
                                       cmocka_unit_test(test_refused_first),
                                       cmocka_unit_test(test_prepared_without_first),
                                       cmocka_unit_test(test_prepared_no_fp64)};
    return show_devices() != 0 || cmocka_run_group_tests(tests, make_fixture, free_fixture);
}
