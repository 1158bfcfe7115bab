/* SPDX-License-Identifier: MIT */
/* A GPU on which the work-items of a group cannot share queries (kernels/mesh_team.h), because its driver does not
 * build or launch such kernels, or makes wrong bits of them. It takes a query for each work-item then: the log says so
 * once for each kernel, and the answers are the CPU's. */
#include "tests/support/cl_shim.h"
#include "tests/support/requests.h"

enum { SEED = 90, SIDES = 4, QUERIES = 1000 };

static const int searches[] = {ASK_mesh_first,     ASK_mesh_all,     ASK_mesh_any,     ASK_mesh_overlaps,
                               ASK_mesh_any_still, ASK_mesh_closest, ASK_mesh_contacts};

static const char *words;
static int warnings, others;

static void listen(void *user, carom_log_level level, const char *line)
{
    (void)user;
    const int goes_alone = strstr(line, "takes a query for each work-item") != NULL;
    warnings += level == CAROM_LOG_WARNING && goes_alone && strstr(line, words) != NULL;
    others += level <= CAROM_LOG_WARNING && !goes_alone;
}

static void ask_of(const request *q, carom_context *context, const fixture *m, batch_result *r)
{
    carom_error err = {0};
    carom_mesh *mesh = scene_mesh(context, &m->s);
    test_ok("a search", request_ask(q, context, mesh, m, r, &err), &err);
    carom_mesh_destroy(mesh);
}

/* Asks one request of the CPU and of the device; `expected` warnings. */
static void check(const request *q, const fixture *m, int expected)
{
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 2), *device = NULL;
    carom_error err = {0};
    batch_result known = batch_result_alloc(q, m), r = batch_result_alloc(q, m);
    carom_context_desc desc = test_desc(CAROM_BACKEND_OPENCL);
    ask_of(q, cpu, m, &known);
    warnings = others = 0;
    desc.device_lanes = 1;
    desc.log = listen;
    test_ok("a context", carom_context_create(&desc, &device, &err), &err);
    ask_of(q, device, m, &r);
    batch_result_compare(q, m, &known, &r, words);
    assert_int_equal(r.stats.on_device, m->count);
    assert_int_equal(warnings, expected);
    batch_result_free(&known);
    batch_result_free(&r);
    carom_context_destroy(device);
    carom_context_destroy(cpu);
}

/* All searches, in both modes; each has a kernel of its own. */
static void check_all(int expected)
{
    const carom_device_info device = test_need_device();
    fixture m = fixture_make(SEED, scene_sphere(SIDES), QUERIES, 1);
    for (size_t i = 0; i < COUNT_OF(searches); i++)
        for (int exact = 0; exact < 2; exact++) {
            const request *q = &requests[searches[i] + exact * ASK_KINDS];
            if (request_is_for(q, &device))
                check(q, &m, expected);
        }
    fixture_free(&m);
}

static void test_shared(void **state)
{
    (void)state;
    words = "shared";
    check_all(0);
    assert_int_equal(others, 0);
}

static void test_not_built(void **state)
{
    (void)state;
    words = "cannot build kernel";
    cl_refused_options = "-DMESH_ITEMS";
    check_all(1);
    cl_refused_options = NULL;
}

/* A kernel for whose local memory the device has no room: some drivers say so only when it is launched, or crash. */
static void test_too_large(void **state)
{
    (void)state;
    (void)test_need_device();
    fixture m = fixture_make(SEED, scene_sphere(SIDES), QUERIES, 1);
    words = "bytes of local memory";
    cl_text_patch = (cl_patch){"#define MESH_QUEUE (8 * MESH_ITEMS)", "#define MESH_QUEUE (1 << 20)"};
    check(&requests[ASK_mesh_first], &m, 1);
    cl_text_patch = (cl_patch){NULL, NULL};
    fixture_free(&m);
}

/* A driver that builds such a kernel, and refuses to launch it. */
static void test_refused(void **state)
{
    (void)state;
    words = "clEnqueueNDRangeKernel";
    cl_refused_group = 32;
    check_all(1);
    cl_refused_group = 0;
}

static void test_wrong(void **state)
{
    (void)state;
    /* Some pairs are lost: of a triangle here, of a lane below, where two passes of a list lose different ones. */
    words = "its bits differ from the CPU's";
    cl_text_patch =
        (cl_patch){"group.active = step->has_pair;", "group.active = step->has_pair && group.triangle % 3;"};
    check_all(1);
    words = ""; /* its bits, or a count that cannot be */
    cl_text_patch = (cl_patch){"group.active = step->has_pair;", "group.active = step->has_pair && step->lane != 3;"};
    check_all(1);
    cl_text_patch = (cl_patch){NULL, NULL};
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shared), cmocka_unit_test(test_not_built),
                                       cmocka_unit_test(test_too_large), cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_wrong)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
