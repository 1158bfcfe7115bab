/* SPDX-License-Identifier: MIT */
/* A context over several devices of which one, or all, die, have no memory, compute wrongly or cannot be opened: the
 * others finish, with the CPU's bits. */
#include "tests/support/several_devices.h"

static void expect_finished_by_others(const carom_stats *stats, carom_status why)
{
    assert_int_equal(stats->on_device, COUNT);
    assert_int_equal(stats->fallen_back, 0);
    assert_int_equal(stats->devices[SURVIVOR].status, CAROM_OK);
    assert_int_equal(stats->devices[VICTIM].status, why);
    assert_true(stats->fallback_reason[0] != '\0');
    assert_int_equal(warnings, 1);
}

/* After the death of one device: it is not used again. */
static void expect_alone(const request *q, carom_context *context, carom_mesh *mesh)
{
    carom_device_info info[DEVICES] = {{.size = sizeof *info}};
    uint32_t count = 0;
    const carom_stats stats = ask_all(q, context, mesh);
    assert_int_equal(stats.devices[SURVIVOR].queries, COUNT);
    assert_int_equal(stats.devices[VICTIM].status, CAROM_ERROR_NO_DEVICE);
    assert_int_equal(stats.devices[VICTIM].index, UINT32_MAX);
    assert_int_equal(carom_context_get_devices(context, info, DEVICES, &count, NULL), CAROM_OK);
    assert_int_equal(count, DEVICES);
    assert_true(info[SURVIVOR].name[0] != '\0' && info[SURVIVOR].available);
    assert_true(info[VICTIM].name[0] == '\0' && !info[VICTIM].available);
}

enum { ROUNDS = 100 }; /* a part of a list goes to the thread that is free: one that wakes late has none */

/* Of a batch in which the victim has a piece; the first ones build and probe. */
static int calls_of_victim(const request *q, carom_context *context, carom_mesh *mesh, cl_call call)
{
    cl_victim = VICTIM + 1;
    for (int round = 0, worked = 0; worked < 2; round++) {
        assert_true(round < ROUNDS);
        cl_sabotage(call, 0, 0);
        worked += ask_all(q, context, mesh).devices[VICTIM].queries > 0;
    }
    return cl_calls(call);
}

/* Batches until the victim has failed: the last one. */
static carom_stats ask_until_dead(const request *q, carom_context *context, carom_mesh *mesh)
{
    for (int round = 0; round < ROUNDS; round++) {
        const carom_stats stats = ask_all(q, context, mesh);
        if (stats.devices[VICTIM].status != CAROM_OK)
            return stats;
    }
    fail_msg("%s: the device lives", q->name);
    return (carom_stats){0};
}

/* One of the victim's calls fails in the middle of its piece. */
static void test_dying(void **state)
{
    static const cl_call kinds[] = {CALL_LAUNCH, CALL_FLUSH};
    const request *q = *state;
    const carom_device_info device = need_devices();
    if (!request_is_for(q, &device))
        test_skip("fp64", "the device has no binary64");
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        carom_context *context = listed(i == 0 ? CAROM_BACKEND_AUTO : CAROM_BACKEND_OPENCL, 1000);
        carom_mesh *mesh = scene_mesh(context, &few.s);
        warnings = 0;
        const int calls = calls_of_victim(q, context, mesh, kinds[i]);
        assert_true(calls > 0);
        cl_sabotage(kinds[i], 1 + calls / 3, 0);
        const carom_stats stats = ask_until_dead(q, context, mesh);
        expect_finished_by_others(&stats, CAROM_ERROR_DEVICE_LOST);
        cl_relieve();
        expect_alone(q, context, mesh);
        cl_relieve();
        carom_mesh_destroy(mesh);
        carom_context_destroy(context);
        cl_expect_none(q->name);
    }
}

/* All devices fail: the CPU finishes for auto, and opencl fails. */
static void test_all_dying(void **state)
{
    const request *q = *state;
    const carom_device_info device = need_devices();
    carom_error err = {0};
    if (!request_is_for(q, &device))
        test_skip("fp64", "the device has no binary64");
    for (int backend = CAROM_BACKEND_AUTO; backend <= CAROM_BACKEND_OPENCL; backend += 2) {
        carom_context *context = listed((carom_backend)backend, 1000);
        carom_mesh *mesh = scene_mesh(context, &few.s);
        (void)ask_all(q, context, mesh);
        cl_sabotage(CALL_LAUNCH, 6, 1);
        if (backend == CAROM_BACKEND_AUTO) {
            const carom_stats stats = ask_all(q, context, mesh);
            assert_true(stats.on_cpu > 0);
            assert_int_equal(stats.fallen_back, stats.on_cpu);
            assert_int_equal(ask_all(q, context, mesh).on_cpu, COUNT);
        } else {
            batch_result r = batch_result_alloc(q, &few);
            test_error(request_ask(q, context, mesh, &few, &r, &err), CAROM_ERROR_DEVICE_LOST, &err, "(-5)");
            cl_relieve();
            test_error(request_ask(q, context, mesh, &few, &r, &err), CAROM_ERROR_DEVICE_LOST, &err, "given up");
            batch_result_free(&r);
        }
        cl_relieve();
        carom_mesh_destroy(mesh);
        carom_context_destroy(context);
        cl_expect_none(q->name);
    }
}

/* A device without memory leaves its piece to the other, and has one again in the next batch. */
static void test_scarce(void **state)
{
    const request *q = *state;
    const carom_device_info device = need_devices();
    if (!request_is_for(q, &device))
        test_skip("fp64", "the device has no binary64");
    carom_context *context = listed(CAROM_BACKEND_OPENCL, 1000);
    carom_mesh *mesh = scene_mesh(context, &few.s), *other = scene_mesh(context, &few.s);
    (void)ask_all(q, context, mesh);
    cl_victim = VICTIM + 1;
    cl_scarce.above = 1;
    const carom_stats stats = ask_until_dead(q, context, other);
    expect_finished_by_others(&stats, CAROM_ERROR_OUT_OF_MEMORY);
    cl_relieve();
    for (int round = 0; ask_all(q, context, other).devices[VICTIM].queries == 0; round++)
        assert_true(round < ROUNDS);
    carom_mesh_destroy(other);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    cl_expect_none(q->name);
}

/* The victim's search is wrong: its bit probe finds that in the first batch. */
static void test_wrong(void **state)
{
    const request *q = &requests[ASK_mesh_first];
    (void)state;
    (void)need_devices();
    carom_context *context = listed(CAROM_BACKEND_OPENCL, 0);
    carom_mesh *mesh = scene_mesh(context, &few.s);
    cl_victim = VICTIM + 1;
    cl_text_patch = (cl_patch){"run->triangle[trav->number] = triangle;",
                               "run->triangle[trav->number] = triangle > 1 ? triangle - 2 : triangle;"};
    const carom_stats stats = ask_all(q, context, mesh);
    expect_finished_by_others(&stats, CAROM_ERROR_NOT_BIT_EXACT);
    cl_text_patch = (cl_patch){NULL, NULL};
    expect_alone(q, context, mesh);
    expect_alone(&requests[ASK_mesh_compact], context, mesh); /* its statistics are sums */
    cl_relieve();
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    cl_expect_none("a wrong device");
}

/* A device that cannot be opened: an error that names it, or auto goes on without it. */
static void test_refused(void **state)
{
    const request *q = &requests[SWEEP];
    carom_context *context = NULL;
    carom_error err = {0};
    (void)state;
    (void)need_devices();
    carom_context_desc desc = listed_desc(CAROM_BACKEND_OPENCL);
    cl_victim = VICTIM + 1;
    cl_sabotage(CALL_BUFFER, 1, 1);
    test_error(carom_context_create(&desc, &context, &err), CAROM_ERROR_OUT_OF_MEMORY, &err, "device '1'");
    cl_expect_none("a refused device");
    cl_relieve();
    desc.backend = CAROM_BACKEND_AUTO;
    cl_victim = VICTIM + 1;
    cl_sabotage(CALL_BUFFER, 1, 1);
    test_ok("auto", carom_context_create(&desc, &context, &err), &err);
    const carom_stats stats = ask_all(q, context, NULL);
    assert_int_equal(stats.devices[SURVIVOR].queries, COUNT);
    assert_int_equal(stats.devices[VICTIM].status, CAROM_ERROR_NO_DEVICE);
    assert_int_equal(warnings, 1);
    cl_relieve();
    carom_context_destroy(context);
    cl_expect_none("a refused device");
}

int main(void)
{
    static request_test each[] = {{.words = "one dies", .test = test_dying},
                                  {.words = "all die", .test = test_all_dying},
                                  {.words = "no memory", .test = test_scarce}};
    struct CMUnitTest tests[COUNT_OF(each) * REQUESTS + 2] = {cmocka_unit_test(test_wrong),
                                                              cmocka_unit_test(test_refused)};
    if (show_devices() != 0)
        return 1;
    add_request_tests(tests + 2, each, COUNT_OF(each), 2); /* other requests than those of test_devices.c */
    return cmocka_run_group_tests(tests, make_fixture, free_fixture);
}
