/* SPDX-License-Identifier: MIT */
/* A context over several devices, but for its batches (test_devices.c): buffers, lists and parts that are refused,
 * prepared calls, jobs, the hooks of the allocator. */
#include "tests/support/several_devices.h"

#include <math.h>

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
    assert_int_equal(clReleaseContext(shared), CL_SUCCESS);
}

/* ---- preparing, jobs --------------------------------------------------------------------------------------------- */

static carom_mesh_closest_desc closest_desc(void)
{
    const float *const *column = (const float *const *)few.b.column;
    return (carom_mesh_closest_desc){.batch = {.size = sizeof(carom_mesh_closest_desc), .count = COUNT},
                                     .center = carom_soa(column[0], column[1], column[2])};
}

/* Each device builds its programs when the call prepares, and none later. */
static void test_prepared(void **state)
{
    (void)state;
    (void)need_devices();
    carom_context *context = listed(CAROM_BACKEND_OPENCL, 0);
    carom_mesh *mesh = scene_mesh(context, &few.s);
    float *distance = test_alloc(COUNT, sizeof *distance);
    const carom_mesh_closest_result out = {.size = sizeof out, .distance = distance};
    carom_mesh_closest_desc d = closest_desc();
    carom_stats stats = {.size = sizeof stats};
    carom_error err = {0};
    d.batch.prepare = 1;
    test_ok("prepare", carom_mesh_closest(mesh, &d, &out, &stats, &err), &err);
    assert_int_equal(stats.on_device, 0);
    d.batch.prepare = 0;
    cl_sabotage(CALL_BUILD, 0, 0);
    test_ok("closest", carom_mesh_closest(mesh, &d, &out, &stats, &err), &err);
    assert_int_equal(cl_calls(CALL_BUILD), 0);
    assert_true(stats.devices[0].queries > 0 && stats.devices[1].queries > 0);
    free(distance);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    cl_expect_none("prepared devices");
}

/* A bit probe makes a mesh on a thread of its device, while a job of the context goes on. */
static void test_job(void **state)
{
    (void)state;
    (void)need_devices();
    carom_context *context = listed(CAROM_BACKEND_OPENCL, 0), *cpu = test_cpu(CAROM_ISA_AUTO, 2);
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
    test_ok("a job", carom_job_wait(job, (double)INFINITY, &err), &err);
    carom_job_destroy(job);
    assert_memory_equal(got, distance, COUNT * sizeof *got);
    expect_sums(&stats);
    free(got);
    free(distance);
    carom_mesh_destroy(mesh);
    carom_mesh_destroy(same);
    carom_context_destroy(context);
    carom_context_destroy(cpu);
    cl_expect_none("a job");
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_buffers),   cmocka_unit_test(test_wrapped),
                                       cmocka_unit_test(test_bad_lists), cmocka_unit_test(test_bad_parts),
                                       cmocka_unit_test(test_hooks),     cmocka_unit_test(test_prepared),
                                       cmocka_unit_test(test_job)};
    return show_devices() != 0 || cmocka_run_group_tests(tests, make_fixture, free_fixture);
}
