/* SPDX-License-Identifier: MIT */
/* A device without binary64, which exact mode needs for everything but overlaps. The CPU answers these queries with the
 * same bits, also under `opencl`; statistics and log report it. The device still answers all other queries. */
#include "tests/support/cl_shim.h"
#include "tests/support/requests.h"

enum { SEED = 91, FEW = 600, SIDES = 4, MANY = CAROM_AUTO_MIN_QUERIES, SHARE = 256 };

static void count_warnings(void *user, carom_log_level level, const char *line)
{
    *(int *)user += level == CAROM_LOG_WARNING && strstr(line, "the CPU answers: ") && strstr(line, "no binary64");
}

static carom_context *open_context(carom_backend backend, int *warnings)
{
    carom_context_desc desc = test_desc(backend);
    carom_context *context = NULL;
    carom_error err = {0};
    desc.log = count_warnings;
    desc.log_user = warnings;
    test_ok("a context", carom_context_create(&desc, &context, &err), &err);
    return context;
}

static void check(const request *q, carom_context *context, carom_mesh *mesh, const fixture *m, const int *warnings)
{
    const carom_device_info device = {.fp64 = 0};
    const int before = *warnings;
    batch_result expected = request_answer(q, m), r = batch_result_alloc(q, m);
    carom_error err = {0};
    test_ok(q->name, request_ask(q, context, mesh, m, &r, &err), &err);
    batch_result_compare(q, m, &expected, &r, "a device without binary64");
    if (request_is_for(q, &device)) {
        assert_int_equal(r.stats.on_device, m->count);
        assert_int_equal(r.stats.fallen_back, 0);
        assert_int_equal(*warnings, before);
    } else {
        assert_int_equal(r.stats.on_device, 0);
        assert_int_equal(r.stats.on_cpu, m->count);
        assert_int_equal(r.stats.fallen_back, m->count);
        assert_non_null(strstr(r.stats.fallback_reason, "no binary64"));
        assert_int_equal(*warnings, before + 1);
    }
    batch_result_free(&r);
    batch_result_free(&expected);
}

static void check_all(carom_backend backend, size_t count, size_t share, size_t stride)
{
    int warnings = 0;
    (void)test_need_device();
    cl_seen_as.no_fp64 = 1;
    fixture m = fixture_make(SEED, scene_sphere(SIDES), count, share);
    carom_context *context = open_context(backend, &warnings);
    carom_mesh *mesh = scene_mesh(context, &m.s);
    /* In reverse order: the device must still answer fast requests after exact ones. */
    for (size_t i = REQUESTS; i > 0; i -= i < stride ? i : stride)
        check(&requests[i - 1], context, mesh, &m, &warnings);
    carom_device_info info = {.size = sizeof info};
    assert_int_equal(carom_context_get_device(context, &info, NULL), CAROM_OK);
    assert_int_equal(info.fp64, 0);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    fixture_free(&m);
    cl_seen_as.no_fp64 = 0;
}

static void test_opencl(void **state)
{
    (void)state;
    check_all(CAROM_BACKEND_OPENCL, FEW, 1, 1);
}

static void test_auto(void **state)
{
    (void)state;
    check_all(CAROM_BACKEND_AUTO, MANY, SHARE, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_opencl), cmocka_unit_test(test_auto)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
