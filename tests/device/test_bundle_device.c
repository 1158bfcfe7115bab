/* SPDX-License-Identifier: MIT */
/* Bundles on a device: arrays in its buffers, also of more bundles than are answered together; a device that dies
 * between rounds, and one without binary64. */
#include "tests/support/cl_shim.h"
#include "tests/support/closest_answers.h"
#include "tests/support/sign_scenes.h"

enum { COUNT = 60000 /* several rounds */, BUNDLE = 20, BUNDLES = COUNT / BUNDLE, SEED = 71 };

/* The answers of bundles, one array after another. */
typedef struct bundle_answers {
    uint8_t sweep[BUNDLES], overlap[BUNDLES];
    int32_t triangle[BUNDLES];
    float depth[BUNDLES];
    int64_t query[BUNDLES];
} bundle_answers;

static scene box;
static int launches; /* of the first call */
static swept_spheres spheres;

/* Asks in this order; returns the first error. stats: of the first call. */
static carom_status ask_at(carom_mesh *mesh, carom_points center, carom_accuracy accuracy, bundle_answers *to,
                           carom_stats *stats, carom_error *err)
{
    carom_mesh_sweep_desc sweep = swept_spheres_desc(&spheres, 0, COUNT);
    carom_mesh_overlap_desc overlap = swept_spheres_at_rest(&spheres, 0, COUNT);
    carom_mesh_closest_desc closest = swept_spheres_closest(&spheres, 0, COUNT);
    const carom_mesh_closest_result out = {
        .size = sizeof out, .triangle = to->triangle, .depth = to->depth, .query = to->query};
    sweep.bundle = overlap.bundle = closest.bundle = BUNDLE;
    sweep.batch.accuracy = overlap.batch.accuracy = closest.batch.accuracy = accuracy;
    sweep.center = overlap.center = closest.center = center;
    *stats = (carom_stats){.size = sizeof *stats};
    carom_status status = carom_mesh_closest(mesh, &closest, &out, stats, err); /* has all its rounds */
    launches = cl_calls(CALL_LAUNCH);
    if (status == CAROM_OK)
        status = carom_mesh_overlap_any(mesh, &overlap, TEST_ANY(to->overlap), NULL, err);
    return status == CAROM_OK ? carom_mesh_sweep_any(mesh, &sweep, TEST_ANY(to->sweep), NULL, err) : status;
}

static carom_status ask_all(carom_mesh *mesh, carom_accuracy accuracy, bundle_answers *to, carom_stats *stats,
                            carom_error *err)
{
    return ask_at(mesh, swept_spheres_desc(&spheres, 0, COUNT).center, accuracy, to, stats, err);
}

static bundle_answers expect(carom_accuracy accuracy, uint64_t *by_integers)
{
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 1);
    carom_mesh *mesh = scene_mesh(cpu, &box);
    bundle_answers to;
    carom_stats stats;
    carom_error err = {0};
    memset(&to, 0, sizeof to);
    test_ok("the CPU", ask_all(mesh, accuracy, &to, &stats, &err), &err);
    *by_integers = stats.by_integers;
    carom_mesh_destroy(mesh);
    carom_context_destroy(cpu);
    return to;
}

/* Centres and answers of a discrete device's buffers. */
static void test_buffers(void **state)
{
    (void)state;
    cl_seen_as.discrete = 1;
    (void)test_need_device();
    carom_context *context = test_device(1, 0);
    carom_mesh *mesh = scene_mesh(context, &box);
    const carom_points center = swept_spheres_desc(&spheres, 0, COUNT).center;
    const carom_buffer_desc d = {
        .size = sizeof d, .bytes = 3 * COUNT * sizeof(float) + sizeof(bundle_answers), .where = CAROM_BUFFER_DEVICE};
    carom_buffer *buffer;
    carom_error err = {0};
    test_ok("buffer", carom_buffer_create(context, &d, &buffer, &err), &err);
    float *packed = test_alloc(3 * COUNT, sizeof *packed);
    for (size_t i = 0; i < COUNT; i++) {
        packed[3 * i] = *(const float *)((const char *)center.x + i * center.stride);
        packed[3 * i + 1] = *(const float *)((const char *)center.y + i * center.stride);
        packed[3 * i + 2] = *(const float *)((const char *)center.z + i * center.stride);
    }
    test_ok("write", carom_buffer_write(buffer, 0, packed, 3 * COUNT * sizeof *packed, &err), &err);
    float *there = carom_buffer_address(buffer);
    for (int exact = 0; exact < 2; exact++) {
        uint64_t by_integers;
        const bundle_answers expected = expect((carom_accuracy)exact, &by_integers);
        bundle_answers got, zeros;
        carom_stats stats;
        memset(&zeros, 0, sizeof zeros);
        test_ok("clear", carom_buffer_write(buffer, 3 * COUNT * sizeof *packed, &zeros, sizeof zeros, &err), &err);
        test_ok("in a buffer",
                ask_at(mesh, carom_xyz(there), (carom_accuracy)exact, (bundle_answers *)(void *)(there + 3 * COUNT),
                       &stats, &err),
                &err);
        assert_int_equal(stats.on_device, COUNT);
        test_ok("read", carom_buffer_read(buffer, 3 * COUNT * sizeof *packed, &got, sizeof got, &err), &err);
        assert_memory_equal(&got, &expected, sizeof got);
    }
    free(packed);
    carom_buffer_destroy(buffer);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    cl_seen_as.discrete = 0;
    cl_expect_none("buffers");
}

/* ---- more bundles than are answered together --------------------------------------------------------------------- */

enum { MANY = (1 << 17) + 1500, PAIRS_OF_MANY = 2 * MANY };
typedef struct many_arrays {
    float center[PAIRS_OF_MANY][3], radius[PAIRS_OF_MANY];
    uint32_t select[PAIRS_OF_MANY];
    float depth[MANY];
    int64_t query[MANY];
    uint8_t hit[MANY];
} many_arrays;

static void ask_many(carom_mesh *mesh, int has_select, many_arrays *a)
{
    carom_batch batch = {.count = PAIRS_OF_MANY};
    carom_error err = {0};
    if (has_select) {
        batch.select = carom_uints_of(a->select);
        batch.elements = PAIRS_OF_MANY;
    }
    carom_mesh_overlap_desc overlap = {
        .batch = batch, .center = carom_xyz(a->center[0]), .radius = carom_scalars_of(a->radius), .bundle = 2};
    carom_mesh_closest_desc closest = {
        .batch = batch, .center = carom_xyz(a->center[0]), .radius = carom_scalars_of(a->radius), .bundle = 2};
    const carom_mesh_closest_result near = {.size = sizeof near, .depth = a->depth, .query = a->query};
    overlap.batch.size = sizeof overlap;
    closest.batch.size = sizeof closest;
    test_ok("many overlaps", carom_mesh_overlap_any(mesh, &overlap, TEST_ANY(a->hit), NULL, &err), &err);
    test_ok("many closest points", carom_mesh_closest(mesh, &closest, &near, NULL, &err), &err);
}

static void test_many(void **state)
{
    (void)state;
    cl_seen_as.discrete = 1;
    (void)test_need_device();
    const carom_buffer_desc d = {.size = sizeof d, .bytes = sizeof(many_arrays), .where = CAROM_BUFFER_DEVICE};
    carom_context *context = test_device(1, 0), *cpu = test_cpu(CAROM_ISA_AUTO, 2);
    carom_mesh *mesh = scene_mesh(context, &box), *there = scene_mesh(cpu, &box);
    carom_buffer *buffer;
    carom_error err = {0};
    uint32_t *order = random_order(SEED, PAIRS_OF_MANY);
    many_arrays *expected = test_alloc(1, sizeof *expected), *got = test_alloc(1, sizeof *got);
    test_ok("buffer", carom_buffer_create(context, &d, &buffer, &err), &err);
    for (size_t i = 0; i < PAIRS_OF_MANY; i++) {
        for (int k = 0; k < 3; k++)
            expected->center[i][k] = (float)((i * 7 + (size_t)k * 131) % 1009) / 300.0f - 1.5f;
        expected->radius[i] = i % 5 == 0 ? -1.0f : (float)(i % 13) / 64.0f;
        expected->select[i] = order[i];
    }
    for (int has_select = 0; has_select < 2; has_select++) {
        memset(expected->depth, 0xa5, sizeof *expected - offsetof(many_arrays, depth));
        test_ok("write", carom_buffer_write(buffer, 0, expected, sizeof *expected, &err), &err);
        cl_sent = 0;
        ask_many(mesh, has_select, carom_buffer_address(buffer));
        assert_true(cl_sent == 0 || !has_select); /* the first calls upload the mesh */
        ask_many(there, has_select, expected);
        test_ok("read", carom_buffer_read(buffer, 0, got, sizeof *got, &err), &err);
        assert_memory_equal(got, expected, sizeof *got);
    }
    free(order);
    free(expected);
    free(got);
    carom_buffer_destroy(buffer);
    carom_mesh_destroy(mesh);
    carom_mesh_destroy(there);
    carom_context_destroy(context);
    carom_context_destroy(cpu);
    cl_seen_as.discrete = 0;
    cl_expect_none("many");
}

/* ---- failures ---------------------------------------------------------------------------------------------------- */

/* The device fails in the first launch of a call, or in its last one. */
static void expect_lost(carom_backend backend, int in_last, carom_accuracy accuracy)
{
    uint64_t by_integers;
    const bundle_answers expected = expect(accuracy, &by_integers);
    carom_context_desc desc = test_desc(backend);
    carom_context *context;
    carom_stats stats;
    carom_error err = {0};
    bundle_answers got;
    desc.auto_from = 1;
    test_ok("carom_context_create", carom_context_create(&desc, &context, &err), &err);
    carom_mesh *mesh = scene_mesh(context, &box);
    test_ok("built", ask_all(mesh, accuracy, &got, &stats, &err), &err);
    cl_sabotage(CALL_LAUNCH, 0, 0);
    test_ok("counted", ask_all(mesh, accuracy, &got, &stats, &err), &err);
    assert_int_equal(stats.on_device, COUNT);
    assert_true(launches > 1);
    assert_true(cl_calls(CALL_LAUNCH) > launches + 1); /* the others' */
    assert_true(accuracy == CAROM_ACCURACY_FAST || by_integers > 0);
    memset(&got, 0, sizeof got);
    cl_sabotage(CALL_LAUNCH, in_last ? launches : 1, 0);
    const carom_status status = ask_all(mesh, accuracy, &got, &stats, &err);
    cl_sabotage(CALL_LAUNCH, 0, 0);
    assert_int_equal(status, backend == CAROM_BACKEND_OPENCL ? CAROM_ERROR_DEVICE_LOST : CAROM_OK);
    if (status == CAROM_OK) {
        assert_memory_equal(&got, &expected, sizeof got);
        assert_int_equal(stats.on_cpu, COUNT);
        assert_int_equal(stats.fallen_back, COUNT);
        assert_int_equal(stats.by_integers, by_integers); /* what the device has answered counts once */
    }
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    cl_expect_none("lost");
}

static void test_lost(void **state)
{
    (void)state;
    (void)test_need_device();
    for (int in_last = 0; in_last < 2; in_last++)
        for (int exact = 0; exact < 2; exact++) {
            expect_lost(CAROM_BACKEND_OPENCL, in_last, (carom_accuracy)exact);
            expect_lost(CAROM_BACKEND_AUTO, in_last, (carom_accuracy)exact);
        }
}

/* Exact sweeps and closest points are the CPU's, overlaps the device's. */
static void test_no_fp64(void **state)
{
    (void)state;
    cl_seen_as.no_fp64 = 1;
    (void)test_need_device();
    carom_context *context = test_device(0, 0);
    carom_mesh *mesh = scene_mesh(context, &box);
    uint64_t by_integers;
    const bundle_answers expected = expect(CAROM_ACCURACY_EXACT, &by_integers);
    bundle_answers got;
    carom_stats stats;
    carom_error err = {0};
    memset(&got, 0, sizeof got);
    test_ok("exact", ask_all(mesh, CAROM_ACCURACY_EXACT, &got, &stats, &err), &err);
    assert_memory_equal(&got, &expected, sizeof got);
    assert_int_equal(stats.on_cpu, COUNT);
    assert_non_null(strstr(stats.fallback_reason, "binary64"));
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    cl_seen_as.no_fp64 = 0;
    cl_expect_none("no binary64");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_buffers), cmocka_unit_test(test_many),
                                       cmocka_unit_test(test_lost), cmocka_unit_test(test_no_fp64)};
    box = scene_unit_box();
    spheres = swept_spheres_mixed(SEED, COUNT);
    /* Beside an edge, with legs of 3 and 4 and a distance of 5 times an odd number that lies in the middle between two
     * binary32 numbers: integers decide it. */
    for (size_t i = 0; i < COUNT; i += 7) {
        spheres.column[0][i] = -1 - 3 * 4000001 * 0x1p-22f;
        spheres.column[1][i] = -1 - 4 * 4000001 * 0x1p-22f;
        spheres.column[2][i] = 0;
    }
    const int failed = cmocka_run_group_tests_name("bundle_device", tests, NULL, NULL);
    swept_spheres_free(&spheres);
    scene_free(&box);
    return failed;
}
