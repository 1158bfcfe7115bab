/* SPDX-License-Identifier: MIT */
/* Devices that end a kernel's loops too early without an error, as Mesa's llvmpipe does after 65535 turns. The library
 * must detect every mesh search that was ended so. `opencl` then fails; `auto` answers on the CPU with the right bits,
 * and statistics give the reason. */
#include "tests/support/cl_shim.h"
#include "tests/support/requests.h"

#define REASON "ends the loops of a search"

enum {
    SEED = 137,
    FEW = 600,
    SIDES = 4,
    LONG_SIDES = 50,
    LONG = 200,
    SORTED = 1 << 13,
    MANY = CAROM_AUTO_MIN_QUERIES,
    SHARE = 512
};

/* 0 if the device's answers are right; 1 if the request failed with this reason. Any other outcome fails the test. */
static int is_refused(const request *q, const fixture *m, const char *reason)
{
    carom_context *context = test_backend(CAROM_BACKEND_OPENCL);
    carom_mesh *mesh = scene_mesh(context, &m->s);
    batch_result expected = request_answer(q, m), r = batch_result_alloc(q, m);
    carom_error err = {0};
    const carom_status status = request_ask(q, context, mesh, m, &r, &err);
    if (status == CAROM_OK)
        batch_result_compare(q, m, &expected, &r, "a device");
    else
        test_error(status, CAROM_ERROR_DEVICE_LOST, &err, reason);
    batch_result_free(&r);
    batch_result_free(&expected);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    return status != CAROM_OK;
}

static void expect_refusal(const request *q, const fixture *m, const char *reason)
{
    if (!is_refused(q, m, reason))
        fail_msg("%s: nothing was noticed", q->name);
}

/* Patched kernels that treat every loop as ended too early. */
static void test_all_kinds(void **state)
{
    (void)state;
    const carom_device_info info = test_need_device();
    fixture m = fixture_make(SEED, scene_sphere(SIDES), FEW, 1);
    cl_text_patch = (cl_patch){"return iterations < 2;", "return iterations < 99;"};
    for (size_t i = 0; i < REQUESTS; i++)
        if (request_needs_mesh(&requests[i]) && request_is_for(&requests[i], &info))
            expect_refusal(&requests[i], &m, REASON);
    cl_text_patch = (cl_patch){NULL, NULL};
    fixture_free(&m);
}

/* One group of many is ended too early. Queries are sorted on GPUs, so its mark must lie at a query of its own. */
static void test_one_group(void **state)
{
    static const int kinds[] = {ASK_mesh_first, ASK_mesh_all};
    (void)state;
    (void)test_need_device();
    fixture m = fixture_make(SEED, scene_sphere(LONG_SIDES), SORTED, 1);
    cl_text_patch = (cl_patch){"return iterations < 2;",
                               "return iterations < (get_group_id(0) == 0 && get_num_groups(0) > 20 ? 99 : 2);"};
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        expect_refusal(&requests[kinds[i]], &m, REASON);
    cl_text_patch = (cl_patch){NULL, NULL};
    fixture_free(&m);
}

/* `auto`: the CPU takes over the queries, for first hits and for lists. */
static void test_auto(void **state)
{
    (void)state;
    (void)test_need_device();
    fixture m = fixture_make(SEED, scene_sphere(SIDES), MANY, SHARE);
    cl_text_patch = (cl_patch){"return iterations < 2;", "return iterations < 99;"};
    for (size_t i = ASK_mesh_first; i <= ASK_mesh_all; i++) {
        carom_context *context = test_backend(CAROM_BACKEND_AUTO);
        carom_mesh *mesh = scene_mesh(context, &m.s);
        batch_result expected = request_answer(&requests[i], &m), r = batch_result_alloc(&requests[i], &m);
        carom_error err = {0};
        test_ok(requests[i].name, request_ask(&requests[i], context, mesh, &m, &r, &err), &err);
        batch_result_compare(&requests[i], &m, &expected, &r, "auto");
        assert_int_equal(r.stats.fallen_back, MANY);
        assert_non_null(strstr(r.stats.fallback_reason, REASON));
        batch_result_free(&r);
        batch_result_free(&expected);
        carom_mesh_destroy(mesh);
        carom_context_destroy(context);
    }
    cl_text_patch = (cl_patch){NULL, NULL};
    fixture_free(&m);
}

/* Faults in the second pass of a list only: its loops end too early, or it finds fewer hits than the first pass. */
static void test_second_pass(void **state)
{
    static const struct {
        cl_patch patch;
        const char *reason;
    } faults[] = {{{"if (MESH_IS_TRUNCATED(share))\n        hits", "if (each < 0)\n        hits"}, REASON},
                  {{"run->hits[trav->number] = (int)trav->hits;",
                    "run->hits[trav->number] = (int)trav->hits - (LIST_FILLS(run) && trav->hits > 16);"},
                   "reports numbers of hits that cannot be"}};
    (void)state;
    (void)test_need_device();
    fixture m = fixture_make(SEED, scene_sphere(SIDES), FEW, 1);
    for (size_t i = 0; i < COUNT_OF(faults); i++) {
        cl_text_patch = faults[i].patch;
        expect_refusal(&requests[ASK_mesh_all], &m, faults[i].reason);
    }
    cl_text_patch = (cl_patch){NULL, NULL};
    fixture_free(&m);
}

/* Spheres that meet most triangles of a mesh, so that loops are long, on the unpatched device. */
static void test_long(void **state)
{
    (void)state;
    const carom_device_info info = test_need_device();
    fixture m = fixture_make(SEED, scene_sphere(LONG_SIDES), LONG, 1);
    for (size_t i = 0; i < m.count; i += 2) {
        m.b.column[SPHERE_RADIUS][i] = 3.0f;
        for (int k = 0; k < 3; k++)
            m.b.column[k][i] = 0.1f * (float)k;
    }
    int cut = 0;
    for (size_t i = 0; i < REQUESTS; i++)
        if (request_needs_mesh(&requests[i]) && request_is_for(&requests[i], &info))
            cut += is_refused(&requests[i], &m, REASON);
    const int is_known = strstr(info.name, "llvmpipe") != NULL;
    print_message("%s has ended the loops of %d kinds of search\n", info.name, cut);
    assert_int_equal(cut > 0, is_known);
    fixture_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_kinds), cmocka_unit_test(test_one_group),
                                       cmocka_unit_test(test_auto), cmocka_unit_test(test_second_pass),
                                       cmocka_unit_test(test_long)};
    return cmocka_run_group_tests_name("cut", tests, NULL, NULL);
}
