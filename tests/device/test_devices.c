/* SPDX-License-Identifier: MIT */
/* A context over several devices: the CPU's bits whatever the cuts, and what each device gets. The devices are parts of
 * the device of this run in one cl_context of the caller, or a list of names. */
#include "tests/support/clouds.h"
#include "tests/support/several_devices.h"

enum { LEAST = 4096 /* queries of a piece */, MANY = 1 << 18 };

/* ---- the same bits ----------------------------------------------------------------------------------------------- */

/* All devices have a piece of `stats`. */
static void expect_all(const carom_stats *stats)
{
    assert_int_equal(stats->on_device, stats->queries);
    assert_int_equal(stats->fallen_back, 0);
    assert_true(stats->fallback_reason[0] == '\0');
    for (uint32_t i = 0; i < DEVICES; i++) {
        assert_int_equal(stats->devices[i].status, CAROM_OK);
        assert_true(stats->devices[i].queries > 0);
        assert_true(stats->devices[i].seconds > 0);
    }
}

static int is_cut(const request *q)
{
    return !request_is_list(q) || q->kind == ASK_mesh_compact;
}

/* In one context the first two batches of a kind are cut into equal pieces, and then by measured rates, by which a
 * device that the system has slowed down may get no piece. */
static void check_same(const request *q, carom_context *context, const carom_device_info *device)
{
    carom_mesh *mesh = scene_mesh(context, &few.s);
    for (int round = 0; round < 3; round++) {
        const carom_stats stats = ask_all(q, context, mesh);
        if (round < 2 && request_is_for(q, device) && is_cut(q))
            expect_all(&stats);
    }
    carom_mesh_destroy(mesh);
}

static const uint32_t chunks[] = {0, 1000, 4096};

static void test_same_listed(void **state)
{
    const request *q = *state;
    const carom_device_info device = need_devices();
    for (size_t i = 0; i < COUNT_OF(chunks); i++) {
        carom_context *context = listed(CAROM_BACKEND_OPENCL, chunks[i]);
        check_same(q, context, &device);
        carom_context_destroy(context);
        cl_expect_none(q->name);
    }
}

static void test_same_parts(void **state)
{
    const request *q = *state;
    const carom_device_info device = test_need_device();
    for (size_t i = 0; i < COUNT_OF(chunks); i++) {
        cl_context shared = part_context();
        carom_context *context = parts(shared, i == 0 ? CAROM_BACKEND_AUTO : CAROM_BACKEND_OPENCL, chunks[i]);
        assert_int_equal(clReleaseContext(shared), CL_SUCCESS);
        check_same(q, context, &device);
        carom_context_destroy(context);
        cl_expect_none(q->name);
    }
}

/* ---- shares ------------------------------------------------------------------------------------------------------ */

/* A device that takes longer gets less, and all queries are answered. */
static void test_rates(void **state)
{
    const request *q = &requests[SPHERES];
    (void)state;
    (void)need_devices();
    fixture many = fixture_make(SEED, scene_sphere(SIDES), MANY, SHARE);
    batch_result answer = request_answer(q, &many), r = batch_result_alloc(q, &many);
    carom_context *context = listed(CAROM_BACKEND_OPENCL, 1 << 13);
    carom_error err = {0};
    cl_victim = VICTIM + 1;
    cl_slowness = 20000;
    for (int round = 0; round < 4; round++) {
        test_ok(q->name, request_ask(q, context, NULL, &many, &r, &err), &err);
        batch_result_compare(q, &many, &answer, &r, "a slow device");
        expect_sums(&r.stats);
        assert_int_equal(r.stats.on_device, MANY);
    }
    if (r.stats.devices[SURVIVOR].queries < 3 * r.stats.devices[VICTIM].queries)
        fail_msg("the slow device has answered %llu of %d", (unsigned long long)r.stats.devices[VICTIM].queries, MANY);
    cl_relieve();
    carom_context_destroy(context);
    batch_result_free(&r);
    batch_result_free(&answer);
    fixture_free(&many);
}

/* Few queries are not worth a thread: one device answers them. */
static void test_small(void **state)
{
    const request *q = &requests[SPHERES];
    (void)state;
    (void)need_devices();
    fixture small = fixture_make(SEED, scene_sphere(SIDES), 2 * LEAST - 1, SHARE);
    batch_result r = batch_result_alloc(q, &small);
    carom_context *context = listed(CAROM_BACKEND_OPENCL, 0);
    carom_error err = {0};
    test_ok(q->name, request_ask(q, context, NULL, &small, &r, &err), &err);
    expect_sums(&r.stats);
    assert_int_equal(r.stats.devices[0].queries + r.stats.devices[1].queries, small.count);
    assert_true(r.stats.devices[0].queries == 0 || r.stats.devices[1].queries == 0);
    carom_context_destroy(context);
    batch_result_free(&r);
    fixture_free(&small);
}

/* ---- one without binary64 ---------------------------------------------------------------------------------------- */

static const int some_kinds[] = {SPHERES, ASK_mesh_first, ASK_mesh_all, ASK_mesh_closest};

/* Fast batches go to both, exact ones to the device with binary64. Neither is a failure. */
static void expect_by_mode(int kind, carom_context *context, carom_mesh *mesh)
{
    const carom_stats fast = ask_all(&requests[kind], context, mesh);
    const carom_stats exact = ask_all(&requests[ASK_KINDS + kind], context, mesh);
    if (is_cut(&requests[kind]))
        expect_all(&fast);
    assert_int_equal(exact.devices[SURVIVOR].queries, COUNT);
    assert_int_equal(exact.devices[VICTIM].queries, 0);
    assert_int_equal(exact.devices[VICTIM].status, CAROM_OK);
    assert_int_equal(exact.fallen_back, 0);
    assert_string_equal(exact.fallback_reason, "");
    assert_int_equal(warnings, 0);
}

/* The device with binary64 dies: the CPU answers exact batches, and the other device still the fast ones. */
static void expect_without_survivor(carom_context *context, carom_mesh *mesh)
{
    cl_sabotage(CALL_LAUNCH, 1, 1);
    const carom_stats dying = ask_all(&requests[ASK_KINDS + ASK_mesh_first], context, mesh);
    cl_relieve();
    const carom_stats exact = ask_all(&requests[ASK_KINDS + ASK_mesh_closest], context, mesh);
    assert_int_equal(dying.devices[SURVIVOR].status, CAROM_ERROR_DEVICE_LOST);
    assert_int_equal(dying.on_cpu, COUNT);
    assert_int_equal(dying.fallen_back, COUNT);
    assert_int_equal(exact.on_cpu, COUNT);
    assert_int_equal(exact.fallen_back, COUNT);
    assert_non_null(strstr(exact.fallback_reason, "no binary64"));
    assert_int_equal(ask_all(&requests[ASK_mesh_first], context, mesh).devices[VICTIM].queries, COUNT);
}

static void test_one_without_fp64(void **state)
{
    carom_device_info info[DEVICES] = {{.size = sizeof *info}};
    uint32_t count = 0;
    (void)state;
    cl_context shared = part_context();
    cl_relieve();
    for (int backend = CAROM_BACKEND_AUTO; backend <= CAROM_BACKEND_OPENCL; backend += 2) {
        cl_seen_as = (cl_disguise){.only = part[VICTIM], .no_fp64 = 1};
        warnings = 0;
        carom_context *context = parts(shared, (carom_backend)backend, 0);
        carom_mesh *mesh = scene_mesh(context, &few.s);
        assert_int_equal(carom_context_get_devices(context, info, DEVICES, &count, NULL), CAROM_OK);
        assert_true(info[SURVIVOR].fp64 && !info[VICTIM].fp64);
        for (size_t i = 0; i < COUNT_OF(some_kinds); i++)
            expect_by_mode(some_kinds[i], context, mesh);
        if (backend == CAROM_BACKEND_AUTO)
            expect_without_survivor(context, mesh);
        cl_seen_as = (cl_disguise){0};
        carom_mesh_destroy(mesh);
        carom_context_destroy(context);
    }
    assert_int_equal(clReleaseContext(shared), CL_SUCCESS);
    cl_expect_none("one device without binary64");
}

/* ---- progress ---------------------------------------------------------------------------------------------------- */

static int stop(void *user, uint64_t done, uint64_t count)
{
    uint64_t *at = user;
    assert_true(done >= *at && done <= count);
    *at = done;
    return done > count / 4;
}

/* What is answered before the end of a window is valid. */
static void test_cancelled(void **state)
{
    const request *q = &requests[SPHERES];
    uint64_t done = 0;
    (void)state;
    (void)need_devices();
    fixture many = fixture_make(SEED, scene_sphere(SIDES), MANY, SHARE);
    batch_result answer = request_answer(q, &many), r = batch_result_alloc(q, &many);
    carom_context *context = listed(CAROM_BACKEND_OPENCL, 0);
    carom_error err = {0};
    many.progress = (carom_progress){stop, &done};
    test_error(request_ask(q, context, NULL, &many, &r, &err), CAROM_ERROR_CANCELLED, &err, "cancelled");
    many.progress = (carom_progress){NULL, NULL};
    assert_true(done < MANY);
    batch_result_compare_first(q, &many, &answer, &r, (size_t)done, "several devices, cancelled");
    assert_int_equal(r.stats.on_device, done);
    carom_context_destroy(context);
    batch_result_free(&r);
    batch_result_free(&answer);
    fixture_free(&many);
}

/* ---- clouds ------------------------------------------------------------------------------------------------------ */

/* A cloud goes to one device as a whole, in the end to the fastest. */
static void test_clouds(void **state)
{
    uint8_t hit[CLOUD_MOST], same[CLOUD_MOST];
    carom_context *context, *cpu = test_cpu(CAROM_ISA_AUTO, 1);
    (void)state;
    (void)need_devices();
    context = listed(CAROM_BACKEND_OPENCL, 0);
    for (size_t i = 0; i < 2 * CLOUD_FAMILIES; i++) {
        cloud c = make_cloud(i, i % 2 != 0);
        c.desc.margin = 0;
        carom_error err = {0};
        carom_stats stats = {.size = sizeof stats};
        test_ok("a cloud", carom_cloud_any(context, &c.desc, TEST_ANY(hit), &stats, &err), &err);
        test_ok("a cloud", carom_cloud_any(cpu, &c.desc, TEST_ANY(same), NULL, &err), &err);
        assert_memory_equal(hit, same, c.count);
        if (stats.on_device > 0)
            assert_true(stats.devices[0].queries == c.count || stats.devices[1].queries == c.count);
        cloud_free(&c);
    }
    carom_context_destroy(context);
    carom_context_destroy(cpu);
}

/* ---- two drivers ------------------------------------------------------------------------------------------------- */

/* PoCL and rusticl, each with half of the lanes and programs of its own. */
static void test_mixed(void **state)
{
    const request *q = *state;
    carom_device_info all[8] = {{.size = sizeof *all}};
    uint32_t count = 0;
    int drivers = 0;
    (void)test_need_device();
    assert_int_equal(carom_device_list(all, COUNT_OF(all), &count, NULL), CAROM_OK);
    for (uint32_t i = 0; i < count && i < COUNT_OF(all); i++)
        drivers |= strstr(all[i].platform, "rusticl") != NULL ? 1 : strstr(all[i].platform, "Portable") != NULL ? 2 : 0;
    if (drivers != 3)
        test_skip("rusticl", "PoCL and rusticl are not both there");
    cl_relieve();
    carom_context_desc desc = listed_desc(CAROM_BACKEND_OPENCL);
    carom_context *context = NULL;
    carom_error err = {0};
    desc.device = "Portable, rusticl";
    test_ok("two drivers", carom_context_create(&desc, &context, &err), &err);
    carom_mesh *mesh = scene_mesh(context, &few.s);
    for (int round = 0; round < 3; round++)
        (void)ask_all(q, context, mesh);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    cl_expect_none(q->name);
}

static int run_mixed(void)
{
    static const int kinds[] = {SPHERES, ASK_mesh_first, ASK_mesh_all, ASK_KINDS + ASK_mesh_closest};
    struct CMUnitTest tests[COUNT_OF(kinds)];
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        tests[i] = (struct CMUnitTest){requests[kinds[i]].name, test_mixed, NULL, NULL,
                                       (void *)(uintptr_t)&requests[kinds[i]]};
    return cmocka_run_group_tests(tests, make_fixture, free_fixture);
}

int main(void)
{
    static request_test each[] = {{.words = "a list", .test = test_same_listed},
                                  {.words = "parts", .test = test_same_parts}};
    struct CMUnitTest tests[COUNT_OF(each) * REQUESTS + 5] = {
        cmocka_unit_test(test_rates), cmocka_unit_test(test_small), cmocka_unit_test(test_cancelled),
        cmocka_unit_test(test_clouds), cmocka_unit_test(test_one_without_fp64)};
    if (getenv("CAROM_TEST_MIXED") != NULL)
        return run_mixed();
    if (show_devices() != 0)
        return 1;
    add_request_tests(tests + 5, each, COUNT_OF(each), 0);
    return cmocka_run_group_tests(tests, make_fixture, free_fixture);
}
