/* SPDX-License-Identifier: MIT */
#include "several_devices.h"

fixture few;
static batch_result expected[REQUESTS]; /* the CPU's answers, of the requests in is_known */
static int is_known[REQUESTS];

int make_fixture(void **state)
{
    (void)state;
    few = fixture_make(SEED, scene_sphere(SIDES), COUNT, SHARE);
    return 0;
}

int free_fixture(void **state)
{
    (void)state;
    for (size_t i = 0; i < REQUESTS; i++)
        if (is_known[i])
            batch_result_free(&expected[i]);
    fixture_free(&few);
    return 0;
}

static const batch_result *expected_of(const request *q)
{
    const size_t i = (size_t)(q - requests);
    if (!is_known[i])
        expected[i] = request_answer(q, &few);
    is_known[i] = 1;
    return &expected[i];
}

atomic_int warnings;
char last_warning[256];

static void count_warnings(void *user, carom_log_level level, const char *line)
{
    (void)user;
    warnings += level <= CAROM_LOG_WARNING;
    if (level <= CAROM_LOG_WARNING)
        (void)snprintf(last_warning, sizeof last_warning, "%s", line);
}

/* ---- contexts ---------------------------------------------------------------------------------------------------- */

int show_devices(void)
{
    return setenv("POCL_DEVICES", "pthread pthread", 1);
}

carom_device_info need_devices(void)
{
    carom_device_info all[DEVICES] = {{.size = sizeof *all}}, device = test_need_device();
    uint32_t count = 0;
    assert_int_equal(carom_device_list(all, DEVICES, &count, NULL), CAROM_OK);
    if (count < DEVICES || strcmp(all[0].name, all[1].name) != 0)
        test_skip("several devices", "the driver lists no two devices of this kind");
    cl_relieve();
    cl_text_patch = (cl_patch){NULL, NULL};
    warnings = 0;
    return device;
}

carom_context_desc listed_desc(carom_backend backend)
{
    carom_context_desc desc = test_desc(backend);
    desc.device = LIST;
    desc.auto_from = 1;
    desc.log = count_warnings;
    return desc;
}

carom_context *listed(carom_backend backend, uint32_t chunk)
{
    carom_context_desc desc = listed_desc(backend);
    carom_context *context = NULL;
    carom_error err = {0};
    desc.device_chunk = chunk;
    test_ok("a list of devices", carom_context_create(&desc, &context, &err), &err);
    return context;
}

cl_device_id part[DEVICES];

static cl_device_id first_device(void)
{
    cl_platform_id platform;
    cl_device_id device;
    assert_int_equal(clGetPlatformIDs(1, &platform, NULL), CL_SUCCESS);
    assert_int_equal(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), CL_SUCCESS);
    return device;
}

cl_context part_context(void)
{
    static const cl_device_partition_property equally[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
    cl_uint count = 0;
    cl_int code;
    (void)test_need_device();
    if (part[0] == NULL &&
        (clCreateSubDevices(first_device(), equally, 0, NULL, &count) != CL_SUCCESS || count < DEVICES ||
         clCreateSubDevices(first_device(), equally, count, part, NULL) != CL_SUCCESS))
        test_skip("sub-devices", "this device has no parts");
    cl_context context = clCreateContext(NULL, DEVICES, part, NULL, NULL, &code);
    assert_int_equal(code, CL_SUCCESS);
    return context;
}

carom_context *parts_behind(cl_context shared, cl_command_queue queue, carom_backend backend, uint32_t chunk)
{
    const carom_opencl_desc cl = {
        .size = sizeof cl, .context = shared, .queue = queue, .devices = part, .device_count = DEVICES};
    carom_context_desc desc = listed_desc(backend);
    carom_context *context = NULL;
    carom_error err = {0};
    desc.device = NULL;
    desc.device_chunk = chunk;
    test_ok("parts of a device", carom_context_create_opencl(&desc, &cl, &context, &err), &err);
    return context;
}

carom_context *parts(cl_context shared, carom_backend backend, uint32_t chunk)
{
    return parts_behind(shared, NULL, backend, chunk);
}

/* ---- asking ------------------------------------------------------------------------------------------------------ */

void expect_sums(const carom_stats *stats)
{
    uint64_t sum = 0;
    assert_int_equal(stats->on_device + stats->on_cpu, stats->queries);
    assert_true(stats->device_count == DEVICES || (stats->device_count == 0 && stats->on_device == 0));
    for (uint32_t i = 0; i < stats->device_count; i++)
        sum += stats->devices[i].queries;
    assert_int_equal(sum, stats->on_device);
}

carom_stats ask_all(const request *q, carom_context *context, carom_mesh *mesh)
{
    carom_error err = {0};
    batch_result r = batch_result_alloc(q, &few);
    test_ok(q->name, request_ask(q, context, mesh, &few, &r, &err), &err);
    batch_result_compare(q, &few, expected_of(q), &r, "several devices");
    const carom_stats stats = r.stats;
    expect_sums(&stats);
    batch_result_free(&r);
    return stats;
}

/* ---- tests of requests ------------------------------------------------------------------------------------------- */

void add_request_tests(struct CMUnitTest *tests, request_test *each, size_t count, size_t first)
{
    const size_t effort = test_effort(REQUESTS), stride = effort >= REQUESTS ? 1 : effort >= REQUESTS / 2 ? 3 : 7;
    for (size_t k = 0; k < count; k++)
        for (size_t i = (first + k) % stride; i < REQUESTS; i += stride) {
            snprintf(each[k].name[i], sizeof each[k].name[i], "%s: %s", each[k].words, requests[i].name);
            *tests++ = (struct CMUnitTest){each[k].name[i], each[k].test, NULL, NULL, (void *)(uintptr_t)&requests[i]};
        }
}
