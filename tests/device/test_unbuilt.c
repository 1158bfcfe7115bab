/* SPDX-License-Identifier: MIT */
/* A device whose compiler rejects one kernel; each kernel of the library in turn. `opencl` fails, quoting the start of
 * the compiler's log, when the kernel is first needed, and in every later batch. `auto` answers on the CPU with the
 * same bits, and statistics and log give the reason. A vendor's build options that a driver does not take are left out.
 * No OpenCL object is leaked. */
#include "tests/support/cl_shim.h"
#include "tests/support/requests.h"

enum { SEED = 89, FEW = 100, SIDES = 2, MANY = CAROM_AUTO_MIN_QUERIES, SHARE = 1 << 14 };

/* A kernel, and a request that needs it. For a pair kernel: the fields of the request, and whether its triangles move.
 * Pair kernels come first. */
typedef struct broken {
    const char *kernel;
    int request, fields, moving;
} broken;

#define FIRST (1 << T_FIRST)
#define TIMES (FIRST | 1 << T_LAST)
#define OF_PAIRS(suffix, mode)                                                                                         \
    {"sweep_first" suffix, SWEEP + (mode), FIRST, 0}, {"sweep_times" suffix, SWEEP + (mode), TIMES, 0},                \
        {"sweep_full" suffix, SWEEP + (mode), ALL_FIELDS, 0}, {"sweep_first_moving" suffix, SWEEP + (mode), FIRST, 1}, \
        {"sweep_times_moving" suffix, SWEEP + (mode), TIMES, 1},                                                       \
        {"sweep_full_moving" suffix, SWEEP + (mode), ALL_FIELDS, 1},                                                   \
        {"overlap" suffix, OVERLAP + (mode), ALL_FIELDS, 0},                                                           \
    {                                                                                                                  \
        "spheres" suffix, SPHERES + (mode), ALL_FIELDS, 0                                                              \
    }
#define OF_MESH(suffix, mode)                                                                                     \
    {"mesh_first" suffix, ASK_mesh_first + (mode), 0, 0}, {"mesh_contact" suffix, ASK_mesh_first + (mode), 0, 0}, \
        {"mesh_list" suffix, ASK_mesh_all + (mode), 0, 0}, {"mesh_list" suffix, ASK_mesh_any + (mode), 0, 0},     \
        {"mesh_overlaps" suffix, ASK_mesh_overlaps + (mode), 0, 0},                                               \
        {"mesh_contacts" suffix, ASK_mesh_contacts + (mode), 0, 0},                                               \
        {"mesh_closest" suffix, ASK_mesh_closest + (mode), 0, 0},                                                 \
    {                                                                                                             \
        "mesh_closest_point" suffix, ASK_mesh_closest + (mode), 0, 0                                              \
    }
static const broken kernels[] = {OF_PAIRS("", 0), OF_PAIRS("_exact", ASK_KINDS), OF_MESH("", 0),
                                 OF_MESH("_exact", ASK_KINDS)};

typedef struct heard {
    int warnings, errors, compiler_lines; /* log lines of each level; log lines with the compiler's message */
} heard;
static const char *words;

static void listen(void *user, carom_log_level level, const char *line)
{
    heard *h = user;
    h->warnings += level == CAROM_LOG_WARNING;
    h->errors += level == CAROM_LOG_ERROR;
    h->compiler_lines += strstr(line, words) != NULL;
}

static carom_status open_context(carom_backend backend, heard *h, carom_context **out, carom_error *err)
{
    carom_context_desc desc = test_desc(backend);
    desc.log = listen;
    desc.log_user = h;
    return carom_context_create(&desc, out, err);
}

static carom_status ask_broken(const broken *b, carom_context *context, carom_mesh *mesh, const fixture *m,
                               batch_result *r, carom_error *err)
{
    const request *q = &requests[b->request];
    if (request_needs_mesh(q))
        return request_ask(q, context, mesh, m, r, err);
    inputs in = inputs_of(&m->q[q->kind]);
    if (!b->moving)
        in.points[5] = (carom_points){0};
    return ask_with(context, q->kind, q->accuracy, m->count, &in, &r->a, b->fields, &r->stats, err);
}

/* ---- opencl ------------------------------------------------------------------------------------------------------ */

/* The error must have the kernel's name, the expected compiler message (`words`) and the OpenCL error code. */
static void expect_refusal(const broken *b, carom_status status, const carom_error *err)
{
    test_error(status, CAROM_ERROR_KERNEL_BUILD, err, b->kernel);
    test_error(status, CAROM_ERROR_KERNEL_BUILD, err, words);
    assert_true(err->native_code != 0);
}

static void check_opencl(const broken *b, const fixture *m)
{
    const request *q = &requests[b->request];
    heard h = {0};
    carom_context *context = NULL;
    carom_error err = {0};
    cl_broken = (cl_unbuilt){b->kernel, words};
    carom_status status = open_context(CAROM_BACKEND_OPENCL, &h, &context, &err);
    if (strcmp(b->kernel, "sweep_times") == 0) { /* the bit probe uses this kernel, so the context cannot be created */
        assert_null(context);
        expect_refusal(b, status, &err);
    } else {
        test_ok("a context", status, &err);
        carom_mesh *mesh = scene_mesh(context, &m->s);
        batch_result r = batch_result_alloc(q, m);
        expect_refusal(b, ask_broken(b, context, mesh, m, &r, &err), &err);
        cl_broken = (cl_unbuilt){NULL, NULL};
        status = ask_broken(b, context, mesh, m, &r, &err);
        test_error(status, CAROM_ERROR_KERNEL_BUILD, &err, "given up");
        batch_result_free(&r);
        carom_mesh_destroy(mesh);
        carom_context_destroy(context);
    }
    cl_broken = (cl_unbuilt){NULL, NULL};
    assert_true(h.compiler_lines > 0 && h.errors > 0); /* the log has the compiler's whole output */
    cl_expect_none(b->kernel);
}

static void test_opencl(void **state)
{
    (void)state;
    const carom_device_info device = test_need_device();
    fixture m = fixture_make(SEED, scene_sphere(SIDES), FEW, 1);
    words = "line 7: the moon is in the wrong house";
    for (size_t i = 0; i < COUNT_OF(kernels); i++)
        if (request_is_for(&requests[kernels[i].request], &device))
            check_opencl(&kernels[i], &m);
    fixture_free(&m);
}

/* The device's own compiler fails on the library's real source, because the shim removes the build options (-D) that
 * the source needs. */
static void test_compiler(void **state)
{
    (void)state;
    (void)test_need_device();
    heard h = {0};
    carom_context *context = NULL;
    carom_error err = {0};
    words = "sweep_times"; /* each line of the compiler's output is logged with the kernel's name */
    cl_broken = (cl_unbuilt){"sweep_times", NULL};
    const carom_status status = open_context(CAROM_BACKEND_OPENCL, &h, &context, &err);
    cl_broken = (cl_unbuilt){NULL, NULL};
    test_error(status, CAROM_ERROR_KERNEL_BUILD, &err, "cannot build kernel sweep_times");
    assert_null(context);
    assert_true(err.native_code != 0);
    cl_expect_none("a text that does not compile");
}

/* A driver of a vendor whose GPUs have build options of their own, and which does not take them. */
static void check_vendor(const char *platform, const char *options, const fixture *m)
{
    heard h = {0};
    carom_context *context = NULL, *cpu = test_cpu(CAROM_ISA_AUTO, 2);
    carom_error err = {0};
    const broken asked = {"mesh_first", ASK_mesh_first, 0, 0};
    const request *q = &requests[asked.request];
    batch_result expected = batch_result_alloc(q, m), r = batch_result_alloc(q, m);
    carom_mesh *mesh = scene_mesh(cpu, &m->s);
    test_ok("the CPU", ask_broken(&asked, cpu, mesh, m, &expected, &err), &err);
    carom_mesh_destroy(mesh);
    carom_context_destroy(cpu);
    words = options;
    cl_seen_as = (cl_disguise){.gpu = 1, .platform = platform};
    cl_refused_options = options;
    cl_built = 0;
    test_ok(platform, open_context(CAROM_BACKEND_OPENCL, &h, &context, &err), &err);
    mesh = scene_mesh(context, &m->s);
    test_ok(options, ask_broken(&asked, context, mesh, m, &r, &err), &err);
    cl_seen_as = (cl_disguise){0};
    cl_refused_options = NULL;
    batch_result_compare(q, m, &expected, &r, platform);
    assert_true(cl_built > 1);
    assert_int_equal(h.warnings, 1); /* for all programs */
    assert_int_equal(h.compiler_lines, 1);
    batch_result_free(&r);
    batch_result_free(&expected);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    cl_expect_none(platform);
}

static void test_vendors(void **state)
{
    (void)state;
    (void)test_need_device();
    fixture m = fixture_make(SEED, scene_sphere(SIDES), FEW, 1);
    check_vendor("AMD Accelerated Parallel Processing", "-Wf,-fno-slp-vectorize", &m);
    check_vendor("NVIDIA CUDA", "-cl-nv-maxrregcount=128", &m);
    fixture_free(&m);
}

/* ---- auto -------------------------------------------------------------------------------------------------------- */

static carom_mesh *mesh_for(const request *q, carom_context *context, const fixture *m)
{
    return request_needs_mesh(q) ? scene_mesh(context, &m->s) : NULL;
}

static void check_auto(const broken *b, const fixture *m)
{
    const request *q = &requests[b->request];
    heard h = {0};
    carom_context *context = NULL, *cpu = test_cpu(CAROM_ISA_AUTO, 2);
    carom_error err = {0};
    batch_result expected = batch_result_alloc(q, m), r = batch_result_alloc(q, m);
    carom_mesh *mesh = mesh_for(q, cpu, m);
    test_ok("the CPU", ask_broken(b, cpu, mesh, m, &expected, &err), &err);
    carom_mesh_destroy(mesh);
    carom_context_destroy(cpu);
    test_ok("a context", open_context(CAROM_BACKEND_AUTO, &h, &context, &err), &err);
    mesh = mesh_for(q, context, m);
    cl_broken = (cl_unbuilt){b->kernel, words};
    test_ok("auto", ask_broken(b, context, mesh, m, &r, &err), &err);
    cl_broken = (cl_unbuilt){NULL, NULL};
    batch_result_compare(q, m, &expected, &r, b->kernel);
    assert_int_equal(r.stats.on_device, 0);
    assert_int_equal(r.stats.on_cpu, m->count);
    assert_int_equal(r.stats.fallen_back, m->count);
    assert_non_null(strstr(r.stats.fallback_reason, b->kernel));
    assert_int_equal(h.warnings, 1);
    assert_true(h.compiler_lines > 0);
    batch_result_free(&r);
    batch_result_free(&expected);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    cl_expect_none(b->kernel);
}

static void test_auto(void **state)
{
    (void)state;
    const carom_device_info device = test_need_device();
    fixture m = fixture_make(SEED, scene_sphere(SIDES), MANY, SHARE);
    words = "line 7: the moon is in the wrong house";
    /* Each check runs 2^20 queries. So only one pair kernel in four is checked, because all take the same path here;
     * the number of mesh kernels depends on the test effort. */
    const size_t meshes = test_effort(7), stride = (7 + meshes - 1) / meshes;
    for (size_t i = 0; i < COUNT_OF(kernels); i += request_needs_mesh(&requests[kernels[i].request]) ? stride : 4)
        if (request_is_for(&requests[kernels[i].request], &device))
            check_auto(&kernels[i], &m);
    fixture_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_opencl), cmocka_unit_test(test_compiler),
                                       cmocka_unit_test(test_vendors), cmocka_unit_test(test_auto)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
